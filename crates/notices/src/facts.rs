//! Facts of a notice, as they are stored while more of its cause is collected.

use searchwright_contract::{Instant, issues::Severity};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Posts of a notice that are named; the others are counted.
const MAX_POSTS: usize = 10;
/// Issues of an audit that are kept: more than there are checks.
const MAX_ISSUES: usize = 500;

/// Facts of a notice. Which of them are there depends on its kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoticeFacts {
    /// Title of the post or name of the provider.
    pub name: String,
    /// Reason.
    pub detail: String,
    /// The outcome is not known: the post may be public.
    pub is_uncertain: bool,
    /// Posts that failed by this cause, the first ones.
    pub posts: Vec<FailedPost>,
    /// Number of all of them.
    pub post_count: u64,
    /// Issues that an audit opened or reopened.
    pub issues: Vec<FoundIssue>,
    /// Figures of the audit.
    pub audit: Option<AuditFigures>,
    /// Time at which a post is published without a decision.
    pub until: Option<Instant>,
}

/// Post that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedPost {
    /// Id.
    pub id: Uuid,
    /// Title, which others wrote.
    pub title: String,
}

/// Issue that an audit opened or reopened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundIssue {
    /// Id.
    pub id: Uuid,
    /// It had been resolved.
    pub is_back: bool,
    /// Title; empty before the audit has ended.
    #[serde(default)]
    pub title: String,
    /// Severity.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// Pages on which it occurs.
    #[serde(default)]
    pub pages: u64,
}

/// Figures of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditFigures {
    /// Health score; `None` if no page counts.
    pub health: Option<u8>,
    /// Health score of the audit before.
    pub health_before: Option<u8>,
}

impl NoticeFacts {
    /// Adds what another event of the same cause tells.
    pub fn add(&mut self, other: Self) {
        for post in other.posts {
            if self.posts.iter().any(|known| known.id == post.id) {
                continue;
            }
            self.post_count += 1;
            if self.posts.len() < MAX_POSTS {
                self.posts.push(post);
            }
        }
        for issue in other.issues {
            let is_known = self.issues.iter().any(|known| known.id == issue.id);
            if !is_known && self.issues.len() < MAX_ISSUES {
                self.issues.push(issue);
            }
        }
        if !other.name.is_empty() {
            self.name = other.name;
        }
        if !other.detail.is_empty() {
            self.detail = other.detail;
        }
        self.audit = other.audit.or(self.audit);
        self.until = other.until.or(self.until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posts_are_counted_once_and_named_up_to_ten() {
        let mut facts = NoticeFacts::default();
        for number in [1_u128, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] {
            facts.add(NoticeFacts {
                posts: vec![FailedPost {
                    id: Uuid::from_u128(number),
                    title: number.to_string(),
                }],
                ..NoticeFacts::default()
            });
        }
        assert_eq!((facts.post_count, facts.posts.len()), (12, 10));
    }
}

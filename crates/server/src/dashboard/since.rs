//! Changes since the last visit of a person, on the overview of a project, and `/projects/{id}/seen`, which marks them as read.

use std::{collections::BTreeMap, sync::Arc};

use axum::{Router, routing::post};
use searchwright_contract::{activity::CredentialKind, events::EventType};
use searchwright_engine::Failure;
use searchwright_people::visits::{MAX_COUNTED, SinceVisit};

use super::{
    show,
    visit::{PageResult, SentForm, Visit},
};
use crate::app::App;

/// The form.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/projects/{project}/seen", post(mark_read))
}

/// A number of changes, with where they are.
pub(super) struct SinceCount {
    pub text: String,
    pub href: String,
}

/// Changes since the last visit.
pub(super) struct SinceView {
    /// Time after which they count; `None` at the first visit.
    pub at: Option<String>,
    pub counts: Vec<SinceCount>,
}

/// Kinds of events with their words and the page that has their rows.
const EVENTS: [(EventType, &str, &str, &str); 15] = [
    (
        EventType::AuditCompleted,
        "audit finished",
        "audits finished",
        "/audits",
    ),
    (EventType::AuditFailed, "audit failed", "audits failed", "/audits"),
    (EventType::IssueOpened, "new issue", "new issues", "/issues"),
    (
        EventType::IssueReopened,
        "issue reopened",
        "issues reopened",
        "/issues",
    ),
    (
        EventType::IssueResolved,
        "issue fixed",
        "issues fixed",
        "/issues?status=inactive",
    ),
    (
        EventType::PostPublished,
        "post published",
        "posts published",
        "/posts?status=published",
    ),
    (
        EventType::PostPublishFailed,
        "publication failed",
        "publications failed",
        "/posts?status=failed",
    ),
    (
        EventType::PostGenerationFailed,
        "text failed",
        "texts failed",
        "/posts?status=failed",
    ),
    (
        EventType::ApprovalRequested,
        "approval asked for",
        "approvals asked for",
        "/approvals",
    ),
    (
        EventType::ApprovalDecided,
        "approval decided",
        "approvals decided",
        "/approvals",
    ),
    (
        EventType::IntegrationDisconnected,
        "integration lost",
        "integrations lost",
        "/integrations",
    ),
    (
        EventType::AutopilotPaused,
        "pause of the autopilot",
        "pauses of the autopilot",
        "/settings/autopilot",
    ),
    (
        EventType::VisibilityRunCompleted,
        "run of prompts ended",
        "runs of prompts ended",
        "/visibility?view=runs",
    ),
    (
        EventType::VisibilityMentionGained,
        "mention gained",
        "mentions gained",
        "/visibility?view=prompts",
    ),
    (
        EventType::VisibilityMentionLost,
        "mention lost",
        "mentions lost",
        "/visibility?view=prompts",
    ),
];

/// Returns what changed since the last visit of the person, who views the project now.
pub(super) async fn since(visit: &Visit) -> Result<SinceView, Failure> {
    let people = &visit.app().people;
    let Some(found) = people.since_visit(visit.user(), visit.project.id).await? else {
        return Ok(SinceView {
            at: None,
            counts: Vec::new(),
        });
    };
    Ok(SinceView {
        at: Some(visit.time(&found.since)),
        counts: counts(&found)
            .into_iter()
            .map(|(text, rest)| SinceCount {
                text,
                href: visit.address(rest),
            })
            .collect(),
    })
}

fn counts(found: &SinceVisit) -> Vec<(String, &'static str)> {
    let mut counts: Vec<(String, &'static str)> = EVENTS
        .iter()
        .filter_map(|(kind, one, many, page)| {
            let number = *found.events.get(kind)?;
            Some((show::count(number, one, many), *page))
        })
        .collect();
    let by = |kinds: &[CredentialKind]| sum(&found.changes, kinds);
    let programs = by(&[CredentialKind::ApiKey, CredentialKind::OauthToken]);
    let people = by(&[CredentialKind::Session, CredentialKind::Page]);
    let is_whole = found.changes.values().sum::<u64>() < MAX_COUNTED.into();
    let changes = [
        (
            programs,
            "change by a key or an agent",
            "changes by keys and agents",
        ),
        (people, "change by a person", "changes by people"),
    ];
    for (number, one, many) in changes {
        if number > 0 {
            let text = show::count(number, one, many);
            let text = if is_whole {
                text
            } else {
                format!("at least {text}")
            };
            counts.push((text, "/activity"));
        }
    }
    if !is_whole {
        // a person's change may be among them
        counts.push(("older changes are not counted".to_owned(), "/activity"));
    }
    counts
}

fn sum(changes: &BTreeMap<CredentialKind, u64>, kinds: &[CredentialKind]) -> u64 {
    kinds.iter().filter_map(|kind| changes.get(kind)).sum()
}

/// Marks what changed until now as read.
async fn mark_read(sent: SentForm) -> PageResult {
    let visit = &sent.visit;
    let people = &visit.app().people;
    people.mark_read(visit.user(), visit.project.id).await?;
    Ok(sent.done(&visit.address(""), "marked-read", 1))
}

#[cfg(test)]
mod tests {
    use searchwright_contract::Instant;

    use super::*;

    #[test]
    fn numbers_of_the_newest_rows_alone_are_at_least_that() {
        let mut found = SinceVisit {
            since: Instant::from_millis(0),
            events: BTreeMap::from([(EventType::PostPublished, 2)]),
            changes: BTreeMap::from([(CredentialKind::ApiKey, 9_990), (CredentialKind::Session, 9)]),
        };
        let texts =
            |found: &SinceVisit| -> Vec<String> { counts(found).into_iter().map(|(text, _)| text).collect() };
        let whole = [
            "2 posts published",
            "9\u{202f}990 changes by keys and agents",
            "9 changes by people",
        ];
        assert_eq!(texts(&found), whole);
        found.changes.insert(CredentialKind::Session, 10);
        let newest = [
            "2 posts published",
            "at least 9\u{202f}990 changes by keys and agents",
            "at least 10 changes by people",
            "older changes are not counted",
        ];
        assert_eq!(texts(&found), newest);
    }
}

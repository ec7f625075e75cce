//! Changes of a project since a person saw it last.
//!
//! The period stays the same while they look around: it moves on when they say that they have read it, and when they come back
//! after a while.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant, Problem,
    activity::CredentialKind,
    events::EventType,
    ids::{ProjectId, UserId},
};
use searchwright_failure::{Failure, Result};
use searchwright_store::{
    Tx,
    access::{self, ProjectScope},
    visits::{self, SeenProject},
};

use crate::People;

/// Time without a view after which the next one is another visit.
const APART_MILLIS: i64 = 30 * 60_000;
/// Time for which the last view is not written again.
const NOTED_MILLIS: i64 = 10 * 60_000;
/// Time for which events are kept.
const KEPT_MILLIS: i64 = 30 * 86_400_000;

/// Number of changes up to which they are counted: agents make hundreds of thousands between two visits.
pub const MAX_COUNTED: u32 = 10_000;

/// Changes since the last visit of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinceVisit {
    /// Time after which they count.
    pub since: Instant,
    /// Number of events by kind.
    pub events: BTreeMap<EventType, u64>,
    /// Number of changes by the kind of the credential that was used, of the newest [`MAX_COUNTED`].
    pub changes: BTreeMap<CredentialKind, u64>,
}

/// Returns what a person has seen when they view a project now.
fn viewed(seen: Option<SeenProject>, now: Instant) -> SeenProject {
    match seen {
        None => SeenProject {
            seen_until: now,
            last_view_at: now,
        },
        Some(seen) if now.millis() - seen.last_view_at.millis() > APART_MILLIS => SeenProject {
            // A view shows all that is new, so the time of the last one is what they have seen.
            seen_until: seen.last_view_at,
            last_view_at: now,
        },
        Some(seen) if now.millis() - seen.last_view_at.millis() >= NOTED_MILLIS => SeenProject {
            last_view_at: now,
            ..seen
        },
        Some(seen) => seen,
    }
}

async fn scope_of(tx: &mut Tx, user: UserId, project: ProjectId) -> Result<ProjectScope> {
    let access = access::find_project_of_user(tx, user, project).await?;
    let access = access.ok_or_else(|| Failure::from(Problem::not_found("project")))?;
    Ok(access.scope())
}

impl People {
    /// Returns what changed in a project since the last visit of a person, who views it now; `None` at the first.
    pub async fn since_visit(&self, user: UserId, project: ProjectId) -> Result<Option<SinceVisit>> {
        let now = self.clock.now();
        let mut tx = self.db.read().await?;
        let scope = scope_of(&mut tx, user, project).await?;
        let known = visits::find(&mut tx, scope, user).await?;
        let seen = viewed(known, now);
        let since = seen.seen_until.max(now.plus_millis(-KEPT_MILLIS));
        let found = match known {
            None => None,
            Some(_) => Some(SinceVisit {
                since,
                events: visits::count_events(&mut tx, scope, since)
                    .await?
                    .into_iter()
                    .collect(),
                changes: visits::count_changes(&mut tx, scope, since, MAX_COUNTED)
                    .await?
                    .into_iter()
                    .collect(),
            }),
        };
        drop(tx);
        if known != Some(seen) {
            self.db
                .write(move |tx| {
                    Box::pin(async move {
                        // Another page of the same person may have been faster.
                        let seen = viewed(visits::find(tx, scope, user).await?, now);
                        Ok::<_, Failure>(visits::set(tx, scope, user, seen).await?)
                    })
                })
                .await?;
        }
        Ok(found)
    }

    /// Notes that a person has read what changed in a project until now.
    pub async fn mark_read(&self, user: UserId, project: ProjectId) -> Result<()> {
        let now = self.clock.now();
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let scope = scope_of(tx, user, project).await?;
                    let seen = SeenProject {
                        seen_until: now,
                        last_view_at: now,
                    };
                    Ok::<_, Failure>(visits::set(tx, scope, user, seen).await?)
                })
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_stays_while_somebody_looks_around() {
        let at = |minutes: i64| Instant::from_millis(1_795_255_200_000).plus_millis(minutes * 60_000);
        let seen = |until, last| SeenProject {
            seen_until: at(until),
            last_view_at: at(last),
        };
        let first = viewed(None, at(0));
        assert_eq!(first, seen(0, 0));
        assert_eq!(viewed(Some(first), at(9)), seen(0, 0), "not written");
        assert_eq!(viewed(Some(first), at(10)), seen(0, 10));
        assert_eq!(viewed(Some(seen(0, 10)), at(40)), seen(0, 40));
        assert_eq!(viewed(Some(seen(0, 40)), at(71)), seen(40, 71), "another visit");
        assert_eq!(viewed(Some(seen(40, 71)), at(72)), seen(40, 71));
    }
}

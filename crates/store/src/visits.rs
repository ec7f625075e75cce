//! What each person has seen of a project, and what happened since.

use searchwright_contract::{Instant, activity::CredentialKind, events::EventType, ids::UserId};
use uuid::Uuid;

use crate::{Result, Tx, access::ProjectScope, sql};

/// What a person has seen of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenProject {
    /// Changes after this are new to them.
    pub seen_until: Instant,
    /// Time of their last view, to ten minutes.
    pub last_view_at: Instant,
}

/// Returns what a person has seen of a project; `None` before their first view.
pub async fn find(tx: &mut Tx, scope: ProjectScope, user: UserId) -> Result<Option<SeenProject>> {
    sql("SELECT seen_until, last_view_at FROM project_visits WHERE project_id = $1 AND user_id = $2")
        .bind(scope.project())
        .bind(user)
        .fetch_optional(tx, |c| {
            Ok(SeenProject {
                seen_until: c.take()?,
                last_view_at: c.take()?,
            })
        })
        .await
}

/// Stores what a person has seen of a project.
pub async fn set(tx: &mut Tx, scope: ProjectScope, user: UserId, seen: SeenProject) -> Result<()> {
    sql(
        "INSERT INTO project_visits (project_id, user_id, seen_until, last_view_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (project_id, user_id) DO UPDATE SET seen_until = $3, last_view_at = $4",
    )
    .bind(scope.project())
    .bind(user)
    .bind(seen.seen_until)
    .bind(seen.last_view_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the smallest id of a time: an id begins with its time in milliseconds, so that the primary key finds what is newer.
fn first_id(at: Instant) -> Uuid {
    Uuid::from_u128(u128::try_from(at.millis()).unwrap_or_default() << 80)
}

/// Counts the events of a project after a time, by kind.
pub async fn count_events(tx: &mut Tx, scope: ProjectScope, since: Instant) -> Result<Vec<(EventType, u64)>> {
    sql("SELECT kind, count(*) FROM events WHERE project_id = $1 AND id >= $2 AND created_at > $3 GROUP BY kind")
        .bind(scope.project())
        .bind(first_id(since))
        .bind(since)
        .fetch_all(tx, |c| Ok((c.parse()?, c.take()?)))
        .await
}

/// Counts the newest `most` changes of a project after a time, by the kind of their credential.
pub async fn count_changes(
    tx: &mut Tx,
    scope: ProjectScope,
    since: Instant,
    most: u32,
) -> Result<Vec<(CredentialKind, u64)>> {
    sql("SELECT credential_kind, count(*) FROM
           (SELECT credential_kind FROM activity
            WHERE project_id = $1 AND id >= $2 AND created_at > $3 ORDER BY id DESC LIMIT $4) AS newest
         GROUP BY credential_kind")
    .bind(scope.project())
    .bind(first_id(since))
    .bind(since)
    .bind(most)
    .fetch_all(tx, |c| Ok((c.parse()?, c.take()?)))
    .await
}

//! Every change of state of an occurrence: who made it, when, from what to what.

use searchwright_contract::{
    Instant,
    issues::{self, ActorKind, OccurrenceChange, OccurrenceState},
};
use uuid::Uuid;

use super::{Actor, Change, OccurrenceKey};
use crate::{Error, Param, Result, Tx, access::ProjectScope, ledger, sql};

/// Writes changes to the ledger.
pub async fn log(tx: &mut Tx, scope: ProjectScope, changes: &[Change], actor: &Actor) -> Result<()> {
    sql("INSERT INTO occurrence_changes (project_id, at, actor, note, issue_id, page_id, to_state, from_state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING")
    .bind(scope.project())
    .bind(actor.at)
    .bind(actor.id.clone())
    .bind(actor.note.clone())
    .execute_each(tx, changes.iter().map(Change::row).collect())
    .await?;
    Ok(())
}

/// Brings what an audit changed of an issue since it began to the ledger, once however often it is done. How many that were
/// resolved it has brought there as something else.
pub async fn log_audit(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: Uuid,
    began: Instant,
    actor: &Actor,
) -> Result<u64> {
    let leaves = sql("SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND changed_at >= $3")
        .bind(scope.project())
        .bind(issue)
        .bind(began);
    let mut rows: Vec<Vec<Param>> = Vec::new();
    ledger::for_each_entry(tx, leaves, |(_, page), entry| {
        if let (Some(was), Some(at)) = (entry.was, entry.changed_at)
            && at >= began
        {
            rows.push(vec![
                page.into(),
                at.into(),
                entry.state.as_str().into(),
                was.as_str().into(),
            ]);
        }
    })
    .await?;
    let from = sql("INSERT INTO occurrence_changes (project_id, issue_id, actor, page_id, at, to_state, from_state) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT DO NOTHING RETURNING from_state")
    .bind(scope.project())
    .bind(issue)
    .bind(actor.id.clone())
    .fetch_optional_each(tx, rows, |c| c.parse::<OccurrenceState>())
    .await?;
    let resolved = from
        .iter()
        .filter(|from| **from == Some(OccurrenceState::Resolved));
    Ok(resolved.count() as u64)
}

/// What became of occurrences, each in its place, the newest changes first.
pub async fn histories(
    tx: &mut Tx,
    scope: ProjectScope,
    pairs: &[OccurrenceKey],
    limit: u32,
) -> Result<Vec<Vec<OccurrenceChange>>> {
    sql(
        "SELECT at, from_state, to_state, actor, note FROM occurrence_changes
         WHERE project_id = $1 AND issue_id = $3 AND page_id = $4 ORDER BY at DESC, to_state LIMIT $2",
    )
    .bind(scope.project())
    .bind(limit)
    .fetch_all_each(tx, ledger::key_rows(pairs), |c| {
        Ok(OccurrenceChange {
            at: c.take()?,
            from: c.parse()?,
            to: c.parse()?,
            by: by(&c.take::<String>()?)?,
            note: c.take()?,
        })
    })
    .await
}

/// Reads [`Actor::id`].
fn by(actor: &str) -> Result<issues::Actor> {
    let (kind, id) = actor.split_once(':').unwrap_or((actor, ""));
    let kind = match kind {
        "key" => ActorKind::ApiKey,
        "audit" => ActorKind::Audit,
        "recheck" => ActorKind::Recheck,
        "system" => ActorKind::System,
        other => return Err(Error::Defect(format!("unknown actor {other}"))),
    };
    Ok(issues::Actor {
        kind,
        id: Some(id.to_owned()).filter(|id| !id.is_empty()),
        name: None,
    })
}

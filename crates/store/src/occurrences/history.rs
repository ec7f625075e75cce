//! History of the state of occurrences: every change with its time, actor and both states.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    ids::{ActorId, AuditId, IssueId, PageId},
    issues::{self, ActorKind, OccurrenceChange, OccurrenceState},
};

use super::{Actor, OccurrenceKey, StateChange};
use crate::{Error, Param, Result, Tx, access::ProjectScope, ledger, sql};

/// Inserts changes into the history.
pub async fn insert_changes(
    tx: &mut Tx,
    scope: ProjectScope,
    changes: &[StateChange],
    actor: &Actor,
) -> Result<()> {
    sql("INSERT INTO occurrence_changes (project_id, at, actor, note, issue_id, page_id, to_state, from_state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING")
    .bind(scope.project())
    .bind(actor.at)
    .bind(actor.id.clone())
    .bind(actor.note.clone())
    .execute_each(tx, changes.iter().copied().map(StateChange::to_row).collect())
    .await?;
    Ok(())
}

/// Inserts the changes that an audit made to an issue since `began`; each once, however often this is called. Returns the number
/// of inserted changes from `resolved` to another state.
pub async fn insert_audit_changes(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: IssueId,
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

/// Returns the number of occurrences of each issue that an audit reopened.
pub async fn count_reopened(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
) -> Result<BTreeMap<IssueId, u64>> {
    let counts: Vec<(IssueId, u64)> = sql("SELECT issue_id, count(*) FROM occurrence_changes
         WHERE project_id = $1 AND actor = $2 AND to_state = 'reopened' GROUP BY issue_id")
    .bind(scope.project())
    .bind(format!("audit:{audit}"))
    .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
    .await?;
    Ok(counts.into_iter().collect())
}

/// Returns the pages on which an issue is ignored.
pub async fn list_ignored_pages(tx: &mut Tx, scope: ProjectScope, issue: IssueId) -> Result<Vec<PageId>> {
    let leaves = sql(
        "SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND ignored > 0",
    )
    .bind(scope.project())
    .bind(issue);
    let mut pages = Vec::new();
    ledger::for_each_entry(tx, leaves, |(_, page), entry| {
        if entry.state == OccurrenceState::Ignored {
            pages.push(page);
        }
    })
    .await?;
    Ok(pages)
}

/// Returns at most `limit` changes of each occurrence, newest first, in the order of `keys`.
pub async fn list_histories(
    tx: &mut Tx,
    scope: ProjectScope,
    keys: &[OccurrenceKey],
    limit: u32,
) -> Result<Vec<Vec<OccurrenceChange>>> {
    sql(
        "SELECT at, from_state, to_state, actor, note FROM occurrence_changes
         WHERE project_id = $1 AND issue_id = $3 AND page_id = $4 ORDER BY at DESC, to_state LIMIT $2",
    )
    .bind(scope.project())
    .bind(limit)
    .fetch_all_each(tx, ledger::key_rows(keys), |c| {
        Ok(OccurrenceChange {
            at: c.take()?,
            from: c.parse()?,
            to: c.parse()?,
            by: parse_actor(&c.take::<String>()?)?,
            note: c.take()?,
        })
    })
    .await
}

/// Parses [`Actor::id`].
fn parse_actor(actor: &str) -> Result<issues::Actor> {
    let (kind, id) = match actor.split_once(':') {
        Some((kind, id)) => (kind, Some(ActorId::parse(id).map_err(Error::defect)?)),
        None => (actor, None),
    };
    let kind = match kind {
        "key" => ActorKind::ApiKey,
        "user" => ActorKind::User,
        "audit" => ActorKind::Audit,
        "recheck" => ActorKind::Recheck,
        "system" => ActorKind::System,
        other => return Err(Error::Defect(format!("unknown actor {other}"))),
    };
    Ok(issues::Actor { kind, id, name: None })
}

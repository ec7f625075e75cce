//! Rechecks of occurrences that are marked as done, and their outcomes.

use std::collections::BTreeSet;

use searchwright_contract::{
    Instant,
    ids::{AuditId, IssueId, JobId, PageId, RecheckId},
    issues::OccurrenceState,
    rechecks::{Recheck, RecheckCounts, RecheckItem, RecheckOutcome, RecheckScope, RecheckStatus},
};
use serde_json::Value;

use crate::{
    Cells, Error, Result, Tx,
    access::ProjectScope,
    issues,
    ledger::{self, Entry, RecheckProof},
    occurrences::{self, Actor, OccurrenceKey, StateChange},
    projects, sql,
};

/// A recheck to be created.
#[derive(Clone, Copy, Debug)]
pub struct NewRecheck {
    /// Identifier, UUIDv7 of now.
    pub id: RecheckId,
    /// Job that runs it.
    pub job: JobId,
    /// Audit whose data the pages are compared with.
    pub audit: AuditId,
    /// The caller named its occurrences; otherwise it has all that are marked as done.
    pub named: bool,
}

fn read_recheck(c: &mut Cells<'_>) -> Result<Recheck> {
    Ok(Recheck {
        id: c.take()?,
        job_id: c.take()?,
        audit_id: c.take()?,
        status: c.parse()?,
        scope: RecheckScope {
            named: c.take()?,
            ..RecheckScope::default()
        },
        requested_at: c.take()?,
        finished_at: c.take()?,
        counts: RecheckCounts {
            new_issues: c.take()?,
            ..RecheckCounts::default()
        },
        items: Vec::new(),
        next_cursor: None,
    })
}

macro_rules! columns {
    ($where:literal) => {
        concat!(
            "SELECT id, job_id, audit_id, status, named, requested_at, finished_at, new_issues FROM rechecks WHERE project_id = $1 AND ",
            $where
        )
    };
}

/// Creates a recheck of occurrences that are marked as done. [`Error::Overloaded`] if one is no longer.
pub async fn create(
    tx: &mut Tx,
    scope: ProjectScope,
    new: NewRecheck,
    keys: &[OccurrenceKey],
    now: Instant,
) -> Result<()> {
    sql("INSERT INTO rechecks (project_id, id, job_id, audit_id, status, new_issues, named, requested_at) VALUES ($1, $2, $3, $4, 'queued', 0, $5, $6)")
        .bind(scope.project())
        .bind(new.id)
        .bind(new.job)
        .bind(new.audit)
        .bind(new.named)
        .bind(now)
        .execute(tx)
        .await?;
    sql("INSERT INTO recheck_items (project_id, recheck_id, outcome, issue_id, page_id) VALUES ($1, $2, 'pending', $3, $4)")
        .bind(scope.project())
        .bind(new.id)
        .execute_each(tx, ledger::key_rows(keys))
        .await?;
    let claims = keys.iter().map(|key| (*key, ())).collect();
    let touched = ledger::update_existing(tx, scope, claims, |entry, ()| entry.begin_recheck()).await?;
    if touched < keys.len() {
        return Err(Error::Overloaded);
    }
    let changes: Vec<StateChange> = keys
        .iter()
        .map(|key| StateChange {
            key: *key,
            from: OccurrenceState::Done,
            to: OccurrenceState::RecheckPending,
        })
        .collect();
    occurrences::insert_changes(tx, scope, &changes, &actor(new.id, now)).await
}

/// Actor of the changes that a recheck makes.
pub fn actor(recheck: RecheckId, at: Instant) -> Actor {
    Actor {
        id: format!("recheck:{recheck}"),
        name: "recheck".to_owned(),
        note: None,
        at,
    }
}

/// Returns at most `limit` occurrences that are marked as done, the oldest marks first.
pub async fn list_done(tx: &mut Tx, scope: ProjectScope, limit: u32) -> Result<Vec<OccurrenceKey>> {
    let leaves = sql("SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1 AND done > 0")
        .bind(scope.project());
    let mut claims = Vec::new();
    ledger::for_each_entry(tx, leaves, |key, entry| {
        if entry.state == OccurrenceState::Done {
            claims.push((entry.done_at, key));
        }
    })
    .await?;
    claims.sort_unstable();
    claims.truncate(limit as usize);
    Ok(claims.into_iter().map(|(_, key)| key).collect())
}

/// Returns the unfinished recheck, if there is one, without its items.
pub async fn find_active(tx: &mut Tx, scope: ProjectScope) -> Result<Option<Recheck>> {
    let found = sql(columns!("status IN ('queued', 'running')"))
        .bind(scope.project())
        .fetch_optional(tx, read_recheck)
        .await?;
    with_counts(tx, scope, found).await
}

/// Returns a recheck without its items; [`Error::Missing`] if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: RecheckId) -> Result<Recheck> {
    let found = sql(columns!("id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, read_recheck)
        .await?;
    with_counts(tx, scope, Some(found)).await?.ok_or(Error::Missing)
}

/// Adds the counts of items.
async fn with_counts(tx: &mut Tx, scope: ProjectScope, found: Option<Recheck>) -> Result<Option<Recheck>> {
    let Some(mut recheck) = found else {
        return Ok(None);
    };
    let id = recheck.id;
    // Items are inserted when the recheck is created, and never later.
    (recheck.scope.issues, recheck.scope.pages, recheck.scope.occurrences) = sql("SELECT count(DISTINCT issue_id), count(DISTINCT page_id), count(*) FROM recheck_items WHERE project_id = $1 AND recheck_id = $2")
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, |c| {
            Ok((c.take()?, c.take()?, c.take()?))
        })
        .await?;
    let counts = &mut recheck.counts;
    sql("SELECT outcome, count(*) FROM recheck_items WHERE project_id = $1 AND recheck_id = $2 GROUP BY outcome")
        .bind(scope.project())
        .bind(id)
        .for_each(tx, |c| {
            let (outcome, count) = (c.parse::<RecheckOutcome>()?, c.take()?);
            *match outcome {
                RecheckOutcome::Pending => &mut counts.pending,
                RecheckOutcome::Resolved => &mut counts.resolved,
                RecheckOutcome::StillPresent => &mut counts.still_present,
                RecheckOutcome::Inconclusive => &mut counts.inconclusive,
                RecheckOutcome::NeedsAudit => &mut counts.needs_audit,
                RecheckOutcome::Superseded => &mut counts.superseded,
            } = count;
            Ok(())
        })
        .await?;
    Ok(Some(recheck))
}

/// Returns one page of the items of a recheck, by issue and page.
pub async fn list_items(
    tx: &mut Tx,
    scope: ProjectScope,
    id: RecheckId,
    after: Option<OccurrenceKey>,
    limit: u32,
) -> Result<Vec<RecheckItem>> {
    let (issue, page) = after.unwrap_or((IssueId::MIN, PageId::MIN));
    sql("SELECT r.issue_id, r.page_id, p.url, r.outcome, r.detail, r.checked_at
         FROM recheck_items r JOIN pages p ON p.project_id = r.project_id AND p.id = r.page_id
         WHERE r.project_id = $1 AND r.recheck_id = $2 AND (r.issue_id, r.page_id) > ($3, $4) ORDER BY r.issue_id, r.page_id LIMIT $5")
    .bind(scope.project())
    .bind(id)
    .bind(issue)
    .bind(page)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(RecheckItem {
            issue_id: c.take()?,
            page_id: c.take()?,
            url: c.take()?,
            outcome: c.parse()?,
            detail: c.take()?,
            checked_at: c.take()?,
        })
    })
    .await
}

/// An item that is not checked yet.
#[derive(Clone, Debug)]
pub struct PendingItem {
    /// Occurrence.
    pub key: OccurrenceKey,
    /// Id of the check.
    pub check_id: String,
    /// URL of the page.
    pub url: String,
    /// Last evidence.
    pub evidence: Value,
}

/// Returns the pending items of a recheck.
pub async fn list_pending(tx: &mut Tx, scope: ProjectScope, id: RecheckId) -> Result<Vec<PendingItem>> {
    let items: Vec<(OccurrenceKey, String, String)> = sql("SELECT r.issue_id, r.page_id, i.check_id, p.url FROM recheck_items r
         JOIN issues i ON i.project_id = r.project_id AND i.id = r.issue_id
         JOIN pages p ON p.project_id = r.project_id AND p.id = r.page_id
         WHERE r.project_id = $1 AND r.recheck_id = $2 AND r.outcome = 'pending' ORDER BY r.issue_id, r.page_id")
    .bind(scope.project())
    .bind(id)
    .fetch_all(tx, |c| Ok(((c.take()?, c.take()?), c.take()?, c.take()?)))
    .await?;
    let keys: Vec<OccurrenceKey> = items.iter().map(|(key, _, _)| *key).collect();
    let known = ledger::find_entries(tx, scope, &keys).await?;
    let pending = items
        .into_iter()
        .zip(known)
        .filter_map(|((key, check_id, url), entry)| {
            let evidence = occurrences::parse_evidence(&entry?.evidence);
            Some(evidence.map(|evidence| PendingItem {
                key,
                check_id,
                url,
                evidence,
            }))
        });
    pending.collect()
}

/// Outcome of an item.
#[derive(Clone, Debug)]
pub struct ItemOutcome {
    /// Occurrence.
    pub key: OccurrenceKey,
    /// Outcome.
    pub outcome: RecheckOutcome,
    /// Reason of the outcome.
    pub detail: Option<String>,
    /// Resolution: `fixed`, `page_gone` or `not_applicable`.
    pub resolution: Option<&'static str>,
    /// New evidence, JSON text.
    pub evidence: Option<String>,
}

/// Applies outcomes of items. Items whose occurrence was changed meanwhile become `superseded`.
pub async fn settle_items(
    tx: &mut Tx,
    scope: ProjectScope,
    id: RecheckId,
    mut outcomes: Vec<ItemOutcome>,
    now: Instant,
) -> Result<()> {
    projects::lock(tx, scope).await?;
    let keys: Vec<OccurrenceKey> = outcomes.iter().map(|item| item.key).collect();
    let states = occurrences::find_states(tx, scope, &keys).await?;
    // An occurrence that an audit or a person changed meanwhile keeps its state.
    for (item, state) in outcomes.iter_mut().zip(states) {
        if state != Some(OccurrenceState::RecheckPending) {
            item.outcome = RecheckOutcome::Superseded;
        }
    }
    let items = outcomes
        .iter()
        .map(|item| {
            let (issue, page) = item.key;
            vec![
                issue.into(),
                page.into(),
                item.outcome.as_str().into(),
                item.detail.clone().into(),
            ]
        })
        .collect();
    sql("UPDATE recheck_items SET outcome = $6, detail = $7, checked_at = $3 WHERE project_id = $1 AND recheck_id = $2 AND issue_id = $4 AND page_id = $5")
        .bind(scope.project())
        .bind(id)
        .bind(now)
        .execute_each(tx, items)
        .await?;
    let (mut changes, mut proofs) = (Vec::new(), Vec::new());
    for item in outcomes {
        let to = match item.outcome {
            RecheckOutcome::Superseded | RecheckOutcome::Pending => continue,
            RecheckOutcome::Resolved => OccurrenceState::Resolved,
            RecheckOutcome::StillPresent => OccurrenceState::StillPresent,
            RecheckOutcome::Inconclusive | RecheckOutcome::NeedsAudit => OccurrenceState::Done,
        };
        let proof = RecheckProof {
            recheck: id,
            to,
            outcome: item.outcome,
            resolution: item.resolution,
            evidence: item.evidence,
            at: now,
        };
        proofs.push((item.key, proof));
        changes.push(StateChange {
            key: item.key,
            from: OccurrenceState::RecheckPending,
            to,
        });
    }
    ledger::update_existing(tx, scope, proofs, Entry::apply_proof).await?;
    occurrences::insert_changes(tx, scope, &changes, &actor(id, now)).await
}

/// Marks a queued recheck as running.
pub async fn begin(tx: &mut Tx, scope: ProjectScope, id: RecheckId) -> Result<()> {
    sql("UPDATE rechecks SET status = 'running' WHERE project_id = $1 AND id = $2 AND status = 'queued'")
        .bind(scope.project())
        .bind(id)
        .execute(tx)
        .await?;
    Ok(())
}

/// Finishes a recheck; `false` if it was finished before.
pub async fn finish(
    tx: &mut Tx,
    scope: ProjectScope,
    id: RecheckId,
    status: RecheckStatus,
    new_issues: u32,
    now: Instant,
) -> Result<bool> {
    let touched = sql("UPDATE rechecks SET status = $3, new_issues = $4, finished_at = $5 WHERE project_id = $1 AND id = $2 AND status IN ('queued', 'running')")
        .bind(scope.project())
        .bind(id)
        .bind(status.as_str())
        .bind(new_issues)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(touched > 0)
}

/// Finishes a recheck that failed: its pending items become inconclusive, their occurrences done again.
pub async fn abandon(tx: &mut Tx, scope: ProjectScope, id: RecheckId, why: &str, now: Instant) -> Result<()> {
    if !finish(tx, scope, id, RecheckStatus::Failed, 0, now).await? {
        return Ok(());
    }
    let pending = list_pending(tx, scope, id).await?;
    let outcomes = pending.into_iter().map(|item| ItemOutcome {
        key: item.key,
        outcome: RecheckOutcome::Inconclusive,
        detail: Some(why.to_owned()),
        resolution: None,
        evidence: None,
    });
    let outcomes: Vec<ItemOutcome> = outcomes.collect();
    let issues: BTreeSet<IssueId> = outcomes.iter().map(|item| item.key.0).collect();
    settle_items(tx, scope, id, outcomes, now).await?;
    for issue in issues {
        // The number of active occurrences is the same; their states differ.
        issues::recount(tx, scope, issue).await?;
    }
    Ok(())
}

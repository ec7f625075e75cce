//! Rechecks and what they found out, item by item.

use std::collections::BTreeSet;

use searchwright_contract::{
    Instant,
    issues::OccurrenceState,
    rechecks::{Recheck, RecheckCounts, RecheckItem, RecheckOutcome, RecheckScope, RecheckStatus},
};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    Cells, Error, Result, Tx,
    access::ProjectScope,
    issues,
    ledger::{self, Entry, RecheckProof},
    occurrences::{self, Actor, Change, OccurrenceKey},
    projects, sql,
};

/// A recheck to be started.
#[derive(Clone, Copy, Debug)]
pub struct New {
    /// Identifier, UUIDv7 of now.
    pub id: Uuid,
    /// The job that does it.
    pub job: Uuid,
    /// The audit whose data pages are compared with.
    pub audit: Uuid,
    /// Its occurrences were named, not all that are marked as done.
    pub named: bool,
}

fn recheck(c: &mut Cells<'_>) -> Result<Recheck> {
    Ok(Recheck {
        id: c.take::<Uuid>()?.to_string(),
        job_id: c.take::<Uuid>()?.to_string(),
        audit_id: c.take::<Uuid>()?.to_string(),
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

/// Starts a recheck of occurrences that are marked as done. [`Error::Overloaded`] when one is no longer.
pub async fn create(
    tx: &mut Tx,
    scope: ProjectScope,
    new: New,
    pairs: &[OccurrenceKey],
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
        .execute_each(tx, ledger::key_rows(pairs))
        .await?;
    let claims = pairs.iter().map(|of| (*of, ())).collect();
    let touched = ledger::update_existing(tx, scope, claims, |entry, ()| entry.begin_recheck()).await?;
    if touched < pairs.len() {
        return Err(Error::Overloaded);
    }
    let changes: Vec<Change> = pairs
        .iter()
        .map(|of| Change {
            of: *of,
            from: OccurrenceState::Done,
            to: OccurrenceState::RecheckPending,
        })
        .collect();
    occurrences::log(tx, scope, &changes, &actor(new.id, now)).await
}

/// A recheck as the ledger knows it.
pub fn actor(recheck: Uuid, at: Instant) -> Actor {
    Actor {
        id: format!("recheck:{recheck}"),
        name: "recheck".to_owned(),
        note: None,
        at,
    }
}

/// What is marked as done, the oldest claims first, of at most so many pages.
pub async fn done(tx: &mut Tx, scope: ProjectScope, most: u32) -> Result<Vec<OccurrenceKey>> {
    let leaves = sql("SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1 AND done > 0")
        .bind(scope.project());
    let mut claims = Vec::new();
    ledger::for_each_entry(tx, leaves, |of, entry| {
        if entry.state == OccurrenceState::Done {
            claims.push((entry.done_at, of));
        }
    })
    .await?;
    claims.sort_unstable();
    claims.truncate(most as usize);
    Ok(claims.into_iter().map(|(_, of)| of).collect())
}

/// The one that has not ended, if there is one.
pub async fn active(tx: &mut Tx, scope: ProjectScope) -> Result<Option<Recheck>> {
    let found = sql(columns!("status IN ('queued', 'running')"))
        .bind(scope.project())
        .fetch_optional(tx, recheck)
        .await?;
    counted(tx, scope, found).await
}

/// One recheck, without its items.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<Recheck> {
    let found = sql(columns!("id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, recheck)
        .await?;
    counted(tx, scope, Some(found)).await?.ok_or(Error::Missing)
}

async fn counted(tx: &mut Tx, scope: ProjectScope, found: Option<Recheck>) -> Result<Option<Recheck>> {
    let Some(mut recheck) = found else {
        return Ok(None);
    };
    let id = Uuid::try_parse(&recheck.id).unwrap_or_default();
    // Items are written when a recheck is created and never again.
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

/// One page of the items of a recheck, by issue and page.
pub async fn items(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
    after: Option<OccurrenceKey>,
    limit: u32,
) -> Result<Vec<RecheckItem>> {
    let (issue, page) = after.unwrap_or((Uuid::nil(), Uuid::nil()));
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
            issue_id: c.take::<Uuid>()?.to_string(),
            page_id: c.take::<Uuid>()?.to_string(),
            url: c.take()?,
            outcome: c.parse()?,
            detail: c.take()?,
            checked_at: c.take()?,
        })
    })
    .await
}

/// An item that is to be looked at.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The occurrence.
    pub of: OccurrenceKey,
    /// Its check.
    pub check_id: String,
    /// Address of the page.
    pub url: String,
    /// What was seen last.
    pub evidence: Value,
}

/// Everything that is to be looked at.
pub async fn waiting(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<Vec<Waiting>> {
    let items: Vec<(OccurrenceKey, String, String)> = sql("SELECT r.issue_id, r.page_id, i.check_id, p.url FROM recheck_items r
         JOIN issues i ON i.project_id = r.project_id AND i.id = r.issue_id
         JOIN pages p ON p.project_id = r.project_id AND p.id = r.page_id
         WHERE r.project_id = $1 AND r.recheck_id = $2 AND r.outcome = 'pending' ORDER BY r.issue_id, r.page_id")
    .bind(scope.project())
    .bind(id)
    .fetch_all(tx, |c| Ok(((c.take()?, c.take()?), c.take()?, c.take()?)))
    .await?;
    let pairs: Vec<OccurrenceKey> = items.iter().map(|(of, _, _)| *of).collect();
    let known = ledger::find_entries(tx, scope, &pairs).await?;
    let waiting = items
        .into_iter()
        .zip(known)
        .filter_map(|((of, check_id, url), entry)| {
            let evidence = occurrences::json(&entry?.evidence);
            Some(evidence.map(|evidence| Waiting {
                of,
                check_id,
                url,
                evidence,
            }))
        });
    waiting.collect()
}

/// What was found out about an item.
#[derive(Clone, Debug)]
pub struct Found {
    /// The occurrence.
    pub of: OccurrenceKey,
    /// What.
    pub outcome: RecheckOutcome,
    /// What it rests on.
    pub detail: Option<String>,
    /// How it was resolved: `fixed`, `page_gone` or `not_applicable`.
    pub resolution: Option<&'static str>,
    /// What is seen now, JSON text.
    pub evidence: Option<String>,
}

/// Writes what was found out. What an audit or somebody has changed meanwhile is superseded.
pub async fn settle(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
    mut found: Vec<Found>,
    now: Instant,
) -> Result<()> {
    projects::lock(tx, scope).await?;
    let pairs: Vec<OccurrenceKey> = found.iter().map(|f| f.of).collect();
    let states = occurrences::states(tx, scope, &pairs).await?;
    for (found, state) in found.iter_mut().zip(states) {
        if state != Some(OccurrenceState::RecheckPending) {
            found.outcome = RecheckOutcome::Superseded;
        }
    }
    let items = found
        .iter()
        .map(|f| {
            let (issue, page) = f.of;
            vec![
                issue.into(),
                page.into(),
                f.outcome.as_str().into(),
                f.detail.clone().into(),
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
    for found in found {
        let to = match found.outcome {
            RecheckOutcome::Superseded | RecheckOutcome::Pending => continue,
            RecheckOutcome::Resolved => OccurrenceState::Resolved,
            RecheckOutcome::StillPresent => OccurrenceState::StillPresent,
            RecheckOutcome::Inconclusive | RecheckOutcome::NeedsAudit => OccurrenceState::Done,
        };
        let proof = RecheckProof {
            recheck: id,
            to,
            outcome: found.outcome,
            resolution: found.resolution,
            evidence: found.evidence,
            at: now,
        };
        proofs.push((found.of, proof));
        changes.push(Change {
            of: found.of,
            from: OccurrenceState::RecheckPending,
            to,
        });
    }
    ledger::update_existing(tx, scope, proofs, Entry::apply_proof).await?;
    occurrences::log(tx, scope, &changes, &actor(id, now)).await
}

/// A worker has begun with it.
pub async fn begin(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<()> {
    sql("UPDATE rechecks SET status = 'running' WHERE project_id = $1 AND id = $2 AND status = 'queued'")
        .bind(scope.project())
        .bind(id)
        .execute(tx)
        .await?;
    Ok(())
}

/// Ends a recheck. Whether it had not ended before.
pub async fn finish(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
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

/// Ends a recheck that found nothing out: every item is marked as done as before.
pub async fn abandon(tx: &mut Tx, scope: ProjectScope, id: Uuid, why: &str, now: Instant) -> Result<()> {
    if !finish(tx, scope, id, RecheckStatus::Failed, 0, now).await? {
        return Ok(());
    }
    let found = waiting(tx, scope, id).await?.into_iter().map(|item| Found {
        of: item.of,
        outcome: RecheckOutcome::Inconclusive,
        detail: Some(why.to_owned()),
        resolution: None,
        evidence: None,
    });
    let found: Vec<Found> = found.collect();
    let issues: BTreeSet<Uuid> = found.iter().map(|found| found.of.0).collect();
    settle(tx, scope, id, found, now).await?;
    for issue in issues {
        // the same are active as before, in other states
        issues::recount(tx, scope, issue).await?;
    }
    Ok(())
}

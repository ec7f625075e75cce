//! Settles occurrences that an audit did not find again, and counts the occurrences of every issue.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, PoisonError},
};

use futures_util::{StreamExt as _, TryStreamExt as _};
use searchwright_contract::{
    Instant,
    events::{AuditCounts, EventType},
    ids::{AuditId, EventId, IssueId, PageId},
};
use searchwright_crawls::{dependency_check::DependencyCheck, ids::issue_id};
use searchwright_site::checks;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    events,
    issues::{self, Settlement},
    occurrences::{self, Actor},
    snapshots::id_prefix,
};
use serde_json::{Value, json};

use super::{evaluate::locked, persist::ROWS, proofs::Proof};
use crate::jobs::{JobContext, JobError};

/// Issues that are settled at once, to share commits.
const MAX_CONCURRENT: usize = 32;

/// An audit, by which changes of occurrences are dated and explained.
#[derive(Clone, Copy, Debug)]
pub(in crate::audits) struct AuditRef {
    pub(in crate::audits) id: AuditId,
    /// Earliest time the audit can have fetched a page.
    pub(in crate::audits) began: Instant,
    /// Its counts for events; only of a scheduled audit, which nobody waits for.
    pub(in crate::audits) counts: Option<AuditCounts>,
}

/// Settles the occurrences that the audit did not find again, issue by issue and in portions, so that other writers
/// never wait long. Idempotent: the count of an issue and the event of its change are one transaction. Returns, by
/// issue, the visited pages without a verdict.
pub(super) async fn reconcile(
    job: &JobContext,
    audit: AuditRef,
    proofs: &HashMap<IssueId, Proof<'_>>,
    dependencies: &DependencyCheck<'_>,
    now: Instant,
) -> Result<HashMap<IssueId, Vec<u64>>, JobError> {
    let db = &job.engine.db;
    let scope = job.leased.scope;
    let ids = issues::list_ids(&mut db.read().await?, scope).await?;
    let unproven = Mutex::new(HashMap::new());
    futures_util::stream::iter(ids)
        .map(Ok)
        .try_for_each_concurrent(MAX_CONCURRENT, |issue| {
            let unproven = &unproven;
            async move {
                let (mut after, proof) = (None, proofs.get(&issue));
                loop {
                    let unseen =
                        issues::list_unseen(&mut db.read().await?, scope, audit.id, issue, after, ROWS)
                            .await?;
                    let Some(last) = unseen.last().map(|was| was.page) else {
                        break;
                    };
                    let visited: HashSet<PageId> = unseen
                        .iter()
                        .filter(|was| was.visited)
                        .map(|was| was.page)
                        .collect();
                    let settled = match proof {
                        Some(proof) => proof.settle(unseen, dependencies),
                        None => Settlement {
                            stale: unseen.into_iter().map(|was| was.page).collect(),
                            ..Settlement::default()
                        },
                    };
                    let pages = settled.stale.iter().chain(&settled.newer);
                    let pages: Vec<u64> = pages
                        .filter(|page| visited.contains(page))
                        .map(|page| id_prefix(*page))
                        .collect();
                    locked(unproven)
                        .entry(issue)
                        .or_insert_with(Vec::new)
                        .extend(pages);
                    job.write_fenced(move |tx, scope| {
                        Box::pin(async move {
                            issues::settle_unseen(tx, scope, audit.id, issue, settled, now).await
                        })
                    })
                    .await?;
                    after = Some(last);
                }
                write_history(job, audit, issue, now).await
            }
        })
        .await?;
    Ok(unproven.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Records the changes of an audit that ends without a result in the histories of its issues, and counts these.
pub(in crate::audits) async fn record_unfinished(job: &JobContext, audit: AuditRef) -> Result<(), JobError> {
    let db = &job.engine.db;
    let now = job.engine.clock.now();
    let ids = issues::list_ids(&mut db.read().await?, job.leased.scope).await?;
    futures_util::stream::iter(ids)
        .map(Ok)
        .try_for_each_concurrent(MAX_CONCURRENT, |issue| write_history(job, audit, issue, now))
        .await
}

/// Runs [`record_history`] in a transaction of its own.
async fn write_history(
    job: &JobContext,
    audit: AuditRef,
    issue: IssueId,
    now: Instant,
) -> Result<(), JobError> {
    let event = job.engine.clock.id();
    job.write_fenced(move |tx, scope| Box::pin(record_history(tx, scope, audit, issue, event, now)))
        .await
}

/// Writes the changes of an audit to the history of an issue, and counts its occurrences. `event` is the id of the event that
/// tells of a change.
pub(in crate::audits) async fn record_history(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditRef,
    issue: IssueId,
    event: EventId,
    now: Instant,
) -> searchwright_store::Result<()> {
    let actor = Actor {
        id: format!("audit:{}", audit.id),
        name: "audit".to_owned(),
        note: None,
        at: now,
    };
    let reopened = occurrences::insert_audit_changes(tx, scope, issue, audit.began, &actor).await?;
    let cause = match audit.counts {
        Some(counts) => json!({ "auditId": audit.id, "counts": counts }),
        None => json!({ "auditId": audit.id }),
    };
    recount(tx, scope, issue, reopened, event, cause, now).await
}

/// Counts the occurrences of an issue, and writes an event if it was opened, reopened or resolved, or was `reopened` on so many
/// pages; `cause` holds the members of the event that name the cause.
pub(in crate::audits) async fn recount(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: IssueId,
    reopened: u64,
    event: EventId,
    cause: Value,
    now: Instant,
) -> searchwright_store::Result<()> {
    let turned = issues::recount(tx, scope, issue).await?;
    let kind = match turned.map(|turned| (turned.active, turned.new)) {
        Some((true, true)) => EventType::IssueOpened,
        Some((true, false)) => EventType::IssueReopened,
        Some((false, _)) => EventType::IssueResolved,
        None if reopened > 0 => EventType::IssueReopened,
        None => return Ok(()),
    };
    let mut all = checks::registry().iter();
    let check = all.find(|check| issue_id(scope.project(), check.id) == issue);
    let mut data = json!({ "issueId": issue, "checkId": check.map(|check| check.id) });
    if let (Some(data), Value::Object(cause)) = (data.as_object_mut(), cause) {
        data.extend(cause);
        if kind == EventType::IssueReopened {
            data.insert("occurrences".to_owned(), reopened.into());
        }
        if kind != EventType::IssueOpened {
            data.remove("counts");
        }
    }
    events::insert(tx, scope, event, kind, &data, now).await
}

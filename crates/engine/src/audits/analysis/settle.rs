//! Settles occurrences that an audit did not find again, and counts the occurrences of every issue.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, PoisonError},
};

use futures_util::{StreamExt as _, TryStreamExt as _};
use searchwright_contract::{Instant, events::EventType};
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
use uuid::Uuid;

use super::{
    super::{ids::issue_id, witnessed::Witnessed},
    evaluate::locked,
    proofs::Proof,
    writing::ROWS,
};
use crate::jobs::{JobContext, JobError};

/// Issues that are settled at once, to share commits.
const AT_ONCE: usize = 32;

/// Settles the occurrences that the audit did not find again, issue by issue and in portions, so that other writers
/// never wait long. Idempotent: the count of an issue and the event of its change are one transaction. Returns, by
/// issue, the visited pages without a verdict.
pub(super) async fn settle(
    job: &JobContext,
    audit: Uuid,
    (proofs, witnessed): (&HashMap<Uuid, Proof<'_>>, &Witnessed<'_>),
    began: Instant,
    now: Instant,
) -> Result<HashMap<Uuid, Vec<u64>>, JobError> {
    let db = &job.engine.db;
    let scope = job.leased.scope;
    let ids = issues::list_ids(&mut db.read().await?, scope).await?;
    let untold = Mutex::new(HashMap::new());
    futures_util::stream::iter(ids)
        .map(Ok)
        .try_for_each_concurrent(AT_ONCE, |issue| {
            let untold = &untold;
            async move {
                let (mut after, proof) = (None, proofs.get(&issue));
                loop {
                    let unseen =
                        issues::list_unseen(&mut db.read().await?, scope, audit, issue, after, ROWS).await?;
                    let Some(last) = unseen.last().map(|was| was.page) else {
                        break;
                    };
                    let visited: HashSet<Uuid> = unseen
                        .iter()
                        .filter(|was| was.visited)
                        .map(|was| was.page)
                        .collect();
                    let settled = match proof {
                        Some(proof) => proof.settle(unseen, witnessed),
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
                    locked(untold).entry(issue).or_insert_with(Vec::new).extend(pages);
                    job.write_fenced(move |tx, scope| {
                        Box::pin(
                            async move { issues::settle_unseen(tx, scope, audit, issue, settled, now).await },
                        )
                    })
                    .await?;
                    after = Some(last);
                }
                told(job, (audit, began), issue, now).await
            }
        })
        .await?;
    Ok(untold.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Records the changes of an audit that ends without a result in the histories of its issues, and counts these.
pub(in crate::audits) async fn leave(job: &JobContext, audit: Uuid, began: Instant) -> Result<(), JobError> {
    let db = &job.engine.db;
    let now = job.engine.clock.now();
    let ids = issues::list_ids(&mut db.read().await?, job.leased.scope).await?;
    futures_util::stream::iter(ids)
        .map(Ok)
        .try_for_each_concurrent(AT_ONCE, |issue| told(job, (audit, began), issue, now))
        .await
}

/// Runs [`tell`] in a transaction of its own.
async fn told(job: &JobContext, by: (Uuid, Instant), issue: Uuid, now: Instant) -> Result<(), JobError> {
    let event = job.engine.clock.id();
    job.write_fenced(move |tx, scope| Box::pin(tell(tx, scope, by, (issue, event), now)))
        .await
}

/// Writes the changes of an audit, which began at `began`, to the history of an issue, and counts its occurrences.
pub(in crate::audits) async fn tell(
    tx: &mut Tx,
    scope: ProjectScope,
    (audit, began): (Uuid, Instant),
    (issue, event): (Uuid, Uuid),
    now: Instant,
) -> searchwright_store::Result<()> {
    let actor = Actor {
        id: format!("audit:{audit}"),
        name: "audit".to_owned(),
        note: None,
        at: now,
    };
    let again = occurrences::insert_audit_changes(tx, scope, issue, began, &actor).await?;
    let by = json!({ "auditId": audit });
    recount(tx, scope, (issue, again), event, by, now).await
}

/// Counts the occurrences of an issue, and writes an event if it was opened, reopened or resolved, or occurs `again` on so many
/// pages; `by` holds the members of the event that name the cause.
pub(in crate::audits) async fn recount(
    tx: &mut Tx,
    scope: ProjectScope,
    (issue, again): (Uuid, u64),
    event: Uuid,
    by: Value,
    now: Instant,
) -> searchwright_store::Result<()> {
    let turned = issues::recount(tx, scope, issue).await?;
    let kind = match turned.map(|turned| (turned.active, turned.new)) {
        Some((true, true)) => EventType::IssueOpened,
        Some((true, false)) => EventType::IssueReopened,
        Some((false, _)) => EventType::IssueResolved,
        None if again > 0 => EventType::IssueReopened,
        None => return Ok(()),
    };
    let mut all = checks::registry().iter();
    let check = all.find(|check| issue_id(scope.project(), check.id) == issue);
    let mut data = json!({ "issueId": issue, "checkId": check.map(|check| check.id) });
    if let (Some(data), Value::Object(by)) = (data.as_object_mut(), by) {
        data.extend(by);
        if kind == EventType::IssueReopened {
            data.insert("occurrences".to_owned(), again.into());
        }
    }
    events::insert(tx, scope, event, kind, &data, now).await
}

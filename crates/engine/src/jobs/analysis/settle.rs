//! What an audit did not find again, and the count of every issue.

use std::collections::HashMap;

use futures_util::{StreamExt as _, TryStreamExt as _};
use searchwright_contract::{Instant, events::EventType};
use searchwright_site::checks;
use searchwright_store::{
    Db, Tx,
    access::ProjectScope,
    events, issues,
    occurrences::{self, Actor},
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    super::{JobError, audit::fenced, worker::Run},
    Measured, ROWS,
    evaluate::issue_id,
};

/// Issues that are settled at once, to share commits.
const AT_ONCE: usize = 32;

/// Settles issue after issue what the audit did not find again, in portions, so that others never wait
/// long. Doing it twice changes nothing: the count of an issue and the event that it turned are one
/// transaction.
pub(super) async fn settle(
    run: &Run,
    db: &Db,
    (audit, began): (Uuid, Instant),
    (looked, measured): (&HashMap<Uuid, issues::Looked>, &Measured),
    now: Instant,
) -> Result<(), JobError> {
    let scope = run.leased.scope;
    let ids = issues::ids(&mut db.read().await?, scope).await?;
    futures_util::stream::iter(ids)
        .map(Ok)
        .try_for_each_concurrent(AT_ONCE, |issue| async move {
            let (mut after, looked) = (None, looked.get(&issue).copied().unwrap_or_default());
            loop {
                let unseen = issues::unseen(&mut db.read().await?, scope, audit, issue, after, ROWS).await?;
                let Some(last) = unseen.last().copied() else {
                    break;
                };
                let is_known = |page: &Uuid| measured.get(&issue).is_none_or(|pages| pages.contains(page));
                let (known, unknown): (Vec<Uuid>, Vec<Uuid>) = unseen.into_iter().partition(is_known);
                let only_gone = issues::Looked {
                    only_gone: true,
                    ..looked
                };
                fenced(db, run.leased.clone(), move |tx, scope| {
                    Box::pin(async move {
                        issues::settle(tx, scope, audit, issue, known, looked, now).await?;
                        issues::settle(tx, scope, audit, issue, unknown, only_gone, now).await
                    })
                })
                .await?;
                after = Some(last);
            }
            let event = run.engine.clock.id();
            fenced(db, run.leased.clone(), move |tx, scope| {
                Box::pin(async move {
                    let actor = Actor {
                        id: format!("audit:{audit}"),
                        name: "audit".to_owned(),
                        note: None,
                        at: now,
                    };
                    occurrences::log_audit(tx, scope, issue, began, &actor).await?;
                    recount(tx, scope, issue, event, json!({ "auditId": audit }), now).await
                })
            })
            .await
        })
        .await
}

/// Counts the occurrences of an issue, and says if it turned; `by` names what turned it.
pub(in crate::jobs) async fn recount(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: Uuid,
    event: Uuid,
    by: Value,
    now: Instant,
) -> searchwright_store::Result<()> {
    let Some(turned) = issues::recount(tx, scope, issue).await? else {
        return Ok(());
    };
    let kind = match (turned.active, turned.new) {
        (true, true) => EventType::IssueOpened,
        (true, false) => EventType::IssueReopened,
        (false, _) => EventType::IssueResolved,
    };
    let mut all = checks::registry().iter();
    let check = all.find(|check| issue_id(scope.project(), check.id) == issue);
    let mut data = json!({ "issueId": issue, "checkId": check.map(|check| check.id) });
    if let (Some(data), Value::Object(by)) = (data.as_object_mut(), by) {
        data.extend(by);
    }
    events::write(tx, scope, event, kind, &data, now).await
}

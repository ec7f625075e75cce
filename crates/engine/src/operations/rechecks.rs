//! Rechecks: starting them and following them. The work itself is `audits/recheck.rs`.

use std::collections::BTreeMap;

use searchwright_contract::{
    Code, Fault, Problem,
    ids::{IssueId, PageId},
    issues::OccurrenceState,
    occurrences::Pair,
    rechecks::{GetRecheck, Recheck, RecheckItem, RecheckStarted, StartRecheck},
};
use searchwright_store::{
    Tx, access::RecordKind, audits, jobs, occurrences::OccurrenceKey, projects, rechecks,
};

use super::{
    jobs::with_actions,
    occurrences::{NamedOccurrence, find_named},
};
use crate::{
    Engine,
    audits::recheck::MAX_PAGES,
    call::{Call, limit},
    endpoint::Handle,
    failure::Result,
    jobs::Job,
};

/// Occurrences of one recheck.
const MAX_ITEMS: u32 = 5_000;

impl Handle<StartRecheck> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: StartRecheck) -> Result<RecheckStarted> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        if let Some(recheck) = rechecks::find_active(tx, scope).await? {
            let job = jobs::get(tx, scope, recheck.job_id).await?;
            return Ok(RecheckStarted {
                job: with_actions(call, job),
                recheck,
                already_running: true,
            });
        }
        let mut pairs = match &operation.occurrences {
            Some(pairs) => {
                let named = find_named(tx, scope, pairs).await?;
                let faults: Vec<Fault> = pairs
                    .iter()
                    .zip(&named)
                    .enumerate()
                    .filter_map(|(at, (pair, named))| fault_of(at, pair, named.as_ref()))
                    .collect();
                if !faults.is_empty() {
                    return Err(Problem::faults(faults).into());
                }
                named.into_iter().flatten().map(|named| named.key).collect()
            }
            None => rechecks::list_done(tx, scope, MAX_ITEMS).await?,
        };
        let Some(audit) = audits::find_newest_finished(tx, scope)
            .await?
            .filter(|_| !pairs.is_empty())
        else {
            return Err(
                Problem::new(Code::InvalidState, "no occurrence is marked as done")
                    .hint("fix the site, mark what was fixed with occurrences.done, then start one recheck")
                    .into(),
            );
        };
        let mut pages: Vec<PageId> = Vec::new();
        pairs.retain(|(_, page)| {
            if pages.len() < MAX_PAGES && !pages.contains(page) {
                pages.push(*page);
            }
            pages.contains(page)
        });
        pairs.sort_unstable();
        pairs.dedup();
        let new = rechecks::NewRecheck {
            id: call.engine.clock.id(),
            job: call.engine.clock.id(),
            audit,
            named: operation.occurrences.is_some(),
        };
        rechecks::create(tx, scope, new, &pairs, call.now).await?;
        let mut issues: Vec<IssueId> = pairs.iter().map(|(issue, _)| *issue).collect();
        issues.dedup();
        for issue in issues {
            searchwright_store::issues::recount(tx, scope, issue).await?;
        }
        let path = format!("/projects/{}/rechecks/{}", scope.project(), new.id);
        let links = BTreeMap::from([("recheck".to_owned(), path)]);
        let job = Job::Recheck { recheck_id: new.id }
            .enqueue(tx, scope, new.job, links, call.now)
            .await?;
        Ok(RecheckStarted {
            job: with_actions(call, job),
            recheck: rechecks::get(tx, scope, new.id).await?,
            already_running: false,
        })
    }
}

/// Returns the code and the message with which an occurrence is refused for a recheck; `None` if it is accepted.
pub(super) fn refusal(state: Option<OccurrenceState>) -> Option<(&'static str, String)> {
    match state {
        Some(OccurrenceState::Done) => None,
        Some(state) => Some(("not_done", format!("is {state}, not done; mark it as done first"))),
        None => Some(("not_found", "is not an occurrence of this project".to_owned())),
    }
}

fn fault_of(at: usize, pair: &Pair, named: Option<&NamedOccurrence>) -> Option<Fault> {
    let changed = named.filter(|named| named.has_changed(pair)).map(|_| {
        let detail = "has changed since it was read; read it again";
        (Code::PreconditionFailed.as_str(), detail.to_owned())
    });
    let (code, detail) = refusal(named.map(|named| named.state)).or(changed)?;
    Some(Fault {
        pointer: format!("/occurrences/{at}"),
        code: code.to_owned(),
        detail,
    })
}

impl Handle<GetRecheck> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetRecheck) -> Result<Recheck> {
        let id = call.child(RecordKind::Recheck, &operation.recheck_id)?;
        let scope = call.scope()?;
        let found = rechecks::get(tx, scope, id).await;
        let mut recheck = call.or_missing(tx, RecordKind::Recheck, id, found).await?;
        let limit = limit(operation.limit);
        let after: Option<OccurrenceKey> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = rechecks::list_items(tx, scope, id, after, limit + 1).await?;
        let page = call.page(&operation, limit, rows, |last: &RecheckItem| {
            (last.issue_id, last.page_id)
        })?;
        (recheck.items, recheck.next_cursor) = (page.data, page.next_cursor);
        Ok(recheck)
    }
}

//! Rechecks: starting them and following them. The work itself is `audits/recheck.rs`.

use std::collections::BTreeMap;

use searchwright_contract::{
    Code, Fault, Problem,
    issues::OccurrenceState,
    occurrences::Pair,
    rechecks::{GetRecheck, Recheck, RecheckItem, RecheckStarted, StartRecheck},
};
use searchwright_store::{Tx, access::RecordKind, audits, jobs, occurrences, projects, rechecks};
use uuid::Uuid;

use super::{
    jobs::with_actions,
    occurrences::{has_changed, ids},
};
use crate::{
    Engine,
    audits::recheck::MOST_PAGES,
    call::{Call, limit},
    endpoint::Handle,
    failure::Result,
    jobs::Job,
};

/// Occurrences of one recheck.
const MOST_ITEMS: u32 = 5_000;

impl Handle<StartRecheck> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: StartRecheck) -> Result<RecheckStarted> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        if let Some(recheck) = rechecks::find_active(tx, scope).await? {
            let job = jobs::get(tx, scope, Uuid::try_parse(&recheck.job_id).unwrap_or_default()).await?;
            return Ok(RecheckStarted {
                job: with_actions(call, job),
                recheck,
                already_running: true,
            });
        }
        let mut pairs = match &operation.occurrences {
            Some(named) => {
                let pairs: Vec<(Uuid, Uuid)> =
                    named.iter().map(|pair| ids(pair).unwrap_or_default()).collect();
                let known = occurrences::find_versions(tx, scope, &pairs).await?;
                let known = named.iter().zip(&known).enumerate();
                let faults: Vec<Fault> = known
                    .filter_map(|(at, (pair, known))| fault_of(at, pair, known.as_ref()))
                    .collect();
                if !faults.is_empty() {
                    return Err(Problem::faults(faults).into());
                }
                pairs
            }
            None => rechecks::list_done(tx, scope, MOST_ITEMS).await?,
        };
        let Some(audit) = audits::find_newest_finished(tx, scope)
            .await?
            .filter(|_| !pairs.is_empty())
        else {
            return Err(Problem::new(Code::InvalidState, "no occurrence is marked as done")
                .hint("fix the site, mark what was fixed with POST …/occurrences/done, then start one recheck")
                .into());
        };
        let mut pages: Vec<Uuid> = Vec::new();
        pairs.retain(|(_, page)| {
            if pages.len() < MOST_PAGES && !pages.contains(page) {
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
        let mut issues: Vec<Uuid> = pairs.iter().map(|(issue, _)| *issue).collect();
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

fn fault_of(at: usize, pair: &Pair, known: Option<&(OccurrenceState, String)>) -> Option<Fault> {
    let changed = has_changed(pair, known).then(|| {
        let detail = "has changed since it was read; read it again";
        (Code::PreconditionFailed.as_str(), detail.to_owned())
    });
    let (code, detail) = refusal(known.map(|(state, _)| *state)).or(changed)?;
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
        let after: Option<(Uuid, Uuid)> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = rechecks::list_items(tx, scope, id, after, limit + 1).await?;
        let page = call.page(&operation, limit, rows, |last: &RecheckItem| {
            let id = |text: &str| Uuid::try_parse(text).unwrap_or_default();
            (id(&last.issue_id), id(&last.page_id))
        })?;
        (recheck.items, recheck.next_cursor) = (page.data, page.next_cursor);
        Ok(recheck)
    }
}

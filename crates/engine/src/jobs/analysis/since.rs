//! How what an audit found differs from the one before, in numbers.

use std::collections::{HashMap, HashSet};

use searchwright_contract::diffs::ChangeCounts;
use searchwright_site::checks;
use searchwright_store::{
    Db,
    access::ProjectScope,
    snapshots::{self, Mark, half},
};
use uuid::Uuid;

use super::{Measured, evaluate::issue_id};
use crate::{changes::merged, jobs::JobError};

/// `None` when nothing is kept of the one before. `pages` and the pages of each issue in `found` are ascending.
pub(super) async fn since(
    db: &Db,
    scope: ProjectScope,
    previous: Option<Uuid>,
    pages: &[Mark],
    found: &[(Uuid, Vec<u64>)],
) -> Result<Option<ChangeCounts>, JobError> {
    let Some(previous) = previous else {
        return Ok(None);
    };
    let mut tx = db.read().await?;
    let Some(pages_before) = snapshots::pages(&mut tx, scope, previous).await? else {
        return Ok(None);
    };
    let had = snapshots::issues(&mut tx, scope, previous).await?;
    let found: HashMap<Uuid, &[u64]> = found
        .iter()
        .map(|(issue, pages)| (*issue, pages.as_slice()))
        .collect();
    let mut counts = ChangeCounts::default();
    for check in checks::registry() {
        let issue = issue_id(scope.project(), check.id);
        let before = if had.contains(&issue) {
            snapshots::found(&mut tx, scope, previous, issue).await?
        } else {
            Vec::new()
        };
        let now = found.get(&issue).copied().unwrap_or_default();
        for (_, change) in merged(&before, now, &pages_before, pages) {
            *counts.of(change) += 1;
        }
    }
    Ok(Some(counts))
}

/// Of issues that rest on measurements, takes over what the one before had on pages that are still there and were not
/// measured: that nobody looked is no change.
pub(super) async fn carry(
    db: &Db,
    scope: ProjectScope,
    previous: Option<Uuid>,
    pages: &[Mark],
    measured: &Measured,
    found: &mut Vec<(Uuid, Vec<u64>)>,
) -> Result<(), JobError> {
    let Some(previous) = previous else {
        return Ok(());
    };
    let is_there = |page: &u64| {
        let place = pages.binary_search_by_key(page, |mark| mark.page);
        place.is_ok_and(|place| pages[place].status == 200)
    };
    for (issue, known) in measured {
        let known: HashSet<u64> = known.iter().map(|page| half(*page)).collect();
        let mut unknown = snapshots::found(&mut db.read().await?, scope, previous, *issue).await?;
        unknown.retain(|page| !known.contains(page) && is_there(page));
        if unknown.is_empty() {
            continue;
        }
        match found.iter_mut().find(|(id, _)| id == issue) {
            Some((_, pages)) => {
                pages.append(&mut unknown);
                pages.sort_unstable();
            }
            None => found.push((*issue, unknown)),
        }
    }
    Ok(())
}

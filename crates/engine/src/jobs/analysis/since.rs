//! How what an audit found differs from the one before, in numbers.

use std::collections::HashMap;

use searchwright_contract::diffs::ChangeCounts;
use searchwright_site::checks;
use searchwright_store::{
    Db,
    access::ProjectScope,
    snapshots::{self, Mark},
};
use uuid::Uuid;

use super::evaluate::issue_id;
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

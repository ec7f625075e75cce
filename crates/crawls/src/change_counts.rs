//! Counts of changes between the findings of an audit and of the previous one.

use std::collections::HashMap;

use searchwright_contract::{
    diffs::ChangeCounts,
    ids::{AuditId, IssueId},
};
use searchwright_failure::Failure;
use searchwright_site::checks;
use searchwright_store::{
    Db,
    access::ProjectScope,
    snapshots::{self, PageState},
};

use crate::{changes::merged, ids::issue_id};

/// Counts the changes since the previous audit; `None` if no snapshot of it is kept. `pages` and the pages of each issue in
/// `found` are ascending.
pub async fn count_changes(
    db: &Db,
    scope: ProjectScope,
    previous: Option<AuditId>,
    pages: &[PageState],
    found: &[(IssueId, Vec<u64>)],
) -> Result<Option<ChangeCounts>, Failure> {
    let Some(previous) = previous else {
        return Ok(None);
    };
    let mut tx = db.read().await?;
    let Some(pages_before) = snapshots::find_pages(&mut tx, scope, previous).await? else {
        return Ok(None);
    };
    let had = snapshots::list_issues(&mut tx, scope, previous).await?;
    let found: HashMap<IssueId, &[u64]> = found
        .iter()
        .map(|(issue, pages)| (*issue, pages.as_slice()))
        .collect();
    let mut counts = ChangeCounts::default();
    for check in checks::registry() {
        let issue = issue_id(scope.project(), check.id);
        let before = if had.contains(&issue) {
            snapshots::list_issue_pages(&mut tx, scope, previous, issue).await?
        } else {
            Vec::new()
        };
        let now = found.get(&issue).copied().unwrap_or_default();
        for (_, change) in merged(&before, now, &pages_before, pages) {
            *counts.count_mut(change) += 1;
        }
    }
    Ok(Some(counts))
}

/// Adds the pages without a verdict in this audit to the pages with the issue: a missing verdict is no change.
pub fn carry_unproven(unproven: HashMap<IssueId, Vec<u64>>, found: &mut Vec<(IssueId, Vec<u64>)>) {
    let mut places: HashMap<IssueId, usize> =
        found.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
    for (issue, mut unproven) in unproven {
        let place = *places.entry(issue).or_insert_with(|| {
            found.push((issue, Vec::new()));
            found.len() - 1
        });
        let pages = &mut found[place].1;
        pages.append(&mut unproven);
        pages.sort_unstable();
        pages.dedup();
    }
    found.retain(|(_, pages)| !pages.is_empty());
}

//! The ledger of occurrences.
//!
//! A site of a million pages has millions of occurrences, most of which are alike, so they are not rows: the entries of
//! neighbouring pages of an issue are packed in a leaf, which is read and written as a whole. Columns beside it are what
//! leaves are searched by: counts by state, the earliest end of an ignored occurrence, the last change by an audit.
//!
//! The first leaf of an issue begins with the nil id. One transaction at a time changes the leaves of a project: it holds
//! [`projects::lock`].

mod bulk_append;
mod entry;
mod leaf;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use searchwright_contract::{
    ids::{AuditId, IssueId, PageId},
    issues::OccurrenceState,
};
use uuid::Uuid;

pub(crate) use bulk_append::NewLeaves;
pub use entry::{Actor, EvidenceCutoff};
pub(crate) use entry::{Entry, RecheckProof, apply_finding, short_hash};
pub(crate) use leaf::find_entry as find_in_leaf;

use crate::{Error, Param, Result, Tx, access::ProjectScope, projects, sql, statement::Statement};

/// Identifies an occurrence: issue and page.
pub type OccurrenceKey = (IssueId, PageId);

/// Number of leaves that are read or changed at once.
const LEAVES_PER_STEP: usize = 64;

fn defect(reason: impl ToString) -> Error {
    Error::Defect(format!("a leaf of the ledger: {}", reason.to_string()))
}

/// Parameters of a statement that is run for each occurrence.
pub(crate) fn key_rows(keys: &[OccurrenceKey]) -> Vec<Vec<Param>> {
    keys.iter()
        .map(|(issue, page)| vec![(*issue).into(), (*page).into()])
        .collect()
}

/// Changes the entries of an issue on pages, in the order of pages; where a page occurs twice, in the order given. `apply`
/// returns whether it changed anything.
pub(crate) async fn update_entries<C: Send>(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: IssueId,
    mut changes: Vec<(PageId, C)>,
    mut apply: impl FnMut(&mut Option<Entry>, C) -> bool + Send,
) -> Result<()> {
    changes.sort_by_key(|(page, _)| *page);
    let (Some((first, _)), Some((last, _))) = (changes.first(), changes.last()) else {
        return Ok(());
    };
    // First pages of the leaves that the changes fall into; the first of them may begin before the first change.
    let keys: Vec<PageId> = sql("SELECT first_page FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page <= $4 AND first_page >=
           coalesce((SELECT first_page FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page <= $3 ORDER BY first_page DESC LIMIT 1), $3)
         ORDER BY first_page")
    .bind(scope.project())
    .bind(issue)
    .bind(*first)
    .bind(*last)
    .fetch_all(tx, |c| c.take())
    .await?;
    let mut changes = changes.into_iter().peekable();
    while changes.peek().is_some() {
        // Groups the next changes by leaf; without any leaf they go to the first one, which begins with the nil id.
        let mut groups: Vec<(PageId, Vec<(PageId, C)>)> = Vec::new();
        while let Some((page, _)) = changes.peek()
            && groups.len() < LEAVES_PER_STEP
        {
            let next = keys.partition_point(|key| key <= page);
            let key = next.checked_sub(1).map_or(PageId::MIN, |at| keys[at]);
            let end = keys.get(next);
            let is_in_leaf = |(page, _): &(PageId, C)| end.is_none_or(|end| page < end);
            groups.push((key, std::iter::from_fn(|| changes.next_if(is_in_leaf)).collect()));
        }
        let known = if keys.is_empty() {
            groups.iter().map(|_| None).collect()
        } else {
            let rows = groups.iter().map(|(key, _)| vec![(*key).into()]).collect();
            sql("SELECT data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page = $3")
                .bind(scope.project())
                .bind(issue)
                .fetch_optional_each(tx, rows, |c| c.take::<Vec<u8>>())
                .await?
        };
        // Only leaves in which something changed are written again.
        let mut rows = Vec::new();
        for ((key, changes), known) in groups.into_iter().zip(known) {
            let known = known.map_or_else(|| Ok(Vec::new()), |data| leaf::decode(&data))?;
            if let Some(entries) = merge(known, changes, &mut apply) {
                rows.extend(split(key, &entries)?);
            }
        }
        write_leaves(tx, scope, issue, rows).await?;
    }
    Ok(())
}

/// Changes the entries of occurrences that exist, and returns how many were changed.
pub(crate) async fn update_existing<C: Send>(
    tx: &mut Tx,
    scope: ProjectScope,
    changes: Vec<(OccurrenceKey, C)>,
    mut apply: impl FnMut(&mut Entry, C) -> bool + Send,
) -> Result<usize> {
    projects::lock(tx, scope).await?;
    let mut by_issue: BTreeMap<IssueId, Vec<(PageId, C)>> = BTreeMap::new();
    for ((issue, page), change) in changes {
        by_issue.entry(issue).or_default().push((page, change));
    }
    let mut touched = 0;
    for (issue, changes) in by_issue {
        update_entries(tx, scope, issue, changes, |known, change| {
            let changed = known.as_mut().is_some_and(|entry| apply(entry, change));
            touched += usize::from(changed);
            changed
        })
        .await?;
    }
    Ok(touched)
}

/// Merges changes into the entries of a leaf; `None` when nothing changed.
fn merge<C>(
    known: leaf::Entries,
    changes: Vec<(PageId, C)>,
    mut apply: impl FnMut(&mut Option<Entry>, C) -> bool,
) -> Option<leaf::Entries> {
    let mut entries = leaf::Entries::with_capacity(known.len() + changes.len());
    let (mut known, mut changed) = (known.into_iter().peekable(), false);
    for (page, change) in changes {
        // Entries of earlier pages stay as they are.
        entries.extend(std::iter::from_fn(|| known.next_if(|(other, _)| *other < page)));
        // A page that occurs twice in the changes is the last entry already.
        let changed_before = entries.pop_if(|(other, _)| *other == page);
        let mut entry = changed_before
            .or_else(|| known.next_if(|(other, _)| *other == page))
            .map(|(_, entry)| entry);
        changed |= apply(&mut entry, change);
        entries.extend(entry.map(|entry| (page, entry)));
    }
    entries.extend(known);
    changed.then_some(entries)
}

/// Encodes entries as the rows of one leaf, or of several if they are too many for one.
fn split(key: PageId, entries: &[(PageId, Entry)]) -> Result<Vec<Vec<Param>>> {
    let parts = entries.chunks(leaf::max_entries(entries.len())).enumerate();
    parts
        .map(|(i, part)| leaf::encode_row(if i == 0 { key } else { part[0].0 }, part))
        .collect()
}

async fn write_leaves(tx: &mut Tx, scope: ProjectScope, issue: IssueId, rows: Vec<Vec<Param>>) -> Result<()> {
    sql("INSERT INTO occurrence_leaves (project_id, issue_id, first_page, open, done, recheck_pending, resolved, still_present, reopened, ignored,
           wakes_at, changed_at, seen_by, data)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         ON CONFLICT (project_id, issue_id, first_page) DO UPDATE SET open = excluded.open, done = excluded.done,
           recheck_pending = excluded.recheck_pending, resolved = excluded.resolved, still_present = excluded.still_present,
           reopened = excluded.reopened, ignored = excluded.ignored, wakes_at = excluded.wakes_at, changed_at = excluded.changed_at,
           seen_by = excluded.seen_by, data = excluded.data")
    .bind(scope.project())
    .bind(issue)
    .execute_each(tx, rows)
    .await?;
    Ok(())
}

/// Counts the occurrences of an issue by state; states without any are left out.
pub(crate) async fn count_by_state(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: IssueId,
) -> Result<BTreeMap<OccurrenceState, u64>> {
    let mut counts = BTreeMap::new();
    sql("SELECT sum(open), sum(done), sum(recheck_pending), sum(resolved), sum(still_present), sum(reopened), sum(ignored)
         FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2")
        .bind(scope.project())
        .bind(issue)
        .for_each(tx, |c| {
            for state in OccurrenceState::ALL {
                let count = c.take::<Option<u64>>()?.unwrap_or_default();
                if count > 0 {
                    counts.insert(*state, count);
                }
            }
            Ok(())
        })
        .await?;
    Ok(counts)
}

/// Returns the entries of occurrences, in the order of `keys`.
pub(crate) async fn find_entries(
    tx: &mut Tx,
    scope: ProjectScope,
    keys: &[OccurrenceKey],
) -> Result<Vec<Option<Entry>>> {
    let leaves = sql("SELECT data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page <= $3 ORDER BY first_page DESC LIMIT 1")
        .bind(scope.project())
        .fetch_optional_each(tx, key_rows(keys), |c| c.take::<Vec<u8>>())
        .await?;
    let leaves = leaves.into_iter().zip(keys);
    leaves
        .map(|(data, (_, page))| data.map_or(Ok(None), |data| leaf::find_entry(&data, *page)))
        .collect()
}

/// A condition on entries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EntryFilter {
    /// Active entries, neither resolved nor ignored.
    Active,
    /// Entries in a state.
    InState(OccurrenceState),
    /// Entries that are not resolved and were not seen by this audit.
    Unseen(AuditId),
}

/// Returns at most `limit` entries of an issue after a page that meet a condition, in the order of pages.
pub(crate) async fn list_after(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: IssueId,
    filter: EntryFilter,
    after: Option<PageId>,
    limit: usize,
) -> Result<Vec<(PageId, Entry)>> {
    let (state, audit) = match filter {
        EntryFilter::Active => ("", AuditId::MIN),
        EntryFilter::InState(state) => (state.as_str(), AuditId::MIN),
        EntryFilter::Unseen(audit) => ("unseen", audit),
    };
    let is_wanted = |entry: &Entry| match filter {
        EntryFilter::Active => entry.is_active(),
        EntryFilter::InState(state) => entry.state == state,
        EntryFilter::Unseen(audit) => entry.is_unseen(audit),
    };
    // The leaf that the cursor falls into.
    let start = sql("SELECT first_page FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page <= $3 ORDER BY first_page DESC LIMIT 1")
        .bind(scope.project())
        .bind(issue)
        .bind(after.unwrap_or(PageId::MIN))
        .fetch_optional(tx, |c| c.take())
        .await?;
    let (mut start, mut found): (Option<PageId>, Vec<_>) = (start, Vec::new());
    let leaves_per_step = limit.div_ceil(leaf::ENTRIES).clamp(1, LEAVES_PER_STEP) as u32;
    while let Some(from) = start.filter(|_| found.len() < limit) {
        // The counts beside a leaf tell whether it has matching entries.
        let leaves: Vec<(PageId, Vec<u8>)> = sql("SELECT first_page, data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page >= $3
               AND CASE $4 WHEN 'open' THEN open WHEN 'done' THEN done WHEN 'recheck_pending' THEN recheck_pending WHEN 'resolved' THEN resolved
                 WHEN 'still_present' THEN still_present WHEN 'reopened' THEN reopened WHEN 'ignored' THEN ignored
                 WHEN 'unseen' THEN CASE WHEN seen_by = $5 THEN 0 ELSE open + done + recheck_pending + still_present + reopened END + ignored
                 ELSE open + done + recheck_pending + still_present + reopened END > 0
             ORDER BY first_page LIMIT $6")
        .bind(scope.project())
        .bind(issue)
        .bind(from)
        .bind(state)
        .bind(audit)
        .bind(leaves_per_step)
        .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
        .await?;
        start = leaves.last().and_then(|(key, _)| next_id(*key));
        for (_, data) in leaves {
            let entries = leaf::decode(&data)?.into_iter();
            found.extend(
                entries.filter(|(page, entry)| after.is_none_or(|after| *page > after) && is_wanted(entry)),
            );
        }
    }
    found.truncate(limit);
    Ok(found)
}

/// Returns the id after an id.
fn next_id(id: PageId) -> Option<PageId> {
    id.uuid()
        .as_u128()
        .checked_add(1)
        .map(|next| Uuid::from_u128(next).into())
}

/// Calls `visit` for every entry of the leaves that a statement selects: an issue and the data of each.
pub(crate) async fn for_each_entry(
    tx: &mut Tx,
    leaves: Statement,
    mut visit: impl FnMut(OccurrenceKey, Entry),
) -> Result<()> {
    leaves
        .for_each(tx, |c| {
            let (issue, data): (IssueId, Vec<u8>) = (c.take()?, c.take()?);
            for (page, entry) in leaf::decode(&data)? {
                visit((issue, page), entry);
            }
            Ok(())
        })
        .await
}

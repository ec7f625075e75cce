//! The ledger of occurrences. A site of a million pages has millions of them, most of which are alike, so they are no rows:
//! what is known of neighbouring pages of an issue is packed in a leaf, and a leaf is read and written as a whole. Columns
//! beside it say what a leaf is looked for by: counts by state, when something in it is to be woken, what an audit changed.
//!
//! The first leaf of an issue begins with the nil id. Who changes leaves of a project holds its lock ([`projects::lock`]).

mod entry;
mod fresh;
mod leaf;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use searchwright_contract::issues::OccurrenceState;
use uuid::Uuid;

pub(crate) use entry::{Entry, Proof, find};
pub(crate) use fresh::Fresh;
pub(crate) use leaf::find as find_in;

use crate::{
    Param, Result, Tx,
    access::ProjectScope,
    occurrences::{Pair, rows},
    projects, sql,
    statement::Statement,
};

/// Leaves that are read or changed at once.
const AT_ONCE: usize = 64;

/// Changes what is known of an issue on pages, in the order of pages; where one is named twice, in the order given. `apply`
/// says whether it changed anything.
pub(crate) async fn change<C: Send>(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: Uuid,
    mut changes: Vec<(Uuid, C)>,
    mut apply: impl FnMut(&mut Option<Entry>, C) -> bool + Send,
) -> Result<()> {
    changes.sort_by_key(|(page, _)| *page);
    let (Some((first, _)), Some((last, _))) = (changes.first(), changes.last()) else {
        return Ok(());
    };
    let keys: Vec<Uuid> = sql("SELECT first_page FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page <= $4 AND first_page >=
           coalesce((SELECT first_page FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page <= $3 ORDER BY first_page DESC LIMIT 1), $3)
         ORDER BY first_page")
    .bind(scope.project())
    .bind(issue)
    .bind(*first)
    .bind(*last)
    .all(tx, |c| c.take())
    .await?;
    let mut changes = changes.into_iter().peekable();
    while changes.peek().is_some() {
        let mut groups: Vec<(Uuid, Vec<(Uuid, C)>)> = Vec::new();
        while let Some((page, _)) = changes.peek()
            && groups.len() < AT_ONCE
        {
            let next = keys.partition_point(|key| key <= page);
            let key = next.checked_sub(1).map_or(Uuid::nil(), |at| keys[at]);
            let end = keys.get(next);
            let is_here = |of: &(Uuid, C)| end.is_none_or(|end| of.0 < *end);
            groups.push((key, std::iter::from_fn(|| changes.next_if(is_here)).collect()));
        }
        let known = if keys.is_empty() {
            groups.iter().map(|_| None).collect()
        } else {
            let rows = groups.iter().map(|(key, _)| vec![(*key).into()]).collect();
            sql("SELECT data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page = $3")
                .bind(scope.project())
                .bind(issue)
                .optional_each(tx, rows, |c| c.take::<Vec<u8>>())
                .await?
        };
        let mut rows = Vec::new();
        for ((key, changes), known) in groups.into_iter().zip(known) {
            let known = known.map_or_else(|| Ok(Vec::new()), |data| leaf::read(&data))?;
            if let Some(entries) = merge(known, changes, &mut apply) {
                rows.extend(split(key, &entries)?);
            }
        }
        write(tx, scope, issue, rows).await?;
    }
    Ok(())
}

/// Changes what is known of pairs of issue and page; how many were changed.
pub(crate) async fn change_pairs<C: Send>(
    tx: &mut Tx,
    scope: ProjectScope,
    changes: Vec<(Pair, C)>,
    mut apply: impl FnMut(&mut Entry, C) -> bool + Send,
) -> Result<usize> {
    projects::lock(tx, scope).await?;
    let mut of: BTreeMap<Uuid, Vec<(Uuid, C)>> = BTreeMap::new();
    for ((issue, page), change) in changes {
        of.entry(issue).or_default().push((page, change));
    }
    let mut touched = 0;
    for (issue, changes) in of {
        change(tx, scope, issue, changes, |known, change| {
            let changed = known.as_mut().is_some_and(|entry| apply(entry, change));
            touched += usize::from(changed);
            changed
        })
        .await?;
    }
    Ok(touched)
}

/// The entries after the changes; `None` when nothing changed.
fn merge<C>(
    known: leaf::Entries,
    changes: Vec<(Uuid, C)>,
    mut apply: impl FnMut(&mut Option<Entry>, C) -> bool,
) -> Option<leaf::Entries> {
    let mut entries = leaf::Entries::with_capacity(known.len() + changes.len());
    let (mut known, mut changed) = (known.into_iter().peekable(), false);
    for (page, change) in changes {
        entries.extend(std::iter::from_fn(|| known.next_if(|(of, _)| *of < page)));
        let again = entries.pop_if(|(of, _)| *of == page);
        let mut entry = again
            .or_else(|| known.next_if(|(of, _)| *of == page))
            .map(|(_, entry)| entry);
        changed |= apply(&mut entry, change);
        entries.extend(entry.map(|entry| (page, entry)));
    }
    entries.extend(known);
    changed.then_some(entries)
}

/// The rows of a leaf that is as large as it may be, or of the leaves it becomes.
fn split(key: Uuid, entries: &[(Uuid, Entry)]) -> Result<Vec<Vec<Param>>> {
    let parts = entries.chunks(leaf::most(entries.len())).enumerate();
    parts
        .map(|(i, part)| leaf::row(if i == 0 { key } else { part[0].0 }, part))
        .collect()
}

async fn write(tx: &mut Tx, scope: ProjectScope, issue: Uuid, rows: Vec<Vec<Param>>) -> Result<()> {
    sql("INSERT INTO occurrence_leaves (project_id, issue_id, first_page, open, done, recheck_pending, resolved, still_present, reopened, ignored,
           wakes_at, changed_at, seen_by, data)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         ON CONFLICT (project_id, issue_id, first_page) DO UPDATE SET open = excluded.open, done = excluded.done,
           recheck_pending = excluded.recheck_pending, resolved = excluded.resolved, still_present = excluded.still_present,
           reopened = excluded.reopened, ignored = excluded.ignored, wakes_at = excluded.wakes_at, changed_at = excluded.changed_at,
           seen_by = excluded.seen_by, data = excluded.data")
    .bind(scope.project())
    .bind(issue)
    .run_each(tx, rows)
    .await?;
    Ok(())
}

/// Counts of an issue by state, those that are not 0.
pub(crate) async fn counts(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: Uuid,
) -> Result<BTreeMap<OccurrenceState, u64>> {
    let mut counts = BTreeMap::new();
    sql("SELECT sum(open), sum(done), sum(recheck_pending), sum(resolved), sum(still_present), sum(reopened), sum(ignored)
         FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2")
        .bind(scope.project())
        .bind(issue)
        .each(tx, |c| {
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

/// What is known of pairs of issue and page, each in its place.
pub(crate) async fn known(tx: &mut Tx, scope: ProjectScope, pairs: &[Pair]) -> Result<Vec<Option<Entry>>> {
    let leaves = sql("SELECT data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page <= $3 ORDER BY first_page DESC LIMIT 1")
        .bind(scope.project())
        .optional_each(tx, rows(pairs), |c| c.take::<Vec<u8>>())
        .await?;
    let of = leaves.into_iter().zip(pairs);
    of.map(|(data, (_, page))| data.map_or(Ok(None), |data| leaf::find(&data, *page)))
        .collect()
}

/// Which leaves are read in search of entries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    /// With entries that are active.
    Active,
    /// With entries of a state.
    Of(OccurrenceState),
    /// With entries that an audit has not seen last, active or lived with.
    Unseen(Uuid),
}

/// The first so many wanted entries of an issue behind a page.
pub(crate) async fn behind(
    tx: &mut Tx,
    scope: ProjectScope,
    issue: Uuid,
    which: Which,
    after: Option<Uuid>,
    limit: usize,
) -> Result<Vec<(Uuid, Entry)>> {
    let (state, audit) = match which {
        Which::Active => ("", Uuid::nil()),
        Which::Of(state) => (state.as_str(), Uuid::nil()),
        Which::Unseen(audit) => ("unseen", audit),
    };
    let is_wanted = |entry: &Entry| match which {
        Which::Active => entry.is_active(),
        Which::Of(state) => entry.state == state,
        Which::Unseen(audit) => entry.is_unseen(audit),
    };
    let start = sql("SELECT first_page FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page <= $3 ORDER BY first_page DESC LIMIT 1")
        .bind(scope.project())
        .bind(issue)
        .bind(after.unwrap_or(Uuid::nil()))
        .optional(tx, |c| c.take())
        .await?;
    let (mut start, mut found): (Option<Uuid>, Vec<_>) = (start, Vec::new());
    let at_once = limit.div_ceil(leaf::ENTRIES).clamp(1, AT_ONCE) as u32;
    while let Some(from) = start.filter(|_| found.len() < limit) {
        let leaves: Vec<(Uuid, Vec<u8>)> = sql("SELECT first_page, data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 AND first_page >= $3
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
        .bind(at_once)
        .all(tx, |c| Ok((c.take()?, c.take()?)))
        .await?;
        start = leaves.last().and_then(|(key, _)| next(*key));
        for (_, data) in leaves {
            let entries = leaf::read(&data)?.into_iter();
            found.extend(
                entries.filter(|(page, entry)| after.is_none_or(|after| *page > after) && is_wanted(entry)),
            );
        }
    }
    found.truncate(limit);
    Ok(found)
}

/// The id behind an id.
fn next(id: Uuid) -> Option<Uuid> {
    id.as_u128().checked_add(1).map(Uuid::from_u128)
}

/// Calls back for every entry of some leaves: `text` selects an issue and the data of each.
pub(crate) async fn each(tx: &mut Tx, leaves: Statement, mut each: impl FnMut(Pair, Entry)) -> Result<()> {
    leaves
        .each(tx, |c| {
            let (issue, data): (Uuid, Vec<u8>) = (c.take()?, c.take()?);
            for (page, entry) in leaf::read(&data)? {
                each((issue, page), entry);
            }
            Ok(())
        })
        .await
}

//! Pages and active occurrences that the score of an audit is computed from.

use std::collections::HashSet;

use searchwright_contract::ids::{AuditId, PageId};

use super::OccurrenceKey;
use crate::{Result, Tx, access::ProjectScope, ledger, snapshots, sql};

/// Pages of an audit with rank and whether they count, sorted by id. A site may have millions, so a row is small.
#[derive(Debug, Default)]
pub struct ScoredPages(Vec<(PageId, Option<f32>, bool)>);

impl ScoredPages {
    /// Loads the pages of `audit`, the newest with results.
    ///
    /// A later audit that is running, or ended without results, may have fetched some of them again. Those are recognised by the
    /// snapshot of `audit`.
    pub async fn load(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<Self> {
        let count = sql("SELECT count(*) FROM pages WHERE project_id = $1 AND audit_id >= $2")
            .bind(scope.project())
            .bind(audit)
            .fetch_one(tx, |c| c.take::<u64>())
            .await?;
        let mut pages = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        let mut fetched_later: Vec<PageId> = Vec::new();
        sql("SELECT audit_id, id, rank, scored FROM pages WHERE project_id = $1 AND audit_id >= $2")
            .bind(scope.project())
            .bind(audit)
            .for_each(tx, |c| {
                let (seen_by, page, rank): (AuditId, PageId, Option<f64>) = (c.take()?, c.take()?, c.take()?);
                if seen_by > audit {
                    fetched_later.push(page);
                }
                pages.push((page, rank.map(|rank| rank as f32), c.take()?));
                Ok(())
            })
            .await?;
        // Pages that only a later audit knows do not count.
        if !fetched_later.is_empty() {
            let snapshot = snapshots::find_pages(tx, scope, audit).await?.unwrap_or_default();
            let is_in_audit = |page: PageId| {
                snapshot
                    .binary_search_by_key(&snapshots::id_prefix(page), |state| state.page)
                    .is_ok()
            };
            let others: HashSet<PageId> = fetched_later
                .into_iter()
                .filter(|page| !is_in_audit(*page))
                .collect();
            pages.retain(|page| !others.contains(&page.0));
        }
        pages.sort_unstable_by_key(|page| page.0);
        Ok(Self(pages))
    }

    /// Number of pages.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no pages.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find_index(&self, page: PageId) -> Option<usize> {
        self.0.binary_search_by_key(&page, |page| page.0).ok()
    }

    /// Share of a page in the PageRank of the site, if it is known.
    pub fn rank(&self, index: usize) -> Option<f64> {
        self.0[index].1.map(f64::from)
    }

    /// Whether a page counts in the score.
    pub fn is_scored(&self, index: usize) -> bool {
        self.0[index].2
    }
}

/// Calls `visit` with every active occurrence on the pages of an audit: its key, the index of its page in `pages`, and its
/// evidence (JSON text). Stale occurrences are included, those on pages that the audit did not reach are not.
pub async fn for_each_active(
    tx: &mut Tx,
    scope: ProjectScope,
    pages: &ScoredPages,
    mut visit: impl FnMut(OccurrenceKey, usize, &str),
) -> Result<()> {
    let leaves = sql(
        "SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1
           AND open + done + recheck_pending + still_present + reopened > 0",
    )
    .bind(scope.project());
    ledger::for_each_entry(tx, leaves, |key, entry| {
        if let Some(index) = pages.find_index(key.1)
            && entry.is_active()
        {
            visit(key, index, &entry.evidence);
        }
    })
    .await
}

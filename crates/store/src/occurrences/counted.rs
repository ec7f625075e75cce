//! The occurrences that the score of an audit is reckoned from.

use std::collections::HashSet;

use uuid::Uuid;

use super::OccurrenceKey;
use crate::{Result, Tx, access::ProjectScope, ledger, snapshots, sql};

/// The pages of an audit and how they count, by their ids: a large site has millions.
#[derive(Debug, Default)]
pub struct Counted(Vec<(Uuid, Option<f32>, bool)>);

impl Counted {
    /// The pages of the newest audit with results.
    ///
    /// One that was asked for later and goes on, or came to no result, may have seen some of them since. Those are told by what
    /// is kept of the audit.
    pub async fn of(tx: &mut Tx, scope: ProjectScope, audit: Uuid) -> Result<Self> {
        let count = sql("SELECT count(*) FROM pages WHERE project_id = $1 AND audit_id >= $2")
            .bind(scope.project())
            .bind(audit)
            .fetch_one(tx, |c| c.take::<u64>())
            .await?;
        let mut pages = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        let mut since: Vec<Uuid> = Vec::new();
        sql("SELECT audit_id, id, rank, scored FROM pages WHERE project_id = $1 AND audit_id >= $2")
            .bind(scope.project())
            .bind(audit)
            .for_each(tx, |c| {
                let (seen_by, page, rank): (Uuid, Uuid, Option<f64>) = (c.take()?, c.take()?, c.take()?);
                if seen_by > audit {
                    since.push(page);
                }
                pages.push((page, rank.map(|rank| rank as f32), c.take()?));
                Ok(())
            })
            .await?;
        if !since.is_empty() {
            let kept = snapshots::pages(tx, scope, audit).await?.unwrap_or_default();
            let is_its = |page: Uuid| {
                kept.binary_search_by_key(&snapshots::half(page), |mark| mark.page)
                    .is_ok()
            };
            let others: HashSet<Uuid> = since.into_iter().filter(|page| !is_its(*page)).collect();
            pages.retain(|page| !others.contains(&page.0));
        }
        pages.sort_unstable_by_key(|page| page.0);
        Ok(Self(pages))
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, page: Uuid) -> Option<usize> {
        self.0.binary_search_by_key(&page, |page| page.0).ok()
    }

    /// Its share in the PageRank of the site; `None` of an audit of before that was kept.
    pub fn rank(&self, place: usize) -> Option<f64> {
        self.0[place].1.map(f64::from)
    }

    /// Whether it is in the score.
    pub fn is_scored(&self, place: usize) -> bool {
        self.0[place].2
    }
}

/// Every active occurrence on the pages of an audit: which, the place of that page among them, and what was seen (JSON text).
/// That includes what the audit could tell nothing of, as it was; not what is on pages that it never reached.
pub async fn active(
    tx: &mut Tx,
    scope: ProjectScope,
    pages: &Counted,
    mut each: impl FnMut(OccurrenceKey, usize, &str),
) -> Result<()> {
    let leaves = sql(
        "SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1
           AND open + done + recheck_pending + still_present + reopened > 0",
    )
    .bind(scope.project());
    ledger::for_each_entry(tx, leaves, |of, entry| {
        if let Some(place) = pages.place(of.1)
            && entry.is_active()
        {
            each(of, place, &entry.evidence);
        }
    })
    .await
}

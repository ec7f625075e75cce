//! New leaves, packed before the transaction that writes them.
//!
//! Packing takes longer than writing, and other writers wait while a transaction lasts.

use searchwright_contract::{
    Instant,
    ids::{AuditId, IssueId, PageId},
};

use super::{defect, leaf, write_leaves};
use crate::{Param, Result, Tx, access::ProjectScope, sql};

/// Findings of an issue, packed as entries of pages that the issue was not on before.
#[derive(Debug)]
pub(crate) struct NewLeaves {
    first: PageId,
    rows: Vec<Vec<Param>>,
}

impl NewLeaves {
    /// Packs findings on pages, at least one. If a page occurs twice, the last finding counts.
    pub(crate) fn pack(mut found: Vec<(PageId, &str)>, audit: AuditId, now: Instant) -> Result<Self> {
        found.sort_by_key(|(page, _)| *page);
        let mut pages: Vec<(PageId, &str)> = Vec::with_capacity(found.len());
        for (page, evidence) in found {
            pages.pop_if(|(last, _)| *last == page);
            pages.push((page, evidence));
        }
        let first = pages.first().map_or(PageId::MIN, |(page, _)| *page);
        let leaves = pages.chunks(leaf::max_entries(pages.len()));
        let rows = leaves.map(|pages| leaf::encode_new_row(pages, audit, now));
        let rows = rows.collect::<Result<_>>()?;
        Ok(Self { first, rows })
    }

    /// Writes the leaves after those of the issue. If the issue is on later pages already, nothing is written, and the
    /// findings (page and evidence) are returned.
    pub(crate) async fn append(
        mut self,
        tx: &mut Tx,
        scope: ProjectScope,
        issue: IssueId,
    ) -> Result<Option<Vec<(PageId, String)>>> {
        let last = sql("SELECT data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 ORDER BY first_page DESC LIMIT 1")
            .bind(scope.project())
            .bind(issue)
            .fetch_optional(tx, |c| c.take::<Vec<u8>>())
            .await?;
        match last {
            Some(data) if leaf::last_page(&data)?.is_none_or(|last| last >= self.first) => {
                return self.into_findings().map(Some);
            }
            Some(_) => {}
            // The first leaf of an issue begins with the nil id.
            None => {
                if let Some(first) = self.rows.first_mut().and_then(|row| row.first_mut()) {
                    *first = PageId::MIN.into();
                }
            }
        }
        write_leaves(tx, scope, issue, self.rows).await?;
        Ok(None)
    }

    /// Unpacks the findings again.
    fn into_findings(self) -> Result<Vec<(PageId, String)>> {
        let mut found = Vec::new();
        for row in &self.rows {
            let Some(Param::Bytes(data)) = row.last() else {
                return Err(defect("a row without data"));
            };
            let entries = leaf::decode(data)?.into_iter();
            found.extend(entries.map(|(page, entry)| (page, entry.evidence)));
        }
        Ok(found)
    }
}

//! Leaves that are made before they are written: packing takes longer than writing, and while a transaction lasts others wait.

use searchwright_contract::Instant;
use uuid::Uuid;

use super::{leaf, write};
use crate::{Param, Result, Tx, access::ProjectScope, sql};

/// What an audit found of an issue, as though nothing were known of it on these pages.
#[derive(Debug)]
pub(crate) struct Fresh {
    first: Uuid,
    rows: Vec<Vec<Param>>,
}

impl Fresh {
    /// Packs what was found on pages, of which there is one at least. Where one is named twice, the last counts.
    pub(crate) fn pack(mut found: Vec<(Uuid, &str)>, audit: Uuid, now: Instant) -> Result<Self> {
        found.sort_by_key(|(page, _)| *page);
        let mut pages: Vec<(Uuid, &str)> = Vec::with_capacity(found.len());
        for (page, evidence) in found {
            pages.pop_if(|(of, _)| *of == page);
            pages.push((page, evidence));
        }
        let first = pages.first().map_or(Uuid::nil(), |(page, _)| *page);
        let leaves = pages.chunks(leaf::most(pages.len()));
        let rows = leaves.map(|pages| leaf::row_of_new(pages, audit, now));
        let rows = rows.collect::<Result<_>>()?;
        Ok(Self { first, rows })
    }

    /// Writes them behind what is known of the issue. Where something is known of later pages too, nothing is written, and what
    /// was found comes back.
    pub(crate) async fn append(
        mut self,
        tx: &mut Tx,
        scope: ProjectScope,
        issue: Uuid,
    ) -> Result<Option<Vec<(Uuid, String)>>> {
        let last = sql("SELECT data FROM occurrence_leaves WHERE project_id = $1 AND issue_id = $2 ORDER BY first_page DESC LIMIT 1")
            .bind(scope.project())
            .bind(issue)
            .optional(tx, |c| c.take::<Vec<u8>>())
            .await?;
        match last {
            Some(data) if leaf::last(&data)?.is_none_or(|last| last >= self.first) => {
                return self.found().map(Some);
            }
            Some(_) => {}
            // the first leaf of an issue
            None => {
                if let Some(first) = self.rows.first_mut().and_then(|row| row.first_mut()) {
                    *first = Uuid::nil().into();
                }
            }
        }
        write(tx, scope, issue, self.rows).await?;
        Ok(None)
    }

    fn found(&self) -> Result<Vec<(Uuid, String)>> {
        let mut found = Vec::new();
        for row in &self.rows {
            let Some(Param::Bytes(data)) = row.last() else {
                return Err(leaf::defect("a row without data"));
            };
            let entries = leaf::read(data)?.into_iter();
            found.extend(entries.map(|(page, entry)| (page, entry.evidence)));
        }
        Ok(found)
    }
}

//! Data of each page that the analysis needs besides the graph, collected while the crawl saves the page. With it, rows of pages
//! and findings of early checks are written while the other checks run.

use searchwright_site::{checks::Noticed, page::PageFacts};
use uuid::Uuid;

use super::{
    super::{ids::PageIds, page_links::Batches},
    gather::FindingSpill,
    names::Names,
    page_rows::PageRows,
};
use crate::jobs::JobError;

/// Data of pages that was collected during the crawl.
#[derive(Debug, Default)]
pub(in crate::audits) struct Noted {
    /// Ids of the pages.
    pub(super) ids: PageIds,
    /// Data of their rows.
    pub(super) rows: PageRows,
    /// Batches in which they are saved.
    pub(super) batches: Batches,
    /// Names of the pages.
    pub(super) names: Names,
    /// Findings of checks that need only the page itself.
    pub(super) found: FindingSpill,
}

impl Noted {
    pub(in crate::audits) fn of(project: Uuid) -> Self {
        Self {
            ids: PageIds::default(),
            rows: PageRows::new(project),
            batches: Batches::default(),
            names: Names::default(),
            found: FindingSpill::default(),
        }
    }

    /// Adds the pages of a batch, and the findings of early checks on them.
    pub(in crate::audits) fn note<'p>(
        &mut self,
        pages: impl Iterator<Item = &'p PageFacts>,
        noticed: Vec<Noticed>,
        number: u32,
    ) -> Result<(), JobError> {
        for facts in pages {
            self.batches.insert(facts.id, number);
            self.names.insert(facts);
            self.ids.insert(facts.id, self.rows.insert(facts)?);
        }
        for noticed in noticed {
            let page = (noticed.page, self.ids.get(noticed.page));
            let (check, indexable) = (noticed.check, noticed.indexable);
            self.found.gather(check, page, indexable, &noticed.evidence)?;
        }
        Ok(())
    }
}

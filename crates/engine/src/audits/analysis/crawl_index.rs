//! Data of each page that the analysis needs besides the graph, collected while the crawl saves the page, so that page rows,
//! titles and URLs are written while the checks are evaluated.

use searchwright_crawls::{ids::PageIds, page_links::Batches};
use searchwright_site::page::PageFacts;
use uuid::Uuid;

use super::{page_rows::PageRows, title_index::TitleIndex};
use crate::jobs::JobError;

/// Data of pages that was collected during the crawl.
#[derive(Debug)]
pub(in crate::audits) struct CrawlIndex {
    /// Ids of the pages.
    pub(super) ids: PageIds,
    /// Data of their rows.
    pub(super) rows: PageRows,
    /// Batches in which they are saved.
    pub(super) batches: Batches,
    /// Their titles and first headings.
    pub(super) titles: TitleIndex,
}

impl CrawlIndex {
    pub(in crate::audits) fn new(project: Uuid) -> Self {
        Self {
            ids: PageIds::default(),
            rows: PageRows::new(project),
            batches: Batches::default(),
            titles: TitleIndex::default(),
        }
    }

    /// Adds the pages of a batch.
    pub(in crate::audits) fn insert_batch<'p>(
        &mut self,
        pages: impl Iterator<Item = &'p PageFacts>,
        number: u32,
    ) -> Result<(), JobError> {
        for facts in pages {
            self.batches.insert(facts.id, number);
            self.titles.insert(facts);
            self.ids.insert(facts.id, self.rows.insert(facts)?);
        }
        Ok(())
    }
}

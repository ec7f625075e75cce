//! What the analysis needs of each page beside the graph, noted while the crawl saves it: so that the pages are written, and what
//! is found on them already, while the other checks are asked.

use searchwright_site::{checks::Noticed, page::PageFacts};
use uuid::Uuid;

use super::{
    super::{ids::PageIds, page_links::Batches},
    gather::Gathered,
    names::Names,
    page_rows::PageRows,
};
use crate::jobs::JobError;

/// What is noted of pages while the crawl saves them.
#[derive(Debug, Default)]
pub(in crate::audits) struct Noted {
    /// Their ids.
    pub(super) ids: PageIds,
    /// What their rows say.
    pub(super) rows: PageRows,
    /// Where they are saved.
    pub(super) batches: Batches,
    /// What they are called.
    pub(super) names: Names,
    /// What is found by looking at nothing else.
    pub(super) found: Gathered,
}

impl Noted {
    pub(in crate::audits) fn of(project: Uuid) -> Self {
        Self {
            ids: PageIds::default(),
            rows: PageRows::new(project),
            batches: Batches::default(),
            names: Names::default(),
            found: Gathered::default(),
        }
    }

    /// Takes in the pages of a batch, and what is found on them already.
    pub(in crate::audits) fn note<'p>(
        &mut self,
        pages: impl Iterator<Item = &'p PageFacts>,
        noticed: Vec<Noticed>,
        number: u32,
    ) -> Result<(), JobError> {
        for facts in pages {
            self.batches.note(facts.id, number);
            self.names.note(facts);
            self.ids.insert(facts.id, self.rows.note(facts)?);
        }
        for noticed in noticed {
            let page = (noticed.page, self.ids.get(noticed.page));
            let (check, indexable) = (noticed.check, noticed.indexable);
            self.found.gather(check, page, indexable, &noticed.evidence)?;
        }
        Ok(())
    }
}

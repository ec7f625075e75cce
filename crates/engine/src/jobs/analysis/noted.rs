//! What the analysis needs of each page beside the graph, noted while the crawl saves it: so that the pages are written, and what
//! is found on them already, while the other checks are asked.

use std::collections::HashMap;

use searchwright_site::{checks::Noticed, page::PageFacts};
use uuid::Uuid;

use super::{
    super::{JobError, page_links::Batches},
    gather::{Found, Gathered, pack},
    names::Names,
    page_rows::PageRows,
};

/// What is noted of pages while the crawl saves them.
#[derive(Debug, Default)]
pub(in crate::jobs) struct Noted {
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
    pub(in crate::jobs) fn of(project: Uuid) -> Self {
        Self {
            rows: PageRows::new(project),
            batches: Batches::default(),
            names: Names::default(),
            found: Gathered::default(),
        }
    }

    /// Takes in the pages of a batch, and what is found on them already.
    pub(in crate::jobs) fn note<'p>(
        &mut self,
        pages: impl Iterator<Item = &'p PageFacts>,
        noticed: Vec<Noticed>,
        number: u32,
    ) -> Result<(), JobError> {
        let mut ids = HashMap::new();
        for facts in pages {
            self.batches.note(facts.id, number);
            self.names.note(facts);
            ids.insert(facts.id, self.rows.note(facts)?);
        }
        let found = noticed.into_iter().filter_map(|noticed| {
            let page = (noticed.page, *ids.get(&noticed.page)?);
            Some(Found::new(
                noticed.check,
                page,
                noticed.indexable,
                noticed.evidence,
            ))
        });
        if let Some(full) = self.found.gather(found.collect()) {
            self.found.keep(pack(full)?);
        }
        Ok(())
    }
}

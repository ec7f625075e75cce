//! Partial recrawl: a crawl is resumed without some of its pages, and only these are fetched.

use std::collections::HashSet;

use crate::{
    graph::GraphBuilder,
    page::UrlId,
    urls::{UrlTable, provenance},
};

/// Pages of a resumed crawl that are fetched, as normalised URLs; URLs that the crawl does not know are ignored.
#[derive(Clone, Debug, Default)]
pub struct PartialRecrawl {
    /// Pages to fetch.
    pub pages: HashSet<String>,
    /// Pages among them whose targets are fetched too, unless a target is already known.
    pub with_targets: HashSet<String>,
    /// Whether the crawl had left nothing out, so that a page it did not see does not exist.
    pub complete: bool,
}

/// Pages that may be fetched, by id, and targets of pages that were fetched again.
#[derive(Debug)]
pub(super) struct FetchPermit {
    fetched: HashSet<UrlId>,
    with_targets: HashSet<UrlId>,
    pub(super) complete: bool,
}

impl FetchPermit {
    /// Marks the pages as known from the previous crawl, so that a page without inlinks is fetched too.
    pub(super) fn new(again: &PartialRecrawl, table: &mut UrlTable) -> Self {
        let ids = |keys: &HashSet<String>| keys.iter().filter_map(|key| table.get(key)).collect();
        let (fetched, with_targets): (HashSet<UrlId>, _) = (ids(&again.pages), ids(&again.with_targets));
        for id in &fetched {
            table.mark(*id, provenance::PREVIOUS);
        }
        Self {
            fetched,
            with_targets,
            complete: again.complete,
        }
    }

    /// Whether an unknown URL may be fetched.
    pub(super) fn allows(&self, id: UrlId) -> bool {
        self.fetched.contains(&id)
    }

    /// Whether the targets of a page are fetched with it.
    pub(super) fn allows_targets(&self, id: UrlId) -> bool {
        self.with_targets.contains(&id)
    }

    /// Adds the targets of a page that was fetched again.
    pub(super) fn add_targets(&mut self, id: UrlId, builder: &GraphBuilder) {
        if !self.allows(id) {
            return;
        }
        self.fetched.extend(builder.redirect(id));
        if self.allows_targets(id) {
            self.fetched.extend(builder.targets(id).map(|(target, _)| target));
        }
    }
}

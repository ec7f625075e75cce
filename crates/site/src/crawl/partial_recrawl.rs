//! Fetching some pages of a crawl again: the crawl is resumed without them, and nothing else is fetched.

use std::collections::HashSet;

use crate::{
    graph::GraphBuilder,
    page::UrlId,
    urls::{UrlTable, provenance},
};

/// Pages of a resumed crawl that are fetched. Normalised URLs; those that the crawl does not know are left out.
#[derive(Clone, Debug, Default)]
pub struct PartialRecrawl {
    /// The pages.
    pub pages: HashSet<String>,
    /// Those of them that are asked for together with what they point at, as far as nothing is known of it.
    pub with_targets: HashSet<String>,
    /// The crawl had left nothing out, so that what was not seen is not there.
    pub complete: bool,
}

/// Pages that may be fetched, by id; targets of pages that were fetched again are added.
#[derive(Debug)]
pub(super) struct FetchPermit {
    fetched: HashSet<UrlId>,
    with_targets: HashSet<UrlId>,
    pub(super) complete: bool,
}

impl FetchPermit {
    /// The pages are marked as known from before, so that one that no page links to any more is fetched too.
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

    /// Whether a URL of which nothing is known is fetched.
    pub(super) fn allows(&self, id: UrlId) -> bool {
        self.fetched.contains(&id)
    }

    /// Whether targets of a page are fetched with it.
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

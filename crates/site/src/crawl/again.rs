//! Fetching some pages of a crawl again: the crawl is resumed without them, and nothing else is fetched.

use std::collections::HashSet;

use super::run::Run;
use crate::{
    page::UrlId,
    urls::{UrlTable, provenance},
};

/// What of a resumed crawl is fetched. Normalised URLs; those that the crawl does not know are left out.
#[derive(Clone, Debug, Default)]
pub struct Again {
    /// The pages.
    pub pages: HashSet<String>,
    /// Those of them that are asked for together with what they point at, as far as nothing is known of it.
    pub with_targets: HashSet<String>,
    /// The crawl had left nothing out, so that what was not seen is not there.
    pub complete: bool,
}

/// The same by id, while it grows.
#[derive(Debug)]
pub(super) struct Permit {
    fetched: HashSet<UrlId>,
    with_targets: HashSet<UrlId>,
    pub(super) complete: bool,
}

impl Permit {
    /// The pages are marked as known from before, so that one that no page links to any more is fetched too.
    pub(super) fn of(again: &Again, table: &mut UrlTable) -> Self {
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
}

impl Run {
    /// Whether a URL of which nothing is known is fetched.
    pub(super) fn is_permitted(&self, id: UrlId) -> bool {
        self.permit
            .as_ref()
            .is_none_or(|permit| permit.fetched.contains(&id))
    }

    /// Whether what a page needs beside itself is asked for.
    pub(super) fn wants_resources(&self, id: UrlId) -> bool {
        self.permit
            .as_ref()
            .is_none_or(|permit| permit.with_targets.contains(&id))
    }

    /// Permits what a page that was fetched again points at.
    pub(super) fn permit_targets(&mut self, id: UrlId) {
        let Some(permit) = self.permit.as_mut().filter(|permit| permit.fetched.contains(&id)) else {
            return;
        };
        let builder = &self.builder;
        permit.fetched.extend(builder.redirect(id));
        if permit.with_targets.contains(&id) {
            permit
                .fetched
                .extend(builder.targets(id).map(|(target, _)| target));
        }
    }
}

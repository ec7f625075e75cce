//! Pages whose inlink count is a lower bound: a page without a response shows none of its links.

use super::{PageFlags, SiteGraph, State};
use crate::{page::UrlId, urls::provenance};

impl SiteGraph {
    /// Returns the known indexable pages without an inlink, and those with inlinks from a single page, provided that
    /// some page of the site has no conclusive response; otherwise both lists are empty.
    pub fn doubtful_inlinks(&self) -> [Vec<UrlId>; 2] {
        let internal = || {
            let ids = (0..self.len() as u32).map(UrlId);
            ids.filter(|id| self.has(*id, PageFlags::INTERNAL))
        };
        // a page that robots.txt forbids hides its links from every crawl, so it makes no count uncertain
        let is_asked = |id: &UrlId| !matches!(self.state(*id), State::Known | State::Blocked);
        if !internal().any(|id| is_asked(&id) && !self.is_answered(id)) {
            return Default::default();
        }
        let (mut orphans, mut single) = (Vec::new(), Vec::new());
        for id in internal().filter(|id| self.has(*id, PageFlags::INDEXABLE)) {
            let mut from = self.followed_by(id);
            match from.next() {
                None if self.provenance(id) & provenance::GIVEN != 0 => orphans.push(id),
                None => {}
                Some(only) if from.all(|other| other == only) => single.push(id),
                Some(_) => {}
            }
        }
        [orphans, single]
    }

    /// Returns other pages that lead to this one by followed links, also through redirects.
    pub(crate) fn followed_by(&self, page: UrlId) -> impl Iterator<Item = UrlId> + '_ {
        let addresses = std::iter::once(page).chain(self.redirected_to(page));
        let inlinks = addresses.flat_map(|address| self.inlinks(address));
        inlinks
            .filter(move |(from, nofollow)| !nofollow && *from != page)
            .map(|(from, _)| from)
    }

    /// Sets the pages for which it is unknown whether further pages link to them.
    pub fn set_uncertain_inlinks(&mut self, pages: impl IntoIterator<Item = UrlId>) {
        self.doubtful = pages.into_iter().map(|id| id.0).collect();
        self.doubtful.sort_unstable();
    }

    /// Whether a page without a response may link to this one.
    pub fn may_be_linked(&self, id: UrlId) -> bool {
        self.doubtful.binary_search(&id.0).is_ok()
    }
}

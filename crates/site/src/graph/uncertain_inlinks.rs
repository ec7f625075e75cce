//! Pages that others may link to although the crawl saw no link: a page that gives no answer shows none of its links.

use super::{PageFlags, SiteGraph, State};
use crate::{page::UrlId, urls::provenance};

impl SiteGraph {
    /// Pages that no page which answered links to, and those that a single one does, where some page of the site gave no answer;
    /// else none.
    pub fn doubtful_inlinks(&self) -> [Vec<UrlId>; 2] {
        let internal = || {
            let ids = (0..self.len() as u32).map(UrlId);
            ids.filter(|id| self.has(*id, PageFlags::INTERNAL))
        };
        // what robots.txt forbids shows its links to no crawler, today or tomorrow
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

    /// Other pages that lead to this one by links that may be followed, and by redirects.
    pub(crate) fn followed_by(&self, page: UrlId) -> impl Iterator<Item = UrlId> + '_ {
        let addresses = std::iter::once(page).chain(self.redirected_to(page));
        let inlinks = addresses.flat_map(|address| self.inlinks(address));
        inlinks
            .filter(move |(from, nofollow)| !nofollow && *from != page)
            .map(|(from, _)| from)
    }

    /// Takes in of which pages it is not known that nobody else links to them.
    pub fn set_uncertain_inlinks(&mut self, pages: impl IntoIterator<Item = UrlId>) {
        self.doubtful = pages.into_iter().map(|id| id.0).collect();
        self.doubtful.sort_unstable();
    }

    /// Whether a page that gave no answer may link to this one.
    pub fn may_be_linked(&self, id: UrlId) -> bool {
        self.doubtful.binary_search(&id.0).is_ok()
    }
}

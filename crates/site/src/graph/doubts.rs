//! Pages that others may link to although the crawl saw no link: a page that gives no answer shows none of its links.

use super::{Index, State, flag};
use crate::{page::UrlId, urls::provenance};

impl Index {
    /// Pages that no page which answered links to, where some page of the site gave no answer; else none.
    pub fn doubtful_orphans(&self) -> Vec<UrlId> {
        let internal = || {
            let ids = (0..self.len() as u32).map(UrlId);
            ids.filter(|id| self.has(*id, flag::INTERNAL))
        };
        // what robots.txt forbids shows its links to no crawler, today or tomorrow
        let is_asked = |id: &UrlId| !matches!(self.state(*id), State::Known | State::Blocked);
        if !internal().any(|id| is_asked(&id) && !self.is_told(id)) {
            return Vec::new();
        }
        let follows = |id: UrlId, page: UrlId| {
            let mut inlinks = self.inlinks(id);
            inlinks.any(|(from, nofollow)| !nofollow && from != page)
        };
        internal()
            .filter(|id| self.has(*id, flag::INDEXABLE) && self.provenance(*id) & provenance::GIVEN != 0)
            .filter(|id| !follows(*id, *id) && !self.redirected_to(*id).any(|from| follows(from, *id)))
            .collect()
    }

    /// Takes in of which pages it is not known that nobody links to them.
    pub fn doubt(&mut self, pages: impl IntoIterator<Item = UrlId>) {
        self.doubtful = pages.into_iter().map(|id| id.0).collect();
        self.doubtful.sort_unstable();
    }

    /// Whether a page that gave no answer may link to this one.
    pub(crate) fn may_be_linked(&self, id: UrlId) -> bool {
        self.doubtful.binary_search(&id.0).is_ok()
    }
}

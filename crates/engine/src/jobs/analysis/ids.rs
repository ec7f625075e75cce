//! The ids of pages, each made once: that takes longer than looking it up.

use searchwright_site::{
    graph::{Index, State},
    page::UrlId,
};
use uuid::Uuid;

use super::evaluate::page_id;

/// Ids of what a crawl asked for, and of its start; of other URLs that it only knows the nil id.
#[derive(Debug, Default)]
pub(in crate::jobs) struct Ids(Vec<Uuid>);

impl Ids {
    /// Takes in the id of a page.
    pub(super) fn note(&mut self, page: UrlId, id: Uuid) {
        let place = page.0 as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, Uuid::nil());
        }
        self.0[place] = id;
    }

    /// Makes those of a crawl that were not taken in, on so many threads.
    pub(in crate::jobs) fn complete(mut self, project: Uuid, index: &Index, threads: usize) -> Self {
        self.0.resize(index.len(), Uuid::nil());
        let most = self.0.len().div_ceil(threads.max(1)).max(1);
        std::thread::scope(|scope| {
            for (first, part) in (0..).step_by(most).zip(self.0.chunks_mut(most)) {
                scope.spawn(move || {
                    let pages = (first as u32..).map(UrlId).zip(part);
                    for (page, id) in pages.filter(|(_, id)| id.is_nil()) {
                        if page == UrlId(0) || index.state(page) != State::Known {
                            *id = page_id(project, index.key(page));
                        }
                    }
                });
            }
        });
        self
    }

    pub(in crate::jobs) fn of(&self, id: UrlId) -> Uuid {
        self.0.get(id.0 as usize).copied().unwrap_or_default()
    }
}

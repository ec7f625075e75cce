//! The ids of pages, each made once: that takes longer than looking it up.

use searchwright_site::{
    graph::{Index, State},
    page::UrlId,
};
use uuid::Uuid;

use super::evaluate::page_id;

/// Ids of what a crawl asked for, and of its start; of other URLs that it only knows the nil id.
#[derive(Debug)]
pub(in crate::jobs) struct Ids(Vec<Uuid>);

impl Ids {
    /// Makes them on so many threads.
    pub(super) fn make(project: Uuid, index: &Index, threads: usize) -> Self {
        let mut ids = vec![Uuid::nil(); index.len()];
        let most = ids.len().div_ceil(threads.max(1)).max(1);
        std::thread::scope(|scope| {
            for (first, part) in (0..).step_by(most).zip(ids.chunks_mut(most)) {
                scope.spawn(move || {
                    for (id, page) in (first as u32..).map(UrlId).zip(part) {
                        if id == UrlId(0) || index.state(id) != State::Known {
                            *page = page_id(project, index.key(id));
                        }
                    }
                });
            }
        });
        Self(ids)
    }

    pub(in crate::jobs) fn of(&self, id: UrlId) -> Uuid {
        self.0.get(id.0 as usize).copied().unwrap_or_default()
    }
}

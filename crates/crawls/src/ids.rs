//! Ids of pages and issues: made from the project and a key (UUIDv5), so that the same page or check has the same id in
//! every audit of a project.

use searchwright_contract::ids::{IssueId, PageId};
use searchwright_site::{
    graph::{SiteGraph, State},
    page::UrlId,
    url_key::url_key,
};
use url::Url;
use uuid::Uuid;

/// Returns the id of a page: the same for the same URL key of a project, in every audit.
pub fn page_id(project: Uuid, key: &str) -> PageId {
    Uuid::new_v5(&project, key.as_bytes()).into()
}

/// Returns the id of an issue: one per project and check.
pub fn issue_id(project: Uuid, check: &str) -> IssueId {
    Uuid::new_v5(&project, check.as_bytes()).into()
}

/// Returns the key by which crawls know a URL; `None` when it is not one.
pub fn url_key_of(url: &str) -> Option<String> {
    Some(url_key(&Url::parse(url).ok()?).into_owned())
}

/// Placeholder of a page that has no id.
const UNKNOWN: PageId = PageId::MIN;

/// Page ids by URL id, computed once because hashing takes longer than a look-up. Holds ids of URLs that a crawl
/// fetched and of its start; of URLs that it only knows it holds the nil id.
#[derive(Debug, Default)]
pub struct PageIds(Vec<PageId>);

impl PageIds {
    /// Stores the id of a page.
    pub fn insert(&mut self, page: UrlId, id: PageId) {
        let place = page.0 as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, UNKNOWN);
        }
        self.0[place] = id;
    }

    /// Computes the ids that were not inserted, on so many threads.
    pub fn complete(mut self, project: Uuid, index: &SiteGraph, threads: usize) -> Self {
        self.0.resize(index.len(), UNKNOWN);
        let most = self.0.len().div_ceil(threads.max(1)).max(1);
        std::thread::scope(|scope| {
            for (first, part) in (0..).step_by(most).zip(self.0.chunks_mut(most)) {
                scope.spawn(move || {
                    let pages = (first as u32..).map(UrlId).zip(part);
                    for (page, id) in pages.filter(|(_, id)| **id == UNKNOWN) {
                        if page == UrlId(0) || index.state(page) != State::Known {
                            *id = page_id(project, index.key(page));
                        }
                    }
                });
            }
        });
        self
    }

    /// Returns the id of a page; the nil id where there is none.
    pub fn get(&self, page: UrlId) -> PageId {
        self.0.get(page.0 as usize).copied().unwrap_or(UNKNOWN)
    }
}

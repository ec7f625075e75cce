//! Pages in the order of their URLs, as lists have them.

use hashbrown::HashMap;
use searchwright_contract::ids::PageId;
use searchwright_site::{graph::SiteGraph, page::UrlId};

use crate::ids::PageIds;

/// Pages of the site with their URLs.
#[derive(Debug, Default)]
pub struct UrlOrder {
    pages: Vec<UrlId>,
    /// URLs that differ from their keys; the index has the keys.
    spelled: HashMap<UrlId, Box<str>>,
}

impl UrlOrder {
    /// Adds a page, with its URL if that differs from its key.
    pub fn add(&mut self, page: UrlId, url: Option<&str>) {
        self.pages.push(page);
        if let Some(url) = url {
            self.spelled.insert(page, url.into());
        }
    }

    fn url<'u>(&'u self, index: &'u SiteGraph, page: UrlId) -> &'u str {
        let spelled = self.spelled.get(&page);
        spelled.map_or_else(|| index.key(page), AsRef::as_ref)
    }

    /// Sorts the pages by URL.
    #[must_use]
    pub fn into_sorted(mut self, index: &SiteGraph) -> Self {
        let mut pages = std::mem::take(&mut self.pages);
        pages.sort_unstable_by_key(|page| (self.url(index, *page), *page));
        Self { pages, ..self }
    }

    /// Yields the pages in portions of at most `rows`, to be written one after the other.
    pub fn portions(
        &self,
        rows: usize,
        index: &SiteGraph,
        ids: &PageIds,
    ) -> impl Iterator<Item = Vec<(String, PageId)>> {
        self.pages.chunks(rows).map(move |pages| {
            let row = |page: &UrlId| {
                let url = self.url(index, *page).to_owned();
                (url, ids.get(*page))
            };
            pages.iter().map(row).collect()
        })
    }
}

//! Pages in the order of their URLs, as lists have them.

use hashbrown::HashMap;
use searchwright_site::{graph::Index, page::UrlId};
use uuid::Uuid;

use super::ids::Ids;

/// Pages of the site with their URLs.
#[derive(Debug, Default)]
pub(super) struct Urls {
    pages: Vec<UrlId>,
    /// URLs that are not spelled as their keys are, which the index has.
    spelled: HashMap<UrlId, Box<str>>,
}

impl Urls {
    /// Takes in a page, with its URL where that is not its key.
    pub(super) fn add(&mut self, page: UrlId, url: Option<&str>) {
        self.pages.push(page);
        if let Some(url) = url {
            self.spelled.insert(page, url.into());
        }
    }

    fn url<'u>(&'u self, index: &'u Index, page: UrlId) -> &'u str {
        let spelled = self.spelled.get(&page);
        spelled.map_or_else(|| index.key(page), AsRef::as_ref)
    }

    /// All of them by their URLs.
    pub(super) fn placed(mut self, index: &Index) -> Self {
        let mut pages = std::mem::take(&mut self.pages);
        // the texts of neighbours lie beside each other, and a sitemap that is in order leaves little to do to a sort that looks
        // for what is in order already
        pages.sort_unstable();
        pages.sort_by(|a, b| self.url(index, *a).cmp(self.url(index, *b)));
        Self { pages, ..self }
    }

    /// Portions of so many, to be written one after the other.
    pub(super) fn portions(
        &self,
        rows: usize,
        index: &Index,
        ids: &Ids,
    ) -> impl Iterator<Item = Vec<(String, Uuid)>> {
        self.pages.chunks(rows).map(move |pages| {
            let row = |page: &UrlId| {
                let url = self.url(index, *page).to_owned();
                (url, ids.of(*page))
            };
            pages.iter().map(row).collect()
        })
    }
}

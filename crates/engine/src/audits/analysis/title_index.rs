//! Names of indexable pages: their titles and first headings. Collected during the crawl.

use searchwright_contract::ids::PageId;
use searchwright_crawls::ids::PageIds;
use searchwright_keywords::cannibalisation::{name_key, title_key};
use searchwright_site::{
    graph::{PageFlags, SiteGraph},
    page::{PageFacts, UrlId},
};
use searchwright_store::page_names::{self, MAX_PAGES_PER_NAME};

/// Hashes of the names of pages, each with its page.
#[derive(Debug, Default)]
pub(super) struct TitleIndex(Vec<(i64, UrlId)>);

impl TitleIndex {
    /// Adds the title of a page and, if its key differs, the first `h1`.
    pub(super) fn insert(&mut self, facts: &PageFacts) {
        let Some(html) = facts.html.as_deref() else { return };
        let heading = html.headings.iter().find(|heading| heading.level == 1);
        let title = html.titles.first().and_then(|title| title_key(title));
        let heading = heading.and_then(|heading| name_key(&heading.text));
        let keys = [title, heading.filter(|key| Some(*key) != title)];
        self.0
            .extend(keys.into_iter().flatten().map(|key| (key, facts.id)));
    }

    /// Keeps indexable pages of the site, sorted by name; of each name at most [`MAX_PAGES_PER_NAME`] pages, the first by URL.
    pub(super) fn into_sorted(mut self, index: &SiteGraph) -> Self {
        let findable = |page| index.has(page, PageFlags::INTERNAL) && index.has(page, PageFlags::INDEXABLE);
        self.0.retain(|(_, page)| findable(*page));
        self.0.sort_unstable();
        for called in self.0.chunk_by_mut(|a, b| a.0 == b.0) {
            if called.len() > MAX_PAGES_PER_NAME {
                called.sort_unstable_by_key(|(_, page)| index.key(*page));
            }
        }
        let mut last = (None, 0);
        self.0.retain(|(name, _)| {
            let before = if last.0 == Some(*name) { last.1 } else { 0 };
            last = (Some(*name), before + 1);
            before < MAX_PAGES_PER_NAME
        });
        self
    }

    /// Yields the names in portions of about `most`, to be written one after the other. A name is never split between two.
    pub(super) fn portions(&self, most: usize, ids: &PageIds) -> impl Iterator<Item = Vec<(i64, PageId)>> {
        let mut rest = &self.0[..];
        std::iter::from_fn(move || {
            let (portion, behind) = rest.split_at(page_names::chunk_end(rest, most));
            rest = behind;
            let page = |(key, page): &(i64, UrlId)| (*key, ids.get(*page));
            (!portion.is_empty()).then(|| portion.iter().map(page).collect())
        })
    }
}

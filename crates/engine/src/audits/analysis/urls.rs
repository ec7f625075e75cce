//! Pages in the order of their URLs, as lists have them.

use hashbrown::HashMap;
use searchwright_site::{graph::SiteGraph, page::UrlId};
use uuid::Uuid;

use super::super::ids::PageIds;

/// Pages of the site with their URLs.
#[derive(Debug, Default)]
pub(super) struct Urls {
    pages: Vec<UrlId>,
    /// URLs that differ from their keys; the index has the keys.
    spelled: HashMap<UrlId, Box<str>>,
}

impl Urls {
    /// Adds a page, with its URL if that differs from its key.
    pub(super) fn add(&mut self, page: UrlId, url: Option<&str>) {
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
    pub(super) fn placed(mut self, index: &SiteGraph) -> Self {
        let pages = std::mem::take(&mut self.pages);
        let pages = by_text(pages, |page| self.url(index, page));
        Self { pages, ..self }
    }

    /// Yields the pages in portions of at most `rows`, to be written one after the other.
    pub(super) fn portions(
        &self,
        rows: usize,
        index: &SiteGraph,
        ids: &PageIds,
    ) -> impl Iterator<Item = Vec<(String, Uuid)>> {
        self.pages.chunks(rows).map(move |pages| {
            let row = |page: &UrlId| {
                let url = self.url(index, *page).to_owned();
                (url, ids.get(*page))
            };
            pages.iter().map(row).collect()
        })
    }
}

/// Sorts pages by their texts, and reads each text seldom, because it is not in the processor's caches: eight bytes of each are
/// copied beside its id and sorted, and ranges that are equal so far are sorted by the next eight. Pages with the same text stay
/// in the order of ids.
fn by_text<'t>(mut pages: Vec<UrlId>, text: impl Fn(UrlId) -> &'t str) -> Vec<UrlId> {
    pages.sort_unstable();
    let mut parts: Vec<(u64, UrlId)> = pages.iter().map(|page| (0, *page)).collect();
    // ranges that are equal as far as they were compared, and how far that was
    let mut alike = vec![(0..parts.len(), 0)];
    while let Some((range, compared)) = alike.pop() {
        let same = &mut parts[range.clone()];
        for (part, page) in &mut *same {
            *part = eight(text(*page).as_bytes(), compared);
        }
        same.sort_unstable();
        let mut from = range.start;
        for same in same.chunk_by(|a, b| a.0 == b.0) {
            let to = from + same.len();
            // texts that have ended are equal: no text contains a zero byte
            let is_over = same
                .first()
                .is_none_or(|(part, _)| part.trailing_zeros() >= u8::BITS);
            if same.len() > 1 && !is_over {
                alike.push((from..to, compared + size_of::<u64>()));
            }
            from = to;
        }
    }
    pages
        .iter_mut()
        .zip(parts)
        .for_each(|(page, (_, sorted))| *page = sorted);
    pages
}

/// Returns eight bytes of a text from `from` as a number with the same order; zeros after the end of the text.
fn eight(text: &[u8], from: usize) -> u64 {
    let rest = text.get(from..).unwrap_or_default();
    match rest.first_chunk() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => {
            let mut eight = [0; size_of::<u64>()];
            eight[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(eight)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pages_are_in_the_order_of_their_texts(
            texts in prop::collection::vec("[ab/]{0,20}|(https://a\\.example/){0,2}[a-z0-9é/]{0,12}", 0..60)
        ) {
            let pages: Vec<UrlId> = (0..texts.len() as u32).rev().map(UrlId).collect();
            let mut right = pages.clone();
            let text = |page: UrlId| texts[page.0 as usize].as_str();
            right.sort_by_key(|page| (text(*page), *page));
            prop_assert_eq!(by_text(pages, text), right);
        }
    }
}

//! Pages that were published for the same keyword. The crawl does not know keywords; the caller sets them.

use std::collections::{HashMap, HashSet};

use super::{PageFlags, SiteGraph};
use crate::page::UrlId;

/// Pages and the keywords that they were published for.
#[derive(Debug, Default)]
pub(crate) struct KeywordTargets {
    /// Pairs of a page and the index of its keyword, sorted.
    pages: Vec<(u32, u32)>,
    keywords: Vec<Box<str>>,
}

impl SiteGraph {
    /// Sets the pages of keywords, by normalised URL; URLs that the crawl does not know are ignored.
    pub fn set_keyword_targets(&mut self, keywords: Vec<(String, Vec<String>)>) {
        let wanted: HashSet<&str> = keywords
            .iter()
            .flat_map(|(_, keys)| keys.iter().map(String::as_str))
            .collect();
        if wanted.is_empty() {
            return;
        }
        let ids = (0..self.len() as u32).map(UrlId);
        let known: HashMap<&str, u32> = ids
            .map(|id| (self.key(id), id.0))
            .filter(|(key, _)| wanted.contains(key))
            .collect();
        let mut aims = KeywordTargets::default();
        for (place, (keyword, keys)) in (0..).zip(&keywords) {
            let pages = keys.iter().filter_map(|key| known.get(key.as_str()));
            aims.pages.extend(pages.map(|page| (*page, place)));
            aims.keywords.push(keyword.as_str().into());
        }
        aims.pages.sort_unstable();
        aims.pages.dedup();
        self.aims = aims;
    }

    /// Returns the keyword that a page was published for, with the other indexable pages published for it, if there are
    /// any.
    pub(crate) fn rivals(&self, id: UrlId) -> Option<(&str, Vec<UrlId>)> {
        let pages = &self.aims.pages;
        let from = pages.partition_point(|(page, _)| *page < id.0);
        let own = pages[from..].iter().take_while(|(page, _)| *page == id.0);
        own.filter_map(|(_, keyword)| {
            let same = pages.iter().filter(|(page, of)| of == keyword && *page != id.0);
            let rivals: Vec<UrlId> = same
                .map(|(page, _)| UrlId(*page))
                .filter(|page| self.has(*page, PageFlags::INDEXABLE))
                .collect();
            let keyword = self.aims.keywords.get(*keyword as usize)?;
            (!rivals.is_empty()).then_some((&**keyword, rivals))
        })
        .next()
    }
}

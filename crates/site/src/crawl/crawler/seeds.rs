//! URLs from other sources than links: sitemaps, posts, the previous audit.

use url::Url;

use crate::{
    crawl::{Config, scope::CrawlScope},
    url_key::{Base, url_key},
    urls::{UrlTable, provenance},
};

/// Adds such URLs to the table.
pub(super) struct Given<'r> {
    table: &'r mut UrlTable,
    scope: &'r CrawlScope,
    base: Base,
    /// Maximum size of the table, which leaves room for URLs that pages will link to.
    most: usize,
}

impl<'r> Given<'r> {
    pub(super) fn new(table: &'r mut UrlTable, scope: &'r CrawlScope, config: &Config) -> Self {
        Self {
            table,
            scope,
            base: Base::new(&config.start),
            most: config.max_urls / 2,
        }
    }

    /// Adds a URL that a sitemap lists, with the day of its last change.
    pub(super) fn listed(&mut self, url: &str, day: u16) {
        self.add(url, provenance::SITEMAP, day);
    }

    /// Makes room for more URLs, however many sitemaps listed.
    pub(super) fn make_room(&mut self, more: usize) {
        self.most += more;
    }

    pub(super) fn add(&mut self, text: &str, bits: u8, day: u16) {
        let table = &mut *self.table;
        // a known URL needs no room
        let is_full = table.len() >= self.most;
        let added = match self.base.key_of_absolute(text) {
            Some(key) if !self.scope.is_internal(key) => None,
            Some(key) if is_full => table.get(key),
            Some(key) => table.insert(key, None),
            None => match Url::parse(text) {
                Ok(url) if !self.scope.is_internal(url.as_str()) => None,
                Ok(url) if is_full => table.get(&url_key(&url)),
                Ok(url) => table.add_url(&url),
                _ => None,
            },
        };
        if let Some(id) = added {
            table.mark(id, bits);
            table.changed_on(id, day);
        }
    }
}

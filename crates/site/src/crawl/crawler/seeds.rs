//! URLs that are known from elsewhere than links: sitemaps, posts, the audit before.

use url::Url;

use crate::{
    crawl::{Config, scope::CrawlScope},
    url_key::{Base, url_key},
    urls::{UrlTable, provenance},
};

/// Takes them into the table.
pub(super) struct Given<'r> {
    table: &'r mut UrlTable,
    scope: &'r CrawlScope,
    base: Base,
    /// Room is left for what the pages will link to.
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

    /// One that a sitemap lists, with the day that it names.
    pub(super) fn listed(&mut self, url: &str, day: u16) {
        self.add(url, provenance::SITEMAP, day);
    }

    /// For so many more, whatever was listed.
    pub(super) fn make_room(&mut self, more: usize) {
        self.most += more;
    }

    pub(super) fn add(&mut self, text: &str, bits: u8, day: u16) {
        let table = &mut *self.table;
        // what is known takes no room
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

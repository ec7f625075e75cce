//! A crawl that is rebuilt from its saved rows after its process died.

use std::{collections::HashSet, time::Duration};

use super::{Config, Discovered, refresh, resource_collector::ResourceCollector, scope::CrawlScope};
use crate::{
    graph::{GraphBuilder, State},
    origin::Origin,
    page::{PageFacts, UrlId},
    resources::Resource,
    url_key::url_key,
    urls::{UrlTable, provenance},
};

/// Error for stored rows that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// Ids do not ascend from 0 without gaps.
    #[error("stored url {0:?} is not the next one")]
    Order(UrlId),
    /// A page has an id without a stored URL.
    #[error("stored page {0:?} has no url")]
    Page(UrlId),
}

/// A crawl being rebuilt: first all URLs in order of id, then all pages in any order.
#[derive(Debug)]
pub struct Resume {
    pub(super) table: UrlTable,
    pub(super) builder: GraphBuilder,
    pub(super) origin: Option<Origin>,
    pub(super) elapsed: Duration,
    pub(super) tally: Tally,
    pub(super) bytes: u64,
    pub(super) collector: ResourceCollector,
    pub(super) resources: Option<Vec<Resource>>,
    scope: CrawlScope,
    again: HashSet<String>,
    /// Bits of [`provenance`] that are taken over from stored URLs.
    given: u8,
}

/// Counters of URLs by outcome.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) fetched: u32,
    pub(super) failed: u32,
    pub(super) blocked: u32,
}

impl Tally {
    pub(super) fn add(&mut self, state: State) {
        match state {
            State::Failed => self.failed += 1,
            State::Blocked => self.blocked += 1,
            State::Known => {}
            State::Html | State::Other | State::Redirect => self.fetched += 1,
        }
    }
}

impl Resume {
    /// Starts to rebuild a crawl with the same `config`. `origin` is the one saved last, `elapsed` the time that the
    /// crawl has already run.
    pub fn new(config: &Config, origin: Option<Origin>, elapsed: Duration) -> Self {
        // what sitemaps list is fetched again together with the other facts of the site
        let asked_again = config.again.is_some() && origin.is_none();
        Self {
            given: if asked_again {
                provenance::GIVEN & !provenance::SITEMAP
            } else {
                provenance::GIVEN
            },
            table: UrlTable::new(config.max_urls),
            builder: GraphBuilder::with_thresholds(&config.thresholds),
            origin,
            elapsed,
            tally: Tally::default(),
            bytes: 0,
            collector: ResourceCollector::new(config.max_resources),
            resources: None,
            scope: CrawlScope::new(config),
            again: config
                .again
                .as_ref()
                .map(|again| again.pages.clone())
                .unwrap_or_default(),
        }
    }

    /// Replaces the facts of the site beside its pages.
    pub fn origin(&mut self, origin: Origin) {
        self.origin = Some(origin);
    }

    /// Adds the next URL by id.
    pub fn url(&mut self, row: &Discovered) -> Result<(), ResumeError> {
        let next = UrlId(u32::try_from(self.table.len()).unwrap_or(u32::MAX));
        if row.id != next || self.table.insert(&row.key, Some(&row.url)) != Some(next) {
            return Err(ResumeError::Order(row.id));
        }
        // the other bits follow from the pages, including those not saved yet
        self.table.mark(next, row.provenance & self.given);
        if self.given & provenance::SITEMAP != 0 {
            self.table.changed_on(next, row.day);
        }
        if self.scope.is_internal(&row.key) {
            self.builder.set_internal(next);
        }
        Ok(())
    }

    /// Adds a saved page. A page that is to be fetched again is dropped.
    pub fn page(&mut self, page: &PageFacts) -> Result<(), ResumeError> {
        if page.id.0 as usize >= self.table.len() {
            return Err(ResumeError::Page(page.id));
        }
        if self.again.contains(self.table.key(page.id)) {
            return Ok(());
        }
        // looked up, not added: the stored crawl may be older than the following of refreshes
        let refresh = refresh::target(page, &self.scope).and_then(|url| self.table.get(&url_key(&url)));
        self.builder.add_refreshed(page, refresh);
        if self.builder.is_internal(page.id) {
            self.tally.add(self.builder.state(page.id));
            self.bytes += page.wire_bytes;
            self.collector.page(page);
        }
        Ok(())
    }

    /// Adds resources of pages, if they were fetched.
    pub fn resources(&mut self, found: Option<Vec<Resource>>) {
        self.resources = found.or(self.resources.take());
    }
}

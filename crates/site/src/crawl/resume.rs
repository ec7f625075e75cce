//! A crawl rebuilt from its saved rows after its process died.

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

/// The stored rows do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// Ids have to come ascending from 0 without gaps.
    #[error("stored url {0:?} is not the next one")]
    Order(UrlId),
    /// A page has an id that no stored URL has.
    #[error("stored page {0:?} has no url")]
    Page(UrlId),
}

/// A crawl being rebuilt: all URLs by id, then all pages in any order.
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
    /// Reasons that are taken over.
    given: u8,
}

/// Counters while pages come in.
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
    /// A crawl with the same `config`, of which nothing is known yet. `origin` as last saved, `elapsed` how
    /// long the crawl has run before.
    pub fn new(config: &Config, origin: Option<Origin>, elapsed: Duration) -> Self {
        // What the sitemaps list is asked again with the rest of what is beside the pages.
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

    /// Replaces what is known of the site beside its pages.
    pub fn origin(&mut self, origin: Origin) {
        self.origin = Some(origin);
    }

    /// The next URL by id.
    pub fn url(&mut self, row: &Discovered) -> Result<(), ResumeError> {
        let next = UrlId(u32::try_from(self.table.len()).unwrap_or(u32::MAX));
        if row.id != next || self.table.insert(&row.key, Some(&row.url)) != Some(next) {
            return Err(ResumeError::Order(row.id));
        }
        // The other reasons follow from the pages, those not yet saved included.
        self.table.mark(next, row.provenance & self.given);
        if self.given & provenance::SITEMAP != 0 {
            self.table.changed_on(next, row.day);
        }
        if self.scope.is_internal(&row.key) {
            self.builder.set_internal(next);
        }
        Ok(())
    }

    /// A page that was saved. One that is to be fetched again is forgotten.
    pub fn page(&mut self, page: &PageFacts) -> Result<(), ResumeError> {
        if page.id.0 as usize >= self.table.len() {
            return Err(ResumeError::Page(page.id));
        }
        if self.again.contains(self.table.key(page.id)) {
            return Ok(());
        }
        // not added: a crawl of before refreshes were followed does not know it
        let refresh = refresh::target(page, &self.scope).and_then(|url| self.table.get(&url_key(&url)));
        self.builder.add_refreshed(page, refresh);
        if self.builder.is_internal(page.id) {
            self.tally.add(self.builder.state(page.id));
            self.bytes += page.wire_bytes;
            self.collector.page(page);
        }
        Ok(())
    }

    /// Adds resources of pages, if they were asked for.
    pub fn resources(&mut self, found: Option<Vec<Resource>>) {
        self.resources = found.or(self.resources.take());
    }
}

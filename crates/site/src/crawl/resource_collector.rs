//! Resources that pages need, collected as pages come in.

use std::collections::{HashMap, HashSet};

use searchwright_text::hash;
use url::Url;

use super::scope;
use crate::{
    page::{PageFacts, base_url, resolve_http},
    resources::needed_by,
};

/// Maximum number of distinct URLs that are examined.
const SEEN_LIMIT: usize = 100_000;

/// URLs of resources that pages need, in order of their first use.
#[derive(Debug, Default)]
pub(super) struct ResourceCollector {
    most: usize,
    /// Hashes of URLs examined before, so that resources shared by all pages are examined once.
    seen: HashSet<u64>,
    places: HashMap<Box<str>, usize>,
    wanted: Vec<(Url, u8)>,
    /// Whether pages need more than `most` resources.
    overflown: bool,
}

impl ResourceCollector {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// Records the resources of a page. Most of them are known from earlier pages and cost one hash each.
    pub(super) fn page(&mut self, facts: &PageFacts) {
        let Some(html) = facts.html_200().filter(|_| !self.is_full()) else {
            return;
        };
        let origin = hash(scope::origin(&facts.url).as_bytes());
        let mut base = None;
        for (purpose, _, url) in needed_by(html) {
            let absolute = html.base.is_none() && (url.starts_with('/') || url.starts_with("http"));
            let key = hash(url.as_bytes()) ^ origin ^ u64::from(purpose);
            if self.is_full() || absolute && !self.seen.insert(key) {
                continue;
            }
            let base = base.get_or_insert_with(|| base_url(facts, html));
            if let Some(url) = base.as_ref().and_then(|base| resolve_http(base, url)) {
                self.add(url, purpose);
            }
        }
    }

    /// Adds a URL, unless there is no room.
    pub(super) fn add(&mut self, url: Url, purpose: u8) {
        if let Some(place) = self.places.get(url.as_str()) {
            self.wanted[*place].1 |= purpose;
        } else if !self.is_full() {
            self.places.insert(url.as_str().into(), self.wanted.len());
            self.wanted.push((url, purpose));
        }
    }

    /// Raises the limit.
    pub(super) fn extend_room(&mut self, more: usize) {
        self.most += more;
    }

    /// Records whether URLs of pages were left out, before URLs from other sources are added.
    pub(super) fn finish_pages(&mut self) {
        self.overflown = self.is_full();
    }

    /// Whether URLs may have been left out.
    pub(super) fn is_cut(&self) -> bool {
        self.overflown || self.is_full()
    }

    /// Returns the URLs in order of their first use, each with bits of [`purpose`](crate::resources::purpose).
    pub(super) fn wanted(&self) -> &[(Url, u8)] {
        &self.wanted
    }

    fn is_full(&self) -> bool {
        // bounds memory also for a site full of URLs that do not resolve
        self.wanted.len() >= self.most || self.seen.len() >= SEEN_LIMIT
    }
}

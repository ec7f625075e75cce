//! Resources that pages need beside themselves, gathered while pages are read.

use std::collections::{HashMap, HashSet};

use searchwright_text::hash;
use url::Url;

use super::scope;
use crate::{
    page::{PageFacts, base_url, resolve_http},
    resources::needed_by,
};

/// Different URLs that are looked at.
const SEEN_LIMIT: usize = 100_000;

/// URLs that pages were seen to need, the first ones first.
#[derive(Debug, Default)]
pub(super) struct ResourceCollector {
    most: usize,
    /// Hashes of what was looked at before, so that what all pages share is looked at once.
    seen: HashSet<u64>,
    places: HashMap<Box<str>, usize>,
    wanted: Vec<(Url, u8)>,
    /// Pages need more than that.
    overflown: bool,
}

impl ResourceCollector {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// Notes what a page needs. Most of it was seen on pages before, which costs a hash each.
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

    /// Makes room for more URLs.
    pub(super) fn extend_room(&mut self, more: usize) {
        self.most += more;
    }

    /// Remembers whether URLs of pages were left out, before others than pages add theirs.
    pub(super) fn finish_pages(&mut self) {
        self.overflown = self.is_full();
    }

    /// Whether URLs may have been left out.
    pub(super) fn is_cut(&self) -> bool {
        self.overflown || self.is_full()
    }

    /// URLs with bits of [`purpose`](crate::resources::purpose), the first ones first.
    pub(super) fn wanted(&self) -> &[(Url, u8)] {
        &self.wanted
    }

    fn is_full(&self) -> bool {
        // of a site made of addresses that lead nowhere, no more is remembered either
        self.wanted.len() >= self.most || self.seen.len() >= SEEN_LIMIT
    }
}

//! URLs of one page, collected on a thread that does not share the table.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use url::Url;

use super::{KEY_LIMIT, raw, span};
use crate::{
    page::{Intern, UrlId},
    url_key::url_key,
};

/// Number of URLs for which space is reserved at first; [`BYTES`] is the number of bytes per URL.
const URLS: usize = 64;
const BYTES: usize = 64;
/// Growth factor above which the allocation is not reused for another page.
const MAX_GROWTH: usize = 4;

/// Bit of ids that are valid only within one page.
const PROVISIONAL: u32 = 1 << 31;

/// URLs of one page, with provisional ids until [`UrlTable::adopt`](super::UrlTable::adopt).
#[derive(Debug)]
pub struct PageUrls {
    own: UrlId,
    own_key: String,
    keys: String,
    key_ends: Vec<u32>,
    hashes: Vec<u64>,
    ids: HashTable<u32>,
    /// URLs as written, of the few that differ from their key; places ascend.
    raws: Vec<(u32, Box<str>)>,
    hasher: DefaultHashBuilder,
}

impl PageUrls {
    /// Creates an empty collector for a table with this hasher.
    pub(super) fn new(hasher: DefaultHashBuilder) -> Self {
        Self {
            own: UrlId(0),
            own_key: String::new(),
            keys: String::with_capacity(URLS * BYTES),
            key_ends: Vec::with_capacity(URLS),
            hashes: Vec::with_capacity(URLS),
            ids: HashTable::with_capacity(URLS),
            raws: Vec::new(),
            hasher,
        }
    }

    /// Sets the page of an empty collector.
    pub(super) fn begin(&mut self, own: UrlId, key: &str) {
        self.own = own;
        self.own_key.push_str(key);
    }

    /// Clears the collector for another page and keeps its allocation, unless that is large.
    pub(super) fn emptied(mut self) -> Option<Self> {
        if self.keys.capacity() > MAX_GROWTH * URLS * BYTES || self.key_ends.capacity() > MAX_GROWTH * URLS {
            return None;
        }
        self.own_key.clear();
        self.keys.clear();
        self.key_ends.clear();
        self.hashes.clear();
        self.ids.clear();
        self.raws.clear();
        Some(self)
    }

    /// Returns the number of URLs.
    pub(super) fn len(&self) -> usize {
        self.key_ends.len()
    }

    /// Returns the hashes of all keys.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Returns the key at an index.
    pub(super) fn key(&self, place: usize) -> &str {
        span(&self.keys, &self.key_ends, place)
    }

    /// Returns the URL as written, if it differs from its key.
    pub(super) fn raw(&self, place: usize) -> Option<&str> {
        let found = self.raws.binary_search_by_key(&place, |(at, _)| *at as usize);
        found.ok().map(|found| &*self.raws[found].1)
    }

    /// Returns the index of a provisional id.
    pub(super) fn place(id: UrlId) -> Option<usize> {
        (id.0 & PROVISIONAL != 0).then_some((id.0 & !PROVISIONAL) as usize)
    }

    fn add(&mut self, key: &str, raw: Option<&str>) -> Option<UrlId> {
        if *key == *self.own_key {
            return Some(self.own);
        }
        if key.len() > KEY_LIMIT {
            return None;
        }
        let hash = self.hasher.hash_one(key);
        let Self {
            ids,
            keys,
            key_ends,
            hashes,
            raws,
            ..
        } = self;
        if let Some(known) = ids.find(hash, |i| span(keys, key_ends, *i as usize) == key) {
            return Some(UrlId(known | PROVISIONAL));
        }
        let i = key_ends.len() as u32;
        if i == PROVISIONAL || keys.len() + key.len() > u32::MAX as usize {
            return None;
        }
        keys.push_str(key);
        key_ends.push(keys.len() as u32);
        hashes.push(hash);
        if let Some(raw) = raw.filter(|raw| *raw != key) {
            raws.push((i, raw.into()));
        }
        ids.insert_unique(hash, i, |i| hashes[*i as usize]);
        Some(UrlId(i | PROVISIONAL))
    }
}

impl Intern for PageUrls {
    fn intern(&mut self, url: &Url) -> Option<UrlId> {
        let key = url_key(url);
        self.add(&key, raw(url))
    }

    fn intern_key(&mut self, key: &str) -> Option<UrlId> {
        self.add(key, None)
    }
}

//! The URLs of one page, while it is read on a thread that does not share the table.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use url::Url;

use super::{KEY_LIMIT, raw, span};
use crate::{
    page::{Intern, UrlId},
    url_key::url_key,
};

/// URLs that room is made for at first, and bytes of each.
const URLS: usize = 64;
const BYTES: usize = 64;
/// Of a page with more than so many times as much the room serves no other.
const MAX_GROWTH: usize = 4;

/// Marks ids that mean something on one page only.
const PROVISIONAL: u32 = 1 << 31;

/// The URLs of one page, with provisional ids until [`UrlTable::adopt`](super::UrlTable::adopt).
#[derive(Debug)]
pub struct PageUrls {
    own: UrlId,
    own_key: String,
    keys: String,
    key_ends: Vec<u32>,
    hashes: Vec<u64>,
    ids: HashTable<u32>,
    /// Forms as written, of the few URLs whose form differs from their key; places ascend.
    raws: Vec<(u32, Box<str>)>,
    hasher: DefaultHashBuilder,
}

impl PageUrls {
    /// An empty one of a table that hashes so.
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

    /// Tells an empty one of which page it is.
    pub(super) fn begin(&mut self, own: UrlId, key: &str) {
        self.own = own;
        self.own_key.push_str(key);
    }

    /// One for another page, in the same room, unless that is large.
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

    /// Number of URLs.
    pub(super) fn len(&self) -> usize {
        self.key_ends.len()
    }

    /// Hashes of all keys.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The key in a place.
    pub(super) fn key(&self, place: usize) -> &str {
        span(&self.keys, &self.key_ends, place)
    }

    /// Spelling, if another.
    pub(super) fn raw(&self, place: usize) -> Option<&str> {
        let found = self.raws.binary_search_by_key(&place, |(at, _)| *at as usize);
        found.ok().map(|found| &*self.raws[found].1)
    }

    /// The place of a provisional id.
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

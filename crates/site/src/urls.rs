//! All URLs of a crawl, each once: a dense id, its key, and the sources that it is known from. Keys are concatenated in
//! one string and the hash table holds only ids, so that a million URLs take about 100 bytes each.
//!
//! Pages are parsed on other threads. They do not share the table: each page collects its URLs in a [`PageUrls`], and
//! [`UrlTable::adopt`] replaces its provisional ids by those of the table. So no link ever takes a lock, and ids are
//! assigned in one place.

mod of_page;
#[cfg(test)]
mod tests;

use std::{hash::BuildHasher, ops::Range};

use hashbrown::{DefaultHashBuilder, HashTable};
use url::{Position, Url};

pub use self::of_page::PageUrls;
use crate::{
    page::{Intern, Outcome, PageFacts, UrlId},
    url_key::url_key,
};

/// Sources that a URL is known from; bits of one byte.
pub mod provenance {
    /// A link of a crawled page.
    pub const LINK: u8 = 1;
    /// Listed in a sitemap.
    pub const SITEMAP: u8 = 2;
    /// Canonical of a crawled page.
    pub const CANONICAL: u8 = 4;
    /// Language alternate of a crawled page.
    pub const HREFLANG: u8 = 8;
    /// Target of a redirect.
    pub const REDIRECT: u8 = 16;
    /// A page of the last audit.
    pub const PREVIOUS: u8 = 32;
    /// A published post of the project.
    pub const POST: u8 = 64;
    /// Named by Search Console.
    pub const GSC: u8 = 128;
    /// Sources outside the crawl; the other bits follow from its pages.
    pub const GIVEN: u8 = SITEMAP | PREVIOUS | POST | GSC;
}

/// Maximum number of collectors kept for reuse, about as many as pages are parsed at a time.
const SPARE: usize = 64;
/// Number of keys that are looked up together.
const AT_ONCE: usize = 16;

/// Maximum length of a key in bytes; a longer URL gets no id.
pub const KEY_LIMIT: usize = 8 * 1024;

/// Table of URLs. Ids are dense from 0.
#[derive(Debug)]
pub struct UrlTable {
    keys: String,
    key_ends: Vec<u32>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// URLs as first seen, of the few that differ from their key; ids ascend.
    raws: String,
    raw_ends: Vec<(u32, u32)>,
    provenance: Vec<u8>,
    /// Days of [`UrlTable::day`]; ends with the last URL that has one.
    days: Vec<u16>,
    most: usize,
    /// Collectors of earlier pages, kept for reuse.
    spare: Vec<PageUrls>,
}

impl UrlTable {
    /// Creates an empty table for at most `most` URLs (at most 2,000,000,000).
    pub fn new(most: usize) -> Self {
        Self {
            keys: String::new(),
            key_ends: Vec::new(),
            ids: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            raws: String::new(),
            raw_ends: Vec::new(),
            provenance: Vec::new(),
            days: Vec::new(),
            most: most.min(2_000_000_000),
            spare: Vec::new(),
        }
    }

    /// Returns the number of known URLs.
    pub fn len(&self) -> usize {
        self.key_ends.len()
    }

    /// Whether no URL is known.
    pub fn is_empty(&self) -> bool {
        self.key_ends.is_empty()
    }

    /// Returns the normalised URL.
    pub fn key(&self, id: UrlId) -> &str {
        span(&self.keys, &self.key_ends, id.0 as usize)
    }

    /// Returns the URL to fetch: as it was first seen.
    pub fn url(&self, id: UrlId) -> &str {
        match self.raw_ends.binary_search_by_key(&id.0, |(id, _)| *id) {
            Ok(i) => {
                let start = if i == 0 { 0 } else { self.raw_ends[i - 1].1 };
                &self.raws[start as usize..self.raw_ends[i].1 as usize]
            }
            Err(_) => self.key(id),
        }
    }

    /// Returns the sources that the URL is known from: bits of [`provenance`].
    pub fn provenance(&self, id: UrlId) -> u8 {
        self.provenance[id.0 as usize]
    }

    /// Adds sources that a URL is known from.
    pub fn mark(&mut self, id: UrlId, bits: u8) {
        self.provenance[id.0 as usize] |= bits;
    }

    /// Returns the day of the last change according to a sitemap, in days since the Unix epoch; 0 if no sitemap names
    /// one.
    pub fn day(&self, id: UrlId) -> u16 {
        self.days.get(id.0 as usize).copied().unwrap_or(0)
    }

    /// Records that day; the latest one counts.
    pub fn changed_on(&mut self, id: UrlId, day: u16) {
        let at = id.0 as usize;
        if day == 0 {
            return;
        }
        if self.days.len() <= at {
            self.days.resize(at + 1, 0);
        }
        self.days[at] = self.days[at].max(day);
    }

    /// Returns the id of a known key.
    pub fn get(&self, key: &str) -> Option<UrlId> {
        self.find(self.hasher.hash_one(key), key)
    }

    /// Returns the id of a key, a new one if it is unknown; `raw` is then the URL to fetch. `None` if the table is full
    /// or the key longer than [`KEY_LIMIT`].
    pub fn insert(&mut self, key: &str, raw: Option<&str>) -> Option<UrlId> {
        self.insert_hashed(self.hasher.hash_one(key), key, raw)
    }

    /// Returns the id of a parsed URL, a new one if it is unknown; it is fetched in this form, without its fragment.
    pub fn add_url(&mut self, url: &Url) -> Option<UrlId> {
        self.insert(&url_key(url), raw(url))
    }

    /// Creates a collector for the URLs of one page, whose own URL keeps its id.
    pub fn page(&mut self, own: UrlId) -> PageUrls {
        let page = self.spare.pop();
        let mut page = page.unwrap_or_else(|| PageUrls::new(self.hasher.clone()));
        page.begin(own, self.key(own));
        page
    }

    /// Adds the URLs that `page` collected, and sets their ids in the facts read with it. Targets for which there is no
    /// room become `None`.
    pub fn adopt(&mut self, page: PageUrls, facts: &mut PageFacts) {
        let mut ids: Vec<Option<UrlId>> = Vec::with_capacity(page.len());
        for some in page.hashes().chunks(AT_ONCE) {
            for (hash, probable) in some.iter().zip(self.probably(some)) {
                let key = page.key(ids.len());
                let known = probable.filter(|(_, at)| self.keys.get(at.clone()) == Some(key));
                ids.push(match known {
                    Some((id, _)) => Some(id),
                    None => self.insert_hashed(*hash, key, page.raw(ids.len())),
                });
            }
        }
        for_each_target(facts, |target| {
            if let Some(place) = target.and_then(PageUrls::place) {
                *target = ids[place];
            }
        });
        if self.spare.len() < SPARE {
            self.spare.extend(page.emptied());
        }
    }

    /// Returns ids that keys with these hashes may have, and the ranges of their keys. On a large site every look-up
    /// misses the caches. No look-up here depends on the result of another one, so that the cache misses of several
    /// keys overlap.
    fn probably(&self, hashes: &[u64]) -> [Option<(UrlId, Range<usize>)>; AT_ONCE] {
        let mut ids = [None; AT_ONCE];
        for (id, hash) in ids.iter_mut().zip(hashes) {
            *id = self.ids.find(*hash, |_| true).copied();
        }
        ids.map(|id| {
            let id = id?;
            Some((UrlId(id), range(&self.key_ends, id as usize)))
        })
    }

    /// Resolves the URLs of a page of another site: only known alternates are kept, so that its URLs do not fill the
    /// table.
    pub(crate) fn adopt_foreign(&mut self, page: &PageUrls, facts: &mut PageFacts) {
        if let Some(html) = &mut facts.html {
            html.hreflangs.retain_mut(|link| {
                if let Some(i) = link.target.and_then(PageUrls::place) {
                    link.target = self.find(page.hashes()[i], page.key(i));
                }
                link.target.is_some()
            });
        }
        for_each_target(facts, |target| {
            if let Some(i) = target.and_then(PageUrls::place) {
                *target = self.insert_hashed(page.hashes()[i], page.key(i), page.raw(i));
            }
        });
    }

    /// Returns keys, their ends, sources and days, for the graph of the crawl.
    pub(crate) fn into_columns(self) -> (String, Vec<u32>, Vec<u8>, Vec<u16>) {
        (self.keys, self.key_ends, self.provenance, self.days)
    }

    fn find(&self, hash: u64, key: &str) -> Option<UrlId> {
        self.ids
            .find(hash, |id| self.key(UrlId(*id)) == key)
            .copied()
            .map(UrlId)
    }

    fn insert_hashed(&mut self, hash: u64, key: &str, raw: Option<&str>) -> Option<UrlId> {
        if let Some(known) = self.find(hash, key) {
            return Some(known);
        }
        let room = u32::MAX as usize - self.keys.len();
        if self.len() >= self.most || key.len() > KEY_LIMIT || key.len() > room {
            return None;
        }
        let id = self.key_ends.len() as u32;
        self.keys.push_str(key);
        self.key_ends.push(self.keys.len() as u32);
        self.provenance.push(0);
        if let Some(raw) = raw.filter(|raw| *raw != key && raw.len() <= KEY_LIMIT)
            && raw.len() <= u32::MAX as usize - self.raws.len()
        {
            self.raws.push_str(raw);
            self.raw_ends.push((id, self.raws.len() as u32));
        }
        let Self {
            ids,
            keys,
            key_ends,
            hasher,
            ..
        } = self;
        ids.insert_unique(hash, id, |id| hasher.hash_one(span(keys, key_ends, *id as usize)));
        Some(UrlId(id))
    }
}

/// For rechecks and sitemaps, which run on one thread.
impl Intern for UrlTable {
    fn intern(&mut self, url: &Url) -> Option<UrlId> {
        self.add_url(url)
    }

    fn intern_key(&mut self, key: &str) -> Option<UrlId> {
        self.insert(key, None)
    }
}

/// Returns the URL to fetch, without fragment; `None` if it has user info, which is never sent.
fn raw(url: &Url) -> Option<&str> {
    (url.username().is_empty() && url.password().is_none()).then(|| &url[..Position::AfterQuery])
}

fn span<'a>(text: &'a str, ends: &[u32], i: usize) -> &'a str {
    &text[range(ends, i)]
}

fn range(ends: &[u32], i: usize) -> Range<usize> {
    let start = if i == 0 { 0 } else { ends[i - 1] as usize };
    start..ends[i] as usize
}

/// Visits every id of another URL in the facts.
pub(crate) fn for_each_target(facts: &mut PageFacts, mut visit: impl FnMut(&mut Option<UrlId>)) {
    if let Outcome::Redirect { target, .. } = &mut facts.outcome {
        visit(target);
    }
    facts
        .headers
        .canonicals
        .iter_mut()
        .for_each(|link| visit(&mut link.target));
    if let Some(html) = &mut facts.html {
        html.canonicals
            .iter_mut()
            .for_each(|link| visit(&mut link.target));
        html.hreflangs.iter_mut().for_each(|link| visit(&mut link.target));
        html.pagination
            .iter_mut()
            .for_each(|link| visit(&mut link.target));
        html.links.targets_mut().for_each(visit);
    }
}

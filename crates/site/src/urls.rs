//! Every URL of a crawl, once: a dense id, its key, and why it is known. Keys lie one after the other
//! in one text, the hash table holds ids only, so that a million URLs cost about a hundred bytes each.
//!
//! Pages are read on other threads. They do not share the table: each page collects its URLs in a
//! [`PageUrls`], and [`UrlTable::adopt`] turns its provisional ids into those of the table. So no
//! link ever takes a lock, and ids are given in one place.

#[cfg(test)]
mod tests;

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use url::{Position, Url};

use crate::{
    page::{Intern, Outcome, PageFacts, UrlId},
    url_key::url_key,
};

/// Why a URL is known; bits of one byte.
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
    /// Known from outside the crawl; the other bits follow from its pages.
    pub const GIVEN: u8 = SITEMAP | PREVIOUS | POST | GSC;
}

/// URLs of a page that room is made for at first.
const URLS: usize = 64;
/// Collectors kept for other pages: as many as are read at a time.
const SPARE: usize = 64;
/// Keys that are looked up together.
const AT_ONCE: usize = 16;

/// Longest key that is kept, bytes; a longer URL gets no id.
pub const KEY_LIMIT: usize = 8 * 1024;

/// The table. Ids are dense from 0.
#[derive(Debug)]
pub struct UrlTable {
    keys: String,
    key_ends: Vec<u32>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Forms as first seen, of the few URLs whose form differs from their key; ids ascend.
    raws: String,
    raw_ends: Vec<(u32, u32)>,
    provenance: Vec<u8>,
    /// See [`UrlTable::day`]; as long as the last URL with a day needs.
    days: Vec<u16>,
    most: usize,
    /// Collectors that served a page, for the next ones.
    spare: Vec<PageUrls>,
}

impl UrlTable {
    /// An empty table that takes at most `most` URLs (at most 2,000,000,000).
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

    /// URLs known.
    pub fn len(&self) -> usize {
        self.key_ends.len()
    }

    /// No URL known.
    pub fn is_empty(&self) -> bool {
        self.key_ends.is_empty()
    }

    /// Normalised form.
    pub fn key(&self, id: UrlId) -> &str {
        span(&self.keys, &self.key_ends, id.0 as usize)
    }

    /// The form to fetch: as first seen.
    pub fn url(&self, id: UrlId) -> &str {
        match self.raw_ends.binary_search_by_key(&id.0, |(id, _)| *id) {
            Ok(i) => {
                let start = if i == 0 { 0 } else { self.raw_ends[i - 1].1 };
                &self.raws[start as usize..self.raw_ends[i].1 as usize]
            }
            Err(_) => self.key(id),
        }
    }

    /// Why it is known: bits of [`provenance`].
    pub fn provenance(&self, id: UrlId) -> u8 {
        self.provenance[id.0 as usize]
    }

    /// Adds reasons why a URL is known.
    pub fn mark(&mut self, id: UrlId, bits: u8) {
        self.provenance[id.0 as usize] |= bits;
    }

    /// When a sitemap says that it was last changed, in days since the Unix epoch; 0 when none does.
    pub fn day(&self, id: UrlId) -> u16 {
        self.days.get(id.0 as usize).copied().unwrap_or(0)
    }

    /// Notes that day; of several the latest counts.
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

    /// Id of a key that is known.
    pub fn get(&self, key: &str) -> Option<UrlId> {
        self.find(self.hasher.hash_one(key), key)
    }

    /// Id of a key, a new one when it is not known; then `raw` is kept as the form to fetch. `None` when
    /// the table is full or the key longer than [`KEY_LIMIT`].
    pub fn insert(&mut self, key: &str, raw: Option<&str>) -> Option<UrlId> {
        self.insert_hashed(self.hasher.hash_one(key), key, raw)
    }

    /// Id of a parsed URL, a new one when it is not known; fetched as it is here, without its fragment.
    pub fn add_url(&mut self, url: &Url) -> Option<UrlId> {
        self.insert(&url_key(url), raw(url))
    }

    /// A collector for the URLs of one page, whose own URL keeps its id.
    pub fn page(&mut self, own: UrlId) -> PageUrls {
        let mut page = self.spare.pop().unwrap_or_else(|| PageUrls {
            own,
            own_key: String::new(),
            keys: String::with_capacity(64 * URLS),
            key_ends: Vec::with_capacity(URLS),
            hashes: Vec::with_capacity(URLS),
            ids: HashTable::with_capacity(URLS),
            raws: Vec::new(),
            hasher: self.hasher.clone(),
        });
        page.own = own;
        page.own_key.push_str(self.key(own));
        page
    }

    /// Gives the URLs that `page` collected ids of this table, in the facts read with it. Targets for
    /// which there is no room become `None`.
    pub fn adopt(&mut self, mut page: PageUrls, facts: &mut PageFacts) {
        let mut raws = page.raws.iter().peekable();
        let mut ids: Vec<Option<UrlId>> = Vec::with_capacity(page.key_ends.len());
        for some in page.hashes.chunks(AT_ONCE) {
            for (hash, probable) in some.iter().zip(self.probably(some)) {
                let i = ids.len();
                let raw = raws.next_if(|(at, _)| *at as usize == i).map(|(_, raw)| &**raw);
                let key = span(&page.keys, &page.key_ends, i);
                let id = probable.of(key, &self.keys);
                ids.push(id.or_else(|| self.insert_hashed(*hash, key, raw)));
            }
        }
        for_each_target(facts, |target| {
            if let Some(UrlId(id)) = *target
                && id & PROVISIONAL != 0
            {
                *target = ids[(id & !PROVISIONAL) as usize];
            }
        });
        if self.spare.len() < SPARE
            && page.keys.capacity() <= 128 * URLS
            && page.key_ends.capacity() <= 4 * URLS
        {
            page.clear();
            self.spare.push(page);
        }
    }

    /// Ids that keys of these hashes may have, if they are known, where in the text theirs lie, and how they end. On a large
    /// site each look is at three places that are in no cache. Nothing here waits for what is found in one of them, so that a
    /// processor looks at those of several keys at a time.
    fn probably(&self, hashes: &[u64]) -> [Probable; AT_ONCE] {
        let mut found = [Probable::default(); AT_ONCE];
        for (key, hash) in found.iter_mut().zip(hashes) {
            key.id = self.ids.find(*hash, |_| true).copied();
        }
        for key in &mut found {
            let end = |at: usize| self.key_ends.get(at).map_or(0, |end| *end as usize);
            let Some(id) = key.id else { continue };
            (key.start, key.end) = (end((id as usize).wrapping_sub(1)), end(id as usize));
        }
        for key in &mut found {
            key.last = self.keys.as_bytes().get(key.end.wrapping_sub(1)).copied();
        }
        found
    }

    /// The same of a page of another site: of its alternates only those that are known stay, so that its URLs do not fill the
    /// table.
    pub(crate) fn adopt_foreign(&mut self, page: &PageUrls, facts: &mut PageFacts) {
        let place = |id: UrlId| (id.0 & PROVISIONAL != 0).then_some((id.0 & !PROVISIONAL) as usize);
        if let Some(html) = &mut facts.html {
            html.hreflangs.retain_mut(|link| {
                if let Some(i) = link.target.and_then(place) {
                    link.target = self.find(page.hashes[i], span(&page.keys, &page.key_ends, i));
                }
                link.target.is_some()
            });
        }
        for_each_target(facts, |target| {
            if let Some(i) = target.and_then(place) {
                let raw = page.raws.binary_search_by_key(&(i as u32), |(at, _)| *at);
                let raw = raw.ok().map(|at| &*page.raws[at].1);
                *target = self.insert_hashed(page.hashes[i], span(&page.keys, &page.key_ends, i), raw);
            }
        });
    }

    /// The keys, their ends, why each is known, and the days, for the index of the crawl.
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

/// For rechecks and sitemaps, where one thread does everything.
impl Intern for UrlTable {
    fn intern(&mut self, url: &Url) -> Option<UrlId> {
        self.add_url(url)
    }

    fn intern_key(&mut self, key: &str) -> Option<UrlId> {
        self.insert(key, None)
    }
}

/// The form to fetch: without fragment; `None` when user info was in it, which is never sent.
fn raw(url: &Url) -> Option<&str> {
    (url.username().is_empty() && url.password().is_none()).then(|| &url[..Position::AfterQuery])
}

fn span<'a>(text: &'a str, ends: &[u32], i: usize) -> &'a str {
    let start = if i == 0 { 0 } else { ends[i - 1] as usize };
    &text[start..ends[i] as usize]
}

/// A key that may be the one that is looked for.
#[derive(Clone, Copy, Default)]
struct Probable {
    id: Option<u32>,
    start: usize,
    end: usize,
    /// The last byte of it.
    last: Option<u8>,
}

impl Probable {
    /// Its id, if it is this key.
    fn of(self, key: &str, keys: &str) -> Option<UrlId> {
        let is_it = key.bytes().last() == self.last && keys.get(self.start..self.end) == Some(key);
        self.id.filter(|_| is_it).map(UrlId)
    }
}

/// Marks ids that mean something on one page only.
const PROVISIONAL: u32 = 1 << 31;

/// The URLs of one page, with provisional ids until [`UrlTable::adopt`].
#[derive(Debug)]
pub struct PageUrls {
    own: UrlId,
    own_key: String,
    keys: String,
    key_ends: Vec<u32>,
    hashes: Vec<u64>,
    ids: HashTable<u32>,
    raws: Vec<(u32, Box<str>)>,
    hasher: DefaultHashBuilder,
}

impl PageUrls {
    /// Forgets everything, and keeps its room.
    fn clear(&mut self) {
        self.own_key.clear();
        self.keys.clear();
        self.key_ends.clear();
        self.hashes.clear();
        self.ids.clear();
        self.raws.clear();
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

/// Visits every place of the facts that holds the id of another URL.
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

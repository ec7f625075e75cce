//! Every URL of a crawl, once: a dense id, its key, and why it is known. Keys lie one after the other
//! in one text, the hash table holds ids only, so that a million URLs cost about a hundred bytes each.
//!
//! Pages are read on other threads. They do not share the table: each page collects its URLs in a
//! [`PageUrls`], and [`UrlTable::adopt`] turns its provisional ids into those of the table. So no
//! link ever takes a lock, and ids are given in one place.

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

/// Reasons that a URL is known; bits of one byte.
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

    /// Reasons it is known: bits of [`provenance`].
    pub fn provenance(&self, id: UrlId) -> u8 {
        self.provenance[id.0 as usize]
    }

    /// Adds reasons why a URL is known.
    pub fn mark(&mut self, id: UrlId, bits: u8) {
        self.provenance[id.0 as usize] |= bits;
    }

    /// Day of its last change by a sitemap, since the Unix epoch; 0 when none does.
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
        let page = self.spare.pop();
        let mut page = page.unwrap_or_else(|| PageUrls::new(self.hasher.clone()));
        page.begin(own, self.key(own));
        page
    }

    /// Gives the URLs that `page` collected ids of this table, in the facts read with it. Targets for
    /// which there is no room become `None`.
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

    /// Ids that keys of these hashes may have, and where in the text theirs lie. On a large site each look is at places that are
    /// in no cache. Nothing here waits for what is found in one of them, so that a processor looks at those of several keys at
    /// a time.
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

    /// Resolves the URLs of a page of another site: only alternates that are known stay, so that its URLs do not fill the
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
    &text[range(ends, i)]
}

fn range(ends: &[u32], i: usize) -> Range<usize> {
    let start = if i == 0 { 0 } else { ends[i - 1] as usize };
    start..ends[i] as usize
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

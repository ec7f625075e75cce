//! The crawl as a graph: one row per known URL in compact columns, so that a million pages fit in
//! memory. Checks that need more than one page read it.

mod answers;
mod builder;
mod edges;
mod finalize;
mod fragments;
mod inlinks;
mod keyword_targets;
mod near_duplicates;
mod not_found;
mod page_flags;
mod paths;
mod rank;
mod similar_titles;
#[cfg(test)]
mod tests;
mod uncertain_inlinks;
mod vitals;

pub use builder::{CrawlSummary, GraphBuilder};
pub(crate) use edges::EdgeKind;
pub(crate) use fragments::{has_all_ids, named};
pub(crate) use near_duplicates::Group;
pub use page_flags::PageFlags;
use searchwright_text::minhash::Sketch;

use self::inlinks::Inlinks;
use crate::{dates::DAY_MS, page::UrlId, resources::Resources, vitals::Vitals};

/// State of a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Known, not fetched (limit reached, or outside the crawl).
    #[default]
    Known,
    /// Answered with HTML that is not a redirect.
    Html,
    /// Answered with something else.
    Other,
    /// Answered with 3xx.
    Redirect,
    /// No answer after all attempts.
    Failed,
    /// Disallowed by robots.txt.
    Blocked,
}

/// A whole crawl. Columns are indexed by [`UrlId`]; built by `crawl`, read by `checks`.
#[derive(Debug, Default)]
pub struct SiteGraph {
    /// Normalised URLs, one after the other.
    pub(crate) keys: String,
    /// End of each key in `keys`.
    pub(crate) key_ends: Vec<u32>,
    /// See [`State`].
    pub(crate) states: Vec<State>,
    /// Bits of [`crate::urls::provenance`].
    pub(crate) provenance: Vec<u8>,
    /// Days since the Unix epoch when sitemaps say that URLs were last changed, 0 when none does; as long as needed.
    pub(crate) days: Vec<u16>,
    /// HTTP status, 0 when there is none.
    pub(crate) statuses: Vec<u16>,
    /// See [`PageFlags`].
    pub(crate) flags: Vec<PageFlags>,
    /// Clicks from the start URL, `u16::MAX` when not reached by links.
    pub(crate) depths: Vec<u16>,
    /// Redirect target, `u32::MAX` when none.
    pub(crate) redirects: Vec<u32>,
    /// Ends of redirects, with the URL that they begin at; sorted.
    pub(crate) redirected: Vec<(u32, u32)>,
    /// Canonical target, `u32::MAX` when none.
    pub(crate) canonicals: Vec<u32>,
    /// Hash of the folded title, description, first h1 and main text; 0 when absent.
    pub(crate) titles: Vec<u64>,
    pub(crate) descriptions: Vec<u64>,
    pub(crate) h1s: Vec<u64>,
    pub(crate) texts: Vec<u64>,
    /// First letters of the language that the page declares; zeros when it declares none of two letters.
    pub(crate) languages: Vec<[u8; 2]>,
    /// Pages and their language alternates, sorted.
    pub(crate) alternates: Vec<(u32, u32)>,
    /// Sources of links to each URL.
    pub(crate) inlinks: Inlinks,
    /// Share of internal PageRank, summing to 1 over internal HTML pages.
    pub(crate) ranks: Vec<f32>,
    /// Percentile of the rank, 0 to 100; `u8::MAX` when the URL has no rank.
    pub(crate) scores: Vec<u8>,
    /// Indexable pages that share a title (description, h1, text): sorted by (hash, id), groups of two or more only.
    pub(crate) groups: [Vec<(u64, u32)>; 4],
    /// Indexable pages whose texts are nearly the same.
    pub(crate) near: near_duplicates::Groups,
    /// Indexable pages about the same.
    pub(crate) topics: near_duplicates::Groups,
    /// Resources of pages, as far as they were asked for.
    pub(crate) resources: Resources,
    /// Temporary redirects that the audit before this one saw too, and since when, milliseconds since the Unix epoch;
    /// sorted.
    pub(crate) temporary: Vec<(u32, i64)>,
    /// Pages that say what made-up URLs answer, and how alike they are, percent; sorted.
    pub(crate) not_found: Vec<(u32, u8)>,
    /// Text of the home page, as far as others can be compared with it.
    pub(crate) home: Home,
    /// Parts of pages that links from other pages name and that are not there.
    missing: fragments::Missing,
    /// Steps on the ways from the start.
    steps: paths::Steps,
    /// Pages that were published for the same keyword.
    pub(crate) aims: keyword_targets::KeywordTargets,
    /// See [`SiteGraph::set_uncertain_inlinks`]; sorted.
    doubtful: Vec<u32>,
    /// URLs that gave no answer in the audit before this one either; sorted.
    pub(crate) silent: Vec<u32>,
    /// Name of the project's brand; the crawl does not know it.
    pub(crate) brand: Option<Box<str>>,
    /// Core Web Vitals of the pages that were measured; sorted.
    pub(crate) vitals: Vec<(UrlId, Vitals)>,
    /// The crawl saw every URL it knew: orphans and absences may be told.
    pub(crate) complete: bool,
    /// Paths whose query variants went over the limit: the first URL left out, and how many were.
    pub(crate) traps: Vec<(u32, u32)>,
}

/// The text of the home page.
#[derive(Debug, Default)]
pub(crate) struct Home {
    /// Of a page that may be indexed and says enough.
    pub sketch: Option<Sketch>,
    /// Words of the main text, at most 65,535; 0 when the page is no page.
    pub words: u16,
}

/// Kind of duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// Folded title.
    Title,
    /// Folded meta description.
    Description,
    /// Folded first h1.
    H1,
    /// Folded main text.
    Text,
}

/// The way from a URL through its redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hops {
    /// Every URL visited, the first one included.
    pub urls: Vec<UrlId>,
    /// The chain returns to a URL it already visited.
    pub looped: bool,
}

impl SiteGraph {
    /// URLs known.
    pub fn len(&self) -> usize {
        self.key_ends.len()
    }

    /// No URL known.
    pub fn is_empty(&self) -> bool {
        self.key_ends.is_empty()
    }

    /// Normalised URL.
    pub fn key(&self, id: UrlId) -> &str {
        let i = id.0 as usize;
        let start = if i == 0 { 0 } else { self.key_ends[i - 1] as usize };
        &self.keys[start..self.key_ends[i] as usize]
    }

    /// See [`State`].
    pub fn state(&self, id: UrlId) -> State {
        self.states[id.0 as usize]
    }

    /// Reasons it is known: bits of [`crate::urls::provenance`].
    pub fn provenance(&self, id: UrlId) -> u8 {
        self.provenance[id.0 as usize]
    }

    /// The day when a sitemap says that it was last changed, in milliseconds since the Unix epoch.
    pub fn changed_ms(&self, id: UrlId) -> Option<i64> {
        let day = self.days.get(id.0 as usize).filter(|day| **day > 0)?;
        Some(i64::from(*day) * DAY_MS)
    }

    /// HTTP status, `None` without an answer.
    pub fn status(&self, id: UrlId) -> Option<u16> {
        Some(self.statuses[id.0 as usize]).filter(|s| *s != 0)
    }

    /// Whether a flag is set.
    pub fn has(&self, id: UrlId, flag: PageFlags) -> bool {
        self.flags[id.0 as usize].contains(flag)
    }

    /// Clicks from the start URL; `None` when no link leads there.
    pub fn depth(&self, id: UrlId) -> Option<u16> {
        Some(self.depths[id.0 as usize]).filter(|d| *d != u16::MAX)
    }

    /// Target of its redirect, one hop.
    pub fn redirect(&self, id: UrlId) -> Option<UrlId> {
        Some(self.redirects[id.0 as usize])
            .filter(|t| *t != u32::MAX)
            .map(UrlId)
    }

    /// Its declared canonical when that resolves.
    pub fn canonical(&self, id: UrlId) -> Option<UrlId> {
        Some(self.canonicals[id.0 as usize])
            .filter(|t| *t != u32::MAX)
            .map(UrlId)
    }

    /// Follows redirects to their end, at most 20 hops.
    pub fn hops(&self, id: UrlId) -> Hops {
        let mut urls = vec![id];
        let mut at = id;
        while let Some(next) = self.redirect(at) {
            let looped = urls.contains(&next);
            urls.push(next);
            if looped || urls.len() > 20 {
                return Hops { urls, looped };
            }
            at = next;
        }
        Hops { urls, looped: false }
    }

    /// URLs whose redirects end here.
    pub(crate) fn redirected_to(&self, id: UrlId) -> impl Iterator<Item = UrlId> + '_ {
        let start = self.redirected.partition_point(|(end, _)| *end < id.0);
        let from = self.redirected[start..].iter();
        from.take_while(move |(end, _)| *end == id.0)
            .map(|(_, from)| UrlId(*from))
    }

    /// Internal pages that link here, with whether every such link is nofollow.
    pub fn inlinks(&self, id: UrlId) -> impl ExactSizeIterator<Item = (UrlId, bool)> + '_ {
        let sources = self.inlinks.sources_of(id.0).iter();
        sources.map(|source| {
            (
                UrlId(source & !Inlinks::NOFOLLOW),
                source & Inlinks::NOFOLLOW != 0,
            )
        })
    }

    /// Whether a page links to a URL.
    pub(crate) fn is_linked(&self, page: UrlId, target: UrlId) -> bool {
        let sources = self.inlinks.sources_of(target.0);
        sources
            .binary_search_by_key(&page.0, |source| source & !Inlinks::NOFOLLOW)
            .is_ok()
    }

    /// Whether a page surely has no part of that name, which some other page links to.
    pub(crate) fn lacks_fragment(&self, target: UrlId, hash: u64) -> bool {
        self.missing.has(target, hash)
    }

    /// Whether a page names another as its alternate in some language.
    pub fn is_alternate(&self, page: UrlId, alternate: UrlId) -> bool {
        self.alternates.binary_search(&(page.0, alternate.0)).is_ok()
    }

    /// The language alternates of a page: ids of URLs, ascending.
    pub(crate) fn alternates(&self, page: UrlId) -> impl Iterator<Item = UrlId> + '_ {
        let start = self.alternates.partition_point(|(of, _)| *of < page.0);
        let own = self.alternates[start..].iter();
        own.take_while(move |(of, _)| *of == page.0)
            .map(|(_, alternate)| UrlId(*alternate))
    }

    /// Two-letter language that a page declares, lower case.
    pub fn language(&self, id: UrlId) -> Option<&str> {
        let code = self.languages.get(id.0 as usize)?;
        std::str::from_utf8(code)
            .ok()
            .filter(|code| !code.starts_with('\0'))
    }

    /// Share of internal PageRank, 0 to 1, summing to 1 over internal HTML pages.
    pub fn rank(&self, id: UrlId) -> f32 {
        self.ranks.get(id.0 as usize).copied().unwrap_or(0.0)
    }

    /// Percentile of its PageRank among internal HTML pages, 0 to 100; `None` for other URLs.
    pub fn link_score(&self, id: UrlId) -> Option<u8> {
        self.scores.get(id.0 as usize).copied().filter(|s| *s != u8::MAX)
    }

    /// Paths with more query variants than the crawl's limit: the first URL left out, and how many were.
    pub fn traps(&self) -> impl ExactSizeIterator<Item = (UrlId, u32)> + '_ {
        self.traps.iter().map(|(id, left_out)| (UrlId(*id), *left_out))
    }

    /// Indexable pages whose title (description, h1, text) equals this page's, itself included; empty when it is alone.
    pub fn same(&self, id: UrlId, what: Same) -> impl ExactSizeIterator<Item = UrlId> + '_ {
        let column = match what {
            Same::Title => &self.titles,
            Same::Description => &self.descriptions,
            Same::H1 => &self.h1s,
            Same::Text => &self.texts,
        };
        let group = &self.groups[what as usize][..];
        // most pages are alone, and looking for that in a long list takes a while
        let hash = self
            .has(id, PageFlags::SAME[what as usize])
            .then(|| column[id.0 as usize]);
        let same = hash.map_or(0..0, |hash| {
            let start = group.partition_point(|(h, _)| *h < hash);
            start..start + group[start..].partition_point(|(h, _)| *h <= hash)
        });
        group[same].iter().map(|(_, i)| UrlId(*i))
    }

    /// Indexable pages whose text is nearly this page's; pages with the very same text count as one.
    pub(crate) fn near(&self, id: UrlId) -> Option<Group<'_>> {
        self.near.group_of(id)
    }

    /// Indexable pages that have the same title and first heading but for a word or two.
    pub(crate) fn topic(&self, id: UrlId) -> Option<Group<'_>> {
        self.topics.group_of(id)
    }

    /// Similarity of a page to the answer of a made-up URL, percent, when that is nearly the same.
    pub(crate) fn like_not_found(&self, id: UrlId) -> Option<u8> {
        let place = self.not_found.binary_search_by_key(&id.0, |(id, _)| *id).ok()?;
        Some(self.not_found[place].1)
    }

    /// Resources of pages, as far as they were asked for.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// URLs of the site that redirect for the time being: with 302, 303 or 307.
    pub fn temporary_redirects(&self) -> impl Iterator<Item = UrlId> + '_ {
        let ids = (0..self.len() as u32).map(UrlId);
        ids.filter(|id| {
            self.has(*id, PageFlags::INTERNAL)
                && self.state(*id) == State::Redirect
                && matches!(self.status(*id), Some(302 | 303 | 307))
        })
    }

    /// Takes in which of [`SiteGraph::temporary_redirects`] the audit before this one saw too, with the time since when they
    /// redirect so, milliseconds since the Unix epoch.
    pub fn set_temporary_redirects(&mut self, since: impl IntoIterator<Item = (UrlId, i64)>) {
        self.temporary = since.into_iter().map(|(id, since)| (id.0, since)).collect();
        self.temporary.sort_unstable();
    }

    /// Since when a URL redirects for the time being, if the audit before this one saw it too.
    pub(crate) fn temporary_since(&self, id: UrlId) -> Option<i64> {
        let place = self.temporary.binary_search_by_key(&id.0, |(id, _)| *id).ok()?;
        Some(self.temporary[place].1)
    }

    /// Takes in which URLs gave no answer in the audit before this one, be it that theirs did not end in time.
    pub fn set_silent(&mut self, urls: impl IntoIterator<Item = UrlId>) {
        self.silent = urls.into_iter().map(|id| id.0).collect();
        self.silent.sort_unstable();
    }

    /// Whether a URL gave no answer in the audit before this one.
    pub fn was_silent(&self, id: UrlId) -> bool {
        self.silent.binary_search(&id.0).is_ok()
    }

    /// Takes in what the project calls its brand.
    pub fn set_brand(&mut self, name: Option<&str>) {
        self.brand = name.map(Into::into);
    }

    /// Whether two pages have the same main text.
    pub(crate) fn is_copy(&self, a: UrlId, b: UrlId) -> bool {
        let text = |id: UrlId| self.texts[id.0 as usize];
        text(a) != 0 && text(a) == text(b)
    }

    /// The crawl saw every URL it knew: orphans and absences may be told.
    pub fn complete(&self) -> bool {
        self.complete
    }
}

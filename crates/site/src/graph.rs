//! The crawl as a graph: one row per known URL in compact columns, so that a million pages fit in memory. Checks that
//! need more than one page read it.

mod answers;
mod builder;
mod edges;
mod finalize;
mod foreign_hosts;
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

use std::sync::OnceLock;

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
    /// Known but not fetched, because a limit was reached or the URL is outside the crawl.
    #[default]
    Known,
    /// The response is HTML and not a redirect.
    Html,
    /// The response is neither HTML nor a redirect.
    Other,
    /// The response is a redirect (3xx).
    Redirect,
    /// No response after all attempts.
    Failed,
    /// Disallowed by robots.txt.
    Blocked,
}

/// A whole crawl. Columns are indexed by [`UrlId`]; `crawl` builds it, `checks` read it.
#[derive(Debug, Default)]
pub struct SiteGraph {
    /// Normalised URLs, concatenated.
    pub(crate) keys: String,
    /// End of each key in `keys`.
    pub(crate) key_ends: Vec<u32>,
    /// State of each URL.
    pub(crate) states: Vec<State>,
    /// Bits of [`crate::urls::provenance`].
    pub(crate) provenance: Vec<u8>,
    /// Day of the last change according to sitemaps, in days since the Unix epoch; 0 if unknown. Ends with the last
    /// known day.
    pub(crate) days: Vec<u16>,
    /// HTTP status, 0 if there is none.
    pub(crate) statuses: Vec<u16>,
    /// Flags of each URL.
    pub(crate) flags: Vec<PageFlags>,
    /// Clicks from the start URL; `u16::MAX` if no link leads to the URL.
    pub(crate) depths: Vec<u16>,
    /// Redirect target, `u32::MAX` if there is none.
    pub(crate) redirects: Vec<u32>,
    /// Pairs of the final URL of a redirect chain and the URL that it starts from; sorted.
    pub(crate) redirected: Vec<(u32, u32)>,
    /// Canonical target, `u32::MAX` if there is none.
    pub(crate) canonicals: Vec<u32>,
    /// Hashes of the folded title, description, first h1 and main text; 0 if absent.
    pub(crate) titles: Vec<u64>,
    pub(crate) descriptions: Vec<u64>,
    pub(crate) h1s: Vec<u64>,
    pub(crate) texts: Vec<u64>,
    /// Language that the page declares, if its code has two letters; zeros otherwise.
    pub(crate) languages: Vec<[u8; 2]>,
    /// Pairs of a page and its language alternate, sorted.
    pub(crate) alternates: Vec<(u32, u32)>,
    /// Sources of links to each URL.
    pub(crate) inlinks: Inlinks,
    /// Share of internal PageRank; the shares of internal HTML pages sum to 1.
    pub(crate) ranks: Vec<f32>,
    /// Percentile of the rank, 0 to 100; `u8::MAX` if the URL has no rank.
    pub(crate) scores: Vec<u8>,
    /// Indexable pages that share a title (description, h1, text), sorted by (hash, id); only groups of two or more.
    pub(crate) groups: [Vec<(u64, u32)>; 4],
    /// Groups of indexable pages with nearly identical texts.
    pub(crate) near: near_duplicates::Groups,
    /// Groups of indexable pages about the same topic.
    pub(crate) topics: near_duplicates::Groups,
    /// Resources of pages, as far as they were fetched.
    pub(crate) resources: Resources,
    /// Temporary redirects that the previous audit saw too, with the time of their first sighting in milliseconds since
    /// the Unix epoch; sorted.
    pub(crate) temporary: Vec<(u32, i64)>,
    /// Pages that resemble the response to a made-up URL, with their similarity in percent; sorted.
    pub(crate) not_found: Vec<(u32, u8)>,
    /// Text of the home page, as far as other pages can be compared with it.
    pub(crate) home: Home,
    /// Fragments that links from other pages name and that do not exist in their target.
    missing: fragments::Missing,
    /// Predecessors on the shortest paths from the start URL.
    steps: paths::Steps,
    /// Pages that were published for the same keyword.
    pub(crate) aims: keyword_targets::KeywordTargets,
    /// Pages set by [`SiteGraph::set_uncertain_inlinks`]; sorted.
    doubtful: Vec<u32>,
    /// URLs without a response in the previous audit; sorted.
    pub(crate) silent: Vec<u32>,
    /// Name of the project's brand, which the crawl does not know.
    pub(crate) brand: Option<Box<str>>,
    /// Core Web Vitals of the pages that were measured; sorted.
    pub(crate) vitals: Vec<(UrlId, Vitals)>,
    /// Whether the crawl fetched every URL it knew, so that orphans and absences can be reported.
    pub(crate) complete: bool,
    /// Result of [`SiteGraph::is_cut_off`].
    cut_off: OnceLock<bool>,
    /// Paths with more query variants than the limit: the first URL left out, and the number of those left out.
    pub(crate) traps: Vec<(u32, u32)>,
}

/// Text of the home page.
#[derive(Debug, Default)]
pub(crate) struct Home {
    /// Sketch of the text, if the page is indexable and its text is long enough.
    pub sketch: Option<Sketch>,
    /// Number of words of the main text, at most 65,535; 0 if there is no HTML page.
    pub words: u16,
}

/// Kind of duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// Same folded title.
    Title,
    /// Same folded meta description.
    Description,
    /// Same folded first h1.
    H1,
    /// Same folded main text.
    Text,
}

/// Redirect chain of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hops {
    /// URLs of the chain, including the first one.
    pub urls: Vec<UrlId>,
    /// Whether the chain returns to a URL that it already visited.
    pub looped: bool,
}

impl SiteGraph {
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
        let i = id.0 as usize;
        let start = if i == 0 { 0 } else { self.key_ends[i - 1] as usize };
        &self.keys[start..self.key_ends[i] as usize]
    }

    /// Returns the state of a URL.
    pub fn state(&self, id: UrlId) -> State {
        self.states[id.0 as usize]
    }

    /// Returns the sources that a URL is known from: bits of [`crate::urls::provenance`].
    pub fn provenance(&self, id: UrlId) -> u8 {
        self.provenance[id.0 as usize]
    }

    /// Returns the day of the last change according to a sitemap, in milliseconds since the Unix epoch.
    pub fn changed_ms(&self, id: UrlId) -> Option<i64> {
        let day = self.days.get(id.0 as usize).filter(|day| **day > 0)?;
        Some(i64::from(*day) * DAY_MS)
    }

    /// Returns the HTTP status, `None` without a response.
    pub fn status(&self, id: UrlId) -> Option<u16> {
        Some(self.statuses[id.0 as usize]).filter(|s| *s != 0)
    }

    /// Whether a flag is set.
    pub fn has(&self, id: UrlId, flag: PageFlags) -> bool {
        self.flags[id.0 as usize].contains(flag)
    }

    /// Returns the clicks from the start URL; `None` if no link leads to the URL.
    pub fn depth(&self, id: UrlId) -> Option<u16> {
        Some(self.depths[id.0 as usize]).filter(|d| *d != u16::MAX)
    }

    /// Returns the target of a redirect, one hop.
    pub fn redirect(&self, id: UrlId) -> Option<UrlId> {
        Some(self.redirects[id.0 as usize])
            .filter(|t| *t != u32::MAX)
            .map(UrlId)
    }

    /// Returns the declared canonical, if it resolves.
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

    /// Returns the URLs whose redirect chains end at this one.
    pub(crate) fn redirected_to(&self, id: UrlId) -> impl Iterator<Item = UrlId> + '_ {
        let start = self.redirected.partition_point(|(end, _)| *end < id.0);
        let from = self.redirected[start..].iter();
        from.take_while(move |(end, _)| *end == id.0)
            .map(|(_, from)| UrlId(*from))
    }

    /// Returns the internal pages that link to a URL, each with whether all its links there are nofollow.
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

    /// Whether a page certainly lacks a fragment that another page links to.
    pub(crate) fn lacks_fragment(&self, target: UrlId, hash: u64) -> bool {
        self.missing.has(target, hash)
    }

    /// Whether a page names another one as its language alternate.
    pub fn is_alternate(&self, page: UrlId, alternate: UrlId) -> bool {
        self.alternates.binary_search(&(page.0, alternate.0)).is_ok()
    }

    /// Returns the ids of the language alternates of a page, ascending.
    pub(crate) fn alternates(&self, page: UrlId) -> impl Iterator<Item = UrlId> + '_ {
        let start = self.alternates.partition_point(|(of, _)| *of < page.0);
        let own = self.alternates[start..].iter();
        own.take_while(move |(of, _)| *of == page.0)
            .map(|(_, alternate)| UrlId(*alternate))
    }

    /// Returns the two-letter language that a page declares, in lower case.
    pub fn language(&self, id: UrlId) -> Option<&str> {
        let code = self.languages.get(id.0 as usize)?;
        std::str::from_utf8(code)
            .ok()
            .filter(|code| !code.starts_with('\0'))
    }

    /// Returns the share of internal PageRank, 0 to 1; the shares of internal HTML pages sum to 1.
    pub fn rank(&self, id: UrlId) -> f32 {
        self.ranks.get(id.0 as usize).copied().unwrap_or(0.0)
    }

    /// Returns the percentile of the PageRank among internal HTML pages, 0 to 100; `None` for other URLs.
    pub fn link_score(&self, id: UrlId) -> Option<u8> {
        self.scores.get(id.0 as usize).copied().filter(|s| *s != u8::MAX)
    }

    /// Returns paths with more query variants than the limit of the crawl: the first URL left out, and the number of
    /// those left out.
    pub fn traps(&self) -> impl ExactSizeIterator<Item = (UrlId, u32)> + '_ {
        self.traps.iter().map(|(id, left_out)| (UrlId(*id), *left_out))
    }

    /// Returns the indexable pages with the same title (description, h1, text), including this page; empty if it is the
    /// only one.
    pub fn same(&self, id: UrlId, what: Same) -> impl ExactSizeIterator<Item = UrlId> + '_ {
        let column = match what {
            Same::Title => &self.titles,
            Same::Description => &self.descriptions,
            Same::H1 => &self.h1s,
            Same::Text => &self.texts,
        };
        let group = &self.groups[what as usize][..];
        // most pages have no duplicate, which the flag shows faster than a search in the list
        let hash = self
            .has(id, PageFlags::SAME[what as usize])
            .then(|| column[id.0 as usize]);
        let same = hash.map_or(0..0, |hash| {
            let start = group.partition_point(|(h, _)| *h < hash);
            start..start + group[start..].partition_point(|(h, _)| *h <= hash)
        });
        group[same].iter().map(|(_, i)| UrlId(*i))
    }

    /// Returns the group of indexable pages whose text is nearly that of this page; identical texts count as one.
    pub(crate) fn near(&self, id: UrlId) -> Option<Group<'_>> {
        self.near.group_of(id)
    }

    /// Returns the group of indexable pages whose title and first heading differ by a word or two at most.
    pub(crate) fn topic(&self, id: UrlId) -> Option<Group<'_>> {
        self.topics.group_of(id)
    }

    /// Returns the similarity of a page to the response to a made-up URL, in percent, if they are nearly the same.
    pub(crate) fn like_not_found(&self, id: UrlId) -> Option<u8> {
        let place = self.not_found.binary_search_by_key(&id.0, |(id, _)| *id).ok()?;
        Some(self.not_found[place].1)
    }

    /// Returns the resources of pages, as far as they were fetched.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Returns the URLs of the site that redirect temporarily: with 302, 303 or 307.
    pub fn temporary_redirects(&self) -> impl Iterator<Item = UrlId> + '_ {
        let ids = (0..self.len() as u32).map(UrlId);
        ids.filter(|id| {
            self.has(*id, PageFlags::INTERNAL)
                && self.state(*id) == State::Redirect
                && matches!(self.status(*id), Some(302 | 303 | 307))
        })
    }

    /// Sets which of [`SiteGraph::temporary_redirects`] the previous audit saw too, each with the time since when it
    /// redirects temporarily, in milliseconds since the Unix epoch.
    pub fn set_temporary_redirects(&mut self, since: impl IntoIterator<Item = (UrlId, i64)>) {
        self.temporary = since.into_iter().map(|(id, since)| (id.0, since)).collect();
        self.temporary.sort_unstable();
    }

    /// Returns the time since when a URL redirects temporarily, if the previous audit saw that too.
    pub(crate) fn temporary_since(&self, id: UrlId) -> Option<i64> {
        let place = self.temporary.binary_search_by_key(&id.0, |(id, _)| *id).ok()?;
        Some(self.temporary[place].1)
    }

    /// Sets the URLs without a response in the previous audit, even if they failed only by a timeout.
    pub fn set_silent(&mut self, urls: impl IntoIterator<Item = UrlId>) {
        self.silent = urls.into_iter().map(|id| id.0).collect();
        self.silent.sort_unstable();
    }

    /// Whether a URL had no response in the previous audit.
    pub fn was_silent(&self, id: UrlId) -> bool {
        self.silent.binary_search(&id.0).is_ok()
    }

    /// Sets the name of the project's brand.
    pub fn set_brand(&mut self, name: Option<&str>) {
        self.brand = name.map(Into::into);
    }

    /// Whether two pages have the same title.
    pub(crate) fn is_namesake(&self, a: UrlId, b: UrlId) -> bool {
        let title = |id: UrlId| self.titles[id.0 as usize];
        title(a) != 0 && title(a) == title(b)
    }

    /// Whether two pages have the same main text.
    pub(crate) fn is_copy(&self, a: UrlId, b: UrlId) -> bool {
        let text = |id: UrlId| self.texts[id.0 as usize];
        text(a) != 0 && text(a) == text(b)
    }

    /// Whether the crawl fetched every URL it knew, so that orphans and absences can be reported.
    pub fn complete(&self) -> bool {
        self.complete
    }
}

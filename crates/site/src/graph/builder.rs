//! Builds the [`SiteGraph`] page by page, so that no page has to be kept. A running crawl and a resume from stored
//! pages use it alike.

use std::panic::resume_unwind;

use searchwright_text::{folded_hash, minhash::Sketch, primary};

use super::{
    Home, PageFlags, SiteGraph, State,
    edges::{EdgeKind, Edges},
    finalize::{alternates, groups, mark_blocked, mark_own_links, mark_ways, redirected},
    fragments::Fragments,
    inlinks::Inlinks,
    near_duplicates, not_found,
    page_flags::is_set,
    rank::ranks,
    similar_titles::TitleWords,
};
use crate::{
    fetch::FetchError,
    origin::Origin,
    page::{Outcome, PageFacts, REL_NOFOLLOW, UrlId, directives, not_indexable},
    thresholds::Thresholds,
    urls::{UrlTable, provenance},
};

const NONE: u32 = u32::MAX;

/// Facts that are known only when the crawl ends.
#[derive(Debug)]
pub struct CrawlSummary<'a> {
    /// Clicks from the start URL by id; missing or `u16::MAX` if no link leads to the URL.
    pub depths: Vec<u16>,
    /// Facts of the site beside its pages: responses to made-up URLs, final URL of the start URL, robots.txt.
    pub origin: &'a Origin,
    /// Crawler traps of query variants: the first URL left out, and the number of those left out.
    pub traps: Vec<(u32, u32)>,
    /// Whether every known URL of the site was fetched.
    pub complete: bool,
}

/// The graph while it grows. Columns end at the highest id added.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    thresholds: Thresholds,
    index: SiteGraph,
    edges: Edges,
    scratch: Vec<(u32, EdgeKind)>,
    /// Sketches of indexable pages.
    sketches: Vec<(u32, Sketch)>,
    topics: TitleWords,
    fragments: Fragments,
    /// Number of words of each page's main text, at most 65,535.
    words: Vec<u16>,
    /// Whether links are missing because a page was cut off or had more links than the limit.
    cut: bool,
}

impl GraphBuilder {
    /// Creates a builder with the limits of a project.
    pub fn with_thresholds(thresholds: &Thresholds) -> Self {
        Self {
            thresholds: thresholds.clone(),
            ..Self::default()
        }
    }

    /// Adds a page; its ids are those of the crawl's URL table.
    pub fn add(&mut self, page: &PageFacts) {
        self.add_refreshed(page, None);
    }

    /// Adds a page that may redirect by a meta refresh, which is an edge like a link.
    pub(crate) fn add_refreshed(&mut self, page: &PageFacts, refresh: Option<UrlId>) {
        let id = page.id.0 as usize;
        self.reach(id);
        if self.is_known(page.id) {
            self.sketches.retain(|(known, _)| *known != page.id.0);
            self.topics.remove(page.id.0);
        }
        let html_200 = page.html_200();
        let index = &mut self.index;
        index.statuses[id] = page.status().unwrap_or(0);
        index.states[id] = match &page.outcome {
            Outcome::Status(_) if page.html.is_some() => State::Html,
            Outcome::Status(_) => State::Other,
            Outcome::Redirect { .. } => State::Redirect,
            Outcome::Failed(_) => State::Failed,
            Outcome::Blocked(_) => State::Blocked,
        };
        index.redirects[id] = match page.outcome {
            Outcome::Redirect {
                target: Some(target), ..
            } => target.0,
            _ => NONE,
        };
        let canonical = page.canonical();
        index.canonicals[id] = canonical.map_or(NONE, |c| c.0);
        let directives = directives(page);
        let mut bits = index.flags[id] & PageFlags::INTERNAL;
        self.words[id] = html_200.map_or(0, |html| html.main_words.min(u32::from(u16::MAX)) as u16);
        for (flag, set) in [
            (PageFlags::INDEXABLE, not_indexable(page).is_none()),
            (PageFlags::NOINDEX, directives.noindex()),
            (PageFlags::NOFOLLOW, directives.nofollow()),
            (PageFlags::CANONICALISED, canonical.is_some_and(|c| c != page.id)),
            (
                PageFlags::NO_HOST,
                page.outcome == Outcome::Failed(FetchError::Dns),
            ),
            // a HEAD request yields no body
            (
                PageFlags::READ,
                html_200.is_some() && page.cut.is_none() && page.body_bytes > 0,
            ),
        ] {
            bits.set(flag, set);
        }
        if let Some(html) = html_200 {
            let title = html.titles.iter().find(|t| !t.is_empty()).map(|t| &**t);
            let description = html
                .metas
                .iter()
                .find(|m| &*m.name == "description" && !m.content.is_empty());
            let h1 = html
                .headings
                .iter()
                .find(|h| h.level == 1 && !h.text.is_empty())
                .map(|h| &*h.text);
            index.titles[id] = title.map_or(0, folded_hash);
            index.descriptions[id] = description.map_or(0, |m| folded_hash(&m.content));
            index.h1s[id] = h1.map_or(0, folded_hash);
            index.texts[id] = html.text_hash;
            index.languages[id] = html.lang.as_deref().and_then(language).unwrap_or_default();
            if not_found::says_so(html, title, h1, self.thresholds.not_found_words) {
                bits |= PageFlags::SOFT_404;
            }
            if bits.contains(PageFlags::INDEXABLE) {
                let is_long = |_: &Sketch| html.main_words >= self.thresholds.near_words;
                let sketch = html.sketch.filter(is_long);
                self.sketches.extend(sketch.map(|sketch| (page.id.0, sketch)));
                self.topics.add(page.id.0, html, title, h1, index.languages[id]);
            }
        }
        index.flags[id] = bits;
        let misses_some = html_200.is_some_and(|html| page.cut.is_some() || html.links.hide_some());
        self.cut |= bits.contains(PageFlags::INTERNAL) && misses_some;
        let is_internal = |id: UrlId| is_set(&self.index.flags, id, PageFlags::INTERNAL);
        self.fragments.add(page, is_internal);
        self.add_edges(page, refresh, directives.nofollow());
    }

    fn add_edges(&mut self, page: &PageFacts, refresh: Option<UrlId>, nofollow: bool) {
        let mut targets = std::mem::take(&mut self.scratch);
        targets.clear();
        // links of an error page belong to the template and say nothing about the structure of the site
        if let Some(html) = &page.html
            && matches!(page.outcome, Outcome::Status(200..=299))
        {
            targets.extend(html.links.iter().filter_map(|link| {
                let follow = !nofollow && link.flags & REL_NOFOLLOW == 0;
                Some((
                    link.target?.0,
                    if follow {
                        EdgeKind::Follow
                    } else {
                        EdgeKind::NoFollow
                    },
                ))
            }));
            targets.extend(
                html.hreflangs
                    .iter()
                    .filter_map(|l| Some((l.target?.0, EdgeKind::Hreflang))),
            );
        }
        let link = if nofollow {
            EdgeKind::NoFollow
        } else {
            EdgeKind::Follow
        };
        targets.extend(refresh.map(|target| (target.0, link)));
        targets.extend(page.canonical().map(|c| (c.0, EdgeKind::Canonical)));
        self.edges.add(page.id.0, &mut targets);
        self.scratch = targets;
    }

    /// Marks a URL as on the host being audited.
    pub fn set_internal(&mut self, id: UrlId) {
        self.reach(id.0 as usize);
        self.index.flags[id.0 as usize] |= PageFlags::INTERNAL;
    }

    /// Whether the page of a URL was added.
    pub fn is_known(&self, id: UrlId) -> bool {
        self.state(id) != State::Known
    }

    /// Returns the state of a URL.
    pub(crate) fn state(&self, id: UrlId) -> State {
        self.index.states.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Returns the HTTP status of a page that was added; `None` without a response.
    pub(crate) fn status(&self, id: UrlId) -> Option<u16> {
        self.index
            .statuses
            .get(id.0 as usize)
            .copied()
            .filter(|status| *status != 0)
    }

    pub(crate) fn is_internal(&self, id: UrlId) -> bool {
        is_set(&self.index.flags, id, PageFlags::INTERNAL)
    }

    /// Returns the targets of a page.
    pub(crate) fn targets(&self, id: UrlId) -> impl Iterator<Item = (UrlId, EdgeKind)> + '_ {
        self.edges
            .targets_of(id.0)
            .map(|(target, kind)| (UrlId(target), kind))
    }

    pub(crate) fn redirect(&self, id: UrlId) -> Option<UrlId> {
        self.index
            .redirects
            .get(id.0 as usize)
            .copied()
            .filter(|t| *t != NONE)
            .map(UrlId)
    }

    fn reach(&mut self, id: usize) {
        if self.index.states.len() <= id {
            self.resize(id + 1);
        }
    }

    fn resize(&mut self, length: usize) {
        self.words.resize(length, 0);
        let index = &mut self.index;
        index.states.resize(length, State::Known);
        index.statuses.resize(length, 0);
        index.flags.resize(length, PageFlags::empty());
        index.languages.resize(length, [0; 2]);
        index.redirects.resize(length, NONE);
        index.canonicals.resize(length, NONE);
        for column in [
            &mut index.titles,
            &mut index.descriptions,
            &mut index.h1s,
            &mut index.texts,
        ] {
            column.resize(length, 0);
        }
    }

    /// Finishes the graph. Takes time in proportion to the number of links, so it must not run on an async thread.
    pub fn finish(mut self, table: UrlTable, ends: CrawlSummary<'_>) -> SiteGraph {
        let length = table.len();
        self.resize(length);
        let mut index = self.index;
        // first, because the fragments take more memory than the list of missing ones
        index.missing = self.fragments.missing();
        index.depths = ends.depths;
        index.depths.resize(length, u16::MAX);
        for id in 0..length {
            let known = table.provenance(UrlId(id as u32));
            if known & provenance::SITEMAP != 0 {
                index.flags[id] |= PageFlags::IN_SITEMAP;
            }
        }
        (index.keys, index.key_ends, index.provenance, index.days) = table.into_columns();
        index.traps = ends.traps;
        index.complete = ends.complete && !self.cut;
        not_found::mark(&mut index, &ends.origin.probes, &self.sketches, ends.origin.home);
        mark_blocked(&mut index, ends.origin);
        index.redirected = redirected(&index);
        mark_own_links(&mut index, &self.edges);
        let home = self.sketches.iter().find(|(id, _)| *id == ends.origin.home.0);
        index.home = Home {
            sketch: home.map(|(_, sketch)| *sketch),
            words: self.words.get(ends.origin.home.0 as usize).copied().unwrap_or(0),
        };
        // pages judged soft 404s by now must not count as similar to others
        let asked = PageFlags::INTERNAL | PageFlags::INDEXABLE | PageFlags::SOFT_404;
        let counts = |id: u32| index.flags[id as usize] & asked == PageFlags::INTERNAL | PageFlags::INDEXABLE;
        self.sketches.retain(|(id, _)| counts(*id));
        self.topics.retain(counts);
        // the columns from links and those from texts take about equally long
        let (links, (groups, near, topics)) = std::thread::scope(|scope| {
            let (index, edges) = (&index, self.edges);
            let links = scope.spawn(move || {
                let inlinks = Inlinks::turned(&edges, length);
                let alternates = alternates(&edges, length);
                // frees about 100 MB on a large site for the next step
                drop(edges);
                let ranks = ranks(index, &inlinks);
                (inlinks, alternates, ranks)
            });
            let groups = [&index.titles, &index.descriptions, &index.h1s, &index.texts]
                .map(|column| groups(column, &index.flags));
            let [least, same] = [self.thresholds.near_percent, self.thresholds.topic_percent];
            let text = |id: u32| index.texts[id as usize];
            let near = near_duplicates::near(self.sketches, share(least), text);
            let texts = (groups, near, self.topics.groups(share(same)));
            (links.join().unwrap_or_else(|panic| resume_unwind(panic)), texts)
        });
        (index.inlinks, index.alternates, (index.ranks, index.scores)) = links;
        mark_ways(&mut index);
        for (group, flag) in groups.iter().zip(PageFlags::SAME) {
            group.iter().for_each(|(_, id)| index.flags[*id as usize] |= flag);
        }
        (index.groups, index.near, index.topics) = (groups, near, topics);
        index
    }
}

fn share(percent: u32) -> f64 {
    f64::from(percent) / 100.0
}

/// Returns the primary language of a language tag if it has two letters.
fn language(tag: &str) -> Option<[u8; 2]> {
    let code: [u8; 2] = primary(tag).as_bytes().try_into().ok()?;
    code.iter().all(u8::is_ascii_lowercase).then_some(code)
}

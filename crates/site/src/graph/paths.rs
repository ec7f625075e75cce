//! Paths from the start of a crawl to its pages.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use super::SiteGraph;
use crate::page::UrlId;

/// Maximum number of URLs on a path.
const MAX_STEPS: usize = 32;
/// Number of inlinks examined in the first attempt, which mostly suffices because pages link to pages read after them;
/// [`MAX_LINKS`] is that of the second attempt, and [`MAX_COMPARED`] the number of candidates compared.
pub(super) const FEW: usize = 16;
const MAX_LINKS: usize = 256;
const MAX_COMPARED: usize = 4;

/// Predecessor of each URL on its path from the start, searched once, because most paths share pages. Allocated on
/// first use. Threads that search at the same time find the same predecessor.
#[derive(Debug, Default)]
pub(super) struct Steps(OnceLock<Box<[AtomicU32]>>);

/// Values of a step: [`UNKNOWN`] is not searched yet, [`NONE`] has no result, ids of URLs start at [`FIRST`].
const UNKNOWN: u32 = 0;
const NONE: u32 = 1;
const FIRST: u32 = 2;

impl Steps {
    fn step_before(&self, index: &SiteGraph, at: UrlId) -> Option<UrlId> {
        let steps = self
            .0
            .get_or_init(|| (0..index.len()).map(|_| AtomicU32::new(UNKNOWN)).collect());
        let known = steps.get(at.0 as usize)?;
        match known.load(Relaxed) {
            UNKNOWN => {
                let step = step_back(index, at);
                known.store(step.map_or(NONE, |step| step.0 + FIRST), Relaxed);
                step
            }
            NONE => None,
            step => Some(UrlId(step - FIRST)),
        }
    }
}

impl SiteGraph {
    /// Returns one of the shortest paths of links and redirects from the start to a page; `None` if the first inlinks
    /// of its pages do not show one.
    pub(crate) fn shortest_path(&self, id: UrlId) -> Option<Vec<UrlId>> {
        let mut path = vec![id];
        while let Some(at) = path.last().copied()
            && self.depth(at)? > 0
        {
            let before = self.steps.step_before(self, at)?;
            if path.len() == MAX_STEPS || path.contains(&before) {
                return None;
            }
            path.push(before);
        }
        path.reverse();
        Some(path)
    }
}

/// Returns a URL one click nearer to the start that links here, or one at equal depth that redirects here.
fn step_back(index: &SiteGraph, at: UrlId) -> Option<UrlId> {
    let depth = index.depth(at)?;
    let linked = linked(index, at, FEW).or_else(|| linked(index, at, MAX_LINKS));
    linked.or_else(|| {
        // a redirect does not count as a click
        let from = index.redirected_to(at).take(MAX_LINKS);
        let from = from.filter(|from| index.redirect(*from) == Some(at) && index.depth(*from) == Some(depth));
        first(index, from)
    })
}

/// Returns one of the first `most` inlinks that comes from a page one click nearer to the start.
fn linked(index: &SiteGraph, at: UrlId, most: usize) -> Option<UrlId> {
    let depth = index.depths[at.0 as usize];
    // No iteration depends on the result of the one before, so that their cache misses overlap.
    let (mut nearer, mut count) = ([UrlId(0); MAX_COMPARED + 1], 0);
    for (from, nofollow) in index.inlinks(at).take(most) {
        nearer[count.min(MAX_COMPARED)] = from;
        let is_nearer = index.depths[from.0 as usize].wrapping_add(1) == depth;
        count += usize::from(is_nearer & !nofollow);
    }
    first(index, nearer.into_iter().take(count.min(MAX_COMPARED)))
}

/// Returns the first page by text hash, then by key: mostly the same one in every crawl, whatever the order of ids. The
/// hash is cheaper to load than the key.
fn first(index: &SiteGraph, pages: impl Iterator<Item = UrlId>) -> Option<UrlId> {
    let told = pages.map(|page| (index.texts[page.0 as usize], page));
    let first = told.min_by(|(text, page), (other_text, other)| {
        let texts = text.cmp(other_text);
        texts.then_with(|| index.key(*page).cmp(index.key(*other)))
    });
    first.map(|(_, page)| page)
}

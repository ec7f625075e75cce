//! The ways from the start of a crawl to its pages.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use super::SiteGraph;
use crate::page::UrlId;

/// URLs on a way.
const MAX_STEPS: usize = 32;
/// Links that are looked at, first few and then more, and compared: most are found by pages that were read before others.
pub(super) const FEW: usize = 16;
const MAX_LINKS: usize = 256;
const MAX_COMPARED: usize = 4;

/// Of URLs, the one before on the way from the start, each looked for once: most ways lead over the same pages. Made when a
/// way is asked for. Who looks at the same time finds the same.
#[derive(Debug, Default)]
pub(super) struct Steps(OnceLock<Box<[AtomicU32]>>);

/// Not looked for yet, and looked for without result; ids of URLs come behind.
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
    /// One of the shortest ways from the start to a page, links and redirects; `None` when it is not found among the first of
    /// its links.
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

/// A URL one click nearer to the start that leads here, or that redirects here.
fn step_back(index: &SiteGraph, at: UrlId) -> Option<UrlId> {
    let depth = index.depth(at)?;
    let linked = linked(index, at, FEW).or_else(|| linked(index, at, MAX_LINKS));
    linked.or_else(|| {
        // a redirect costs no click
        let from = index.redirected_to(at).take(MAX_LINKS);
        let from = from.filter(|from| index.redirect(*from) == Some(at) && index.depth(*from) == Some(depth));
        first(index, from)
    })
}

/// One of the first so many links that leads from a page one click nearer to the start.
fn linked(index: &SiteGraph, at: UrlId, most: usize) -> Option<UrlId> {
    let depth = index.depths[at.0 as usize];
    // All are looked at without asking in between what the one before was: each waits for memory, and so they wait together.
    let (mut nearer, mut count) = ([UrlId(0); MAX_COMPARED + 1], 0);
    for (from, nofollow) in index.inlinks(at).take(most) {
        nearer[count.min(MAX_COMPARED)] = from;
        let is_nearer = index.depths[from.0 as usize].wrapping_add(1) == depth;
        count += usize::from(is_nearer & !nofollow);
    }
    first(index, nearer.into_iter().take(count.min(MAX_COMPARED)))
}

/// The first by what pages say: mostly the same one in every crawl, in whatever order pages were read. The text is nearer at hand
/// than the key.
fn first(index: &SiteGraph, pages: impl Iterator<Item = UrlId>) -> Option<UrlId> {
    let told = pages.map(|page| (index.texts[page.0 as usize], page));
    let first = told.min_by(|(text, page), (other_text, other)| {
        let texts = text.cmp(other_text);
        texts.then_with(|| index.key(*page).cmp(index.key(*other)))
    });
    first.map(|(_, page)| page)
}

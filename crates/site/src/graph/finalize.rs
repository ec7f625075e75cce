//! Facts of the graph that need all pages: ends of redirects, alternates, groups of equal texts.

use super::{
    PageFlags, SiteGraph, State,
    edges::{EdgeKind, Edges},
    inlinks::Inlinks,
    page_flags::is_set,
};
use crate::{origin::Origin, page::UrlId, robots::Robots};

/// Returns pairs of the final URL of a redirect chain and the URL where it starts, sorted.
pub(super) fn redirected(index: &SiteGraph) -> Vec<(u32, u32)> {
    let begin = (0..index.redirects.len() as u32).filter(|id| index.redirects[*id as usize] != u32::MAX);
    let mut ends: Vec<_> = begin
        .filter_map(|id| {
            let hops = index.hops(UrlId(id));
            Some((hops.urls.last().filter(|_| !hops.looped)?.0, id))
        })
        .collect();
    ends.sort_unstable();
    ends
}

/// Returns pairs of a page and its language alternate, sorted by page, then alternate, like the edges.
pub(super) fn alternates(edges: &Edges, length: usize) -> Vec<(u32, u32)> {
    let of = |page: u32| {
        edges
            .targets_of(page)
            .filter(|(_, kind)| *kind == EdgeKind::Hreflang)
            .map(move |(to, _)| (page, to))
    };
    (0..length as u32).flat_map(of).collect()
}

/// Clears `INDEXABLE` of pages that robots.txt forbids to Googlebot, even if it allows them to this crawler.
pub(super) fn mark_blocked(index: &mut SiteGraph, origin: &Origin) {
    let googlebot = Robots::parse(&origin.robots.text).agent("Googlebot");
    if !googlebot.forbids_anything() {
        return;
    }
    let root = format!("{}/", origin.root);
    for id in 0..index.states.len() {
        if !index.flags[id].contains(PageFlags::INDEXABLE) {
            continue;
        }
        let path = index.key(UrlId(id as u32)).strip_prefix(&*root);
        if path.is_some_and(|path| googlebot.forbids(&format!("/{path}")).is_some()) {
            index.flags[id] &= !PageFlags::INDEXABLE;
        }
    }
}

/// Marks pages without a link to another page of the site. A page whose links are unknown is marked as if they could
/// lead anywhere.
pub(super) fn mark_own_links(index: &mut SiteGraph, edges: &Edges) {
    for page in 0..index.states.len() {
        // links of error pages are not stored, nor those of pages beyond the limit of edges
        if !edges.has(page as u32) || !(200..300).contains(&index.statuses[page]) {
            index.flags[page] |= PageFlags::TO_AMISS | PageFlags::TO_ASKED;
        }
        let mut links = edges.targets_of(page as u32).filter(|(_, kind)| kind.is_link());
        if !links.any(|(to, _)| to as usize != page && is_set(&index.flags, UrlId(to), PageFlags::INTERNAL)) {
            index.flags[page] |= PageFlags::DEAD_END;
        }
    }
}

/// Marks pages by the targets of their links for checks that run on every page; most pages need no look at their links
/// then.
pub(super) fn mark_ways(index: &mut SiteGraph) {
    for to in 0..index.states.len() {
        let amiss = index.statuses[to] >= 300;
        let asked = !index.flags[to].contains(PageFlags::INTERNAL) && index.states[to] != State::Known;
        for (flag, _) in [(PageFlags::TO_AMISS, amiss), (PageFlags::TO_ASKED, asked)]
            .iter()
            .filter(|way| way.1)
        {
            for source in index.inlinks.sources_of(to as u32) {
                index.flags[(source & !Inlinks::NOFOLLOW) as usize] |= *flag;
            }
        }
    }
}

pub(super) fn groups(column: &[u64], flags: &[PageFlags]) -> Vec<(u64, u32)> {
    let indexable = |id: usize| flags[id].contains(PageFlags::INDEXABLE);
    let hashed = column
        .iter()
        .enumerate()
        .filter(|(id, hash)| **hash != 0 && indexable(*id));
    let mut pairs: Vec<(u64, u32)> = hashed.map(|(id, hash)| (*hash, id as u32)).collect();
    pairs.sort_unstable();
    let mut kept = 0;
    for i in 0..pairs.len() {
        let hash = pairs[i].0;
        let alone =
            (kept == 0 || pairs[kept - 1].0 != hash) && pairs.get(i + 1).is_none_or(|next| next.0 != hash);
        if !alone {
            pairs[kept] = pairs[i];
            kept += 1;
        }
    }
    pairs.truncate(kept);
    pairs.shrink_to_fit();
    pairs
}

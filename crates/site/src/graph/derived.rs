//! What the index knows only when every page is in: links turned around, ends of redirects, pages that are alike.

use super::{
    Index, State,
    edges::{Edges, Kind},
    flag,
    inlinks::Inlinks,
};
use crate::{origin::Origin, page::UrlId, robots::Robots};

/// Where redirects end, and where they begin.
pub(super) fn redirected(index: &Index) -> Vec<(u32, u32)> {
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

/// Pages and their language alternates, by page, then alternate, as the edges are.
pub(super) fn alternates(edges: &Edges, length: usize) -> Vec<(u32, u32)> {
    let of = |page: u32| {
        edges
            .of(page)
            .filter(|(_, kind)| *kind == Kind::Hreflang)
            .map(move |(to, _)| (page, to))
    };
    (0..length as u32).flat_map(of).collect()
}

/// Pages that robots.txt keeps from Googlebot, though not from us, are in no index.
pub(super) fn mark_blocked(index: &mut Index, origin: &Origin) {
    let googlebot = Robots::parse(&origin.robots.text).agent("Googlebot");
    if !googlebot.forbids_anything() {
        return;
    }
    let root = format!("{}/", origin.root);
    for id in 0..index.states.len() {
        if index.flags[id] & flag::INDEXABLE == 0 {
            continue;
        }
        let path = index.key(UrlId(id as u32)).strip_prefix(&*root);
        if path.is_some_and(|path| googlebot.forbids(&format!("/{path}")).is_some()) {
            index.flags[id] &= !flag::INDEXABLE;
        }
    }
}

/// What its links say of each page: that none leads to another page of the site, or, where they are not known, that they may lead
/// anywhere.
pub(super) fn mark_own_links(index: &mut Index, edges: &Edges) {
    for page in 0..index.states.len() {
        // of an error page no links are known here, nor of any behind the last for which there was room
        if !edges.has(page as u32) || !(200..300).contains(&index.statuses[page]) {
            index.flags[page] |= flag::TO_AMISS | flag::TO_ASKED;
        }
        let mut links = edges.of(page as u32).filter(|(_, kind)| kind.is_link());
        if !links.any(|(to, _)| to as usize != page && index.has(UrlId(to), flag::INTERNAL)) {
            index.flags[page] |= flag::DEAD_END;
        }
    }
}

/// Where links of pages lead, as far as checks ask that of every page: of most, no link has to be looked at then.
pub(super) fn mark_ways(index: &mut Index) {
    for to in 0..index.states.len() {
        let amiss = index.statuses[to] >= 300;
        let asked = index.flags[to] & flag::INTERNAL == 0 && index.states[to] != State::Known;
        for (flag, _) in [(flag::TO_AMISS, amiss), (flag::TO_ASKED, asked)]
            .iter()
            .filter(|way| way.1)
        {
            for source in index.inlinks.of(to as u32) {
                index.flags[(source & !Inlinks::NOFOLLOW) as usize] |= flag;
            }
        }
    }
}

pub(super) fn groups(column: &[u64], flags: &[u16]) -> Vec<(u64, u32)> {
    let indexable = |id: usize| flags[id] & flag::INDEXABLE != 0;
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

//! Internal PageRank: importance of pages by the links of the site itself.

use super::{PageFlags, SiteGraph, State, inlinks::Inlinks};

const NONE: u32 = u32::MAX;

/// Probability of following a link.
const DAMPING: f64 = 0.85;
/// Sum of rank changes below which the iteration ends; [`ROUNDS`] is the maximum number of iterations.
const CLOSE: f64 = 1e-8;
const ROUNDS: usize = 100;
/// Maximum number of redirects followed to find the page that a link counts for.
const MAX_HOPS: usize = 20;

/// Returns the percentile of each rank, 0 to 100: the share of other nodes with a smaller rank. A single node has 100.
pub(super) fn percentiles(ranks: &[f64]) -> Vec<u8> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let others = ranks.len().saturating_sub(1);
    ranks
        .iter()
        .map(
            |rank| match sorted.partition_point(|r| r.total_cmp(rank).is_lt()) {
                _ if others == 0 => 100,
                smaller => (100.0 * smaller as f64 / others as f64).round() as u8,
            },
        )
        .collect()
}

fn is_node(index: &SiteGraph, id: u32) -> bool {
    index.states[id as usize] == State::Html && index.flags[id as usize].contains(PageFlags::INTERNAL)
}

/// Returns the page that a link to a URL counts for: the end of its redirects, or the canonical of that page.
fn credited(index: &SiteGraph, target: u32) -> Option<u32> {
    let mut at = target;
    for _ in 0..MAX_HOPS {
        match index.redirects[at as usize] {
            NONE => break,
            next => at = next,
        }
    }
    let canonical = Some(index.canonicals[at as usize]).filter(|canonical| *canonical != NONE);
    let known = |id: &u32| is_node(index, *id);
    canonical.filter(known).or_else(|| Some(at).filter(known))
}

/// Pages that link to each page, as far as the links count. On a large site links take hundreds of megabytes, so the
/// inlinks are used in place; only pages that links to other URLs count for have lists of their own.
struct Linking<'i> {
    inlinks: &'i Inlinks,
    /// Pairs of a page and the end of its list in `joined`; ascending by page.
    lists: Vec<(u32, u32)>,
    joined: Vec<u32>,
    /// Pages that links to them do not count for; ascending.
    bypassed: Vec<u32>,
}

impl<'i> Linking<'i> {
    fn new(index: &SiteGraph, inlinks: &'i Inlinks) -> Self {
        let ids = 0..index.states.len() as u32;
        let is_moved =
            |id: &u32| index.redirects[*id as usize] != NONE || index.canonicals[*id as usize] != NONE;
        // pairs of the credited page and the URL whose links count for it
        let mut moved: Vec<(u32, u32)> = Vec::new();
        let mut bypassed = Vec::new();
        for id in ids.filter(is_moved) {
            let page = credited(index, id);
            if page != Some(id) {
                moved.extend(page.map(|page| (page, id)));
                bypassed.extend(is_node(index, id).then_some(id));
            }
        }
        moved.sort_unstable();
        let of_each = || moved.chunk_by(|a, b| a.0 == b.0);
        let joined = moved.iter().map(|(_, id)| *id);
        let joined = joined.chain(of_each().map(|of_one| of_one[0].0));
        // allocated exactly, since where most pages name another canonical, there are as many entries as links
        let most = joined.map(|id| inlinks.sources_of(id).len()).sum();
        let mut linking = Self {
            inlinks,
            lists: Vec::new(),
            joined: Vec::with_capacity(most),
            bypassed,
        };
        of_each().for_each(|of_one| linking.join(index, of_one));
        linking
    }

    /// Builds the list of one page from the inlinks of all URLs that count for it.
    fn join(&mut self, index: &SiteGraph, moved: &[(u32, u32)]) {
        let page = moved[0].0;
        let own = Some(page).filter(|page| self.bypassed.binary_search(page).is_err());
        let targets = moved.iter().map(|(_, id)| *id).chain(own);
        let sources = targets.flat_map(|target| followed(self.inlinks.sources_of(target)));
        let mut list: Vec<u32> = sources
            .filter(|source| *source != page && is_node(index, *source))
            .collect();
        list.sort_unstable();
        list.dedup();
        self.joined.append(&mut list);
        self.lists.push((page, self.joined.len() as u32));
    }

    /// Calls `each` with each page and the sources of its links: ascending, the top bit set if the links are nofollow.
    fn each(&self, nodes: &[u32], mut each: impl FnMut(usize, &[u32])) {
        let mut lists = self.lists.iter().peekable();
        let mut bypassed = self.bypassed.iter().peekable();
        let mut start = 0;
        for (node, id) in nodes.iter().enumerate() {
            let is_bypassed = bypassed.next_if_eq(&id).is_some();
            let sources = match lists.next_if(|(page, _)| page == id) {
                Some((_, end)) => {
                    let list = &self.joined[start..*end as usize];
                    start = *end as usize;
                    list
                }
                None if is_bypassed => &[],
                None => self.inlinks.sources_of(*id),
            };
            each(node, sources);
        }
    }
}

fn followed(sources: &[u32]) -> impl Iterator<Item = u32> + '_ {
    sources
        .iter()
        .copied()
        .filter(|source| source & Inlinks::NOFOLLOW == 0)
}

/// Ranks internal HTML pages; the ranks sum to 1. A link to a redirect counts for the page where it ends, a link to a
/// page with another canonical counts for the canonical, and a link of a page to itself does not count. The rank of
/// pages without links is distributed evenly. Returns the rank and its percentile by URL.
pub(super) fn ranks(index: &SiteGraph, inlinks: &Inlinks) -> (Vec<f32>, Vec<u8>) {
    let length = index.states.len();
    let nodes: Vec<u32> = (0..length as u32).filter(|id| is_node(index, *id)).collect();
    let linking = Linking::new(index, inlinks);
    // by URL, so that URLs that are no pages pass on nothing
    let mut links = vec![0_u32; length];
    linking.each(&nodes, |_, sources| {
        followed(sources).for_each(|source| links[source as usize] += 1);
    });
    let mut passed = vec![0.0; length];
    let n = nodes.len() as f64;
    let mut ranks = vec![1.0 / n; nodes.len()];
    let pass = |ranks: &[f64], passed: &mut [f64]| {
        let mut dangling = 0.0;
        for (rank, id) in ranks.iter().zip(&nodes) {
            match links[*id as usize] {
                0 => dangling += rank,
                links => passed[*id as usize] = rank / f64::from(links),
            }
        }
        dangling
    };
    for _ in 0..ROUNDS {
        let dangling = pass(&ranks, &mut passed);
        let even = (1.0 - DAMPING + DAMPING * dangling) / n;
        let mut change = 0.0;
        linking.each(&nodes, |node, sources| {
            let sum = followed(sources).fold(0.0, |sum, source| sum + passed[source as usize]);
            let new = even + DAMPING * sum;
            change += (new - ranks[node]).abs();
            ranks[node] = new;
        });
        if change < CLOSE {
            break;
        }
    }
    let scores = percentiles(&ranks);
    let mut all = (vec![0.0; length], vec![u8::MAX; length]);
    for (node, id) in nodes.iter().enumerate() {
        all.0[*id as usize] = ranks[node] as f32;
        all.1[*id as usize] = scores[node];
        passed[*id as usize] = ranks[node] / f64::from(links[*id as usize].max(1));
    }
    rank_others(index, inlinks, &passed, (1.0 - DAMPING) / n.max(1.0), &mut all.0);
    all
}

/// Computes the rank that redirects, failed URLs and the like would have as pages: the share of the pages that link to
/// them. It weighs issues on these URLs and is not part of the sum of 1.
fn rank_others(index: &SiteGraph, inlinks: &Inlinks, passed: &[f64], even: f64, all: &mut [f32]) {
    let is_other = |id: u32| {
        let id = id as usize;
        index.flags[id].contains(PageFlags::INTERNAL)
            && !matches!(index.states[id], State::Html | State::Known)
    };
    for id in (0..all.len() as u32).filter(|id| is_other(*id)) {
        let shares = followed(inlinks.sources_of(id)).map(|source| DAMPING * passed[source as usize]);
        // rounded once, so that the result does not depend on the order of ids, in which URLs were discovered
        all[id as usize] = (even + shares.sum::<f64>()) as f32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::graph::edges::{EdgeKind, Edges};

    /// A URL: whether it is a page of the site, its redirect target, its canonical, its links with whether each is
    /// followed.
    type Url = (bool, Option<u32>, Option<u32>, BTreeSet<(u32, bool)>);

    const URLS: u32 = 9;

    fn url() -> impl Strategy<Value = Url> {
        let other = || proptest::option::weighted(0.2, 0..URLS);
        let links = proptest::collection::btree_set((0..URLS, any::<bool>()), 0..6);
        (proptest::bool::weighted(0.8), other(), other(), links)
    }

    fn crawl(urls: &[Url]) -> (SiteGraph, Edges) {
        let (mut index, mut edges) = (SiteGraph::default(), Edges::default());
        for (id, (is_page, redirect, canonical, links)) in (0..).zip(urls) {
            let state = match redirect {
                Some(_) => State::Redirect,
                None if *is_page => State::Html,
                None => State::Failed,
            };
            index.states.push(state);
            index.flags.push(PageFlags::INTERNAL);
            index.redirects.push(redirect.unwrap_or(NONE));
            index
                .canonicals
                .push(canonical.filter(|_| redirect.is_none()).unwrap_or(NONE));
            let follow = |follow| {
                if follow {
                    EdgeKind::Follow
                } else {
                    EdgeKind::NoFollow
                }
            };
            let mut targets = links
                .iter()
                .map(|(to, followed)| (*to, follow(*followed)))
                .collect();
            if redirect.is_none() {
                edges.add(id, &mut targets);
            }
        }
        (index, edges)
    }

    /// Ranks computed page by page from the definition.
    fn defined(index: &SiteGraph, edges: &Edges) -> Vec<f64> {
        let nodes: Vec<u32> = (0..URLS).filter(|id| is_node(index, *id)).collect();
        let counted = |id: u32| -> BTreeSet<u32> {
            let followed = edges
                .targets_of(id)
                .filter(|(to, kind)| *kind == EdgeKind::Follow && *to != id);
            let pages = followed.filter_map(|(to, _)| credited(index, to));
            pages.filter(|to| *to != id).collect()
        };
        let n = nodes.len() as f64;
        let mut ranks = vec![0.0; URLS as usize];
        nodes.iter().for_each(|id| ranks[*id as usize] = 1.0 / n);
        for _ in 0..200 {
            let mut next = vec![0.0; URLS as usize];
            for id in &nodes {
                let to = counted(*id);
                let all = if to.is_empty() {
                    nodes.iter().copied().collect()
                } else {
                    to
                };
                let share = ranks[*id as usize] / all.len() as f64;
                all.iter().for_each(|to| next[*to as usize] += DAMPING * share);
            }
            nodes
                .iter()
                .for_each(|id| next[*id as usize] += (1.0 - DAMPING) / n);
            ranks = next;
        }
        for id in (0..URLS).filter(|id| !is_node(index, *id)) {
            let from = nodes.iter().filter(|from| {
                edges
                    .targets_of(**from)
                    .any(|edge| edge == (id, EdgeKind::Follow))
            });
            let shares =
                from.map(|from| DAMPING * ranks[*from as usize] / counted(*from).len().max(1) as f64);
            ranks[id as usize] = (1.0 - DAMPING) / n.max(1.0) + shares.sum::<f64>();
        }
        ranks
    }

    proptest! {
        #[test]
        fn ranks_are_as_defined(urls in proptest::collection::vec(url(), URLS as usize)) {
            let (index, edges) = crawl(&urls);
            let inlinks = Inlinks::turned(&edges, urls.len());
            let (ranks, _) = ranks(&index, &inlinks);
            for (found, defined) in ranks.iter().zip(defined(&index, &edges)) {
                prop_assert!((f64::from(*found) - defined).abs() < 1e-6, "{ranks:?} {defined}");
            }
        }
    }
}

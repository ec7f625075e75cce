//! Internal PageRank: which pages the site's own links make important.

use super::{
    Index, State,
    edges::{Edges, Kind},
    flag,
};

const NONE: u32 = u32::MAX;

/// Probability of following a link.
const DAMPING: f64 = 0.85;
/// Rounds end when ranks change less than this in sum, or after [`ROUNDS`].
const CLOSE: f64 = 1e-8;
const ROUNDS: usize = 100;

/// Ranks of nodes `0..n`, summing to 1; `targets[starts[i]..starts[i + 1]]` are the unique targets of
/// node `i`. Mass of nodes without links is spread evenly.
fn page_rank(starts: &[u32], targets: &[u32]) -> Vec<f64> {
    let n = starts.len().saturating_sub(1);
    let mut ranks = vec![1.0 / n as f64; n];
    let mut next = vec![0.0; n];
    for _ in 0..ROUNDS {
        next.fill(0.0);
        let mut dangling = 0.0;
        for (rank, span) in ranks.iter().zip(starts.windows(2)) {
            let links = &targets[span[0] as usize..span[1] as usize];
            if links.is_empty() {
                dangling += rank;
            } else {
                let share = rank / links.len() as f64;
                links.iter().for_each(|t| next[*t as usize] += share);
            }
        }
        let even = (1.0 - DAMPING + DAMPING * dangling) / n as f64;
        let mut change = 0.0;
        for (rank, next) in ranks.iter_mut().zip(&next) {
            let new = even + DAMPING * next;
            change += (new - *rank).abs();
            *rank = new;
        }
        if change < CLOSE {
            break;
        }
    }
    ranks
}

/// Percentile of each rank, 0 to 100: the share of the other nodes with a smaller rank. A node alone
/// has 100.
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

/// Ranks internal HTML pages. A link to a redirect counts for the page it ends at, a link to a page
/// that names another as canonical counts for that one. By URL, the share of the whole and the percentile.
pub(super) fn ranks(index: &Index, edges: &Edges) -> (Vec<f32>, Vec<u8>) {
    let length = index.states.len();
    let mut node_of = vec![NONE; length];
    let mut nodes = Vec::new();
    for (id, node) in node_of.iter_mut().enumerate() {
        if index.states[id] == State::Html && index.flags[id] & flag::INTERNAL != 0 {
            *node = nodes.len() as u32;
            nodes.push(id as u32);
        }
    }
    let credited = |target: u32| {
        let mut at = target;
        for _ in 0..20 {
            match index.redirects[at as usize] {
                NONE => break,
                next => at = next,
            }
        }
        match index.canonicals[at as usize] {
            NONE => node_of[at as usize],
            canonical if node_of[canonical as usize] != NONE => node_of[canonical as usize],
            _ => node_of[at as usize],
        }
    };
    let mut starts = Vec::with_capacity(nodes.len() + 1);
    // of a large site hundreds of megabytes: no more than they need
    let mut targets: Vec<u32> = Vec::with_capacity(edges.count());
    starts.push(0);
    for (node, id) in nodes.iter().enumerate() {
        let start = targets.len();
        let followed = edges.of(*id).filter(|(_, kind)| *kind == Kind::Follow);
        targets.extend(
            followed
                .map(|(t, _)| credited(t))
                .filter(|t| *t != NONE && *t as usize != node),
        );
        targets[start..].sort_unstable();
        let mut kept = start;
        for i in start..targets.len() {
            if kept == start || targets[i] != targets[kept - 1] {
                targets[kept] = targets[i];
                kept += 1;
            }
        }
        targets.truncate(kept);
        starts.push(targets.len() as u32);
    }
    let ranks = page_rank(&starts, &targets);
    let scores = percentiles(&ranks);
    let mut all = (vec![0.0; length], vec![u8::MAX; length]);
    others(index, edges, (&nodes, &starts, &ranks), &mut all.0);
    for (node, id) in nodes.iter().enumerate() {
        all.0[*id as usize] = ranks[node] as f32;
        all.1[*id as usize] = scores[node];
    }
    all
}

/// What redirects, pages without an answer and the like would have as pages: the share of those that link to them. Issues on them
/// weigh by it; it is no part of the sum of 1.
fn others(index: &Index, edges: &Edges, (nodes, starts, ranks): (&[u32], &[u32], &[f64]), all: &mut [f32]) {
    let is_other = |id: usize| {
        index.flags[id] & flag::INTERNAL != 0 && !matches!(index.states[id], State::Html | State::Known)
    };
    let even = ((1.0 - DAMPING) / nodes.len().max(1) as f64) as f32;
    let mut any = false;
    for (_, rank) in all.iter_mut().enumerate().filter(|(id, _)| is_other(*id)) {
        (*rank, any) = (even, true);
    }
    if !any {
        return;
    }
    for (node, id) in nodes.iter().enumerate() {
        let links = (starts[node + 1] - starts[node]).max(1);
        let share = (DAMPING * ranks[node] / f64::from(links)) as f32;
        let mut last = NONE;
        let followed = edges.of(*id).filter(|(_, kind)| *kind == Kind::Follow);
        for (target, _) in followed.filter(|(target, _)| is_other(*target as usize)) {
            // by target, so that several links to one are beside each other
            if target != last {
                all[target as usize] += share;
            }
            last = target;
        }
    }
}

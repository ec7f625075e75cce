//! Average linkage over few pairs of many.

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, HashMap},
};

/// Tolerance below the threshold, because sums of floats are not exact.
const SLACK: f64 = 1e-6;

/// Two clusters that may be joined, the most alike first; of equals those that came first.
#[derive(Debug, PartialEq)]
struct Join {
    likeness: f64,
    pair: (usize, usize),
    /// Numbers of members when this was found; another number now means it is out of date.
    sizes: (usize, usize),
}

impl Eq for Join {}

impl Ord for Join {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_likeness = self.likeness.total_cmp(&other.likeness);
        by_likeness.then_with(|| (other.pair, other.sizes).cmp(&(self.pair, self.sizes)))
    }
}

impl PartialOrd for Join {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Joins `count` things while the mean likeness of two clusters is at least `threshold`; pairs that are
/// not given have none. Each cluster in ascending order.
pub(super) fn average(count: usize, pairs: &[(u32, u32, f32)], threshold: f64) -> Vec<Vec<usize>> {
    let mut members: Vec<Vec<usize>> = (0..count).map(|i| vec![i]).collect();
    // sums of likeness to other clusters, kept on both sides
    let mut sums: Vec<HashMap<usize, f64>> = vec![HashMap::new(); count];
    for (a, b, likeness) in pairs {
        let (a, b, likeness) = (*a as usize, *b as usize, f64::from(*likeness));
        sums[a].insert(b, likeness);
        sums[b].insert(a, likeness);
    }
    let threshold = threshold - SLACK;
    let found = |a: usize, b: usize, sum: f64, members: &[Vec<usize>]| {
        let pair = (a.min(b), a.max(b));
        let sizes = (members[pair.0].len(), members[pair.1].len());
        let likeness = sum / (sizes.0 * sizes.1) as f64;
        (likeness >= threshold).then_some(Join {
            likeness,
            pair,
            sizes,
        })
    };
    let mut heap: BinaryHeap<Join> = pairs
        .iter()
        .filter_map(|(a, b, likeness)| found(*a as usize, *b as usize, f64::from(*likeness), &members))
        .collect();
    while let Some(Join {
        pair: (a, b), sizes, ..
    }) = heap.pop()
    {
        if (members[a].len(), members[b].len()) != sizes {
            continue;
        }
        let moved = std::mem::take(&mut members[b]);
        members[a].extend(moved);
        let moved = std::mem::take(&mut sums[b]);
        for (other, sum) in moved {
            sums[other].remove(&b);
            if other != a {
                *sums[a].entry(other).or_default() += sum;
                *sums[other].entry(a).or_default() += sum;
            }
        }
        let joins = sums[a]
            .iter()
            .filter_map(|(other, sum)| found(a, *other, *sum, &members));
        heap.extend(joins);
    }
    members.retain(|members| !members.is_empty());
    for members in &mut members {
        members.sort_unstable();
    }
    members
}

#[cfg(test)]
mod tests {
    use proptest::{
        collection::vec,
        prelude::{Strategy as _, prop_assert_eq, proptest},
    };

    use super::{SLACK, average};

    #[test]
    fn a_chain_is_not_one_cluster() {
        // each like its neighbours only
        let pairs: Vec<_> = (0..5).map(|i| (i, i + 1, 0.9)).collect();
        assert_eq!(average(6, &pairs, 0.6), [vec![0, 1], vec![2, 3], vec![4, 5]]);
        assert_eq!(average(2, &[], 0.6), [vec![0], vec![1]]);
    }

    /// The textbook way: look at all pairs of clusters, join the two most alike, again.
    fn textbook(count: usize, likeness: &[Vec<f64>], threshold: f64) -> Vec<Vec<usize>> {
        let mut clusters: Vec<Vec<usize>> = (0..count).map(|i| vec![i]).collect();
        loop {
            let mut best: Option<(f64, usize, usize)> = None;
            for a in 0..clusters.len() {
                for b in a + 1..clusters.len() {
                    let all = clusters[a]
                        .iter()
                        .flat_map(|x| clusters[b].iter().map(move |y| likeness[*x][*y]));
                    let mean = all.sum::<f64>() / (clusters[a].len() * clusters[b].len()) as f64;
                    if mean >= threshold && best.is_none_or(|(most, ..)| mean > most) {
                        best = Some((mean, a, b));
                    }
                }
            }
            let Some((_, a, b)) = best else { break };
            let moved = clusters.remove(b);
            clusters[a].extend(moved);
        }
        clusters.iter_mut().for_each(|c| c.sort_unstable());
        clusters
    }

    proptest! {
        #[test]
        fn it_joins_what_the_textbook_joins(
            // without ties, whose order is nobody's promise
            order in vec(0u32..1000, 45).prop_map(|weights| {
                let mut order: Vec<usize> = (0..45).collect();
                order.sort_by_key(|i| (weights[*i], *i));
                order
            }),
        ) {
            let all = (0..10u32).flat_map(|a| (a + 1..10).map(move |b| (a, b)));
            let value = |i: usize| (i as f32 * 0.739 + 0.1).sin().abs();
            let pairs: Vec<_> = all.zip(order).map(|((a, b), i)| (a, b, value(i))).collect();
            let mut likeness = vec![vec![0.0; 10]; 10];
            for (a, b, value) in &pairs {
                likeness[*a as usize][*b as usize] = f64::from(*value);
                likeness[*b as usize][*a as usize] = f64::from(*value);
            }
            prop_assert_eq!(average(10, &pairs, 0.6), textbook(10, &likeness, 0.6 - SLACK));
        }
    }
}

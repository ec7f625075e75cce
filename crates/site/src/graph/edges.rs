//! Links of a crawl while it runs: sorted targets for each page, stored as differences in a few bits, so that 50
//! million links take 100 MB instead of 1 GB.

use crate::leb128::{pull, push};

/// Maximum number of bytes kept; pages read later have no edges. Only a site built for it gets there, at about 300
/// million links.
const BYTES_LIMIT: usize = 512 * 1024 * 1024;

/// Kind of an edge. Ordered: a followed link takes precedence over one that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EdgeKind {
    /// A followed link.
    Follow,
    /// A link that is not followed: rel nofollow, ugc or sponsored, or robots nofollow on the page.
    NoFollow,
    /// The canonical of the page.
    Canonical,
    /// A language alternate.
    Hreflang,
}

impl EdgeKind {
    const ALL: [Self; 4] = [Self::Follow, Self::NoFollow, Self::Canonical, Self::Hreflang];

    pub(crate) fn is_link(self) -> bool {
        matches!(self, Self::Follow | Self::NoFollow)
    }
}

#[derive(Debug, Default)]
pub(super) struct Edges {
    bytes: Vec<u8>,
    /// Position of the first edge of a page plus one; 0 if there is none. A zero byte ends the edges of a page.
    starts: Vec<u32>,
}

impl Edges {
    /// Stores the targets of a page, sorted and without duplicates. A followed link replaces a nofollow link to the
    /// same target.
    pub(super) fn add(&mut self, page: u32, targets: &mut Vec<(u32, EdgeKind)>) {
        // one number per target compares without a branch
        targets.sort_unstable_by_key(|(target, kind)| u64::from(*target) << 8 | *kind as u64);
        targets.dedup_by(|later, kept| {
            later.0 == kept.0
                && (later.1 == kept.1 || (kept.1 == EdgeKind::Follow && later.1 == EdgeKind::NoFollow))
        });
        if targets.is_empty() || self.bytes.len() > BYTES_LIMIT {
            return;
        }
        let i = page as usize;
        if self.starts.len() <= i {
            self.starts.resize(i + 1, 0);
        }
        self.starts[i] = self.bytes.len() as u32 + 1;
        let mut last = 0;
        for (target, kind) in targets.iter() {
            // one more than the difference, so that no edge begins with a zero byte
            push(
                &mut self.bytes,
                (u64::from(target - last) << 2 | *kind as u64) + 1,
            );
            last = *target;
        }
        self.bytes.push(0);
    }

    /// Whether targets of a page are stored.
    pub(super) fn has(&self, page: u32) -> bool {
        self.starts.get(page as usize).is_some_and(|start| *start > 0)
    }

    /// Returns the targets of a page, sorted by target, then kind.
    pub(super) fn targets_of(&self, page: u32) -> impl Iterator<Item = (u32, EdgeKind)> + '_ {
        let start = self.starts.get(page as usize).copied().unwrap_or(0) as usize;
        let mut rest = if start == 0 {
            &[0_u8][..]
        } else {
            &self.bytes[start - 1..]
        };
        let mut last = 0;
        std::iter::from_fn(move || {
            let coded = pull(&mut rest)?.checked_sub(1)?;
            last += (coded >> 2) as u32;
            Some((last, EdgeKind::ALL[(coded & 3) as usize]))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn kind() -> impl Strategy<Value = EdgeKind> {
        (0_usize..4).prop_map(|i| EdgeKind::ALL[i])
    }

    proptest! {
        #[test]
        fn edges_are_read_back(pages in proptest::collection::btree_map(0_u32..50, proptest::collection::vec((prop_oneof![0_u32..20, any::<u32>()], kind()), 0..30), 0..20)) {
            let mut edges = Edges::default();
            let mut expected = BTreeMap::new();
            for (page, targets) in &pages {
                edges.add(*page, &mut targets.clone());
                let mut targets = targets.clone();
                targets.sort();
                targets.dedup();
                let followed: Vec<u32> = targets.iter().filter(|(_, k)| *k == EdgeKind::Follow).map(|(t, _)| *t).collect();
                targets.retain(|(t, k)| *k != EdgeKind::NoFollow || !followed.contains(t));
                expected.insert(*page, targets);
            }
            for page in 0..50 {
                let found: Vec<_> = edges.targets_of(page).collect();
                prop_assert_eq!(found, expected.remove(&page).unwrap_or_default());
            }
        }
    }
}

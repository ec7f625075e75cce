//! Groups of near-duplicate pages, found without comparing every pair.

use searchwright_text::minhash::Sketch;

use crate::page::UrlId;

/// Number of preceding entries of a bucket that an entry is compared with; larger buckets come from shared templates.
const MAX_COMPARED: usize = 32;

/// Pages by group.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// Pairs of a group, named by its first page, and a page; sorted.
    members: Vec<(u32, u32)>,
    /// A page, its group, and its similarity to the most similar page of the group in percent; sorted.
    places: Vec<(u32, u32, u8)>,
}

/// The group of one page.
pub(crate) struct Group<'a> {
    /// Page with the lowest id.
    pub first: UrlId,
    /// Similarity to the most similar page of the group, in percent.
    pub percent: u8,
    members: &'a [(u32, u32)],
}

impl Group<'_> {
    /// Returns all pages of the group, by id.
    pub fn members(&self) -> impl Iterator<Item = UrlId> + '_ {
        self.members.iter().map(|(_, id)| UrlId(*id))
    }
}

impl Groups {
    pub fn group_of(&self, id: UrlId) -> Option<Group<'_>> {
        let place = self.places.binary_search_by_key(&id.0, |place| place.0).ok()?;
        let (_, first, percent) = self.places[place];
        let start = self.members.partition_point(|(group, _)| *group < first);
        let end = self.members.partition_point(|(group, _)| *group <= first);
        Some(Group {
            first: UrlId(first),
            percent,
            members: &self.members[start..end],
        })
    }
}

/// Union-find over items that prove similar, pair by pair.
pub(super) struct Pairs {
    parents: Vec<u32>,
    /// Highest similarity of each item to another, 0 to 1.
    best: Vec<f64>,
}

impl Pairs {
    pub fn new(count: usize) -> Self {
        Self {
            parents: (0..count as u32).collect(),
            best: vec![0.0; count],
        }
    }

    fn root(&mut self, of: usize) -> usize {
        let mut at = of;
        while self.parents[at] as usize != at {
            self.parents[at] = self.parents[self.parents[at] as usize];
            at = self.parents[at] as usize;
        }
        at
    }

    fn join(&mut self, a: usize, b: usize, alike: f64) {
        for i in [a, b] {
            if alike > self.best[i] {
                self.best[i] = alike;
            }
        }
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b) as u32;
    }

    /// Compares each entry of a bucket with some of those before it.
    pub fn compare(&mut self, bucket: &[(u32, u32)], mut alike: impl FnMut(usize, usize) -> Option<f64>) {
        for (at, (_, i)) in bucket.iter().enumerate() {
            for (_, before) in &bucket[at.saturating_sub(MAX_COMPARED)..at] {
                let (a, b) = (*before as usize, *i as usize);
                // already in one group: pages with a shared template have all buckets in common
                if self.best[b] > 0.0 && self.root(a) == self.root(b) {
                    continue;
                }
                if let Some(alike) = alike(a, b) {
                    self.join(a, b, alike);
                }
            }
        }
    }

    /// Returns the groups of pages that the items stand for. `pages` are sorted by item. Several pages of a single item
    /// form a group only if `same` is true.
    pub fn groups(mut self, pages: &[(u32, u32)], same: bool) -> Groups {
        let mut members: Vec<(u32, u32)> = pages
            .iter()
            .map(|(thing, id)| (self.root(*thing as usize) as u32, *id))
            .collect();
        // indexed by the root of a group
        let mut sizes = vec![0_u32; self.parents.len()];
        let mut last = None;
        for ((thing, _), (root, _)) in pages.iter().zip(&members) {
            sizes[*root as usize] += u32::from(same || last != Some(thing));
            last = Some(thing);
        }
        let best = pages.iter().map(|(thing, _)| self.best[*thing as usize]);
        let placed = best
            .zip(&members)
            .filter(|(_, (root, _))| sizes[*root as usize] > 1);
        let mut places: Vec<(u32, u32, u8)> = placed
            .map(|(best, (root, id))| {
                // without a similar item, the similar pages are those of the same item
                let share = if best > 0.0 { best } else { 1.0 };
                (*id, *root, (share * 100.0).round() as u8)
            })
            .collect();
        members.retain(|(root, _)| sizes[*root as usize] > 1);
        // a group is named by its first page instead of its union-find root
        let mut first = sizes;
        first.fill(u32::MAX);
        for (root, id) in &members {
            let first = &mut first[*root as usize];
            *first = (*first).min(*id);
        }
        members
            .iter_mut()
            .for_each(|(root, _)| *root = first[*root as usize]);
        places
            .iter_mut()
            .for_each(|(_, root, ..)| *root = first[*root as usize]);
        members.sort_unstable();
        places.sort_unstable();
        members.shrink_to_fit();
        places.shrink_to_fit();
        Groups { members, places }
    }
}

/// Returns runs of two or more entries with the same key.
pub(super) fn buckets(entries: &[(u32, u32)]) -> impl Iterator<Item = &[(u32, u32)]> {
    entries
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|bucket| bucket.len() > 1)
}

/// Groups pages whose texts share at least this share of shingles, estimated from their sketches. Pages with the same
/// hash `text` are compared as one, and form no group by themselves.
pub(super) fn near(mut sketches: Vec<(u32, Sketch)>, least: f64, text: impl Fn(u32) -> u64) -> Groups {
    sketches.sort_unstable_by_key(|(id, _)| (text(*id), *id));
    // the first page of each text stands for all
    let (mut things, mut pages): (Vec<u32>, _) = (Vec::new(), Vec::with_capacity(sketches.len()));
    let mut last = 0;
    for (place, (id, _)) in sketches.iter().enumerate() {
        if things.is_empty() || text(*id) != last {
            things.push(place as u32);
        }
        last = text(*id);
        pages.push((things.len() as u32 - 1, *id));
    }
    let sketch = |thing: usize| &sketches[things[thing] as usize].1;
    let mut pairs = Pairs::new(things.len());
    let mut entries: Vec<(u32, u32)> = Vec::new();
    for band in 0..Sketch::BANDS {
        entries.clear();
        entries.extend((0..things.len()).map(|thing| (sketch(thing).bands()[band], thing as u32)));
        entries.sort_unstable();
        for bucket in buckets(&entries) {
            pairs.compare(bucket, |a, b| {
                Some(sketch(a).similarity(sketch(b))).filter(|alike| *alike >= least)
            });
        }
    }
    pairs.groups(&pages, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a text of 300 words, some of which are changed.
    fn text(version: usize, changed: impl Fn(usize) -> bool) -> String {
        let word = |i| format!("w{version}x{i}{} ", if changed(i) { "b" } else { "" });
        (0..300).map(word).collect()
    }

    fn groups(texts: &[String], hash: impl Fn(u32) -> u64) -> Groups {
        let sketches = (0..)
            .zip(texts)
            .map(|(id, text)| (id, Sketch::from_text(text).unwrap()));
        near(sketches.collect(), 0.9, hash)
    }

    #[test]
    fn share_of_common_runs_decides() {
        let mut near = [0, 0];
        for version in 0..400 {
            // one changed word makes 5 of 296 shingles differ: 0.967 of all are common, and 0.71 with ten changed words
            for (far, changes) in [1, 10].into_iter().enumerate() {
                let texts = [
                    text(version, |_| false),
                    text(version, |i| i % (300 / changes) == 15),
                ];
                let groups = groups(&texts, |id| u64::from(id) + 1);
                let group = groups.group_of(UrlId(1));
                assert!(group.as_ref().is_none_or(|group| group.percent >= 90));
                near[far] += u32::from(group.is_some());
            }
        }
        assert!(near[0] > 390 && near[1] < 2, "{near:?}");
    }

    #[test]
    fn copies_are_one_text_and_no_group_by_themselves() {
        let texts = [
            text(1, |_| false),
            text(1, |_| false),
            text(1, |i| i == 150),
            text(2, |_| false),
            text(2, |_| false),
        ];
        let found = groups(&texts, |id| [1, 1, 2, 3, 3][id as usize]);
        let members = |id| found.group_of(UrlId(id)).map(|group| group.members().count());
        assert_eq!(
            [0, 1, 2, 3, 4].map(members),
            [Some(3), Some(3), Some(3), None, None]
        );
    }
}

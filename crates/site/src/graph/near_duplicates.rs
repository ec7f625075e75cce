//! Groups of pages that are nearly the same, found without comparing each with each.

use std::collections::{HashMap, HashSet};

use searchwright_text::{
    minhash::Sketch,
    shingles::{RunSet, Tokens},
};

use crate::page::UrlId;

/// Others of a bucket that one is compared with; buckets of more come of templates that all pages share.
const COMPARED: usize = 32;

/// Runs of words that are in memory at once, four bytes each: those of two thousand pages of two thousand words.
const MAX_RUNS: usize = 4_000_000;

/// The runs of words of some pages, each to be compared with others.
#[derive(Debug, Default)]
pub struct KnownRuns {
    of: HashMap<UrlId, RunSet>,
    count: usize,
}

impl KnownRuns {
    /// Adds those of a page, or puts them in the place of what was added before. Beyond some megabytes they are left out: such
    /// pages are compared by their sketches.
    pub fn add(&mut self, page: UrlId, tokens: &Tokens) {
        self.count -= self.of.remove(&page).map_or(0, |before| before.count());
        if self.count + tokens.count() <= MAX_RUNS {
            let runs = tokens.runs();
            self.count += runs.count();
            self.of.insert(page, runs);
        }
    }
}

/// Pages by group.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// Group, named by its first page, and page; sorted.
    members: Vec<(u32, u32)>,
    /// Page, its group, and how alike it is to the page of the group most like it, percent, counted or not; sorted.
    places: Vec<(u32, u32, u8, bool)>,
}

/// The group of one page.
pub(crate) struct Group<'a> {
    /// The page with the lowest id.
    pub first: UrlId,
    /// Similarity to the page most like it, percent.
    pub percent: u8,
    /// That was counted, not estimated.
    pub counted: bool,
    members: &'a [(u32, u32)],
}

impl Group<'_> {
    /// Every page of the group, by id.
    pub fn members(&self) -> impl Iterator<Item = UrlId> + '_ {
        self.members.iter().map(|(_, id)| UrlId(*id))
    }
}

impl Groups {
    pub fn group_of(&self, id: UrlId) -> Option<Group<'_>> {
        let place = self.places.binary_search_by_key(&id.0, |place| place.0).ok()?;
        let (_, first, percent, counted) = self.places[place];
        let start = self.members.partition_point(|(group, _)| *group < first);
        let end = self.members.partition_point(|(group, _)| *group <= first);
        Some(Group {
            first: UrlId(first),
            percent,
            counted,
            members: &self.members[start..end],
        })
    }
}

/// Similarity of two things, and whether it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(super) struct Similarity {
    /// 0 to 1.
    pub share: f64,
    pub counted: bool,
}

impl Similarity {
    pub const fn counted(share: f64) -> Self {
        Self { share, counted: true }
    }
}

/// Things that turn out to be alike, pair by pair.
pub(super) struct Pairs {
    parents: Vec<u32>,
    best: Vec<Similarity>,
}

impl Pairs {
    pub fn new(count: usize) -> Self {
        Self {
            parents: (0..count as u32).collect(),
            best: vec![Similarity::default(); count],
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

    fn join(&mut self, a: usize, b: usize, alike: Similarity) {
        for i in [a, b] {
            if alike > self.best[i] {
                self.best[i] = alike;
            }
        }
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b) as u32;
    }

    /// Compares those of a bucket with some that came before.
    pub fn compare(
        &mut self,
        bucket: &[(u32, u32)],
        mut alike: impl FnMut(usize, usize) -> Option<Similarity>,
    ) {
        for (at, (_, i)) in bucket.iter().enumerate() {
            for (_, before) in &bucket[at.saturating_sub(COMPARED)..at] {
                let (a, b) = (*before as usize, *i as usize);
                // nothing more to learn: of a template all pages share all buckets
                if self.best[b].share > 0.0 && self.root(a) == self.root(b) {
                    continue;
                }
                if let Some(alike) = alike(a, b) {
                    self.join(a, b, alike);
                }
            }
        }
    }

    /// Groups of the pages that the things stand for. `pages` are sorted by thing; those of one thing are alike for
    /// themselves only where `same` says so.
    pub fn groups(mut self, pages: &[(u32, u32)], same: bool) -> Groups {
        let mut members: Vec<(u32, u32)> = pages
            .iter()
            .map(|(thing, id)| (self.root(*thing as usize) as u32, *id))
            .collect();
        // by what stands for a group
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
        let mut places: Vec<(u32, u32, u8, bool)> = placed
            .map(|(best, (root, id))| {
                // its like are the pages of the same thing
                let Similarity { share, counted } = if best.share > 0.0 {
                    best
                } else {
                    Similarity::counted(1.0)
                };
                (*id, *root, (share * 100.0).round() as u8, counted)
            })
            .collect();
        members.retain(|(root, _)| sizes[*root as usize] > 1);
        // a group is named by its first page, not by whatever stands for it here
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

/// Runs of entries with the same key, of two or more.
pub(super) fn buckets(entries: &[(u32, u32)]) -> impl Iterator<Item = &[(u32, u32)]> {
    entries
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|bucket| bucket.len() > 1)
}

/// One page for each text that shares a band with another text, by id.
pub(super) fn in_one_band(sketches: &HashMap<u32, Sketch>, text: impl Fn(u32) -> u64) -> Vec<UrlId> {
    let mut texts: Vec<(u64, u32)> = sketches.keys().map(|id| (text(*id), *id)).collect();
    texts.sort_unstable();
    texts.dedup_by_key(|(text, _)| *text);
    let mut found: HashSet<u32> = HashSet::new();
    for band in 0..Sketch::BANDS {
        let entries = texts.iter().map(|(_, id)| (sketches[id].bands()[band], *id));
        let mut entries: Vec<(u32, u32)> = entries.collect();
        entries.sort_unstable();
        found.extend(buckets(&entries).flatten().map(|(_, id)| *id));
    }
    let mut found: Vec<UrlId> = found.into_iter().map(UrlId).collect();
    found.sort_unstable();
    found
}

/// An estimate that is lower by more than this, five standard errors, is not of texts that are as alike as is asked.
const DOUBT: f64 = 0.15;

/// Pages whose texts have at least this share of word runs in common: counted where the runs of both are known, otherwise as
/// far as their sketches tell. Pages with one text, told by `text`, are compared as one, and make no group by themselves.
pub(super) fn near(
    mut sketches: Vec<(u32, Sketch)>,
    known: &KnownRuns,
    least: f64,
    text: impl Fn(u32) -> u64,
) -> Groups {
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
    // a page has the runs of another with its text
    let known = known.of.iter().map(|(id, runs)| (text(id.0), runs));
    let known: HashMap<u64, &RunSet> = known.collect();
    let runs = |thing: usize| known.get(&text(sketches[things[thing] as usize].0));
    // pages of one template meet in every band
    let mut counted: HashMap<(usize, usize), f64> = HashMap::new();
    let mut pairs = Pairs::new(things.len());
    let mut entries: Vec<(u32, u32)> = Vec::new();
    for band in 0..Sketch::BANDS {
        entries.clear();
        entries.extend((0..things.len()).map(|thing| (sketch(thing).bands()[band], thing as u32)));
        entries.sort_unstable();
        for bucket in buckets(&entries) {
            pairs.compare(bucket, |a, b| {
                let estimate = sketch(a).similarity(sketch(b));
                let alike = match (runs(a), runs(b)) {
                    _ if estimate < least - DOUBT => return None,
                    (Some(one), Some(other)) => {
                        let share = counted.entry((a, b)).or_insert_with(|| one.similarity(other));
                        Similarity::counted(*share)
                    }
                    _ => Similarity {
                        share: estimate,
                        counted: false,
                    },
                };
                Some(alike).filter(|alike| alike.share >= least)
            });
        }
    }
    pairs.groups(&pages, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(version: usize, changed: impl Fn(usize) -> bool) -> String {
        let word = |i| format!("w{version}x{i}{} ", if changed(i) { "b" } else { "" });
        (0..300).map(word).collect()
    }

    fn tokens(text: &str) -> Tokens {
        Sketch::scan(text, true).tokens.unwrap()
    }

    /// Similarity of the second page to the first, percent, and whether that was counted.
    fn found(texts: &[String; 2], kept: usize) -> Option<(u8, bool)> {
        let sketches = (0..)
            .zip(texts)
            .map(|(id, text)| (id, Sketch::from_text(text).unwrap()));
        let mut runs = KnownRuns::default();
        for (id, text) in (0..).zip(&texts[..kept]) {
            runs.add(UrlId(id), &tokens(text));
        }
        let groups = near(sketches.collect(), &runs, 0.9, |id| u64::from(id) + 1);
        groups
            .group_of(UrlId(1))
            .map(|group| (group.percent, group.counted))
    }

    #[test]
    fn only_texts_that_share_a_band_are_asked_for() {
        let texts = [
            text(1, |_| false),
            text(1, |i| i % 100 == 50),
            text(2, |_| false),
            text(1, |_| false),
            text(3, |_| false),
            text(3, |_| false),
        ];
        let sketches = (0..)
            .zip(&texts)
            .map(|(id, text)| (id, Sketch::from_text(text).unwrap()));
        // the fourth and the sixth are copies
        let of = [1, 2, 3, 1, 4, 4];
        let asked = in_one_band(&sketches.collect(), |id| of[id as usize]);
        assert_eq!(asked, [UrlId(0), UrlId(1)]);
    }

    #[test]
    fn copies_are_counted_by_the_runs_of_one() {
        let texts = [text(1, |_| false), text(1, |_| false), text(1, |i| i % 100 == 50)];
        let sketches = (0..)
            .zip(&texts)
            .map(|(id, text)| (id, Sketch::from_text(text).unwrap()));
        let mut runs = KnownRuns::default();
        for id in [1, 2] {
            runs.add(UrlId(id), &tokens(&texts[id as usize]));
        }
        let groups = near(sketches.collect(), &runs, 0.9, |id| u64::from(id / 2) + 1);
        let counted = [0, 1, 2].map(|id| groups.group_of(UrlId(id)).unwrap().counted);
        assert_eq!(counted, [true; 3]);
    }

    #[test]
    fn more_runs_than_memory_is_for_are_left_out() {
        let long: String = (0..19_000).map(|i| format!("w{i} ")).collect();
        let (long, short) = (tokens(&long), tokens("one two three four five"));
        let mut runs = KnownRuns::default();
        for _ in 0..2 {
            (0..400).for_each(|id| runs.add(UrlId(id), &long));
        }
        let of_each = long.runs().count();
        let most = MAX_RUNS / of_each;
        assert_eq!((runs.of.len(), runs.count), (most, most * of_each));
        (0..400).for_each(|id| runs.add(UrlId(id), &short));
        assert_eq!((runs.of.len(), runs.count), (400, 400));
    }

    #[test]
    fn counted_similarity_replaces_estimate() {
        let (mut missed, mut wrong) = (0, 0);
        for version in 0..400 {
            // 3 or 4 changed words of 300 make 15 or 20 other runs: 0.904 or 0.873 are the same
            let changes = 3 + version % 2;
            let texts = [
                text(version, |_| false),
                text(version, |i| i % (300 / changes) == 50),
            ];
            let runs = |text| tokens(text).runs();
            let truth = runs(&texts[0]).similarity(&runs(&texts[1]));
            let percent = (truth * 100.0).round() as u8;
            assert_eq!(
                found(&texts, 2),
                (truth >= 0.9).then_some((percent, true)),
                "{truth}"
            );
            match found(&texts, 1) {
                Some((_, counted)) => {
                    assert!(!counted, "the runs of one are not enough");
                    wrong += u32::from(truth < 0.9);
                }
                None => missed += u32::from(truth >= 0.9),
            }
        }
        assert!(
            missed > 10 && wrong > 10,
            "estimates err on both sides: {missed} {wrong}"
        );
    }
}

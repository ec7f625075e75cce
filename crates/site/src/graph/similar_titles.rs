//! Pages about the same topic, judged by titles and first headings.

use hashbrown::{HashMap, HashSet};
use searchwright_text::{self as text, is_cjk};

use super::near_duplicates::{Groups, Pairs, buckets};
use crate::page::HtmlFacts;

/// Maximum number of words kept of title and heading, and of each part of them.
const WORDS: usize = 24;
/// Minimum number of words for a comparison.
const MIN_WORDS: usize = 2;
/// Separators between a title and the name of its site.
const SEPARATORS: [&str; 5] = [" | ", " – ", " — ", " · ", " - "];
/// Bit of words with a digit, which distinguish the parts of a series.
const NUMBER: u32 = 1 << 31;

/// Purpose of a page, as far as it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Intent {
    Unknown,
    /// Content to read.
    Article,
    /// An offer to buy.
    Product,
}

/// Title words of all indexable pages.
#[derive(Debug, Default)]
pub(super) struct TitleWords {
    /// Pairs of a page and a value made of its language and intent; [`NONE`] replaces a page that was removed.
    pages: Vec<(u32, u32)>,
    /// Ends of the parts of each page.
    ends: Vec<[u32; PARTS]>,
    /// Hashes of words, ascending per part.
    words: Vec<u32>,
}

const NONE: u32 = u32::MAX;
/// Parts of a page: the title up to its first separator, that between the first and the last separator, that after the
/// last one, and the first heading.
const PARTS: usize = 4;
/// Share of pages, in percent, in which a word is that of the site, and the least number of such pages: nearly all of a
/// small site, or half of a larger one.
const NEARLY_ALL: (usize, usize) = (90, 3);
const HALF: (usize, usize) = (50, 8);

impl TitleWords {
    pub fn add(
        &mut self,
        id: u32,
        html: &HtmlFacts,
        title: Option<&str>,
        h1: Option<&str>,
        language: [u8; 2],
    ) {
        let start = self.words.len();
        let [first, middle, last] = split(title.unwrap_or_default());
        let mut ends = [0; PARTS];
        for (part, end) in [first, middle, last, h1.unwrap_or_default()]
            .into_iter()
            .zip(&mut ends)
        {
            let from = self.words.len();
            self.words.extend(words(&text::folded(part)));
            let own = distinct(&mut self.words, from).min(from + WORDS);
            self.words.truncate(own);
            *end = own as u32;
        }
        let mut all = self.words[start..].to_vec();
        if distinct(&mut all, 0) < MIN_WORDS {
            self.words.truncate(start);
            return;
        }
        let [a, b] = language.map(u32::from);
        self.pages.push((id, a << 16 | b << 8 | intent(html) as u32));
        self.ends.push(ends);
    }

    /// Removes a page, because it is added again.
    pub fn remove(&mut self, id: u32) {
        if let Some(page) = self.pages.iter_mut().find(|page| page.0 == id) {
            page.0 = NONE;
        }
    }

    /// Removes pages that do not count any more.
    pub fn retain(&mut self, counts: impl Fn(u32) -> bool) {
        for page in self
            .pages
            .iter_mut()
            .filter(|page| page.0 != NONE && !counts(page.0))
        {
            page.0 = NONE;
        }
    }

    fn part(&self, i: usize, part: usize) -> &[u32] {
        let ends = self.ends.get(i).copied().unwrap_or_default();
        let start = match part.checked_sub(1) {
            Some(before) => ends[before],
            None => i
                .checked_sub(1)
                .and_then(|before| self.ends.get(before))
                .map_or(0, |ends| ends[PARTS - 1]),
        };
        &self.words[start as usize..ends[part] as usize]
    }

    /// Returns the words of the site: those in the titles or headings of nearly all pages of a small site, or of half the
    /// pages of a larger one.
    fn site_words(&self) -> HashSet<u32> {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        let mut all = Vec::new();
        let live = (0..self.pages.len()).filter(|i| self.pages[*i].0 != NONE);
        let pages = live.clone().count();
        for i in live {
            all.clear();
            (0..PARTS).for_each(|part| all.extend_from_slice(self.part(i, part)));
            let count = distinct(&mut all, 0);
            for word in &all[..count] {
                *counts.entry(*word).or_default() += 1;
            }
        }
        let is_common = |count: usize| {
            [NEARLY_ALL, HALF]
                .iter()
                .any(|(share, least)| count >= *least && count * 100 >= pages * share)
        };
        let common = counts.into_iter().filter(|(_, count)| is_common(*count));
        common.map(|(word, _)| word).collect()
    }

    /// Returns the words of each page that name its topic: those of title and heading, without the name of the site and
    /// words that all its pages have, unless there are no others.
    fn topics(&self) -> Topics {
        let of_site = self.site_words();
        let is_of_site = |words: &[u32]| words.iter().all(|word| of_site.contains(word));
        let mut topics = Topics::default();
        for i in 0..self.pages.len() {
            let from = topics.words.len();
            let [first, middle, last, h1] = [0, 1, 2, 3].map(|part| self.part(i, part));
            // the name of the site comes last, if it does not certainly come first
            let title = if last.is_empty() {
                [first, &[]]
            } else if is_of_site(first) && !is_of_site(last) {
                [middle, last]
            } else {
                [first, middle]
            };
            let chosen = title.into_iter().chain([h1]).flatten().copied();
            topics
                .words
                .extend(chosen.clone().filter(|word| !of_site.contains(word)));
            if topics.words.len() == from {
                topics.words.extend(chosen);
            }
            let kept = distinct(&mut topics.words, from).min(from + WORDS);
            topics.words.truncate(kept);
            topics.ends.push(kept);
        }
        topics
    }

    /// Groups pages in one language and with one intent that share at least this share of words, and all numbers.
    ///
    /// Two such sets have a word in common among the few rarest words of each, so only those are looked up (Chaudhuri,
    /// Ganti and Kaushik, "A Primitive Operator for Similarity Joins in Data Cleaning", ICDE 2006).
    pub fn groups(self, least: f64) -> Groups {
        let topics = self.topics();
        let mut order: Vec<u32> = (0..self.pages.len() as u32)
            .filter(|i| self.pages[*i as usize].0 != NONE && !topics.words(*i as usize).is_empty())
            .collect();
        let set = |i: u32| TitleSet {
            kind: self.pages[i as usize].1,
            words: topics.words(i as usize),
        };
        order.sort_unstable_by(|a, b| set(*a).cmp(&set(*b)).then(a.cmp(b)));
        let (mut things, mut pages): (Vec<u32>, _) = (Vec::new(), Vec::with_capacity(order.len()));
        for i in order {
            if things.last().is_none_or(|last| set(*last) != set(i)) {
                things.push(i);
            }
            pages.push((things.len() as u32 - 1, self.pages[i as usize].0));
        }
        let mut counts: HashMap<u32, u32> = HashMap::new();
        for thing in &things {
            for word in set(*thing).words {
                *counts.entry(*word).or_default() += 1;
            }
        }
        let count = |word: &u32| counts.get(word).copied().unwrap_or(0);
        let looked_up = |words: usize| words - (least * words as f64).ceil() as usize + 1;
        // allocated exactly, since a large site has many entries
        let most = things.iter().map(|i| looked_up(set(*i).words.len())).sum();
        let mut entries: Vec<(u32, u32)> = Vec::with_capacity(most);
        let mut rare = Vec::new();
        for (thing, i) in things.iter().enumerate() {
            rare.clear();
            rare.extend_from_slice(set(*i).words);
            rare.sort_unstable_by_key(|word| (count(word), *word));
            let rarest = rare.iter().take(looked_up(rare.len()));
            // a word of a single set has no match
            let shared = rarest.filter(|word| count(word) > 1);
            entries.extend(shared.map(|word| (*word, thing as u32)));
        }
        entries.sort_unstable();
        let mut pairs = Pairs::new(things.len());
        for bucket in buckets(&entries) {
            pairs.compare(bucket, |a, b| {
                shared_words(set(things[a]), set(things[b])).filter(|share| *share >= least)
            });
        }
        pairs.groups(&pages, true)
    }
}

/// Words that name the topics of pages.
#[derive(Default)]
struct Topics {
    words: Vec<u32>,
    ends: Vec<usize>,
}

impl Topics {
    fn words(&self, i: usize) -> &[u32] {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[i]]
    }
}

/// Sorts the words from a position and moves the distinct ones to the front; returns their end.
fn distinct(words: &mut [u32], from: usize) -> usize {
    words[from..].sort_unstable();
    let mut kept = from;
    for i in from..words.len() {
        if kept == from || words[i] != words[kept - 1] {
            words[kept] = words[i];
            kept += 1;
        }
    }
    kept
}

/// Splits a title at its first and its last separator.
fn split(title: &str) -> [&str; 3] {
    let places =
        |separator: &&'static str| Some((title.find(separator)?, title.rfind(separator)?, separator.len()));
    let found: Vec<(usize, usize, usize)> = SEPARATORS.iter().filter_map(places).collect();
    let first = found.iter().map(|(first, _, length)| (*first, *length)).min();
    let last = found.iter().map(|(_, last, length)| (*last, *length)).max();
    let (Some((first, length)), Some((last, last_length))) = (first, last) else {
        return [title, "", ""];
    };
    let middle = title.get(first + length..last).unwrap_or_default();
    [&title[..first], middle, &title[last + last_length..]]
}

/// Words of a title and heading, with a value made of their language and intent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TitleSet<'t> {
    kind: u32,
    words: &'t [u32],
}

/// Returns the Jaccard similarity of two sets, or `None` if language, intent or numbers differ.
fn shared_words(a: TitleSet<'_>, b: TitleSet<'_>) -> Option<f64> {
    if a.kind != b.kind {
        return None;
    }
    let (a, b) = (a.words, b.words);
    let numbers = |words: &[u32]| words.partition_point(|word| *word < NUMBER);
    if a[numbers(a)..] != b[numbers(b)..] {
        return None;
    }
    let both = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    Some(both as f64 / (a.len() + b.len() - both) as f64)
}

/// Returns the words of a text. Several numbers make one more: their order tells the parts of a series apart, as in 1.2.1
/// and 1.1.2.
fn words(folded: &str) -> Vec<u32> {
    let words = folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let words = words.flat_map(|word| {
        // in scripts without spaces every character is a word
        let single = word.chars().next().is_some_and(is_cjk);
        let whole = (!single).then_some(word);
        let parts = single.then(|| word.split("").filter(|part| !part.is_empty()));
        whole.into_iter().chain(parts.into_iter().flatten()).map(hash)
    });
    let mut words: Vec<u32> = words.collect();
    let numbers: Vec<u8> = { words.iter() }
        .filter(|word| **word & NUMBER != 0)
        .flat_map(|word| word.to_le_bytes())
        .collect();
    if numbers.len() > 4 {
        words.push(text::hash(&numbers) as u32 | NUMBER);
    }
    words
}

fn hash(word: &str) -> u32 {
    let hash = text::hash(word.as_bytes()) as u32 & !NUMBER;
    let number = word.chars().any(char::is_numeric);
    hash | if number { NUMBER } else { 0 }
}

fn intent(html: &HtmlFacts) -> Intent {
    let named = |name: &str| match name {
        "product" | "og:product" => Intent::Product,
        "article" => Intent::Article,
        name if name.ends_with("Product") => Intent::Product,
        name if name.ends_with("Article") || name.ends_with("BlogPosting") => Intent::Article,
        _ => Intent::Unknown,
    };
    let metas = html.metas.iter().filter(|meta| &*meta.name == "og:type");
    let types = html.item_types.iter().map(|name| named(name));
    let said = metas.map(|meta| named(&meta.content)).chain(types);
    let marked = html.json_ld.iter().map(|block| {
        let has = |word: &str| memchr::memmem::find(block.source.as_bytes(), word.as_bytes()).is_some();
        if has("Product\"") {
            Intent::Product
        } else if has("Article\"") || has("BlogPosting\"") {
            Intent::Article
        } else {
            Intent::Unknown
        }
    });
    said.chain(marked)
        .find(|intent| *intent != Intent::Unknown)
        .unwrap_or(Intent::Unknown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;
    use crate::page::UrlId;

    fn groups(titles: &[&str]) -> Groups {
        let mut topics = TitleWords::default();
        for (id, title) in titles.iter().enumerate() {
            topics.add(id as u32, &HtmlFacts::default(), Some(title), None, *b"en");
        }
        topics.groups(0.8)
    }

    fn group(groups: &Groups, id: u32) -> Vec<u32> {
        groups
            .group_of(UrlId(id))
            .map(|group| group.members().map(|id| id.0).collect())
            .unwrap_or_default()
    }

    #[test]
    fn titles_in_other_words_are_other_topics() {
        let found = groups(&[
            "How to repair a lawn mower | Fern",
            "How to Repair a Lawn-Mower | Moss",
            "How to buy a cheap garden rake",
            "Our best lawn mower of all, model 3",
            "Our best lawn mower of all, model 4",
            "割草机修理方法",
            "割草机修理方法",
        ]);
        assert_eq!(group(&found, 1), [0, 1]);
        assert_eq!(group(&found, 2), [0; 0]);
        assert_eq!(group(&found, 3), [0; 0]);
        assert_eq!(group(&found, 5), [5, 6]);
    }

    #[test]
    fn the_name_of_the_site_is_no_topic() {
        /// Makes title and heading of a name and a topic.
        type Spelling = fn(&str, &str) -> (String, String);
        let name = "Rasenmäher Müller in Berlin Mitte";
        // at the end, at the beginning, within, and in a heading of every page
        let spellings: [Spelling; 4] = [
            |name, topic| (format!("{topic} | {name}"), name.to_owned()),
            |name, topic| (format!("{name} - {topic}"), String::new()),
            |name, topic| (format!("{name}: {topic}"), topic.to_owned()),
            |name, topic| (format!("{topic} | Shop | {name}"), format!("{name} {topic}")),
        ];
        for spelling in spellings {
            let mut topics = TitleWords::default();
            for (id, topic) in ["Blades", "Oil", "Wheels", "Oil", "Engines and oil"]
                .iter()
                .enumerate()
            {
                let (title, h1) = spelling(name, topic);
                topics.add(id as u32, &HtmlFacts::default(), Some(&title), Some(&h1), *b"de");
            }
            let found = topics.groups(0.8);
            assert_eq!(group(&found, 1), [1, 3], "{:?}", spelling(name, "x"));
            assert!(
                [0, 2, 4].iter().all(|id| group(&found, *id).is_empty()),
                "{:?}",
                spelling(name, "x")
            );
        }
    }

    #[test]
    fn titles_that_differ_in_numbers_are_parts_of_a_series() {
        let found = groups(&[
            "Release notes of version 1.2.1",
            "Release notes of version 1.1.2",
            "Release notes of version 2.1",
            "Release notes of version ١.٢",
            "Release notes of version 2.1",
        ]);
        assert_eq!(group(&found, 4), [2, 4]);
        assert!([0, 1, 3].iter().all(|id| group(&found, *id).is_empty()));
    }

    proptest! {
        #[test]
        fn none_is_missed(sets in proptest::collection::vec(proptest::collection::btree_set(0_u8..14, 2..9), 1..12)) {
            let titles: Vec<String> = sets.iter().map(|set| set.iter().map(|w| format!("{} ", char::from(b'a' + w))).collect()).collect();
            // so many others that no word is one of the site
            let others = (b'a'..=b'z').map(|c| format!("other{0} another{0}", char::from(c)));
            let titles: Vec<String> = titles.into_iter().chain(others).collect();
            let found = groups(&titles.iter().map(String::as_str).collect::<Vec<_>>());
            let jaccard = |a: usize, b: usize| sets[a].intersection(&sets[b]).count() as f64 / sets[a].union(&sets[b]).count() as f64;
            for a in 0..sets.len() {
                let alone = (0..sets.len()).all(|b| a == b || jaccard(a, b) < 0.8);
                prop_assert_eq!(found.group_of(UrlId(a as u32)).is_none(), alone);
            }
        }
    }
}

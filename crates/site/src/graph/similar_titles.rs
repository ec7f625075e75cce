//! Pages about the same topic, judged by titles and first headings.

use hashbrown::HashMap;
use searchwright_text::{self as text, is_cjk};

use super::near_duplicates::{Groups, Pairs, buckets};
use crate::page::HtmlFacts;

/// Maximum number of words kept of title and heading.
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
    ends: Vec<u32>,
    /// Hashes of words, ascending per page.
    words: Vec<u32>,
}

const NONE: u32 = u32::MAX;

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
        let title = title.map(|title| {
            let end = SEPARATORS
                .iter()
                .filter_map(|separator| title.rfind(separator))
                .max();
            &title[..end.unwrap_or(title.len())]
        });
        for text in [title, h1].into_iter().flatten() {
            self.words.extend(words(&text::folded(text)));
        }
        self.words[start..].sort_unstable();
        let mut kept = start;
        for i in start..self.words.len() {
            if kept == start || self.words[i] != self.words[kept - 1] {
                self.words[kept] = self.words[i];
                kept += 1;
            }
        }
        self.words.truncate(kept.min(start + WORDS));
        if self.words.len() - start < MIN_WORDS {
            self.words.truncate(start);
            return;
        }
        let [a, b] = language.map(u32::from);
        self.pages.push((id, a << 16 | b << 8 | intent(html) as u32));
        self.ends.push(self.words.len() as u32);
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

    fn words(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.words[start..self.ends[i] as usize]
    }

    /// Groups pages in one language and with one intent that share at least this share of words, and all numbers.
    ///
    /// Two such sets have a word in common among the few rarest words of each, so only those are looked up (Chaudhuri,
    /// Ganti and Kaushik, "A Primitive Operator for Similarity Joins in Data Cleaning", ICDE 2006).
    pub fn groups(self, least: f64) -> Groups {
        let mut order: Vec<u32> = (0..self.pages.len() as u32)
            .filter(|i| self.pages[*i as usize].0 != NONE)
            .collect();
        let set = |i: u32| TitleSet {
            kind: self.pages[i as usize].1,
            words: self.words(i as usize),
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

fn words(folded: &str) -> impl Iterator<Item = u32> + '_ {
    let words = folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.flat_map(|word| {
        // in scripts without spaces every character is a word
        let single = word.chars().next().is_some_and(is_cjk);
        let whole = (!single).then_some(word);
        let parts = single.then(|| word.split("").filter(|part| !part.is_empty()));
        whole.into_iter().chain(parts.into_iter().flatten()).map(hash)
    })
}

fn hash(word: &str) -> u32 {
    let hash = text::hash(word.as_bytes()) as u32 & !NUMBER;
    let number = word.bytes().any(|b| b.is_ascii_digit());
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

    proptest! {
        #[test]
        fn none_is_missed(sets in proptest::collection::vec(proptest::collection::btree_set(0_u8..14, 2..9), 1..12)) {
            let titles: Vec<String> = sets.iter().map(|set| set.iter().map(|w| format!("{} ", char::from(b'a' + w))).collect()).collect();
            let found = groups(&titles.iter().map(String::as_str).collect::<Vec<_>>());
            let jaccard = |a: usize, b: usize| sets[a].intersection(&sets[b]).count() as f64 / sets[a].union(&sets[b]).count() as f64;
            for a in 0..sets.len() {
                let alone = (0..sets.len()).all(|b| a == b || jaccard(a, b) < 0.8);
                prop_assert_eq!(found.group_of(UrlId(a as u32)).is_none(), alone);
            }
        }
    }
}

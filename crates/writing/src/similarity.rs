//! Share of one text that is in another, by runs of five words.

use std::collections::HashSet;

use searchwright_text::{folded, hash};
use unicode_segmentation::UnicodeSegmentation;

/// Words of a shingle.
const WIDTH: usize = 5;
/// Most of a text that may be found in one source.
pub const MAX_CONTAINED: f64 = 0.3;
/// Likeness from which on two pages are the same page to a search engine.
pub const NEAR_DUPLICATE: f64 = 0.5;

/// The set of the word runs of a text. Case, punctuation and white space do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles(HashSet<u64>);

impl Shingles {
    /// Collects the word runs of a plain text; a text with fewer words than a run has makes one run of all of them.
    pub fn from_text(text: &str) -> Self {
        let text = folded(text);
        let words: Vec<&str> = text.unicode_words().collect();
        if words.is_empty() {
            return Self::default();
        }
        let runs = words.windows(WIDTH.min(words.len()));
        Self(runs.map(|run| hash(run.join(" ").as_bytes())).collect())
    }

    /// Share of these that are in the other, too; 0 of none.
    pub fn contained_in(&self, other: &Self) -> f64 {
        if self.0.is_empty() {
            return 0.0;
        }
        self.0.intersection(&other.0).count() as f64 / self.0.len() as f64
    }

    /// Share of those of either that are in both (Jaccard); 0 of none.
    pub fn jaccard(&self, other: &Self) -> f64 {
        let both = self.0.intersection(&other.0).count();
        let either = self.0.len() + other.0.len() - both;
        if either == 0 {
            0.0
        } else {
            both as f64 / either as f64
        }
    }

    /// The smallest of them, at most so many, ascending: what near copies have in common.
    pub fn smallest(&self, most: usize) -> Vec<i64> {
        let mut all: Vec<i64> = self.0.iter().map(|hash| hash.cast_signed()).collect();
        all.sort_unstable();
        all.truncate(most);
        all
    }

    /// Number of different runs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the text had no words.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::Shingles;

    #[test]
    fn a_copied_half_is_half_contained() {
        let source = Shingles::from_text("one two three four five six seven eight");
        let copy = Shingles::from_text("One two, three four FIVE! six and then other words follow");
        // 7 runs, of which the first two are the source's
        assert_eq!(copy.len(), 7);
        assert!((copy.contained_in(&source) - 2.0 / 7.0).abs() < 1e-9);
        assert!((copy.jaccard(&source) - 2.0 / 9.0).abs() < 1e-9);
        assert_eq!(
            Shingles::from_text("Short text").contained_in(&Shingles::from_text("short text")),
            1.0
        );
        assert!(Shingles::from_text(" … ").is_empty());
    }

    proptest! {
        #[test]
        fn shares_are_shares(a in "[abc ]{0,60}", b in "[abc ]{0,60}") {
            let (a, b) = (Shingles::from_text(&a), Shingles::from_text(&b));
            for share in [a.contained_in(&b), a.jaccard(&b)] {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            prop_assert!(a.jaccard(&b) <= a.contained_in(&b) || a.is_empty());
            prop_assert!((a.jaccard(&b) - b.jaccard(&a)).abs() < 1e-12);
        }
    }
}

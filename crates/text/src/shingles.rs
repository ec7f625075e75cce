//! The words of a text, all of them: which share of its runs of words another text has too is counted with these, where a sketch
//! can only estimate it.

use serde::{Deserialize, Serialize};

use crate::word_hash::STEP;

/// Words of a run.
pub(crate) const RUN: usize = 5;

/// Words of one text that are kept; one with more is compared by its sketch. About 120 KB of English.
const MAX_WORDS: usize = 20_000;

/// The words of a text in their order (of Chinese and Japanese: its characters), 16 bits of a hash of each: one in 65,536 that
/// was changed is taken for what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens(Box<[u16]>);

/// The different runs of five words of a text, sorted, by 32 bits of their hashes: in a thousand words, two runs are taken for
/// the same once in some thousand texts.
#[derive(Debug)]
pub struct RunSet(Vec<u32>);

impl Tokens {
    /// Of the words of a text; `None` when these make no run, or are more than are kept.
    pub(crate) fn from_words(words: Vec<u16>) -> Option<Self> {
        (RUN..=MAX_WORDS)
            .contains(&words.len())
            .then(|| Self(words.into()))
    }

    /// To be compared.
    pub fn runs(&self) -> RunSet {
        let hash = |run: &[u16]| {
            let word = |run: u64, word: &u16| (run.rotate_left(16) ^ u64::from(*word)).wrapping_mul(STEP);
            (run.iter().fold(0, word) >> 32) as u32
        };
        let mut runs: Vec<u32> = self.0.windows(RUN).map(hash).collect();
        runs.sort_unstable();
        runs.dedup();
        RunSet(runs)
    }

    /// At most so many runs.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl RunSet {
    /// Number of different runs.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The share of runs of either text that are in both (Jaccard), 0 to 1.
    pub fn similarity(&self, other: &Self) -> f64 {
        let (mut mine, mut theirs) = (&*self.0, &*other.0);
        let mut both = 0_usize;
        while let ([a, rest @ ..], [b, others @ ..]) = (mine, theirs) {
            both += usize::from(a == b);
            (mine, theirs) = (
                if a <= b { rest } else { mine },
                if b <= a { others } else { theirs },
            );
        }
        both as f64 / (self.0.len() + other.0.len() - both) as f64
    }
}

/// Two bytes each, little-endian, as one piece.
impl Serialize for Tokens {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        let (words, rest) = bytes.as_chunks::<2>();
        let words = words.iter().map(|word| u16::from_le_bytes(*word)).collect();
        let whole = Self::from_words(words).filter(|_| rest.is_empty());
        whole.ok_or_else(|| serde::de::Error::custom("words are two bytes each, and make a run"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;
    use crate::{folding::folded_case, minhash::Sketch};

    fn text_of(words: &[u8]) -> (String, HashSet<Vec<u8>>) {
        let text: String = words.iter().map(|word| format!("word{word} ")).collect();
        (text, words.windows(5).map(<[u8]>::to_vec).collect())
    }

    fn tokens(text: &str) -> Option<Tokens> {
        Sketch::scan(text, true).tokens
    }

    proptest! {
        #[test]
        fn runs_are_those_counted_by_hand(
            a in proptest::collection::vec(0_u8..4, 5..120),
            b in proptest::collection::vec(0_u8..4, 5..120),
        ) {
            let ((a, runs_of_a), (b, runs_of_b)) = (text_of(&a), text_of(&b));
            let both = runs_of_a.intersection(&runs_of_b).count() as f64;
            let either = runs_of_a.union(&runs_of_b).count() as f64;
            let [a, b] = [a, b].map(|text| tokens(&text).unwrap().runs());
            prop_assert_eq!((a.count(), b.count()), (runs_of_a.len(), runs_of_b.len()));
            prop_assert!((a.similarity(&b) - both / either).abs() < 1e-9);
            prop_assert_eq!(a.similarity(&a), 1.0);
        }

        #[test]
        fn tokens_survive_storage(words in proptest::collection::vec("[a-zé木]{1,9}", 5..200)) {
            let tokens = tokens(&words.join(" ")).unwrap();
            let bytes = postcard::to_stdvec(&tokens).unwrap();
            prop_assert!(bytes.len() <= 2 * tokens.count() + 2);
            prop_assert_eq!(postcard::from_bytes::<Tokens>(&bytes).unwrap(), tokens);
        }

        #[test]
        fn any_text_has_some_or_none(text in "\\PC{0,300}", wanted in any::<bool>()) {
            let folded = folded_case(text);
            let read = Sketch::scan(&folded, wanted);
            prop_assert_eq!(read.tokens.is_some(), wanted && read.sketch.is_some());
            prop_assert_eq!(read.sketch, Sketch::from_text(&folded));
        }
    }

    #[test]
    fn too_many_or_broken_ones_are_none() {
        let long: String = (0..MAX_WORDS).map(|i| format!("w{i} ")).collect();
        assert!(tokens(&long).is_some());
        assert_eq!(tokens(&(long + "more")), None);
        assert_eq!(tokens("four words are few"), None);
        for broken in [0, 8, 9, 11] {
            let bytes = postcard::to_stdvec(&vec![1_u8; broken]).unwrap();
            assert!(postcard::from_bytes::<Tokens>(&bytes).is_err(), "{broken} bytes");
        }
    }

    #[test]
    fn words_that_differ_in_one_letter_are_not_taken_for_the_same() {
        let letters: Vec<char> = ('a'..='z').chain('0'..='9').collect();
        let word = "averylongwordthatisread";
        let mut taken = 0;
        for length in 1..word.len() {
            for at in 0..length {
                let mut seen = HashSet::new();
                for letter in &letters {
                    let changed = format!("{}{letter}{}", &word[..at], &word[at + 1..length]);
                    let of = tokens(&format!("{changed} two three four five")).unwrap();
                    taken += u32::from(!seen.insert(of.0[0]));
                }
            }
        }
        // by chance, of 36 letters each: 9,108 words, and 2.4 of them
        assert!(taken <= 10, "{taken}");
    }
}

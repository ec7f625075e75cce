//! The runs of words of a text, all of them: which share of theirs two texts have in common is counted with these, where a
//! sketch can only estimate it.

use serde::{Deserialize, Serialize};

use super::sketch;

/// Runs of one text that are kept; one with more is compared by its sketch. About as many words, 120 KB of English.
const MOST: usize = 20_000;

/// The runs of five words of a text (of Chinese and Japanese: of five characters), by 28 bits of their hashes: in a thousand
/// words, two runs are taken for the same once in five hundred texts. As the text has them: few are ever compared, and only
/// those are sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSet(Box<[u32]>);

/// The different runs of a text, sorted.
#[derive(Debug)]
pub struct Sorted(Vec<u32>);

impl RunSet {
    /// Of a folded text; `None` when it has fewer than five words, or more runs than are kept.
    pub(crate) fn of(folded: &str) -> Option<Self> {
        let all = sketch::all_runs(folded);
        (1..=MOST).contains(&all.len()).then(|| Self(all.into()))
    }

    /// To be compared.
    pub fn sorted(&self) -> Sorted {
        let mut runs = self.0.to_vec();
        runs.sort_unstable();
        runs.dedup();
        Sorted(runs)
    }

    /// How many there are, some more than once.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

impl Sorted {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
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

/// Four bytes each, little-endian, as one piece.
impl Serialize for RunSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|run| run.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for RunSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        let (runs, rest) = bytes.as_chunks::<4>();
        if runs.is_empty() || !rest.is_empty() {
            return Err(serde::de::Error::custom("runs are four bytes each, and some"));
        }
        Ok(Self(runs.iter().map(|run| u32::from_le_bytes(*run)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn of_words(words: &[u8]) -> (String, HashSet<Vec<u8>>) {
        let text: String = words.iter().map(|word| format!("word{word} ")).collect();
        (text, words.windows(5).map(<[u8]>::to_vec).collect())
    }

    proptest! {
        #[test]
        fn they_are_counted_as_by_hand(
            a in proptest::collection::vec(0_u8..4, 5..120),
            b in proptest::collection::vec(0_u8..4, 5..120),
        ) {
            let ((a, runs_of_a), (b, runs_of_b)) = (of_words(&a), of_words(&b));
            let both = runs_of_a.intersection(&runs_of_b).count() as f64;
            let either = runs_of_a.union(&runs_of_b).count() as f64;
            let (a, b) = (RunSet::of(&a).unwrap(), RunSet::of(&b).unwrap());
            let (a, b) = (a.sorted(), b.sorted());
            prop_assert_eq!((a.0.len(), b.0.len()), (runs_of_a.len(), runs_of_b.len()));
            prop_assert!((a.similarity(&b) - both / either).abs() < 1e-9);
            prop_assert_eq!(a.similarity(&a), 1.0);
        }

        #[test]
        fn what_is_stored_is_what_was(words in proptest::collection::vec("[a-zé木]{1,9}", 5..200)) {
            let runs = RunSet::of(&words.join(" ")).unwrap();
            let bytes = postcard::to_stdvec(&runs).unwrap();
            prop_assert!(bytes.len() <= 4 * runs.count() + 2);
            prop_assert_eq!(postcard::from_bytes::<RunSet>(&bytes).unwrap(), runs);
        }

        #[test]
        fn any_text_has_some_or_none(text in "\\PC{0,300}") {
            let folded = crate::text::folded_case(text);
            prop_assert!(RunSet::of(&folded).is_some() || sketch::Sketch::of(&folded).is_none());
        }
    }

    #[test]
    fn too_many_or_broken_ones_are_none() {
        let long: String = (0..MOST + 5).map(|i| format!("w{i} ")).collect();
        assert_eq!(RunSet::of(&long), None);
        assert_eq!(RunSet::of("four words are few"), None);
        for broken in [&[][..], &[1, 2, 3], &[1, 2, 3, 4, 5]] {
            let bytes = postcard::to_stdvec(&broken.to_vec()).unwrap();
            assert!(postcard::from_bytes::<RunSet>(&bytes).is_err(), "{broken:?}");
        }
    }
}

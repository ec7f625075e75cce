//! MinHash: a 64-byte sketch of a text, by which near-duplicates are found.
//!
//! The shingles of a text (runs of five words, or of five characters in Chinese and Japanese) are hashed once and
//! distributed over 128 bins; the four lowest bits of the smallest hash in each bin are kept. Empty bins borrow from
//! others (Shrivastava, "Optimal Densification for Fast and Accurate Minwise Hashing", ICML 2017), and the share of
//! bins in which two texts agree estimates the share of their common shingles (Li and König, "b-Bit Minwise Hashing",
//! WWW 2010). Eight bins form a band: texts that share nine of ten shingles almost certainly agree in at least one of
//! the 16 bands.

use serde::{Deserialize, Serialize};

use crate::{
    hashes::hash,
    plain_words::PlainWords,
    scripts::{is_alphanumeric, is_cjk},
    simd::{BLOCK, count, each_block},
    word_count::WordCount,
    word_hash::{STEP, near_hash, word_hash},
    words::count_words,
};

/// Number of words of a shingle.
const RUN: usize = 5;
const BINS: usize = 128;
/// Probability that a bin agrees by chance.
const CHANCE: f64 = 1.0 / 16.0;
/// Number of bits by which the hash of a word is rotated for each word after it, so that their order counts.
const TURN: u32 = 12;

/// MinHash sketch of a text: one number per band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub struct Sketch([u32; Self::BANDS]);

impl Sketch {
    /// Number of bands. Two texts that agree in none of them are not compared.
    pub const BANDS: usize = BINS / 8;

    /// Computes the sketch of a folded text; `None` if it has fewer than five words.
    pub fn from_text(folded: &str) -> Option<Self> {
        Self::scan(folded).sketch
    }

    /// Computes sketch and number of words of a folded text in one pass.
    pub fn scan(folded: &str) -> Scan {
        let mut runs = Runs::default();
        let words = runs.add_text(folded).unwrap_or_else(|| count_words(folded));
        Scan {
            sketch: runs.finish(),
            words,
        }
    }

    /// Returns the numbers of the bands.
    pub const fn bands(&self) -> [u32; Self::BANDS] {
        self.0
    }

    /// Estimates the share of common shingles among those of both texts (Jaccard), 0 to 1; its standard error is 0.03
    /// at 0.9.
    pub fn similarity(&self, other: &Self) -> f64 {
        let agreeing: u32 = self
            .0
            .iter()
            .zip(other.0)
            .map(|(a, b)| {
                let unlike = a ^ b;
                let any = unlike | unlike >> 1 | unlike >> 2 | unlike >> 3;
                8 - (any & 0x1111_1111).count_ones()
            })
            .sum();
        let share = f64::from(agreeing) / BINS as f64;
        ((share - CHANCE) / (1.0 - CHANCE)).max(0.0)
    }
}

/// Sketch and number of words of a text.
#[derive(Debug)]
pub struct Scan {
    /// Sketch; `None` for a text with fewer than five words.
    pub sketch: Option<Sketch>,
    /// Number of words, which may differ slightly from the number of words in shingles.
    pub words: WordCount,
}

impl From<Sketch> for Vec<u8> {
    fn from(sketch: Sketch) -> Self {
        sketch.0.iter().flat_map(|band| band.to_le_bytes()).collect()
    }
}

impl TryFrom<Vec<u8>> for Sketch {
    type Error = &'static str;

    fn try_from(bytes: Vec<u8>) -> Result<Self, Self::Error> {
        let (bands, rest) = bytes.as_chunks::<4>();
        let bands: [[u8; 4]; Self::BANDS] = bands.try_into().map_err(|_| "a sketch has 64 bytes")?;
        if !rest.is_empty() {
            return Err("a sketch has 64 bytes");
        }
        Ok(Self(bands.map(u32::from_le_bytes)))
    }
}

/// Maximum number of word hashes collected before their shingles are: those of a block, and of a word that began before
/// it.
const WORDS: usize = BLOCK / 2 + 1;

/// Collector of shingles.
struct Runs {
    smallest: [u32; BINS],
    /// Hashes of the words of the last shingle, oldest first, followed by new ones.
    hashes: [u64; RUN + WORDS],
    /// Hash of the last shingle: the hashes of its words, each rotated by the number of words after it.
    run: u64,
    words: usize,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            smallest: [u32::MAX; BINS],
            hashes: [0; RUN + WORDS],
            run: 0,
            words: 0,
        }
    }
}

impl Runs {
    /// Adds the shingles of new words.
    fn add(&mut self, new: usize) {
        // the first shingles would need words before the beginning
        let incomplete = (RUN - 1).saturating_sub(self.words).min(new);
        self.words += new;
        let steps = self.hashes[..RUN + new].windows(RUN + 1);
        let mut run = self.run;
        let mut turned = |step: &[u64]| {
            run = turn(run, step);
            run
        };
        steps.clone().take(incomplete).for_each(|step| _ = turned(step));
        for step in steps.skip(incomplete) {
            let run = turned(step).wrapping_mul(STEP);
            let bin = &mut self.smallest[(run >> (u64::BITS - BINS.ilog2())) as usize];
            *bin = (*bin).min((run >> 24) as u32);
        }
        self.run = run;
        self.hashes.copy_within(new..new + RUN, 0);
    }

    /// Adds the words of a folded text; returns their number if the text is plain.
    fn add_text(&mut self, folded: &str) -> Option<WordCount> {
        let text = folded.as_bytes();
        if text.is_ascii() {
            return Some(self.add_words(text));
        }
        // first bytes of most Chinese and Japanese characters
        if count(text, |b| matches!(b, 0xe3..=0xe9)) * 6 > text.len() {
            self.add_characters(folded);
        } else {
            self.add_words(text);
        }
        None
    }

    /// Adds words, here runs of letters and digits, whose boundaries are found one block at a time. Returns the number
    /// of words, which is valid for plain text.
    fn add_words(&mut self, text: &[u8]) -> WordCount {
        let (mut start, mut inside) = (0, 0);
        let mut plain = PlainWords::default();
        each_block(text, |at, block| {
            let parts = block.letters_and_digits();
            plain.take(text, at, block, parts);
            let before = parts << 1 | inside;
            let (mut begins, mut ends) = (parts & !before, before & !parts);
            let mut new = 0;
            let mut hashed = |hash| {
                self.hashes[RUN + new] = hash;
                new += 1;
            };
            // a word that began in an earlier block
            if inside != 0 && ends != 0 {
                hashed(word_hash(text, start, at + ends.trailing_zeros() as usize));
                ends &= ends - 1;
            }
            // the block and 16 bytes after it, which short words at its end are loaded with
            let near = text.get(at..).and_then(<[u8]>::first_chunk::<{ BLOCK + 16 }>);
            while ends != 0 {
                let (from, to) = (begins.trailing_zeros() as usize, ends.trailing_zeros() as usize);
                hashed(match near {
                    Some(near) => near_hash(near, from % BLOCK, to),
                    None => word_hash(text, at + from, at + to),
                });
                begins &= begins - 1;
                ends &= ends - 1;
            }
            if begins != 0 {
                start = at + begins.trailing_zeros() as usize;
            }
            inside = parts >> 63;
            self.add(new);
        });
        plain.total()
    }

    fn word(&mut self, word: u64) {
        self.hashes[RUN] = word;
        self.add(1);
    }

    fn add_characters(&mut self, text: &str) {
        for token in text.split(|c: char| !is_alphanumeric(c)) {
            let mut rest = token;
            while let Some(first) = rest.chars().next() {
                let length = if is_cjk(first) {
                    first.len_utf8()
                } else {
                    rest.find(is_cjk).unwrap_or(rest.len())
                };
                let (word, after) = rest.split_at(length);
                self.word(hash(word.as_bytes()));
                rest = after;
            }
        }
    }

    fn finish(self) -> Option<Sketch> {
        if self.words < RUN {
            return None;
        }
        let value = |bin: usize| Some(self.smallest[bin]).filter(|least| *least != u32::MAX);
        let mut sketch = Sketch([0; Sketch::BANDS]);
        for bin in 0..BINS {
            let borrowed = || {
                (1..=1 << 12)
                    .find_map(|turn| value((mixed((bin as u64) << 32 | turn) % BINS as u64) as usize))
            };
            // for a text of one or two shingles, whose bins the draw may never hit
            let next = || (1..BINS).find_map(|step| value((bin + step) % BINS));
            let least = value(bin).or_else(borrowed).or_else(next)?;
            sketch.0[bin / 8] |= (least & 15) << (4 * (bin % 8));
        }
        Some(sketch)
    }
}

/// Returns the hash of the next shingle: without the first word, and with one more.
fn turn(run: u64, step: &[u64]) -> u64 {
    let [gone, .., last] = step else { return run };
    run.rotate_left(TURN) ^ gone.rotate_left(TURN * RUN as u32) ^ last
}

fn mixed(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(STEP);
    x ^ x >> 29
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};

    use super::*;

    /// Creates a text of different words, some of which depend on `version`.
    fn text(words: usize, version: &str, changed: impl Fn(usize) -> bool) -> String {
        (0..words)
            .map(|i| {
                let version = if changed(i) { version } else { "" };
                format!("word{i}{version} ")
            })
            .collect()
    }

    fn jaccard(a: &str, b: &str) -> f64 {
        let runs = |text: &str| {
            let words: Vec<String> = text
                .split(' ')
                .filter(|w| !w.is_empty())
                .map(str::to_owned)
                .collect();
            words.windows(RUN).map(<[String]>::to_vec).collect::<HashSet<_>>()
        };
        let (a, b) = (runs(a), runs(b));
        a.intersection(&b).count() as f64 / a.union(&b).count() as f64
    }

    #[test]
    fn any_five_words_have_a_sketch() {
        for first in 0..2_000 {
            let text = format!("word{first} two three four five");
            assert!(Sketch::from_text(&text).is_some(), "{text}");
        }
        assert_eq!(Sketch::from_text("four words are few"), None);
    }

    proptest! {
        /// The rolling hash equals the hash computed from the words.
        #[test]
        fn a_run_is_its_words(words in proptest::collection::vec(proptest::num::u64::ANY, 0..40)) {
            let mut expected = [u32::MAX; BINS];
            for run in words.windows(RUN) {
                let run = run.iter().fold(0_u64, |run, word| run.rotate_left(TURN) ^ word).wrapping_mul(STEP);
                let bin = &mut expected[(run >> 57) as usize];
                *bin = (*bin).min((run >> 24) as u32);
            }
            let mut runs = Runs::default();
            words.iter().for_each(|word| runs.word(*word));
            prop_assert_eq!(runs.smallest, expected);
        }
    }

    #[test]
    fn an_estimate_is_near_the_truth() {
        for (words, every) in [(100, 40), (400, 100), (400, 30), (2_000, 200), (2_000, 12)] {
            let (mut error, mut worst) = (0.0, 0.0_f64);
            for version in 0..20 {
                let a = text(words, "", |_| false).replace("word", &format!("w{version}x"));
                let b = text(words, "b", |i| i % every == every / 2).replace("word", &format!("w{version}x"));
                let estimate = Sketch::from_text(&a)
                    .unwrap()
                    .similarity(&Sketch::from_text(&b).unwrap());
                let off = estimate - jaccard(&a, &b);
                error += off / 20.0;
                worst = worst.max(off.abs());
            }
            assert!(
                error.abs() < 0.04 && worst < 0.2,
                "{words} {every}: {error} {worst}"
            );
        }
    }

    #[test]
    fn texts_without_common_runs_are_not_similar() {
        let a = Sketch::from_text(&text(300, "", |_| false)).unwrap();
        let b = Sketch::from_text(&text(300, "b", |_| true)).unwrap();
        assert!(a.similarity(&b) < 0.15);
        assert_eq!(a.similarity(&a), 1.0);
        assert!(a.0.iter().zip(b.0).all(|(a, b)| *a != b));
        assert_eq!(Sketch::from_text("only four words here"), None);
    }

    #[test]
    fn chinese_is_compared_by_characters() {
        let a = "修理割草机并不难，只要有合适的工具和一点耐心。先从火花塞开始，它很容易够到。".repeat(2);
        let b = a.replacen("火花塞", "空气滤清器", 1);
        let (a, b) = (Sketch::from_text(&a).unwrap(), Sketch::from_text(&b).unwrap());
        assert!((0.5..1.0).contains(&a.similarity(&b)), "{}", a.similarity(&b));
    }

    #[test]
    fn stored_form_is_stable() {
        let sketch = Sketch::from_text("one two three four five six").unwrap();
        let bytes = postcard::to_stdvec(&sketch).unwrap();
        assert_eq!(bytes.len(), 65);
        assert_eq!(postcard::from_bytes::<Sketch>(&bytes).unwrap(), sketch);
        assert!(postcard::from_bytes::<Sketch>(&[2, 0, 0]).is_err());
    }

    proptest! {
        #[test]
        fn words_are_runs_of_their_parts(text in "([a-c0 .,ü]{0,100}[a-c]{0,150}){0,3}") {
            let mut expected = Runs::default();
            let is_part = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b >= 0x80;
            for word in text.as_bytes().split(|b| !is_part(b)).filter(|word| !word.is_empty()) {
                expected.word(word_hash(word, 0, word.len()));
            }
            let mut runs = Runs::default();
            let counted = runs.add_words(text.as_bytes());
            prop_assert_eq!(runs.words, expected.words);
            prop_assert_eq!((&runs.hashes[..RUN], runs.run, runs.smallest), (&expected.hashes[..RUN], expected.run, expected.smallest));
            if text.is_ascii() {
                prop_assert_eq!(counted.total(), crate::words(&text));
            }
        }

        #[test]
        fn punctuation_and_spaces_do_not_count(words in proptest::collection::vec("[a-z0-9é]{1,12}", 5..60), marks in "[ ,.!?()-]{1,3}") {
            let plain = words.join(" ");
            let marked = words.join(&marks);
            prop_assert_eq!(Sketch::from_text(&plain), Sketch::from_text(&marked));
        }

        #[test]
        fn any_text_has_one_or_none(text in proptest::collection::vec(proptest::char::any(), 0..80).prop_map(|c| c.into_iter().collect::<String>())) {
            if let Some(sketch) = Sketch::from_text(&text) {
                prop_assert!(sketch.similarity(&sketch) > 0.999);
            }
        }
    }
}

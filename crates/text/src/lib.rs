//! Words, sentences, readability and MinHash of text in any language.
//!
//! Three rules hold everywhere in this crate: a length is a number of extended grapheme clusters (what a reader calls a
//! character, in any script), a word is defined by UAX #29, and a hash is the same on every machine and in every
//! release, because it is stored.
//!
//! [`words`] hides three ways to count: plain text 64 bytes at a time ([`simd`]), other text character by character
//! with classes from a trie, and rare cases by `unicode-segmentation`, which is also the oracle of the tests.

mod abbreviations;
mod ascii_words;
mod folding;
mod graphemes;
mod hashes;
mod language_tag;
mod lines;
pub mod minhash;
mod pixels;
mod plain_words;
pub mod readability;
mod scripts;
mod sentences;
pub mod simd;
mod syllables;
mod unicode_words;
mod word_count;
mod word_hash;
mod words;

pub use folding::{end_word, fold_into, folded, folded_case, folded_hash, squeeze};
pub use graphemes::{cut, length};
pub use hashes::{hash, hash_long};
pub use language_tag::{primary, successor};
pub use lines::lines;
pub use pixels::{is_wide, title_pixels};
pub use scripts::{is_cjk, is_mostly_cjk};
pub use sentences::sentences;
pub use word_count::{CJK_CHARS_PER_WORD, WordCount};
pub use words::{count_words, has_more_words, words};

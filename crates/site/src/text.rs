//! Lengths, words and hashes of text.
//!
//! Three rules hold everywhere in this crate: a length is a number of extended grapheme clusters
//! (what a reader calls a character, whatever the alphabet), a word is what UAX #29 says it is,
//! and a hash is the same on every machine and in every release, because it is stored.

mod abbreviations;
mod ascii_words;
mod blocks;
mod pixels;
pub mod readability;
mod sentences;
pub mod sketch;
mod syllables;
pub mod tokens;
mod unicode_words;
mod word_hash;
mod words;

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;
use unicode_segmentation::UnicodeSegmentation;
use wide::u8x16;

pub(crate) use blocks::{BLOCK, count, each_block, find_near};
pub use pixels::{is_wide, title_pixels};
pub use sentences::sentences;
pub use words::{CJK_CHARS_PER_WORD, is_cjk, is_mostly_cjk, words};
pub(crate) use words::{Words, has_more_words};

/// What [`char::is_alphanumeric`] says, which looks long for the letters of Arabic, Chinese, Japanese and Korean.
pub(crate) fn is_alphanumeric(c: char) -> bool {
    let is_letter = matches!(c, '\u{620}'..='\u{657}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    is_letter || c.is_alphanumeric()
}

/// The primary subtag of a BCP 47 tag in lower case: `de` of `de-AT`.
pub fn primary(language: &str) -> String {
    let end = language.find(['-', '_']).unwrap_or(language.len());
    language[..end].to_ascii_lowercase()
}

/// The lines of a text that ends none with `\r`: their ends are looked for many bytes at a time.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> + Clone {
    let last = (!text.is_empty() && !text.ends_with('\n')).then_some(text.len());
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain(last);
    let mut start = 0;
    ends.map(move |end| {
        let line = &text[start..end];
        start = end + 1;
        line
    })
}

/// Extended grapheme clusters of a text.
pub fn length(text: &str) -> usize {
    if text.is_ascii() && !text.contains('\r') {
        return text.len();
    }
    text.graphemes(true).count()
}

/// The first `most` extended grapheme clusters of a text.
pub fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    // one byte more, which might be the beginning of a combining mark
    if text.as_bytes()[..=most].is_ascii() && !text[..=most].contains('\r') {
        return &text[..most];
    }
    match text.grapheme_indices(true).nth(most) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Appends `text` with every run of white space as one space; none at the start of `out`.
pub(crate) fn fold_into(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    if is_folded(bytes) {
        let skip = usize::from(bytes.first() == Some(&b' ') && ends_in_space(out));
        out.push_str(&text[skip..]);
        return;
    }
    let mut word = 0;
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        // one space behind a word is what it becomes
        let is_kept = match b {
            b' ' => at > word && bytes[at - 1] != b' ',
            0..b' ' | 0xc2 | 0xe1..=0xe3 => false,
            _ => true,
        };
        let space = if is_kept { 0 } else { space_at(bytes, at) };
        if space == 0 {
            at += 1;
            continue;
        }
        out.push_str(&text[word..at]);
        boundary(out);
        at += space;
        word = at;
    }
    out.push_str(&text[word..]);
}

/// Length of the white space character that begins here, 0 when none does.
fn space_at(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c' => 1,
        // U+0085 and U+00A0; U+1680; U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F; U+3000
        0xc2 => 2 * usize::from(matches!(bytes[at + 1], 0x85 | 0xa0)),
        0xe1 => 3 * usize::from(bytes[at + 1..at + 3] == [0x9a, 0x80]),
        0xe2 => {
            let space = matches!(
                (bytes[at + 1], bytes[at + 2]),
                (0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf) | (0x81, 0x9f)
            );
            3 * usize::from(space)
        }
        0xe3 => 3 * usize::from(bytes[at + 1..at + 3] == [0x80, 0x80]),
        _ => 0,
    }
}

/// Ends the word that `out` ends with.
pub(crate) fn boundary(out: &mut String) {
    if !ends_in_space(out) {
        out.push(' ');
    }
}

fn ends_in_space(out: &str) -> bool {
    matches!(out.as_bytes().last(), None | Some(b' '))
}

/// No control characters, no two spaces in a row, and no byte that white space outside ASCII begins with.
fn is_folded(text: &[u8]) -> bool {
    let there = text.len().min(16);
    !blocks::any(text, |bytes| {
        let is = |byte| bytes.simd_eq(u8x16::splat(byte));
        let range = |first, last| blocks::within(bytes, first, last);
        let odd = range(0, b' ' - 1) | is(0xc2) | range(0xe1, 0xe3);
        let spaces = is(b' ').to_bitmask();
        // zeros behind a short text are no control characters of it
        odd.to_bitmask() & ((1 << there) - 1) | spaces & spaces << 1 != 0
    })
}

/// White space folded, ends trimmed.
pub fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(&mut out, text);
    out.truncate(out.trim_end().len());
    out
}

/// White space folded, NFC, lower case: two texts that differ in none of what is left are the same text.
pub fn folded(text: &str) -> String {
    folded_case(squeeze(text))
}

/// The same, of a text whose white space is folded already.
pub(crate) fn folded_case(text: String) -> String {
    // below U+0300, and in most of Cyrillic, nothing composes
    // without a branch, so that the compiler makes vector instructions of it
    let composes = |b: u8| u8::from(b >= 0xcc) & u8::from(b.wrapping_sub(0xd0) > 1);
    if text.bytes().fold(0, |any, b| any | composes(b)) == 0 {
        return lower(text);
    }
    match ComposingNormalizerBorrowed::new_nfc().normalize(&text) {
        Cow::Borrowed(_) => lower(text),
        Cow::Owned(text) => lower(text),
    }
}

/// Lower case, character by character: unlike `str::to_lowercase`, a final sigma is any sigma.
fn lower(mut text: String) -> String {
    text.make_ascii_lowercase();
    // no character that begins with another byte has a lower case
    let may_be_upper = |bytes: u8x16| {
        let range = |first, last| blocks::within(bytes, first, last);
        range(0xc3, 0xd5) | range(0xe1, 0xe2) | range(0xea, 0xea) | range(0xee, 0xff)
    };
    // already lower case, or without case
    let is_lower = |c: char| matches!(c, 'ß'..='ÿ' | 'а'..='џ' | '\u{2000}'..='\u{20ff}');
    // mostly there is nothing to be changed, and no copy is made
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = blocks::position(&text.as_bytes()[at..], may_be_upper) {
        at += found;
        let Some(c) = text[at..].chars().next() else { break };
        if !is_lower(c) {
            if copied == 0 {
                out.reserve(text.len() + 8);
            }
            out.push_str(&text[copied..at]);
            out.extend(c.to_lowercase());
            copied = at + c.len_utf8();
        }
        at += c.len_utf8();
    }
    if copied == 0 {
        return text;
    }
    out.push_str(&text[copied..]);
    out
}

/// Hash of the folded text; 0 when nothing is left of it, and only then.
pub fn folded_hash(text: &str) -> u64 {
    let text = folded(text);
    if text.is_empty() { 0 } else { hash(text.as_bytes()) }
}

const SEED: u64 = 0xa076_1d64_78bd_642f;
const STEP: u64 = 0xe703_7ed1_a0b4_28db;

fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A 64-bit hash that never changes: multiply and fold, eight bytes at a time, little-endian (the
/// core of wyhash). Not for keys that an attacker may choose to collide; never 0.
pub fn hash(bytes: &[u8]) -> u64 {
    const LAST: u64 = 0x8ebc_6af0_9c88_c6e3;
    let (words, tail) = bytes.as_chunks::<8>();
    let mut state = SEED;
    for word in words {
        state = mix(state ^ u64::from_le_bytes(*word), STEP).wrapping_add(SEED);
    }
    let last = short(tail);
    state = mix(state ^ last, STEP ^ bytes.len() as u64);
    mix(state ^ SEED, LAST).max(1)
}

/// The same for a text of some kilobytes, in a quarter of the time and with another result: four hashes at a time, as none has
/// to wait for the others, and the hash of the four.
pub(crate) fn hash_long(bytes: &[u8]) -> u64 {
    let (blocks, tail) = bytes.as_chunks::<32>();
    let mut lanes = [SEED ^ bytes.len() as u64, !SEED, STEP, !STEP];
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = mix(*lane ^ u64::from_le_bytes(*word), STEP).wrapping_add(SEED);
        }
    }
    let all = lanes.iter().flat_map(|lane| lane.to_le_bytes());
    let all: Vec<u8> = all.chain(tail.iter().copied()).collect();
    hash(&all)
}

/// Up to seven bytes, little-endian. A copy into eight zeros is a call, which for most words costs more than the rest.
fn short(bytes: &[u8]) -> u64 {
    let from = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    let n = bytes.len();
    if let (Some(first), Some(last)) = (from(0), from(n.wrapping_sub(4))) {
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (n - 4))
    } else {
        let byte = |at: usize| bytes.get(at).map_or(0, |b| u64::from(*b) << (8 * at));
        byte(0) | byte(1) | byte(2)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{Strategy, prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn lines_are_those_of_the_standard_library(text in "[aé\n]{0,20}") {
            prop_assert_eq!(lines(&text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_character_is_a_grapheme_cluster() {
        assert_eq!(length("Ğ👨‍👩‍👧é"), 3);
        assert_eq!(cut("e\u{301}tat", 2), "e\u{301}t");
        assert_eq!(cut("abc", 5), "abc");
        assert_eq!(length("Заголовок"), 9);
    }

    #[test]
    fn folding_keeps_one_space() {
        assert_eq!(squeeze("  a\n\t b\u{a0}\u{3000}c  "), "a b c");
        let mut out = String::new();
        for part in ["one ", " two", "", "\n", "three"] {
            fold_into(&mut out, part);
        }
        assert_eq!(out, "one two three");
    }

    #[test]
    fn equal_after_folding_means_equal_hash() {
        assert_eq!(folded_hash("Caf\u{e9}  BAR"), folded_hash("cafe\u{301} bar"));
        assert_ne!(folded_hash("a b"), folded_hash("ab"));
        assert_eq!(folded_hash(" \n"), 0);
    }

    #[test]
    fn every_byte_of_a_long_text_counts() {
        let text: Vec<u8> = (0..100).collect();
        let mut seen = HashSet::from([hash_long(&text), hash_long(&text[..99]), hash_long(&[0; 32])]);
        assert!(seen.insert(hash_long(&[0; 64])));
        for at in 0..text.len() {
            let mut other = text.clone();
            other[at] ^= 1;
            assert!(seen.insert(hash_long(&other)), "{at}");
            other.swap(at, (at + 8) % 100);
            assert!(seen.insert(hash_long(&other)), "{at}");
        }
    }

    #[test]
    fn the_hash_is_stored_so_it_must_not_change() {
        assert_eq!(hash(b""), 0x5a2d_c9e0_4816_81c7);
        assert_eq!(hash(b"searchwright"), 0x4d7e_562c_8967_3970);
        assert_ne!(hash(b"a"), hash(b"a\0"));
        assert_eq!(hash_long(&[b'a'; 100]), 0x8893_be3e_4232_f14a);
        for n in 0..8 {
            let mut eight = [0; 8];
            eight[..n].copy_from_slice(&b"\x81efgh\xff7"[..n]);
            assert_eq!(short(&eight[..n]), u64::from_le_bytes(eight));
        }
    }

    #[test]
    fn every_character_is_in_lower_case_what_unicode_says() {
        for c in '\0'..='\u{1ffff}' {
            assert_eq!(lower(c.to_string()), c.to_lowercase().collect::<String>());
            assert_eq!(is_alphanumeric(c), c.is_alphanumeric(), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn folding_splits_where_unicode_does(text in "[ \t\n\u{85}\u{a0}\u{1680}\u{2000}-\u{200b}\u{2028}\u{202f}\u{205f}\u{3000}aé’Ⅷ\u{2060}€。]{0,40}") {
            prop_assert_eq!(squeeze(&text), text.split_whitespace().collect::<Vec<_>>().join(" "));
        }

        #[test]
        fn a_text_is_lower_where_each_character_is(text in "[a-zA-Z ,ÄÖüßİЯжΣς“€漢\u{301}]{0,60}") {
            let each: String = text.chars().flat_map(char::to_lowercase).collect();
            prop_assert_eq!(lower(text), each);
        }

        #[test]
        fn folding_is_idempotent(text in proptest::collection::vec(proptest::char::any(), 0..80).prop_map(|c| c.into_iter().collect::<String>())) {
            let once = squeeze(&text);
            prop_assert_eq!(&squeeze(&once), &once);
        }
    }
}

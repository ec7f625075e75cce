//! Folding of white space, composition and case.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;
use wide::u8x16;

use crate::{hashes::hash, simd};

/// Appends `text` with every run of white space as one space; none at the start of `out`.
pub fn fold_into(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    if is_folded(bytes) {
        let skip = usize::from(bytes.first() == Some(&b' ') && ends_in_space(out));
        out.push_str(&text[skip..]);
        return;
    }
    let mut word = 0;
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        // a single space after a word stays as it is
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
        end_word(out);
        at += space;
        word = at;
    }
    out.push_str(&text[word..]);
}

/// Returns the length of the white space character at a position, 0 if there is none.
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

/// Ends the last word of `out` with a space.
pub fn end_word(out: &mut String) {
    if !ends_in_space(out) {
        out.push(' ');
    }
}

fn ends_in_space(out: &str) -> bool {
    matches!(out.as_bytes().last(), None | Some(b' '))
}

/// Whether a text has no control characters, no two spaces in a row, and no byte that can begin white space outside
/// ASCII.
fn is_folded(text: &[u8]) -> bool {
    let there = text.len().min(16);
    !simd::any(text, |bytes| {
        let is = |byte| bytes.simd_eq(u8x16::splat(byte));
        let range = |first, last| simd::within(bytes, first, last);
        let odd = range(0, b' ' - 1) | is(0xc2) | range(0xe1, 0xe3);
        let spaces = is(b' ').to_bitmask();
        // padding zeros behind a short text are not control characters
        odd.to_bitmask() & ((1 << there) - 1) | spaces & spaces << 1 != 0
    })
}

/// Folds white space and trims the ends.
pub fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(&mut out, text);
    out.truncate(out.trim_end().len());
    out
}

/// Folds white space, composition (NFC) and case: texts with equal results count as the same text.
pub fn folded(text: &str) -> String {
    folded_case(squeeze(text))
}

/// Folds the case of a text whose white space is already folded.
pub fn folded_case(text: String) -> String {
    // below U+0300, and in most of Cyrillic, no character composes; without a branch, so that the compiler vectorizes
    // the loop
    let composes = |b: u8| u8::from(b >= 0xcc) & u8::from(b.wrapping_sub(0xd0) > 1);
    if text.bytes().fold(0, |any, b| any | composes(b)) == 0 {
        return lower(text);
    }
    match ComposingNormalizerBorrowed::new_nfc().normalize(&text) {
        Cow::Borrowed(_) => lower(text),
        Cow::Owned(text) => lower(text),
    }
}

/// Lower-cases character by character: unlike `str::to_lowercase`, a final sigma becomes a normal one.
fn lower(mut text: String) -> String {
    text.make_ascii_lowercase();
    // characters that begin with another byte have no lower case
    let may_be_upper = |bytes: u8x16| {
        let range = |first, last| simd::within(bytes, first, last);
        range(0xc3, 0xd5) | range(0xe1, 0xe2) | range(0xea, 0xea) | range(0xee, 0xff)
    };
    // already lower case, or without case
    let is_lower = |c: char| matches!(c, 'ß'..='ÿ' | 'а'..='џ' | '\u{2000}'..='\u{20ff}');
    // often nothing changes, and no copy is made
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = simd::position(&text.as_bytes()[at..], may_be_upper) {
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

/// Returns the hash of the folded text; 0 only if the folded text is empty.
pub fn folded_hash(text: &str) -> u64 {
    let text = folded(text);
    if text.is_empty() { 0 } else { hash(text.as_bytes()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop_assert_eq, proptest};

    use super::*;

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
    fn every_character_is_in_lower_case_what_unicode_says() {
        for c in '\0'..='\u{1ffff}' {
            assert_eq!(lower(c.to_string()), c.to_lowercase().collect::<String>());
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

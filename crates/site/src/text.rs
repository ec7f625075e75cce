//! Lengths, words and hashes of text.
//!
//! Three rules hold everywhere in this crate: a length is a number of extended grapheme clusters
//! (what a reader calls a character, whatever the alphabet), a word is what UAX #29 says it is,
//! and a hash is the same on every machine and in every release, because it is stored.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;
use unicode_segmentation::UnicodeSegmentation;

/// Chinese and Japanese put no spaces between words; this many characters count as one word.
const CJK_CHARS_PER_WORD: f64 = 1.7;

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
    match text.grapheme_indices(true).nth(most) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Appends `text` with every run of white space as one space; none at the start of `out`.
pub(crate) fn fold_into(out: &mut String, text: &str) {
    if is_folded_ascii(text.as_bytes()) {
        let text = if text.starts_with(' ') && ends_in_space(out) {
            &text[1..]
        } else {
            text
        };
        out.push_str(text);
        return;
    }
    if text.starts_with(char::is_whitespace) {
        boundary(out);
    }
    if text.is_ascii() {
        fold_words(out, text.split_ascii_whitespace());
    } else {
        fold_words(out, text.split_whitespace());
    }
    if text.ends_with(char::is_whitespace) {
        boundary(out);
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

fn fold_words<'a>(out: &mut String, words: impl Iterator<Item = &'a str>) {
    for (i, word) in words.enumerate() {
        if i > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
}

/// No control characters, no two spaces in a row, nothing but ASCII. Written without early exits so
/// that the compiler makes vector instructions of it.
fn is_folded_ascii(text: &[u8]) -> bool {
    let Some((first, rest)) = text.split_first() else {
        return true;
    };
    let odd = |b: u8| u8::from(b < b' ') | (b >> 7);
    let mut bad = odd(*first);
    for (a, b) in text.iter().zip(rest) {
        bad |= odd(*b) | (u8::from(*a == b' ') & u8::from(*b == b' '));
    }
    bad == 0
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
    let mut text = squeeze(text);
    if text.is_ascii() {
        text.make_ascii_lowercase();
        return text;
    }
    match ComposingNormalizerBorrowed::new_nfc().normalize(&text) {
        Cow::Borrowed(text) => text.to_lowercase(),
        Cow::Owned(text) => text.to_lowercase(),
    }
}

/// Hash of the folded text; 0 when nothing is left of it, and only then.
pub fn folded_hash(text: &str) -> u64 {
    let text = folded(text);
    if text.is_empty() {
        0
    } else {
        hash(text.as_bytes())
    }
}

/// A 64-bit hash that never changes: multiply and fold, eight bytes at a time, little-endian (the
/// core of wyhash). Not for keys that an attacker may choose to collide; never 0.
pub fn hash(bytes: &[u8]) -> u64 {
    const SEED: u64 = 0xa076_1d64_78bd_642f;
    const STEP: u64 = 0xe703_7ed1_a0b4_28db;
    const LAST: u64 = 0x8ebc_6af0_9c88_c6e3;
    fn mix(a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        (product as u64) ^ ((product >> 64) as u64)
    }
    let (words, tail) = bytes.as_chunks::<8>();
    let mut state = SEED;
    for word in words {
        state = mix(state ^ u64::from_le_bytes(*word), STEP).wrapping_add(SEED);
    }
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    state = mix(state ^ u64::from_le_bytes(last), STEP ^ bytes.len() as u64);
    mix(state ^ SEED, LAST).max(1)
}

/// Words counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    spaced: u32,
    cjk: u32,
}

impl Words {
    /// Adds the words of a text; one word never spans two calls.
    pub fn add(&mut self, text: &str) {
        if text.is_ascii() {
            self.spaced += ascii_words(text.as_bytes());
            return;
        }
        // no rule of UAX #29 joins two words over a space, so each stands alone
        for token in text.split(' ') {
            if token.is_ascii() {
                self.spaced += ascii_words(token.as_bytes());
            } else {
                self.add_token(token);
            }
        }
    }

    fn add_token(&mut self, token: &str) {
        let bare = token.trim_matches(|c: char| c.is_ascii_punctuation());
        // Latin, Greek and Cyrillic letters without anything between them: one word, as most are
        if bare.chars().all(|c| c < '\u{530}' && c.is_alphanumeric()) {
            self.spaced += u32::from(!bare.is_empty());
            return;
        }
        for word in token.unicode_words() {
            match word.chars().next() {
                Some(c) if is_cjk(c) => self.cjk += word.chars().count() as u32,
                _ => self.spaced += 1,
            }
        }
    }

    /// Words in all; Chinese and Japanese characters divided by 1.7.
    pub fn total(self) -> u32 {
        self.spaced + (f64::from(self.cjk) / CJK_CHARS_PER_WORD).round() as u32
    }
}

/// Words of a text: UAX #29, Chinese and Japanese characters divided by 1.7.
pub fn words(text: &str) -> u32 {
    let mut words = Words::default();
    words.add(text);
    words.total()
}

/// Han, kana and bopomofo: scripts without spaces between words that UAX #29 does not segment.
pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3041}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// UAX #29 for ASCII: runs of letters, digits and `_`, joined over one apostrophe, stop or colon
/// between letters and one apostrophe, stop, comma or semicolon between digits.
fn ascii_words(text: &[u8]) -> u32 {
    fn letter(b: u8) -> bool {
        (b | 0x20).wrapping_sub(b'a') < 26
    }
    fn digit(b: u8) -> bool {
        b.wrapping_sub(b'0') < 10
    }
    fn part(b: u8) -> bool {
        letter(b) | digit(b) | (b == b'_')
    }
    fn joined(a: u8, b: u8, c: u8) -> bool {
        let stop = (b == b'.') | (b == b'\'');
        (letter(a) & (stop | (b == b':')) & letter(c))
            | (digit(a) & (stop | (b == b',') | (b == b';')) & digit(c))
    }
    let Some(first) = text.first() else { return 0 };
    let mut count = u32::from(part(*first));
    // blocks of 128, so that eight-bit counters cannot overflow and the loop becomes vectors
    let mut at = 0;
    while at + 1 < text.len() {
        let end = (at + 129).min(text.len());
        let block = &text[at..end];
        let starts: u8 = block
            .iter()
            .zip(&block[1..])
            .map(|(a, b)| u8::from(!part(*a) & part(*b)))
            .sum();
        count += u32::from(starts);
        let block = &text[at..(at + 130).min(text.len())];
        if block.len() > 2 {
            let joins: u8 = block
                .iter()
                .zip(&block[1..])
                .zip(&block[2..])
                .map(|((a, b), c)| u8::from(joined(*a, *b, *c)))
                .sum();
            count -= u32::from(joins);
        }
        at = end - 1;
    }
    count
}

/// Width of a title in pixels as Google sets it: Arial at 20 px. Characters outside ASCII count as
/// an average letter, East Asian ones as a full square.
pub fn title_pixels(text: &str) -> u32 {
    // advance widths in 1/1000 em from the Helvetica metrics, to which Arial is made equal; from ' '
    #[rustfmt::skip]
    const WIDTHS: [u16; 95] = [
        278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
        556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
        1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
        667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
        333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
        556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
    ];
    const AVERAGE: u16 = 556;
    const SQUARE: u16 = 1000;
    let width = |cluster: &str| match cluster.chars().next() {
        Some(c @ ' '..='~') => WIDTHS[c as usize - ' ' as usize],
        Some(c) if is_cjk(c) || matches!(c, '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ff65}') => {
            SQUARE
        }
        _ => AVERAGE,
    };
    let thousandths: u64 = text
        .graphemes(true)
        .map(|cluster| u64::from(width(cluster)))
        .sum();
    u32::try_from(thousandths * 20 / 1000).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop_assert_eq, proptest};

    use super::*;

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
        assert_eq!(
            folded_hash("Caf\u{e9}  BAR"),
            folded_hash("cafe\u{301} bar")
        );
        assert_ne!(folded_hash("a b"), folded_hash("ab"));
        assert_eq!(folded_hash(" \n"), 0);
    }

    #[test]
    fn the_hash_is_stored_so_it_must_not_change() {
        assert_eq!(hash(b""), 0x5a2d_c9e0_4816_81c7);
        assert_eq!(hash(b"searchwright"), 0x4d7e_562c_8967_3970);
        assert_ne!(hash(b"a"), hash(b"a\0"));
    }

    #[test]
    fn words_of_many_scripts() {
        assert_eq!(words("Don't pay 3,000.50 e.g. for A_B (or c++)"), 8);
        assert_eq!(words("Über die Straße, schön!"), 4);
        assert_eq!(words("Быстрая коричневая лиса"), 3);
        assert_eq!(words("\u{65e5}".repeat(17).as_str()), 10);
        assert_eq!(words(""), 0);
    }

    #[test]
    fn title_width_follows_the_metrics() {
        assert_eq!(title_pixels("iiii"), 4 * 222 * 20 / 1000);
        assert!(title_pixels("WWWWWWWWWW") > title_pixels("iiiiiiiiiiiiiiiiiiii"));
    }

    proptest! {
        #[test]
        fn ascii_words_are_those_of_uax_29(text in "[ -^`-~]{0,300}") {
            let theirs = text.unicode_words().count() as u32;
            prop_assert_eq!(ascii_words(text.as_bytes()), theirs);
        }

        #[test]
        fn tokens_are_counted_as_whole_texts(text in "[a-zäöüß0-9.,'’ -]{0,80}") {
            prop_assert_eq!(words(&text), text.unicode_words().count() as u32);
        }

        #[test]
        fn folding_is_idempotent(text in proptest::collection::vec(proptest::char::any(), 0..80).prop_map(|c| c.into_iter().collect::<String>())) {
            let once = squeeze(&text);
            prop_assert_eq!(&squeeze(&once), &once);
        }
    }
}

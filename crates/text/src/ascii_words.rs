//! The words of ASCII text by UAX #29 without tables of characters: word boundaries are found for 64 bytes at a time.

use std::ops::Range;

use crate::{plain_words::is_joined, simd::each_block, word_hash::word_hash};

/// Calls `take` with each word of an ASCII part of a text, its number of letters and digits, and its hash.
pub(crate) fn each_ascii_word<'t>(
    text: &'t str,
    part: Range<usize>,
    mut take: impl FnMut(&'t str, usize, u64),
) {
    let Some(bytes) = text.as_bytes().get(part.clone()) else {
        return;
    };
    // start and end of the last word, which may be joined to the next, and whether it has more than letters and digits
    let (mut start, mut end, mut is_mixed) = (0, 0, false);
    let mut complete = |start: usize, end: usize, is_mixed: bool| {
        let (start, end) = (part.start + start, part.start + end);
        let word = &text[start..end];
        let letters = if is_mixed {
            word.bytes().filter(u8::is_ascii_alphanumeric).count()
        } else {
            word.len()
        };
        if letters > 0 {
            take(word, letters, word_hash(text.as_bytes(), start, end));
        }
    };
    let (mut last_words, mut last_spaces) = (0, 0);
    each_block(bytes, |at, block| {
        let (low_lines, spaces) = (block.each(b'_'), block.each(b' '));
        let words = block.letters_and_digits() | low_lines;
        let before = words << 1 | last_words >> 63;
        let (mut begins, mut ends) = (words & !before, before & !words);
        // words after a single byte that is no part of a word and no space, which may join it to the word before
        let single = begins & (words << 2 | last_words >> 62) & !(spaces << 1 | last_spaces >> 63);
        let has_low_lines = low_lines != 0;
        // a word that began in an earlier block
        if last_words >> 63 != 0 {
            is_mixed |= has_low_lines;
            if ends != 0 {
                end = at + ends.trailing_zeros() as usize;
                ends &= ends - 1;
            }
        }
        while begins != 0 {
            let place = begins.trailing_zeros();
            let from = at + place as usize;
            let joined = single >> place & 1 != 0 && is_joined(&bytes[from - 2..=from]);
            if !joined {
                complete(start, end, is_mixed);
                start = from;
            }
            is_mixed = joined || has_low_lines;
            if ends != 0 {
                end = at + ends.trailing_zeros() as usize;
                ends &= ends - 1;
            }
            begins &= begins - 1;
        }
        (last_words, last_spaces) = (words, spaces);
    });
    complete(start, end, is_mixed);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
    use unicode_segmentation::UnicodeSegmentation;

    use super::each_ascii_word;
    use crate::word_hash::word_hash;

    proptest! {
        #[test]
        fn ascii_words_are_those_of_all_text(before in ".{0,20}", text in "[aAb0 1_.,;:'\"!\\-\n]{0,160}", behind in ".{0,20}") {
            let whole = format!("{before}{text}{behind}");
            let mut found = Vec::new();
            each_ascii_word(&whole, before.len()..before.len() + text.len(), |word, letters, hash| {
                assert_eq!(letters, word.bytes().filter(u8::is_ascii_alphanumeric).count());
                assert_eq!(hash, word_hash(word.as_bytes(), 0, word.len()));
                found.push(word);
            });
            let expected: Vec<&str> = text.unicode_words().collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn range_outside_the_text_has_no_words(text in "[a-c ]{0,40}", from in 0..80_usize, length in 0..80_usize) {
            let mut found = 0;
            each_ascii_word(&text, from..from + length, |_, letters, _| found += letters);
            prop_assert!(found <= text.len());
        }
    }
}

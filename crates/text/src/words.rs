//! Counting words.

use memchr::memchr;

use crate::{
    plain_words::{is_plain, plain_words},
    simd::each_block,
    unicode_words,
    word_count::WordCount,
};

/// Number of bytes counted at a time in a text that is not plain throughout.
const CHUNK: usize = 192;

/// Counts the words of a text.
pub fn count_words(text: &str) -> WordCount {
    if is_plain(text.as_bytes()) {
        return plain_words(text.as_bytes());
    }
    // no rule of UAX #29 joins two words across a space, so plain chunks are counted fast, and one curly quote does not
    // slow down a whole page
    let mut words = WordCount::default();
    let mut rest = text;
    while !rest.is_empty() {
        let end = match rest.as_bytes().get(CHUNK..).and_then(|after| memchr(b' ', after)) {
            Some(space) => CHUNK + space,
            None => rest.len(),
        };
        let (chunk, after) = rest.split_at(end);
        rest = after.strip_prefix(' ').unwrap_or(after);
        words.join(if is_plain(chunk.as_bytes()) {
            plain_words(chunk.as_bytes())
        } else {
            unicode_words::count(chunk)
        });
    }
    words
}

/// Returns the number of words of a text by UAX #29; Chinese and Japanese characters are divided by 1.7.
pub fn words(text: &str) -> u32 {
    count_words(text).total()
}

/// Whether a text has more than `most` words. For most texts a bound decides without an exact count: a word has at
/// least one byte, and another one separates it from the next.
pub fn has_more_words(text: &str, most: u32) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() <= 2 * most as usize {
        return false;
    }
    if text.is_ascii() {
        // two words are separated by something else
        let (mut runs, mut before) = (0, 0);
        each_block(bytes, |_, block| {
            let parts = block.letters_and_digits() | block.each(b'_');
            runs += (parts & !(parts << 1 | before)).count_ones();
            before = parts >> 63;
        });
        if runs <= most {
            return false;
        }
    }
    words(text) > most
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};
    use unicode_segmentation::UnicodeSegmentation;

    use super::{has_more_words, words};

    #[test]
    fn words_of_many_scripts() {
        assert_eq!(words("Don't pay 3,000.50 e.g. for A_B (or c++)"), 8);
        assert_eq!(words("Über die Straße, schön!"), 4);
        assert_eq!(words("Быстрая коричневая лиса"), 3);
        assert_eq!(words("\u{65e5}".repeat(17).as_str()), 10);
        assert_eq!(words(""), 0);
    }

    proptest! {
        #[test]
        fn more_words_are_counted_words(text in "[a-cé.,' _-]{0,80}") {
            for most in 0..12 {
                prop_assert_eq!(has_more_words(&text, most), words(&text) > most);
            }
        }

        #[test]
        fn mixed_texts_too(text in "[a-zäöüßйЯŁ×÷0-9.,'’« -]{0,600}") {
            prop_assert_eq!(words(&text), text.unicode_words().count() as u32);
        }
    }
}

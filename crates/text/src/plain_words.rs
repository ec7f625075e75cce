//! Counts the words of plain text, 64 bytes at a time. Plain text has only letters of alphabets with spaces outside
//! ASCII.

use crate::{
    simd::{Block, each_block},
    word_count::WordCount,
};

/// Whether a text is plain: ASCII, and the letters U+00C0 to U+02FF and U+0400 to U+047F except `×` and `÷`.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    if text.is_ascii() {
        return true;
    }
    let odd = |b: u8| u8::from(b == 0xc2) | u8::from(b.wrapping_sub(0xcb) < 5) | u8::from(b > 0xd1);
    let mut bad = text.first().map_or(0, |b| odd(*b));
    for (a, b) in text.iter().zip(text.get(1..).unwrap_or_default()) {
        bad |= odd(*b) | (u8::from(*a == 0xc3) & (u8::from(*b == 0x97) | u8::from(*b == 0xb7)));
    }
    bad == 0
}

/// Counts the words of plain text by UAX #29: runs of letters, digits and `_`, joined across one apostrophe, full stop
/// or colon between letters, and across one apostrophe, full stop, comma or semicolon between digits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlainWords {
    begun: u32,
    joints: u32,
    /// Word characters of the previous block, as bits; `spaces` are its spaces.
    parts: u64,
    spaces: u64,
}

impl PlainWords {
    /// Counts the next block of a text, at position `at`, given its letters and digits.
    pub fn take(&mut self, text: &[u8], at: usize, block: &Block, letters_and_digits: u64) {
        let (last_parts, last_spaces) = (self.parts, self.spaces);
        let (parts, spaces) = (letters_and_digits | block.each(b'_'), block.each(b' '));
        let before = parts << 1 | last_parts >> 63;
        self.begun += (parts & !before).count_ones();
        // word bytes after a single byte that is none, unless that is a space, as it mostly is
        let mut single =
            parts & !before & (parts << 2 | last_parts >> 62) & !(spaces << 1 | last_spaces >> 63);
        while single != 0 {
            let behind = at + single.trailing_zeros() as usize;
            self.joints += u32::from(text.get(behind.wrapping_sub(2)..=behind).is_some_and(is_joined));
            single &= single - 1;
        }
        (self.parts, self.spaces) = (parts, spaces);
    }

    /// Returns the number of words.
    pub const fn total(self) -> WordCount {
        WordCount::from_spaced(self.begun - self.joints)
    }
}

/// Counts the words of a plain text.
pub(crate) fn plain_words(text: &[u8]) -> WordCount {
    let mut words = PlainWords::default();
    each_block(text, |at, block| {
        words.take(text, at, block, block.letters_and_digits())
    });
    words.total()
}

/// Classes of a byte of plain text, as bits.
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
/// Joins letters: `.`, `'` and `:`.
const JOINS_LETTERS: u8 = 8;
/// Joins digits: `.`, `'`, `,` and `;`.
const JOINS_DIGITS: u8 = 16;

fn class(b: u8) -> u8 {
    let letter = ((b | 0x20).wrapping_sub(b'a') < 26) | (b >= 0x80);
    let digit = b.wrapping_sub(b'0') < 10;
    let stop = (b == b'.') | (b == b'\'');
    let bit = |is: bool, bit: u8| u8::from(is) * bit;
    bit(letter, LETTER)
        | bit(digit, DIGIT)
        | bit(stop | (b == b':'), JOINS_LETTERS)
        | bit(stop | (b == b',') | (b == b';'), JOINS_DIGITS)
}

/// Whether the second of three bytes joins the other two.
pub(crate) fn is_joined(three: &[u8]) -> bool {
    let [before, joint, behind] = three else {
        return false;
    };
    // the bit of a joint is three above that of the class it joins, on both sides
    class(*before) & class(*behind) & (LETTER | DIGIT) & (class(*joint) >> 3) != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};
    use unicode_segmentation::UnicodeSegmentation;

    use super::plain_words;

    proptest! {
        #[test]
        fn ascii_words_are_those_of_uax_29(text in "[ -^`-~]{0,300}") {
            let theirs = text.unicode_words().count() as u32;
            prop_assert_eq!(plain_words(text.as_bytes()).total(), theirs);
        }
    }
}

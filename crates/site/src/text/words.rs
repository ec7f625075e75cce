//! Counting words.

use memchr::memchr;

use super::{
    blocks::{Block, count, each_block},
    is_alphanumeric, unicode_words,
};

/// Chinese and Japanese put no spaces between words; this many characters count as one word.
pub const CJK_CHARS_PER_WORD: f64 = 1.7;

/// Words counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    spaced: u32,
    cjk: u32,
}

impl Words {
    /// Adds the words of a text; one word never spans two calls.
    pub fn add(&mut self, text: &str) {
        if is_plain(text.as_bytes()) {
            self.spaced += plain_words(text.as_bytes());
            return;
        }
        // no rule of UAX #29 joins two words over a space, so what is plain is counted fast, block by
        // block, and one curly quote does not slow down a whole page
        let mut rest = text;
        while !rest.is_empty() {
            let end = match rest.as_bytes().get(BLOCK..).and_then(|after| memchr(b' ', after)) {
                Some(space) => BLOCK + space,
                None => rest.len(),
            };
            let (block, after) = rest.split_at(end);
            rest = after.strip_prefix(' ').unwrap_or(after);
            if is_plain(block.as_bytes()) {
                self.spaced += plain_words(block.as_bytes());
                continue;
            }
            self.join(unicode_words::count(block));
        }
    }

    /// Adds a word by its first character.
    pub(super) fn begin(&mut self, is_cjk: bool) {
        if is_cjk {
            self.cjk += 1;
        } else {
            self.spaced += 1;
        }
    }

    /// Adds so many more characters of a word.
    pub(super) fn go_on(&mut self, characters: u32, is_cjk: bool) {
        if is_cjk {
            self.cjk += characters;
        }
    }

    /// Adds words counted apart.
    pub fn join(&mut self, other: Self) {
        self.spaced += other.spaced;
        self.cjk += other.cjk;
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

/// Whether a text has more words than so many. Of most it can be seen without counting all that joins them: a word has a byte,
/// and another one that parts it from the next.
pub(crate) fn has_more_words(text: &str, most: u32) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() <= 2 * most as usize {
        return false;
    }
    if text.is_ascii() {
        // between two words stands something else
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

/// Han, kana and bopomofo: scripts without spaces between words that UAX #29 does not segment.
pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3041}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether most letters of a text, given in parts, are of such scripts.
pub fn is_mostly_cjk<'t>(parts: impl Iterator<Item = &'t str> + Clone) -> bool {
    // each of them begins with a byte like that; of most texts its letters in ASCII are more
    let sum =
        |is_so: fn(u8) -> bool| -> usize { parts.clone().map(|part| count(part.as_bytes(), is_so)).sum() };
    let (firsts, plain) = (sum(|b| b >= 0xe2), sum(|b| b.is_ascii_alphanumeric()));
    if firsts <= plain {
        return false;
    }
    let (mut all, mut cjk) = (0_usize, 0_usize);
    for letter in parts.flat_map(str::chars).filter(|c| is_alphanumeric(*c)) {
        all += 1;
        cjk += usize::from(is_cjk(letter));
    }
    2 * cjk > all
}

/// Bytes counted at a time where a text is not plain throughout.
const BLOCK: usize = 192;

/// ASCII, and outside it nothing but letters: U+00C0 to U+02FF and U+0400 to U+047F but for `×` and `÷`.
fn is_plain(text: &[u8]) -> bool {
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

/// Counts the words of plain text by UAX #29: runs of letters, digits and `_`, joined over one apostrophe, stop or colon
/// between letters and one apostrophe, stop, comma or semicolon between digits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlainWords {
    begun: u32,
    joints: u32,
    /// Of the block before.
    parts: u64,
    spaces: u64,
}

impl PlainWords {
    /// Takes the next block of a text, which begins at a place in it, with its letters and digits.
    pub fn take(&mut self, text: &[u8], at: usize, block: &Block, letters_and_digits: u64) {
        let (last_parts, last_spaces) = (self.parts, self.spaces);
        let (parts, spaces) = (letters_and_digits | block.each(b'_'), block.each(b' '));
        let before = parts << 1 | last_parts >> 63;
        self.begun += (parts & !before).count_ones();
        // bytes of a word behind a single one that is none, which mostly is a space
        let mut single =
            parts & !before & (parts << 2 | last_parts >> 62) & !(spaces << 1 | last_spaces >> 63);
        while single != 0 {
            let behind = at + single.trailing_zeros() as usize;
            self.joints += u32::from(text.get(behind.wrapping_sub(2)..=behind).is_some_and(is_joined));
            single &= single - 1;
        }
        (self.parts, self.spaces) = (parts, spaces);
    }

    /// How many there were.
    pub const fn words(self) -> Words {
        Words {
            spaced: self.begun - self.joints,
            cjk: 0,
        }
    }
}

fn plain_words(text: &[u8]) -> u32 {
    let mut words = PlainWords::default();
    each_block(text, |at, block| {
        words.take(text, at, block, block.letters_and_digits())
    });
    words.words().spaced
}

/// What a byte of plain text is, as bits.
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

/// Of three bytes, the one in the middle joins its neighbours.
pub(super) fn is_joined(three: &[u8]) -> bool {
    let [before, joint, behind] = three else {
        return false;
    };
    // a joint's bit lies three above that of what it joins, on both sides
    class(*before) & class(*behind) & (LETTER | DIGIT) & (class(*joint) >> 3) != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};
    use unicode_segmentation::UnicodeSegmentation;

    use super::{has_more_words, is_cjk, is_mostly_cjk, plain_words, words};

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
        fn most_letters_are_counted_only_where_it_is_not_plain(parts in proptest::collection::vec("[a-c 修理。’é１]{0,12}", 0..4)) {
            let letters = || parts.iter().flat_map(|part| part.chars()).filter(|c| c.is_alphanumeric());
            let cjk = letters().filter(|c| is_cjk(*c)).count();
            prop_assert_eq!(is_mostly_cjk(parts.iter().map(String::as_str)), 2 * cjk > letters().count());
        }

        #[test]
        fn more_words_are_counted_words(text in "[a-cé.,' _-]{0,80}") {
            for most in 0..12 {
                prop_assert_eq!(has_more_words(&text, most), words(&text) > most);
            }
        }

        #[test]
        fn ascii_words_are_those_of_uax_29(text in "[ -^`-~]{0,300}") {
            let theirs = text.unicode_words().count() as u32;
            prop_assert_eq!(plain_words(text.as_bytes()), theirs);
        }

        #[test]
        fn mixed_texts_too(text in "[a-zäöüßйЯŁ×÷0-9.,'’« -]{0,600}") {
            prop_assert_eq!(words(&text), text.unicode_words().count() as u32);
        }
    }
}

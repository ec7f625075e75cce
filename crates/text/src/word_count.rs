//! A number of words.

/// Chinese and Japanese put no spaces between words; this many characters count as one word.
pub const CJK_CHARS_PER_WORD: f64 = 1.7;

/// A number of words, those of scripts without spaces apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordCount {
    spaced: u32,
    cjk: u32,
}

impl WordCount {
    /// A number of words of scripts with spaces.
    pub(crate) const fn from_spaced(spaced: u32) -> Self {
        Self { spaced, cjk: 0 }
    }

    /// Adds a word by its first character.
    pub(crate) fn begin(&mut self, is_cjk: bool) {
        if is_cjk {
            self.cjk += 1;
        } else {
            self.spaced += 1;
        }
    }

    /// Adds so many more characters of a word.
    pub(crate) fn extend(&mut self, characters: u32, is_cjk: bool) {
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

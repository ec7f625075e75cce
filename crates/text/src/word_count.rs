//! Number of words.

/// Number of Chinese or Japanese characters per word, since these scripts have no spaces between words.
pub const CJK_CHARS_PER_WORD: f64 = 1.7;

/// Number of words, with scripts without spaces counted separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordCount {
    spaced: u32,
    cjk: u32,
}

impl WordCount {
    /// Creates a number of words in scripts with spaces.
    pub(crate) const fn from_spaced(spaced: u32) -> Self {
        Self { spaced, cjk: 0 }
    }

    /// Counts the first character of a word.
    pub(crate) fn begin(&mut self, is_cjk: bool) {
        if is_cjk {
            self.cjk += 1;
        } else {
            self.spaced += 1;
        }
    }

    /// Counts further characters of a word.
    pub(crate) fn extend(&mut self, characters: u32, is_cjk: bool) {
        if is_cjk {
            self.cjk += characters;
        }
    }

    /// Adds words that were counted separately.
    pub fn join(&mut self, other: Self) {
        self.spaced += other.spaced;
        self.cjk += other.cjk;
    }

    /// Returns the total number of words; Chinese and Japanese characters are divided by 1.7.
    pub fn total(self) -> u32 {
        self.spaced + (f64::from(self.cjk) / CJK_CHARS_PER_WORD).round() as u32
    }
}

//! Normal form of words: compatibility form, no accents on Latin, Greek and Cyrillic letters, lower case, letters and
//! digits only.
//!
//! Marks of other scripts distinguish letters (dakuten, hamza) and are kept.

use std::ops::Range;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

use crate::particles::particle_length;

/// Maximum length of a word in bytes; a longer one is no word.
pub(crate) const MAX_WORD_BYTES: usize = 256;

/// Calls `found` with the range of each word of a text: words of UAX #29, parted at apostrophes and underscores, so
/// that elided articles and possessives are words of their own, and before the particles of Korean.
pub(crate) fn each_word(text: &str, mut found: impl FnMut(Range<usize>)) {
    for (at, word) in text.unicode_word_indices() {
        if word.len() > MAX_WORD_BYTES {
            continue;
        }
        let mut start = 0;
        for (place, sign) in word.match_indices(is_joint) {
            if place > start {
                found(at + start..at + place);
            }
            start = place + sign.len();
        }
        if start < word.len() {
            let particle = word.len() - particle_length(&word[start..]);
            found(at + start..at + particle);
            if particle < word.len() {
                found(at + particle..at + word.len());
            }
        }
    }
}

/// Whether a character joins two words into one of UAX #29.
fn is_joint(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2bc}' | '\u{ff07}' | '_')
}

/// Appends the normal form of a word.
pub(crate) fn push_normal(out: &mut String, word: &str) {
    if word.is_ascii() {
        let letters = word.bytes().filter(u8::is_ascii_alphanumeric);
        out.extend(letters.map(|b| char::from(b.to_ascii_lowercase())));
        return;
    }
    let mut folds = false;
    for c in word.nfkc().nfd() {
        if is_combining_mark(c) {
            if !folds {
                out.push(c);
            }
            continue;
        }
        folds = is_accented_script(c);
        match c {
            'ß' | 'ẞ' => out.push_str("ss"),
            'ς' => out.push('σ'),
            _ if c.is_alphanumeric() => out.extend(c.to_lowercase().filter(|c| c.is_alphanumeric())),
            _ => {}
        }
    }
}

/// Whether marks on a letter are accents that people leave out.
fn is_accented_script(c: char) -> bool {
    matches!(c, '\0'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}')
}

/// Script of a word, as far as the limits of words depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    /// Words are parted by spaces or by UAX #29.
    Spaced,
    /// Han characters.
    Han,
    /// Hiragana.
    Hiragana,
    /// Thai, Lao, Khmer and Burmese.
    SouthEastAsian,
}

/// Returns the script of the first character of a word.
pub(crate) fn script(word: &str) -> Script {
    match word.chars().next() {
        Some('\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}') => {
            Script::SouthEastAsian
        }
        Some('\u{3041}'..='\u{309f}') => Script::Hiragana,
        // katakana is one word by UAX #29
        Some('\u{30a0}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}') => Script::Spaced,
        Some(c) if searchwright_text::is_cjk(c) => Script::Han,
        _ => Script::Spaced,
    }
}

/// A name or a phrase in normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    /// Normal forms of its words, without anything between.
    pub(crate) norm: String,
    /// Number of its words.
    pub(crate) words: usize,
    /// Whether white space separates any words.
    pub(crate) has_space: bool,
}

/// Returns the key of a name or a phrase.
pub(crate) fn key(text: &str) -> Key {
    let mut key = Key {
        has_space: text.trim().contains(char::is_whitespace),
        ..Key::default()
    };
    each_word(text, |place| {
        push_normal(&mut key.norm, &text[place]);
        key.words += 1;
    });
    key
}

/// Returns the normal form of one word.
pub(crate) fn normal(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    push_normal(&mut out, word);
    out
}

#[cfg(test)]
mod tests {
    use super::{Script, key, normal, script};

    #[test]
    fn spellings_of_one_name() {
        for same in ["Demand IQ", "Demand-IQ", "DemandIQ", "demand_iq", "ＤemandＩＱ"] {
            assert_eq!(key(same).norm, "demandiq", "{same}");
        }
        assert_eq!(key("L'Oréal"), key("L\u{2019}Ore\u{301}al"));
        assert_eq!(key("L'Oréal").norm, "loreal");
        assert_eq!(normal("Straße"), "strasse");
        assert_eq!(normal("Żabka"), "zabka");
        assert_eq!(normal("Йога"), "иога");
        assert_eq!(normal("ΝΊΚΟΣ"), "νικοσ");
    }

    #[test]
    fn marks_of_other_scripts_are_kept() {
        assert_ne!(normal("ガス"), normal("カス"));
        assert_ne!(normal("أمل"), normal("امل"));
    }

    #[test]
    fn scripts_of_words() {
        assert_eq!(script("Acme"), Script::Spaced);
        assert_eq!(script("ソニー"), Script::Spaced);
        assert_eq!(script("小"), Script::Han);
        assert_eq!(script("の"), Script::Hiragana);
        assert_eq!(script("ไทย"), Script::SouthEastAsian);
    }
}

//! Words of a text, and what the program knows of the words of a language.

use std::{borrow::Cow, collections::HashSet};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation as _;

pub use searchwright_text::primary;

/// Words of a text as UAX #29 finds them, in order.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.unicode_words()
}

/// Removes accents: people leave them out when they search.
pub(crate) fn fold_accents(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfd().filter(|c| !is_combining_mark(*c)).nfc().collect())
}

/// A year, or the number of a version: `2026`, `3`, `3.11`, `v2`.
fn is_version(token: &str) -> bool {
    let number = token.strip_prefix('v').unwrap_or(token);
    number.starts_with(|c: char| c.is_ascii_digit())
        && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// Stop words and the Snowball stemmer of one language; both empty where none are known.
pub struct Lexicon {
    stop: HashSet<&'static str>,
    stemmer: Option<Stemmer>,
}

impl Lexicon {
    /// The lexicon of a BCP 47 language.
    pub fn for_language(language: &str) -> Self {
        let language = primary(language);
        let stop = stop_words::lookup(&language).unwrap_or_default();
        let algorithm = match language.as_str() {
            "ar" => Some(Algorithm::Arabic),
            "da" => Some(Algorithm::Danish),
            "de" => Some(Algorithm::German),
            "el" => Some(Algorithm::Greek),
            "en" => Some(Algorithm::English),
            "es" => Some(Algorithm::Spanish),
            "fi" => Some(Algorithm::Finnish),
            "fr" => Some(Algorithm::French),
            "hu" => Some(Algorithm::Hungarian),
            "it" => Some(Algorithm::Italian),
            "nb" | "nn" | "no" => Some(Algorithm::Norwegian),
            "nl" => Some(Algorithm::Dutch),
            "pt" => Some(Algorithm::Portuguese),
            "ro" => Some(Algorithm::Romanian),
            "ru" => Some(Algorithm::Russian),
            "sv" => Some(Algorithm::Swedish),
            "ta" => Some(Algorithm::Tamil),
            "tr" => Some(Algorithm::Turkish),
            _ => None,
        };
        Self {
            stop: stop.iter().copied().collect(),
            stemmer: algorithm.map(Stemmer::create),
        }
    }

    /// Whether a word in lower case says nothing by itself.
    pub fn is_stop(&self, word: &str) -> bool {
        self.stop.contains(word)
    }

    /// Whether the stop words of the language are known.
    pub fn has_stop_words(&self) -> bool {
        !self.stop.is_empty()
    }

    /// The stem of a word in lower case.
    pub fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        match &self.stemmer {
            Some(stemmer) => stemmer.stem(word),
            None => Cow::Borrowed(word),
        }
    }

    /// Stems of the words of a normalised text that are no stop words; of all when nothing else is left.
    pub fn content_stems<'a>(&self, normalized: &'a str) -> Vec<Cow<'a, str>> {
        let content = tokens(normalized).filter(|t| !self.is_stop(t));
        let stems: Vec<_> = content.map(|t| self.stem(t)).collect();
        if stems.is_empty() {
            return tokens(normalized).map(|t| self.stem(t)).collect();
        }
        stems
    }

    /// Equal for two keywords that differ in word order, inflection, or the number of a year or version only.
    pub fn variant_key(&self, normalized: &str) -> String {
        let mut stems = self.stems_in_order(normalized);
        stems.sort_unstable();
        stems.join(" ")
    }

    /// Equal for two keywords that differ in inflection or the number of a year or version only.
    pub fn inflection_key(&self, normalized: &str) -> String {
        self.stems_in_order(normalized).join(" ")
    }

    /// The stems of a keyword without numbers; with them when it has nothing else.
    fn stems_in_order<'a>(&self, normalized: &'a str) -> Vec<Cow<'a, str>> {
        let named = tokens(normalized).filter(|token| !is_version(token));
        let stems: Vec<_> = named.map(|token| self.stem(token)).collect();
        if stems.is_empty() {
            return tokens(normalized).map(|token| self.stem(token)).collect();
        }
        stems
    }
}

#[cfg(test)]
mod tests {
    use super::{Lexicon, fold_accents, is_version, primary};

    #[test]
    fn variants_differ_in_order_plural_and_year() {
        let en = Lexicon::for_language("en-GB");
        let key = en.variant_key("standing desk");
        for same in [
            "standing desks",
            "desk standing",
            "standing desks 2026",
            "standing desk 3.1",
        ] {
            assert_eq!(en.variant_key(same), key, "{same}");
        }
        for other in ["standing desk mat", "how to stand at a desk", "desk"] {
            assert_ne!(en.variant_key(other), key, "{other}");
        }
        let de = Lexicon::for_language("de");
        assert_eq!(
            de.variant_key("höhenverstellbare schreibtische"),
            de.variant_key("höhenverstellbarer schreibtisch")
        );
    }

    #[test]
    fn content_is_what_stop_words_leave() {
        let en = Lexicon::for_language("en");
        assert_eq!(
            en.content_stems("the price of standing desks"),
            ["price", "stand", "desk"]
        );
        assert_eq!(en.content_stems("to be or not to be").len(), 6);
        assert_eq!(
            Lexicon::for_language("xx").content_stems("the desks"),
            ["the", "desks"]
        );
    }

    #[test]
    fn languages_of_the_lists_are_known() {
        for language in ["en", "de", "fr", "es", "it", "nl", "pt"] {
            let lexicon = Lexicon::for_language(language);
            assert!(
                !lexicon.stop.is_empty() && lexicon.stemmer.is_some(),
                "{language}"
            );
        }
    }

    #[test]
    fn small_parts() {
        assert_eq!(primary("pt-BR"), "pt");
        assert_eq!(fold_accents("qué es"), "que es");
        assert_eq!(fold_accents("Größe"), "Große");
        for number in ["2026", "3", "3.11", "v2", "2.4.57"] {
            assert!(is_version(number), "{number}");
        }
        for name in ["v", "20a6", "mp3", "3d", "vim"] {
            assert!(!is_version(name), "{name}");
        }
    }
}

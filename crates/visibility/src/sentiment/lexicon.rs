//! Lexicons: values of words, and words that change the values of others.

use std::{collections::HashMap, sync::LazyLock};

use crate::{
    lists::{entries, sections},
    normal::normal,
};

/// Endings of German adjectives, the longest first.
const GERMAN_ENDINGS: [&str; 10] = ["sten", "ster", "stes", "ste", "em", "en", "er", "es", "st", "e"];
/// Minimum length of a stem in bytes.
const MIN_STEM: usize = 4;

/// Role of a word for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Turns the value of a word behind it.
    Negator,
    /// Raises the value of the next word.
    Intensifier,
    /// Lowers the value of the next word.
    Damper,
    /// Parts a sentence into clauses.
    Contrast,
    /// May begin a sentence that goes on about the same brand.
    Pronoun,
    /// Stands before the one that is less so.
    Than,
}

/// Lexicon of a language.
pub(super) struct Lexicon {
    values: HashMap<String, f64>,
    roles: HashMap<String, Role>,
    has_endings: bool,
}

impl Lexicon {
    fn new(language: &str, words: &str) -> Self {
        let mut lexicon = Self {
            values: HashMap::new(),
            roles: HashMap::new(),
            has_endings: language == "de",
        };
        for entry in entries(words) {
            lexicon.add(entry, None);
        }
        for entry in sections(include_str!("../../data/lexicon/additions.txt")) {
            match entry.section.split_once('.') {
                Some((owner, kind)) if owner == language => lexicon.add_role(kind, entry.text),
                None if entry.section == language => lexicon.add(entry.text, None),
                _ => {}
            }
        }
        lexicon
    }

    fn add(&mut self, entry: &str, limit: Option<f64>) {
        if let Some((word, value)) = entry.rsplit_once(' ')
            && let Ok(value) = value.parse::<f64>()
        {
            let value = limit.map_or(value, |limit| value.clamp(-limit, limit));
            self.values.insert(normal(word), value);
        }
    }

    fn add_role(&mut self, kind: &str, words: &str) {
        let role = match kind {
            "negator" => Role::Negator,
            "intensifier" => Role::Intensifier,
            "damper" => Role::Damper,
            "contrast" => Role::Contrast,
            "pronoun" => Role::Pronoun,
            "than" => Role::Than,
            // words of marketing weigh at most 1
            _ => return words.split_whitespace().for_each(|word| self.limit(word)),
        };
        for word in words.split_whitespace() {
            self.roles.insert(normal(word), role);
        }
    }

    fn limit(&mut self, word: &str) {
        let word = normal(word);
        let value = self.values.get(&word).copied().unwrap_or(1.0);
        self.values.insert(word, value.clamp(-1.0, 1.0));
    }

    /// Returns the value of a word in normal form, about −4 to 4.
    pub(super) fn value(&self, word: &str) -> Option<f64> {
        if self.roles.contains_key(word) {
            return None;
        }
        if let Some(value) = self.values.get(word) {
            return Some(*value);
        }
        if !self.has_endings {
            return None;
        }
        let stems = GERMAN_ENDINGS
            .iter()
            .filter_map(|ending| word.strip_suffix(ending));
        stems
            .filter(|stem| stem.len() >= MIN_STEM)
            .find_map(|stem| self.values.get(stem))
            .copied()
    }

    pub(super) fn role(&self, word: &str) -> Option<Role> {
        self.roles.get(word).copied()
    }
}

static ENGLISH: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::new("en", include_str!("../../data/lexicon/en.txt")));
static GERMAN: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::new("de", include_str!("../../data/lexicon/de.txt")));
static FRENCH: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::new("fr", include_str!("../../data/lexicon/fr.txt")));

/// Returns the lexicon of a language by its primary subtag.
pub(super) fn find(language: &str) -> Option<&'static Lexicon> {
    match language {
        "en" => Some(&ENGLISH),
        "de" => Some(&GERMAN),
        "fr" => Some(&FRENCH),
        _ => None,
    }
}

//! Phrases in a text, whatever the inflection of their words.

use std::ops::Range;

use searchwright_keywords::{
    normalize,
    words::{Lexicon, tokens},
};

/// The words of a text as stems, with where each stands.
pub struct Stems {
    stems: Vec<String>,
    spans: Vec<Range<usize>>,
}

impl Stems {
    /// Splits a plain text into stems.
    pub fn from_text(text: &str, lexicon: &Lexicon) -> Self {
        let mut found = Self {
            stems: Vec::new(),
            spans: Vec::new(),
        };
        for word in tokens(text) {
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            found.spans.push(at..at + word.len());
            found.stems.push(lexicon.stem(&normalize(word)).into_owned());
        }
        found
    }

    /// Returns the number of words.
    pub fn word_count(&self) -> usize {
        self.stems.len()
    }

    /// Indices of the words with which the phrase begins, none within another; none of an empty phrase.
    pub fn places(&self, phrase: &Self) -> Vec<usize> {
        let wanted = phrase.stems.as_slice();
        let mut found = Vec::new();
        let mut at = 0;
        while !wanted.is_empty() && at + wanted.len() <= self.stems.len() {
            if self.stems[at..].starts_with(wanted) {
                found.push(at);
                at += wanted.len();
            } else {
                at += 1;
            }
        }
        found
    }

    /// Whether the phrase stands in it.
    pub fn has(&self, phrase: &Self) -> bool {
        !self.places(phrase).is_empty()
    }

    /// Returns the byte range of these words in the text; `None` past the end.
    pub fn span(&self, words: Range<usize>) -> Option<Range<usize>> {
        let words = self.spans.get(words)?;
        Some(words.first()?.start..words.last()?.end)
    }
}

#[cfg(test)]
mod tests {
    use searchwright_keywords::words::Lexicon;

    use super::Stems;

    #[test]
    fn inflected_phrases_are_found_where_they_stand() {
        let lexicon = Lexicon::for_language("en");
        let text = "Standing Desks, and a standing desk; no desk standing.";
        let stems = Stems::from_text(text, &lexicon);
        let phrase = Stems::from_text("standing desk", &lexicon);
        let places = stems.places(&phrase);
        assert_eq!(places, [0, 4]);
        let words: Vec<&str> = places
            .iter()
            .map(|at| &text[stems.span(*at..at + phrase.word_count()).unwrap()])
            .collect();
        assert_eq!(words, ["Standing Desks", "standing desk"]);
        assert!(!stems.has(&Stems::from_text("", &lexicon)));
        assert_eq!(stems.span(8..20), None);
    }
}

//! Readability: how long sentences and words are, by the formula made for the language.

use searchwright_site::text::{is_cjk, words};
use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use super::{document::Document, sentences::sentences, syllables::syllables};
use crate::keywords::words::primary;

/// Words of a sentence that is long.
pub const LONG_SENTENCE: u32 = 20;
/// Letters of a word that LIX does not yet call long.
const LIX_LETTERS: usize = 6;

/// What formulas are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Words of running text.
    pub words: u32,
    /// Sentences of running text.
    pub sentences: u32,
    /// Syllables, 0 where the language has no rule for them.
    pub syllables: u32,
    /// Letters and digits of all words.
    pub letters: u32,
    /// Words of more than 6 letters.
    pub long_words: u32,
    /// Sentences of more than [`LONG_SENTENCE`] words.
    pub long_sentences: u32,
}

/// The formula a score comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    /// Flesch 1948, English.
    FleschReadingEase,
    /// Amstad 1978, German.
    Amstad,
    /// Fernández Huerta 1959, Spanish.
    FernandezHuerta,
    /// Kandel and Moles 1958, French.
    KandelMoles,
    /// Oborneva 2006, Russian.
    Oborneva,
    /// Douma 1960, Dutch.
    FleschDouma,
    /// Lucisano and Piemontese 1988, Italian.
    Gulpease,
    /// Björnsson 1968, any language that parts words by spaces; lower is easier.
    Lix,
    /// Words per sentence, 1.7 characters to the word; Chinese and Japanese; lower is easier.
    SentenceLength,
}

/// How easy it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// 60 and more; LIX below 40; sentences of up to 20 words on average.
    Good,
    /// 50 to 59; LIX 40 to 49; sentences of up to 25 words on average.
    Fair,
    /// Harder.
    Poor,
}

/// What a text scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Readability {
    /// One decimal; may lie outside 0 to 100 for extreme texts.
    pub score: f64,
    /// Where it comes from.
    pub formula: Formula,
    /// What it means.
    pub band: Band,
}

/// Counts the running text of a document.
pub fn count(document: &Document, language: &str) -> Counts {
    let language = primary(language);
    let mut counts = Counts::default();
    for block in document.prose() {
        for sentence in sentences(block, &language) {
            let length = words(sentence);
            counts.sentences += 1;
            counts.words += length;
            counts.long_sentences += u32::from(length > LONG_SENTENCE);
            for word in sentence.unicode_words() {
                let letters = word.chars().filter(|c| c.is_alphanumeric()).count();
                counts.letters += letters as u32;
                counts.long_words += u32::from(letters > LIX_LETTERS);
                counts.syllables += syllables(word, &language).unwrap_or(0);
            }
        }
    }
    counts
}

/// Readability of a document; `None` without running text.
pub fn readability(document: &Document, language: &str) -> Option<Readability> {
    let cjk = {
        let chars = || {
            document
                .prose()
                .flat_map(str::chars)
                .filter(|c| c.is_alphanumeric())
        };
        2 * chars().filter(|c| is_cjk(*c)).count() > chars().count()
    };
    let formula = if cjk {
        Formula::SentenceLength
    } else {
        formula(language)
    };
    score(&count(document, language), formula)
}

/// The formula for a language.
pub fn formula(language: &str) -> Formula {
    match primary(language).as_str() {
        "en" => Formula::FleschReadingEase,
        "de" => Formula::Amstad,
        "es" => Formula::FernandezHuerta,
        "fr" => Formula::KandelMoles,
        "ru" => Formula::Oborneva,
        "nl" => Formula::FleschDouma,
        "it" => Formula::Gulpease,
        "zh" | "ja" => Formula::SentenceLength,
        _ => Formula::Lix,
    }
}

/// What a formula makes of counts; `None` when there are no words.
pub fn score(counts: &Counts, formula: Formula) -> Option<Readability> {
    if counts.words == 0 || counts.sentences == 0 {
        return None;
    }
    let words = f64::from(counts.words);
    let per_sentence = words / f64::from(counts.sentences);
    let per_word = f64::from(counts.syllables) / words;
    let score = match formula {
        Formula::FleschReadingEase => 206.835 - 1.015 * per_sentence - 84.6 * per_word,
        Formula::Amstad => 180.0 - per_sentence - 58.5 * per_word,
        Formula::FernandezHuerta => 206.84 - 1.02 * per_sentence - 60.0 * per_word,
        Formula::KandelMoles => 207.0 - 1.015 * per_sentence - 73.6 * per_word,
        Formula::Oborneva => 206.835 - 1.3 * per_sentence - 60.1 * per_word,
        Formula::FleschDouma => 206.84 - 0.93 * per_sentence - 77.0 * per_word,
        Formula::Gulpease => {
            89.0 + (300.0 * f64::from(counts.sentences) - 10.0 * f64::from(counts.letters)) / words
        }
        Formula::Lix => per_sentence + 100.0 * f64::from(counts.long_words) / words,
        Formula::SentenceLength => per_sentence,
    };
    let score = (score * 10.0).round() / 10.0;
    let (good, fair) = match formula {
        Formula::Lix => (score < 40.0, score < 50.0),
        Formula::SentenceLength => (score <= 20.0, score <= 25.0),
        _ => (score >= 60.0, score >= 50.0),
    };
    let band = match (good, fair) {
        (true, _) => Band::Good,
        (_, true) => Band::Fair,
        _ => Band::Poor,
    };
    Some(Readability { score, formula, band })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, language: &str) -> Readability {
        readability(&Document::of_markdown(text).unwrap(), language).unwrap()
    }

    #[test]
    fn the_reference_scores() {
        let counts = Counts {
            words: 100,
            sentences: 5,
            syllables: 150,
            letters: 450,
            long_words: 20,
            long_sentences: 0,
        };
        let cases = [
            (Formula::FleschReadingEase, 59.6, Band::Fair),
            (Formula::Amstad, 72.3, Band::Good),
            (Formula::FernandezHuerta, 96.4, Band::Good),
            (Formula::KandelMoles, 76.3, Band::Good),
            (Formula::Oborneva, 90.7, Band::Good),
            (Formula::FleschDouma, 72.7, Band::Good),
            (Formula::Gulpease, 59.0, Band::Fair),
            (Formula::Lix, 40.0, Band::Fair),
            (Formula::SentenceLength, 20.0, Band::Good),
        ];
        for (formula, expected, band) in cases {
            assert_eq!(
                score(&counts, formula),
                Some(Readability {
                    score: expected,
                    formula,
                    band
                })
            );
        }
        assert_eq!(score(&Counts::default(), Formula::Lix), None);
    }

    #[test]
    fn short_words_are_easier_than_long_ones() {
        let pairs = [
            (
                "en",
                "The cat sat on the mat. It was warm.",
                "Organisational considerations necessitate comprehensive deliberation.",
            ),
            (
                "de",
                "Der Hund ist da. Er ist froh.",
                "Gesamtorganisatorische Überlegungen erfordern Vereinbarungen.",
            ),
            (
                "es",
                "El sol sale. La casa es azul.",
                "Consideraciones organizativas necesitan deliberaciones extraordinarias.",
            ),
            (
                "fr",
                "Le chat dort. Il est là.",
                "Considérations organisationnelles nécessitant délibérations extraordinaires.",
            ),
            (
                "ru",
                "Дом мал. Он тут.",
                "Организационные соображения требуют дополнительного рассмотрения.",
            ),
            (
                "nl",
                "De kat zit. Het is warm.",
                "Organisatorische overwegingen vereisen uitgebreide besluitvorming.",
            ),
            (
                "it",
                "Il sole c'è. Va bene.",
                "Considerazioni organizzative richiedono deliberazioni straordinarie.",
            ),
        ];
        for (language, easy, hard) in pairs {
            let (easy, hard) = (of(easy, language), of(hard, language));
            assert!(easy.score > hard.score, "{language}: {easy:?} {hard:?}");
            assert_eq!((easy.band, hard.band), (Band::Good, Band::Poor), "{language}");
        }
        assert!(
            of("Kissa on tuolla. Se on iso.", "fi").score
                < of("Järjestelmällisyydestänsäkään huolimatta epäonnistuneet.", "fi").score
        );
    }

    #[test]
    fn chinese_is_judged_by_its_sentences() {
        let found = of("今天天气很好。我们去公园散步吧。", "en");
        assert_eq!(found.formula, Formula::SentenceLength);
        // 7 and 8 characters are 4 and 5 words
        assert_eq!(found.score, 4.5);
    }

    #[test]
    fn headings_cells_and_code_do_not_count() {
        let plain = of("The cat sat on the mat.", "en");
        let with = of(
            "# Extraordinary Considerations\n\nThe cat sat on the mat.\n\n```\nvery long code without any stop\n```",
            "en",
        );
        assert_eq!(plain, with);
    }
}

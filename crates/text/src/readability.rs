//! Readability by the length of sentences and words, with the formula for the language.

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::{
    ascii_words::each_ascii_word, hashes::hash, language_tag::primary, scripts::is_mostly_cjk,
    sentences::each_sentence, syllables::Rule, words::words,
};

/// Number of words above which a sentence is long.
pub const LONG_SENTENCE: u32 = 20;
/// Maximum number of letters of a word that LIX does not count as long.
const LIX_LETTERS: usize = 6;

/// Counts that formulas use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of words of running text.
    pub words: u32,
    /// Number of sentences of running text.
    pub sentences: u32,
    /// Number of syllables, 0 if the language has no rule for them.
    pub syllables: u32,
    /// Number of letters and digits of all words.
    pub letters: u32,
    /// Number of words of more than 6 letters.
    pub long_words: u32,
    /// Number of sentences of more than [`LONG_SENTENCE`] words.
    pub long_sentences: u32,
}

impl Counts {
    /// Adds separate counts.
    pub fn join(&mut self, other: Self) {
        self.words += other.words;
        self.sentences += other.sentences;
        self.syllables += other.syllables;
        self.letters += other.letters;
        self.long_words += other.long_words;
        self.long_sentences += other.long_sentences;
    }
}

/// Formula of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Björnsson 1968, any language with spaces between words; lower is easier.
    Lix,
    /// Words per sentence with 1.7 characters per word, for Chinese and Japanese; lower is easier.
    SentenceLength,
}

/// Ease of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// 60 and more; LIX below 40; sentences of up to 20 words on average.
    Good,
    /// 50 to 59; LIX 40 to 49; sentences of up to 25 words on average.
    Fair,
    /// Harder than `Fair`.
    Poor,
}

/// Score of a text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Readability {
    /// Score with one decimal; may be outside 0 to 100 for extreme texts.
    pub score: f64,
    /// Formula of the score.
    pub formula: Formula,
    /// Band of the score.
    pub band: Band,
}

/// Counts running text, given as its paragraphs.
pub fn count<'t>(paragraphs: impl Iterator<Item = &'t str>, language: &str) -> Counts {
    let language = primary(language);
    let rule = Rule::for_language(&language);
    let mut counts = Counts::default();
    let mut room = String::new();
    for paragraph in paragraphs {
        let paragraph = without_typography(paragraph, &mut room);
        let is_ascii = paragraph.is_ascii();
        each_sentence(paragraph, &language, |place| {
            let before = counts.words;
            let mut add = |word: &str, letters: usize, key: u64| {
                counts.letters += letters as u32;
                counts.long_words += u32::from(letters > LIX_LETTERS);
                counts.syllables += rule.map_or(0, |rule| rule.count(word, key));
            };
            let sentence = &paragraph[place.clone()];
            if is_ascii || sentence.is_ascii() {
                each_ascii_word(paragraph, place, |word, letters, key| {
                    counts.words += 1;
                    add(word, letters, key);
                });
            } else {
                counts.words += words(sentence);
                for word in sentence.unicode_words() {
                    let letters = word.chars().filter(|c| c.is_alphanumeric()).count();
                    add(word, letters, hash(word.as_bytes()));
                }
            }
            counts.sentences += 1;
            counts.long_sentences += u32::from(counts.words - before > LONG_SENTENCE);
        });
    }
    counts
}

/// Replaces typographic characters by ASCII characters that UAX #29 treats alike, if a text has no others outside
/// ASCII: the tables of all characters cost ten times as much, and most texts contain a curly apostrophe.
fn without_typography<'t>(text: &'t str, room: &'t mut String) -> &'t str {
    if text.is_ascii() {
        return text;
    }
    room.clear();
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| !b.is_ascii()) {
        let (plain, others) = rest.split_at(at);
        let mut chars = others.chars();
        let mark = match chars.next() {
            Some('‘' | '’') => '\'',
            Some('“' | '”' | '„' | '«' | '»') => '"',
            Some('–' | '—') => '-',
            // does not end a sentence, unlike three full stops
            Some('…') => '%',
            _ => return text,
        };
        room.push_str(plain);
        room.push(mark);
        rest = chars.as_str();
    }
    room.push_str(rest);
    room
}

/// Returns the readability of running text, given as its paragraphs; `None` if there is none.
pub fn readability<'t>(
    paragraphs: impl Iterator<Item = &'t str> + Clone,
    language: &str,
) -> Option<Readability> {
    let formula = if is_mostly_cjk(paragraphs.clone()) {
        Formula::SentenceLength
    } else {
        formula(language)
    };
    score(&count(paragraphs, language), formula)
}

/// Returns the formula for a language.
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

/// Computes the score of counts by a formula; `None` if there are no words.
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

    proptest::proptest! {
        #[test]
        fn typography_counts_as_before(text in "[aAbB0 .!?,;:'\"()\\-‘’“”„«»–—…]{0,60}") {
            // the letters outside ASCII before it keep the tables in use
            let with_tables = count(std::iter::once(&*format!("éé.\n{text}")), "en");
            let mut plain = count(std::iter::once(&*text), "en");
            plain.join(count(std::iter::once("éé."), "en"));
            proptest::prop_assert!(without_typography(&text, &mut String::new()).is_ascii());
            proptest::prop_assert_eq!(plain, with_tables);
        }
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
}

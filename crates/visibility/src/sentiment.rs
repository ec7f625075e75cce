//! Sentiment towards a brand by lexicon, by rules of version [`SENTIMENT_VERSION`].
//!
//! Answers of assistants flatter by default, so words of marketing weigh at most 1. Languages without a lexicon have no
//! score, and the reason is stated.

mod lexicon;
mod passages;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use self::lexicon::{Lexicon, Role};
use crate::{answer_text::AnswerText, mentions::MatchedAnswer};

/// Version of the rules and lexicons; stored with every score.
pub const SENTIMENT_VERSION: &str = "lex-v1";
/// Score from which a label is positive; negative from its opposite.
const LABEL_SCORE: f64 = 0.2;
/// Mass of both signs from which a label is mixed.
const MIXED_MASS: f64 = 0.4;
/// Factor of a word behind a negation.
const NEGATED: f64 = -0.74;
/// Factor of a word behind an intensifier.
const INTENSIFIED: f64 = 1.29;
/// Factor of a word behind a damper.
const DAMPED: f64 = 0.71;
/// Number of words behind a negation that it turns.
const NEGATION_WORDS: usize = 3;
/// Constant of the normalisation `S/√(S² + 15)`.
const NORMALISATION: f64 = 15.0;

/// Label of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentimentLabel {
    /// Score of at most −0.2.
    Negative,
    /// Score between.
    Neutral,
    /// Score of at least 0.2.
    Positive,
    /// Much of both.
    Mixed,
}

/// Reason why there is no score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentimentGap {
    /// No lexicon of the language is known.
    UnsupportedLanguage,
    /// The answer does not mention the brand.
    NotMentioned,
}

/// Sentiment towards a brand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sentiment {
    /// Score, −1 to 1; `null` if there is none.
    pub score: Option<f64>,
    /// Label of the score.
    pub label: Option<SentimentLabel>,
    /// Reason why there is no score.
    pub reason: Option<SentimentGap>,
    /// Version of the rules.
    pub version: String,
    /// Number of words with a value.
    pub words: u32,
}

impl Sentiment {
    fn missing(reason: SentimentGap) -> Self {
        Self {
            score: None,
            label: None,
            reason: Some(reason),
            version: SENTIMENT_VERSION.to_owned(),
            words: 0,
        }
    }
}

/// Whether there is a lexicon of a language.
pub fn is_supported(language: &str) -> bool {
    lexicon::find(&searchwright_text::primary(language)).is_some()
}

impl MatchedAnswer<'_> {
    /// Returns the sentiment towards a brand by its id.
    pub fn sentiment(&self, brand: &str) -> Sentiment {
        let Some(lexicon) = lexicon::find(self.answer.language()) else {
            return Sentiment::missing(SentimentGap::UnsupportedLanguage);
        };
        let place = self.matcher.brands.iter().position(|known| known.id == brand);
        let Some(place) = place.filter(|place| self.counted(*place).next().is_some()) else {
            return Sentiment::missing(SentimentGap::NotMentioned);
        };
        let mut sum = Mass::default();
        for passage in passages::find(self, lexicon, place) {
            add_clause(self, lexicon, &passage, &mut sum);
        }
        let score = normalise(sum.positive - sum.negative);
        Sentiment {
            score: Some(score),
            label: Some(label(score, &sum)),
            reason: None,
            version: SENTIMENT_VERSION.to_owned(),
            words: sum.words,
        }
    }
}

/// Values of both signs.
#[derive(Default)]
struct Mass {
    positive: f64,
    negative: f64,
    words: u32,
}

fn normalise(sum: f64) -> f64 {
    sum / (sum * sum + NORMALISATION).sqrt()
}

fn label(score: f64, sum: &Mass) -> SentimentLabel {
    if normalise(sum.positive) >= MIXED_MASS && normalise(sum.negative) >= MIXED_MASS {
        return SentimentLabel::Mixed;
    }
    match score {
        _ if score >= LABEL_SCORE => SentimentLabel::Positive,
        _ if score <= -LABEL_SCORE => SentimentLabel::Negative,
        _ => SentimentLabel::Neutral,
    }
}

/// Words about a brand.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Passage {
    tokens: Range<usize>,
    /// Words up to here are about another brand that this one is compared with: their sign turns.
    turned_before: usize,
}

fn add_clause(matched: &MatchedAnswer<'_>, lexicon: &Lexicon, passage: &Passage, sum: &mut Mass) {
    let answer = matched.answer;
    let mut name = matched
        .hits
        .partition_point(|hit| hit.tokens.end <= passage.tokens.start);
    for at in passage.tokens.clone() {
        while matched.hits.get(name).is_some_and(|hit| hit.tokens.end <= at) {
            name += 1;
        }
        // names have no value, as `Best Buy`
        if matched.hits.get(name).is_some_and(|hit| hit.tokens.start <= at) {
            continue;
        }
        let Some(value) = lexicon.value(answer.normal(at)) else {
            continue;
        };
        let mut value = value * factor(answer, lexicon, at, passage.tokens.start);
        if at < passage.turned_before {
            value = -value;
        }
        sum.words += 1;
        if value > 0.0 {
            sum.positive += value;
        } else {
            sum.negative -= value;
        }
    }
}

/// Returns the factor that the words before a word give it.
fn factor(answer: &AnswerText, lexicon: &Lexicon, at: usize, start: usize) -> f64 {
    let mut factor = 1.0;
    for (distance, before) in (start..at).rev().take(NEGATION_WORDS).enumerate() {
        match lexicon.role(answer.normal(before)) {
            Some(Role::Negator) => return factor * NEGATED,
            Some(Role::Intensifier) if distance == 0 => factor *= INTENSIFIED,
            Some(Role::Damper) if distance == 0 => factor *= DAMPED,
            _ => {}
        }
    }
    factor
}

#[cfg(test)]
mod tests;

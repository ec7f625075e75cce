//! Sentences of answers that contradict the brand data.
//!
//! Precision comes before recall. A sentence is read only if it names one own product (or the own brand, for its website)
//! and nobody else, asks nothing, supposes nothing, and speaks of no version, discount, subscription, past or seller. Between
//! the subject and the object of the claim only words of the lists in `data/facts.txt` may stand. English and German only.

mod money;
mod rules;
mod words;

use std::ops::Range;

use crate::{
    answer_text::{AnswerText, Span},
    brands::Via,
    mentions::MatchedAnswer,
    normal::key,
    phrases::{PhraseHit, PhraseSet},
};
use rules::Sentence;

/// Most findings in an answer.
pub const MAX_FINDINGS: usize = 20;
/// Most words of a sentence that is read.
const MAX_WORDS: usize = 60;
/// Most words of a feature that is looked for.
const MAX_FEATURE_WORDS: usize = 8;
/// Fewest characters of a feature that is looked for.
const MIN_FEATURE_CHARS: usize = 4;
/// Languages whose words are known.
const LANGUAGES: [&str; 2] = ["en", "de"];

/// A price.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductPrice {
    /// Amount.
    pub amount: f64,
    /// Currency (ISO 4217).
    pub currency: String,
}

/// Facts of a product.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProductFacts {
    /// Id.
    pub id: String,
    /// Name, and other names.
    pub names: Vec<String>,
    /// Price, if it is known.
    pub price: Option<ProductPrice>,
    /// Whether it is no longer on offer.
    pub is_retired: bool,
    /// Features and differentiators.
    pub features: Vec<String>,
}

/// Kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactKind {
    /// Price of a product.
    Price,
    /// Website of the brand.
    Website,
    /// A retired product, named as available.
    Availability,
    /// A feature that is denied.
    Feature,
}

/// A sentence that contradicts the brand data.
#[derive(Clone, Debug, PartialEq)]
pub struct FactFinding {
    /// Kind of the fact.
    pub kind: FactKind,
    /// Id of the product; `None` for the brand.
    pub product: Option<String>,
    /// Claim, as it is written.
    pub claimed: String,
    /// Fact of the brand data.
    pub expected: String,
    /// The sentence, from its first word to its last.
    pub span: Span,
}

/// Facts of the brand data, compiled once for many answers.
#[derive(Clone, Debug, Default)]
pub struct FactChecker {
    products: Vec<ProductFacts>,
    names: PhraseSet,
    /// Product of each name.
    name_owners: Vec<usize>,
    features: PhraseSet,
    feature_owners: Vec<Feature>,
}

/// A feature, as it is looked for.
#[derive(Clone, Debug)]
struct Feature {
    product: usize,
    text: String,
}

impl FactChecker {
    /// Compiles the facts of products.
    pub fn new(products: Vec<ProductFacts>) -> Self {
        let (mut names, mut name_owners) = (Vec::new(), Vec::new());
        let (mut features, mut feature_owners) = (Vec::new(), Vec::new());
        for (place, product) in products.iter().enumerate() {
            for name in &product.names {
                names.push(key(name).norm);
                name_owners.push(place);
            }
            for text in &product.features {
                let found = key(text);
                let is_long_enough = found.norm.chars().count() >= MIN_FEATURE_CHARS;
                if is_long_enough && found.words <= MAX_FEATURE_WORDS {
                    features.push(found.norm);
                    feature_owners.push(Feature {
                        product: place,
                        text: text.clone(),
                    });
                }
            }
        }
        Self {
            products,
            names: PhraseSet::from_keys(names),
            name_owners,
            features: PhraseSet::from_keys(features),
            feature_owners,
        }
    }

    /// Returns the sentences of an answer that contradict the facts, at most [`MAX_FINDINGS`].
    pub fn check(&self, matched: &MatchedAnswer<'_>) -> Vec<FactFinding> {
        let answer = matched.answer;
        let is_own = |brand: usize| matched.matcher.brands[brand].is_own;
        let own = || {
            matched
                .hits
                .iter()
                .filter(|hit| is_own(hit.brand) && hit.is_counted())
        };
        if !LANGUAGES.contains(&answer.language()) || own().next().is_none() {
            return Vec::new();
        }
        let is_inside =
            |outer: &Range<usize>, inner: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
        let products: Vec<PhraseHit> = longest(self.names.find(answer))
            .into_iter()
            .filter(|found| own().any(|hit| is_inside(&hit.tokens, &found.tokens)))
            .collect();
        let features = self.features.find(answer);
        let vetoes = words::find_vetoes(answer);
        let mut findings = Vec::new();
        for tokens in answer.sentences.iter().filter(|tokens| tokens.len() <= MAX_WORDS) {
            let brands: Vec<_> = matched
                .hits
                .iter()
                .filter(|hit| is_inside(tokens, &hit.tokens))
                .collect();
            // another brand, or an own name that is not certain
            if brands.is_empty() || brands.iter().any(|hit| !is_own(hit.brand) || !hit.is_counted()) {
                continue;
            }
            let sentence = Sentence {
                checker: self,
                matched,
                tokens: tokens.clone(),
                names: brands
                    .iter()
                    .filter(|hit| hit.via == Via::Name)
                    .map(|hit| hit.tokens.clone())
                    .collect(),
                brands: brands.iter().map(|hit| hit.tokens.clone()).collect(),
                products: products
                    .iter()
                    .filter(|hit| is_inside(tokens, &hit.tokens))
                    .cloned()
                    .collect(),
                features: features
                    .iter()
                    .filter(|hit| is_inside(tokens, &hit.tokens))
                    .cloned()
                    .collect(),
            };
            if !sentence.is_vetoed(&vetoes) {
                sentence.check(&mut findings);
            }
            if findings.len() >= MAX_FINDINGS {
                break;
            }
        }
        findings.truncate(MAX_FINDINGS);
        findings
    }
}

/// Returns the names that lie in no longer one.
fn longest(mut hits: Vec<PhraseHit>) -> Vec<PhraseHit> {
    hits.sort_by_key(|hit| (hit.tokens.start, std::cmp::Reverse(hit.tokens.end)));
    let mut end = 0;
    hits.retain(|hit| {
        let keeps = hit.tokens.start >= end;
        end = end.max(hit.tokens.end);
        keeps
    });
    hits
}

/// A part of an answer, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Place in the answer, in characters.
    pub span: Span,
    /// The text at this place.
    pub text: String,
}

/// Returns a sentence as it stands in an answer, with the signs before its first word and behind its last.
pub fn quote(text: &str, sentence: Span) -> Quote {
    let is_sign = |c: char| matches!(c, '€' | '$' | '£' | '¥' | '"' | '„' | '“' | '(');
    let is_end = |c: char| {
        matches!(
            c,
            '.' | '!' | '?' | ')' | '"' | '”' | '“' | '€' | '£' | '¥' | '$' | '-'
        )
    };
    let (first, last) = (sentence.start as usize, sentence.end as usize);
    let before: Vec<char> = text.chars().take(first).collect();
    let start = first - before.iter().rev().take_while(|c| is_sign(**c)).count();
    let behind: Vec<char> = text.chars().skip(last).take(4).collect();
    let space = usize::from(matches!(
        behind.as_slice(),
        [' ' | '\u{a0}' | '\u{202f}', '€' | '£' | '¥' | '$', ..]
    ));
    let end = last + space + behind.iter().skip(space).take_while(|c| is_end(**c)).count();
    Quote {
        span: Span {
            start: start as u32,
            end: end as u32,
        },
        text: text.chars().skip(start).take(end - start).collect(),
    }
}

/// Returns the plain text from the first word of a sentence to the first of the next one.
fn sentence_text<'a>(answer: &'a AnswerText, tokens: &Range<usize>) -> &'a str {
    let place = sentence_place(answer, tokens);
    answer.plain.get(place).unwrap_or("")
}

fn sentence_place(answer: &AnswerText, tokens: &Range<usize>) -> Range<usize> {
    let Some(first) = answer.tokens.get(tokens.start) else {
        return 0..0;
    };
    let line = answer
        .block(tokens.start)
        .map_or(answer.plain.len(), |block| block.range.end);
    let next = answer
        .tokens
        .get(tokens.end)
        .map_or(line, |next| next.place.start);
    first.place.start..next.min(line).max(first.place.end)
}

#[cfg(test)]
mod tests;

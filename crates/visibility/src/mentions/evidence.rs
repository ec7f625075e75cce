//! Evidence that an ambiguous name means the brand.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::hits::{Hit, Status, is_head};
use crate::{
    answer_text::AnswerText,
    brands::{BrandMatcher, Via},
    markdown::BlockKind,
    normal::Script,
    phrases::{PhraseHit, PhraseSet},
};

/// Number of words around a name in which a term of the category is evidence.
const NEAR_WORDS: usize = 12;

/// Reason why an occurrence counts or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The name means nothing else.
    Unambiguous,
    /// It is a domain of the brand.
    Domain,
    /// It has a capital inside a sentence.
    Capital,
    /// The answer names a domain of the brand.
    DomainInAnswer,
    /// The answer names a product of the brand.
    ProductInAnswer,
    /// The answer names the brand by another, unambiguous name.
    OtherName,
    /// A term of the category stands near.
    CategoryTerm,
    /// It heads a list item.
    ListHead,
    /// Nothing shows that the brand is meant.
    Missing,
    /// Several brands have the name, and nothing shows which one is meant.
    SharedName,
    /// A negative context stands near.
    NegativeContext,
    /// The sentence repeats the prompt.
    PromptEcho,
    /// The answer says that it does not know the brand.
    Refusal,
}

/// Facts about the whole answer, by brand.
struct AnswerEvidence {
    domains: Vec<bool>,
    products: Vec<bool>,
    names: Vec<bool>,
    /// Words that are category terms, as sorted pairs of brand and place.
    terms: Vec<BrandPlace>,
    negatives: Vec<BrandPlace>,
}

/// A phrase of a brand in the answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BrandPlace {
    brand: usize,
    start: usize,
    end: usize,
    holds_name: bool,
}

/// Decides on every occurrence.
pub(super) fn judge(matcher: &BrandMatcher, answer: &AnswerText, hits: &mut [Hit]) {
    if hits.is_empty() {
        return;
    }
    let facts = AnswerEvidence::new(matcher, answer, hits);
    for hit in hits {
        if hit.via == Via::Domain {
            continue;
        }
        if facts.is_vetoed(answer, hit) {
            hit.status = Status::Vetoed;
            hit.evidence = Evidence::NegativeContext;
        } else if hit.is_shared {
            let found = facts
                .whole_answer(hit.brand)
                .filter(|found| *found != Evidence::OtherName);
            hit.status = found.map_or(Status::Candidate, |_| Status::Counted);
            hit.evidence = found.unwrap_or(Evidence::SharedName);
        } else if hit.is_ambiguous {
            let found = facts.find(answer, hit);
            hit.status = found.map_or(Status::Candidate, |_| Status::Counted);
            hit.evidence = found.unwrap_or(Evidence::Missing);
        }
    }
}

fn places(set: &PhraseSet, answer: &AnswerText, place: impl Fn(&PhraseHit) -> BrandPlace) -> Vec<BrandPlace> {
    let mut places: Vec<BrandPlace> = set.find(answer).iter().map(place).collect();
    places.sort_unstable();
    places
}

impl AnswerEvidence {
    fn new(matcher: &BrandMatcher, answer: &AnswerText, hits: &[Hit]) -> Self {
        let none = vec![false; matcher.brands.len()];
        let mut facts = Self {
            domains: none.clone(),
            products: none.clone(),
            names: none,
            terms: places(&matcher.category, answer, |hit| BrandPlace {
                brand: matcher.category_phrases[hit.phrase].brand,
                start: hit.tokens.start,
                end: hit.tokens.end,
                holds_name: false,
            }),
            negatives: places(&matcher.negative, answer, |hit| BrandPlace {
                brand: matcher.negative_phrases[hit.phrase].brand,
                start: hit.tokens.start,
                end: hit.tokens.end,
                holds_name: matcher.negative_phrases[hit.phrase].holds_name,
            }),
        };
        for hit in hits {
            match hit.via {
                Via::Domain => facts.domains[hit.brand] = true,
                _ if hit.is_ambiguous || hit.is_shared => {}
                Via::Product => facts.products[hit.brand] = true,
                Via::Name => facts.names[hit.brand] = true,
            }
        }
        facts
    }

    fn is_vetoed(&self, answer: &AnswerText, hit: &Hit) -> bool {
        let sentence = answer.tokens[hit.tokens.start].sentence;
        near(&self.negatives, hit.brand, &hit.tokens, NEAR_WORDS).any(|place| {
            if place.holds_name {
                place.start < hit.tokens.end && hit.tokens.start < place.end
            } else {
                within(place, &hit.tokens) && answer.tokens[place.start].sentence == sentence
            }
        })
    }

    /// Returns evidence anywhere in the answer.
    fn whole_answer(&self, brand: usize) -> Option<Evidence> {
        match () {
            () if self.domains[brand] => Some(Evidence::DomainInAnswer),
            () if self.products[brand] => Some(Evidence::ProductInAnswer),
            () if self.names[brand] => Some(Evidence::OtherName),
            () => None,
        }
    }

    fn find(&self, answer: &AnswerText, hit: &Hit) -> Option<Evidence> {
        let is_cased = answer.tokens[hit.tokens.start].script == Script::Spaced;
        if is_cased && !hit.is_small && starts_small(answer, hit) {
            // an ordinary word in lower case
            return None;
        }
        if hit.has_own_capitals && !is_all_capitals(answer, hit) || is_capital_inside(answer, hit) {
            return Some(Evidence::Capital);
        }
        if let Some(found) = self.whole_answer(hit.brand) {
            return Some(found);
        }
        if near(&self.terms, hit.brand, &hit.tokens, NEAR_WORDS).any(|place| {
            let is_outside = place.end <= hit.tokens.start || place.start >= hit.tokens.end;
            is_outside && within(place, &hit.tokens)
        }) {
            return Some(Evidence::CategoryTerm);
        }
        is_head(answer, &hit.tokens).then_some(Evidence::ListHead)
    }
}

/// Whether a place is at most [`NEAR_WORDS`] words away.
fn within(place: &BrandPlace, tokens: &Range<usize>) -> bool {
    place.start < tokens.end + NEAR_WORDS && place.end + NEAR_WORDS > tokens.start
}

/// Returns the places of a brand that may be near some words.
fn near<'p>(
    places: &'p [BrandPlace],
    brand: usize,
    tokens: &Range<usize>,
    words: usize,
) -> impl Iterator<Item = &'p BrandPlace> + use<'p> {
    let reach = words + 64;
    let (low, high) = (tokens.start.saturating_sub(reach), tokens.end + words);
    let first =
        places.partition_point(|place| place.brand < brand || place.brand == brand && place.start < low);
    let rest = places[first..].iter();
    rest.take_while(move |place| place.brand == brand && place.start < high)
}

/// Whether the word begins with a small letter.
fn starts_small(answer: &AnswerText, hit: &Hit) -> bool {
    answer.text(hit.tokens.clone()).starts_with(char::is_lowercase)
}

/// Whether the whole sentence is written in capitals.
fn is_all_capitals(answer: &AnswerText, hit: &Hit) -> bool {
    let sentence = answer.sentence(hit.tokens.start);
    sentence.len() > hit.tokens.len() && !answer.text(sentence).chars().any(char::is_lowercase)
}

/// Whether a name has a capital that neither its place nor its language asks for.
fn is_capital_inside(answer: &AnswerText, hit: &Hit) -> bool {
    let at = hit.tokens.start;
    if hit.has_usual_capital || !answer.is_capitalised(at) {
        return false;
    }
    if answer
        .block(at)
        .is_none_or(|block| block.kind == BlockKind::Heading)
    {
        return false;
    }
    let sentence = answer.sentence(at);
    let is_first = sentence.start == at;
    let before = at.checked_sub(1).map(|at| answer.tokens[at].script);
    if is_first || answer.before(at).contains(['"', '“', '„', '«']) {
        return false;
    }
    // in a title every word has a capital; in a script without case, a capital comes with the foreign name
    before != Some(Script::Spaced) || has_small_word(answer, sentence, &hit.tokens)
}

/// Whether a sentence has a word in lower case of at least two letters beside the name.
fn has_small_word(answer: &AnswerText, sentence: Range<usize>, tokens: &Range<usize>) -> bool {
    let mut others = sentence.filter(|at| !tokens.contains(at));
    others.any(|at| !answer.is_capitalised(at) && answer.tokens[at].norm.len() >= 2)
}

//! Occurrences of names: complete words, the longest name of those that overlap.

use std::ops::Range;

use super::evidence::Evidence;
use crate::{
    answer_text::{AnswerText, Gap},
    brands::{BrandMatcher, Pattern, Spelling, Via},
    markdown::BlockKind,
    normal::{Script, each_word, push_normal},
    phrases::{PhraseHit, is_complete},
    refusal,
};

/// Minimum share of the words of a first sentence that stand in the prompt if it restates it.
const ECHO_SHARE: f64 = 0.7;
/// Maximum number of occurrences in an answer; further ones are left out.
const MAX_HITS: usize = 50_000;
/// Maximum number of words between a refusal and the brand that it is about.
const REFUSAL_WORDS: usize = 12;
/// Maximum number of phrases of refusal that are read.
const MAX_PHRASES: usize = 20;
/// Maximum length of a name of several words that is taken for initials.
const MAX_INITIALS: usize = 4;

/// Standing of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Counted,
    /// The name may mean something else.
    Candidate,
    /// The name certainly means something else.
    Vetoed,
    /// The sentence repeats the prompt.
    Echo,
    /// The answer says that it does not know the brand.
    Refused,
}

/// An occurrence of a name of a brand.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) brand: usize,
    pub(crate) via: Via,
    pub(crate) tokens: Range<usize>,
    pub(crate) status: Status,
    pub(crate) evidence: Evidence,
    /// Whether the name needs evidence.
    pub(crate) is_ambiguous: bool,
    /// Whether a capital is no evidence.
    pub(crate) has_usual_capital: bool,
    /// Whether the brand writes its name with a small letter.
    pub(crate) is_small: bool,
    /// Whether it is written with capitals that only the name has.
    pub(crate) has_own_capitals: bool,
    /// Whether several brands have the name.
    pub(crate) is_shared: bool,
}

impl Hit {
    pub(crate) fn is_counted(&self) -> bool {
        self.status == Status::Counted
    }
}

/// Names at one place.
struct Place {
    tokens: Range<usize>,
    hits: Vec<Hit>,
}

/// Finds all occurrences, in the order of the text.
pub(super) fn find(matcher: &BrandMatcher, answer: &AnswerText) -> Vec<Hit> {
    let mut places = domain_places(matcher, answer);
    for hit in matcher.names.find(answer) {
        if places.len() >= MAX_HITS {
            break;
        }
        let accepted = accept(&matcher.patterns[hit.phrase], answer, &hit);
        if !accepted.is_empty() {
            places.push(Place {
                tokens: hit.tokens,
                hits: accepted,
            });
        }
    }
    // a domain was added first, so it stays before a name of the same length
    places.sort_by_key(|place| (place.tokens.start, std::cmp::Reverse(place.tokens.end)));
    let mut hits = Vec::new();
    let mut end = 0;
    for place in places {
        if hits.len() >= MAX_HITS {
            break;
        }
        if place.tokens.start >= end {
            end = place.tokens.end;
            hits.extend(place.hits);
        }
    }
    hits
}

fn domain_places(matcher: &BrandMatcher, answer: &AnswerText) -> Vec<Place> {
    let mut places = Vec::new();
    for host in &answer.hosts {
        if answer.before(host.tokens.start).ends_with('@') {
            continue;
        }
        let owners = matcher.domain_owners(&host.name);
        let hits: Vec<Hit> = owners
            .iter()
            .map(|brand| domain_hit(*brand, &host.tokens))
            .collect();
        if !hits.is_empty() {
            places.push(Place {
                tokens: host.tokens.clone(),
                hits,
            });
        }
    }
    places
}

fn domain_hit(brand: usize, tokens: &Range<usize>) -> Hit {
    Hit {
        brand,
        via: Via::Domain,
        tokens: tokens.clone(),
        status: Status::Counted,
        evidence: Evidence::Domain,
        is_ambiguous: false,
        has_usual_capital: false,
        is_small: false,
        has_own_capitals: false,
        is_shared: false,
    }
}

/// Returns the brands whose spelling fits the words at a place.
fn accept(pattern: &Pattern, answer: &AnswerText, hit: &PhraseHit) -> Vec<Hit> {
    if is_part_of_host(answer, &hit.tokens) || !is_complete(answer, &hit.tokens) {
        return Vec::new();
    }
    let text = answer.text(hit.tokens.clone());
    let lower = text.to_lowercase();
    let mut common = pattern.common.iter();
    let common = common.find(|common| common.language == answer.language && common.word == lower);
    let fitting = || {
        pattern
            .spellings
            .iter()
            .filter(|spelling| fits(spelling, answer, &hit.tokens, text))
    };
    let mut brands: Vec<usize> = fitting().map(|spelling| spelling.brand).collect();
    brands.sort_unstable();
    brands.dedup();
    let is_shared = brands.len() > 1;
    let mut hits: Vec<Hit> = Vec::new();
    for spelling in fitting() {
        if hits.iter().any(|hit| hit.brand == spelling.brand) {
            continue;
        }
        let has_own_capitals = spelling.capitals.as_deref() == Some(text);
        let is_ambiguous = spelling.is_flagged || common.is_some();
        hits.push(Hit {
            brand: spelling.brand,
            via: if spelling.is_product {
                Via::Product
            } else {
                Via::Name
            },
            tokens: hit.tokens.clone(),
            status: Status::Counted,
            evidence: Evidence::Unambiguous,
            is_ambiguous,
            has_usual_capital: common.is_some_and(|common| common.has_capital) || answer.language == "de",
            is_small: spelling.is_small,
            has_own_capitals,
            is_shared,
        });
    }
    hits
}

/// Whether words are a part of a host name, but not all of it.
fn is_part_of_host(answer: &AnswerText, tokens: &Range<usize>) -> bool {
    let at = answer
        .hosts
        .partition_point(|host| host.tokens.end <= tokens.start);
    let host = answer.hosts.get(at).filter(|host| host.tokens.start < tokens.end);
    host.is_some_and(|host| host.tokens != *tokens)
}

fn fits(spelling: &Spelling, answer: &AnswerText, tokens: &Range<usize>, text: &str) -> bool {
    if let Some(exact) = &spelling.exact {
        return exact == text;
    }
    let is_single = tokens.len() == 1;
    let has_space = || {
        answer.tokens[tokens.start + 1..tokens.end]
            .iter()
            .any(|token| token.gap == Gap::Space)
    };
    if is_single || spelling.has_space || !has_space() {
        return true;
    }
    let length: usize = answer.tokens[tokens.clone()]
        .iter()
        .map(|token| token.norm.len())
        .sum();
    if length <= MAX_INITIALS {
        return false;
    }
    // `sales force` is no spelling of `Salesforce`, `Sales Force` is
    tokens.clone().all(|at| {
        let starts_with_digit = answer.normal(at).starts_with(|c: char| c.is_ascii_digit());
        answer.tokens[at].script != Script::Spaced || starts_with_digit || answer.is_capitalised(at)
    }) || spelling.words > 1
}

/// Whether words stand in the head of an item, or are its first ones.
pub(super) fn is_head(answer: &AnswerText, tokens: &Range<usize>) -> bool {
    let Some(block) = answer.block(tokens.start) else {
        return false;
    };
    let is_listed = block.kind == BlockKind::Item || block.kind == BlockKind::Heading && block.rank.is_some();
    let place = answer.tokens[tokens.start].place.start;
    let is_first =
        tokens.start == 0 || answer.tokens[tokens.start - 1].block != answer.tokens[tokens.start].block;
    if !is_listed {
        return block.kind == BlockKind::Line && place < block.head_end && is_first;
    }
    is_first || place < block.head_end
}

/// Leaves out the first sentence if it only restates the prompt.
pub(super) fn ignore_echo(answer: &AnswerText, hits: &mut [Hit], prompt: &str) {
    let Some(sentence) = answer.sentences.first().cloned() else {
        return;
    };
    let mut words = Vec::new();
    each_word(prompt, |word| {
        let mut norm = String::new();
        push_normal(&mut norm, &prompt[word]);
        words.push(norm);
    });
    words.sort_unstable();
    let known = sentence
        .clone()
        .filter(|at| {
            words
                .binary_search_by(|word| word.as_str().cmp(answer.normal(*at)))
                .is_ok()
        })
        .count();
    if (known as f64) < ECHO_SHARE * sentence.len() as f64 {
        return;
    }
    for hit in hits.iter_mut().filter(|hit| hit.tokens.start < sentence.end) {
        hit.status = Status::Echo;
        hit.evidence = Evidence::PromptEcho;
    }
}

/// Whether a refusal is about a brand: in one sentence, near, and without a word of contrast between.
fn is_about(answer: &AnswerText, phrase: &PhraseHit, brand: &Range<usize>) -> bool {
    let between = if phrase.tokens.end <= brand.start {
        phrase.tokens.end..brand.start
    } else {
        brand.end..phrase.tokens.start
    };
    answer.tokens[phrase.tokens.start].sentence == answer.tokens[brand.start].sentence
        && between.len() <= REFUSAL_WORDS
        && !between
            .clone()
            .any(|at| refusal::CONTRASTS.contains(&answer.normal(at)))
}

/// A refusal that is about a brand.
struct RefusedBrand {
    brand: usize,
    /// Sentence of the refusal, as a range of tokens.
    sentence: Range<usize>,
    /// Whether it concerns all that the answer says of the brand, not only the sentence.
    is_everywhere: bool,
}

/// Leaves out brands that the answer says it does not know, except where they head an item.
pub(super) fn ignore_refused(answer: &AnswerText, hits: &mut [Hit]) {
    if hits.is_empty() {
        return;
    }
    let mut refused = Vec::new();
    for phrase in refusal::find_phrases(answer).iter().take(MAX_PHRASES) {
        refused.extend(find_refused(answer, hits, phrase));
    }
    for hit in hits {
        let is_refused = refused.iter().any(|refused| {
            refused.brand == hit.brand
                && (refused.is_everywhere || refused.sentence.contains(&hit.tokens.start))
        });
        if is_refused && !is_head(answer, &hit.tokens) {
            hit.status = Status::Refused;
            hit.evidence = Evidence::Refusal;
        }
    }
}

/// Returns the brands that a phrase of refusal is about. One that the answer has mentioned before is known to it: only the
/// sentence of the phrase is left out, as in a review that ends with what could not be found.
fn find_refused(answer: &AnswerText, hits: &[Hit], phrase: &PhraseHit) -> Vec<RefusedBrand> {
    let sentence = answer.sentence(phrase.tokens.start);
    let concerns_all = refusal::concerns_all(answer, phrase);
    let first = hits.partition_point(|hit| hit.tokens.start < sentence.start);
    let inside = hits[first..]
        .iter()
        .take_while(|hit| hit.tokens.start < sentence.end);
    let mut brands: Vec<usize> = inside
        .filter(|hit| is_about(answer, phrase, &hit.tokens))
        .map(|hit| hit.brand)
        .collect();
    brands.sort_unstable();
    brands.dedup();
    let is_known = |brand: usize| {
        hits[..first]
            .iter()
            .any(|hit| hit.brand == brand && hit.is_counted())
    };
    brands
        .into_iter()
        .map(|brand| RefusedBrand {
            brand,
            sentence: sentence.clone(),
            is_everywhere: concerns_all && !is_known(brand),
        })
        .collect()
}

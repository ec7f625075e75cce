//! Words that are about a brand: its clauses, the sentence behind that goes on about it, and whole list items.

use std::ops::Range;

use super::{
    Passage,
    lexicon::{Lexicon, Role},
};
use crate::{answer_text::AnswerText, mentions::MatchedAnswer};

/// Number of words between `than` and the brand behind it.
const BESIDE: usize = 3;
/// Maximum number of sentences about a brand that are read.
const MAX_PASSAGES: usize = 200;

/// Returns the words about a brand, in order and without overlaps.
pub(super) fn find(matched: &MatchedAnswer<'_>, lexicon: &Lexicon, brand: usize) -> Vec<Passage> {
    let answer = matched.answer;
    let mut passages: Vec<Passage> = Vec::new();
    let mut next_sentence = 0;
    for hit in matched.counted(brand) {
        if passages.len() >= MAX_PASSAGES {
            break;
        }
        if passages
            .last()
            .is_some_and(|last| last.tokens.end > hit.tokens.start)
        {
            continue;
        }
        let sentence = answer.tokens[hit.tokens.start].sentence;
        let clause = clause(
            answer,
            lexicon,
            answer.sentence(hit.tokens.start),
            hit.tokens.start,
        );
        if passages.last().is_none_or(|last| last.tokens.end <= clause.start) {
            passages.push(Passage {
                turned_before: turn(answer, lexicon, &clause, hit.tokens.start),
                tokens: clause,
            });
        }
        let from = (sentence + 1).max(next_sentence);
        next_sentence = follow(matched, lexicon, brand, from, hit.tokens.start, &mut passages);
    }
    passages
}

/// Adds the sentences that go on about a brand; returns the first sentence that does not.
fn follow(
    matched: &MatchedAnswer<'_>,
    lexicon: &Lexicon,
    brand: usize,
    from: usize,
    hit: usize,
    passages: &mut Vec<Passage>,
) -> usize {
    let answer = matched.answer;
    let item = answer.block(hit).filter(|block| block.is_in_item);
    let mut at = from;
    while let Some(sentence) = answer.sentences.get(at).cloned() {
        if passages.len() >= MAX_PASSAGES {
            break;
        }
        let block = answer.block(sentence.start);
        let is_same_item = item.is_some_and(|item| {
            block.is_some_and(|block| {
                block.is_in_item && block.group == item.group && is_own_item(matched, brand, item.group)
            })
        });
        let begins_with_pronoun =
            at == from && !is_same_item && lexicon.role(answer.normal(sentence.start)) == Some(Role::Pronoun);
        let brands = Names::in_sentence(matched, brand, &sentence);
        if brands.own || !(is_same_item || begins_with_pronoun) || (begins_with_pronoun && brands.others) {
            break;
        }
        passages.push(Passage {
            turned_before: 0,
            tokens: sentence,
        });
        at += 1;
    }
    at
}

/// Whether the first brand that an item names is this one.
fn is_own_item(matched: &MatchedAnswer<'_>, brand: usize, group: usize) -> bool {
    let answer = matched.answer;
    let first = matched
        .hits
        .partition_point(|hit| answer.tokens[hit.tokens.start].block < group);
    matched.hits[first..]
        .iter()
        .find(|hit| hit.is_counted())
        .is_some_and(|hit| hit.brand == brand)
}

/// Brands in a sentence.
struct Names {
    own: bool,
    others: bool,
}

impl Names {
    fn in_sentence(matched: &MatchedAnswer<'_>, brand: usize, sentence: &Range<usize>) -> Self {
        let first = matched
            .hits
            .partition_point(|hit| hit.tokens.start < sentence.start);
        let hits = matched.hits[first..]
            .iter()
            .take_while(|hit| hit.tokens.start < sentence.end);
        let mut names = Self {
            own: false,
            others: false,
        };
        for hit in hits.filter(|hit| hit.is_counted()) {
            names.own |= hit.brand == brand;
            names.others |= hit.brand != brand;
        }
        names
    }
}

/// Returns the part of a sentence between words of contrast that holds the brand.
fn clause(answer: &AnswerText, lexicon: &Lexicon, sentence: Range<usize>, brand: usize) -> Range<usize> {
    let is_contrast = |at: &usize| {
        lexicon.role(answer.normal(*at)) == Some(Role::Contrast) || answer.before(*at).contains(';')
    };
    let start = (sentence.start + 1..=brand)
        .rev()
        .find(is_contrast)
        .unwrap_or(sentence.start);
    let end = (brand + 1..sentence.end)
        .find(is_contrast)
        .unwrap_or(sentence.end);
    // a sentence that begins with a word of contrast has its clause up to the comma
    if sentence.start < brand && is_contrast(&sentence.start) && start == sentence.start {
        let comma = (sentence.start + 1..=brand).find(|at| answer.before(*at).contains(','));
        return comma.unwrap_or(start)..end;
    }
    start..end
}

/// Returns the end of the words whose sign turns for a brand behind `than`.
fn turn(answer: &AnswerText, lexicon: &Lexicon, clause: &Range<usize>, brand: usize) -> usize {
    let near = clause.start.max(brand.saturating_sub(BESIDE))..brand;
    near.rev()
        .find(|at| lexicon.role(answer.normal(*at)) == Some(Role::Than))
        .unwrap_or(0)
}

//! Phrases of complete words, found all at once.

use std::{collections::HashSet, ops::Range, sync::LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{
    answer_text::{AnswerText, Gap},
    lists::sections,
    normal::{Script, key},
};

/// A set of phrases.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhraseSet {
    search: Option<AhoCorasick>,
}

/// A phrase in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhraseHit {
    /// Index of the phrase.
    pub(crate) phrase: usize,
    /// Words that it takes.
    pub(crate) tokens: Range<usize>,
}

impl PhraseSet {
    /// Compiles phrases; an empty one is never found.
    pub(crate) fn new<'p>(phrases: impl IntoIterator<Item = &'p str>) -> Self {
        Self::from_keys(phrases.into_iter().map(|phrase| key(phrase).norm).collect())
    }

    /// Compiles normal forms.
    pub(crate) fn from_keys(keys: Vec<String>) -> Self {
        // an empty pattern matches everywhere; a key never holds a zero
        let keys = keys
            .into_iter()
            .map(|key| if key.is_empty() { "\0".to_owned() } else { key });
        let search = AhoCorasick::builder().match_kind(MatchKind::Standard).build(keys);
        Self { search: search.ok() }
    }

    /// Returns all phrases of complete adjacent words, also those that overlap.
    pub(crate) fn find(&self, answer: &AnswerText) -> Vec<PhraseHit> {
        let mut hits = Vec::new();
        let Some(search) = &self.search else { return hits };
        let tokens = &answer.tokens;
        // matches come in the order of their ends
        let mut last = 0;
        for found in search.find_overlapping_iter(&answer.norm) {
            while tokens.get(last).is_some_and(|token| token.norm.end < found.end()) {
                last += 1;
            }
            if tokens.get(last).is_none_or(|token| token.norm.end != found.end()) {
                continue;
            }
            let Ok(first) = tokens[..=last].binary_search_by_key(&found.start(), |token| token.norm.start)
            else {
                continue;
            };
            if tokens[first + 1..=last]
                .iter()
                .all(|token| token.gap != Gap::Apart)
            {
                hits.push(PhraseHit {
                    phrase: found.pattern().as_usize(),
                    tokens: first..last + 1,
                });
            }
        }
        hits
    }
}

/// Whether a range of words is complete in a script without spaces: a run of at least three Han characters or four
/// letters is; a shorter one only if the words beside it are of another script or join names.
pub(crate) fn is_complete(answer: &AnswerText, tokens: &Range<usize>) -> bool {
    let Some(first) = answer.tokens.get(tokens.start) else {
        return false;
    };
    let enough = match first.script {
        Script::Spaced => return true,
        Script::Han => 3,
        Script::Hiragana | Script::SouthEastAsian => 4,
    };
    let same = answer.tokens[tokens.clone()]
        .iter()
        .all(|token| token.script == first.script);
    if !same || tokens.len() >= enough {
        return true;
    }
    let is_open = |at: usize, behind: usize, side: usize| {
        let Some(neighbour) = answer.tokens.get(at) else {
            return true;
        };
        let is_apart = !answer.before(behind).is_empty() || neighbour.script != first.script;
        is_apart
            || answer.language != "ja" && answer.normal(at).chars().all(|c| NEIGHBOURS[side].contains(&c))
    };
    let is_open_before = tokens.start == 0 || is_open(tokens.start - 1, tokens.start, 0);
    is_open_before && is_open(tokens.end, tokens.end, 1)
}

/// Characters that end the word before a name, and ones that begin the word behind it.
static NEIGHBOURS: LazyLock<[HashSet<char>; 2]> = LazyLock::new(|| {
    ["before", "after"].map(|side| {
        let lines =
            sections(include_str!("../data/han_neighbours.txt")).filter(|entry| entry.section == side);
        lines.flat_map(|entry| entry.text.chars()).collect()
    })
});

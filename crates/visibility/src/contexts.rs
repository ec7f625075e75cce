//! Role of a brand in an answer: recommended, compared, listed, referenced or warned of.
//!
//! Cues are phrases per language; without cues of the language, only lists show a role.

use std::{collections::HashMap, ops::Range, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::{
    answer_text::AnswerText,
    lists::sections,
    mentions::MatchedAnswer,
    phrases::{PhraseHit, PhraseSet},
};

/// Number of words between a cue such as `than` and the brand that is compared.
const BESIDE: usize = 3;
/// Number of words before a cue in which a negation turns it.
const NEGATION_WORDS: usize = 3;
/// Number of brands in a sentence that make an enumeration.
const MIN_ENUMERATED: usize = 3;

/// Role of a brand in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MentionContext {
    /// Named in passing.
    Referenced,
    /// Listed among others.
    Listed,
    /// Compared with another brand.
    Compared,
    /// Recommended.
    Recommended,
    /// Warned of.
    Warned,
}

/// Kind of a cue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cue {
    Recommended,
    Warned,
    Compared,
    /// Comes before the brand that is set behind another one.
    Behind,
    Negation,
}

/// Cues of a language.
struct Cues {
    set: PhraseSet,
    kinds: Vec<Cue>,
}

static CUES: LazyLock<HashMap<&'static str, Cues>> = LazyLock::new(|| {
    let mut lists: HashMap<&str, Vec<(&str, Cue)>> = HashMap::new();
    for entry in sections(include_str!("../data/contexts.txt")) {
        let Some((language, kind)) = entry.section.split_once('.') else {
            continue;
        };
        let kind = match kind {
            "recommended" => Cue::Recommended,
            "warned" => Cue::Warned,
            "compared" => Cue::Compared,
            "behind" => Cue::Behind,
            _ => Cue::Negation,
        };
        lists.entry(language).or_default().push((entry.text, kind));
    }
    let compile = |list: Vec<(&str, Cue)>| Cues {
        set: PhraseSet::new(list.iter().map(|(phrase, _)| *phrase)),
        kinds: list.iter().map(|(_, kind)| *kind).collect(),
    };
    lists
        .into_iter()
        .map(|(language, list)| (language, compile(list)))
        .collect()
});

/// Cues in an answer.
pub(crate) struct AnswerCues {
    cues: Option<&'static Cues>,
    found: Vec<PhraseHit>,
}

/// Finds the cues of an answer.
pub(crate) fn find_cues(answer: &AnswerText) -> AnswerCues {
    let cues = CUES.get(&*answer.language);
    AnswerCues {
        found: cues.map(|cues| cues.set.find(answer)).unwrap_or_default(),
        cues,
    }
}

/// Returns the role of a brand: the strongest one of its sentences.
pub(crate) fn classify(matched: &MatchedAnswer<'_>, cues: &AnswerCues, brand: usize) -> MentionContext {
    let answer = matched.answer;
    let mut best = MentionContext::Referenced;
    let mut last = None;
    for hit in matched.counted(brand) {
        let sentence = answer.sentence(hit.tokens.start);
        if last == Some(sentence.start) {
            continue;
        }
        last = Some(sentence.start);
        let by_cue = cues
            .cues
            .and_then(|known| by_cues(answer, known, &cues.found, &sentence, &hit.tokens));
        let is_listed = answer
            .block(hit.tokens.start)
            .is_some_and(|block| block.is_in_item)
            || is_enumerated(matched, &sentence);
        let usual = if is_listed {
            MentionContext::Listed
        } else {
            MentionContext::Referenced
        };
        best = best.max(by_cue.unwrap_or(usual));
    }
    best
}

fn is_enumerated(matched: &MatchedAnswer<'_>, sentence: &Range<usize>) -> bool {
    let first = matched
        .hits
        .partition_point(|hit| hit.tokens.start < sentence.start);
    let inside = matched.hits[first..]
        .iter()
        .take_while(|hit| hit.tokens.start < sentence.end);
    let mut brands: Vec<usize> = inside
        .filter(|hit| hit.is_counted())
        .map(|hit| hit.brand)
        .take(64)
        .collect();
    brands.sort_unstable();
    brands.dedup();
    brands.len() >= MIN_ENUMERATED
}

fn by_cues(
    answer: &AnswerText,
    cues: &Cues,
    found: &[PhraseHit],
    sentence: &Range<usize>,
    brand: &Range<usize>,
) -> Option<MentionContext> {
    // hits come in the order of their ends
    let first = found.partition_point(|hit| hit.tokens.end <= sentence.start);
    let inside = || {
        found[first..]
            .iter()
            .take_while(|hit| hit.tokens.start < sentence.end)
    };
    let is_behind = |hit: &PhraseHit| {
        cues.kinds[hit.phrase] == Cue::Behind
            && hit.tokens.end <= brand.start
            && brand.start - hit.tokens.end <= BESIDE
    };
    if inside().any(is_behind) {
        return Some(MentionContext::Compared);
    }
    let is_negated = |hit: &PhraseHit| {
        inside().any(|other| {
            cues.kinds[other.phrase] == Cue::Negation
                && other.tokens.end <= hit.tokens.start
                && hit.tokens.start - other.tokens.end < NEGATION_WORDS
        })
    };
    let is_own_clause = |hit: &PhraseHit| !has_clause_end(answer, hit, brand);
    let roles = inside()
        .filter(|hit| is_own_clause(hit))
        .filter_map(|hit| match cues.kinds[hit.phrase] {
            Cue::Recommended if is_negated(hit) => Some(MentionContext::Warned),
            Cue::Recommended => Some(MentionContext::Recommended),
            Cue::Warned if is_negated(hit) => None,
            Cue::Warned => Some(MentionContext::Warned),
            Cue::Compared | Cue::Behind => Some(MentionContext::Compared),
            Cue::Negation => None,
        });
    roles.max()
}

/// Whether a semicolon, or a comma and a word of contrast, stands between a cue and the brand.
fn has_clause_end(answer: &AnswerText, cue: &PhraseHit, brand: &Range<usize>) -> bool {
    let between = if cue.tokens.end <= brand.start {
        cue.tokens.end..brand.start
    } else {
        brand.end..cue.tokens.start
    };
    let mut places = between.start..(between.end + 1).min(answer.tokens.len());
    places.any(|at| {
        answer.before(at).contains([';', '；'])
            || matches!(
                answer.normal(at),
                "but" | "however" | "while" | "whereas" | "aber" | "wahrend" | "hingegen" | "mais" | "tandis"
            )
    })
}

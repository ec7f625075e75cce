//! Names in answers that no brand covers: the beginnings of list items and bold words.

use std::{
    collections::{BTreeMap, HashSet},
    ops::Range,
    sync::LazyLock,
};

use serde::{Deserialize, Serialize};

use crate::{
    answer_text::AnswerText,
    lists::sections,
    markdown::BlockKind,
    mentions::MatchedAnswer,
    normal::{Script, key, normal},
};

/// Maximum number of words of a name.
const MAX_NAME_WORDS: usize = 4;
/// Maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 60;
/// Maximum number of names of an answer.
const MAX_NAMES: usize = 200;
/// Maximum number of names in an inbox; the rarest are left out.
pub const MAX_INBOX_NAMES: usize = 5000;

/// Words that may stand in lower case inside a name.
const CONNECTORS: [&str; 14] = [
    "of", "and", "the", "de", "la", "le", "du", "und", "by", "for", "et", "y", "e", "von",
];

/// Words that begin items and are no names, as keys.
static GENERIC: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let entries = sections(include_str!("../data/generic_heads.txt"));
    entries
        .flat_map(|entry| entry.text.split(", "))
        .map(|words| key(words).norm)
        .collect()
});

/// A name in an answer that no brand covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnknownName {
    /// Name as it stands in the answer.
    pub name: String,
    /// Identity of the name: its normal form.
    pub key: String,
}

impl MatchedAnswer<'_> {
    /// Returns the names that no brand covers, each once.
    pub fn unknown_names(&self) -> Vec<UnknownName> {
        let answer = self.answer;
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for place in head_places(answer).into_iter().chain(bold_places(answer)) {
            if names.len() >= MAX_NAMES {
                break;
            }
            if !is_name(answer, &place) || self.is_covered(&place) {
                continue;
            }
            let name = answer.text(place).trim().to_owned();
            let key = key(&name).norm;
            if seen.insert(key.clone()) {
                names.push(UnknownName { name, key });
            }
        }
        names
    }

    fn is_covered(&self, place: &Range<usize>) -> bool {
        let at = self.hits.partition_point(|hit| hit.tokens.end <= place.start);
        self.hits.get(at).is_some_and(|hit| hit.tokens.start < place.end)
    }
}

/// Returns the words in a range of the plain text.
fn tokens(answer: &AnswerText, range: Range<usize>) -> Range<usize> {
    let start = answer
        .tokens
        .partition_point(|token| token.place.start < range.start);
    let end = answer
        .tokens
        .partition_point(|token| token.place.end <= range.end);
    start..end.max(start)
}

fn head_places(answer: &AnswerText) -> Vec<Range<usize>> {
    let is_listed =
        |kind, rank: Option<u32>| kind == BlockKind::Item || kind == BlockKind::Heading && rank.is_some();
    let blocks = answer
        .blocks
        .iter()
        .filter(|block| is_listed(block.kind, block.rank));
    blocks
        .map(|block| {
            let head = &answer.plain[block.range.start..block.head_end];
            let end = [" – ", " — ", " - ", ": ", " ("]
                .iter()
                .filter_map(|end| head.find(end))
                .min();
            let end = end.map_or(block.head_end, |end| block.range.start + end);
            tokens(answer, block.range.start..end)
        })
        .collect()
}

fn bold_places(answer: &AnswerText) -> Vec<Range<usize>> {
    answer
        .bolds
        .iter()
        .map(|bold| tokens(answer, bold.clone()))
        .collect()
}

fn is_name(answer: &AnswerText, place: &Range<usize>) -> bool {
    if place.is_empty() || place.len() > MAX_NAME_WORDS {
        return false;
    }
    let text = answer.text(place.clone());
    if text.chars().count() > MAX_NAME_CHARS || !text.contains(char::is_alphabetic) || text.ends_with(':') {
        return false;
    }
    let is_like_name = |at: usize| {
        let word = answer.normal(at);
        answer.is_capitalised(at)
            || answer.tokens[at].script != Script::Spaced
            || word.starts_with(|c: char| c.is_ascii_digit())
            || CONNECTORS.contains(&word)
            // capitals inside, as `iPhone`, or a host
            || answer.plain[answer.tokens[at].place.clone()].contains(|c: char| c.is_uppercase() || c == '.')
    };
    let is_generic =
        |at: usize| GENERIC.contains(answer.normal(at)) || CONNECTORS.contains(&answer.normal(at));
    place.clone().all(is_like_name)
        && !place.clone().all(is_generic)
        && !GENERIC.contains(&key(text).norm)
        && answer.normal(place.start).chars().count() > 1
}

/// Count of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NameCount {
    /// Number of answers by spelling.
    pub spellings: BTreeMap<String, u32>,
}

impl NameCount {
    /// Returns the number of answers that hold the name.
    pub fn answers(&self) -> u32 {
        self.spellings.values().sum()
    }

    /// Returns the most frequent spelling.
    pub fn name(&self) -> &str {
        let best = self
            .spellings
            .iter()
            .max_by_key(|(name, count)| (**count, std::cmp::Reverse(*name)));
        best.map_or("", |(name, _)| name)
    }
}

/// Names of many answers with their counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameInbox {
    /// Counts by normal form.
    pub names: BTreeMap<String, NameCount>,
}

impl NameInbox {
    /// Adds the names of an answer.
    pub fn add(&mut self, names: &[UnknownName]) {
        for name in names {
            let count = self.names.entry(name.key.clone()).or_default();
            *count.spellings.entry(name.name.clone()).or_default() += 1;
        }
        if self.names.len() > 2 * MAX_INBOX_NAMES {
            self.trim();
        }
    }

    /// Adds the counts of another inbox.
    pub fn merge(&mut self, other: Self) {
        for (key, count) in other.names {
            let own = self.names.entry(key).or_default();
            for (name, answers) in count.spellings {
                *own.spellings.entry(name).or_default() += answers;
            }
        }
    }

    /// Removes a name that was decided on.
    pub fn remove(&mut self, name: &str) {
        let words: String = name.split_whitespace().map(normal).collect();
        self.names.remove(&words);
        self.names.remove(&key(name).norm);
    }

    /// Returns the names in the order of their counts.
    pub fn ranked(&self) -> Vec<&NameCount> {
        let mut names: Vec<&NameCount> = self.names.values().collect();
        names.sort_by(|a, b| b.answers().cmp(&a.answers()).then_with(|| a.name().cmp(b.name())));
        names
    }

    /// Leaves the most frequent names.
    fn trim(&mut self) {
        let mut counts: Vec<u32> = self.names.values().map(NameCount::answers).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let least = counts.get(MAX_INBOX_NAMES).copied().unwrap_or(0);
        self.names.retain(|_, count| count.answers() > least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brands::{Brand, BrandMatcher};

    #[test]
    fn names_without_brand_are_collected() {
        let matcher = BrandMatcher::new(&[Brand {
            id: "acme".to_owned(),
            name: "Acme Desk".to_owned(),
            ..Brand::default()
        }]);
        let text = "1. **Acme Desk** – fine\n2. **Zolt Office** – cheap\n   - **Pros:** quiet\n3. Wobblix: small\n\
            - ease of use\n- Price: low\nAlso **Fixo** is nice.";
        let answer = AnswerText::parse(text, "en");
        let names = matcher.match_answer(&answer, None).unknown_names();
        let found: Vec<&str> = names.iter().map(|name| &*name.name).collect();
        assert_eq!(found, ["Zolt Office", "Wobblix", "Fixo"]);
        let mut inbox = NameInbox::default();
        inbox.add(&names);
        inbox.add(&names[1..2]);
        assert_eq!(inbox.ranked()[0].name(), "Wobblix");
        inbox.remove("wobblix");
        assert_eq!(inbox.names.len(), 2);
    }
}

//! Names in answers that no brand covers: the beginnings of list items and bold words.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ops::Range,
    sync::LazyLock,
};

use serde::{Deserialize, Serialize};

use crate::{
    answer_text::AnswerText,
    lists::sections,
    markdown::BlockKind,
    mentions::MatchedAnswer,
    normal::{Script, key},
};

/// Maximum number of words of a name.
const MAX_NAME_WORDS: usize = 4;
/// Maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 60;
/// Maximum number of names of an answer.
const MAX_NAMES: usize = 200;
/// Maximum number of names in an inbox; the rarest are left out.
pub const MAX_INBOX_NAMES: usize = 5000;
/// Maximum number of quotes of a name.
pub const MAX_QUOTES: usize = 3;
/// Maximum number of spellings of a name.
const MAX_SPELLINGS: usize = 8;
/// Length of a quote before and behind the name, in bytes.
const QUOTE_MARGIN: usize = 100;

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
    /// Part of the line in which it stands.
    pub quote: String,
}

/// Returns the identity of a name: its normal form, without case, accents, spaces and hyphens.
pub fn name_key(name: &str) -> String {
    key(name).norm
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
            let quote = quote(answer, &place);
            let name = answer.text(place).trim().to_owned();
            let key = name_key(&name);
            if seen.insert(key.clone()) {
                names.push(UnknownName { name, key, quote });
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

/// Returns the line around a name, cut where it is long.
fn quote(answer: &AnswerText, place: &Range<usize>) -> String {
    let (first, last) = (&answer.tokens[place.start], &answer.tokens[place.end - 1]);
    let line = &answer.blocks[first.block].range;
    let from = first.place.start.saturating_sub(QUOTE_MARGIN).max(line.start);
    let from = answer.plain.ceil_char_boundary(from);
    let to = (last.place.end + QUOTE_MARGIN).min(line.end.max(last.place.end));
    let to = answer.plain.floor_char_boundary(to);
    let text = searchwright_text::squeeze(&answer.plain[from..to]);
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    let (before, after) = (from > line.start, to < line.end);
    format!(
        "{}{text}{}",
        if before { "…" } else { "" },
        if after { "…" } else { "" }
    )
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

/// An answer in which names were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Id of the answer.
    pub answer: String,
    /// Engine.
    pub engine: String,
    /// Time of the answer in milliseconds.
    pub at: i64,
}

/// Quote of an answer that holds a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NameQuote {
    /// Id of the answer.
    pub answer: String,
    /// Time of the answer in milliseconds.
    pub at: i64,
    /// The quote.
    pub text: String,
}

/// Count of a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NameCount {
    /// Number of answers.
    pub answers: u32,
    /// Number of answers by spelling.
    pub spellings: BTreeMap<String, u32>,
    /// Engines that gave the answers.
    pub engines: BTreeSet<String>,
    /// Time of the oldest answer in milliseconds.
    pub first_at: i64,
    /// Time of the newest answer in milliseconds.
    pub last_at: i64,
    /// Quotes of the newest answers.
    pub quotes: Vec<NameQuote>,
}

impl NameCount {
    /// Counts one answer.
    fn new(sighting: &Sighting, name: &UnknownName) -> Self {
        Self {
            answers: 1,
            spellings: BTreeMap::from([(name.name.clone(), 1)]),
            engines: BTreeSet::from([sighting.engine.clone()]),
            first_at: sighting.at,
            last_at: sighting.at,
            quotes: vec![NameQuote {
                answer: sighting.answer.clone(),
                at: sighting.at,
                text: name.quote.clone(),
            }],
        }
    }

    /// Returns the most frequent spelling.
    pub fn name(&self) -> &str {
        let best = self
            .spellings
            .iter()
            .max_by_key(|(name, count)| (**count, std::cmp::Reverse(*name)));
        best.map_or("", |(name, _)| name)
    }

    /// Adds the counts of other answers.
    pub fn merge(&mut self, other: Self) {
        self.answers += other.answers;
        for (spelling, answers) in other.spellings {
            *self.spellings.entry(spelling).or_default() += answers;
        }
        while self.spellings.len() > MAX_SPELLINGS {
            let rarest = self
                .spellings
                .iter()
                .min_by_key(|(name, count)| (**count, std::cmp::Reverse(*name)));
            let Some(rarest) = rarest.map(|(name, _)| name.clone()) else {
                break;
            };
            self.spellings.remove(&rarest);
        }
        self.engines.extend(other.engines);
        self.first_at = self.first_at.min(other.first_at);
        self.last_at = self.last_at.max(other.last_at);
        self.quotes.extend(other.quotes);
        self.quotes
            .sort_by(|a, b| (b.at, &b.answer).cmp(&(a.at, &a.answer)));
        self.quotes.truncate(MAX_QUOTES);
    }
}

/// Names of many answers with their counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameInbox {
    /// Counts by normal form.
    pub names: BTreeMap<String, NameCount>,
}

impl NameInbox {
    /// Adds the names of an answer.
    pub fn add(&mut self, sighting: &Sighting, names: &[UnknownName]) {
        for name in names {
            self.merge(&name.key, NameCount::new(sighting, name));
        }
        if self.names.len() > 2 * MAX_INBOX_NAMES {
            self.trim(MAX_INBOX_NAMES);
        }
    }

    /// Adds the counts of a name.
    pub fn merge(&mut self, key: &str, count: NameCount) {
        match self.names.get_mut(key) {
            Some(known) => known.merge(count),
            None => {
                self.names.insert(key.to_owned(), count);
            }
        }
    }

    /// Leaves the most frequent names, and of equally frequent ones those that come first.
    fn trim(&mut self, most: usize) {
        let mut names: Vec<_> = std::mem::take(&mut self.names).into_iter().collect();
        names.sort_by_key(|(_, count)| std::cmp::Reverse(count.answers));
        names.truncate(most);
        self.names = names.into_iter().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brands::{Brand, BrandMatcher};

    fn sighting(answer: &str, at: i64) -> Sighting {
        Sighting {
            answer: answer.to_owned(),
            engine: if at % 2 == 0 { "claude" } else { "chatgpt" }.to_owned(),
            at,
        }
    }

    fn unknown(text: &str) -> Vec<UnknownName> {
        let matcher = BrandMatcher::new(&[Brand {
            id: "acme".to_owned(),
            name: "Acme Desk".to_owned(),
            ..Brand::default()
        }]);
        let answer = AnswerText::parse(text, "en");
        matcher.match_answer(&answer, None).unknown_names()
    }

    #[test]
    fn names_without_brand_are_collected() {
        let names = unknown(
            "1. **Acme Desk** – fine\n2. **Zolt Office** – cheap\n   - **Pros:** quiet\n3. Wobblix: small\n\
            - ease of use\n- Price: low\nAlso **Fixo** is nice.",
        );
        let found: Vec<(&str, &str)> = names.iter().map(|name| (&*name.name, &*name.quote)).collect();
        assert_eq!(
            found,
            [
                ("Zolt Office", "Zolt Office – cheap"),
                ("Wobblix", "Wobblix: small"),
                ("Fixo", "Also Fixo is nice.")
            ]
        );
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let around = "über ".repeat(80);
        let names = unknown(&format!("{around}**Zolt** {around}"));
        assert!(names[0].quote.len() < 250 && names[0].quote.contains("Zolt"));
        assert!(names[0].quote.starts_with('…') && names[0].quote.ends_with('…'));
    }

    #[test]
    fn counts_do_not_depend_on_the_order_of_answers() {
        let answers: Vec<(Sighting, Vec<UnknownName>)> = (0..6)
            .map(|at| {
                let text = if at < 4 {
                    "- Zolt Office"
                } else {
                    "- ZoltOffice\n- Fixo"
                };
                (sighting(&format!("a{at}"), at), unknown(text))
            })
            .collect();
        let (mut forwards, mut backwards) = (NameInbox::default(), NameInbox::default());
        answers.iter().for_each(|(at, names)| forwards.add(at, names));
        answers
            .iter()
            .rev()
            .for_each(|(at, names)| backwards.add(at, names));
        assert_eq!(forwards, backwards);
        let zolt = &forwards.names["zoltoffice"];
        assert_eq!(
            (zolt.name(), zolt.answers, zolt.first_at, zolt.last_at),
            ("Zolt Office", 6, 0, 5)
        );
        assert_eq!(zolt.engines.len(), 2);
        let quoted: Vec<&str> = zolt.quotes.iter().map(|quote| &*quote.answer).collect();
        assert_eq!(quoted, ["a5", "a4", "a3"]);
        assert_eq!(forwards.names["fixo"].answers, 2);
    }

    #[test]
    fn the_rarest_names_are_left_out() {
        let mut inbox = NameInbox::default();
        let name = |key: usize| UnknownName {
            name: format!("N{key:05}"),
            key: format!("n{key:05}"),
            quote: String::new(),
        };
        inbox.add(&sighting("a", 0), &[name(20_000)]);
        inbox.add(&sighting("b", 1), &[name(20_000)]);
        let all: Vec<UnknownName> = (0..=2 * MAX_INBOX_NAMES).map(name).collect();
        inbox.add(&sighting("c", 2), &all);
        assert_eq!(inbox.names.len(), MAX_INBOX_NAMES);
        assert!(inbox.names.contains_key("n20000") && inbox.names.contains_key("n00000"));
        assert!(!inbox.names.contains_key("n09999"));
    }
}

//! The claims of a text, each with the source that has it.
//!
//! A claim is a number, a percentage, a date, a quotation, or what somebody is said to have said. It is
//! verified when a source that was fetched, or the brand data, has the same number, date or words. That a
//! source has them does not make them true; that none has them means nobody has shown where they come from.
//! Whatever is said of a competitor is a claim, and only the record of the competitor verifies it.

use std::collections::HashSet;

use searchwright_keywords::words::Lexicon;
use searchwright_text::{folded, sentences};
use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use super::{
    attributions::attributions,
    dates::{Date, Key, dates},
    document::{Document, Kind},
    numbers::{Amount, amounts},
    rivals::{Rival, Words},
};

/// Words of a quotation that is one, and not a word somebody distrusts.
const MIN_QUOTED: usize = 3;
/// Bytes of a quotation; after more than that, a mark that is not closed was none.
const MAX_QUOTED: usize = 2 << 10;

/// A text that may verify a claim.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Address, or the name of a piece of brand data.
    pub name: &'a str,
    /// Plain text of the source.
    pub text: &'a str,
}

/// Kind of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// A number.
    Number,
    /// A number of hundredths.
    Percentage,
    /// A day or a month.
    Date,
    /// Words between quotation marks.
    Quotation,
    /// Somebody who is said to have said or found something.
    Attribution,
    /// A competitor of whom something is said.
    Competitor,
}

/// One claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// Kind of the claim.
    pub kind: ClaimKind,
    /// The words of it.
    pub text: String,
    /// The first source that has it; `None`: no source has it.
    pub source: Option<String>,
}

/// A sentence that claims something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sentence {
    /// Sentence as it stands in the text.
    pub text: String,
    /// Claims: numbers, dates, quotations, attributions, competitors, in this order; at least one.
    pub claims: Vec<Claim>,
}

impl Sentence {
    /// Whether every claim has a source.
    pub fn is_verified(&self) -> bool {
        self.claims.iter().all(|claim| claim.source.is_some())
    }
}

/// Facts of a source, read once.
struct SourceFacts<'a> {
    name: &'a str,
    amounts: HashSet<String>,
    dates: HashSet<Key>,
    years: HashSet<u16>,
    words: String,
}

impl<'a> SourceFacts<'a> {
    fn new(source: &Source<'a>) -> Self {
        let dates = dates(source.text);
        Self {
            name: source.name,
            amounts: amounts(source.text).iter().flat_map(Amount::keys).collect(),
            years: dates.iter().filter_map(|date| date.year).collect(),
            dates: dates.iter().flat_map(Date::implied).collect(),
            words: words(source.text),
        }
    }

    /// Whether these words stand in it, one after the other.
    fn says(&self, text: &str) -> bool {
        let wanted = words(text);
        wanted.len() > 1 && self.words.contains(&wanted)
    }

    fn has_amount(&self, amount: &Amount) -> bool {
        amount.keys().iter().any(|key| self.amounts.contains(key))
            || amount.year().is_some_and(|year| self.years.contains(&year))
    }

    fn has_date(&self, date: &Date) -> bool {
        date.keys().any(|key| self.dates.contains(&key))
    }
}

/// Folded words, a space before and after each.
fn words(text: &str) -> String {
    let mut out = String::from(" ");
    for word in folded(&text.replace('’', "'")).unicode_words() {
        out.push_str(word);
        out.push(' ');
    }
    out
}

/// The sentences of a text that claim something, each claim with the first source that has it. Of a sentence that names
/// competitors these are their records, and no other.
pub fn trace(document: &Document, language: &str, sources: &[Source<'_>], rivals: &[Rival]) -> Vec<Sentence> {
    let lexicon = Lexicon::for_language(language);
    let known: Vec<SourceFacts<'_>> = sources.iter().map(SourceFacts::new).collect();
    let rivals: Vec<&Rival> = rivals.iter().collect();
    let rivals = named_in(&document.plain_text(), &rivals);
    let read = |kind: &Kind| matches!(kind, Kind::Paragraph | Kind::Item | Kind::Cell);
    document
        .blocks
        .iter()
        .filter(|block| read(&block.kind))
        .flat_map(|block| spans(&block.text, language))
        .filter_map(|text| {
            let named = named_in(text, &rivals);
            let claims = if named.is_empty() {
                claims(text, language, &known)
            } else {
                claims_of(text, language, &named, &lexicon)
            };
            (!claims.is_empty()).then(|| Sentence {
                text: text.to_owned(),
                claims,
            })
        })
        .collect()
}

/// Returns the first sentence of a source that bears out a claim which was traced to that source; `None` if no claim
/// was traced to it, or no single sentence of it bears one out.
pub fn bearing<'t>(sentence: &Sentence, language: &str, source: &Source<'t>) -> Option<&'t str> {
    let is_traced = |claim: &Claim| claim.source.as_deref() == Some(source.name);
    if !sentence.claims.iter().any(is_traced) {
        return None;
    }
    let mut said = source.text.lines().flat_map(|line| sentences(line, language));
    said.find(|text| {
        let known = SourceFacts::new(&Source { name: "", text });
        let found = claims(&sentence.text, language, &[known]);
        let mut pairs = found.iter().zip(&sentence.claims);
        pairs.any(|(found, claim)| found.source.is_some() && is_traced(claim))
    })
}

/// Returns the sentences with a claim that no source bears out.
pub fn unverified(sentences: &[Sentence]) -> impl Iterator<Item = &Sentence> {
    sentences.iter().filter(|sentence| !sentence.is_verified())
}

/// Sentences, but a quotation is not torn apart.
fn spans<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let mut out: Vec<&str> = Vec::new();
    let mut start: Option<usize> = None;
    for sentence in sentences(text, language) {
        let at = sentence.as_ptr() as usize - text.as_ptr() as usize;
        let from = start.unwrap_or(at);
        let whole = &text[from..at + sentence.len()];
        if whole.len() <= MAX_QUOTED && is_open(whole) {
            start = Some(from);
        } else {
            out.push(whole);
            start = None;
        }
    }
    out.extend(start.map(|from| text[from..].trim()));
    out
}

fn is_open(text: &str) -> bool {
    let count = |marks: &str| text.chars().filter(|c| marks.contains(*c)).count();
    count("\"") % 2 == 1 || count("«") > count("»") || (count("“„") > count("”“") && count("„") <= count("“"))
}

fn named_in<'r>(text: &str, rivals: &[&'r Rival]) -> Vec<&'r Rival> {
    if rivals.is_empty() {
        return Vec::new();
    }
    let words = Words::from_text(text);
    let named = rivals.iter().filter(|rival| rival.is_named_in(&words));
    named.copied().collect()
}

/// Returns the claims of a sentence that names competitors. Only the competitors' records count as sources.
fn claims_of(sentence: &str, language: &str, named: &[&Rival], lexicon: &Lexicon) -> Vec<Claim> {
    let told = named.iter().flat_map(|rival| rival.claims());
    let known: Vec<SourceFacts<'_>> = told
        .map(|fact| {
            SourceFacts::new(&Source {
                name: &fact.source,
                text: &fact.text,
            })
        })
        .collect();
    let mut found = claims(sentence, language, &known);
    found.extend(named.iter().filter_map(|rival| {
        Some(Claim {
            kind: ClaimKind::Competitor,
            text: rival.name().to_owned(),
            source: rival.bears(sentence, lexicon)?.map(str::to_owned),
        })
    }));
    found
}

fn claims(sentence: &str, language: &str, known: &[SourceFacts<'_>]) -> Vec<Claim> {
    let find = |has: &dyn Fn(&SourceFacts<'_>) -> bool| {
        known.iter().find(|source| has(source)).map(|s| s.name.to_owned())
    };
    let mut found = Vec::new();
    let dates = dates(sentence);
    for amount in amounts(sentence) {
        // dates stand in order and do not overlap
        let next = dates.partition_point(|date| date.span.end < amount.span.end);
        if dates
            .get(next)
            .is_some_and(|date| date.span.start <= amount.span.start)
        {
            continue;
        }
        found.push(Claim {
            kind: if amount.percent {
                ClaimKind::Percentage
            } else {
                ClaimKind::Number
            },
            text: sentence[amount.span.clone()].to_owned(),
            source: find(&|source| source.has_amount(&amount)),
        });
    }
    for date in dates {
        found.push(Claim {
            kind: ClaimKind::Date,
            text: sentence[date.span.clone()].to_owned(),
            source: find(&|source| source.has_date(&date)),
        });
    }
    for quotation in quotations(sentence) {
        found.push(Claim {
            kind: ClaimKind::Quotation,
            source: find(&|source| source.says(quotation)),
            text: quotation.to_owned(),
        });
    }
    for name in attributions(sentence, language) {
        found.push(Claim {
            kind: ClaimKind::Attribution,
            source: find(&|source| source.says(&name)),
            text: name,
        });
    }
    found
}

/// Returns the texts between quotation marks that are long enough to be quotations.
fn quotations(sentence: &str) -> Vec<&str> {
    const PAIRS: &[(char, &[char])] = &[
        ('“', &['”']),
        ('„', &['“', '”']),
        ('«', &['»']),
        ('»', &['«']),
        ('"', &['"']),
        ('「', &['」']),
        ('『', &['』']),
    ];
    let mut found = Vec::new();
    let mut rest = sentence;
    while let Some((at, open)) = rest
        .char_indices()
        .find(|(_, c)| PAIRS.iter().any(|(open, _)| open == c))
    {
        let after = &rest[at + open.len_utf8()..];
        let ends = PAIRS
            .iter()
            .find(|(known, _)| *known == open)
            .map_or(&[][..], |(_, ends)| ends);
        let near = &after[..after.floor_char_boundary(MAX_QUOTED)];
        let Some(end) = near.find(ends) else {
            rest = after;
            continue;
        };
        let quoted = &after[..end];
        if quoted.unicode_words().count() >= MIN_QUOTED {
            found.push(quoted.trim());
        }
        rest = &after[end..];
        rest = rest.strip_prefix(ends).unwrap_or(rest);
    }
    found
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;

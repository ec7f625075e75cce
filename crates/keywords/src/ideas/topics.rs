//! Topics: phrases that people search for, told from parts of sentences and from the furniture of pages.
//!
//! A topic is a question, or a name of something: no word of a clause in it, and none at its ends that only joins or points.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::{
    rules,
    rules::Rules,
    usage::{Usage, is_capitalised},
};
use crate::{titles, words::Lexicon, words::primary};

/// Most words of a topic that is no question.
const MAX_WORDS: usize = 7;
/// Letters of a word that is put together of others.
const MIN_COMPOUND: usize = 12;
/// Letters of a word in capitals that is no abbreviation.
const MIN_LABEL: usize = 7;
/// Words of a text that stand by themselves less often are no phrase.
const MIN_ALONE: u32 = 2;

/// Place of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A heading, a link, or an address: somebody has delimited it.
    Named,
    /// Words within a text.
    Text,
}

/// Judge of topics of a language.
pub(super) struct Topics<'a> {
    rules: &'static Rules,
    lexicon: &'a Lexicon,
    usage: &'a Usage,
    /// Whether names of things have a capital letter.
    capital_nouns: bool,
    english: bool,
}

impl<'a> Topics<'a> {
    pub fn new(language: &str, lexicon: &'a Lexicon, usage: &'a Usage) -> Self {
        let primary = primary(language);
        Self {
            rules: rules::find(language),
            lexicon,
            usage,
            capital_nouns: primary == "de",
            english: primary == "en",
        }
    }

    /// Returns the topic that a text names, as it is usually written; `None` if it names none.
    pub fn find(&self, text: &str, place: Place) -> Option<String> {
        let bare = self.bare(text);
        let words: Vec<&str> = bare.split_whitespace().collect();
        let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let lower: Vec<&str> = lower
            .iter()
            .map(|word| word.trim_matches(|c: char| "\"„“”‚‘’»«()!?.,:;".contains(c)))
            .collect();
        if lower.iter().any(|word| is_code(word)) || self.rules.navigation.contains(lower.join(" ").as_str())
        {
            return None;
        }
        // a remark in English on a page in another language
        let is_foreign = |word: &&str| ["the", "and", "of", "for"].contains(word) && !self.is_edge(word);
        if !self.english && lower.iter().any(is_foreign) {
            return None;
        }
        let is_question = words.len() > 2 && self.rules.question.contains(lower.first()?);
        let is_topic = if is_question {
            place == Place::Named && self.is_question(&lower)
        } else {
            self.is_name(&lower, &words, place)
        };
        is_topic.then(|| self.written(&words, is_question))
    }

    /// Returns the name in a title or heading without what stands around it.
    pub fn name<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.bare(text)
    }

    /// Whether sentences of the pages name a topic too, or it is so special that a heading is enough.
    pub fn is_firm(&self, topic: &str) -> bool {
        let lower = topic.to_lowercase();
        let content = lower.split(' ').filter(|word| !self.says_nothing(word));
        let is_act = if self.capital_nouns {
            topic
                .rsplit(' ')
                .next()
                .is_some_and(|last| last.starts_with(char::is_lowercase))
        } else {
            self.english
                && lower
                    .split(' ')
                    .next()
                    .is_some_and(|first| first.ends_with("ing"))
        };
        if self.english && self.usage.is_state(&lower) {
            return false;
        }
        is_act || content.count() > 2 || self.usage.alone(&lower) > 0 || !topic.contains(' ')
    }

    /// Returns how often the words of a topic stand by themselves on the pages.
    pub fn alone(&self, topic: &str) -> u32 {
        self.usage.alone(&topic.to_lowercase())
    }

    /// A text without what stands around a name: numbers and kinds of parts, quotation marks, remarks in parentheses, labels
    /// in capitals.
    fn bare<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = titles::bare(text);
        // `Chapter 3. `, `Appendix B, `, `Section 15.3, “…”`
        if let Some((first, rest)) = text.split_once(' ')
            && self.rules.part.contains(first.to_lowercase().as_str())
            && let Some((number, rest)) = rest.split_once([' ', '\u{a0}'])
            && (number.contains(|c: char| c.is_ascii_digit()) || number.chars().count() <= 2)
            && number.ends_with(['.', ',', ':'])
        {
            text = rest;
        }
        let text = text
            .trim()
            .trim_start_matches('¿')
            .trim_end_matches(['?', '!', '.', ':', ',', '…', '¶', '#']);
        let text = match (text.split_once(" ("), text.ends_with(')')) {
            (Some((before, _)), true) => before,
            _ => text,
        };
        let quotes = |c: char| "\"„“”»«'‘’`".contains(c);
        let text = if text.starts_with(quotes) {
            text.trim_matches(quotes)
        } else {
            text
        };
        // `NOTE Backup strategies`, `BACK TO BASICS File systems`
        let in_capitals = || {
            text.split_whitespace()
                .take_while(|word| word.chars().all(char::is_uppercase))
        };
        let has_joints = in_capitals().any(|word| self.rules.inner.contains(word.to_lowercase().as_str()));
        let label = if has_joints {
            in_capitals().count()
        } else {
            in_capitals().take_while(|word| self.is_label(word)).count()
        };
        let all = text.split_whitespace().count();
        if label > 0 && all > label {
            return text
                .split_whitespace()
                .skip(label)
                .collect::<Vec<_>>()
                .join(" ")
                .into();
        }
        text.trim().into()
    }

    /// Whether a word in capitals is otherwise written without.
    fn is_label(&self, word: &str) -> bool {
        let letters = word.chars().count();
        letters > 1
            && word.chars().all(char::is_uppercase)
            && (letters >= MIN_LABEL
                || self.rules.label.contains(word.to_lowercase().as_str())
                || self.rules.inner.contains(word.to_lowercase().as_str())
                || self
                    .usage
                    .spelling(&word.to_lowercase())
                    .is_some_and(|usual| usual.chars().any(char::is_lowercase)))
    }

    /// Whether a question can be understood away from its page.
    fn is_question(&self, lower: &[&str]) -> bool {
        let rest = lower.get(1..).unwrap_or_default();
        let has_content = rest
            .iter()
            .any(|word| !self.says_nothing(word) && !self.is_vague(word));
        has_content && !rest.iter().any(|word| self.rules.pointing.contains(word)) && lower.len() <= 12
    }

    fn is_name(&self, lower: &[&str], words: &[&str], place: Place) -> bool {
        let (Some(first), Some(last)) = (lower.first(), lower.last()) else {
            return false;
        };
        let rules = self.rules;
        if lower.len() > MAX_WORDS
            || words[..words.len() - 1]
                .iter()
                .any(|word| word.ends_with([',', ';', ':', '.', '!', '?']) && *word != "vs.")
        {
            return false;
        }
        // a company is looked up, not read about
        if lower[1..].iter().any(|word| COMPANIES.contains(word)) || self.is_measure(lower) {
            return false;
        }
        // where names of things are one word, such as `Rasenmäherkabel`
        if let [word] = lower {
            return self.capital_nouns
                && word.chars().count() >= MIN_COMPOUND
                && self.usage.is_noun(word)
                && self.usage.spelling(word).is_some_and(is_capitalised)
                && !self.is_edge(word)
                && !self.is_vague(word);
        }
        let inner = |word: &&str| rules.inner.contains(word);
        let content: Vec<&&str> = lower.iter().filter(|word| !inner(word)).collect();
        if content.len() < 2 && lower.len() > 1 || content.iter().any(|word| self.is_never(word)) {
            return false;
        }
        if place == Place::Text
            && self
                .usage
                .spelling(first)
                .is_some_and(|usual| self.is_label(usual))
        {
            return false;
        }
        if self.is_edge(first) || self.is_edge(last) || self.is_vague(last) && content.len() < 3 {
            return false;
        }
        if lower
            .iter()
            .all(|word| self.is_vague(word) || self.says_nothing(word))
        {
            return false;
        }
        if self.english && !self.is_english_name(lower, place)
            || self.capital_nouns && !self.is_german_name(lower, words, place)
        {
            return false;
        }
        if place == Place::Named {
            return true;
        }
        let together = lower.join(" ");
        let alone = self.usage.alone(&together);
        // `POST orders` where people otherwise write `post`
        let is_shouted = |word: &str| word.len() > 1 && word.chars().all(char::is_uppercase);
        let written = self
            .usage
            .spelling_of_run(&together)
            .and_then(|run| run.split(' ').next());
        if written.is_some_and(|word| is_shouted(word) && self.usage.spelling(first) == Some(*first)) {
            return false;
        }
        // `the module maths` is called the maths module
        let turned = || lower.iter().rev().copied().collect::<Vec<_>>().join(" ");
        alone >= MIN_ALONE && (lower.len() != 2 || self.usage.alone(&turned()) <= alone)
    }

    /// Whether the words are a number with its unit: `27 MB`, `24 plants`.
    fn is_measure(&self, lower: &[&str]) -> bool {
        let is_number =
            |word: &&str| word.starts_with(|c: char| c.is_numeric()) && !word.contains(char::is_alphabetic);
        let named = |word: &&&str| !self.rules.inner.contains(**word) && !is_number(word);
        lower.first().is_some_and(is_number) && lower.iter().filter(named).count() < 2
    }

    /// No finite verb, adverb or participle where a name has none. A heading may begin with what is to be done.
    fn is_english_name(&self, lower: &[&str], place: Place) -> bool {
        let adverb = |word: &str| word.len() > 4 && word.ends_with("ly") && !LY_NOUNS.contains(&word);
        let last = lower.len() - 1;
        // `remove the plant`, but `choosing the pot`
        if lower.get(1).is_some_and(|word| ["the", "a", "an"].contains(word)) && !lower[0].ends_with("ing") {
            return false;
        }
        // `pages link`: what pages do
        if place == Place::Text && last > 0 && self.usage.is_clause(lower[last - 1], lower[last]) {
            return false;
        }
        !lower.iter().enumerate().any(|(at, word)| {
            let ends = at == 0 || at == last;
            let is_within = !ends && word.ends_with("ing") && lower[at - 1].ends_with('s');
            // `canonical points to a redirect`
            let is_leading = !ends && LEADING.contains(word) && lower[at + 1] == "to";
            is_within && !lower[at - 1].ends_with("ss")
                || is_leading
                || ends && adverb(word)
                || at > 0 && at == last && word.len() > 4 && word.ends_with("ed") && !ED_NOUNS.contains(word)
                || at > 0 && at < last && word.ends_with("ed") && self.usage.is_verb(word)
                || !(word.ends_with("ing") || at == 0 && place == Place::Named) && self.usage.is_verb(word)
        })
    }

    /// Ends with the name of a thing, or in a heading with what is done to it. Verbs within are small and bear no ending of
    /// an adjective.
    fn is_german_name(&self, lower: &[&str], words: &[&str], place: Place) -> bool {
        let is_small = |word: &str| word.starts_with(char::is_lowercase);
        // an address has no capital letters to go by
        let has_capitals = words.iter().any(|word| !is_small(word));
        let is_small = |at: usize| match self.usage.spelling(lower[at]) {
            Some(usual) => is_small(usual),
            None => has_capitals && is_small(words[at]),
        };
        let last = lower.len() - 1;
        lower.iter().enumerate().all(|(at, word)| {
            if !is_small(at) || self.rules.inner.contains(word) {
                return true;
            }
            let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
            if at == last {
                place == Place::Named && at > 0 && ends(&["en", "ern", "eln"])
            } else {
                // without the article that they go with, `kompromittierten` and `kompromittiertem` name nothing
                ends(&["e", "er", "es"]) || at > 0 && ends(&["en", "em"])
            }
        })
    }

    fn says_nothing(&self, word: &str) -> bool {
        self.rules.inner.contains(word)
            || self.lexicon.is_stop(word)
            || self.is_edge(word)
            || self.is_never(word)
    }

    fn is_never(&self, word: &str) -> bool {
        let elided = word
            .split_once(['\'', '’'])
            .map_or(word, |(_, behind)| if behind.len() > 2 { behind } else { word });
        self.rules.never.contains(word) || self.lexicon.is_stop(elided) && !self.rules.edge.contains(word)
    }

    fn is_edge(&self, word: &str) -> bool {
        self.rules.edge.contains(word)
            || self.rules.inner.contains(word)
            || self.lexicon.is_stop(word)
            || word.chars().count() < 2 && !word.chars().all(char::is_alphabetic)
            || word.chars().count() < 2 && !self.english
    }

    fn is_vague(&self, word: &str) -> bool {
        self.rules.vague.contains(word) || word.chars().all(|c| c.is_numeric() || c == '.')
    }

    /// The words as the pages usually write them; what only begins a heading has no capital letter.
    fn written(&self, words: &[&str], is_question: bool) -> String {
        let trim = |word: &str| word.trim_matches(|c: char| "\"„“”»«()".contains(c)).to_owned();
        let words: Vec<String> = words.iter().map(|word| trim(word)).collect();
        let together = words.join(" ").to_lowercase();
        if let Some(usual) = self.usage.spelling_of_run(&together).filter(|_| !is_question) {
            let spelt = usual.split(' ').map(|word| {
                let known = self.usage.spelling(&word.to_lowercase());
                known
                    .filter(|known| known.chars().all(char::is_uppercase))
                    .unwrap_or(word)
            });
            return spelt.collect::<Vec<_>>().join(" ");
        }
        let has_capitals = words.iter().any(|word| word.contains(char::is_uppercase));
        let spelt = |(at, word): (usize, &String)| {
            let word = word.as_str();
            let lower = word.to_lowercase();
            // only what begins a heading has a capital letter that it may not have elsewhere
            if self.capital_nouns && has_capitals && at > 0 {
                return word.to_owned();
            }
            if self.capital_nouns && words.len() > 1 && is_adjective(&lower) {
                return lower;
            }
            if let Some(usual) = self.usage.spelling(&lower) {
                // `Erstellen kostenloser Zertifikate`: what is done, as a name
                let is_act = self.capital_nouns && lower.ends_with("en") && usual == lower;
                return if is_act { word.to_owned() } else { usual.to_owned() };
            }
            let known = self.rules.inner.contains(lower.as_str()) || self.lexicon.is_stop(&lower);
            let capitals = word.chars().filter(|c| c.is_uppercase()).count();
            if known
                || is_question && self.rules.question.contains(lower.as_str())
                || !self.capital_nouns && capitals == 1 && word.starts_with(char::is_uppercase)
            {
                lower
            } else {
                word.to_owned()
            }
        };
        let mut spelt: Vec<String> = words.iter().enumerate().map(spelt).collect();
        // a name is not written with a capital letter in its middle only
        let is_proper = |word: &String| is_capitalised(word);
        if !self.capital_nouns
            && !is_question
            && words.first().is_some_and(is_proper)
            && spelt.iter().any(is_proper)
        {
            spelt[0].clone_from(&words[0]);
        }
        spelt.join(" ")
    }
}

/// Forms of companies, with which their names end.
const COMPANIES: [&str; 7] = ["inc", "corp", "ltd", "llc", "plc", "gmbh", "sarl"];
/// Ends of German words that are adjectives.
const ADJECTIVES: [&str; 10] = [
    "isch", "lich", "ig", "bar", "sam", "los", "haft", "iv", "ell", "är",
];

/// Whether a German word in lower case is an adjective by its end.
fn is_adjective(word: &str) -> bool {
    let stem = ["en", "em", "er", "es", "e"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending));
    stem.is_some_and(|stem| ADJECTIVES.iter().any(|end| stem.ends_with(end)))
}

/// Nouns and adjectives that end like adverbs.
const LY_NOUNS: [&str; 12] = [
    "family",
    "assembly",
    "reply",
    "supply",
    "anomaly",
    "monopoly",
    "butterfly",
    "daily",
    "weekly",
    "monthly",
    "friendly",
    "early",
];
/// Verbs, before `to`, that are nouns elsewhere.
const LEADING: [&str; 6] = ["points", "leads", "refers", "belongs", "relates", "links"];
/// Nouns that end like participles.
const ED_NOUNS: [&str; 8] = [
    "speed", "feed", "seed", "need", "shed", "breed", "weed", "newlywed",
];

/// Names of files, variables and commands.
fn is_code(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    let odd = |c: char| "_$%{}[]()<>=\\@*|~^`:".contains(c);
    let path = inner.matches('/').count() > 1
        || inner.contains('/')
            && !inner
                .split('/')
                .all(|part| (1..=6).contains(&part.chars().count()))
        || word.starts_with('/');
    let dotted = inner.contains('.')
        && !inner.chars().all(|c| c.is_numeric() || c == '.')
        && !inner.split('.').all(|p| p.chars().count() == 1);
    word.contains(odd) || path || dotted || word.starts_with('-') && word.len() > 1 || word.contains("--")
}

//! Topics: phrases that people search for, told from parts of sentences and from the furniture of pages.
//!
//! A topic is a question, or a name of something: no word of a clause in it, and none at its ends that only joins or points.

use std::borrow::Cow;

use super::{rules, rules::Rules, usage::Usage};
use crate::{titles, words::Lexicon, words::primary};

/// Most words of a topic that is no question.
const MAX_WORDS: usize = 7;
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
        // `NOTE Backup strategies`
        let label = text
            .split_whitespace()
            .take_while(|word| self.is_label(word))
            .count();
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
        place == Place::Named || self.usage.alone(&lower.join(" ")) >= MIN_ALONE
    }

    /// No finite verb, adverb or participle where a name has none. A heading may begin with what is to be done.
    fn is_english_name(&self, lower: &[&str], place: Place) -> bool {
        let adverb = |word: &str| word.len() > 4 && word.ends_with("ly") && !LY_NOUNS.contains(&word);
        let last = lower.len() - 1;
        // `remove the plant`, but `choosing the pot`
        if lower.get(1).is_some_and(|word| ["the", "a", "an"].contains(word)) && !lower[0].ends_with("ing") {
            return false;
        }
        !lower.iter().enumerate().any(|(at, word)| {
            let ends = at == 0 || at == last;
            let is_within = !ends && word.ends_with("ing") && lower[at - 1].ends_with('s');
            is_within && !lower[at - 1].ends_with("ss")
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
        let spelt = |word: &&str| {
            let word = word.trim_matches(|c: char| "\"„“”»«()".contains(c));
            let lower = word.to_lowercase();
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
        words.iter().map(spelt).collect::<Vec<_>>().join(" ")
    }
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

#[cfg(test)]
mod tests {
    use super::{
        super::{Page, usage::Usage},
        Place, Topics,
    };
    use crate::words::Lexicon;

    const TEXT: &str = "The tank holds the rain barrel water. A rain barrel fills fast. You can drain the barrel, and you drain it \
                        again. The pump drains water to the bed. We mulch the bed, and you mulch the roses. A rain barrel is heavy. \
                        Pipes of PVC and an SSL seal are here; the alternative is here.";

    fn found(language: &str, text: &str, place: Place) -> Option<String> {
        let lexicon = Lexicon::for_language(language);
        let pages = [Page {
            text: if language == "en" { TEXT } else { "" },
            ..Page::default()
        }];
        let usage = Usage::from_pages(&pages, language, &lexicon);
        Topics::new(language, &lexicon, &usage).find(text, place)
    }

    fn named(language: &str, text: &str) -> Option<String> {
        found(language, text, Place::Named)
    }

    #[test]
    fn names_are_topics() {
        for (text, topic) in [
            ("Rain barrel", "rain barrel"),
            (
                "3.2. Rain Barrels for small gardens",
                "rain barrels for small gardens",
            ),
            ("Chapter 4. Drip irrigation", "drip irrigation"),
            ("Section 15.3, “Drip irrigation”", "drip irrigation"),
            ("Signs of overwatering", "signs of overwatering"),
            ("Choosing the right hose", "choosing the right hose"),
            ("Rain barrel vs. cistern", "rain barrel vs. cistern"),
            ("ALTERNATIVE Drip irrigation", "drip irrigation"),
            ("Ground Source Heat Pump (GSHP)", "ground source heat pump"),
            ("SSL seal", "SSL seal"),
            ("mulch roses", "mulch roses"),
        ] {
            assert_eq!(named("en", text).as_deref(), Some(topic), "{text}");
        }
        for topic in [
            "Pumpen einrichten",
            "Wahl der Pumpe",
            "Automatische Bewässerung",
            "Tomaten im Hochbeet",
        ] {
            let found = named("de", topic).map(|found| found.to_lowercase());
            assert_eq!(found, Some(topic.to_lowercase()));
        }
        for (language, topic) in [
            ("fr", "arrosage de la pelouse"),
            ("es", "riego por goteo"),
            ("it", "irrigazione a goccia"),
            ("nl", "aanleg van het gazon"),
            ("pt", "rega por gotejamento"),
            ("pl", "nawadnianie kropelkowe"),
        ] {
            assert_eq!(named(language, topic).as_deref(), Some(topic));
        }
    }

    #[test]
    fn questions_stay_questions() {
        for question in [
            "How often should you water a lawn?",
            "When to drain a rain barrel",
            "Do I need a pump?",
        ] {
            let topic = named("en", question).unwrap();
            assert_eq!(
                crate::normalize(&topic),
                crate::normalize(question.trim_end_matches('?'))
            );
        }
        assert!(named("de", "Wie oft muss man den Rasen gießen?").is_some());
        for pointing in [
            "How does it work?",
            "What is this?",
            "Why we are here",
            "What can they do?",
        ] {
            assert_eq!(named("en", pointing), None, "{pointing}");
        }
        assert_eq!(found("en", "when the barrel", Place::Text), None);
    }

    #[test]
    fn parts_of_sentences_are_no_topics() {
        for text in [
            "lives for weeks",
            "tank holds water",
            "pump drains water",
            "for the garden",
            "barrel and",
            "barrels filled",
            "You will need",
            "following barrel",
            "barrel quickly",
            "remove the barrel",
            "two barrels",
            "pipes carrying water",
            "barrel, pump and hose",
            "next section",
        ] {
            assert_eq!(named("en", text), None, "{text}");
        }
        for text in [
            "Pumpe speichert Wasser",
            "für den Garten",
            "entlastet Rohre",
            "nächster Abschnitt",
        ] {
            assert_eq!(named("de", text), None, "{text}");
        }
    }

    #[test]
    fn furniture_and_code_are_no_topics() {
        for text in [
            "Getting started",
            "Table of contents",
            "2. Overview",
            "See also",
            "Release notes",
            "rain_barrel size",
            "barrel.config file",
            "--drain option",
            "etc/barrel/config files",
            "Version 2.1",
            "",
            "  ?",
        ] {
            assert!(
                named("en", text).is_none_or(|topic| topic.contains("contents")),
                "{text}"
            );
        }
        assert_eq!(named("de", "Erste Schritte"), None);
        assert_eq!(named("fr", "Premiers pas"), None);
    }

    #[test]
    fn words_of_a_text_are_a_topic_where_they_stand_by_themselves() {
        assert_eq!(
            found("en", "rain barrel", Place::Text).as_deref(),
            Some("rain barrel")
        );
        assert_eq!(found("en", "barrel water", Place::Text), None);
        assert_eq!(
            found("en", "drain water", Place::Text),
            None,
            "a verb on these pages"
        );
        assert!(found("en", "drain water", Place::Named).is_some(), "what to do");
    }
}

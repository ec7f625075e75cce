//! Search intent, by rules that can be read and explained.
//!
//! Own and competitors' names alone, or with words such as `login`, lead to a known place; other words
//! are lists per language, in `data/intent`. The first section with a hit is the intent, later sections
//! are secondary ones, and where nothing hits it is informational with little confidence.

use std::{collections::HashMap, sync::LazyLock};

use searchwright_contract::keywords::Intent;

use super::{
    normalize,
    words::{fold_accents, primary, tokens},
};

/// Confidence for a keyword that no rule matches.
pub const FALLBACK_CONFIDENCE: f64 = 0.4;
/// Confidence for a brand's name alone.
const BRAND_CONFIDENCE: f64 = 0.95;

/// Verdict of the rules on a keyword.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The main intent.
    pub intent: Intent,
    /// Other intents whose words it holds too.
    pub secondary: Vec<Intent>,
    /// 0 to 1.
    pub confidence: f64,
    /// Match that decided, in words.
    pub reason: String,
}

/// Names of brands in a form that words are compared with.
#[derive(Clone, Debug, Default)]
pub struct Brands {
    own: Vec<Vec<String>>,
    competitors: Vec<Vec<String>>,
}

/// Owner of the name that a keyword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The project's.
    Own,
    /// A competitor's.
    Competitor,
}

impl Brands {
    /// Own names and aliases, and those of competitors.
    pub fn new<'a>(
        own: impl IntoIterator<Item = &'a str>,
        competitors: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Vec<String>> {
            let words = names.into_iter().map(words);
            let mut names: Vec<_> = words.filter(|words| !words.is_empty()).collect();
            // of two aliases of which one holds the other, the longer one is meant
            names.sort_by_key(|words| std::cmp::Reverse(words.len()));
            names
        }
        Self {
            own: names(own),
            competitors: names(competitors),
        }
    }

    /// The first name found in a keyword: where it stands, its number of words, and whose it is.
    fn find(&self, words: &[String]) -> Option<(usize, usize, Owner)> {
        let all = [(&self.own, Owner::Own), (&self.competitors, Owner::Competitor)];
        all.into_iter().find_map(|(names, owner)| {
            names.iter().find_map(|name| {
                let at = words.windows(name.len()).position(|window| window == name)?;
                Some((at, name.len(), owner))
            })
        })
    }

    /// Returns the owner of the name that a text holds, if any; own names count first.
    pub fn owner(&self, text: &str) -> Option<Owner> {
        self.find(&words(text)).map(|(_, _, owner)| owner)
    }
}

/// Finds the intent of a keyword in a BCP 47 language.
pub fn classify(keyword: &str, language: &str, brands: &Brands) -> Verdict {
    let words = words(keyword);
    let rules = RULES.get(primary(language).as_str());
    let mut hits: Vec<(Intent, f64, String)> = Vec::new();
    if let Some((at, length, owner)) = brands.find(&words) {
        let whose = match owner {
            Owner::Own => "own brand",
            Owner::Competitor => "competitor",
        };
        if length == words.len() {
            hits.push((Intent::Navigational, BRAND_CONFIDENCE, format!("{whose} alone")));
        } else {
            let rest = [&words[..at], &words[at + length..]].concat();
            let sections = rules.into_iter().flatten();
            for section in sections.filter(|s| s.intent == Intent::Navigational) {
                if let Some(found) = section.find(&rest) {
                    let reason = format!("{whose} with \"{found}\"");
                    hits.push((section.intent, section.confidence, reason));
                }
            }
        }
    }
    for section in rules.into_iter().flatten() {
        if section.intent != Intent::Navigational
            && let Some(found) = section.find(&words)
        {
            let reason = format!("contains \"{found}\"");
            hits.push((section.intent, section.confidence, reason));
        }
    }
    let mut hits = hits.into_iter();
    let Some((intent, confidence, reason)) = hits.next() else {
        let reason = match rules {
            Some(_) => "no rule hit".to_owned(),
            None => format!("no rules for language \"{language}\""),
        };
        return Verdict {
            intent: Intent::Informational,
            secondary: Vec::new(),
            confidence: FALLBACK_CONFIDENCE,
            reason,
        };
    };
    let mut secondary = Vec::new();
    for (other, ..) in hits {
        if other != intent && !secondary.contains(&other) {
            secondary.push(other);
        }
    }
    Verdict {
        intent,
        secondary,
        confidence,
        reason,
    }
}

/// The words of a text without case and accents.
fn words(text: &str) -> Vec<String> {
    let text = normalize(text).replace('\'', " ");
    tokens(&fold_accents(&text)).map(str::to_owned).collect()
}

/// One word of a pattern.
#[derive(Debug, PartialEq)]
enum Part {
    Word(String),
    Number,
    /// One or more words.
    Words,
}

/// Patterns of one intent.
#[derive(Debug)]
struct Section {
    intent: Intent,
    confidence: f64,
    /// Each with its line.
    patterns: Vec<(String, Vec<Part>)>,
}

impl Section {
    /// The first pattern found in a keyword, as its line.
    fn find(&self, words: &[String]) -> Option<&str> {
        let found = |parts: &[Part]| (0..words.len()).any(|at| matches(parts, &words[at..]));
        let pattern = self.patterns.iter().find(|(_, parts)| found(parts));
        pattern.map(|(line, _)| line.as_str())
    }
}

/// Whether a text begins with a pattern.
fn matches(parts: &[Part], words: &[String]) -> bool {
    let Some((part, parts)) = parts.split_first() else {
        return true;
    };
    let Some((word, words)) = words.split_first() else {
        return false;
    };
    match part {
        Part::Word(wanted) => wanted == word && matches(parts, words),
        Part::Number => word.bytes().all(|b| b.is_ascii_digit()) && matches(parts, words),
        Part::Words => (0..=words.len()).any(|more| matches(parts, &words[more..])),
    }
}

static RULES: LazyLock<HashMap<&'static str, Vec<Section>>> = LazyLock::new(|| {
    let files = [
        ("de", include_str!("data/intent/de.txt")),
        ("en", include_str!("data/intent/en.txt")),
        ("es", include_str!("data/intent/es.txt")),
        ("fr", include_str!("data/intent/fr.txt")),
        ("it", include_str!("data/intent/it.txt")),
        ("nl", include_str!("data/intent/nl.txt")),
        ("pt", include_str!("data/intent/pt.txt")),
    ];
    files
        .into_iter()
        .map(|(language, text)| (language, parse(text)))
        .collect()
});

/// Reads a list. Lines that are none are left out; a test reads every list.
fn parse(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("# ") {
            continue;
        }
        if let Some(head) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            let parsed = head.split_once(' ').and_then(|(intent, confidence)| {
                let (intent, confidence) = (intent.parse().ok()?, confidence.parse().ok()?);
                Some(Section {
                    intent,
                    confidence,
                    patterns: Vec::new(),
                })
            });
            sections.extend(parsed);
        } else if let Some(section) = sections.last_mut() {
            let part = |word: &str| match word {
                "#" => vec![Part::Number],
                "_" => vec![Part::Words],
                word => words(word).into_iter().map(Part::Word).collect(),
            };
            let parts = line.split_whitespace().flat_map(part).collect();
            section.patterns.push((line.to_owned(), parts));
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};
    use searchwright_contract::keywords::Intent::{
        self, Commercial, Informational, Navigational, Transactional,
    };

    use super::{Brands, FALLBACK_CONFIDENCE, Owner, RULES, classify};

    fn brands() -> Brands {
        Brands::new(["Acme", "Acme Desks"], ["Rival", "Big Rival"])
    }

    fn intent(keyword: &str, language: &str) -> Intent {
        classify(keyword, language, &brands()).intent
    }

    #[test]
    fn english() {
        for (keyword, wanted) in [
            ("acme", Navigational),
            ("ACME desks", Navigational),
            ("acme login", Navigational),
            ("rival sign in", Navigational),
            ("big rival phone number", Navigational),
            ("rival alternatives", Commercial),
            ("acme vs rival", Commercial),
            ("acme pricing", Transactional),
            ("standing desk price", Transactional),
            ("desks near me", Transactional),
            ("standing desk for sale", Transactional),
            ("top 10 desks", Commercial),
            ("best desk", Commercial),
            ("desk for tall people", Commercial),
            ("how to build a desk for a child", Informational),
            ("desk height guide for beginners", Informational),
            ("what is a desk", Informational),
            ("desk login", Informational),
        ] {
            assert_eq!(intent(keyword, "en-US"), wanted, "{keyword}");
        }
    }

    #[test]
    fn other_languages() {
        for (language, keyword, wanted) in [
            ("de", "schreibtisch kaufen", Transactional),
            ("de", "was kostet ein schreibtisch", Transactional),
            ("de", "schreibtisch testsieger", Commercial),
            ("de-AT", "acme anmelden", Navigational),
            ("de", "wie hoch ist ein schreibtisch", Informational),
            ("fr", "qu'est-ce que le bureau debout", Informational),
            ("fr", "bureau pas cher", Transactional),
            ("fr", "meilleur bureau", Commercial),
            ("es", "cuanto cuesta un escritorio", Transactional),
            ("es", "que es un escritorio", Informational),
            ("es", "mejores escritorios", Commercial),
            ("it", "migliori scrivanie", Commercial),
            ("it", "scrivania prezzo", Transactional),
            ("it", "cos'è una scrivania", Informational),
            ("nl", "bureau kopen", Transactional),
            ("nl", "hoe hoog is een bureau", Informational),
            ("pt-BR", "mesa preço", Transactional),
            ("pt", "melhor mesa", Commercial),
            ("pt", "como montar uma mesa", Informational),
        ] {
            assert_eq!(intent(keyword, language), wanted, "{keyword}");
        }
    }

    #[test]
    fn whole_words_only() {
        // not `price`, `how`, `top #`, `is`
        for keyword in ["priceless desks", "howard desk", "desktop desks", "island desk"] {
            let verdict = classify(keyword, "en", &brands());
            assert_eq!(
                (verdict.intent, verdict.confidence),
                (Informational, FALLBACK_CONFIDENCE)
            );
            assert_eq!(verdict.reason, "no rule hit");
        }
        assert_eq!(brands().owner("unrivaled desks"), None);
        assert_eq!(brands().owner("acme or rival"), Some(Owner::Own));
        assert_eq!(brands().owner("why big rival"), Some(Owner::Competitor));
    }

    #[test]
    fn a_verdict_says_why() {
        let verdict = classify("how much does the best desk cost", "en", &brands());
        assert_eq!(verdict.intent, Transactional);
        assert_eq!(verdict.secondary, [Commercial, Informational]);
        assert_eq!(verdict.reason, "contains \"cost\"");
        assert_eq!(
            classify("acme login", "en", &brands()).reason,
            "own brand with \"login\""
        );
        assert_eq!(classify("rival", "ja", &brands()).reason, "competitor alone");
        assert_eq!(
            classify("x", "ja", &brands()).reason,
            "no rules for language \"ja\""
        );
    }

    #[test]
    fn every_list_is_whole() {
        for (language, sections) in RULES.iter() {
            let intents: Vec<Intent> = sections.iter().map(|s| s.intent).collect();
            let wanted = [Navigational, Transactional, Commercial, Informational, Commercial];
            assert_eq!(intents, wanted, "{language}");
            for section in sections {
                assert!((0.0..=1.0).contains(&section.confidence));
                assert!(!section.patterns.is_empty());
                assert!(section.patterns.iter().all(|(_, parts)| !parts.is_empty()));
            }
        }
    }

    proptest! {
        #[test]
        fn any_keyword_has_an_intent(keyword in "\\PC{0,60}", language in "(en|de|fr|xx)") {
            let verdict = classify(&keyword, &language, &brands());
            prop_assert!((FALLBACK_CONFIDENCE..=1.0).contains(&verdict.confidence));
            prop_assert!(!verdict.secondary.contains(&verdict.intent));
        }
    }
}

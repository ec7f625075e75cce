//! Filters for texts that may not become keywords.

use std::collections::HashSet;

use searchwright_contract::keywords::Intent;

use super::{Draft, Material, normalized_set, patterns, topics::Topics};
use crate::{
    import::MAX_KEYWORD,
    intent,
    intent::{Brands, Owner},
    normalize, titles,
    words::{Lexicon, tokens},
};

/// Reason why a draft gave no idea.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejected {
    /// One word, more than eight, or too many characters.
    Length,
    /// No letters, or parts that are no words.
    NotWords,
    /// An e-mail address, a telephone number or another long number, or an address of a page.
    Personal,
    /// Blocked by the caller.
    Blocked,
    /// A phrase that every site has.
    Generic,
    /// A part of a sentence, a name of a file or a part of a page.
    NoTopic,
    /// A page of the project has it as its title or main heading.
    Covered,
    /// Leads to the project itself.
    OwnNavigational,
    /// The project has it already.
    Known,
    /// A page is in another language.
    OtherLanguage,
    /// A phrase on most pages of the site, like those of menus.
    Everywhere,
    /// The own site has it, so that it is no gap.
    NoGap,
}

impl Rejected {
    /// Stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::NotWords => "not_words",
            Self::Personal => "personal",
            Self::Blocked => "blocked",
            Self::Generic => "generic",
            Self::NoTopic => "no_topic",
            Self::Covered => "covered",
            Self::OwnNavigational => "own_navigational",
            Self::Known => "known",
            Self::OtherLanguage => "other_language",
            Self::Everywhere => "everywhere",
            Self::NoGap => "no_gap",
        }
    }
}

/// The filters of one call.
pub(super) struct Filters<'a> {
    language: &'a str,
    brands: &'a Brands,
    lexicon: &'a Lexicon,
    generic: HashSet<String>,
    /// Topics of the own pages, as variants are compared.
    covered: HashSet<String>,
    known: HashSet<String>,
    blocked: Vec<Vec<String>>,
}

impl<'a> Filters<'a> {
    pub fn new(
        material: &Material<'a>,
        brands: &'a Brands,
        topics: &Topics<'_>,
        lexicon: &'a Lexicon,
    ) -> Self {
        let names = material
            .pages
            .iter()
            .flat_map(|page| page.title.iter().chain(&page.h1s));
        let names = names.flat_map(|name| titles::parts(name).into_iter().chain([*name]));
        let covered = names.flat_map(|name| {
            let bare = topics.name(name);
            // `The Gardener's Handbook`
            let (first, rest) = bare.split_once(' ').unwrap_or_default();
            let rest = if lexicon.is_stop(&first.to_lowercase()) {
                rest
            } else {
                ""
            };
            let keys = [name, &bare, rest].map(|name| lexicon.variant_key(&normalize(name)));
            keys.into_iter().filter(|key| !key.is_empty())
        });
        let words = |text: &&str| -> Vec<String> { tokens(&normalize(text)).map(str::to_owned).collect() };
        Self {
            language: material.language,
            brands,
            lexicon,
            covered: covered.collect(),
            generic: normalized_set(&patterns::find(material.language).generic),
            known: normalized_set(&material.known),
            blocked: material
                .blocked
                .iter()
                .map(words)
                .filter(|w| !w.is_empty())
                .collect(),
        }
    }

    /// Returns the reason why a draft is no idea; `None` if it is one.
    pub fn judge(&self, normalized: &str, draft: &Draft) -> Option<Rejected> {
        let words: Vec<&str> = tokens(normalized).collect();
        let least = if draft.one_word { 1 } else { 2 };
        let most = if draft.verbatim { usize::MAX } else { 8 };
        if !(least..=most).contains(&words.len()) || normalized.chars().count() > MAX_KEYWORD {
            return Some(Rejected::Length);
        }
        if is_personal(normalized) {
            return Some(Rejected::Personal);
        }
        let odd = |c: char| c.is_control() || "{}[]<>|=\\^~\u{fffd}".contains(c);
        if normalized.contains(odd) || !normalized.contains(char::is_alphabetic) {
            return Some(Rejected::NotWords);
        }
        let blocked = |phrase: &Vec<String>| words.windows(phrase.len()).any(|window| window == phrase);
        if self.blocked.iter().any(blocked) {
            return Some(Rejected::Blocked);
        }
        if self.generic.contains(normalized) {
            return Some(Rejected::Generic);
        }
        if self.known.contains(normalized) {
            return Some(Rejected::Known);
        }
        if self.covered.contains(&self.lexicon.variant_key(normalized)) {
            return Some(Rejected::Covered);
        }
        let own = self.brands.owner(normalized) == Some(Owner::Own);
        if own && intent::classify(normalized, self.language, self.brands).intent == Intent::Navigational {
            return Some(Rejected::OwnNavigational);
        }
        None
    }
}

/// Whether a text holds an e-mail address, an address of a page, or so many digits as a telephone number,
/// an account or an order has. A year and a price have fewer.
fn is_personal(text: &str) -> bool {
    let mail_or_page = |part: &str| {
        let (before, behind) = part.split_once('@').unwrap_or_default();
        (!before.is_empty() && !behind.is_empty()) || part.contains("://") || part.starts_with("www.")
    };
    let mut digits = 0;
    let mut run = 0;
    for c in text.chars() {
        if c.is_numeric() {
            digits += 1;
            run += 1;
        } else {
            run = 0;
            // what stands between the digits of a telephone number
            if !matches!(c, ' ' | '-' | '.' | '/' | '(' | ')' | '+') {
                digits = 0;
            }
        }
        if run >= 5 || digits >= 7 {
            return true;
        }
    }
    text.split_whitespace().any(mail_or_page)
}

#[cfg(test)]
mod tests {
    use super::is_personal;

    #[test]
    fn personal_data() {
        for text in [
            "write to jane@example.com",
            "call +49 (30) 123 45 67",
            "order 20418",
            "see https://example.com/a",
            "www.example.com desk",
        ] {
            assert!(is_personal(text), "{text}");
        }
        for text in [
            "best desk 2026",
            "desk 120 x 60",
            "top 10 desks under 1000",
            "desks @ home",
        ] {
            assert!(!is_personal(text), "{text}");
        }
    }
}

//! Classes of the words of claims.

use std::{collections::HashMap, sync::LazyLock};

use crate::{
    answer_text::AnswerText,
    lists::sections,
    normal::normal,
    phrases::{PhraseHit, PhraseSet},
};

/// Set of classes, a bit for each.
pub(super) type Classes = u16;

pub(super) const ARTICLE: Classes = 1;
pub(super) const BE: Classes = 1 << 1;
pub(super) const ADVERB: Classes = 1 << 2;
pub(super) const FILLER: Classes = 1 << 3;
pub(super) const PRICE: Classes = 1 << 4;
pub(super) const WEBSITE: Classes = 1 << 5;
pub(super) const AVAILABLE: Classes = 1 << 6;
pub(super) const HAVING: Classes = 1 << 7;
pub(super) const NEGATION: Classes = 1 << 8;
pub(super) const AFTER: Classes = 1 << 9;

const SECTIONS: [&str; 10] = [
    "article",
    "be",
    "adverb",
    "filler",
    "price",
    "website",
    "available",
    "having",
    "negation",
    "after",
];

const FILE: &str = include_str!("../../data/facts.txt");

static CLASSES: LazyLock<HashMap<String, Classes>> = LazyLock::new(|| {
    let mut classes: HashMap<String, Classes> = HashMap::new();
    for entry in sections(FILE) {
        let Some(place) = SECTIONS.iter().position(|name| *name == entry.section) else {
            continue;
        };
        for word in entry.text.split_whitespace() {
            *classes.entry(normal(word)).or_default() |= 1 << place;
        }
    }
    classes
});

static VETOES: LazyLock<PhraseSet> = LazyLock::new(|| {
    PhraseSet::new(
        sections(FILE)
            .filter(|entry| entry.section == "veto")
            .map(|entry| entry.text),
    )
});

/// Returns the classes of a word in its normal form.
pub(super) fn classes(normal: &str) -> Classes {
    CLASSES.get(normal).copied().unwrap_or(0)
}

/// Returns the phrases by which a sentence claims nothing that could be compared.
pub(super) fn find_vetoes(answer: &AnswerText) -> Vec<PhraseHit> {
    VETOES.find(answer)
}

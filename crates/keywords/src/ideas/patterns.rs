//! The patterns and phrases of `data/phrases`.

use std::{collections::HashMap, sync::LazyLock};

use crate::words::primary;

/// Patterns and phrases of one language; all empty where there is no list.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    /// Questions about `{term}`.
    pub questions: Vec<&'static str>,
    /// Questions and comparisons about `{competitor}`, also beside `{own}`.
    pub competitors: Vec<&'static str>,
    /// Phrases of every site, such as those of menus.
    pub generic: Vec<&'static str>,
}

/// The patterns of a BCP 47 language.
pub(super) fn find(language: &str) -> &'static Patterns {
    static NONE: Patterns = Patterns {
        questions: Vec::new(),
        competitors: Vec::new(),
        generic: Vec::new(),
    };
    ALL.get(primary(language).as_str()).unwrap_or(&NONE)
}

static ALL: LazyLock<HashMap<&'static str, Patterns>> = LazyLock::new(|| {
    let files = [
        ("de", include_str!("../data/phrases/de.txt")),
        ("en", include_str!("../data/phrases/en.txt")),
        ("es", include_str!("../data/phrases/es.txt")),
        ("fr", include_str!("../data/phrases/fr.txt")),
        ("it", include_str!("../data/phrases/it.txt")),
        ("nl", include_str!("../data/phrases/nl.txt")),
        ("pt", include_str!("../data/phrases/pt.txt")),
    ];
    files
        .into_iter()
        .map(|(language, text)| (language, parse(text)))
        .collect()
});

fn parse(text: &'static str) -> Patterns {
    let mut patterns = Patterns::default();
    let mut section = None;
    for line in text.lines().map(str::trim) {
        match line {
            "" => {}
            "[question]" => section = Some(0),
            "[competitor]" => section = Some(1),
            "[generic]" => section = Some(2),
            _ if line.starts_with('#') => {}
            _ => match section {
                Some(0) => patterns.questions.push(line),
                Some(1) => patterns.competitors.push(line),
                Some(_) => patterns.generic.push(line),
                None => {}
            },
        }
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::{ALL, find};

    #[test]
    fn every_list_is_whole() {
        for (language, patterns) in ALL.iter() {
            assert!(patterns.questions.len() >= 5, "{language}");
            assert!(
                patterns.questions.iter().all(|q| q.contains("{term}")),
                "{language}"
            );
            assert!(
                patterns.competitors.iter().all(|c| c.contains("{competitor}")),
                "{language}"
            );
            assert!(patterns.generic.len() > 10, "{language}");
            assert!(patterns.generic.iter().all(|g| !g.contains('{')), "{language}");
        }
        assert!(find("ja").questions.is_empty());
        assert_eq!(find("de-CH").questions[0], "was ist {term}");
    }
}

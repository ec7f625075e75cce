//! The lists of `data/topics`: words that tell a topic from a part of a sentence.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::words::primary;

/// Lists of one language; all empty where there is no file.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Words that join the parts of a topic.
    pub inner: HashSet<&'static str>,
    /// Words that no topic holds.
    pub never: HashSet<&'static str>,
    /// Words that no topic begins or ends with.
    pub edge: HashSet<&'static str>,
    /// Last words that name nothing in particular.
    pub vague: HashSet<&'static str>,
    /// Words before the number of a part of a text.
    pub part: HashSet<&'static str>,
    /// Words before a remark, where they are written in capitals.
    pub label: HashSet<&'static str>,
    /// Phrases of every site.
    pub navigation: HashSet<&'static str>,
    /// First words of a question.
    pub question: HashSet<&'static str>,
    /// Words that point to what is not said.
    pub pointing: HashSet<&'static str>,
    /// Words behind which a verb stands.
    pub before_verb: HashSet<&'static str>,
    /// Words behind which a noun stands.
    pub before_noun: HashSet<&'static str>,
}

/// Returns the lists of a BCP 47 language.
pub(super) fn find(language: &str) -> &'static Rules {
    static NONE: LazyLock<Rules> = LazyLock::new(Rules::default);
    ALL.get(primary(language).as_str()).unwrap_or(&NONE)
}

static ALL: LazyLock<HashMap<&'static str, Rules>> = LazyLock::new(|| {
    let files = [
        ("de", include_str!("../data/topics/de.txt")),
        ("en", include_str!("../data/topics/en.txt")),
        ("es", include_str!("../data/topics/es.txt")),
        ("fr", include_str!("../data/topics/fr.txt")),
        ("it", include_str!("../data/topics/it.txt")),
        ("nl", include_str!("../data/topics/nl.txt")),
        ("pt", include_str!("../data/topics/pt.txt")),
    ];
    files
        .into_iter()
        .map(|(language, text)| (language, parse(text)))
        .collect()
});

fn parse(text: &'static str) -> Rules {
    let mut rules = Rules::default();
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') {
            section = line;
            continue;
        }
        let list = match section {
            "[navigation]" => {
                rules.navigation.insert(line);
                continue;
            }
            "[inner]" => &mut rules.inner,
            "[never]" => &mut rules.never,
            "[edge]" => &mut rules.edge,
            "[vague]" => &mut rules.vague,
            "[part]" => &mut rules.part,
            "[label]" => &mut rules.label,
            "[question]" => &mut rules.question,
            "[pointing]" => &mut rules.pointing,
            "[before-verb]" => &mut rules.before_verb,
            "[before-noun]" => &mut rules.before_noun,
            _ => continue,
        };
        list.extend(line.split_whitespace());
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::{ALL, find};

    #[test]
    fn every_list_is_whole() {
        for (language, rules) in ALL.iter() {
            for (name, list) in [
                ("inner", &rules.inner),
                ("never", &rules.never),
                ("edge", &rules.edge),
                ("vague", &rules.vague),
                ("part", &rules.part),
                ("navigation", &rules.navigation),
                ("question", &rules.question),
                ("pointing", &rules.pointing),
            ] {
                assert!(list.len() >= 7, "{language} {name}");
            }
        }
        assert!(find("ja").never.is_empty() && !find("de-AT").never.is_empty());
    }
}

//! Pages of one site that compete for the same keyword.

use std::collections::BTreeMap;

use searchwright_site::text::hash;

use super::{normalize, words::Lexicon};

/// A post or page and the keyword it is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// What the caller knows it by: an id or an address. Two targets with the same one are the same page.
    pub page: &'a str,
    /// The keyword, as written.
    pub keyword: &'a str,
    /// Language, BCP 47; pages of different languages do not compete.
    pub language: &'a str,
}

/// Pages that compete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict<'a> {
    /// The keyword as the first of them has it.
    pub keyword: &'a str,
    /// At least two, in the order given.
    pub pages: Vec<&'a str>,
}

/// Finds pages with the same keyword: equal but for word order, inflection and year.
pub fn conflicts<'a>(targets: &[Target<'a>]) -> Vec<Conflict<'a>> {
    let mut lexicons: BTreeMap<&str, Lexicon> = BTreeMap::new();
    let mut groups: BTreeMap<(&str, String), Vec<&Target<'a>>> = BTreeMap::new();
    for target in targets {
        let lexicon = lexicons
            .entry(target.language)
            .or_insert_with(|| Lexicon::of(target.language));
        let key = lexicon.variant_key(&normalize(target.keyword));
        if key.is_empty() {
            continue;
        }
        let group = groups.entry((target.language, key)).or_default();
        if group.iter().all(|known| known.page != target.page) {
            group.push(target);
        }
    }
    groups
        .into_values()
        .filter(|group| group.len() > 1)
        .map(|group| Conflict {
            keyword: group[0].keyword,
            pages: group.iter().map(|target| target.page).collect(),
        })
        .collect()
}

/// What parts a title from the name of its site.
const SEPARATORS: [&str; 5] = [" | ", " – ", " — ", " · ", " - "];

/// Hash of a keyword or heading, the same for all spellings of it; `None` if it names nothing. It is stored.
pub(crate) fn name_key(text: &str) -> Option<i64> {
    let name = normalize(text);
    (!name.is_empty()).then(|| hash(name.as_bytes()).cast_signed())
}

/// [`name_key`] of a title, the name of the site at its end left out.
pub(crate) fn title_key(title: &str) -> Option<i64> {
    let end = SEPARATORS
        .iter()
        .filter_map(|separator| title.rfind(separator))
        .max();
    name_key(&title[..end.unwrap_or(title.len())])
}

#[cfg(test)]
mod tests {
    use super::{Target, conflicts, name_key, title_key};

    #[test]
    fn a_name_is_the_same_in_a_title() {
        let key = name_key("standing desks");
        assert!(key.is_some());
        for same in [
            "Standing  Desks",
            "Standing desks | Fern & Fir",
            "Standing desks – Fern",
        ] {
            assert_eq!(title_key(same), key, "{same}");
        }
        for other in [
            "Standing desk",
            "Standing desks | All | Fern",
            "Fern | Standing desks",
        ] {
            assert_ne!(title_key(other), key, "{other}");
        }
        assert_eq!((name_key(" "), title_key(" | Fern")), (None, None));
    }

    #[test]
    fn pages_with_variants_of_one_keyword_compete() {
        let target = |page, keyword, language| Target {
            page,
            keyword,
            language,
        };
        let found = conflicts(&[
            target("/a", "Standing Desks", "en"),
            target("/b", "standing desk 2026", "en"),
            target("/c", "standing desk", "de"),
            target("/d", "standing desk mats", "en"),
            target("/a", "desk standing", "en"),
            target("/e", "", "en"),
            target("/f", " ", "en"),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].keyword, "Standing Desks");
        assert_eq!(found[0].pages, ["/a", "/b"]);
    }
}

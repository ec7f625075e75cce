//! Pages of one site that compete for the same searches.

use std::collections::{BTreeMap, HashMap};

use searchwright_text::hash;

use super::{import::Row, normalize};

/// Separators between a title and the name of its site.
const SEPARATORS: [&str; 5] = [" | ", " – ", " — ", " · ", " - "];

/// Times that a query must have been shown before anything is said of it.
const MIN_SHOWN: i64 = 50;
/// Pages that are named, at most.
const MAX_PAGES: usize = 10;

/// The texts that a search engine shows several pages for: two or more with a tenth of the impressions each, and
/// none with four fifths. The rows are by text and page.
pub fn shown_in_turn(rows: &[Row]) -> HashMap<String, Vec<String>> {
    let mut texts: HashMap<String, BTreeMap<&str, i64>> = HashMap::new();
    for row in rows {
        if let (Some(url), Some(shown)) = (&row.ranking_url, row.impressions) {
            *texts
                .entry(normalize(&row.keyword))
                .or_default()
                .entry(url)
                .or_default() += shown.max(0);
        }
    }
    let competing = |(text, pages): (String, BTreeMap<&str, i64>)| {
        let all: i64 = pages.values().sum();
        let mut pages: Vec<(&str, i64)> = pages.into_iter().filter(|(_, shown)| shown * 10 >= all).collect();
        pages.sort_by_key(|(_, shown)| std::cmp::Reverse(*shown));
        let top = pages.first()?.1;
        (all >= MIN_SHOWN && pages.len() > 1 && top * 5 < all * 4).then(|| {
            let urls = pages.into_iter().take(MAX_PAGES).map(|(url, _)| url.to_owned());
            (text, urls.collect())
        })
    };
    texts.into_iter().filter_map(competing).collect()
}

/// Hash of a keyword or heading, the same for all spellings of it; `None` if it names nothing. It is stored.
pub fn name_key(text: &str) -> Option<i64> {
    let name = normalize(text);
    (!name.is_empty()).then(|| hash(name.as_bytes()).cast_signed())
}

/// [`name_key`] of a title, the name of the site at its end left out.
pub fn title_key(title: &str) -> Option<i64> {
    // every one of them begins with a space
    let spaces = title.rmatch_indices(' ').map(|(at, _)| at);
    let parts = |at: &usize| {
        SEPARATORS
            .iter()
            .any(|separator| title[*at..].starts_with(separator))
    };
    let end = { spaces }.find(parts);
    name_key(&title[..end.unwrap_or(title.len())])
}

#[cfg(test)]
mod tests {
    use super::{Row, name_key, shown_in_turn, title_key};

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
    fn pages_that_share_a_query_compete() {
        let competing = |shares: &[i64]| {
            let row = |(at, shown): (usize, &i64)| Row {
                keyword: "Desk  oil".to_owned(),
                ranking_url: Some(format!("/{at}")),
                impressions: Some(*shown),
                ..Row::default()
            };
            let rows: Vec<Row> = shares.iter().enumerate().map(row).collect();
            shown_in_turn(&rows).remove("desk oil").unwrap_or_default()
        };
        assert_eq!(competing(&[10, 39, 1]), ["/1", "/0"]);
        assert_eq!(competing(&[11, 39]), ["/1", "/0"]);
        for none in [
            &[][..],
            &[50],
            // four fifths
            &[40, 10],
            // under a tenth each
            &[79, 9, 9],
            // too few
            &[24, 25],
        ] {
            assert!(competing(none).is_empty(), "{none:?}");
        }
    }
}

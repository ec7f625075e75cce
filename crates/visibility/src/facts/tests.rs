//! Labelled sentences: what contradicts the brand data, and what must never be reported.

use super::{FactChecker, FactFinding, ProductFacts, ProductPrice, quote};
use crate::{
    answer_text::{AnswerText, Span},
    brands::{Alias, Brand, BrandMatcher},
};

fn product(name: &str, price: Option<(f64, &str)>, features: &[&str]) -> ProductFacts {
    ProductFacts {
        id: name.to_owned(),
        names: vec![name.to_owned()],
        price: price.map(|(amount, currency)| ProductPrice {
            amount,
            currency: currency.to_owned(),
        }),
        is_retired: false,
        features: features.iter().map(|text| (*text).to_owned()).collect(),
    }
}

fn products() -> Vec<ProductFacts> {
    vec![
        product(
            "Oak desk 160",
            Some((499.0, "EUR")),
            &["two motors", "memory keypad", "cable tray", "zwei Motoren"],
        ),
        product("Pine desk", Some((1299.0, "USD")), &["crossbar"]),
        product("Nordic lamp", None, &[]),
        ProductFacts {
            is_retired: true,
            ..product("Elm chair", Some((199.0, "EUR")), &[])
        },
    ]
}

fn brands() -> Vec<Brand> {
    let own = Brand {
        id: "own".to_owned(),
        name: "Acme Desk".to_owned(),
        is_own: true,
        domains: vec!["acme-desk.com".to_owned(), "acme.example".to_owned()],
        products: products()
            .iter()
            .map(|p| Alias::from(p.names[0].as_str()))
            .collect(),
        ..Brand::default()
    };
    let competitor = Brand {
        id: "bolt".to_owned(),
        name: "Bolt Desks".to_owned(),
        domains: vec!["bolt-desks.com".to_owned()],
        ..Brand::default()
    };
    vec![own, competitor]
}

fn check(text: &str, language: &str) -> Vec<FactFinding> {
    let matcher = BrandMatcher::new(&brands());
    let answer = AnswerText::parse(text, language);
    FactChecker::new(products()).check(&matcher.match_answer(&answer, None))
}

/// Returns the lines of a list, parted at tabs.
fn lines<const N: usize>(file: &'static str) -> Vec<[&'static str; N]> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split('\t').collect::<Vec<_>>().try_into().unwrap())
        .collect()
}

#[test]
fn wrong_sentences_are_found() {
    let wrong = lines::<5>(include_str!("tests/wrong.txt"));
    assert!(wrong.len() >= 40);
    for [language, kind, claimed, expected, text] in wrong {
        let found = check(text, language);
        let [finding] = found.as_slice() else {
            panic!("{text}: {found:?}");
        };
        let found_kind = format!("{:?}", finding.kind).to_lowercase();
        assert_eq!(
            (&*found_kind, &*finding.claimed, &*finding.expected),
            (kind, claimed, expected),
            "{text}"
        );
    }
}

#[test]
fn silent_sentences_are_not_reported() {
    let silent = lines::<2>(include_str!("tests/silent.txt"));
    assert!(silent.len() >= 60);
    for [language, text] in silent {
        assert_eq!(check(text, language), [], "{text}");
    }
}

#[test]
fn further_features_are_denied_only_of_their_product() {
    for text in [
        "The Pine desk does not have two motors.",
        "The Oak desk 160 does not have cable tray covers.",
        "The Oak desk 160 does not have two motors per leg.",
        "Bolt Desks says that the Oak desk 160 does not have two motors.",
        "It does not have two motors.",
        "No desk other than the Oak desk 160 does not have two motors.",
        "The Elm chair, available from 2015, sold well.",
        "The Oak desk 160 is available.",
    ] {
        assert_eq!(check(text, "en"), [], "{text}");
    }
}

#[test]
fn quotes_are_exact() {
    let text = "Ähm. **The Oak desk 160** costs 599 €. It is fine.";
    let found = check(text, "en");
    let quoted = quote(text, found[0].span);
    assert_eq!(quoted.text, "The Oak desk 160** costs 599 €.");
    let chars: Vec<char> = text.chars().collect();
    let (start, end) = (quoted.span.start as usize, quoted.span.end as usize);
    assert_eq!(chars[start..end].iter().collect::<String>(), quoted.text);
    assert_eq!(quote("a", Span { start: 5, end: 9 }).text, "");
}

#[test]
fn many_findings_are_bounded() {
    let text = "The Oak desk 160 costs €599. ".repeat(100);
    assert_eq!(check(&text, "en").len(), super::MAX_FINDINGS);
}

//! Tests of the claims that are found, of those that are not, and that nothing is verified out of nothing.

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use searchwright_contract::competitors::Competitor;
use serde_json::json;

use super::{ClaimKind, Source, bearing, trace, unverified};
use crate::{document::Document, rivals::Rival};

const SURVEY: Source<'static> = Source {
    name: "https://survey.example/2024",
    text: "In the Gartner survey of 3 May 2024, 2,500,000 people took part. 45% of them said that tea is the better drink. Sales \
        rose by 1.5 billion euros.",
};
const BRAND: Source<'static> = Source {
    name: "brand: products",
    text: "The Leaf costs 12.50 euros.",
};

fn traced(text: &str, language: &str) -> Vec<(ClaimKind, String, Option<String>)> {
    trace(
        &Document::of_markdown(text).unwrap(),
        language,
        &[SURVEY, BRAND],
        &[],
    )
    .into_iter()
    .flat_map(|sentence| sentence.claims)
    .map(|claim| (claim.kind, claim.text, claim.source))
    .collect()
}

#[test]
fn a_source_is_quoted_where_it_bears_a_sentence_out() {
    let quote = |text: &str| {
        let traced = trace(&Document::of_markdown(text).unwrap(), "en", &[SURVEY, BRAND], &[]);
        bearing(&traced[0], "en", &SURVEY)
    };
    let first = "In the Gartner survey of 3 May 2024, 2,500,000 people took part.";
    assert_eq!(quote("Some 2.5 million took part."), Some(first));
    let second = "45% of them said that tea is the better drink.";
    assert_eq!(quote("It is 45 percent, and 999 more."), Some(second));
    for none in ["It costs 12.50 euros.", "It costs 999 euros."] {
        assert_eq!(quote(none), None, "{none}");
    }
}

#[test]
fn what_a_source_has_is_found_there() {
    let survey = Some(SURVEY.name.to_owned());
    let cases = [
        (
            "Some 2.5 million took part.",
            "en",
            ClaimKind::Number,
            "2.5",
            &survey,
        ),
        ("Es waren 2,5 Millionen.", "de", ClaimKind::Number, "2,5", &survey),
        (
            "Nearly 45 percent agree.",
            "en",
            ClaimKind::Percentage,
            "45",
            &survey,
        ),
        (
            "It was on May 3rd, 2024.",
            "en",
            ClaimKind::Date,
            "May 3rd, 2024",
            &survey,
        ),
        ("That was in 2024.", "en", ClaimKind::Number, "2024", &survey),
        (
            "They hold “tea is the better drink” dear.",
            "en",
            ClaimKind::Quotation,
            "tea is the better drink",
            &survey,
        ),
        (
            "According to Gartner, people like tea.",
            "en",
            ClaimKind::Attribution,
            "Gartner",
            &survey,
        ),
        (
            "Laut Gartner ist das besser.",
            "de",
            ClaimKind::Attribution,
            "Gartner",
            &survey,
        ),
        (
            "Gartner found tea.",
            "en",
            ClaimKind::Attribution,
            "Gartner",
            &survey,
        ),
        (
            "Ours costs €12.50.",
            "en",
            ClaimKind::Number,
            "12.50",
            &Some(BRAND.name.to_owned()),
        ),
        ("Some 45 agree.", "en", ClaimKind::Number, "45", &None),
        ("Some 46% agree.", "en", ClaimKind::Percentage, "46", &None),
        (
            "It was on May 4, 2024.",
            "en",
            ClaimKind::Date,
            "May 4, 2024",
            &None,
        ),
        (
            "He said “tea is the worst drink” twice.",
            "en",
            ClaimKind::Quotation,
            "tea is the worst drink",
            &None,
        ),
        (
            "According to Forrester, tea wins.",
            "en",
            ClaimKind::Attribution,
            "Forrester",
            &None,
        ),
        (
            "Studies show that tea wins.",
            "en",
            ClaimKind::Attribution,
            "Studies",
            &None,
        ),
    ];
    for (text, language, kind, words, source) in cases {
        let found = traced(text, language);
        assert_eq!(found, [(kind, words.to_owned(), source.clone())], "{text}");
    }
}

#[test]
fn sentences_without_claims_are_left_alone() {
    let text = "# 7 ways to brew\n\nTea is hot. He calls it “fine”. It says so.\n\n```\nx = 42\n```";
    assert_eq!(traced(text, "en"), []);
}

#[test]
fn a_sentence_is_unverified_as_a_whole() {
    let text = "45% of 2.5 million agree. 45% of 77 agree.\n\n- 12.50 euros\n\n|a|\n|-|\n|99|";
    let sentences = trace(&Document::of_markdown(text).unwrap(), "en", &[SURVEY, BRAND], &[]);
    assert_eq!(sentences.len(), 4);
    let open: Vec<&str> = unverified(&sentences).map(|s| s.text.as_str()).collect();
    assert_eq!(open, ["45% of 77 agree.", "99"]);
}

#[test]
fn a_quotation_of_two_sentences_is_one() {
    let text = "He wrote: \"Tea is good. Coffee is not.\" Then he left.";
    let found = traced(text, "en");
    assert_eq!(
        found,
        [(ClaimKind::Quotation, "Tea is good. Coffee is not.".into(), None)]
    );
}

/// Anything quadratic in these would take minutes.
#[test]
fn long_texts_take_no_longer_than_they_are() {
    for part in [
        "“",
        "\"a. ",
        "“a b c. ",
        "1 ",
        "2024-05-03 ",
        "According To ",
        "A said ",
        "1.2.3 ",
        "5% of ",
    ] {
        let text = part.repeat(150_000 / part.len());
        let document = Document::of_markdown(&text).unwrap();
        let sentences = trace(
            &document,
            "en",
            &[Source {
                name: "self",
                text: &text,
            }],
            &[],
        );
        assert_eq!(unverified(&sentences).count(), 0, "{part}");
    }
}

proptest! {
    #[test]
    fn without_sources_every_claim_is_open(text in "([A-Za-z]{1,6}|[0-9.,%]{1,5}|[“”\"„«»]|[ .]){0,30}") {
        let document = Document::of_markdown(&text).unwrap();
        let sentences = trace(&document, "en", &[], &[]);
        prop_assert_eq!(unverified(&sentences).count(), sentences.len());
        prop_assert!(sentences.iter().all(|s| !s.claims.is_empty()));
    }

    #[test]
    fn a_text_is_its_own_source(text in "([A-Z][a-z]{1,6} |[0-9]{1,5}(%|,[0-9]{3}| million)? |on 3 May 2024 |“one two three” |[a-z]{1,5}[.,]? ){0,20}") {
        let document = Document::of_markdown(&text).unwrap();
        let plain = document.plain_text();
        let sentences = trace(&document, "en", &[Source { name: "self", text: &plain }], &[]);
        prop_assert_eq!(unverified(&sentences).count(), 0, "{:?}", sentences);
    }
}

fn rival(more: serde_json::Value) -> Rival {
    let mut record = json!({ "name": "Oakworks", "domain": "oakworks.example" });
    record
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    serde_json::from_value::<Competitor>(record).unwrap().into()
}

/// Returns the sentences of a text that no source and no record of a competitor bears out.
fn unsaid(text: &str, rivals: &[Rival]) -> Vec<String> {
    let document = Document::of_markdown(text).unwrap();
    let sentences = trace(&document, "en", &[SURVEY, BRAND], rivals);
    unverified(&sentences)
        .map(|sentence| sentence.text.clone())
        .collect()
}

#[test]
fn of_a_competitor_only_its_record_counts() {
    let source = "https://oakworks.example/shipping";
    let oakworks = rival(json!({
        "aliases": ["OW Desks"],
        "claims": [{ "text": "Ships its desks within 30 days", "sourceUrl": source }],
    }));
    let rivals = [oakworks];
    for said in [
        "Oakworks ships desks within 30 days.",
        "OW Desks ships within 30 days.",
        "Do you look for an alternative to Oakworks?",
        "Oakworks",
        "Oakworks and others",
        // of nobody in particular
        "The Leaf costs 12.50 euros.",
    ] {
        assert!(unsaid(said, &rivals).is_empty(), "{said}");
    }
    for unsaid_of in [
        "Oakworks ships desks within 40 days.",
        "Oakworks makes tables that wobble.",
        "oakworks’s tables wobble badly.",
        "OW Desks ships from warehouses abroad, slowly and expensively.",
        // what is known of others says nothing of it
        "Oakworks desks ship for 12.50 euros.",
        "Does Oakworks ship within 999 days?",
    ] {
        assert_eq!(unsaid(unsaid_of, &rivals), [unsaid_of]);
    }
    assert!(unsaid("Oakworks makes tables that wobble.", &[]).is_empty());
    let traced = trace(
        &Document::of_markdown("Oakworks ships within 30 days.").unwrap(),
        "en",
        &[],
        &rivals,
    );
    let sources: Vec<Option<&str>> = traced[0].claims.iter().map(|c| c.source.as_deref()).collect();
    assert_eq!(sources, [Some(source); 2]);
}

#[test]
fn an_ordinary_word_is_no_competitor() {
    let oak = [rival(
        json!({ "name": "Oak", "aliases": ["Oak Ltd"], "ambiguous": true }),
    )];
    for free in [
        "Oak is a hard wood of the north.",
        "Desks of oak last for decades.",
    ] {
        assert!(unsaid(free, &oak).is_empty(), "{free}");
    }
    for named in [
        "Desks by Oak wobble and break.",
        "The oak ltd desk wobbles and breaks.",
    ] {
        assert_eq!(unsaid(named, &oak), [named]);
    }
}

//! Hostile text takes linear time: a megabyte of anything is read within seconds, even without optimisation.

use std::time::{Duration, Instant};

use searchwright_visibility::{
    answer_text::AnswerText,
    brands::{Alias, Brand, BrandMatcher},
    citations::Citations,
    refusal::find_refusal,
};

const MEGABYTE: usize = 1 << 20;
const MAX_TIME: Duration = Duration::from_secs(20);

fn matcher() -> BrandMatcher {
    let brand = |id: usize| Brand {
        id: id.to_string(),
        name: format!("Brand{id}"),
        aliases: vec![
            Alias::from(&*format!("a a{}", " a".repeat(id % 3))),
            Alias::from(&*format!("Other Name {id}")),
        ],
        ambiguous: true,
        category_terms: vec!["desk".to_owned()],
        negative_context: vec!["a b".to_owned()],
        ..Brand::default()
    };
    BrandMatcher::new(&(0..50).map(brand).collect::<Vec<_>>())
}

#[test]
fn a_megabyte_of_signs_takes_linear_time() {
    let matcher = matcher();
    for part in [
        "*",
        "[",
        "](",
        "[](",
        "(",
        "_a",
        "`",
        "x",
        "a ",
        "<a",
        "&",
        "| ",
        "- ",
        "a.",
        ". ",
        "1. ",
        "http://",
        "【",
        "日",
        "Brand1 ",
        "\n",
        "\n- a",
        "> ",
        "I don't have information ",
        "**a** ",
        "'",
        "!",
        "\u{301}",
        "https://a.b/ ",
    ] {
        let text = part.repeat(MEGABYTE / part.len());
        check(&matcher, &text, part);
    }
}

#[test]
fn nested_lists_take_linear_time() {
    let mut text = String::new();
    let mut depth = 0;
    while text.len() < MEGABYTE {
        depth = (depth + 1) % 500;
        text.push_str(&" ".repeat(depth));
        text.push_str("- Brand1\n");
    }
    check(&matcher(), &text, "nested list");
}

fn check(matcher: &BrandMatcher, text: &str, name: &str) {
    let start = Instant::now();
    let answer = AnswerText::parse(text, "en");
    let matched = matcher.match_answer(&answer, Some("a prompt"));
    matched.mentions();
    matched.sentiment("1");
    matched.unknown_names();
    Citations::from_text(&answer);
    find_refusal(&answer);
    let took = start.elapsed();
    assert!(took < MAX_TIME, "{name} took {took:?}");
}

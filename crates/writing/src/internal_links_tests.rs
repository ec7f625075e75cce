//! Tests of the links that are chosen, and that setting them changes nothing else.

use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};

use super::{Candidate, Chosen, Post, choose, insert};
use crate::document::Document;

fn candidate(url: &'static str, keyword: &'static str, inlinks: u32) -> Candidate<'static> {
    Candidate {
        url,
        keywords: vec![keyword],
        text: keyword,
        inlinks,
        same_cluster: false,
    }
}

fn post(markdown: &str) -> Post<'_> {
    Post {
        markdown,
        url: "https://example.com/blog/chairs",
        keyword: Some("office chair"),
        language: "en",
    }
}

fn anchors(markdown: &str, candidates: &[Candidate<'_>]) -> Vec<(String, String)> {
    let chosen = choose(&post(markdown), candidates).unwrap();
    chosen.into_iter().map(|link| (link.anchor, link.url)).collect()
}

#[test]
fn a_link_goes_where_the_words_stand() {
    let text =
        "# Standing desk mats\n\n`standing desk`\n\nSee [standing desks](/x) or a **standing desk**. Bye.";
    let chosen = choose(
        &post(text),
        &[candidate("https://example.com/desks", "standing desks", 0)],
    )
    .unwrap();
    let text = insert(text, &chosen).unwrap();
    assert!(
        text.ends_with("or a **[standing desk](<https://example.com/desks>)**. Bye."),
        "{text}"
    );
    assert!(text.starts_with("# Standing desk mats\n\n`standing desk`\n\nSee [standing desks](/x)"));
}

#[test]
fn what_is_not_linked() {
    let desk = || candidate("https://example.com/desks", "standing desk", 0);
    let none: Vec<(String, String)> = Vec::new();
    for text in [
        "# A standing desk",
        "`a standing desk`",
        "    a standing desk",
        "[a standing desk](/y)",
        "![a standing desk](/y.png)",
        "<a href=\"/y\">a standing desk</a>",
        "<div>a standing desk</div>",
        "x[^1]\n\n[^1]: a standing desk",
        "a standing desk, see [it](/desks) ",
        "a standing desk, see [it](https://example.com/desks#top) ",
        "nothing of the sort",
    ] {
        assert_eq!(anchors(text, &[desk()]), none, "{text}");
    }
    assert_eq!(
        anchors(
            "an office chair",
            &[candidate("https://example.com/c", "office chair", 0)]
        ),
        none
    );
    assert_eq!(
        anchors(
            "a good office chair",
            &[candidate("https://example.com/c", "good office chair", 0)]
        ),
        none
    );
    assert_eq!(
        anchors("a desk", &[candidate("https://example.com/c", "desk", 0)]),
        none
    );
    assert_eq!(
        anchors(
            "this very page",
            &[candidate("https://example.com/blog/chairs", "very page", 0)]
        ),
        none
    );
}

#[test]
fn the_best_are_chosen_and_no_more_than_bear() {
    let text = "red desk\n\nblue desk\n\ngreen desk\n\nyellow desk";
    let mut all = vec![
        candidate("https://example.com/red", "red desk", 9),
        candidate("https://example.com/blue", "blue desk", 0),
        candidate("https://example.com/green", "green desk", 9),
        candidate("https://example.com/yellow", "yellow desk", 1),
    ];
    all[2].same_cluster = true;
    let urls: Vec<String> = anchors(text, &all).into_iter().map(|(_, url)| url).collect();
    assert_eq!(urls, ["https://example.com/blue", "https://example.com/green"]);
    let long = format!("{text}\n\n{}", "word ".repeat(800));
    assert_eq!(anchors(&long, &all).len(), 4);
    let linked = format!("{long} [a](/a) [b](/b) [c](https://elsewhere.example)");
    assert_eq!(anchors(&linked, &all).len(), 2);
}

#[test]
fn one_link_per_target_and_paragraph() {
    let all = [
        candidate("https://example.com/a", "red desk", 0),
        candidate("https://example.com/b", "blue desk", 0),
        candidate("https://example.com/a", "green desk", 0),
    ];
    assert_eq!(
        anchors("A red desk and a blue desk and a red desk.", &all).len(),
        1
    );
    assert_eq!(anchors("A red desk.\n\nA green desk.", &all).len(), 1);
}

#[test]
fn a_link_that_does_not_fit_is_left_out() {
    let link = |at: std::ops::Range<usize>, anchor: &str| Chosen {
        url: "https://example.com/a>b".into(),
        anchor: anchor.into(),
        at,
        score: 1.0,
    };
    assert_eq!(
        insert("# red desk", &[link(2..10, "red desk")]).unwrap(),
        "# red desk"
    );
    assert_eq!(
        insert("red desk", &[link(0..8, "blue desk")]).unwrap(),
        "red desk"
    );
    assert_eq!(
        insert("wow!red desk", &[link(4..12, "red desk")]).unwrap(),
        "wow!red desk"
    );
    let set = insert("a red desk", &[link(2..10, "red desk")]).unwrap();
    assert_eq!(set, "a [red desk](<https://example.com/a%3Eb>)");
}

const TOKENS: &[&str] = &[
    "red desk",
    "blue desk",
    " ",
    "\n",
    "\n\n",
    "# ",
    "> ",
    "- ",
    "`",
    "```\n",
    "[",
    "](/x)",
    "](",
    ")",
    "![",
    "**",
    "_",
    "<b>",
    "</b>",
    "<a href=x>",
    "</a>",
    "\\",
    "!",
    "|",
    "|-|\n",
    "&amp;",
    "é",
    "word ",
    "[^1]",
    "[^1]: ",
    "    ",
    "<div>\n",
    "<!-- ",
];

proptest! {
    #[test]
    fn nothing_else_changes(parts in prop::collection::vec(prop::sample::select(TOKENS), 0..40)) {
        let text = parts.concat();
        let all = [candidate("https://example.com/r", "red desk", 0), candidate("https://example.com/b", "blue desk", 3)];
        let Ok(chosen) = choose(&post(&text), &all) else { return Ok(()) };
        let linked = insert(&text, &chosen).unwrap();
        let (before, after) = (Document::of_markdown(&text).unwrap(), Document::of_markdown(&linked).unwrap());
        prop_assert_eq!(&before.blocks, &after.blocks);
        let new = after.links.len() - before.links.len();
        prop_assert!(new <= chosen.len() && chosen.len() <= 2);
        prop_assert_eq!(&before.images, &after.images);
        prop_assert_eq!(linked.len() == text.len(), new == 0);
    }
}

//! Headings.

use searchwright_text as text;
use serde_json::{Value, json};

use super::{
    Category::Headings,
    Check, Page, Scope, Test,
    content::group,
    evidence::{list, none, text as evidence_text},
};
use crate::{
    graph::Same,
    page::{Heading, HtmlFacts},
};

const STRUCTURE: &str = "https://www.w3.org/WAI/tutorials/page-structure/headings/";
const STARTER: &str = "https://developers.google.com/search/docs/fundamentals/seo-starter-guide";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "h1-missing",
        needs_whole: true,
        title: "No first-level heading",
        description: "The page has no h1 with text or an image with alt text.",
        why_it_matters: "The h1 tells readers and search engines what the page is about.",
        recommendation: "Add one h1.",
        source: STARTER,
        changed_in: [2, 2, 0],
        ..Check::warning(Headings, Test::Html(h1_missing))
    },
    Check {
        id: "h1-multiple",
        title: "Several first-level headings",
        description: "The page has more than one h1.",
        why_it_matters: "Its subject is less clear.",
        recommendation: "Keep one, and make the others h2 to h6.",
        source: STRUCTURE,
        changed_in: [2, 2, 0],
        ..Check::notice(Headings, Test::Html(h1_multiple))
    },
    Check {
        id: "h1-long",
        title: "Long first-level heading",
        description: "The h1 has more than 70 characters.",
        why_it_matters: "A heading is read at a glance.",
        recommendation: "Shorten it.",
        source: STRUCTURE,
        ..Check::notice(Headings, Test::Html(h1_long))
    },
    Check {
        id: "h1-duplicate",
        title: "Duplicate first-level heading",
        scope: Scope::Graph,
        description: "Two indexable pages or more have the same h1.",
        why_it_matters: "Visitors cannot tell the pages apart.",
        recommendation: "Say in each what is special about its page.",
        source: STARTER,
        changed_in: [2, 2, 0],
        ..Check::notice(Headings, Test::Html(h1_duplicate))
    },
    Check {
        id: "heading-skip",
        title: "Heading level skipped",
        description: "A heading is more than one level below the one before it.",
        why_it_matters: "Who moves through the page by its headings looks for one that is missing.",
        recommendation: "Use the next level down.",
        source: STRUCTURE,
        ..Check::notice(Headings, Test::Html(skip))
    },
    Check {
        id: "heading-empty",
        needs_whole: true,
        title: "Empty heading",
        description: "A heading has no text.",
        why_it_matters: "It is announced, and says nothing.",
        recommendation: "Remove it, or use styles for the space.",
        source: STRUCTURE,
        changed_in: [2, 2, 0],
        ..Check::notice(Headings, Test::Html(empty))
    },
    Check {
        id: "subheadings-missing",
        needs_whole: true,
        title: "Long text without subheadings",
        description: "The main text has more than 300 words and no h2 or h3.",
        why_it_matters: "Readers cannot skim it, and answer engines find no part to quote.",
        recommendation: "Divide it with h2.",
        source: STRUCTURE,
        ..Check::notice(Headings, Test::Html(subheadings_missing))
    },
];

fn h1s(html: &HtmlFacts) -> impl Iterator<Item = &Heading> {
    html.headings
        .iter()
        .filter(|heading| heading.level == 1 && !heading.text.is_empty())
}

fn h1_missing(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    h1s(html).next().map_or_else(none, |_| None)
}

fn h1_multiple(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    h1s(html).nth(1)?;
    list("values", h1s(html).map(|heading| &*heading.text))
}

fn h1_long(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let long = |heading: &&Heading| text::length(&heading.text) > page.thresholds().h1_max as usize;
    evidence_text(&h1s(html).find(long)?.text)
}

fn h1_duplicate(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let heading = h1s(html).next()?;
    group(page, Same::H1).map(|evidence| super::evidence::with(evidence, "value", &*heading.text))
}

fn skip(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let skips = html
        .headings
        .windows(2)
        .filter(|pair| pair[1].level > pair[0].level + 1);
    list(
        "sequence",
        skips.map(|pair| json!({"from": pair[0].level, "to": pair[1].level, "text": pair[1].text, "line": pair[1].line})),
    )
}

fn empty(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let empty = html.headings.iter().filter(|heading| heading.text.is_empty());
    list(
        "headings",
        empty.map(|heading| json!({"level": heading.level, "line": heading.line})),
    )
}

fn subheadings_missing(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let divided = html.headings.iter().any(|heading| matches!(heading.level, 2 | 3));
    (html.main_words > page.thresholds().subheading_words && !divided)
        .then(|| json!({"words": html.main_words}))
}

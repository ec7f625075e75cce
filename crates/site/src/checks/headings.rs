//! Headings.

use searchwright_text as text;
use serde_json::{Value, json};

use super::{
    Category::Headings,
    Check, Page, Scope, Test,
    ai::is_unrendered,
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
        title: "Missing H1",
        description: "The page has no H1 with text or with an image that has alt text, and does not depend on JavaScript.",
        why_it_matters: "The H1 tells visitors and search engines what the page is about.",
        recommendation: "Add one H1.",
        source: STARTER,
        changed_in: [2, 7, 0],
        ..Check::warning(Headings, Test::Html(h1_missing))
    },
    Check {
        id: "h1-multiple",
        title: "Multiple H1s",
        description: "The page has more than one H1. Hidden ones do not count.",
        why_it_matters: "The main topic of the page is less clear.",
        recommendation: "Keep one H1, and change the others to H2 to H6.",
        source: STRUCTURE,
        changed_in: [2, 5, 0],
        ..Check::notice(Headings, Test::Html(h1_multiple))
    },
    Check {
        id: "h1-long",
        title: "H1 too long",
        description: "The H1 has more than 70 characters.",
        why_it_matters: "Visitors scan headings and do not read long ones.",
        recommendation: "Shorten the H1.",
        source: STRUCTURE,
        changed_in: [2, 5, 0],
        ..Check::notice(Headings, Test::Html(h1_long))
    },
    Check {
        id: "h1-duplicate",
        title: "Duplicate H1",
        scope: Scope::Graph,
        description: "Two or more indexable pages with different texts and title tags have the same H1.",
        why_it_matters: "Visitors cannot tell the pages apart.",
        recommendation: "Write a unique H1 for each page.",
        source: STARTER,
        changed_in: [2, 6, 0],
        ..Check::notice(Headings, Test::Html(h1_duplicate))
    },
    Check {
        id: "heading-skip",
        title: "Skipped heading level",
        description: "A heading is more than one level below the heading before it, such as an H4 after an H2. Headings that are hidden, or in navigation or a sidebar, do not count.",
        why_it_matters: "People who navigate by headings, as screen reader users do, look for a section that does not exist.",
        recommendation: "Use the next level down.",
        source: STRUCTURE,
        changed_in: [2, 5, 0],
        ..Check::notice(Headings, Test::Html(skip))
    },
    Check {
        id: "heading-empty",
        needs_whole: true,
        title: "Empty heading",
        description: "A heading has no text, no image with alt text, and no aria-label or aria-labelledby. Hidden headings do not count.",
        why_it_matters: "Screen readers announce a heading without content.",
        recommendation: "Remove the heading; use CSS if it is there for spacing.",
        source: STRUCTURE,
        changed_in: [2, 5, 0],
        ..Check::notice(Headings, Test::Html(empty))
    },
    Check {
        id: "subheadings-missing",
        needs_whole: true,
        title: "Missing subheadings",
        description: "The main text has more than 300 words and no H2 or H3.",
        why_it_matters: "Visitors cannot skim the text, and AI answers find no section to quote.",
        recommendation: "Divide the text with H2 headings.",
        source: STRUCTURE,
        ..Check::notice(Headings, Test::Html(subheadings_missing))
    },
];

fn h1s(html: &HtmlFacts) -> impl Iterator<Item = &Heading> {
    html.headings
        .iter()
        .filter(|heading| heading.level == 1 && !heading.text.is_empty())
}

fn h1_missing(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    if is_unrendered(page, html) {
        return None;
    }
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
    // those of menus and sidebars begin anew
    let content: Vec<&Heading> = html.headings.iter().filter(|heading| !heading.beside).collect();
    let skips = content
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

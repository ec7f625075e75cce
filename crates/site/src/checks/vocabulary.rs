//! Structured data compared with the vocabulary of schema.org and with the text of its page.

use serde_json::{Value, json};

use super::{Category::StructuredData, Check, Page, Test, evidence::list, prerequisite::Prerequisite};
use crate::page::HtmlFacts;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "schema-unknown-type",
        title: "Unknown schema.org type or property",
        description: "JSON-LD or microdata uses a type or a property that schema.org does not define.",
        why_it_matters: "Search engines ignore the unknown type or property, and everything that depends on it.",
        recommendation: "Correct the name; it is case-sensitive.",
        source: "https://schema.org/docs/full.html",
        changed_in: [2, 2, 0],
        rests_on: &[Prerequisite::ObjectNames],
        ..Check::warning(StructuredData, Test::Html(unknown))
    },
    Check {
        id: "schema-content-mismatch",
        needs_whole: true,
        title: "Structured data not visible on the page",
        description: "The headline of an article, or the name or price of a product, is in the JSON-LD or microdata but not in the visible text.",
        why_it_matters: "Google ignores structured data about content that visitors cannot see, and may penalize it.",
        recommendation: "Show the content on the page, or correct the structured data.",
        source: "https://developers.google.com/search/docs/appearance/structured-data/sd-policies",
        changed_in: [2, 5, 0],
        ..Check::warning(StructuredData, Test::Html(mismatch))
    },
];

fn unknown(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let json_ld = page.markup().unknown.iter().cloned();
    let types = html.strange.types.iter();
    let types = types.map(|name| json!({"type": name, "syntax": "microdata"}));
    let properties = html.strange.properties.iter();
    let properties = properties.map(|name| json!({"property": name, "syntax": "microdata"}));
    list("unknown", json_ld.chain(types).chain(properties))
}

fn mismatch(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let unseen = html.unseen.iter();
    list(
        "unseen",
        unseen.map(|unseen| json!({"property": unseen.property, "value": unseen.value})),
    )
}

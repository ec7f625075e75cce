//! Markup against the vocabulary of schema.org and against the text of its page.

use hashbrown::HashSet;
use serde_json::{Value, json};

use super::{Answer, Category::StructuredData, Check, Test, evidence::list};
use crate::{
    json::{Json, Object},
    page::HtmlFacts,
    vocabulary::{is_property, is_type},
};

/// Objects within each other that are looked into.
const DEPTH: usize = 12;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "schema-unknown-type",
        title: "Unknown type or property in markup",
        description: "JSON-LD or microdata names a type or a property that schema.org does not have.",
        why_it_matters: "Whoever reads the markup leaves it out, and what depends on it.",
        recommendation: "Correct the name; capitals count.",
        source: "https://schema.org/docs/full.html",
        ..Check::warning(StructuredData, Test::Answer(unknown))
    },
    Check {
        id: "schema-content-mismatch",
        needs_whole: true,
        title: "Markup that the text does not bear out",
        description: "The headline of an article, or the name or price of a product, stands in JSON-LD or microdata but not in the visible text.",
        why_it_matters: "Search engines may take markup of what visitors do not see for deceit, and leave it out.",
        recommendation: "Show it on the page, or correct the markup.",
        source: "https://developers.google.com/search/docs/appearance/structured-data/sd-policies",
        ..Check::warning(StructuredData, Test::Answer(mismatch))
    },
];

/// What the names in an object belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Vocabulary {
    SchemaOrg,
    /// schema.org, and names that the page defines itself.
    Extended,
    Other,
}

fn vocabulary(context: &Json<'_>) -> Vocabulary {
    match context {
        Json::String(url) if url.contains("schema.org") => Vocabulary::SchemaOrg,
        Json::String(_) => Vocabulary::Other,
        Json::Object(terms) => match terms.get("@vocab").and_then(Json::as_str) {
            Some(url) if url.contains("schema.org") && terms.len() == 1 => Vocabulary::SchemaOrg,
            Some(url) if url.contains("schema.org") => Vocabulary::Extended,
            _ => Vocabulary::Other,
        },
        Json::Array(parts) => {
            let mut parts = parts.iter().map(vocabulary);
            match parts.next() {
                Some(Vocabulary::SchemaOrg) if parts.all(|part| part == Vocabulary::SchemaOrg) => {
                    Vocabulary::SchemaOrg
                }
                Some(Vocabulary::SchemaOrg) => Vocabulary::Extended,
                _ => Vocabulary::Other,
            }
        }
        _ => Vocabulary::Other,
    }
}

fn unknown(page: &Answer<'_>, html: &HtmlFacts) -> Option<Value> {
    let json_ld = page.markup().unknown.iter().cloned();
    let types = html.strange.types.iter();
    let types = types.map(|name| json!({"type": name, "syntax": "microdata"}));
    let properties = html.strange.properties.iter();
    let properties = properties.map(|name| json!({"property": name, "syntax": "microdata"}));
    list("unknown", json_ld.chain(types).chain(properties))
}

/// Names that schema.org does not have, each once.
#[derive(Debug, Default)]
pub(super) struct Names {
    seen: HashSet<String>,
    pub list: Vec<Value>,
}

/// Finds the names in a block of JSON-LD that schema.org does not have.
pub(super) fn look(block: &Json<'_>, found: &mut Names) {
    look_into(block, Vocabulary::Other, DEPTH, found);
}

fn look_into(value: &Json<'_>, outer: Vocabulary, depth: usize, found: &mut Names) {
    match value {
        Json::Array(values) if depth > 0 => {
            values
                .iter()
                .for_each(|value| look_into(value, outer, depth - 1, found));
        }
        Json::Object(item) if depth > 0 => {
            let own = item.get("@context").map_or(outer, vocabulary);
            if own == Vocabulary::SchemaOrg {
                names(item, found);
            }
            let inner = item.iter().filter(|(name, _)| *name != "@context");
            inner.for_each(|(_, value)| look_into(value, own, depth - 1, found));
        }
        _ => {}
    }
}

fn names(item: &Object<'_>, found: &mut Names) {
    /// A name without the vocabulary that says it is of schema.org, or none of it.
    fn ours(name: &str) -> Option<&str> {
        if !name.contains(':') {
            return Some(name);
        }
        let (scheme, rest) = name.split_once("://")?;
        let rest = rest.strip_prefix("www.").unwrap_or(rest);
        matches!(scheme, "http" | "https").then(|| rest.strip_prefix("schema.org/"))?
    }
    let named = item.get("@type").map_or(&[][..], Json::each);
    let own: Vec<&str> = named.iter().filter_map(|kind| ours(kind.as_str()?)).collect();
    let mut note = |finding: Value| {
        if found.seen.insert(finding.to_string()) {
            found.list.push(finding);
        }
    };
    for kind in own.iter().filter(|kind| !is_type(kind)) {
        note(json!({"type": kind}));
    }
    let first = own.first();
    for name in item.keys() {
        let Some(name) = ours(name) else { continue };
        if !name.starts_with('@') && !is_property(name) {
            note(json!({"type": first, "property": name}));
        }
    }
}

fn mismatch(_: &Answer<'_>, html: &HtmlFacts) -> Option<Value> {
    let unseen = html.more.unseen.iter();
    list(
        "unseen",
        unseen.map(|unseen| json!({"property": unseen.property, "value": unseen.value})),
    )
}

//! Names in JSON-LD that schema.org does not define.

use hashbrown::HashSet;
use serde_json::{Value, json};

use crate::{
    json::{Json, Object},
    vocabulary::{is_property, is_type},
};

/// Maximum nesting depth of objects that are examined.
const MAX_DEPTH: usize = 12;

/// Vocabulary that the names in an object belong to.
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

/// Names that schema.org does not define, each once.
#[derive(Debug, Default)]
pub(super) struct UnknownNames {
    seen: HashSet<String>,
    pub list: Vec<Value>,
}

/// Finds names in a JSON-LD block that schema.org does not define.
pub(super) fn find_unknown(block: &Json<'_>, found: &mut UnknownNames) {
    look_into(block, Vocabulary::Other, MAX_DEPTH, found);
}

fn look_into(value: &Json<'_>, outer: Vocabulary, depth: usize, found: &mut UnknownNames) {
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

fn names(item: &Object<'_>, found: &mut UnknownNames) {
    /// Returns a name without the prefix of schema.org; `None` for names of other vocabularies.
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

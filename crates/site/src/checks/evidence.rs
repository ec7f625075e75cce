//! Evidence: small JSON objects with camelCase keys.

use serde_json::{Map, Value, json};

/// Maximum number of entries of a list.
pub(super) const MAX_ITEMS: usize = 20;
/// Maximum number of pages listed as sources of links.
pub(super) const MAX_PAGES: usize = 10;

/// Returns `{name: [first 20], "total": n}`; `None` if there are no entries.
pub(super) fn list<T: Into<Value>>(name: &str, items: impl IntoIterator<Item = T>) -> Option<Value> {
    listed(name, MAX_ITEMS, items)
}

/// Returns `{name: [first 10], "total": n}`; `None` if there are no entries.
pub(super) fn pages<'a>(name: &str, items: impl IntoIterator<Item = &'a str>) -> Option<Value> {
    listed(name, MAX_PAGES, items)
}

fn listed<T: Into<Value>>(name: &str, most: usize, items: impl IntoIterator<Item = T>) -> Option<Value> {
    let mut kept = Vec::new();
    let mut total = 0_usize;
    for item in items {
        if kept.len() < most {
            kept.push(item.into());
        }
        total += 1;
    }
    if total == 0 {
        return None;
    }
    let mut object = Map::new();
    object.insert(name.to_owned(), Value::Array(kept));
    object.insert("total".to_owned(), json!(total));
    Some(Value::Object(object))
}

/// Adds a member.
pub(super) fn with(mut evidence: Value, name: &str, value: impl Into<Value>) -> Value {
    if let Value::Object(object) = &mut evidence {
        object.insert(name.to_owned(), value.into());
    }
    evidence
}

/// Marks a count as a lower bound if the counting was cut off.
pub(super) fn at_least(evidence: Value, is_cut: bool) -> Value {
    if is_cut {
        with(evidence, "atLeast", true)
    } else {
        evidence
    }
}

/// Returns evidence without members, for problems that the page itself shows.
pub(super) fn none() -> Option<Value> {
    Some(json!({}))
}

/// Returns `{"value": …, "length": …}`.
pub(super) fn text(value: &str) -> Option<Value> {
    Some(json!({"value": value, "length": searchwright_text::length(value)}))
}

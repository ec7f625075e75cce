//! Evidence: small JSON objects with camelCase keys.

use serde_json::{Map, Value, json};

/// Entries of a list.
pub(super) const MAX_ITEMS: usize = 20;
/// Pages named as sources of links.
pub(super) const MAX_PAGES: usize = 10;

/// `{name: [first 20], "total": n}`; nothing when there is nothing to list.
pub(super) fn list<T: Into<Value>>(name: &str, items: impl IntoIterator<Item = T>) -> Option<Value> {
    listed(name, MAX_ITEMS, items)
}

/// `{name: [first 10], "total": n}`; nothing when there is nothing to list.
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

/// Adds a key.
pub(super) fn with(mut evidence: Value, name: &str, value: impl Into<Value>) -> Value {
    if let Value::Object(object) = &mut evidence {
        object.insert(name.to_owned(), value.into());
    }
    evidence
}

/// Adds that what it counts was not counted to the end.
pub(super) fn at_least(evidence: Value, is_cut: bool) -> Value {
    if is_cut {
        with(evidence, "atLeast", true)
    } else {
        evidence
    }
}

/// Nothing to show beside the page itself.
pub(super) fn none() -> Option<Value> {
    Some(json!({}))
}

/// `{"value": …, "length": …}`.
pub(super) fn text(value: &str) -> Option<Value> {
    Some(json!({"value": value, "length": searchwright_text::length(value)}))
}

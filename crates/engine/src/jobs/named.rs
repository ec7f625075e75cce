//! The addresses that evidence names.

use searchwright_site::url_key::url_key;
use serde_json::Value;
use url::Url;

/// Addresses of one piece of evidence.
const MOST: usize = 100;

/// An address as crawls know it.
pub(super) fn key(url: &str) -> Option<String> {
    Some(url_key(&Url::parse(url).ok()?).into_owned())
}

/// The addresses as they are written, but for those that are only advice: where a redirect ends.
pub(super) fn urls(evidence: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut waiting = vec![evidence];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) if text.starts_with("http") => found.push(text.as_str()),
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => {
                let named = members
                    .iter()
                    .filter(|(name, _)| !matches!(name.as_str(), "finalUrl" | "final"));
                waiting.extend(named.map(|(_, value)| value));
            }
            _ => {}
        }
        if found.len() >= MOST {
            break;
        }
    }
    found
}

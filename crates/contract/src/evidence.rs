//! Evidence as people read it: `{"links": [{"url": "/a", "line": 3}]}` is "links: url /a, line 3".

use serde_json::Value;

/// Returns evidence in words. What separates lists within it is told apart from what separates its members.
pub fn in_words(evidence: &Value) -> String {
    let Value::Object(members) = evidence else {
        return inner(evidence);
    };
    let said = members
        .iter()
        .map(|(name, value)| format!("{}: {}", words(name), inner(value)));
    said.collect::<Vec<_>>().join("; ")
}

fn inner(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(whole) if number.is_f64() && whole.fract() == 0.0 => format!("{whole}"),
            _ => number.to_string(),
        },
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => {
            let are_records = items.iter().any(|item| item.is_object() || item.is_array());
            let items: Vec<String> = items.iter().map(inner).collect();
            items.join(if are_records { " · " } else { ", " })
        }
        Value::Object(members) => {
            let said = members
                .iter()
                .map(|(name, value)| format!("{} {}", words(name), inner(value)));
            said.collect::<Vec<_>>().join(", ")
        }
    }
}

/// `pagesWithin` is "pages within". What is no name of a member, such as a URL, stays as it is.
fn words(name: &str) -> String {
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return name.to_owned();
    }
    let mut words = String::new();
    for c in name.chars() {
        match c {
            '_' => words.push(' '),
            c if c.is_ascii_uppercase() => {
                if !words.is_empty() {
                    words.push(' ');
                }
                words.push(c.to_ascii_lowercase());
            }
            c => words.push(c),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::in_words;

    #[test]
    fn evidence_is_prose() {
        for (evidence, prose) in [
            (json!({}), ""),
            (
                json!({ "titleLength": 71, "title": "A, b; c" }),
                "title length: 71; title: A, b; c",
            ),
            (
                json!({ "links": [{ "url": "/a", "line": 3 }, { "url": "/b", "line": null }], "total": 2.0 }),
                "links: url /a, line 3 · url /b, line none; total: 2",
            ),
            (
                json!({ "words": ["a", "b"], "missing": [], "https": true, "alt": "" }),
                "words: a, b; missing: none; https: yes; alt: empty",
            ),
            (json!({ "by": { "/x-y": 1 } }), "by: /x-y 1"),
            (json!("plain"), "plain"),
        ] {
            assert_eq!(in_words(&evidence), prose, "{evidence}");
        }
    }
}

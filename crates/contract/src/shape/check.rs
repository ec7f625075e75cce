//! Validation of values, and the wording of faults.

use std::collections::HashMap;

use serde_json::Value;

use super::{Format, Node};
use crate::{Faults, Instant, instant::NotAnInstant};

/// Members of answers that no caller sets; a record that was read and sent back contains them.
const READ_ONLY: &[&str] = &[
    "id",
    "projectId",
    "version",
    "createdAt",
    "updatedAt",
    "allowedActions",
];

/// Adds the faults of a value, whose pointer is `at`.
pub(super) fn node(wanted: &Node, value: &Value, at: &mut String, faults: &mut Faults) {
    let mut fault = |code: &str, detail: &dyn Fn() -> String| faults.add(at, code, detail);
    match (wanted, value) {
        (Node::Any, _) | (Node::Flag, Value::Bool(_)) | (Node::Nullable(_), Value::Null) => {}
        (Node::Nullable(inner), _) => node(inner, value, at, faults),
        (Node::Union(options), _) if wanted.has_type(value) => {
            if let Some(option) = options.iter().find(|option| option.has_type(value)) {
                node(option, value, at, faults);
            }
        }
        (
            Node::Object {
                members,
                required,
                closed,
                answered,
                merges,
                rest,
            },
            Value::Object(object),
        ) => {
            for name in required.iter().filter(|name| !object.contains_key(*name)) {
                with(at, name, |at| {
                    faults.add(at, "required", || "is required".to_owned())
                });
            }
            for (name, value) in object {
                with(at, name, |at| match (members.get(name), rest) {
                    (Some(member), _) if !merges && is_absent(member, name, value, required) => {}
                    (Some(member), _) => node(member, value, at, faults),
                    (None, Some(rest)) => node(rest, value, at, faults),
                    (None, None) if *answered && READ_ONLY.contains(&name.as_str()) => {
                        let detail = || "is set by the server; leave it out".to_owned();
                        faults.add(at, "read_only", detail);
                    }
                    (None, None) if *closed => faults.add(at, "unknown_field", || unknown(members)),
                    (None, None) => {}
                });
            }
        }
        (Node::Array { items, min, max }, Value::Array(all)) => {
            if all.len() > *max {
                fault("too_many_items", &|| {
                    format!("has {} items, at most {max} are accepted", all.len())
                });
                return;
            }
            if all.len() < *min {
                fault("too_few_items", &|| {
                    format!("has {} items, at least {min} are needed", all.len())
                });
            }
            for (index, item) in all.iter().enumerate() {
                with(at, &index.to_string(), |at| node(items, item, at, faults));
            }
        }
        (
            Node::Text {
                min,
                max,
                format,
                words,
            },
            Value::String(text),
        ) => {
            // A scalar value is at most 4 bytes: most texts need no count.
            let length = || text.chars().count();
            if text.len() > *max && length() > *max {
                fault("too_long", &|| {
                    format!("has {} characters, at most {max} are accepted", length())
                });
            } else if text.len() < min.saturating_mul(4) && length() < *min {
                fault("too_short", &|| {
                    format!("has {} characters, at least {min} are needed", length())
                });
            } else if !words.is_empty() && !words.contains(text) {
                fault("unknown_value", &|| format!("is not one of {}", words.join(", ")));
            } else if *format == Format::Uuid && uuid::Uuid::try_parse(text).is_err() {
                fault("not_a_uuid", &|| "is not a UUID".to_owned());
            } else if *format == Format::Instant && Instant::from_text(text).is_err() {
                fault("not_an_instant", &|| NotAnInstant.to_string());
            }
        }
        (Node::Integer { min, max }, Value::Number(number)) => match number.as_i64() {
            Some(n) if (*min..=*max).contains(&n) => {}
            Some(n) => fault("out_of_range", &|| format!("is {n}, must be {min} to {max}")),
            None => fault("wrong_type", &|| "is not an integer".to_owned()),
        },
        (Node::Number { min, max }, Value::Number(number)) => match number.as_f64() {
            Some(n) if n >= *min && n <= *max => {}
            _ => fault("out_of_range", &|| format!("is {number}, must be {min} to {max}")),
        },
        (_, Value::Null) => fault("null_not_allowed", &|| {
            "cannot be null; leave it out instead".to_owned()
        }),
        _ => fault("wrong_type", &|| {
            format!("is {}, must be {}", kind(value), expected(wanted))
        }),
    }
}

/// Returns whether a member counts as absent: `null`, where it may be absent and `null` means nothing else.
pub(super) fn is_absent(member: &Node, name: &str, value: &Value, required: &[String]) -> bool {
    value.is_null() && !matches!(member, Node::Nullable(_) | Node::Any) && !required.iter().any(|r| r == name)
}

fn with(at: &mut String, name: &str, run: impl FnOnce(&mut String)) {
    let length = at.len();
    at.push('/');
    if name.contains(['~', '/']) {
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
    } else {
        at.push_str(name);
    }
    run(at);
    at.truncate(length);
}

fn unknown(members: &HashMap<String, Node>) -> String {
    let mut known: Vec<&str> = members.keys().map(String::as_str).collect();
    known.sort_unstable();
    format!("is unknown; known fields are {}", known.join(", "))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn expected(node: &Node) -> String {
    let text = match node {
        Node::Any => "anything",
        Node::Object { .. } => "an object",
        Node::Array { .. } => "an array",
        Node::Text { .. } => "a string",
        Node::Integer { .. } => "an integer",
        Node::Number { .. } => "a number",
        Node::Flag => "a boolean",
        Node::Nullable(inner) => return expected(inner),
        Node::Union(options) => return options.iter().map(expected).collect::<Vec<_>>().join(" or "),
    };
    text.to_owned()
}

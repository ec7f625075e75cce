//! Compilation of JSON Schemas.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{ANSWERED, Format, MERGES, NULLABLE, Node};
use crate::json::MAX_INTEGER;

/// Compiles a schema. `definitions` resolves its references.
pub(super) fn node(
    schema: &Map<String, Value>,
    definitions: Option<&Map<String, Value>>,
) -> Result<Node, String> {
    if let Some(Value::String(reference)) = schema.get("$ref") {
        let target = reference
            .strip_prefix("#/$defs/")
            .and_then(|name| definitions?.get(name)?.as_object())
            .ok_or_else(|| format!("$ref {reference}"))?;
        return node(target, definitions);
    }
    for keyword in schema.keys() {
        const KNOWN: &[&str] = &[
            "$defs",
            "$schema",
            "title",
            "description",
            "default",
            "examples",
            "deprecated",
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "format",
            "enum",
            "const",
            "oneOf",
            "anyOf",
            "minimum",
            "maximum",
            NULLABLE,
            ANSWERED,
            MERGES,
        ];
        if !KNOWN.contains(&keyword.as_str()) {
            return Err(format!("keyword {keyword}"));
        }
    }
    if let Some(Value::Array(options)) = schema.get("anyOf") {
        return nullable(options, definitions);
    }
    if let Some(Value::Array(options)) = schema.get("oneOf") {
        return words(options);
    }
    let size = |key: &str, default: usize| {
        schema
            .get(key)
            .and_then(Value::as_u64)
            .map_or(default, |n| n as usize)
    };
    let one = |name: &str| -> Result<Node, String> {
        Ok(match name {
            "object" => object(schema, definitions)?,
            "array" => {
                let items = match schema.get("items") {
                    Some(Value::Object(items)) => node(items, definitions)?,
                    _ => Node::Any,
                };
                Node::Array {
                    items: Box::new(items),
                    min: size("minItems", 0),
                    max: size("maxItems", usize::MAX),
                }
            }
            "string" => Node::Text {
                min: size("minLength", 0),
                max: size("maxLength", usize::MAX),
                format: match schema.get("format").and_then(Value::as_str) {
                    None => Format::Free,
                    Some("uuid") => Format::Uuid,
                    Some("date-time") => Format::Instant,
                    Some(other) => return Err(format!("format {other}")),
                },
                words: match schema.get("enum") {
                    Some(Value::Array(all)) => {
                        all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                    }
                    _ => schema
                        .get("const")
                        .and_then(Value::as_str)
                        .map(str::to_owned)
                        .into_iter()
                        .collect(),
                },
            },
            "integer" => Node::Integer {
                min: schema
                    .get("minimum")
                    .and_then(Value::as_i64)
                    .unwrap_or(-MAX_INTEGER),
                max: schema
                    .get("maximum")
                    .and_then(Value::as_i64)
                    .unwrap_or(MAX_INTEGER),
            },
            "number" => Node::Number {
                min: schema.get("minimum").and_then(Value::as_f64).unwrap_or(f64::MIN),
                max: schema.get("maximum").and_then(Value::as_f64).unwrap_or(f64::MAX),
            },
            "boolean" => Node::Flag,
            other => return Err(format!("type {other}")),
        })
    };
    match schema.get("type") {
        None => Ok(Node::Any),
        Some(Value::String(name)) => one(name),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            let (nulls, names): (Vec<&str>, Vec<&str>) = names.partition(|name| *name == "null");
            let node = match names.as_slice() {
                [] => return Err("no type but null".to_owned()),
                [name] => one(name)?,
                names => Node::Union(names.iter().map(|name| one(name)).collect::<Result<_, _>>()?),
            };
            Ok(if nulls.is_empty() {
                node
            } else {
                Node::Nullable(Box::new(node))
            })
        }
        Some(other) => Err(format!("type {other}")),
    }
}

fn object(schema: &Map<String, Value>, definitions: Option<&Map<String, Value>>) -> Result<Node, String> {
    let mut members = HashMap::new();
    for (name, member) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let member = match member {
            Value::Object(member) => node(member, definitions)?,
            _ => Node::Any,
        };
        members.insert(name.clone(), member);
    }
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let (closed, rest) = match schema.get("additionalProperties") {
        Some(Value::Bool(open)) => (!open, None),
        Some(Value::Object(rest)) => (false, Some(Box::new(node(rest, definitions)?))),
        _ => (false, None),
    };
    Ok(Node::Object {
        members,
        required: required.filter_map(Value::as_str).map(str::to_owned).collect(),
        closed,
        answered: schema.get(ANSWERED) == Some(&Value::Bool(true)),
        merges: schema.get(MERGES) == Some(&Value::Bool(true)),
        rest,
    })
}

fn nullable(options: &[Value], definitions: Option<&Map<String, Value>>) -> Result<Node, String> {
    let mut kept = options
        .iter()
        .filter_map(Value::as_object)
        .filter(|o| o.get("type") != Some(&Value::from("null")));
    match (kept.next(), kept.next()) {
        (Some(one), None) => Ok(Node::Nullable(Box::new(node(one, definitions)?))),
        _ => Err("anyOf of several".to_owned()),
    }
}

/// An enum whose variants carry docs: `oneOf` of constants.
fn words(options: &[Value]) -> Result<Node, String> {
    let mut all = Vec::new();
    for option in options {
        match (option.get("const"), option.get("enum")) {
            (Some(Value::String(word)), None) => all.push(word.clone()),
            (None, Some(Value::Array(words))) => {
                all.extend(words.iter().filter_map(Value::as_str).map(str::to_owned))
            }
            _ => return Err("oneOf of other than words".to_owned()),
        }
    }
    Ok(Node::Text {
        min: 0,
        max: usize::MAX,
        format: Format::Free,
        words: all,
    })
}

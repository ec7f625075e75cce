//! The schemas of the contract as components of the document, and examples composed from them.

use serde_json::{Map, Value, json};

/// Adds a schema under its name.
pub(super) fn collect(name: &str, mut schema: Value, schemas: &mut Map<String, Value>) {
    lift_definitions(&mut schema, schemas);
    schemas.insert(name.to_owned(), schema);
}

/// Moves `$defs` to the components and turns references to them.
pub(super) fn lift_definitions(schema: &mut Value, schemas: &mut Map<String, Value>) {
    if let Some(object) = schema.as_object_mut() {
        object.shift_remove("$schema");
        if let Some(Value::Object(definitions)) = object.shift_remove("$defs") {
            for (name, mut definition) in definitions {
                turn_references(&mut definition);
                schemas.insert(name, definition);
            }
        }
    }
    turn_references(schema);
}

fn turn_references(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for mark in searchwright_contract::shape::MARKS {
                object.shift_remove(*mark);
            }
            if let Some(Value::String(reference)) = object.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", "#/components/schemas/");
            }
            object.values_mut().for_each(turn_references);
        }
        Value::Array(items) => items.iter_mut().for_each(turn_references),
        _ => {}
    }
}

/// An example composed from the examples of the members.
pub(super) fn example(schema: &Value, schemas: &Map<String, Value>, depth: u32) -> Value {
    if depth > 6 {
        return Value::Null;
    }
    if let Some(example) = schema
        .get("examples")
        .and_then(|e| e.get(0))
        .or_else(|| schema.get("const"))
    {
        return example.clone();
    }
    if let Some(name) = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|r| r.rsplit('/').next())
    {
        return schemas
            .get(name)
            .map_or(Value::Null, |s| example(s, schemas, depth + 1));
    }
    for several in ["oneOf", "anyOf", "enum"] {
        if let Some(first) = schema.get(several).and_then(|s| s.get(0)) {
            return if several == "enum" {
                first.clone()
            } else {
                example(first, schemas, depth + 1)
            };
        }
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) if kinds.iter().any(|k| k == "null") => "null",
        Some(Value::String(kind)) => kind.as_str(),
        _ => return Value::Null,
    };
    match kind {
        "object" => {
            let members = schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten();
            Value::Object(
                members
                    .map(|(name, member)| (name.clone(), example(member, schemas, depth + 1)))
                    .collect(),
            )
        }
        "array" => schema.get("items").map_or_else(
            || json!([]),
            |items| match example(items, schemas, depth + 1) {
                Value::Null => json!([]),
                item => json!([item]),
            },
        ),
        "string" => "text".into(),
        "integer" => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        "number" => json!(1.0),
        "boolean" => false.into(),
        _ => Value::Null,
    }
}

//! The schemas of the contract as components of the document, and examples composed from them.

use serde_json::{Map, Value, json};

/// Returns a reference to a component.
pub(super) fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

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
            join_words(object);
            tell_apart(object);
            if let Some(Value::String(reference)) = object.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", "#/components/schemas/");
            }
            object.values_mut().for_each(turn_references);
        }
        Value::Array(items) => items.iter_mut().for_each(turn_references),
        _ => {}
    }
}

/// Leaves the examples out: those of the members of answers teach nothing that their descriptions do not.
pub(super) fn drop_examples(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("examples").is_some_and(Value::is_array) {
                members.shift_remove("examples");
            }
            members.values_mut().for_each(drop_examples);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_examples),
        _ => {}
    }
}

/// Turns a choice of words, each with its meaning, into the words and one description, of which tools make an enumeration.
fn join_words(schema: &mut Map<String, Value>) {
    let Some(options) = schema.get("oneOf").and_then(Value::as_array) else {
        return;
    };
    let word = |option: &Value| {
        let several = option["enum"].as_array().cloned().unwrap_or_default();
        let words = option.get("const").cloned().into_iter().chain(several);
        words
            .map(|word| word.as_str().map(str::to_owned))
            .collect::<Option<Vec<String>>>()
            .filter(|words| !words.is_empty())
    };
    let Some(words) = options.iter().map(word).collect::<Option<Vec<Vec<String>>>>() else {
        return;
    };
    let meanings: Vec<String> = options
        .iter()
        .zip(&words)
        .filter_map(|(option, words)| {
            let meaning = option["description"].as_str()?.trim_end_matches('.');
            Some(format!("`{}`: {meaning}", words.join("`, `")))
        })
        .collect();
    let mut description = schema["description"].as_str().unwrap_or_default().to_owned();
    if !meanings.is_empty() {
        description.push_str("\n\n");
        description.push_str(&meanings.join(". "));
        description.push('.');
    }
    let members = schema.keys().filter(|name| *name != "title").count();
    if members > 2 {
        return;
    }
    schema.clear();
    schema.insert("type".to_owned(), "string".into());
    let words: Vec<String> = words.into_iter().flatten().collect();
    schema.insert("enum".to_owned(), words.into());
    schema.insert("description".to_owned(), description.trim().into());
}

/// Turns a choice of several kinds of values into one that says that a value is of one kind: of others, generators make one type
/// with the members of all.
fn tell_apart(schema: &mut Map<String, Value>) {
    let is_choice = schema
        .get("anyOf")
        .and_then(Value::as_array)
        .is_some_and(|options| options.iter().all(|option| option["type"] != "null"));
    if is_choice && let Some(options) = schema.shift_remove("anyOf") {
        schema.insert("oneOf".to_owned(), options);
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

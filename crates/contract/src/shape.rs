//! The JSON Schemas of the table, enforced: what the documents promise is what the server checks, and
//! every fault is named at once, not one per attempt.
//!
//! Reads the subset of JSON Schema 2020-12 that the derives of this crate write. A keyword it does not
//! know stops the program at start (and in a test), so that no promise is silently unchecked.

use std::collections::HashMap;

use schemars::Schema;
use serde_json::{Map, Value};

use crate::error::Fault;

/// Marks a member that `null` clears ([`crate::Patch`]); every other optional member refuses `null`.
pub const NULLABLE: &str = "x-nullable";

/// Faults reported per request; a client that has 100 of them reads the first ones anyway.
const MOST_FAULTS: usize = 100;

/// Takes `null` out of optional members: absent and `null` are different things here.
pub fn forbid_null(schema: &mut Schema) {
    if let Some(root) = schema.as_object_mut() {
        forbid(root);
    }
}

fn forbid(node: &mut Map<String, Value>) {
    if node.get(NULLABLE) != Some(&Value::Bool(true)) {
        if let Some(Value::Array(types)) = node.get_mut("type") {
            types.retain(|t| t != "null");
            if let [one] = types.as_slice() {
                let one = one.clone();
                node.insert("type".to_owned(), one);
            }
        }
        if let Some(Value::Array(any)) = node.get_mut("anyOf") {
            any.retain(|s| s.get("type") != Some(&Value::from("null")));
            if let [Value::Object(one)] = any.as_slice() {
                let one = one.clone();
                node.remove("anyOf");
                for (key, value) in one {
                    node.entry(key).or_insert(value);
                }
            }
        }
    }
    for (_, value) in node.iter_mut() {
        each_object(value, &mut forbid);
    }
}

fn each_object(value: &mut Value, run: &mut dyn FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(object) => run(object),
        Value::Array(items) => items.iter_mut().for_each(|item| each_object(item, run)),
        _ => {}
    }
}

/// A schema ready to check values against.
#[derive(Debug)]
pub struct Shape {
    root: Node,
}

#[derive(Debug)]
enum Node {
    Any,
    Object {
        members: HashMap<String, Member>,
        required: Vec<String>,
        closed: bool,
        rest: Option<Box<Node>>,
    },
    Array {
        items: Box<Node>,
        min: usize,
        max: usize,
    },
    Text {
        min: usize,
        max: usize,
        format: Format,
        words: Vec<String>,
    },
    Integer {
        min: i64,
        max: i64,
    },
    Number {
        min: f64,
        max: f64,
    },
    Flag,
    Nullable(Box<Node>),
}

#[derive(Debug)]
struct Member {
    node: Node,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Free,
    Uuid,
    Instant,
}

impl Shape {
    /// Compiles a schema; the error names the keyword that is not understood.
    pub fn compile(schema: &Schema) -> Result<Self, String> {
        let root = schema.as_object().ok_or("not an object")?;
        let definitions = root.get("$defs").and_then(Value::as_object);
        Ok(Self {
            root: compile(root, definitions)?,
        })
    }

    /// Every fault of a value, at most 100. The pointer is relative to the value.
    pub fn faults(&self, value: &Value) -> Vec<Fault> {
        let mut faults = Vec::new();
        check(&self.root, value, &mut String::new(), &mut faults);
        faults
    }

    /// What a text means as the member of this name: a number, a flag, a list, or itself.
    pub fn read_text(&self, name: &str, text: &str) -> Value {
        let Node::Object { members, .. } = &self.root else {
            return text.into();
        };
        members
            .get(name)
            .map_or_else(|| text.into(), |m| m.node.read_text(text))
    }

    /// Whether the object has a member of this name.
    pub fn knows(&self, name: &str) -> bool {
        matches!(&self.root, Node::Object { members, .. } if members.contains_key(name))
    }

    /// The names of its members, sorted.
    pub fn names(&self) -> Vec<&str> {
        let Node::Object { members, .. } = &self.root else {
            return Vec::new();
        };
        let mut names: Vec<&str> = members.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

impl Node {
    fn read_text(&self, text: &str) -> Value {
        match self {
            Self::Integer { .. } => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
            Self::Number { .. } => text.parse::<f64>().map_or_else(|_| text.into(), Value::from),
            Self::Flag => text.parse::<bool>().map_or_else(|_| text.into(), Value::from),
            Self::Array { items, .. } => text.split(',').map(|t| items.read_text(t)).collect(),
            Self::Nullable(inner) if text != "null" => inner.read_text(text),
            Self::Nullable(_) => Value::Null,
            Self::Any | Self::Object { .. } | Self::Text { .. } => text.into(),
        }
    }
}

fn compile(schema: &Map<String, Value>, definitions: Option<&Map<String, Value>>) -> Result<Node, String> {
    if let Some(Value::String(reference)) = schema.get("$ref") {
        let target = reference
            .strip_prefix("#/$defs/")
            .and_then(|name| definitions?.get(name)?.as_object())
            .ok_or_else(|| format!("$ref {reference}"))?;
        return compile(target, definitions);
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
                    Some(Value::Object(items)) => compile(items, definitions)?,
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
                    .unwrap_or(-crate::json::MAX_INTEGER),
                max: schema
                    .get("maximum")
                    .and_then(Value::as_i64)
                    .unwrap_or(crate::json::MAX_INTEGER),
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
        Some(Value::Array(names)) => match names
            .iter()
            .filter_map(Value::as_str)
            .filter(|n| *n != "null")
            .collect::<Vec<_>>()[..]
        {
            [name] => Ok(Node::Nullable(Box::new(one(name)?))),
            _ => Err(format!("types {names:?}")),
        },
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
        let node = match member {
            Value::Object(member) => compile(member, definitions)?,
            _ => Node::Any,
        };
        members.insert(name.clone(), Member { node });
    }
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let (closed, rest) = match schema.get("additionalProperties") {
        Some(Value::Bool(open)) => (!open, None),
        Some(Value::Object(rest)) => (false, Some(Box::new(compile(rest, definitions)?))),
        _ => (false, None),
    };
    Ok(Node::Object {
        members,
        required: required.filter_map(Value::as_str).map(str::to_owned).collect(),
        closed,
        rest,
    })
}

fn nullable(options: &[Value], definitions: Option<&Map<String, Value>>) -> Result<Node, String> {
    let mut kept = options
        .iter()
        .filter_map(Value::as_object)
        .filter(|o| o.get("type") != Some(&Value::from("null")));
    match (kept.next(), kept.next()) {
        (Some(one), None) => Ok(Node::Nullable(Box::new(compile(one, definitions)?))),
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

fn check(node: &Node, value: &Value, at: &mut String, faults: &mut Vec<Fault>) {
    if faults.len() >= MOST_FAULTS {
        return;
    }
    let mut fault = |code: &str, detail: String| {
        faults.push(Fault {
            pointer: at.clone(),
            code: code.to_owned(),
            detail,
        });
    };
    match (node, value) {
        (Node::Any, _) | (Node::Flag, Value::Bool(_)) | (Node::Nullable(_), Value::Null) => {}
        (Node::Nullable(inner), _) => check(inner, value, at, faults),
        (
            Node::Object {
                members,
                required,
                closed,
                rest,
            },
            Value::Object(object),
        ) => {
            for name in required.iter().filter(|name| !object.contains_key(*name)) {
                with(at, name, |at| faults.push(missing(at)));
            }
            for (name, value) in object {
                with(at, name, |at| match (members.get(name), rest) {
                    (Some(member), _) => check(&member.node, value, at, faults),
                    (None, Some(rest)) => check(rest, value, at, faults),
                    (None, None) if *closed => faults.push(unknown(at, members)),
                    (None, None) => {}
                });
            }
        }
        (Node::Array { items, min, max }, Value::Array(all)) => {
            if all.len() > *max {
                fault(
                    "too_many_items",
                    format!("has {} items, at most {max} are accepted", all.len()),
                );
                return;
            }
            if all.len() < *min {
                fault(
                    "too_few_items",
                    format!("has {} items, at least {min} are needed", all.len()),
                );
            }
            for (index, item) in all.iter().enumerate() {
                with(at, &index.to_string(), |at| check(items, item, at, faults));
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
                fault(
                    "too_long",
                    format!("has {} characters, at most {max} are accepted", length()),
                );
            } else if text.len() < min.saturating_mul(4) && length() < *min {
                fault(
                    "too_short",
                    format!("has {} characters, at least {min} are needed", length()),
                );
            } else if !words.is_empty() && !words.contains(text) {
                fault("unknown_value", format!("is not one of {}", words.join(", ")));
            } else if *format == Format::Uuid && uuid::Uuid::try_parse(text).is_err() {
                fault("not_a_uuid", "is not a UUID".to_owned());
            } else if *format == Format::Instant && crate::Instant::from_text(text).is_err() {
                fault("not_an_instant", crate::instant::NotAnInstant.to_string());
            }
        }
        (Node::Integer { min, max }, Value::Number(number)) => match number.as_i64() {
            Some(n) if (*min..=*max).contains(&n) => {}
            Some(n) => fault("out_of_range", format!("is {n}, accepted are {min} to {max}")),
            None => fault("wrong_type", "is not an integer".to_owned()),
        },
        (Node::Number { min, max }, Value::Number(number)) => match number.as_f64() {
            Some(n) if n >= *min && n <= *max => {}
            _ => fault(
                "out_of_range",
                format!("is {number}, accepted are {min} to {max}"),
            ),
        },
        (_, Value::Null) => fault(
            "null_not_allowed",
            "cannot be null; leave it out instead".to_owned(),
        ),
        _ => fault(
            "wrong_type",
            format!("is {}, {} is expected", kind(value), expected(node)),
        ),
    }
}

fn with(at: &mut String, name: &str, run: impl FnOnce(&mut String)) {
    let length = at.len();
    at.push('/');
    at.push_str(&name.replace('~', "~0").replace('/', "~1"));
    run(at);
    at.truncate(length);
}

fn missing(at: &str) -> Fault {
    Fault {
        pointer: at.to_owned(),
        code: "required".to_owned(),
        detail: "is required".to_owned(),
    }
}

fn unknown(at: &str, members: &HashMap<String, Member>) -> Fault {
    let mut known: Vec<&str> = members.keys().map(String::as_str).collect();
    known.sort_unstable();
    let detail = format!("is not known here; known are {}", known.join(", "));
    Fault {
        pointer: at.to_owned(),
        code: "unknown_field".to_owned(),
        detail,
    }
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

fn expected(node: &Node) -> &'static str {
    match node {
        Node::Any => "anything",
        Node::Object { .. } => "an object",
        Node::Array { .. } => "an array",
        Node::Text { .. } => "a string",
        Node::Integer { .. } => "an integer",
        Node::Number { .. } => "a number",
        Node::Flag => "a boolean",
        Node::Nullable(inner) => expected(inner),
    }
}

//! Enforcement of the table's JSON Schemas: the server checks exactly the documented schemas, and reports all faults
//! at once.
//!
//! Reads the subset of JSON Schema 2020-12 that the derives of this crate write. A keyword it does not
//! know stops the program at start (and in a test), so that no promise is silently unchecked.

mod check;
mod compile;

use std::collections::HashMap;

use schemars::Schema;
use serde_json::{Map, Value};

use crate::Faults;

/// Marks a member that `null` clears ([`crate::Patch`]); every other optional member that is `null` counts as absent, except
/// in a [`MERGES`].
pub const NULLABLE: &str = "x-nullable";

/// Marks an object that answers also contain, with more members than a caller may set: those are reported as
/// read-only, not as unknown.
pub const ANSWERED: &str = "x-answered";

/// Marks a merge patch (RFC 7396): `null` asks to clear a member, so that one which cannot be cleared refuses it.
pub const MERGES: &str = "x-merges";

/// Keywords for [`Shape`] alone, removed from documents.
pub const MARKS: &[&str] = &[NULLABLE, ANSWERED, MERGES];

/// Removes `null` from optional members: absent and `null` mean different things here.
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
        members: HashMap<String, Node>,
        required: Vec<String>,
        closed: bool,
        answered: bool,
        merges: bool,
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
    Union(Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Free,
    Uuid,
    Instant,
}

impl Shape {
    /// Compiles a schema; the error names the unsupported keyword.
    pub fn compile(schema: &Schema) -> Result<Self, String> {
        let root = schema.as_object().ok_or("not an object")?;
        let definitions = root.get("$defs").and_then(Value::as_object);
        Ok(Self {
            root: compile::node(root, definitions)?,
        })
    }

    /// Returns the faults of a value. Pointers are relative to the value.
    pub fn faults(&self, value: &Value) -> Faults {
        let mut faults = Faults::default();
        check::node(&self.root, value, &mut String::new(), &mut faults);
        faults
    }

    /// Removes members that count as absent because they are `null`. Call for a value without faults.
    pub fn drop_absent(&self, value: &mut Value) {
        drop_absent(&self.root, value);
    }

    /// Converts a text to the type of the member with this name: a number, a flag, a list, or the text itself.
    pub fn read_text(&self, name: &str, text: &str) -> Value {
        let Node::Object { members, .. } = &self.root else {
            return text.into();
        };
        members
            .get(name)
            .map_or_else(|| text.into(), |member| member.read_text(text))
    }

    /// Returns whether the object has a member of this name.
    pub fn knows(&self, name: &str) -> bool {
        matches!(&self.root, Node::Object { members, .. } if members.contains_key(name))
    }

    /// Returns the names of its members, sorted.
    pub fn names(&self) -> Vec<&str> {
        let Node::Object { members, .. } = &self.root else {
            return Vec::new();
        };
        let mut names: Vec<&str> = members.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

fn drop_absent(node: &Node, value: &mut Value) {
    match (node, value) {
        (
            Node::Object {
                members,
                required,
                merges,
                rest,
                ..
            },
            Value::Object(object),
        ) => {
            object.retain(|name, value| {
                let member = members.get(name);
                *merges || member.is_none_or(|member| !check::is_absent(member, name, value, required))
            });
            for (name, value) in object {
                if let Some(node) = members.get(name).or(rest.as_deref()) {
                    drop_absent(node, value);
                }
            }
        }
        (Node::Array { items, .. }, Value::Array(all)) => {
            all.iter_mut().for_each(|item| drop_absent(items, item));
        }
        (Node::Nullable(inner), value) => drop_absent(inner, value),
        (Node::Union(options), value) => {
            if let Some(option) = options.iter().find(|option| option.has_type(value)) {
                drop_absent(option, value);
            }
        }
        _ => {}
    }
}

impl Node {
    /// Returns whether a value has the JSON type of the node, whatever else may be wrong with it.
    fn has_type(&self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Object { .. } => value.is_object(),
            Self::Array { .. } => value.is_array(),
            Self::Text { .. } => value.is_string(),
            Self::Integer { .. } | Self::Number { .. } => value.is_number(),
            Self::Flag => value.is_boolean(),
            Self::Nullable(inner) => value.is_null() || inner.has_type(value),
            Self::Union(options) => options.iter().any(|option| option.has_type(value)),
        }
    }

    fn read_text(&self, text: &str) -> Value {
        match self {
            Self::Integer { .. } => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
            Self::Number { .. } => text.parse::<f64>().map_or_else(|_| text.into(), Value::from),
            Self::Flag => text.parse::<bool>().map_or_else(|_| text.into(), Value::from),
            Self::Array { items, .. } => text.split(',').map(|t| items.read_text(t)).collect(),
            Self::Nullable(inner) if text != "null" => inner.read_text(text),
            Self::Nullable(_) => Value::Null,
            Self::Union(options) => {
                let mut read = options.iter().map(|option| (option, option.read_text(text)));
                read.find(|(option, value)| option.has_type(value))
                    .map_or_else(|| text.into(), |(_, value)| value)
            }
            Self::Any | Self::Object { .. } | Self::Text { .. } => text.into(),
        }
    }
}

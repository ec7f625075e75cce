//! Collections as Directus describes their fields.

use searchwright_contract::integrations::{Field, FieldType};
use serde_json::Value;

use crate::values::{list, text};

/// The fields of a collection.
#[derive(Debug)]
pub(super) struct Schema {
    /// The primary key.
    pub key: String,
    /// Whether it is a UUID, so that it can be ours.
    pub is_uuid: bool,
    fields: Vec<Value>,
}

impl Schema {
    pub fn read(answer: &Value) -> Option<Self> {
        let fields = answer.get("data")?.as_array()?;
        let is_key = |field: &&Value| is(field, "/schema/is_primary_key");
        let key = fields.iter().find(is_key)?;
        Some(Self {
            key: text(key, "/field")?.to_owned(),
            is_uuid: text(key, "/type") == Some("uuid"),
            fields: fields.clone(),
        })
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.fields
            .iter()
            .find(|field| text(field, "/field") == Some(name))
    }

    pub fn has(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    pub fn is_boolean(&self, name: &str) -> bool {
        self.field(name)
            .is_some_and(|field| text(field, "/type") == Some("boolean"))
    }

    pub fn is_markdown(&self, name: &str) -> bool {
        self.field(name).and_then(kind) == Some(FieldType::Markdown)
    }

    pub fn is_file(&self, name: &str) -> bool {
        self.field(name).and_then(kind) == Some(FieldType::Image)
    }

    pub fn is_list(&self, name: &str) -> bool {
        self.field(name).and_then(kind) == Some(FieldType::List)
    }

    /// Fields that a mapping can name: not the key, the status field or the fields that Directus keeps itself
    /// (read-only).
    pub fn fields(&self, status: &str) -> Vec<Field> {
        let ours = |field: &&Value| {
            let name = text(field, "/field");
            name != Some(&self.key) && name != Some(status) && !is(field, "/meta/readonly")
        };
        self.fields.iter().filter(ours).filter_map(field).collect()
    }
}

fn is(field: &Value, pointer: &str) -> bool {
    field.pointer(pointer) == Some(&Value::Bool(true))
}

fn has_special(field: &Value, name: &str) -> bool {
    list(field, "/meta/special")
        .iter()
        .any(|special| special.as_str() == Some(name))
}

/// `None` for what is no column: groups, notes, the other side of relations.
fn kind(field: &Value) -> Option<FieldType> {
    let interface = text(field, "/meta/interface").unwrap_or_default();
    if has_special(field, "file") || interface == "file-image" {
        return Some(FieldType::Image);
    }
    if has_special(field, "m2o") {
        return Some(FieldType::Reference);
    }
    Some(match text(field, "/type")? {
        "string" if interface.contains("slug") => FieldType::Slug,
        "string" | "text" => match interface {
            "input-rich-text-html" => FieldType::Richtext,
            "input-rich-text-md" => FieldType::Markdown,
            _ => FieldType::Text,
        },
        "dateTime" | "date" | "timestamp" => FieldType::Date,
        "boolean" => FieldType::Boolean,
        "integer" | "bigInteger" | "float" | "decimal" => FieldType::Number,
        "json" | "csv" => FieldType::List,
        "uuid" => FieldType::Reference,
        _ => return None,
    })
}

fn field(field: &Value) -> Option<Field> {
    let id = text(field, "/field")?;
    let without_default = field.pointer("/schema/default_value").is_none_or(Value::is_null);
    let is_made = is(field, "/schema/is_generated") || is(field, "/schema/has_auto_increment");
    let is_never_null = field.pointer("/schema/is_nullable") == Some(&Value::Bool(false));
    let options: Vec<String> = list(field, "/meta/options/choices")
        .iter()
        .filter_map(|choice| Some(text(choice, "/value")?.to_owned()))
        .collect();
    let kind = kind(field)?;
    let length = field.pointer("/schema/max_length").and_then(Value::as_u64);
    let length = length.filter(|_| matches!(kind, FieldType::Text | FieldType::Slug));
    Some(Field {
        required: without_default && !is_made && (is_never_null || is(field, "/meta/required")),
        max_length: length.and_then(|n| n.try_into().ok()),
        options: (!options.is_empty()).then_some(options),
        ..Field::new(id, id, kind)
    })
}

//! Fields of a post type, from the schema that WordPress answers OPTIONS with.

use searchwright_contract::integrations::{Field, FieldType};
use serde_json::Value;

use crate::values::{list, text};

/// Fields that this server sets itself, or that no member of a post fits.
const NOT_OFFERED: &[&str] = &[
    "status",
    "password",
    "date_gmt",
    "template",
    "format",
    "sticky",
    "comment_status",
    "ping_status",
    "menu_order",
    "parent",
];

/// Objects that hold the fields of themes and plugins.
const NESTING: &[&str] = &["meta", "acf"];

pub(super) fn fields(schema: &Value) -> Vec<Field> {
    let mut fields = Vec::new();
    for (name, property) in members(schema) {
        if NESTING.contains(&name.as_str()) {
            fields.extend(
                members(property)
                    .filter(|(_, inner)| !is_read_only(inner))
                    .map(|(inner, property)| field(format!("{name}.{inner}"), inner, property)),
            );
        } else if !NOT_OFFERED.contains(&name.as_str()) && !is_read_only(property) {
            fields.push(field(name.clone(), name, property));
        }
    }
    fields
}

fn members(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

fn is_read_only(property: &Value) -> bool {
    property.get("readonly").and_then(Value::as_bool) == Some(true)
}

fn field(id: String, name: &str, property: &Value) -> Field {
    let label =
        text(property, "/title").map_or_else(|| name.replace('_', " ").trim().to_owned(), str::to_owned);
    let options: Vec<String> = list(property, "/enum")
        .iter()
        .filter_map(|option| Some(option.as_str()?.to_owned()))
        .collect();
    let required =
        matches!(id.as_str(), "title" | "content") || property.get("required") == Some(&Value::Bool(true));
    Field {
        required,
        max_length: property
            .get("maxLength")
            .and_then(Value::as_u64)
            .and_then(|n| n.try_into().ok()),
        options: (!options.is_empty()).then_some(options),
        kind: kind(&id, property),
        ..Field::new(id, label, FieldType::Text)
    }
}

fn kind(id: &str, property: &Value) -> FieldType {
    match id {
        "title" | "excerpt" => return FieldType::Text,
        "content" => return FieldType::Richtext,
        "slug" => return FieldType::Slug,
        "featured_media" => return FieldType::Image,
        "author" => return FieldType::Reference,
        _ => {}
    }
    let kinds = property.get("type").unwrap_or(&Value::Null);
    let kind = kinds.as_str().or_else(|| {
        let kinds = kinds.as_array()?;
        kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")
    });
    match (kind, text(property, "/format")) {
        (Some("array"), _) => FieldType::List,
        (Some("integer" | "number"), _) => FieldType::Number,
        (Some("boolean"), _) => FieldType::Boolean,
        (Some("object"), _) => FieldType::Reference,
        (_, Some("date-time" | "date")) => FieldType::Date,
        _ => FieldType::Text,
    }
}

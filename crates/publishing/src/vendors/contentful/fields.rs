//! Fields of a content type.

use searchwright_contract::integrations::{Field, FieldType};
use serde_json::Value;

use crate::values::{list, text};

/// A field that something can go into, or that has to be filled.
pub(super) fn field(described: &Value) -> Option<Field> {
    let id = text(described, "/id")?;
    let is = |name: &str| described[name] == Value::Bool(true);
    if is("disabled") || is("omitted") {
        return None;
    }
    let is_slug = id.to_lowercase().ends_with("slug");
    let kind = match text(described, "/type")? {
        "Symbol" if is_slug => Some(FieldType::Slug),
        "Symbol" => Some(FieldType::Text),
        "Text" => Some(FieldType::Markdown),
        "RichText" => Some(FieldType::Richtext),
        "Date" => Some(FieldType::Date),
        "Boolean" => Some(FieldType::Boolean),
        "Integer" | "Number" => Some(FieldType::Number),
        "Array" if text(described, "/items/type") == Some("Symbol") => Some(FieldType::List),
        // Links to assets and entries, which nothing goes into: that matters only where something has to.
        _ => is("required").then_some(FieldType::Boolean),
    };
    let rules = list(described, "/validations").iter();
    let length = rules.clone().find_map(|rule| rule.pointer("/size/max")?.as_u64());
    let usual = (text(described, "/type") == Some("Symbol")).then_some(256);
    let options: Vec<String> = rules
        .flat_map(|rule| list(rule, "/in"))
        .filter_map(|option| Some(option.as_str()?.to_owned()))
        .collect();
    Some(Field {
        required: is("required"),
        max_length: length.and_then(|n| n.try_into().ok()).or(usual),
        options: (!options.is_empty()).then_some(options),
        ..Field::new(id, text(described, "/name").unwrap_or(id), kind?)
    })
}

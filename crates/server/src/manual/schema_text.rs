//! Schemas of the OpenAPI document in words.

use std::fmt::Write as _;

use serde_json::Value;

/// Text as it may stand in HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Paragraphs with `code`: the little of Markdown that the descriptions use.
pub(super) fn prose(text: &str) -> String {
    let mut html = String::new();
    for paragraph in text.split("\n\n").filter(|part| !part.trim().is_empty()) {
        let mut is_code = false;
        html.push_str("<p>");
        for (at, part) in escape(paragraph).split('`').enumerate() {
            if at > 0 {
                is_code = !is_code;
                html.push_str(if is_code { "<code>" } else { "</code>" });
            }
            html.push_str(part);
        }
        html.push_str(if is_code { "</code></p>" } else { "</p>" });
    }
    html
}

/// Returns the schema that a reference names, or the schema itself.
pub(super) fn resolved<'a>(schema: &'a Value, openapi: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|reference| openapi.pointer(reference.trim_start_matches('#')));
    target.unwrap_or(schema)
}

/// Name of the component that a reference names.
fn component(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// Returns what a value may be: its type with unit, range and length, as HTML. `types` is the address of the page with the types.
pub(super) fn kind(schema: &Value, openapi: &Value, types: &str) -> String {
    if let Some(name) = component(schema) {
        let target = resolved(schema, openapi);
        if target.get("properties").is_some() {
            return format!("<a href=\"{types}#{0}\">{0}</a>", escape(name));
        }
        return kind(target, openapi, types);
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> = words
            .iter()
            .filter_map(Value::as_str)
            .map(|word| format!("<code>{}</code>", escape(word)))
            .collect();
        return words.join(", ");
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(options) = schema.get(several).and_then(Value::as_array) {
            let options: Vec<String> = options
                .iter()
                .map(|option| kind(option, openapi, types))
                .collect();
            return options.join(" or ");
        }
    }
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(name)) => vec![name.as_str()],
        _ => vec!["any value"],
    };
    let mut text = names
        .iter()
        .map(|name| match (*name, schema.get("items")) {
            ("array", Some(items)) => format!("list of {}", kind(items, openapi, types)),
            ("null", _) => "<code>null</code>".to_owned(),
            (name, _) => name.to_owned(),
        })
        .collect::<Vec<_>>()
        .join(" or ");
    text.push_str(&bounds(schema));
    text
}

/// Returns the limits of a value.
fn bounds(schema: &Value) -> String {
    let mut text = String::new();
    if let Some(format @ ("date-time" | "date" | "uri" | "email" | "uuid")) =
        schema.get("format").and_then(Value::as_str)
    {
        let _ = write!(text, ", {format}");
    }
    let number = |name: &str| schema.get(name).filter(|value| value.is_number());
    for (least, most, unit) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ] {
        match (number(least), number(most)) {
            (Some(least), Some(most)) => {
                let _ = write!(text, ", {least} to {most}{unit}");
            }
            (Some(least), None) => {
                let _ = write!(text, ", at least {least}{unit}");
            }
            (None, Some(most)) => {
                let _ = write!(text, ", at most {most}{unit}");
            }
            (None, None) => {}
        }
    }
    if let Some(default) = schema.get("default").filter(|value| !value.is_null()) {
        let _ = write!(text, ", default <code>{}</code>", escape(&default.to_string()));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{kind, prose};

    #[test]
    fn schemas_are_put_into_words() {
        let openapi = json!({ "components": { "schemas": {
            "Color": { "type": "string", "enum": ["red", "blue"] },
            "Desk": { "type": "object", "properties": { "color": { "$ref": "#/components/schemas/Color" } } }
        } } });
        let text = |schema| kind(&schema, &openapi, "types");
        assert_eq!(
            text(json!({ "type": "integer", "minimum": 1, "maximum": 9, "default": 5 })),
            "integer, 1 to 9, default <code>5</code>"
        );
        assert_eq!(
            text(json!({ "type": ["string", "null"], "maxLength": 8 })),
            "string or <code>null</code>, at most 8 characters"
        );
        assert_eq!(
            text(
                json!({ "type": "array", "items": { "$ref": "#/components/schemas/Color" }, "maxItems": 3 })
            ),
            "list of <code>red</code>, <code>blue</code>, at most 3 items"
        );
        assert_eq!(
            text(json!({ "$ref": "#/components/schemas/Desk" })),
            "<a href=\"types#Desk\">Desk</a>"
        );
        assert_eq!(
            prose("One `a<b`.\n\nTwo."),
            "<p>One <code>a&lt;b</code>.</p><p>Two.</p>"
        );
    }
}

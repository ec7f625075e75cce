//! Names of enum values as the API spells them.

/// Returns the JSON string of a unit variant of an enum, such as a severity of the crawler, which knows no contract.
pub fn wire_name(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

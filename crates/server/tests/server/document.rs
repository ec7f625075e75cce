//! Checks answers against the OpenAPI document, more strictly than a validator would: a member that the
//! document does not name, or a keyword this file does not know, is a failure.

use searchwright_server::{app::App, http::openapi};
use serde_json::Value;

use crate::harness::Answer;

/// The document of a server.
pub struct Document(Value);

impl Document {
    pub fn of(app: &App) -> Self {
        Self(openapi::document(&app.engine.endpoints, &app.settings.base_url()))
    }

    /// Fails unless the document describes this answer.
    pub fn check(&self, method: &str, target: &str, answer: &Answer) {
        let path = target.split('?').next().unwrap_or_default();
        let Some(path) = path.strip_prefix("/v1") else {
            return;
        };
        let Some(operation) = self.operation(method, path) else {
            // Methods and addresses that are not there: the problem is the same everywhere.
            if answer.status >= 400 && method != "HEAD" {
                self.conforms(&reference("Problem"), &answer.json(), "problem");
            }
            return;
        };
        let place = format!("{method} {path} -> {}", answer.status);
        let responses = &operation["responses"];
        let response = responses.get(answer.status.to_string());
        let response = self.resolve(response.unwrap_or(&responses["default"]));
        assert!(response.is_object(), "{place} is not in the document: {answer:?}");
        let Some(kind) = answer.header("content-type") else {
            assert!(response.get("content").is_none(), "{place} has no content type");
            return assert!(answer.body.is_empty(), "{place} has a body without a type");
        };
        let content = &response["content"][kind];
        assert!(content.is_object(), "{place} as {kind} is not in the document");
        if method == "HEAD" {
            return;
        }
        let body = answer.json();
        if kind == "application/problem+json" {
            let code = body["code"].as_str().unwrap_or_default();
            assert!(
                response["description"]
                    .as_str()
                    .is_some_and(|text| text.contains(&format!("`{code}`: "))),
                "{place} does not name the code {code}"
            );
        }
        self.conforms(&content["schema"], &body, &place);
        for (name, header) in response["headers"].as_object().into_iter().flatten() {
            let header = self.resolve(header);
            if let Some(value) = answer.header(name) {
                let value = value.parse::<i64>().map_or_else(|_| value.into(), Value::from);
                self.conforms(&header["schema"], &value, &format!("{place}, header {name}"));
            }
        }
        for name in answer.headers.keys().map(http::HeaderName::as_str) {
            let ours = [
                "etag",
                "link",
                "location",
                "retry-after",
                "idempotency-replayed",
                "www-authenticate",
            ];
            let named = response["headers"]
                .as_object()
                .is_some_and(|all| all.keys().any(|k| k.eq_ignore_ascii_case(name)));
            assert!(
                named || !ours.contains(&name),
                "{place} carries {name}, which the document does not name"
            );
        }
    }

    fn operation(&self, method: &str, path: &str) -> Option<&Value> {
        let method = if method == "HEAD" {
            "get".to_owned()
        } else {
            method.to_lowercase()
        };
        let segments: Vec<&str> = path.split('/').collect();
        let fits = |template: &str| {
            let template: Vec<&str> = template.split('/').collect();
            let literal = template.iter().zip(&segments).filter(|(t, s)| t == s).count();
            let all = template.len() == segments.len()
                && template
                    .iter()
                    .zip(&segments)
                    .all(|(t, s)| t == s || t.starts_with('{') && !s.is_empty());
            all.then_some(literal)
        };
        let paths = self.0["paths"].as_object()?;
        let (_, item) = paths
            .iter()
            .filter_map(|(template, item)| Some((fits(template)?, item)))
            .max_by_key(|(literal, _)| *literal)?;
        item.get(method)
    }

    fn resolve<'a>(&'a self, mut value: &'a Value) -> &'a Value {
        while let Some(Value::String(reference)) = value.get("$ref") {
            value = self.0.pointer(reference.trim_start_matches('#')).unwrap();
        }
        value
    }

    /// JSON Schema 2020-12, as far as the document uses it.
    fn conforms(&self, schema: &Value, value: &Value, at: &str) {
        if let Err(why) = self.fault(schema, value) {
            panic!("{at}: {why}\n{value:#}");
        }
    }

    fn fault(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let schema = self.resolve(schema);
        if schema == &Value::Bool(true) {
            return Ok(());
        }
        let Some(keywords) = schema.as_object() else {
            return Err(format!("no schema: {schema}"));
        };
        let wrong = || Err(format!("{value} is not {schema}"));
        for (keyword, wanted) in keywords {
            let number = || (value.as_f64(), wanted.as_f64());
            match keyword.as_str() {
                "title" | "description" | "examples" | "default" | "additionalProperties" => {}
                "type" => {
                    let kinds = wanted.as_array().cloned().unwrap_or_else(|| vec![wanted.clone()]);
                    if !kinds.iter().any(|kind| is(kind.as_str().unwrap(), value)) {
                        return wrong();
                    }
                }
                "const" if value != wanted => return wrong(),
                "enum" if !wanted.as_array().unwrap().contains(value) => return wrong(),
                "const" | "enum" => {}
                "oneOf" | "anyOf" => {
                    let fit = wanted
                        .as_array()
                        .unwrap()
                        .iter()
                        .filter(|s| self.fault(s, value).is_ok())
                        .count();
                    if fit == 0 || keyword == "oneOf" && fit > 1 {
                        return wrong();
                    }
                }
                "format" if value.is_string() => format(wanted.as_str().unwrap(), value.as_str().unwrap())?,
                "format" => {}
                "minimum" => {
                    if let (Some(value), Some(least)) = number()
                        && value < least
                    {
                        return wrong();
                    }
                }
                "maximum" => {
                    if let (Some(value), Some(most)) = number()
                        && value > most
                    {
                        return wrong();
                    }
                }
                "minLength" | "maxLength" | "minItems" | "maxItems" => {
                    let wanted = wanted.as_u64().unwrap() as usize;
                    let size = match value {
                        Value::String(text) => text.chars().count(),
                        Value::Array(items) => items.len(),
                        _ => wanted,
                    };
                    if keyword.starts_with("min") && size < wanted
                        || keyword.starts_with("max") && size > wanted
                    {
                        return wrong();
                    }
                }
                "required" => {
                    let lacks =
                        |name: &Value| value.is_object() && value.get(name.as_str().unwrap()).is_none();
                    if let Some(name) = wanted.as_array().unwrap().iter().find(|name| lacks(name)) {
                        return Err(format!("{name} is missing"));
                    }
                }
                "items" => {
                    for item in value.as_array().into_iter().flatten() {
                        self.fault(wanted, item)?;
                    }
                }
                "properties" => self.members(keywords, value)?,
                other => return Err(format!("the keyword {other} is not known to this test")),
            }
        }
        if !keywords.contains_key("properties") {
            self.members(keywords, value)?;
        }
        Ok(())
    }

    fn members(&self, keywords: &serde_json::Map<String, Value>, value: &Value) -> Result<(), String> {
        let Some(members) = value.as_object() else {
            return Ok(());
        };
        let rest = keywords.get("additionalProperties");
        let open = !keywords.contains_key("properties") && rest.is_none();
        for (name, member) in members {
            match (keywords.get("properties").and_then(|p| p.get(name)), rest) {
                (Some(schema), _) => self
                    .fault(schema, member)
                    .map_err(|why| format!("{name}: {why}"))?,
                (None, Some(schema @ (Value::Object(_) | Value::Bool(true)))) => {
                    self.fault(schema, member)
                        .map_err(|why| format!("{name}: {why}"))?
                }
                _ if open => {}
                _ => return Err(format!("{name} is not in the document")),
            }
        }
        Ok(())
    }
}

fn reference(name: &str) -> Value {
    serde_json::json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        "number" => value.is_number(),
        other => panic!("type {other}"),
    }
}

fn format(format: &str, text: &str) -> Result<(), String> {
    let good = match format {
        "date-time" => searchwright_contract::Instant::from_text(text).is_ok_and(|at| at.to_string() == text),
        "uuid" => uuid::Uuid::try_parse(text).is_ok(),
        // Widths of numbers, which have no meaning for texts.
        "uint8" | "uint16" | "uint32" | "uint64" | "int64" | "double" => true,
        other => return Err(format!("the format {other} is not known to this test")),
    };
    if good {
        Ok(())
    } else {
        Err(format!("{text:?} is no {format}"))
    }
}

//! An example of each operation: a request that its schema accepts, in curl, TypeScript and Python.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use searchwright_contract::{Meta, Method};
use searchwright_engine::Endpoint;
use serde_json::{Map, Value, json};

/// Bytes that stand for themselves in a part of a URL (RFC 3986, 2.3).
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Longest body that curl is given in one line, in characters.
const MAX_LINE: usize = 90;

/// A request that shows an operation.
#[derive(Clone, Debug)]
pub(super) struct ExampleRequest {
    /// Row of the operation.
    pub meta: Meta,
    /// Path below the versioned root, with values for its parameters; `{projectId}` stays.
    pub path: String,
    /// Query, with its question mark.
    pub query: String,
    /// Body, where the operation takes one.
    pub body: Option<Value>,
}

/// Members that an operation takes only with others than those of its example.
struct LeftOut {
    operation: &'static str,
    members: &'static [&'static str],
}

const LEFT_OUT: &[LeftOut] = &[
    // For files without dates.
    LeftOut {
        operation: "reports.import",
        members: &["from", "to"],
    },
    // For the schedule of visibility.
    LeftOut {
        operation: "schedules.update",
        members: &["max_cost", "samples"],
    },
];

/// Returns the example of an operation.
pub(super) fn example_request(endpoint: &Endpoint) -> ExampleRequest {
    let schema = (endpoint.input)().to_value();
    let mut values = members(&schema, &schema, 0);
    let mut path = endpoint.meta.path.to_owned();
    for name in endpoint
        .meta
        .path_parameters()
        .filter(|name| *name != "projectId")
    {
        let value = values.shift_remove(name).unwrap_or_default();
        path = path.replace(&format!("{{{name}}}"), &plain(&value));
    }
    values.shift_remove("projectId");
    for left_out in LEFT_OUT
        .iter()
        .filter(|left_out| left_out.operation == endpoint.meta.name)
    {
        values.retain(|name, _| !left_out.members.contains(&name.as_str()));
    }
    let takes_body = matches!(endpoint.meta.method, Method::POST | Method::PATCH);
    let query = if takes_body || values.is_empty() {
        String::new()
    } else {
        let pairs: Vec<String> = values
            .iter()
            .map(|(name, value)| format!("{name}={}", utf8_percent_encode(&plain(value), UNRESERVED)))
            .collect();
        format!("?{}", pairs.join("&"))
    };
    ExampleRequest {
        meta: endpoint.meta,
        path,
        query,
        body: takes_body
            .then(|| Value::Object(values))
            .filter(|body| body != &json!({})),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Values of the members of an object that have to be there or have an example of their own.
fn members(schema: &Value, root: &Value, depth: u32) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|known| known == name))
    };
    let mut values = Map::new();
    for (name, member) in properties.into_iter().flatten() {
        if required(name) || has_example(member, root, depth) {
            values.insert(name.clone(), value_of(member, root, depth + 1));
        }
    }
    values
}

/// Returns whether somebody wrote an example for a member, or for the items of a list.
fn has_example(schema: &Value, root: &Value, depth: u32) -> bool {
    // A time that somebody wrote down lies in the past of those who read it.
    if depth > 4
        || target(schema, root)
            .get("format")
            .is_some_and(|format| format == "date-time")
    {
        return false;
    }
    let own = schema.get("examples").is_some();
    own || schema.get("items").is_some_and(|items| {
        let items = target(items, root);
        items.get("examples").is_some()
            || items
                .get("properties")
                .and_then(Value::as_object)
                .is_some_and(|members| {
                    members
                        .values()
                        .any(|member| has_example(member, root, depth + 1))
                })
    })
}

fn target<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let found = reference.and_then(|reference| root.pointer(reference.trim_start_matches('#')));
    found.unwrap_or(schema)
}

fn value_of(schema: &Value, root: &Value, depth: u32) -> Value {
    let own = schema.get("examples").and_then(|examples| examples.get(0));
    if let Some(example) = own.or_else(|| schema.get("const")) {
        return example.clone();
    }
    if depth > 6 {
        return Value::Null;
    }
    if schema.get("$ref").is_some() {
        return value_of(target(schema, root), root, depth + 1);
    }
    if let Some(first) = schema.get("enum").and_then(|words| words.get(0)) {
        return first.clone();
    }
    for several in ["oneOf", "anyOf"] {
        if let Some(first) = schema.get(several).and_then(|options| options.get(0)) {
            return value_of(first, root, depth + 1);
        }
    }
    match schema.get("type") {
        Some(Value::String(kind)) => match kind.as_str() {
            "object" => Value::Object(members(schema, root, depth + 1)),
            "array" => schema
                .get("items")
                .map_or_else(|| json!([]), |items| json!([value_of(items, root, depth + 1)])),
            "string" => "text".into(),
            "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
            "boolean" => true.into(),
            _ => Value::Null,
        },
        _ => Value::Null,
    }
}

impl ExampleRequest {
    /// Whether a repeated request has to be told from a second one.
    fn has_key(&self) -> bool {
        self.meta.effect.writes() && self.meta.method != Method::DELETE
    }

    fn has_answer(&self) -> bool {
        self.meta.effect.status() != 204
    }

    /// URL with a shell's, a template's or a format string's form of the project.
    fn url(&self, base: &str, project: &str) -> String {
        format!(
            "{base}{}{}",
            self.path.replace("{projectId}", project),
            self.query
        )
    }

    /// The request by curl.
    pub(super) fn curl(&self, base: &str) -> String {
        let mut text = format!("curl \"{}\"", self.url(base, "$PROJECT"));
        if self.meta.method != Method::GET {
            text = format!(
                "curl -X {} \"{}\"",
                self.meta.method.as_str(),
                self.url(base, "$PROJECT")
            );
        }
        text.push_str(" \\\n  -H \"Authorization: Bearer $SEARCHWRIGHT_KEY\"");
        if self.has_key() {
            text.push_str(" \\\n  -H \"Idempotency-Key: $(uuidgen)\"");
        }
        if let Some(body) = &self.body {
            let line = body.to_string();
            let body = if line.chars().count() > MAX_LINE {
                pretty(body, "")
            } else {
                line
            };
            let _ = write!(
                text,
                " \\\n  -H 'Content-Type: application/json' \\\n  -d '{}'",
                body.replace('\'', "'\\''")
            );
        }
        text
    }

    /// The request by `fetch`, as browsers, Node.js, Deno and Bun have it.
    pub(super) fn typescript(&self, base: &str) -> String {
        let url = self.url(base, "${process.env.PROJECT}");
        let mut text = format!("const response = await fetch(`{url}`, {{\n");
        if self.meta.method != Method::GET {
            let _ = writeln!(text, "  method: \"{}\",", self.meta.method.as_str());
        }
        text.push_str("  headers: {\n    Authorization: `Bearer ${process.env.SEARCHWRIGHT_KEY}`,\n");
        if self.has_key() {
            text.push_str("    \"Idempotency-Key\": crypto.randomUUID(),\n");
        }
        if self.body.is_some() {
            text.push_str("    \"Content-Type\": \"application/json\",\n");
        }
        text.push_str("  },\n");
        if let Some(body) = &self.body {
            let _ = writeln!(text, "  body: JSON.stringify({}),", pretty(body, "  "));
        }
        text.push_str("});\nif (!response.ok) throw new Error(await response.text());\n");
        if self.has_answer() {
            text.push_str("console.log(await response.json());\n");
        }
        text
    }

    /// The request by the standard library of Python.
    pub(super) fn python(&self, base: &str) -> String {
        let mut text = "import json, os, urllib.request".to_owned();
        if self.has_key() {
            text.push_str(", uuid");
        }
        let url = self.url(base, "{os.environ['PROJECT']}");
        let _ = write!(
            text,
            "\n\nrequest = urllib.request.Request(\n    f\"{url}\",\n    method=\"{}\",\n    headers={{\n        \
             \"Authorization\": f\"Bearer {{os.environ['SEARCHWRIGHT_KEY']}}\",\n",
            self.meta.method.as_str()
        );
        if self.has_key() {
            text.push_str("        \"Idempotency-Key\": str(uuid.uuid4()),\n");
        }
        if self.body.is_some() {
            text.push_str("        \"Content-Type\": \"application/json\",\n");
        }
        text.push_str("    },\n");
        if let Some(body) = &self.body {
            let mut literal = String::new();
            write_python(&mut literal, body, "    ");
            let _ = writeln!(text, "    data=json.dumps({literal}).encode(),");
        }
        text.push_str(")\nwith urllib.request.urlopen(request) as response:\n");
        text.push_str(if self.has_answer() {
            "    print(json.load(response))\n"
        } else {
            "    print(response.status)\n"
        });
        text
    }
}

/// JSON over several lines, of which all but the first are indented.
fn pretty(value: &Value, indent: &str) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &format!("\n{indent}"))
}

/// Writes a value as Python writes it. Strings are the same as in JSON.
fn write_python(out: &mut String, value: &Value, indent: &str) {
    let inner = format!("{indent}    ");
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write_python(out, item, indent);
            }
            out.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            out.push_str("{\n");
            for (name, member) in members {
                let _ = write!(out, "{inner}{}: ", Value::from(name.as_str()));
                write_python(out, member, &inner);
                out.push_str(",\n");
            }
            out.push_str(indent);
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use searchwright_contract::{Effect, Meta, Method, Reach, Scope};
    use serde_json::json;

    use super::ExampleRequest;

    #[test]
    fn a_request_is_the_same_in_every_language() {
        let request = ExampleRequest {
            meta: Meta {
                name: "desks.create",
                method: Method::POST,
                path: "/projects/{projectId}/desks",
                scope: Scope::PostsWrite,
                effect: Effect::Create,
                reach: Reach::Local,
                errors: &[],
            },
            path: "/projects/{projectId}/desks".to_owned(),
            query: String::new(),
            body: Some(json!({ "name": "Ann's desk", "high": true, "legs": [null, 4] })),
        };
        assert_eq!(
            request.curl("http://h/v1"),
            "curl -X POST \"http://h/v1/projects/$PROJECT/desks\" \\\n  -H \"Authorization: Bearer $SEARCHWRIGHT_KEY\" \\\n  \
             -H \"Idempotency-Key: $(uuidgen)\" \\\n  -H 'Content-Type: application/json' \\\n  \
             -d '{\"name\":\"Ann'\\''s desk\",\"high\":true,\"legs\":[null,4]}'"
        );
        let typescript = request.typescript("http://h/v1");
        assert!(typescript.contains("fetch(`http://h/v1/projects/${process.env.PROJECT}/desks`"));
        assert!(
            typescript.contains("\n    \"name\": \"Ann's desk\",\n"),
            "{typescript}"
        );
        let python = request.python("http://h/v1");
        assert!(python.contains("f\"http://h/v1/projects/{os.environ['PROJECT']}/desks\""));
        assert!(
            python.contains("        \"high\": True,\n        \"legs\": [None, 4],\n    }).encode()"),
            "{python}"
        );
    }
}

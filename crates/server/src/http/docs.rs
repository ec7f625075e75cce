//! The API as pages: one document, made from the same table, with no asset from another host.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use axum::{body::Body, extract::State};
use http::{HeaderMap, HeaderValue, Response, header};
use searchwright_contract::{Code, Scope};
use searchwright_engine::Endpoint;
use serde_json::Value;

use super::kept::KeptDocument;
use crate::{app::App, dashboard::page};

const HTML: &str = "text/html; charset=utf-8";

/// Serves the page to anyone.
pub async fn serve(State(app): State<Arc<App>>, request: HeaderMap) -> Response<Body> {
    let kept = app.docs.get_or_init(|| KeptDocument::new(whole_page(&app)));
    closed(kept.answer(&request, HTML))
}

/// A page that loads nothing and runs nothing.
pub(super) fn html(page: String) -> Response<Body> {
    let mut response = Response::new(Body::from(page));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
    closed(response)
}

fn closed(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Text as it may stand in HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Paragraphs with `code`; the little of Markdown that the descriptions use.
fn prose(text: &str) -> String {
    let mut html = String::new();
    for paragraph in text.split("\n\n").filter(|p| !p.trim().is_empty()) {
        let mut inside = false;
        html.push_str("<p>");
        for (at, part) in escape(paragraph).split('`').enumerate() {
            if at > 0 {
                inside = !inside;
                html.push_str(if inside { "<code>" } else { "</code>" });
            }
            html.push_str(part);
        }
        html.push_str(if inside { "</code></p>" } else { "</p>" });
    }
    html
}

fn whole_page(app: &App) -> String {
    let mut html = String::with_capacity(64 * 1024);
    let base = escape(&app.settings.base_url());
    html.push_str(&page::head("Searchwright API"));
    html.push_str("<body class=\"app docs\"><a class=\"skip\" href=\"#main\">Skip to content</a>");
    html.push_str(page::TOP);
    html.push_str("<div class=\"shell\"><nav class=\"side\" aria-label=\"Operations\"><ul>");
    for endpoint in &app.engine.endpoints {
        let _ = write!(html, "<li><a href=\"#{0}\">{0}</a></li>", endpoint.meta.name);
    }
    html.push_str(
        "<li><a href=\"#errors\">errors</a></li><li><a href=\"#scopes\">scopes</a></li><li><a href=\"#types\">types</a></li></ul></nav><main id=\"main\">",
    );
    let _ = write!(
        html,
        "<h1>Searchwright API</h1><p>Base address <code>{base}</code>. The same as <a href=\"/v1/openapi.json\">OpenAPI 3.1</a>.</p>\
         <pre tabindex=\"0\"><code>curl -H \"Authorization: Bearer $KEY\" {base}/me</code></pre>"
    );
    for endpoint in &app.engine.endpoints {
        operation(&mut html, endpoint);
    }
    html.push_str("<section id=\"errors\"><h2>Errors</h2><p>Every error is an <code>application/problem+json</code> document (RFC 9457). <code>code</code> is stable.</p><div class=\"wide\"><table class=\"stack\"><thead><tr><th scope=\"col\">Status</th><th scope=\"col\">Code</th><th scope=\"col\">Meaning</th></tr></thead><tbody>");
    for code in Code::ALL {
        let _ = write!(
            html,
            "<tr id=\"{0}\"><td>{1}</td><td><code>{0}</code></td><td>{2}</td></tr>",
            code.as_str(),
            code.status(),
            escape(code.title())
        );
    }
    html.push_str("</tbody></table></div></section><section id=\"scopes\"><h2>Scopes</h2><div class=\"wide\"><table class=\"stack\"><thead><tr><th scope=\"col\">Scope</th><th scope=\"col\">Lets a caller</th></tr></thead><tbody>");
    for scope in Scope::ALL {
        let _ = write!(
            html,
            "<tr><td><code>{}</code></td><td>{}</td></tr>",
            scope.as_str(),
            escape(scope.help())
        );
    }
    html.push_str("</tbody></table></div></section>");
    types(&mut html, &app.engine.endpoints);
    html.push_str("</main></div></body></html>");
    html
}

/// Objects that stand inside answers, each once.
fn types(html: &mut String, endpoints: &[Endpoint]) {
    let mut all = BTreeMap::new();
    for endpoint in endpoints {
        let answer = (endpoint.answer)().to_value();
        for (name, definition) in answer
            .get("$defs")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            if definition.get("properties").is_some() {
                all.insert(name.clone(), (definition.clone(), answer["$defs"].clone()));
            }
        }
    }
    html.push_str("<section id=\"types\"><h2>Types</h2>");
    for (name, (mut definition, definitions)) in all {
        definition["$defs"] = definitions;
        let _ = write!(
            html,
            "<h3 id=\"type-{0}\">{0}</h3>{1}",
            escape(&name),
            prose(definition["description"].as_str().unwrap_or_default())
        );
        members(html, "", &definition);
    }
    html.push_str("</section>");
}

fn operation(html: &mut String, endpoint: &Endpoint) {
    let meta = &endpoint.meta;
    let scope = match meta.scope {
        Scope::Any | Scope::OfRecord => meta.scope.help(),
        scope => scope.as_str(),
    };
    let _ = write!(
        html,
        "<section id=\"{0}\"><h2>{0}</h2><p class=\"line\"><b>{1}</b> <code>{2}</code></p>{3}<dl><dt>Scope</dt><dd><code>{4}</code></dd><dt>Success</dt><dd>{5}</dd></dl>",
        meta.name,
        meta.method.as_str(),
        escape(meta.path),
        prose(&endpoint.description),
        scope,
        meta.effect.status(),
    );
    members(html, "Takes", &(endpoint.input)().to_value());
    if meta.effect.status() != 204 {
        members(html, "Answers", &(endpoint.answer)().to_value());
    }
    html.push_str("</section>");
}

fn members(html: &mut String, title: &str, schema: &Value) {
    let Some(properties) = schema
        .get("properties")
        .and_then(Value::as_object)
        .filter(|p| !p.is_empty())
    else {
        return;
    };
    let required = |name: &str| {
        schema["required"]
            .as_array()
            .is_some_and(|r| r.iter().any(|n| n == name))
    };
    let heading = if title.is_empty() {
        String::new()
    } else {
        format!("<h3 class=\"after\">{title}</h3>")
    };
    let _ = write!(
        html,
        "{heading}<div class=\"wide\"><table class=\"stack\"><thead><tr><th scope=\"col\">Member</th><th scope=\"col\">Type</th><th scope=\"col\">Meaning</th></tr></thead><tbody>"
    );
    for (name, member) in properties {
        let mark = if title == "Takes" && required(name) {
            " <em>required</em>"
        } else {
            ""
        };
        let description = member
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let _ = write!(
            html,
            "<tr><td><code>{}</code>{mark}</td><td>{}</td><td>{}</td></tr>",
            escape(name),
            escape(&kind(member, schema)),
            prose(description)
        );
    }
    html.push_str("</tbody></table></div>");
}

fn kind(member: &Value, root: &Value) -> String {
    if let Some(name) = member
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|r| r.rsplit('/').next())
    {
        let words = root["$defs"][name].get("oneOf").and_then(Value::as_array);
        let words = words.map(|w| {
            w.iter()
                .filter_map(|o| o.get("const").and_then(Value::as_str))
                .collect::<Vec<_>>()
                .join(", ")
        });
        return words.filter(|w| !w.is_empty()).unwrap_or_else(|| name.to_owned());
    }
    if let Some(any) = member.get("anyOf").and_then(Value::as_array) {
        return any.iter().map(|a| kind(a, root)).collect::<Vec<_>>().join(" or ");
    }
    let mut text = match member.get("type") {
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" or "),
        Some(Value::String(name)) if name == "array" => {
            format!(
                "array of {}",
                member
                    .get("items")
                    .map_or_else(|| "anything".to_owned(), |i| kind(i, root))
            )
        }
        Some(Value::String(name)) => name.clone(),
        _ => "anything".to_owned(),
    };
    for (key, word) in [
        ("format", ""),
        ("minimum", "from "),
        ("maximum", "to "),
        ("minLength", "at least "),
        ("maxLength", "at most "),
    ] {
        if let Some(value) = member.get(key) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = write!(text, ", {word}{value}");
        }
    }
    text
}

//! The committed OpenAPI document is what the server serves.

use searchwright_contract::events::EventType;
use serde_json::Value;

use crate::harness::Bench;

/// Fails when the API changed unannounced; `UPDATE_OPENAPI=1 cargo nextest run -p searchwright-server openapi`
/// writes `openapi.json` anew.
#[tokio::test]
async fn the_openapi_document_is_committed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi.json");
    let bench = Bench::with(&["public_url=http://127.0.0.1:8787"]).await;
    let served = bench
        .http
        .get(format!("http://{}/v1/openapi.json", bench.server.addresses.api))
        .send()
        .await
        .unwrap();
    assert_eq!(served.headers()["content-type"], "application/json");
    assert_eq!(served.headers()["access-control-allow-origin"], "*");
    let document: Value = serde_json::from_slice(&served.bytes().await.unwrap()).unwrap();
    let text = format!("{document:#}\n");
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    if text != committed {
        let line = text.lines().zip(committed.lines()).position(|(a, b)| a != b);
        let line = line.unwrap_or_else(|| text.lines().count().min(committed.lines().count()));
        let around = |of: &str| {
            of.lines()
                .skip(line.saturating_sub(3))
                .take(8)
                .collect::<Vec<_>>()
                .join("\n")
        };
        panic!(
            "openapi.json differs from line {}:\nserved:\n{}\ncommitted:\n{}",
            line + 1,
            around(&text),
            around(&committed)
        );
    }
}

/// The plugin for coding agents carries the skill as a server with the default addresses serves it.
#[tokio::test]
async fn the_skill_of_the_plugin_is_committed() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../plugins/searchwright/skills/searchwright/SKILL.md"
    );
    let bench = Bench::with(&[
        "public_url=http://127.0.0.1:8787",
        "mcp_url=http://127.0.0.1:8788/mcp",
    ])
    .await;
    let url = format!("http://{}/skill.md", bench.server.addresses.api);
    let served = bench.http.get(url).send().await.unwrap().text().await.unwrap();
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(path, &served).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(served, committed, "UPDATE_OPENAPI=1 writes it anew");
}

/// Clients install a plugin anew when its version changes.
#[test]
fn packages_have_the_version_of_the_program() {
    for manifest in [
        "searchwright/.claude-plugin/plugin.json",
        "searchwright/.codex-plugin/plugin.json",
        "mcpb/manifest.json",
    ] {
        let path = format!("{}/../../plugins/{manifest}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let manifest: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    }
}

/// Guides for agents name operations that exist, and the addresses of this installation.
#[tokio::test]
async fn guides_name_what_there_is() {
    let bench = Bench::start().await;
    let operations: Vec<&str> = bench.endpoints().iter().map(|e| e.meta.name).collect();
    for path in ["/skill.md", "/llms.txt"] {
        let url = format!("http://{}{path}", bench.server.addresses.api);
        let served = bench.http.get(url).send().await.unwrap();
        assert_eq!(served.status(), 200);
        assert_eq!(served.headers()["content-type"], "text/markdown; charset=utf-8");
        let text = served.text().await.unwrap();
        let settings = &bench.server.app.settings;
        for address in [&settings.public_url, &settings.base_url(), &settings.mcp_url] {
            assert!(text.contains(address.as_str()), "{path} lacks {address}");
        }
        let named = text.split('`').skip(1).step_by(2).filter(|code| {
            code.split_once('.').is_some_and(|(resource, verb)| {
                [resource, verb]
                    .iter()
                    .all(|part| part.bytes().all(|b| b.is_ascii_lowercase()))
            })
        });
        for name in named {
            let is_event = EventType::ALL.iter().any(|kind| kind.as_str() == name);
            assert!(is_event || operations.contains(&name), "{path} names {name}");
        }
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| link.contains("/docs")) {
            let (address, part) = link.split_once('#').unwrap_or((link, ""));
            let page = bench
                .http
                .get(address)
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(page.contains("<h1") && page.contains(part), "{path}: {link}");
        }
        for name in &operations {
            let verb = name.split('.').next_back().unwrap_or_default();
            assert!(text.contains(verb), "{path} lacks {name}");
        }
    }
}

/// Whoever reads only the document can call everything: no reference leads nowhere, every operation says who
/// may call it and how it fails, every text and list of a request has a bound.
#[tokio::test]
async fn the_document_is_whole() {
    let bench = Bench::start().await;
    let document =
        searchwright_server::http::openapi::document(bench.endpoints(), "http://127.0.0.1:8787/v1");
    assert_eq!(document["openapi"], "3.1.0");
    let size = document.to_string().len();
    assert!(
        size < 450_000,
        "{size} bytes are too many for tools that read it whole"
    );
    references(&document, &document);
    let mut tags: Vec<&str> = document["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| tag["name"].as_str().unwrap())
        .collect();
    let all = tags.len();
    tags.sort_unstable();
    tags.dedup();
    assert_eq!(tags.len(), all, "a tag stands twice");
    let mut ids = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            ids.push(name.to_owned());
            assert!(!operation["summary"].as_str().unwrap().is_empty(), "{name}");
            for status in ["400", "422", "default"] {
                assert!(operation["responses"][status].is_object(), "{name} {status}");
            }
            let declared: Vec<&str> = parameters(&document, operation)
                .filter(|p| p["in"] == "path")
                .map(|p| p["name"].as_str().unwrap())
                .collect();
            let wanted: Vec<&str> = path
                .split('/')
                .filter_map(|s| s.strip_prefix('{')?.strip_suffix('}'))
                .collect();
            assert_eq!(declared, wanted, "{name}");
            for parameter in parameters(&document, operation).filter(|p| p["in"] != "path") {
                bounded(
                    &document,
                    &parameter["schema"],
                    &format!("{method} {name} {}", parameter["name"]),
                );
            }
            bounded(
                &document,
                &operation["requestBody"]["content"]["application/json"]["schema"],
                name,
            );
        }
    }
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), ids.len());
    assert_eq!(ids.len(), bench.endpoints().len());
}

/// Parameters of an operation, those that it shares with others included.
fn parameters<'a>(document: &'a Value, operation: &'a Value) -> impl Iterator<Item = &'a Value> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    parameters.map(|parameter| match parameter["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => parameter,
    })
}

fn references(document: &Value, value: &Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                assert!(
                    document.pointer(reference.trim_start_matches('#')).is_some(),
                    "{reference} leads nowhere"
                );
            }
            members.values().for_each(|v| references(document, v));
        }
        Value::Array(items) => items.iter().for_each(|v| references(document, v)),
        _ => {}
    }
}

fn bounded(document: &Value, schema: &Value, at: &str) {
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    let is = |kind: &str| {
        schema["type"] == kind
            || schema["type"]
                .as_array()
                .is_some_and(|t| t.iter().any(|t| t == kind))
    };
    if is("string")
        && schema.get("enum").is_none()
        && schema.get("oneOf").is_none()
        && schema.get("format").is_none()
    {
        assert!(
            schema.get("maxLength").is_some(),
            "{at}: a text without a bound: {schema}"
        );
    }
    if is("array") {
        assert!(
            schema.get("maxItems").is_some(),
            "{at}: a list without a bound: {schema}"
        );
        bounded(document, &schema["items"], at);
    }
    if is("integer") || is("number") {
        assert!(
            schema.get("maximum").is_some() && schema.get("minimum").is_some(),
            "{at}: a number without bounds: {schema}"
        );
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        bounded(document, member, &format!("{at} {name}"));
    }
}

/// Documents are made once, so asking for them costs nothing but their bytes, and those only once.
#[tokio::test]
async fn documents_are_kept_and_not_sent_again() {
    let bench = Bench::start().await;
    for path in [
        "/docs",
        "/docs/tutorial",
        "/docs/reference/posts",
        "/docs/report.png",
        "/v1/openapi.json",
    ] {
        let url = format!("http://{}{path}", bench.server.addresses.api);
        let first = bench.http.get(&url).send().await.unwrap();
        assert_eq!(first.status(), 200);
        let tag = first.headers()["etag"].clone();
        let first = first.bytes().await.unwrap();
        let same = bench.http.get(&url).header("if-none-match", "\"x\"");
        let same = same.send().await.unwrap();
        assert_eq!((same.status().as_u16(), &same.headers()["etag"]), (200, &tag));
        assert_eq!(same.bytes().await.unwrap(), first);
        let known = bench.http.get(&url).header("if-none-match", &tag);
        let known = known.send().await.unwrap();
        assert_eq!((known.status().as_u16(), &known.headers()["etag"]), (304, &tag));
        assert!(known.bytes().await.unwrap().is_empty());
    }
    let app = &bench.server.app;
    assert!(app.docs.get().is_some() && app.openapi.get().is_some());
    for path in ["/docs/nothing", "/docs/tutorial.md"] {
        let url = format!("http://{}{path}", bench.server.addresses.api);
        assert_eq!(bench.http.get(&url).send().await.unwrap().status(), 404, "{path}");
    }
}

//! MCP over HTTP: the same table as tools, in the revision with a handshake and in the one without.

use searchwright_engine::{Endpoint, admin::Grant};
use searchwright_store::sql;
use serde_json::{Value, json};

use crate::harness::{Answer, Bench};

const HANDSHAKE: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";

/// Tools that are listed whatever is chosen, before the others.
const ABOUT_TOOLS: [&str; 5] = ["tools_find", "tools_read", "tools_change", "search", "fetch"];
/// Query of the address that lists every tool.
const ALL: &str = "?toolsets=all";

/// A JSON-RPC request over HTTP with these headers.
async fn send(bench: &Bench, headers: &[(&str, &str)], body: &Value) -> Answer {
    send_at(bench, "", headers, body).await
}

pub async fn send_at(bench: &Bench, query: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let url = format!("http://{}/mcp{query}", bench.server.addresses.mcp);
    let mut request = bench
        .http
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.body(body.to_string()).send().await.unwrap();
    Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        body: response.bytes().await.unwrap().to_vec(),
    }
}

/// A call in the revision with a handshake, without having shaken hands: the server keeps no session.
pub async fn call(bench: &Bench, method: &str, params: Value) -> Value {
    call_at(bench, "", method, params).await
}

pub async fn call_at(bench: &Bench, query: &str, method: &str, params: Value) -> Value {
    let bearer = format!("Bearer {}", bench.key);
    let headers = [
        ("authorization", bearer.as_str()),
        ("mcp-protocol-version", HANDSHAKE),
    ];
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let answer = send_at(bench, query, &headers, &request).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    answer.json()
}

pub async fn tool(bench: &Bench, name: &str, arguments: Value) -> Value {
    let answer = call(
        bench,
        "tools/call",
        json!({ "name": name, "arguments": arguments }),
    )
    .await;
    answer["result"].clone()
}

/// A call in the revision without a handshake: everything the server has to know comes with it.
async fn stateless(bench: &Bench, method: &str, name: Option<&str>, mut params: Value) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let bearer = format!("Bearer {}", bench.key);
    let mut headers = vec![
        ("authorization", bearer.as_str()),
        ("mcp-protocol-version", STATELESS),
        ("mcp-method", method),
    ];
    headers.extend(name.map(|name| ("mcp-name", name)));
    send(
        bench,
        &headers,
        &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }),
    )
    .await
}

/// The operations that a key with all scopes sees as tools: all but those that choose among projects.
fn for_keys(bench: &Bench) -> Vec<&Endpoint> {
    let choose = ["projects.list", "projects.get"];
    bench
        .endpoints()
        .iter()
        .filter(|endpoint| !choose.contains(&endpoint.meta.name))
        .collect()
}

#[tokio::test]
async fn nothing_is_answered_without_a_credential() {
    let bench = Bench::with(&["limits.failed_authentications_per_minute=4"]).await;
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let bearer = format!("Bearer {}", bench.key);
    for headers in [
        vec![],
        vec![("authorization", "Bearer swk_x")],
        vec![("authorization", "Basic x")],
        vec![("cookie", bearer.as_str())],
    ] {
        let answer = send(&bench, &headers, &request).await;
        assert_eq!(answer.status, 401);
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"));
        assert!(!String::from_utf8_lossy(&answer.body).contains("keywords"));
    }
    let guessing = send(&bench, &[], &request).await;
    assert_eq!(
        (guessing.status, guessing.number("retry-after")),
        (429, 15),
        "guesses here and at the API count together"
    );
    let api = format!("http://{}/mcp", bench.server.addresses.api);
    assert_eq!(
        bench
            .http
            .post(api)
            .bearer_auth(&bench.key)
            .send()
            .await
            .unwrap()
            .status(),
        404,
        "a listener of its own"
    );
    let on_mcp = format!("http://{}/v1/me", bench.server.addresses.mcp);
    assert_eq!(
        bench
            .http
            .get(on_mcp)
            .bearer_auth(&bench.key)
            .send()
            .await
            .unwrap()
            .status(),
        404
    );
}

#[tokio::test]
async fn a_handshake_and_then_tools() {
    let bench = Bench::start().await;
    let hello = call(&bench, "initialize", json!({ "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } })).await;
    assert_eq!(hello["result"]["protocolVersion"], HANDSHAKE);
    assert_eq!(hello["result"]["serverInfo"]["name"], "searchwright");
    assert!(hello["result"]["capabilities"]["tools"].is_object());
    assert!(
        hello["result"]["instructions"]
            .as_str()
            .unwrap()
            .contains("me_get")
    );
    assert_eq!(call(&bench, "ping", json!({})).await["result"], json!({}));
    let made = tool(
        &bench,
        "keywords_create",
        json!({ "keyword": "standing desk", "searchVolume": 5 }),
    )
    .await;
    assert_eq!(made["isError"], false, "{made:#}");
    let structured = &made["structuredContent"];
    assert_eq!(
        (&structured["keyword"], &structured["searchVolume"]),
        (&json!("standing desk"), &json!(5))
    );
    let text: Value = serde_json::from_str(made["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        &text, structured,
        "clients without structured content read the same"
    );
    assert_eq!(
        bench.keywords().await,
        ["standing desk"],
        "the project is that of the key"
    );
    let by_id = tool(
        &bench,
        "keywords_get",
        json!({ "projectId": bench.project, "keywordId": structured["id"] }),
    )
    .await;
    assert_eq!(&by_id["structuredContent"], structured);
    let me = tool(&bench, "me_get", json!({})).await;
    assert_eq!(me["structuredContent"]["project"]["id"], json!(bench.project));
    let gone = tool(
        &bench,
        "keywords_delete",
        json!({ "keywordId": structured["id"] }),
    )
    .await;
    assert_eq!(gone["structuredContent"], json!({ "done": true }));
    let items = json!([{ "name": "Oak desk", "price": { "amount": 499.5, "currency": "EUR" } }, { "name": "Pine desk" }]);
    let added = tool(&bench, "products_create", json!({ "items": items })).await;
    assert_eq!(added["isError"], false, "{added:#}");
    let desk = &added["structuredContent"]["data"][0]["item"];
    assert_eq!(desk["price"], items[0]["price"]);
    let retired = json!({ "productId": desk["id"], "status": "retired" });
    let retired = tool(&bench, "products_update", retired).await;
    assert_eq!(retired["structuredContent"]["status"], "retired");
    let again = tool(
        &bench,
        "products_create",
        json!({ "items": [{ "name": "oak desk" }], "onDuplicate": "skip" }),
    )
    .await;
    assert_eq!(again["structuredContent"]["data"][0]["existingId"], desk["id"]);
    let faulty = tool(
        &bench,
        "products_create",
        json!({ "items": [{ "name": "x" }, { "id": "y", "name": "z" }] }),
    )
    .await;
    assert_eq!(faulty["isError"], true);
    let problem: Value = serde_json::from_str(faulty["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&problem["errors"][0]["pointer"], &problem["errors"][0]["code"]),
        (&json!("/items/1/id"), &json!("read_only"))
    );
    let brand = tool(&bench, "brand_update", json!({ "tone": "plain" })).await;
    assert_eq!(brand["structuredContent"]["tone"], "plain");
    let started = tool(&bench, "audits_start", json!({ "maxPages": 3 })).await;
    assert_eq!(started["structuredContent"]["alreadyRunning"], false);
}

#[tokio::test]
async fn without_a_handshake() {
    let bench = Bench::start().await;
    let found = stateless(&bench, "server/discover", None, json!({})).await;
    assert_eq!(found.status, 200, "{found:?}");
    let found = found.json();
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(STATELESS)), "{found:#}");
    let tools = stateless(&bench, "tools/list", None, json!({})).await.json();
    assert_eq!(tools["result"]["tools"][0]["name"], "tools_find");
    assert_eq!(
        tools["result"]["cacheScope"], "private",
        "{:#}",
        tools["result"]["cacheScope"]
    );
    let made = stateless(
        &bench,
        "tools/call",
        Some("keywords_create"),
        json!({ "name": "keywords_create", "arguments": { "keyword": "desk" } }),
    )
    .await;
    assert_eq!(
        (
            made.status,
            &made.json()["result"]["structuredContent"]["keyword"]
        ),
        (200, &json!("desk"))
    );
    let lying = stateless(
        &bench,
        "tools/call",
        Some("me_get"),
        json!({ "name": "keywords_create", "arguments": { "keyword": "chair" } }),
    )
    .await;
    assert_eq!(lying.status, 400, "header and body name different tools");
    let unknown = stateless(&bench, "tools/sell", None, json!({})).await;
    assert_eq!(unknown.status, 404);
    assert_eq!(bench.keywords().await, ["desk"]);
}

/// A refusal is a result that the model reads: the problem, with its code and the next step.
#[tokio::test]
async fn a_refusal_carries_the_problem() {
    let bench = Bench::start().await;
    let (foreign, _) = bench.neighbour().await;
    bench.keyword("desk").await;
    for (name, arguments, code) in [
        ("keywords_create", json!({ "keyword": "desk" }), "already_exists"),
        ("keywords_create", json!({ "keyword": "" }), "validation_failed"),
        (
            "keywords_create",
            json!({ "keyword": "x", "id": 1 }),
            "unknown_field",
        ),
        ("keywords_get", json!({ "keywordId": "x" }), "not_found"),
        (
            "keywords_list",
            json!({ "projectId": foreign }),
            "project_forbidden",
        ),
        ("keywords_list", json!({ "projectId": 5 }), "project_forbidden"),
        ("keywords_list", json!({ "cursor": "x" }), "invalid_cursor"),
        ("keywords_list", json!({ "limit": 0 }), "validation_failed"),
        ("audits_current", json!({}), "not_found"),
    ] {
        let refused = tool(&bench, name, arguments.clone()).await;
        assert_eq!(refused["isError"], true, "{name} {arguments}: {refused:#}");
        let problem: Value = serde_json::from_str(refused["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(problem["code"], code, "{name} {arguments}");
        assert!(problem["requestId"].as_str().unwrap().starts_with("req_"));
        assert!(problem["detail"].is_string() && problem["status"].is_u64());
    }
    let unknown = call(&bench, "tools/call", json!({ "name": "keywords_explode" })).await;
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(
        unknown["error"]["message"]
            .as_str()
            .unwrap()
            .contains("keywords_explode")
    );
    let reader = bench.key_for(bench.project, &["keywords:read"]).await;
    let bearer = format!("Bearer {reader}");
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "keywords_create", "arguments": { "keyword": "x" } } });
    let refused = send(&bench, &[("authorization", &bearer)], &request).await.json();
    assert!(
        refused["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("insufficient_scope")
    );
}

#[tokio::test]
async fn a_quota_is_the_same_through_both_doors() {
    let bench = Bench::with(&["limits.requests_per_minute=2"]).await;
    tool(&bench, "me_get", json!({})).await;
    assert_eq!(bench.get("/me").await.number("ratelimit-remaining"), 0);
    let refused = tool(&bench, "me_get", json!({})).await;
    assert!(
        refused["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("rate_limit_exceeded")
    );
}

#[tokio::test]
async fn foreign_pages_cannot_speak_to_a_local_server() {
    let bench = Bench::start().await;
    let bearer = format!("Bearer {}", bench.key);
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for (name, value, status) in [
        ("host", "evil.example", 403),
        ("host", "127.0.0.1.evil.example", 403),
        ("host", "localhost:1", 200),
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://localhost.evil.example", 403),
        ("origin", "http://localhost:3000", 200),
        ("origin", "http://127.0.0.1:9", 200),
    ] {
        let answer = send(&bench, &[("authorization", &bearer), (name, value)], &request).await;
        assert_eq!(answer.status, status, "{name}: {value}");
    }
    let own = format!("http://{}", bench.server.addresses.api);
    let answer = send(&bench, &[("authorization", &bearer), ("origin", &own)], &request).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("*"),
        "a page that is let in may read the answer"
    );
    let preflight = bench
        .http
        .request(
            http::Method::OPTIONS,
            format!("http://{}/mcp", bench.server.addresses.mcp),
        )
        .header("origin", own)
        .send()
        .await
        .unwrap();
    assert_eq!(preflight.status(), 204);
    assert!(
        preflight.headers()["access-control-allow-headers"]
            .to_str()
            .unwrap()
            .contains("Mcp-Method")
    );
}

#[tokio::test]
async fn what_is_no_request_is_refused() {
    let bench = Bench::start().await;
    let bearer = format!("Bearer {}", bench.key);
    let url = format!("http://{}/mcp", bench.server.addresses.mcp);
    let post = async |kind: &str, accept: &str, body: String| {
        let request = bench
            .http
            .post(&url)
            .header("authorization", &bearer)
            .header("content-type", kind)
            .header("accept", accept);
        request.body(body).send().await.unwrap().status().as_u16()
    };
    let (json, both) = ("application/json", "application/json, text/event-stream");
    let good = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned();
    assert_eq!(post(json, both, good.clone()).await, 200);
    assert_eq!(post("text/plain", both, good.clone()).await, 415);
    assert_eq!(post(json, "text/html", good).await, 406);
    assert!(matches!(post(json, both, "{".to_owned()).await, 400 | 415 | 422));
    assert_eq!(
        post(
            json,
            both,
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"{}\"}}",
                "x".repeat(1 << 20)
            )
        )
        .await,
        413
    );
    for method in [http::Method::GET, http::Method::DELETE, http::Method::PUT] {
        let answer = bench
            .http
            .request(method, &url)
            .header("authorization", &bearer)
            .header("accept", both)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 405);
    }
}

/// Clients check schemas before they use a list of tools, and refuse the whole list for one.
#[tokio::test]
async fn schemas_are_what_clients_accept() {
    fn check(value: &Value, tool: &str) {
        match value {
            Value::Object(members) => {
                let format = members.get("format").and_then(Value::as_str).unwrap_or_default();
                assert!(!format.contains("int"), "{tool}: {format}");
                members.values().for_each(|member| check(member, tool));
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, tool)),
            _ => {}
        }
    }
    let bench = Bench::start().await;
    let tools = call_at(&bench, ALL, "tools/list", json!({})).await["result"]["tools"].clone();
    let tools = tools.as_array().unwrap();
    assert!(tools.len() > 50);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        for schema in ["inputSchema", "outputSchema"] {
            let Some(schema) = tool.get(schema) else { continue };
            assert_eq!(schema["type"], "object", "{name}");
            check(schema, name);
        }
    }
}

/// Every conversation of an agent carries the list: about four characters are a token.
#[tokio::test]
async fn the_list_is_short() {
    let bench = Bench::start().await;
    let listed = call_at(&bench, ALL, "tools/list", json!({})).await;
    let size = listed.to_string().chars().count();
    assert!(size <= 48_800, "{size} characters");
    let mut texts = std::collections::HashSet::new();
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let schema = tool["inputSchema"].to_string();
        assert!(
            !schema.contains("examples") && !schema.contains("$ref"),
            "{tool:#}"
        );
        assert!(schema.chars().count() <= 1_400, "{tool:#}");
        assert!(
            tool["description"].as_str().unwrap().chars().count() <= 140,
            "{tool:#}"
        );
        assert!(texts.insert(tool["name"].to_string()), "{tool:#}");
    }
}

/// A tool that would only be refused is not listed, whatever the credential, and the full schema still checks calls.
#[tokio::test]
async fn the_list_has_what_the_credential_may_do() {
    async fn listed(bench: &Bench, credential: &str) -> Vec<Value> {
        let bearer = format!("Bearer {credential}");
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let answer = send_at(bench, ALL, &[("authorization", &bearer)], &request)
            .await
            .json();
        answer["result"]["tools"].as_array().unwrap().clone()
    }
    let bench = Bench::start().await;
    let names = |tools: &[Value]| -> Vec<String> {
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let reader = bench.key_for(bench.project, &["keywords:read"]).await;
    let few = listed(&bench, &reader).await;
    let reads = names(&few);
    assert!(reads.contains(&"me_get".to_owned()) && reads.contains(&"keywords_list".to_owned()));
    assert!(
        !reads
            .iter()
            .any(|name| name.starts_with("posts_") || name == "keywords_create"),
        "{reads:?}"
    );
    let writer = bench.key_for(bench.project, &["keywords:write"]).await;
    let writes = names(&listed(&bench, &writer).await);
    assert!(writes.contains(&"keywords_list".to_owned()) && writes.contains(&"keywords_create".to_owned()));
    for tool in &few {
        let takes = &tool["inputSchema"]["properties"];
        assert!(
            takes.get("projectId").is_none(),
            "{tool:#}: a key has one project"
        );
    }
    let faulty = tool(
        &bench,
        "keywords_create",
        json!({ "keyword": "x".repeat(201), "searchVolume": "many" }),
    )
    .await;
    let problem: Value = serde_json::from_str(faulty["content"][0]["text"].as_str().unwrap()).unwrap();
    let pointers: Vec<&Value> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| &fault["pointer"])
        .collect();
    assert_eq!(pointers, [&json!("/keyword"), &json!("/searchVolume")]);
}

/// Lists are kept, by nothing but what the credential may do at the moment.
#[tokio::test]
async fn the_list_follows_the_scopes_of_a_key() {
    let bench = Bench::start().await;
    let grant = Grant {
        scopes: vec!["keywords:read".to_owned()],
        read_only: false,
        lifetime_millis: None,
    };
    let (id, key) = bench.grant(bench.project, grant).await;
    let bearer = format!("Bearer {key}");
    let listed = async |id: Value| {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
        let answer = send_at(&bench, ALL, &[("authorization", &bearer)], &request).await;
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let answer = answer.json();
        assert_eq!(answer["id"], id);
        let tools = answer["result"]["tools"].as_array().unwrap();
        let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
        [
            has("keywords_list"),
            has("keywords_create"),
            has("posts_list"),
            has("posts_create"),
        ]
    };
    for (scopes, seen) in [
        ("keywords:read", [true, false, false, false]),
        ("keywords:write", [true, true, false, false]),
        ("posts:read", [false, false, true, false]),
        ("keywords:read", [true, false, false, false]),
        ("keywords:write posts:write", [true, true, true, true]),
    ] {
        let statement = "UPDATE api_keys SET scopes = $2 WHERE id = $1";
        let changed =
            bench.server.app.engine.db.write(move |tx| {
                Box::pin(async move { sql(statement).bind(id).bind(scopes).execute(tx).await })
            });
        assert_eq!(changed.await.unwrap(), 1);
        // longer than a key is believed
        bench.clock.advance(3_000);
        for id in [json!(1), json!("\"tools\":[]")] {
            assert_eq!(listed(id).await, seen, "{scopes}");
        }
    }
}

/// Whether Gemini takes a schema as that of a function: where it does not, hosts answer every request with an error, whatever tool it is
/// about. Types are single, and lists say what they hold (<https://github.com/google-gemini/gemini-cli/issues/21094>).
#[track_caller]
fn takes_what_gemini_takes(schema: &Value) {
    if let Some(kind) = schema.get("type") {
        assert!(kind.is_string(), "{schema}");
        assert!(kind != "array" || schema["items"].is_object(), "{schema}");
    }
    let words = schema["enum"].as_array().into_iter().flatten();
    assert!(words.into_iter().all(Value::is_string), "{schema}");
    let members = schema["properties"].as_object().into_iter().flatten();
    let options = schema["anyOf"].as_array().into_iter().flatten();
    for part in members
        .map(|(_, member)| member)
        .chain(options)
        .chain(schema.get("items"))
    {
        takes_what_gemini_takes(part);
    }
}

/// Every tool with its annotations and what it takes. A change here is a change that agents see: review it
/// with `cargo insta review`, or take it with `INSTA_UPDATE=always`.
#[tokio::test]
async fn the_tools() {
    let bench = Bench::start().await;
    let listed = call_at(&bench, ALL, "tools/list", json!({})).await;
    let mut tools = listed["result"]["tools"].clone();
    let endpoints = for_keys(&bench);
    let (about_tools, of_table) = tools.as_array().unwrap().split_at(ABOUT_TOOLS.len());
    assert_eq!(of_table.len(), endpoints.len());
    for (tool, endpoint) in of_table.iter().zip(endpoints) {
        assert_eq!(
            tool["annotations"]["readOnlyHint"],
            !endpoint.meta.effect.writes()
        );
        assert_eq!(tool["name"], endpoint.meta.name.replace('.', "_"));
    }
    for (tool, name) in about_tools.iter().zip(ABOUT_TOOLS) {
        assert_eq!(tool["name"], name);
    }
    for tool in tools.as_array_mut().unwrap() {
        let annotations = &tool["annotations"];
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(
                annotations[hint].is_boolean(),
                "{tool:#}: all four, because the defaults frighten"
            );
        }
        assert_eq!(tool["inputSchema"]["type"], "object");
        takes_what_gemini_takes(&tool["inputSchema"]);
        assert!(!tool["description"].as_str().unwrap().is_empty());
        assert!(!tool["title"].as_str().unwrap().is_empty());
        // It is short by design: what tools answer is in openapi.json.
        let answer = tool.as_object_mut().unwrap().shift_remove("outputSchema");
        assert_eq!(answer, Some(json!({ "type": "object" })));
    }
    insta::assert_json_snapshot!(tools);
}

#[tokio::test]
async fn a_character_that_no_database_stores_is_refused() {
    let bench = Bench::start().await;
    for (name, arguments, pointer) in [
        ("keywords_create", json!({ "keyword": "a\u{0}b" }), "/keyword"),
        (
            "posts_create",
            json!({ "title": "a", "tags": ["b", "c\u{0}"] }),
            "/tags/1",
        ),
        ("keywords_list", json!({ "q": "\u{0}" }), "/q"),
    ] {
        let answer = tool(&bench, name, arguments).await;
        assert_eq!(answer["isError"], true, "{answer:#}");
        assert!(answer.to_string().contains(pointer), "{answer:#}");
    }
}

#[tokio::test]
async fn whatever_is_asked_counts() {
    let bench = Bench::with(&["limits.requests_per_minute=4"]).await;
    let client = json!({ "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    call(&bench, "initialize", client).await;
    call(&bench, "tools/list", json!({})).await;
    call(&bench, "tools/call", json!({ "name": "none", "arguments": {} })).await;
    tool(&bench, "me_get", json!({})).await;
    let bearer = format!("Bearer {}", bench.key);
    let headers = [
        ("authorization", bearer.as_str()),
        ("mcp-protocol-version", HANDSHAKE),
    ];
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let refused = send(&bench, &headers, &request).await;
    refused.refuses(429, "rate_limit_exceeded");
    assert_eq!(refused.number("retry-after"), 15);
}

//! The start of an agent: few tools listed, the others found by words and called by name, with every check of a direct call.

use searchwright_contract::{Scope, people::Role};
use searchwright_engine::admin::Grant;
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Bench},
    mcp::{call, send_at, tool},
    oauth::Agent,
};

/// Bytes of JSON that count as a token.
const BYTES_OF_A_TOKEN: usize = 4;

async fn listed(bench: &Bench, query: &str, credential: &str) -> Vec<Value> {
    let bearer = format!("Bearer {credential}");
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let answer = send_at(bench, query, &[("authorization", &bearer)], &request).await;
    answer.json()["result"]["tools"].as_array().unwrap().clone()
}

/// A token for this door with these scopes; with all where none is named.
pub async fn token(bench: &Bench, scopes: &[&str]) -> String {
    let all: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
    let scopes = if scopes.is_empty() { &all } else { scopes };
    let mcp = bench.server.app.settings.mcp_url.clone();
    let agent = Agent::new(bench, Role::Admin).await;
    let asked = [("scope", &*scopes.join(" ")), ("resource", &*mcp)];
    let tokens = agent.tokens(&asked).await;
    tokens["access_token"].as_str().unwrap().to_owned()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

pub fn tokens(value: &impl serde::Serialize) -> usize {
    serde_json::to_string(value)
        .unwrap()
        .len()
        .div_ceil(BYTES_OF_A_TOKEN)
}

pub fn problem(refused: &Value) -> Value {
    assert_eq!(refused["isError"], true, "{refused:#}");
    serde_json::from_str(refused["content"][0]["text"].as_str().unwrap()).unwrap()
}

async fn call_as(bench: &Bench, credential: &str, name: &str, arguments: Value) -> Answer {
    let bearer = format!("Bearer {credential}");
    let params = json!({ "name": name, "arguments": arguments });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    send_at(bench, "", &[("authorization", &bearer)], &request).await
}

#[tokio::test]
async fn a_start_fits_into_a_context() {
    let bench = Bench::start().await;
    let token = token(&bench, &[]).await;
    for credential in [&bench.key, &token] {
        let core = listed(&bench, "", credential).await;
        let all = listed(&bench, "?toolsets=all", credential).await;
        let (small, whole) = (tokens(&core), tokens(&all));
        assert!(small <= 3_000, "{small} tokens of {:?}", names(&core));
        assert!(whole <= 12_200, "{whole} tokens");
        assert!(names(&core).iter().all(|name| names(&all).contains(name)));
    }
    let hello = call(&bench, "initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } })).await;
    let instructions = hello["result"]["instructions"].as_str().unwrap();
    assert!(instructions.len() <= 2_048, "{} bytes", instructions.len());
    for word in ["me_get", "tools_find", "null", "Costs money", "Publishes"] {
        assert!(instructions.contains(word), "{word}");
    }
}

#[tokio::test]
async fn a_client_chooses_toolsets_by_its_address() {
    let bench = Bench::start().await;
    let core = listed(&bench, "", &bench.key).await;
    for name in [
        "tools_find",
        "tools_read",
        "tools_change",
        "me_get",
        "audits_start",
        "posts_publish",
    ] {
        assert!(names(&core).contains(&name), "{name}");
    }
    assert!(!names(&core).contains(&"webhooks_list"));
    let both = listed(&bench, "?toolsets=connections,brand", &bench.key).await;
    let both = names(&both);
    assert!(
        both.contains(&"webhooks_list") && both.contains(&"products_create") && both.contains(&"tools_find")
    );
    assert!(
        !both.contains(&"me_get"),
        "what is chosen is listed, and nothing else"
    );
    let bearer = format!("Bearer {}", bench.key);
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let refused = send_at(
        &bench,
        "?toolsets=core,shop",
        &[("authorization", &bearer)],
        &request,
    )
    .await;
    let refused = refused.refuses(400, "malformed_request");
    let hint = refused["hint"].as_str().unwrap();
    assert!(
        hint.contains("core, project, audit") && hint.contains("all"),
        "{hint}"
    );
    let direct = tool(&bench, "webhooks_list", json!({})).await;
    assert_eq!(direct["isError"], false, "a tool that is not listed works");
}

#[tokio::test]
async fn tools_are_found_by_words() {
    let bench = Bench::start().await;
    let found = tool(&bench, "tools_find", json!({ "words": "add a webhook" })).await;
    let first = &found["structuredContent"]["tools"][0];
    assert_eq!(first["inputSchema"]["type"], "object");
    let tools = found["structuredContent"]["tools"].as_array().unwrap();
    let create = tools
        .iter()
        .find(|tool| tool["name"] == "webhooks_create")
        .unwrap();
    assert_eq!(create["readOnly"], false);
    assert!(
        create["inputSchema"]["properties"].get("targetUrl").is_some(),
        "{create:#}"
    );
    let set = tool(&bench, "tools_find", json!({ "toolset": "automation" })).await;
    let set = set["structuredContent"]["tools"].as_array().unwrap();
    assert!(names(set).contains(&"autopilot_preview") && !names(set).contains(&"keywords_list"));
    for nothing in [json!({}), json!({ "words": "xyzzy" })] {
        let index = tool(&bench, "tools_find", nothing).await;
        let sets = index["structuredContent"]["toolsets"].as_array().unwrap();
        assert!(
            sets.iter().any(|set| set["toolset"] == "brand"
                && set["tools"].as_array().unwrap().contains(&json!("faqs_list")))
        );
        assert!(tokens(&index) <= 8_000);
    }
    let all = tool(&bench, "tools_find", json!({ "words": "a e i o u" })).await;
    assert!(tokens(&all) <= 8_000, "{}", tokens(&all));
    assert!(
        !all["structuredContent"]["more"].as_array().unwrap().is_empty(),
        "the rest by name"
    );
    for (arguments, pointer) in [
        (json!({ "toolset": "shop" }), "/toolset"),
        (json!({ "words": 5 }), "/words"),
        (json!({ "query": "x" }), "/query"),
    ] {
        let refused = problem(&tool(&bench, "tools_find", arguments).await);
        assert_eq!(refused["errors"][0]["pointer"], pointer);
    }
}

#[tokio::test]
async fn tools_are_called_by_name() {
    let bench = Bench::start().await;
    let made = tool(
        &bench,
        "tools_change",
        json!({ "name": "keywords_create", "arguments": { "keyword": "desk" } }),
    )
    .await;
    assert_eq!(made["structuredContent"]["keyword"], "desk", "{made:#}");
    let read = tool(
        &bench,
        "tools_read",
        json!({ "name": "keywords_get", "arguments": { "keywordId": made["structuredContent"]["id"] } }),
    )
    .await;
    let direct = tool(
        &bench,
        "keywords_get",
        json!({ "keywordId": made["structuredContent"]["id"] }),
    )
    .await;
    assert_eq!(read["structuredContent"], direct["structuredContent"]);
    for (name, arguments, pointer) in [
        (
            "tools_read",
            json!({ "name": "keywords_create", "arguments": { "keyword": "chair" } }),
            "/name",
        ),
        (
            "tools_read",
            json!({ "name": "tools_change", "arguments": { "name": "keywords_create" } }),
            "/name",
        ),
        (
            "tools_change",
            json!({ "name": "tools_change", "arguments": {} }),
            "/name",
        ),
        ("tools_change", json!({ "name": "keywords_explode" }), "/name"),
        ("tools_change", json!({ "arguments": {} }), "/name"),
        (
            "tools_change",
            json!({ "name": "keywords_create", "arguments": "x" }),
            "/arguments",
        ),
        (
            "tools_change",
            json!({ "name": "keywords_create", "keyword": "chair" }),
            "/keyword",
        ),
        (
            "tools_change",
            json!({ "name": "keywords_create", "arguments": { "keyword": "" } }),
            "/keyword",
        ),
    ] {
        let refused = problem(&tool(&bench, name, arguments.clone()).await);
        assert_eq!(
            refused["errors"][0]["pointer"], pointer,
            "{name} {arguments}: {refused:#}"
        );
    }
    assert_eq!(bench.keywords().await, ["desk"]);
}

/// The tools that call others are no way around what a credential may do.
#[tokio::test]
async fn whatever_calls_it_a_tool_is_checked_alike() {
    let bench = Bench::start().await;
    let (foreign, _) = bench.neighbour().await;
    let scopes = vec!["keywords:write".to_owned(), "posts:read".to_owned()];
    let grant = Grant {
        scopes,
        read_only: true,
        lifetime_millis: None,
    };
    let (_, reader) = bench.grant(bench.project, grant).await;
    let seen = listed(&bench, "?toolsets=all", &reader).await;
    for tool in &seen {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{}", tool["name"]);
    }
    assert!(names(&seen).contains(&"tools_read") && names(&seen).contains(&"keywords_list"));
    let found = call_as(&bench, &reader, "tools_find", json!({ "words": "create" }))
        .await
        .json();
    assert!(!found.to_string().contains("keywords_create"), "{found:#}");
    let create = json!({ "name": "keywords_create", "arguments": { "keyword": "x" } });
    let refused = call_as(&bench, &reader, "tools_change", create.clone())
        .await
        .json();
    assert_eq!(problem(&refused["result"])["code"], "insufficient_scope");
    let elsewhere = json!({ "name": "keywords_list", "arguments": { "projectId": foreign } });
    let refused = call_as(&bench, &bench.key, "tools_read", elsewhere).await.json();
    assert_eq!(problem(&refused["result"])["code"], "project_forbidden");

    let token = token(&bench, &["keywords:read"]).await;
    let direct = call_as(
        &bench,
        &token,
        "keywords_create",
        json!({ "projectId": bench.project, "keyword": "x" }),
    )
    .await;
    let by_name =
        json!({ "name": "keywords_create", "arguments": { "projectId": bench.project, "keyword": "x" } });
    for answer in [direct, call_as(&bench, &token, "tools_change", by_name).await] {
        answer.refuses(403, "insufficient_scope");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(challenge.contains("keywords:write"), "{challenge}");
    }
    assert!(bench.keywords().await.is_empty());
}

#[tokio::test]
async fn whatever_calls_it_a_tool_takes_its_quota() {
    let bench = Bench::with(&["limits.requests_per_minute=3"]).await;
    tool(&bench, "tools_find", json!({})).await;
    tool(&bench, "tools_read", json!({ "name": "keywords_list" })).await;
    tool(&bench, "tools_read", json!({ "name": "keywords_create" })).await;
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "tools_read", "arguments": { "name": "me_get" } } });
    let bearer = format!("Bearer {}", bench.key);
    let refused = send_at(&bench, "", &[("authorization", &bearer)], &request)
        .await
        .json();
    assert_eq!(problem(&refused["result"])["code"], "rate_limit_exceeded");
}

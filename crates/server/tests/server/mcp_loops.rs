//! Prompts for the loops that people run, completion of their arguments, and search with fetch.

use serde_json::{Value, json};

use crate::{
    harness::Bench,
    mcp::{call, send_at, tool},
    mcp_toolsets::{problem, token, tokens},
};

#[tokio::test]
async fn prompts_are_the_loops_that_people_run() {
    let bench = Bench::start().await;
    let listed = call(&bench, "prompts/list", json!({})).await;
    let prompts = listed["result"]["prompts"].as_array().unwrap();
    assert!(prompts.len() >= 3);
    let tools = call(&bench, "tools/list", json!({})).await;
    let tools: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for prompt in prompts {
        let name = prompt["name"].as_str().unwrap();
        assert!(
            !prompt["title"].as_str().unwrap().is_empty()
                && !prompt["arguments"].as_array().unwrap().is_empty()
        );
        let got = call(&bench, "prompts/get", json!({ "name": name })).await;
        let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(!text.contains('{'), "{name}: {text}");
        assert!(
            text.contains("me_get") && tools.iter().any(|tool| text.contains(tool)),
            "{text}"
        );
    }
    let with = json!({ "name": "audit_and_fix", "arguments": { "project": "P1", "severity": "warning" } });
    let got = call(&bench, "prompts/get", with).await;
    let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(
        text.contains("website of P1") && text.contains("severity warning"),
        "{text}"
    );
    for wrong in [
        json!({ "name": "sell" }),
        json!({ "name": "audit_and_fix", "arguments": { "colour": "red" } }),
        json!({ "name": "audit_and_fix", "arguments": { "project": "x".repeat(300) } }),
    ] {
        let refused = call(&bench, "prompts/get", wrong).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
    }
}

#[tokio::test]
async fn arguments_complete() {
    let bench = Bench::start().await;
    let (foreign, _) = bench.neighbour().await;
    let prompt = json!({ "type": "ref/prompt", "name": "audit_and_fix" });
    let template = json!({ "type": "ref/resource", "uri": "searchwright://projects/{projectId}/posts/{postId}/{member}" });
    for (of, argument, typed, expected) in [
        (&prompt, "severity", "", json!(["error", "warning", "notice"])),
        (&prompt, "severity", "W", json!(["warning"])),
        (&prompt, "engine", "chat", json!(["chatgpt"])),
        (&prompt, "provider", "word", json!(["wordpress"])),
        (&prompt, "project", "", json!([bench.project])),
        (&template, "projectId", "", json!([bench.project])),
        (&prompt, "project", &*foreign.to_string(), json!([])),
        (&prompt, "colour", "", json!([])),
    ] {
        let params = json!({ "ref": of, "argument": { "name": argument, "value": typed } });
        let completed = call(&bench, "completion/complete", params).await;
        assert_eq!(
            completed["result"]["completion"]["values"], expected,
            "{argument} {typed}"
        );
    }
    let params = json!({ "ref": prompt, "argument": { "name": "check", "value": "title" } });
    let checks = call(&bench, "completion/complete", params).await;
    assert!(
        !checks["result"]["completion"]["values"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn what_is_found_can_be_fetched() {
    let bench = Bench::start().await;
    let keyword = bench.keyword("standing desk for small rooms").await;
    bench.keyword("office chair").await;
    let post = bench
        .post(
            "P/posts",
            json!({ "title": "A standing desk that lasts", "content": "Oak **lasts**." }),
        )
        .await
        .json();
    let found = tool(&bench, "search", json!({ "query": "standing desk" })).await;
    let results = found["structuredContent"]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{found:#}");
    let text: Value = serde_json::from_str(found["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["results"], json!(results));
    for result in results {
        assert!(result["title"].as_str().unwrap().contains("standing desk"));
        assert!(result["url"].as_str().unwrap().starts_with("http"));
        let fetched = tool(&bench, "fetch", json!({ "id": result["id"] })).await;
        let fetched = &fetched["structuredContent"];
        assert_eq!(
            (&fetched["id"], &fetched["title"], &fetched["url"]),
            (&result["id"], &result["title"], &result["url"])
        );
        let whole: Value = serde_json::from_str(fetched["text"].as_str().unwrap()).unwrap();
        assert!([&json!(keyword), &post["id"]].contains(&&whole["id"]));
    }
    let nothing = tool(&bench, "search", json!({ "query": "wardrobe" })).await;
    assert_eq!(nothing["structuredContent"]["results"], json!([]));
    let small = tool(
        &bench,
        "search",
        json!({ "query": "desk chair", "maxTokens": 300 }),
    )
    .await;
    assert!(tokens(&small) <= 300);
    for (arguments, pointer) in [
        (json!({}), "/query"),
        (json!({ "query": " " }), "/query"),
        (json!({ "query": "desk", "colour": 1 }), "/colour"),
    ] {
        let refused = problem(&tool(&bench, "search", arguments).await);
        assert_eq!(refused["errors"][0]["pointer"], pointer);
    }
    let refused = problem(&tool(&bench, "fetch", json!({ "id": "keyword:1" })).await);
    assert_eq!(refused["code"], "not_found");
    // only what the credential may read is searched
    let bearer = format!("Bearer {}", token(&bench, &["keywords:read"]).await);
    let search = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "search", "arguments": { "query": "standing desk" } } });
    let found = send_at(&bench, "", &[("authorization", &bearer)], &search)
        .await
        .json();
    let results = found["result"]["structuredContent"]["results"]
        .as_array()
        .unwrap();
    assert_eq!(results.len(), 1, "{found:#}");
    assert!(
        results[0]["id"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/keywords/{keyword}"))
    );
}

/// Lines of a stream until it says this, or ends.
async fn until(response: &mut reqwest::Response, said: &mut String, text: &str) -> bool {
    while !said.contains(text) {
        match response.chunk().await.unwrap() {
            Some(chunk) => said.push_str(&String::from_utf8_lossy(&chunk)),
            None => return false,
        }
    }
    true
}

#[tokio::test]
async fn a_client_hears_when_a_job_has_changed() {
    let bench = Bench::start().await;
    let (foreign, other) = bench.neighbour().await;
    let started = bench.post("P/audits", json!({ "maxPages": 1 })).await.json();
    let job = started["job"]["id"].as_str().unwrap();
    let address = format!("searchwright://projects/{}/jobs/{job}", bench.project);
    let listen = async |key: &str| {
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": {
            "notifications": { "resourceSubscriptions": [address, format!("searchwright://projects/{foreign}/posts"), "x"] },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        } });
        let url = format!("http://{}/mcp", bench.server.addresses.mcp);
        let request = bench
            .http
            .post(url)
            .bearer_auth(key)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .body(request.to_string());
        request.send().await.unwrap()
    };
    let mut stream = listen(&bench.key).await;
    assert_eq!(stream.status(), 200);
    let mut said = String::new();
    assert!(
        until(&mut stream, &mut said, &address).await,
        "what is followed is said first: {said}"
    );
    assert!(!said.contains("resources/updated"));
    let canceled = bench.post(&format!("P/jobs/{job}/cancel"), json!({})).await;
    assert_eq!(canceled.status, 200, "{canceled:?}");
    assert!(
        until(&mut stream, &mut said, "notifications/resources/updated").await,
        "{said}"
    );
    assert!(
        !until(&mut stream, &mut said, "never said").await,
        "it ends with the job"
    );
    // who may not read it hears nothing
    let mut stream = listen(&other).await;
    let mut said = String::new();
    assert!(
        !until(&mut stream, &mut said, "resources/updated").await,
        "{said}"
    );
}

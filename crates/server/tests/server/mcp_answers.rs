//! Answers that fit into a context: a budget of the whole result, lists as columns, chosen members, and long texts read in parts.

use serde_json::{Value, json};

use crate::{
    harness::Bench,
    mcp::{call, send_at, tool},
    mcp_toolsets::{problem, token, tokens},
};

on_both! {
    a_walk_with_a_small_budget_gives_each_row_once,
}

/// Rows of a list as objects.
fn rows(result: &Value) -> Vec<Value> {
    let shown = &result["structuredContent"];
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, shown, "who reads only the text misses nothing");
    let columns = shown["columns"].as_array().unwrap();
    let row = |row: &Value| -> Value {
        let mut whole = serde_json::Map::new();
        for (column, value) in columns.iter().zip(row.as_array().unwrap()) {
            whole.insert(column.as_str().unwrap().to_owned(), value.clone());
        }
        for (column, value) in shown["same"].as_object().into_iter().flatten() {
            whole.insert(column.clone(), value.clone());
        }
        whole.into()
    };
    shown["rows"].as_array().unwrap().iter().map(row).collect()
}

async fn long_keywords(bench: &Bench, count: usize) {
    for number in 0..count {
        bench
            .keyword(&format!("keyword {number} {}", "long words ".repeat(12)))
            .await;
    }
}

#[tokio::test]
async fn an_answer_keeps_to_its_budget() {
    let bench = Bench::start().await;
    long_keywords(&bench, 60).await;
    for (most, arguments) in [
        (8_000, json!({ "limit": 100 })),
        (20_000, json!({ "limit": 100, "maxTokens": 20_000 })),
        (2_000, json!({ "limit": 100, "maxTokens": 2_000 })),
        (700, json!({ "limit": 100, "maxTokens": 700 })),
        (250, json!({ "maxTokens": 250 })),
    ] {
        let answer = tool(&bench, "keywords_list", arguments).await;
        let size = tokens(&answer);
        assert!(size <= most, "{size} of {most}");
        assert!(!rows(&answer).is_empty());
        assert_eq!(
            answer["structuredContent"]["nextCursor"].is_string(),
            most != 20_000,
            "{most}"
        );
    }
    for tokens in [json!(0), json!(20_001), json!("many"), json!(1.5)] {
        let refused = problem(&tool(&bench, "keywords_list", json!({ "maxTokens": tokens })).await);
        assert_eq!(refused["errors"][0]["pointer"], "/maxTokens");
    }
    let content = "A long sentence about desks. ".repeat(3_000);
    let post = tool(
        &bench,
        "posts_create",
        json!({ "title": "Desk", "content": content }),
    )
    .await;
    assert!(tokens(&post) <= 8_000);
    for most in [8_000, 3_000, 500] {
        let id = &post["structuredContent"]["id"];
        let post = tool(&bench, "posts_get", json!({ "postId": id, "maxTokens": most })).await;
        assert!(tokens(&post) <= most, "{} of {most}", tokens(&post));
        assert_eq!(&post["structuredContent"]["id"], id);
    }
    let found = tool(&bench, "tools_find", json!({ "words": "list", "maxTokens": 900 })).await;
    assert!(tokens(&found) <= 900, "{}", tokens(&found));
}

async fn a_walk_with_a_small_budget_gives_each_row_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    long_keywords(&bench, 23).await;
    let whole = tool(&bench, "keywords_list", json!({ "fields": ["id"], "limit": 100 })).await;
    let expected = rows(&whole);
    assert_eq!(expected.len(), 23);
    for budget in [120, 400, 900, 2_500] {
        let mut walked = Vec::new();
        let mut arguments = json!({ "maxTokens": budget });
        loop {
            let page = tool(&bench, "keywords_list", arguments.clone()).await;
            let of_page = rows(&page);
            assert!(!of_page.is_empty());
            walked.extend(of_page.iter().map(|row| json!({ "id": row["id"] })));
            let next = &page["structuredContent"]["nextCursor"];
            if next.is_null() {
                break;
            }
            arguments["cursor"] = next.clone();
        }
        assert_eq!(walked, expected, "{budget}");
    }
}

#[tokio::test]
async fn a_call_chooses_members() {
    let bench = Bench::start().await;
    let id = bench.keyword("desk").await;
    bench.keyword("chair").await;
    let two = json!({ "fields": ["keyword", "searchVolume"], "limit": 2 });
    let chosen = tool(&bench, "keywords_list", two).await;
    assert_eq!(
        chosen["structuredContent"]["columns"],
        json!(["keyword", "searchVolume"]),
        "what is asked for is there, also null"
    );
    assert_eq!(
        chosen["structuredContent"]["rows"],
        json!([["chair", null], ["desk", null]])
    );
    let all = tool(&bench, "keywords_list", json!({})).await;
    let empty = all["structuredContent"]["nullColumns"].as_array().unwrap();
    assert!(empty.contains(&json!("searchVolume")), "{all:#}");
    assert!(
        !all["structuredContent"]["columns"]
            .as_array()
            .unwrap()
            .contains(&json!("searchVolume"))
    );
    let one = tool(
        &bench,
        "keywords_get",
        json!({ "keywordId": id, "fields": ["keyword", "volumeRange.min"] }),
    )
    .await;
    assert_eq!(one["structuredContent"]["keyword"], "desk");
    assert!(one["structuredContent"].get("id").is_none());
    for (name, arguments) in [
        ("keywords_list", json!({ "fields": ["id", "colour"] })),
        ("keywords_get", json!({ "keywordId": id, "fields": "colour" })),
        (
            "keywords_create",
            json!({ "keyword": "lamp", "fields": ["colour"] }),
        ),
        (
            "tools_read",
            json!({ "name": "keywords_list", "fields": ["colour"] }),
        ),
    ] {
        let refused = problem(&tool(&bench, name, arguments).await);
        let detail = refused["errors"][0]["detail"].as_str().unwrap();
        assert!(
            detail.contains("colour") && detail.contains("searchVolume"),
            "{detail}"
        );
    }
    assert_eq!(bench.keywords().await.len(), 2, "refused before anything is made");
}

/// Reads a resource to its end, as its parts say.
async fn read_whole(bench: &Bench, uri: &str) -> (String, usize) {
    let (mut whole, mut parts, mut uri) = (String::new(), 0, uri.to_owned());
    loop {
        let read = call(bench, "resources/read", json!({ "uri": uri })).await;
        let contents = read["result"]["contents"].as_array().unwrap();
        assert!(tokens(&read) <= 8_500);
        whole += contents[0]["text"].as_str().unwrap();
        parts += 1;
        match contents.get(1) {
            Some(next) => uri = next["uri"].as_str().unwrap().to_owned(),
            None => return (whole, parts),
        }
    }
}

#[tokio::test]
async fn a_long_text_is_read_in_parts() {
    let bench = Bench::start().await;
    let (_, neighbour) = bench.neighbour().await;
    let content: String = (0..4_000)
        .map(|line| format!("Line {line}: \"quoted\" — ünïcode.\n\n"))
        .collect();
    let post = tool(
        &bench,
        "posts_create",
        json!({ "title": "Desk", "content": content }),
    )
    .await;
    let id = post["structuredContent"]["id"].as_str().unwrap();
    let shown = tool(&bench, "posts_get", json!({ "postId": id })).await;
    let text = shown["structuredContent"]["content"].as_str().unwrap();
    assert!(text.chars().count() < 2_300 && text.contains("2000 of"), "{text}");
    let links = shown["content"].as_array().unwrap();
    let link = links.iter().find(|link| link["name"] == "content").unwrap();
    assert_eq!(link["type"], "resource_link");
    let uri = format!("searchwright://projects/{}/posts/{id}/content", bench.project);
    assert_eq!(link["uri"], uri);
    let stored = bench.get(&format!("P/posts/{id}")).await.json();
    let (whole, parts) = read_whole(&bench, &uri).await;
    assert!(parts > 3);
    assert_eq!(whole, stored["content"].as_str().unwrap());
    // a client without resources
    let (mut fetched, mut next) = (String::new(), Some(uri.clone()));
    while let Some(from) = next {
        let part = tool(&bench, "fetch", json!({ "id": from })).await;
        assert!(tokens(&part) <= 8_000);
        let part = &part["structuredContent"];
        fetched += part["text"].as_str().unwrap();
        next = part["metadata"]["next"].as_str().map(str::to_owned);
    }
    assert_eq!(fetched, whole);
    for unknown in [
        format!("searchwright://projects/{}/posts/{id}/colour", bench.project),
        format!(
            "searchwright://projects/{}/posts/{}/content",
            bench.project, bench.project
        ),
        "searchwright://".to_owned(),
        "https://example.com/".to_owned(),
    ] {
        let refused = call(&bench, "resources/read", json!({ "uri": unknown })).await;
        assert_eq!(refused["error"]["code"], -32002, "{unknown}: {refused:#}");
    }
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": uri } });
    let bearer = format!("Bearer {neighbour}");
    let refused = send_at(&bench, "", &[("authorization", &bearer)], &request)
        .await
        .json();
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("project_forbidden"),
        "{refused:#}"
    );
    let bearer = format!("Bearer {}", token(&bench, &["keywords:read"]).await);
    let refused = send_at(&bench, "", &[("authorization", &bearer)], &request).await;
    refused.refuses(403, "insufficient_scope");
    assert!(refused.header("www-authenticate").unwrap().contains("posts:read"));
    let templates = call(&bench, "resources/templates/list", json!({})).await;
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap();
    assert!(templates.iter().any(|template| {
        template["uriTemplate"]
            .as_str()
            .unwrap()
            .contains("/posts/{postId}/")
    }));
}

#[tokio::test]
async fn a_text_without_an_address_is_found_in_its_list() {
    let bench = Bench::start().await;
    let prompt = bench
        .post("P/visibility/prompts", json!({ "text": "best desk?" }))
        .await
        .json();
    let id = prompt["id"].as_str().unwrap();
    let long = |word: &str| format!("{word} ").repeat(900);
    let items = json!([
        { "engine": "chatgpt", "askedAt": "2026-01-02T00:00:00.000Z", "text": long("first") },
        { "engine": "chatgpt", "askedAt": "2026-01-03T00:00:00.000Z", "text": long("second") },
    ]);
    let copied = bench
        .post(
            &format!("P/visibility/prompts/{id}/answers"),
            json!({ "items": items }),
        )
        .await;
    assert_eq!(copied.status, 201, "{copied:?}");
    let listed = tool(&bench, "prompts_answers", json!({ "promptId": id })).await;
    let untrusted = listed["structuredContent"]["untrusted"].as_array().unwrap();
    assert!(untrusted.contains(&json!("text")), "{untrusted:?}");
    let links: Vec<&str> = listed["content"].as_array().unwrap()[1..]
        .iter()
        .map(|link| link["uri"].as_str().unwrap())
        .collect();
    assert_eq!(links.len(), 2);
    for (link, word) in links.iter().zip(["second", "first"]) {
        assert_eq!(read_whole(&bench, link).await.0.trim_end(), long(word).trim_end());
    }
}

#[tokio::test]
async fn a_refusal_is_short() {
    let bench = Bench::start().await;
    let items: Vec<Value> = (0..100)
        .map(|_| json!({ "name": "x".repeat(400), "colour": 1, "url": "y" }))
        .collect();
    for (name, arguments) in [
        ("products_create", json!({ "items": items })),
        ("keywords_create", json!({ "keyword": "x".repeat(900_000) })),
        ("keywords_list", json!({ "fields": ["x".repeat(5_000)] })),
        ("tools_read", json!({ "name": "x".repeat(50_000) })),
    ] {
        let refused = tool(&bench, name, arguments).await;
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.chars().count() <= 2_000, "{name}: {}", text.chars().count());
        assert!(problem(&refused)["code"].is_string());
    }
}

//! Posts through the doors: hostile texts through the API, and the same rules through MCP.

use searchwright_writing::sanitise::{LinkPolicy, sanitise};
use serde_json::{Value, json};

use crate::{harness::Bench, mcp::tool, posts::create};

/// The corpus that the sanitiser is held against, through the API.
#[tokio::test]
async fn no_text_becomes_a_script() {
    let bench = Bench::start().await;
    let policy = LinkPolicy {
        own_host: Some("example.com".to_owned()),
        followed: Vec::new(),
        base: None,
        page: None,
    };
    let corpus = include_str!("../../../writing/src/testdata/xss.txt");
    let vectors: Vec<&str> = corpus.lines().filter(|line| !line.starts_with("%%")).collect();
    assert!(vectors.len() > 50);
    for few in vectors.chunks(20) {
        let content = few.join("\n\n");
        let post = create(&bench, json!({ "title": "Desks", "content": content })).await;
        let html = post["contentHtml"].as_str().unwrap();
        // What the sanitiser leaves as it is has nothing left that it takes out.
        assert_eq!(sanitise(html, &policy).as_deref(), Ok(html));
        assert!(!html.to_lowercase().contains("<script"), "{html}");
        let ld = post["structuredData"].to_string();
        assert!(!ld.contains("<script"), "{ld}");
    }
}

#[tokio::test]
async fn the_same_rules_hold_for_agents() {
    let bench = Bench::start().await;
    let refused = async |name: &str, arguments: Value| -> Value {
        let refused = tool(&bench, name, arguments).await;
        assert_eq!(refused["isError"], true, "{refused:#}");
        serde_json::from_str(refused["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    let done = async |name: &str, arguments: Value| -> Value {
        let done = tool(&bench, name, arguments).await;
        assert_ne!(done["isError"], true, "{done:#}");
        done["structuredContent"].clone()
    };
    let made = done("posts_create", json!({ "title": "Desks", "content": "One." })).await;
    let id = made["id"].as_str().unwrap();
    assert_eq!((&made["status"], &made["version"]), (&json!("draft"), &json!(1)));
    let blind = refused("posts_update", json!({ "postId": id, "content": "Two." })).await;
    assert_eq!(blind["code"], "precondition_required");
    assert!(blind["hint"].as_str().unwrap().contains("ifVersion"), "{blind:#}");
    let changed = done(
        "posts_update",
        json!({ "postId": id, "content": "Two.", "ifVersion": 1 }),
    )
    .await;
    assert_eq!(
        (&changed["content"], &changed["version"]),
        (&json!("Two."), &json!(2))
    );
    let stale = refused(
        "posts_update",
        json!({ "postId": id, "content": "Three.", "ifVersion": 1 }),
    )
    .await;
    assert_eq!(
        (&stale["code"], &stale["currentVersion"]),
        (&json!("precondition_failed"), &json!(2))
    );
    let erased = refused(
        "posts_update",
        json!({ "postId": id, "content": "", "ifVersion": 2 }),
    )
    .await;
    assert_eq!(erased["errors"][0]["code"], "would_erase_content");
    let html = refused("posts_update", json!({ "postId": id, "contentHtml": "<p>" })).await;
    assert_eq!(
        (&html["code"], &html["errors"][0]["pointer"]),
        (&json!("unknown_field"), &json!("/contentHtml"))
    );
    let restored = done(
        "posts_restore",
        json!({ "postId": id, "number": "1", "ifVersion": 2 }),
    )
    .await;
    assert_eq!(restored["content"], "One.");
    let list = done("posts_list", json!({})).await;
    let columns = list["columns"].as_array().unwrap();
    assert!(!columns.contains(&json!("content")), "{list:#}");
    assert_eq!((&columns[0], &list["rows"][0][0]), (&json!("id"), &made["id"]));
    let started = done("posts_generate", json!({ "postId": id })).await;
    assert_eq!(
        (&started["job"]["type"], &started["post"]["status"]),
        (&json!("generate_post"), &json!("queued"))
    );
}

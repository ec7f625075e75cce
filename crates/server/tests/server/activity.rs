//! Activity: every call that changed something, and no other, is one entry.

use searchwright_engine::admin::Grant;
use serde_json::{Value, json};

use crate::harness::Bench;

async fn entries(bench: &Bench) -> Vec<Value> {
    let list = bench.get("P/activity?limit=100").await;
    assert_eq!(list.status, 200, "{list:?}");
    list.json()["data"].as_array().unwrap().clone()
}

/// Action and subject of every entry, newest first.
async fn actions(bench: &Bench) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    entries(bench)
        .await
        .iter()
        .map(|e| (text(&e["action"]), text(&e["subject"])))
        .collect()
}

#[tokio::test]
async fn every_change_is_an_entry() {
    let bench = Bench::start().await;
    let (key_id, key) = bench
        .grant(
            bench.project,
            Grant {
                scopes: vec![],
                read_only: false,
                lifetime_millis: None,
            },
        )
        .await;
    assert_eq!(entries(&bench).await, [] as [Value; 0]);
    let id = bench.keyword("desk").await;
    let path = format!("P/keywords/{id}");
    let changed = bench
        .call("PATCH", &path)
        .key(&key)
        .json(&json!({ "status": "planned" }))
        .send()
        .await;
    assert_eq!(changed.status, 200);
    assert_eq!(bench.call("DELETE", &path).send().await.status, 204);
    let started = bench.post("P/audits", json!({})).await.json();
    let job = started["job"]["id"].as_str().unwrap();
    let again = bench.post("P/audits", json!({})).await.json();
    assert_eq!(again["alreadyRunning"], true, "the second call changed nothing");
    let expected = [
        ("audits.start", job),
        ("keywords.delete", &id),
        ("keywords.update", &id),
        ("keywords.create", &id),
    ];
    assert_eq!(
        actions(&bench).await,
        expected.map(|(action, subject)| (action.to_owned(), subject.to_owned()))
    );
    let all = entries(&bench).await;
    assert_eq!(
        all[2]["credential"],
        json!({ "type": "api_key", "id": key_id.to_string(), "name": "test" })
    );
    assert_ne!(all[3]["credential"]["id"], json!(key_id.to_string()));
    assert_eq!(all[2]["createdAt"], json!(bench.clock.now().to_string()));
}

#[tokio::test]
async fn nothing_else_is() {
    let bench = Bench::start().await;
    let id = bench.keyword("desk").await;
    bench.get("P/keywords").await;
    bench.get(&format!("P/keywords/{id}")).await;
    bench
        .post("P/keywords", json!({ "keyword": "desk" }))
        .await
        .refuses(409, "already_exists");
    bench
        .post("P/keywords", json!({ "keyword": " " }))
        .await
        .refuses(422, "validation_failed");
    bench
        .call("DELETE", "P/keywords/x")
        .send()
        .await
        .refuses(404, "not_found");
    let stale = bench
        .call("DELETE", &format!("P/keywords/{id}"))
        .header("if-match", "\"other\"")
        .send()
        .await;
    stale.refuses(412, "precondition_failed");
    assert_eq!(actions(&bench).await.len(), 1);
    for _ in 0..3 {
        let added = bench
            .call("POST", "P/keywords")
            .header("idempotency-key", "once")
            .json(&json!({ "keyword": "chair" }))
            .send()
            .await;
        assert_eq!(added.status, 201);
    }
    assert_eq!(
        actions(&bench).await.len(),
        2,
        "an answer that is repeated was not done again"
    );
}

#[tokio::test]
async fn it_is_walked_page_by_page() {
    let bench = Bench::start().await;
    for n in 0..5 {
        bench.keyword(&format!("desk {n}")).await;
    }
    let whole = entries(&bench).await;
    let mut walked = Vec::new();
    let mut path = "P/activity?limit=2".to_owned();
    loop {
        let page = bench.get(&path).await.json();
        walked.extend(page["data"].as_array().unwrap().clone());
        let Some(cursor) = page["nextCursor"].as_str() else {
            break;
        };
        path = format!("P/activity?limit=2&cursor={cursor}");
        bench.keyword(&format!("chair {}", walked.len())).await;
    }
    assert_eq!(walked, whole, "what is added meanwhile disturbs nothing");
    let (foreign, key) = bench.neighbour().await;
    let theirs = bench
        .call("GET", &format!("/projects/{foreign}/activity"))
        .key(&key)
        .send()
        .await;
    assert_eq!(theirs.json()["data"], json!([]));
}

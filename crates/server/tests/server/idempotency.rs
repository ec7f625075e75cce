//! `Idempotency-Key`: the same request again gives the same answer again, and one effect.

use serde_json::{Value, json};

use crate::{
    harness::{Answer, Bench},
    wire,
};

on_both!(
    the_same_request_gives_the_same_answer,
    of_many_at_once_one_takes_effect,
    refusals_are_given_again,
    an_answer_is_kept_for_two_days,
    a_repeat_changes_nothing_whatever_became_of_the_record,
    two_posts_at_once_are_one,
);

const HOUR: i64 = 3_600_000;

async fn post(bench: &Bench, path: &str, key: &str, body: Value) -> Answer {
    bench
        .call("POST", path)
        .header("idempotency-key", key)
        .json(&body)
        .send()
        .await
}

fn is_replay(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}

async fn the_same_request_gives_the_same_answer(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let body = json!({ "keyword": "desk", "searchVolume": 5 });
    let first = post(&bench, "P/keywords", "k-1", body.clone()).await;
    assert_eq!((first.status, is_replay(&first)), (201, false));
    bench.clock.advance(1_000);
    for key in ["k-1", "\"k-1\""] {
        let again = post(&bench, "P/keywords", key, body.clone()).await;
        assert_eq!((again.status, is_replay(&again)), (201, true));
        assert_eq!(again.body, first.body, "byte for byte");
        for header in ["etag", "location", "content-type"] {
            assert_eq!(again.header(header), first.header(header));
        }
        assert_ne!(again.header("x-request-id"), first.header("x-request-id"));
    }
    let order = bench
        .call("POST", "P/keywords")
        .header("idempotency-key", "k-1")
        .body(
            "application/json",
            r#"{ "searchVolume": 5.0, "keyword": "d\u0065sk" }"#,
        )
        .send()
        .await;
    assert!(
        is_replay(&order),
        "the same members in another order are the same request: {order:?}"
    );
    for other in [
        json!({ "keyword": "desk" }),
        json!({ "keyword": "chair", "searchVolume": 5 }),
    ] {
        post(&bench, "P/keywords", "k-1", other)
            .await
            .refuses(422, "idempotency_key_reused");
    }
    assert_eq!(bench.keywords().await, ["desk"]);
}

#[tokio::test]
async fn a_key_belongs_to_its_owner_its_project_and_its_operation() {
    let bench = Bench::start().await;
    let (foreign, foreign_key) = bench.neighbour().await;
    let body = json!({ "keyword": "desk" });
    let first = post(&bench, "P/keywords", "k", body.clone()).await.json();
    let colleague = bench.key_for(bench.project, &[]).await;
    let theirs = bench
        .call("POST", "P/keywords")
        .key(&colleague)
        .header("idempotency-key", "k")
        .json(&body)
        .send()
        .await;
    theirs.refuses(409, "already_exists");
    let elsewhere = bench
        .call("POST", &format!("/projects/{foreign}/keywords"))
        .key(&foreign_key)
        .header("idempotency-key", "k")
        .json(&body)
        .send()
        .await;
    assert_eq!((elsewhere.status, is_replay(&elsewhere)), (201, false));
    let path = format!("P/keywords/{}", first["id"].as_str().unwrap());
    let patch = async |volume: i64| {
        bench
            .call("PATCH", &path)
            .header("idempotency-key", "k")
            .json(&json!({ "searchVolume": volume }))
            .send()
            .await
    };
    let patched = patch(1).await;
    assert_eq!(
        (patched.status, is_replay(&patched)),
        (200, false),
        "another operation"
    );
    let again = patch(1).await;
    assert_eq!((again.json(), is_replay(&again)), (patched.json(), true));
    patch(2).await.refuses(422, "idempotency_key_reused");
    assert_eq!(bench.get(&path).await.json()["version"], 2);
    let other = bench.keyword("chair").await;
    let reused = bench
        .call("PATCH", &format!("P/keywords/{other}"))
        .header("idempotency-key", "k")
        .json(&json!({ "searchVolume": 1 }))
        .send()
        .await;
    reused.refuses(422, "idempotency_key_reused");
    bench
        .call("POST", "P/keywords")
        .no_key()
        .header("idempotency-key", "k")
        .json(&body)
        .send()
        .await
        .refuses(401, "unauthenticated");
    let reader = bench.key_for(bench.project, &["keywords:read"]).await;
    bench
        .call("POST", "P/keywords")
        .key(&reader)
        .header("idempotency-key", "k")
        .json(&body)
        .send()
        .await
        .refuses(403, "insufficient_scope");
}

async fn of_many_at_once_one_takes_effect(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for round in 0..10 {
        let key = format!("k-{round}");
        let body = json!({ "keyword": format!("desk {round}") });
        let at_once =
            futures_util::future::join_all((0..8).map(|_| post(&bench, "P/keywords", &key, body.clone())))
                .await;
        let mut made = Vec::new();
        for answer in &at_once {
            match answer.status {
                201 => made.push(answer.body.clone()),
                _ => {
                    answer.refuses(409, "idempotency_in_progress");
                    assert_eq!(
                        (answer.number("retry-after"), &answer.json()["retryable"]),
                        (1, &json!(true))
                    );
                }
            }
        }
        let again = post(&bench, "P/keywords", &key, body.clone()).await;
        assert!(is_replay(&again));
        assert!(!made.is_empty() && made.iter().all(|body| *body == again.body));
        let first = at_once
            .iter()
            .filter(|a| a.status == 201 && !is_replay(a))
            .count();
        assert_eq!(first, 1, "round {round}");
    }
    assert_eq!(bench.keywords().await.len(), 10);
}

async fn refusals_are_given_again(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let id = bench.keyword("desk").await;
    let refused = post(&bench, "P/keywords", "k", json!({ "keyword": "desk" })).await;
    refused.refuses(409, "already_exists");
    assert_eq!(
        bench
            .call("DELETE", &format!("P/keywords/{id}"))
            .send()
            .await
            .status,
        204
    );
    let again = post(&bench, "P/keywords", "k", json!({ "keyword": "desk" })).await;
    assert!(is_replay(&again));
    let (before, after) = (refused.json(), again.json());
    assert_eq!(
        (&after["code"], &after["existingId"], again.status),
        (&before["code"], &before["existingId"], 409)
    );
    assert_eq!(again.header("content-type"), Some("application/problem+json"));
    // What was wrong with the request, or with the moment, is not kept: it can be set right.
    post(&bench, "P/keywords", "other", json!({ "keyword": 1 }))
        .await
        .refuses(422, "validation_failed");
    let right = post(&bench, "P/keywords", "other", json!({ "keyword": "chair" })).await;
    assert_eq!((right.status, is_replay(&right)), (201, false));
    let missing = async || {
        bench
            .call("PATCH", "P/keywords/x")
            .header("idempotency-key", "third")
            .json(&json!({}))
            .send()
            .await
    };
    missing().await.refuses(404, "not_found");
    assert!(!is_replay(&missing().await));
}

async fn an_answer_is_kept_for_two_days(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let body = json!({ "keyword": "desk" });
    post(&bench, "P/keywords", "k", body.clone()).await;
    let started = post(&bench, "P/audits", "k", json!({})).await;
    assert_eq!(started.status, 202);
    bench.clock.advance(48 * HOUR - 1);
    assert!(is_replay(&post(&bench, "P/keywords", "k", body.clone()).await));
    bench.clock.advance(1);
    let anew = post(&bench, "P/keywords", "k", body).await;
    anew.refuses(409, "already_exists");
    assert!(!is_replay(&anew));
    let audit = post(&bench, "P/audits", "k", json!({})).await;
    assert_eq!(
        (audit.json(), is_replay(&audit), audit.number("retry-after")),
        (started.json(), true, 5)
    );
    assert_eq!(audit.header("location"), started.header("location"));
    bench.clock.advance(28 * 24 * HOUR);
    let anew = post(&bench, "P/audits", "k", json!({})).await;
    assert_eq!(
        (is_replay(&anew), &anew.json()["alreadyRunning"]),
        (false, &json!(true)),
        "after thirty days"
    );
}

/// The operation could be carried out once more, or could not: it is not asked again.
async fn a_repeat_changes_nothing_whatever_became_of_the_record(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let body = json!({ "keyword": "desk" });
    let made = post(&bench, "P/keywords", "create", body.clone()).await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let path = format!("P/keywords/{id}");
    let patch = async |key: &str, volume: i64| {
        bench
            .call("PATCH", &path)
            .header("idempotency-key", key)
            .header("if-match", made.header("etag").unwrap())
            .json(&json!({ "searchVolume": volume }))
            .send()
            .await
    };
    let patched = patch("update", 7).await;
    assert_eq!((patched.status, is_replay(&patched)), (200, false));
    bench.patch(&path, json!({ "searchVolume": 8 })).await;
    let again = patch("update", 7).await;
    assert_eq!((again.body, again.status), (patched.body, 200));
    let refused = patch("stale", 9).await;
    refused.refuses(412, "precondition_failed");
    patch("stale", 10).await.refuses(422, "idempotency_key_reused");
    assert_eq!(bench.get(&path).await.json()["searchVolume"], 8);
    assert_eq!(bench.call("DELETE", &path).send().await.status, 204);
    let activity = bench.get("P/activity").await.json()["data"].clone();
    let again = post(&bench, "P/keywords", "create", body).await;
    assert_eq!((again.status, is_replay(&again)), (201, true));
    assert_eq!(again.body, made.body);
    post(&bench, "P/keywords", "create", json!({ "keyword": "chair" }))
        .await
        .refuses(422, "idempotency_key_reused");
    assert!(bench.keywords().await.is_empty());
    assert_eq!(bench.get("P/activity").await.json()["data"], activity);
}

/// Two posts of one title are allowed, so that nothing but the key holds the second back.
async fn two_posts_at_once_are_one(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for round in 0..5 {
        let (key, body) = (format!("k-{round}"), json!({ "title": "Oak desks" }));
        let (one, other) = tokio::join!(
            post(&bench, "P/posts", &key, body.clone()),
            post(&bench, "P/posts", &key, body.clone())
        );
        for answer in [&one, &other] {
            if answer.status != 201 {
                answer.refuses(409, "idempotency_in_progress");
            }
        }
        assert!(one.status == 201 || other.status == 201);
        let again = post(&bench, "P/posts", &key, body).await;
        assert_eq!((again.status, is_replay(&again)), (201, true));
        let posts = bench.get("P/posts").await.json()["data"].clone();
        assert_eq!(posts.as_array().unwrap().len(), round + 1);
        let events = bench.get("P/events").await.json()["data"].clone();
        let created = |event: &&Value| event["type"] == "post.created";
        assert_eq!(
            events.as_array().unwrap().iter().filter(created).count(),
            round + 1
        );
    }
}

#[tokio::test]
async fn what_is_no_key_is_refused() {
    let bench = Bench::start().await;
    let long = "k".repeat(256);
    for key in ["", " ", "\"\"", "two words", "tab\there", long.as_str()] {
        post(&bench, "P/keywords", key, json!({ "keyword": "desk" }))
            .await
            .refuses(400, "invalid_idempotency_key");
    }
    let two = bench
        .call("POST", "P/keywords")
        .header("idempotency-key", "a")
        .and_header("idempotency-key", "a")
        .json(&json!({ "keyword": "desk" }))
        .send()
        .await;
    two.refuses(400, "invalid_idempotency_key");
    let body = r#"{"keyword":"desk"}"#;
    let bytes = format!(
        "POST /v1/projects/{}/keywords HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nIdempotency-Key: \u{e9}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        bench.project,
        bench.key,
        body.len()
    );
    wire::exchange(bench.server.addresses.api, bytes.as_bytes()).await[0]
        .refuses(400, "invalid_idempotency_key");
    assert!(bench.keywords().await.is_empty());
    let widest = post(
        &bench,
        "P/keywords",
        &"~".repeat(255),
        json!({ "keyword": "desk" }),
    )
    .await;
    assert_eq!(widest.status, 201);
}

//! Places, time and memory: what is slow or too much at once is cut off or refused, and costs nobody else.

use std::sync::mpsc;

use searchwright_server::serve::Server;
use searchwright_store::Error;
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Bench},
    mcp,
    wire::{self, Wire},
};

/// Writes wait until this is dropped.
struct Held(#[expect(dead_code, reason = "its drop is the signal")] mpsc::Sender<()>);

/// Occupies the one thread that writes, from the moment this returns.
async fn hold_writes(server: &Server) -> Held {
    let (release, released) = mpsc::channel::<()>();
    let (begin, begun) = tokio::sync::oneshot::channel();
    let db = server.app.engine.db.clone();
    tokio::spawn(async move {
        db.write(move |_| {
            let _ = begin.send(());
            let _ = released.recv();
            Box::pin(async { Ok::<(), Error>(()) })
        })
        .await
    });
    begun.await.unwrap();
    Held(release)
}

/// A request to add a keyword, up to its body.
fn head(bench: &Bench, key: &str, more: &str, length: usize) -> String {
    let project = bench.project;
    format!(
        "POST /v1/projects/{project}/keywords HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{}{more}Content-Length: {length}\r\n\r\n",
        if key.is_empty() {
            String::new()
        } else {
            format!("Authorization: Bearer {key}\r\n")
        },
    )
}

async fn open(bench: &Bench) -> Wire {
    Wire::open(bench.server.addresses.api).await
}

/// Asks until the answer is another than this: the server takes its time to see what was sent to it.
async fn until_not(status: u16, ask: impl AsyncFn() -> Answer) -> Answer {
    loop {
        let answer = ask().await;
        if answer.status != status {
            return answer;
        }
    }
}

#[tokio::test]
async fn when_every_place_is_taken_the_next_is_refused() {
    let bench = Bench::with(&["limits.concurrent=1"]).await;
    let held = hold_writes(&bench.server).await;
    let body = r#"{"keyword":"slow"}"#;
    let mut slow = open(&bench).await;
    let asks = head(&bench, &bench.key, "Expect: 100-continue\r\n", body.len());
    slow.send(asks.as_bytes()).await;
    assert_eq!(slow.answer().await.status, 100);
    slow.send(body.as_bytes()).await;
    while bench.server.app.turns.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    let refused = bench.get("/me").await;
    let problem = refused.refuses(503, "overloaded");
    assert_eq!(
        (refused.number("retry-after"), &problem["retryable"]),
        (1, &json!(true))
    );
    let health = bench
        .http
        .get(format!("http://{}/healthz", bench.server.addresses.api))
        .send()
        .await
        .unwrap();
    assert_eq!(health.status(), 200, "probes are let through");
    drop(held);
    assert_eq!(slow.answer().await.status, 201);
    assert_eq!(bench.keywords().await, ["slow"], "the place is free again");
}

#[tokio::test]
async fn reads_go_on_while_changes_wait_for_the_disk() {
    let bench = Bench::with(&["limits.concurrent=4"]).await;
    let held = hold_writes(&bench.server).await;
    let mut waiting = Vec::new();
    for number in 0..3 {
        let body = format!(r#"{{"keyword":"slow {number}"}}"#);
        let mut slow = open(&bench).await;
        slow.send(format!("{}{body}", head(&bench, &bench.key, "", body.len())).as_bytes())
            .await;
        waiting.push(slow);
    }
    while bench.server.app.turns.available_permits() > 1 || bench.server.app.changes.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    let refused = bench.post("P/keywords", json!({ "keyword": "one more" })).await;
    refused.refuses(503, "overloaded");
    let over_mcp = mcp::tool(&bench, "keywords_create", json!({ "keyword": "one more" })).await;
    assert_eq!(over_mcp["isError"], true, "{over_mcp}");
    for _ in 0..5 {
        assert_eq!(bench.get("P/keywords").await.status, 200);
    }
    drop(held);
    for mut slow in waiting {
        assert_eq!(slow.answer().await.status, 201);
    }
    assert_eq!(
        bench
            .post("P/keywords", json!({ "keyword": "one more" }))
            .await
            .status,
        201
    );
}

#[tokio::test]
async fn nobody_holds_a_place_while_a_body_trickles_in() {
    let bench = Bench::with(&["limits.concurrent=1", "limits.concurrent_per_credential=1"]).await;
    let body = r#"{"keyword":"slow"}"#;
    for (key, status) in [(bench.key.as_str(), 201), ("", 401)] {
        let mut slow = open(&bench).await;
        let asks = head(&bench, key, "Expect: 100-continue\r\n", body.len());
        slow.send(asks.as_bytes()).await;
        // The server asks for the body, so it is past where places are taken first.
        assert_eq!(slow.answer().await.status, 100);
        assert_eq!(bench.get("/me").await.status, 200);
        slow.send(&body.as_bytes()[..5]).await;
        assert_eq!(bench.get("/me").await.status, 200);
        slow.send(&body.as_bytes()[5..]).await;
        assert_eq!(slow.answer().await.status, status);
    }
}

#[tokio::test]
async fn bodies_on_their_way_have_a_share_of_memory_each_and_one_for_all() {
    let bench = Bench::with(&["limits.body_bytes=50", "limits.body_bytes_per_credential=32"]).await;
    let mut keys = vec![bench.key.clone()];
    for _ in 0..2 {
        keys.push(bench.key_for(bench.project, &[]).await);
    }
    let small = json!({ "unknown": 12 });
    assert_eq!(small.to_string().len(), 14);
    let ask = async |key: &String| {
        bench
            .call("POST", "P/keywords")
            .key(key)
            .json(&small)
            .send()
            .await
    };
    let body = r#"{"keyword":"slow and long"}"#;
    let mut slow = Vec::new();
    for key in &keys[..2] {
        let mut wire = open(&bench).await;
        let begun = format!("{}{}", head(&bench, key, "", body.len()), &body[..20]);
        wire.send(begun.as_bytes()).await;
        // 20 bytes are held: 14 more are beyond the sender's share.
        let refused = until_not(422, async || ask(key).await).await;
        refused.refuses(503, "overloaded");
        assert_eq!(refused.number("retry-after"), 1);
        slow.push(wire);
        if slow.len() == 1 {
            ask(&keys[2]).await.refuses(422, "validation_failed");
        }
    }
    // 40 bytes are held: 14 more are beyond what there is for all.
    ask(&keys[2]).await.refuses(503, "overloaded");
    bench
        .call("POST", "P/keywords")
        .no_key()
        .json(&small)
        .send()
        .await
        .refuses(503, "overloaded");
    assert_eq!(
        bench.get("/me").await.status,
        200,
        "what has no body needs none of it"
    );
    let mut first = slow.remove(0);
    first.send(&body.as_bytes()[20..]).await;
    assert_eq!(first.answer().await.status, 201);
    ask(&keys[2]).await.refuses(422, "validation_failed");
    // A connection that ends gives back what it held.
    drop(slow);
    until_not(503, async || ask(&keys[1]).await)
        .await
        .refuses(422, "validation_failed");
}

#[tokio::test]
async fn a_body_has_a_time_to_arrive() {
    let bench = Bench::with(&["limits.body_ms=50"]).await;
    for key in [bench.key.as_str(), ""] {
        let mut slow = open(&bench).await;
        slow.send(format!("{}{{", head(&bench, key, "", 10)).as_bytes())
            .await;
        let late = slow.answer().await;
        let problem = late.refuses(408, "request_timeout");
        assert_eq!(
            (late.number("retry-after"), &problem["retryable"]),
            (1, &json!(true))
        );
    }
    assert!(bench.keywords().await.is_empty());
}

#[tokio::test]
async fn the_other_door_reads_bodies_under_the_same_limits() {
    let bench = Bench::with(&["limits.body_ms=50"]).await;
    let head = |length: usize| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n",
            bench.key
        )
    };
    for (length, status, code) in [(10, 408, "request_timeout"), (2 << 20, 413, "payload_too_large")] {
        let mut slow = Wire::open(bench.server.addresses.mcp).await;
        slow.send(format!("{}{{", head(length)).as_bytes()).await;
        slow.answer().await.refuses(status, code);
    }
}

#[tokio::test]
async fn a_call_has_a_time_to_be_carried_out() {
    let bench = Bench::with(&["limits.call_ms=50"]).await;
    let held = hold_writes(&bench.server).await;
    let add = async || {
        let call = bench.call("POST", "P/keywords").header("idempotency-key", "once");
        call.json(&json!({ "keyword": "late" })).send().await
    };
    let late = add().await;
    let problem = late.refuses(504, "request_timed_out");
    assert_eq!(
        (late.number("retry-after"), &problem["retryable"]),
        (5, &Value::Bool(true))
    );
    drop(held);
    let repeated = until_not(504, add).await;
    assert_eq!(repeated.status, 201, "{repeated:?}");
    assert_eq!(bench.keywords().await, ["late"], "however often it was sent");
}

#[tokio::test]
async fn headers_have_a_time_to_arrive() {
    let bench = Bench::with(&["limits.headers_ms=500"]).await;
    let held = hold_writes(&bench.server).await;
    let body = r#"{"keyword":"slow"}"#;
    let mut slow = open(&bench).await;
    slow.send(format!("{}{body}", head(&bench, &bench.key, "", body.len())).as_bytes())
        .await;
    let begun = [
        "",
        "P",
        "GET /v1/me HT",
        "GET /v1/me HTTP/1.1\r\nHost: x\r\nX-A: ",
        // HTTP/2: the preface in part, the preface alone, and headers that go on in a frame that never comes.
        "PRI * HTTP/2.0\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x01\0\0\0\x01\u{2}",
    ];
    let cut = begun.map(async |begun| {
        let mut wire = open(&bench).await;
        wire.send(begun.as_bytes()).await;
        let rest = wire.rest().await;
        if !begun.starts_with("PRI") {
            let answers = wire::answers(&rest);
            assert!(answers.iter().all(|a| a.status == 408), "{begun}: {answers:?}");
        }
    });
    futures_util::future::join_all(cut).await;
    drop(held);
    assert_eq!(slow.answer().await.status, 201, "what has begun is not cut");
}

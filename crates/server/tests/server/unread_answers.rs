//! Answers that nobody reads: they end, and until then they hold places and a share of memory that is bounded.

use std::time::{Duration, Instant};

use searchwright_contract::people::Role;
use serde_json::json;

use crate::{
    browser::Browser,
    dashboard_audits::{address, signed_in},
    harness::Bench,
    http2::{DATA, HEADERS, Http2, PING, RESET},
    wire::Wire,
};

/// How many of the largest document are more than the systems of both sides keep.
const MANY: usize = 40;

fn many_documents() -> Vec<u8> {
    b"GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(MANY)
}

/// Time for which a slow reader reads: twice the time for which nothing may be read.
const SLOW: Duration = Duration::from_secs(4);

/// Pauses for 50 ms, in which others are answered.
async fn pause(bench: &Bench) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(50) {
        assert_eq!(bench.get("/me").await.status, 200);
    }
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_answer_that_nobody_reads_ends_with_its_connection() {
    let bench = Bench::with(&["limits.write_ms=200"]).await;
    for address in [bench.server.addresses.api, bench.server.addresses.mcp] {
        let mut wire = Wire::open(address).await;
        let asks = if address == bench.server.addresses.api {
            many_documents()
        } else {
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
            format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\nContent-Length: {}\r\n\r\n{body}",
                bench.key,
                body.len()
            )
            .repeat(200)
            .into_bytes()
        };
        // the server stops reading while it cannot write
        let _ = tokio::time::timeout(Duration::from_millis(100), wire.send(&asks)).await;
        until(|| bench.server.app.connections.count() == 1).await;
        until(|| bench.server.app.connections.count() == 0).await;
    }
}

#[tokio::test]
async fn a_slow_reader_gets_it_all() {
    let bench = Bench::with(&["limits.write_ms=2000"]).await;
    let mut wire = Wire::open(bench.server.addresses.api).await;
    wire.send(&many_documents()).await;
    let mut read = 0;
    let begun = Instant::now();
    while begun.elapsed() < SLOW {
        // a system tells the sender only of room for a whole packet, which on loopback are 64 KiB
        read += wire.some(32_768).await;
        pause(&bench).await;
    }
    let all = wire.exactly(MANY).await;
    assert!(
        all.iter().all(|answer| answer.status == 200),
        "{read} bytes were read slowly"
    );
}

#[tokio::test]
async fn a_stream_that_nobody_reads_is_reset_and_the_others_go_on() {
    let bench = Bench::with(&["limits.write_ms=200"]).await;
    for window in [0, 20_000] {
        let mut client = Http2::open(bench.server.addresses.api, window).await;
        client.get(1, "/v1/openapi.json", "").await;
        assert_eq!(client.until(HEADERS).await.stream, 1);
        assert_eq!(client.until(RESET).await.stream, 1);
        client.ping().await;
        client.until(PING).await;
        client.get(3, "/healthz", "").await;
        client.open_window(3, 100).await;
        assert_eq!(client.until(DATA).await.payload, b"ok\n");
    }
}

#[tokio::test]
async fn a_slow_stream_goes_on() {
    let bench = Bench::with(&["limits.write_ms=2000"]).await;
    let mut client = Http2::open(bench.server.addresses.api, 16_000).await;
    let mut stream = 1;
    client.get(stream, "/v1/openapi.json", "").await;
    let mut read = 0;
    let begun = Instant::now();
    while begun.elapsed() < SLOW {
        let frame = client
            .next()
            .await
            .unwrap_or_else(|| panic!("the connection ended after {read} bytes"));
        assert_ne!(frame.kind, RESET, "{frame:?} after {read} bytes");
        if frame.kind == DATA {
            read += frame.payload.len();
            let length = frame.payload.len() as u32;
            pause(&bench).await;
            if frame.flags & 1 == 1 {
                stream += 2;
                client.get(stream, "/v1/openapi.json", "").await;
            }
            if length > 0 {
                client.open_window(0, length).await;
                client.open_window(frame.stream, length).await;
            }
        }
    }
}

#[tokio::test]
async fn places_are_held_until_the_answer_is_written() {
    let bench = Bench::with(&["limits.concurrent_per_credential=1"]).await;
    let other = bench.key_for(bench.project, &[]).await;
    let mut client = Http2::open(bench.server.addresses.api, 0).await;
    for stream in [1, 3] {
        client.get(stream, "/v1/me", &bench.key).await;
        assert_eq!(client.until(HEADERS).await.stream, stream);
        let refused = bench.get("/me").await;
        refused.refuses(503, "overloaded");
        assert_eq!(refused.number("retry-after"), 1);
        assert_eq!(bench.call("GET", "/me").key(&other).send().await.status, 200);
        if stream == 1 {
            client.reset(1).await;
        } else {
            client.open_window(3, 100_000).await;
        }
        while bench.get("/me").await.status != 200 {}
    }
}

#[tokio::test]
async fn answers_under_way_have_a_share_of_memory_each_and_one_for_all() {
    let bench = Bench::with(&[
        "limits.answer_bytes=500000",
        "limits.answer_bytes_per_credential=300000",
    ])
    .await;
    let mut keys = vec![bench.key.clone()];
    for _ in 0..2 {
        keys.push(bench.key_for(bench.project, &[]).await);
    }
    let content = "Word after word. ".repeat(12_000);
    let made = bench
        .post("P/posts", json!({ "title": "Long", "content": content }))
        .await;
    assert_eq!(made.status, 201, "{made:?}");
    let path = format!(
        "/v1/projects/{}/posts/{}",
        bench.project,
        made.json()["id"].as_str().unwrap()
    );
    let mut client = Http2::open(bench.server.addresses.api, 0).await;
    let ask = async |key: &String| bench.call("GET", "/me").key(key).send().await;
    client.get(1, &path, &keys[0]).await;
    assert_eq!(client.until(HEADERS).await.stream, 1);
    // One that is larger than a share goes, and then none until it is read.
    let refused = ask(&keys[0]).await;
    refused.refuses(503, "overloaded");
    assert_eq!(refused.number("retry-after"), 1);
    assert_eq!(ask(&keys[1]).await.status, 200);
    client.get(3, &path, &keys[1]).await;
    client.until(HEADERS).await;
    // That one would be beyond what there is for all.
    let large = bench.call("GET", path.strip_prefix("/v1").unwrap()).key(&keys[2]);
    large.send().await.refuses(503, "overloaded");
    client.reset(1).await;
    while ask(&keys[0]).await.status != 200 {}
}

#[tokio::test]
async fn a_preview_that_nobody_reads_takes_the_share_of_its_session_and_no_other() {
    let bench = Bench::with(&["limits.answer_bytes_per_credential=1000000"]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/keywords/import");
    let page = ann.open(&path).await;
    let (csrf, once) = (page.field("csrf"), page.field("once"));
    // Each of these signs takes five bytes in a page, so that it is longer than the systems of both sides keep.
    let signs = "\"".repeat(3_000_000);
    let body = format!("csrf={csrf}&once={once}&action=preview&file=keyword%0A{signs}");
    let cookie = ann.cookie.borrow().clone().unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nCookie: __Host-session={cookie}\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut wire = Wire::open(bench.server.addresses.api).await;
    wire.send(request.as_bytes()).await;
    wire.some(16).await;
    let fields = [
        ("csrf", csrf.as_str()),
        ("once", &once),
        ("action", "preview"),
        ("file", "keyword\noak"),
    ];
    assert_eq!(ann.send(&path, &fields).await.status, 503);
    assert_eq!(Browser::new(&bench).open("/login").await.status, 200);
}

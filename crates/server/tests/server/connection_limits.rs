//! Connections: as many as there is room for, each for as long as it is used.

use serde_json::json;

use crate::{
    harness::Bench,
    http2::{GOAWAY, HEADERS, Http2, PING},
    wire::{self, Wire},
};

const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

async fn is_healthy(wire: &mut Wire) -> bool {
    wire.send(HEALTH).await && wire.answer().await.status == 200
}

/// A connection whose request goes on.
async fn busy(bench: &Bench) -> Wire {
    let mut wire = Wire::open(bench.server.addresses.api).await;
    let head = format!(
        "POST /v1/projects/{}/keywords HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n",
        bench.project, bench.key
    );
    wire.send(head.as_bytes()).await;
    assert_eq!(wire.answer().await.status, 100);
    wire
}

#[tokio::test]
async fn one_address_has_its_share_and_others_theirs() {
    let bench = Bench::with(&["limits.connections_per_address=2"]).await;
    let mut first = busy(&bench).await;
    let _second = busy(&bench).await;
    for address in [bench.server.addresses.api, bench.server.addresses.mcp] {
        assert!(
            Wire::open(address).await.rest().await.is_empty(),
            "closed at once, at every door"
        );
    }
    let mut other = Wire::open_from([127, 0, 0, 2], bench.server.addresses.api).await;
    assert!(is_healthy(&mut other).await);
    // Its own connection that is idle makes room.
    first.send(b"          ").await;
    assert_eq!(first.answer().await.status, 400);
    let mut third = Wire::open(bench.server.addresses.api).await;
    assert!(is_healthy(&mut third).await);
    assert!(first.rest().await.is_empty());
    assert!(is_healthy(&mut other).await);
}

#[tokio::test]
async fn the_connection_that_is_idle_for_longest_makes_room() {
    let bench = Bench::with(&["limits.connections=3"]).await;
    let address = bench.server.addresses.api;
    let mut busy = busy(&bench).await;
    let mut idle = [Wire::open(address).await, Wire::open(address).await];
    for wire in [1, 0] {
        assert!(is_healthy(&mut idle[wire]).await);
    }
    let mut next = Wire::open_from([127, 0, 0, 2], address).await;
    assert!(is_healthy(&mut next).await);
    let [first, second] = &mut idle;
    assert!(second.rest().await.is_empty());
    assert!(is_healthy(first).await && is_healthy(&mut next).await);
    busy.send(b"          ").await;
    assert_eq!(busy.answer().await.status, 400);
    assert_eq!(bench.server.app.connections.count(), 3);
}

#[tokio::test]
async fn trusted_proxies_share_the_limit_of_all() {
    let bench = Bench::with(&[
        "limits.connections_per_address=1",
        "trusted_proxies=[\"127.0.0.1\"]",
    ])
    .await;
    let _all = [busy(&bench).await, busy(&bench).await, busy(&bench).await];
    let address = bench.server.addresses.api;
    let mut stranger = Wire::open_from([127, 0, 0, 2], address).await;
    assert!(is_healthy(&mut stranger).await);
}

/// A connection that is silent after its first request is not one that never made it.
#[tokio::test]
async fn idle_connections_live_on() {
    let bench = Bench::with(&["limits.headers_ms=100"]).await;
    let address = bench.server.addresses.api;
    let mut kept = Wire::open(address).await;
    kept.send(HEALTH).await;
    let answer = kept.answer().await;
    assert_eq!(
        (answer.status, answer.header("keep-alive")),
        (200, Some("timeout=75"))
    );
    let mut two = Http2::open(address, 100).await;
    two.get(1, "/healthz", "").await;
    two.until(HEADERS).await;
    // As long as these are waited for, they are idle.
    for _ in 0..3 {
        assert!(Wire::open(address).await.rest().await.is_empty());
    }
    assert!(is_healthy(&mut kept).await);
    two.get(3, "/healthz", "").await;
    assert_eq!(two.until(HEADERS).await.stream, 3);
    // The headers of the next request have their time as those of the first.
    assert!(kept.send(b"GET /healthz HT").await);
    let late = wire::answers(&kept.rest().await);
    assert_eq!(late.iter().map(|a| a.status).collect::<Vec<_>>(), [408]);
}

#[tokio::test]
async fn idle_connections_end() {
    let bench = Bench::with(&["limits.idle_ms=200"]).await;
    let mut kept = Wire::open(bench.server.addresses.api).await;
    assert!(is_healthy(&mut kept).await);
    assert!(kept.rest().await.is_empty());
    let mut two = Http2::open(bench.server.addresses.api, 100).await;
    two.get(1, "/healthz", "").await;
    let mut has_said = false;
    // Pings, asked and answered, are no use of a connection.
    while two.ping().await {
        match two.next().await {
            Some(frame) if frame.kind == GOAWAY => has_said = true,
            Some(frame) => assert!(frame.kind != PING || frame.flags == 1),
            None => break,
        }
    }
    assert!(has_said, "it is told before");
}

#[tokio::test]
async fn a_request_names_one_host() {
    let bench = Bench::start().await;
    for address in [bench.server.addresses.api, bench.server.addresses.mcp] {
        for hosts in [
            "",
            "Host: x\r\nHost: x\r\n",
            "Host: x\r\nHost: y\r\n",
            "Host: a b\r\n",
            "Host: http://x\r\n",
            "Host: x/y\r\n",
            "Host: me@x\r\n",
            "Host: x:y\r\n",
            "Host:\r\n",
        ] {
            let request = format!("GET /healthz HTTP/1.1\r\n{hosts}\r\n");
            let answers = wire::exchange(address, request.as_bytes()).await;
            assert_eq!(answers.len(), 1, "{hosts}");
            let problem = answers[0].refuses(400, "malformed_request");
            assert!(problem["detail"].as_str().unwrap().contains("Host"), "{problem}");
            assert_eq!(answers[0].header("connection"), Some("close"));
        }
    }
    for (version, hosts) in [
        ("1.1", "Host: [::1]:8787\r\n"),
        ("1.1", "Host: example.com:80\r\n"),
        ("1.0", ""),
    ] {
        let request = format!("GET /healthz HTTP/{version}\r\n{hosts}Connection: close\r\n\r\n");
        let answers = wire::exchange(bench.server.addresses.api, request.as_bytes()).await;
        assert_eq!(answers[0].status, 200, "{version} {hosts}");
    }
}

/// A client that sends a body that is too large, all of it before it reads, sees why it is refused.
#[tokio::test]
async fn what_is_too_large_is_read_on_for_a_moment() {
    let bench = Bench::start().await;
    let body = vec![b' '; 17 << 20];
    for (address, path) in [
        (
            bench.server.addresses.api,
            format!("/v1/projects/{}/keywords", bench.project),
        ),
        (bench.server.addresses.mcp, "/mcp".to_owned()),
    ] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            bench.key,
            body.len()
        );
        for _ in 0..5 {
            let mut wire = Wire::open(address).await;
            assert!(wire.send(head.as_bytes()).await && wire.send(&body).await);
            let answers = wire::answers(&wire.rest().await);
            answers[0].refuses(413, "payload_too_large");
        }
    }
    assert_eq!(
        bench.post("P/keywords", json!({ "keyword": "a" })).await.status,
        201
    );
}

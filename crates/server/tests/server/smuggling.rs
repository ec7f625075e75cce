//! Requests that two readers could take for different ones: refused, or read as one and answered once.

use crate::{
    harness::{Answer, Bench},
    http2::{GOAWAY, Http2},
    wire,
};

/// The answers to a request with these header lines and this body, on a connection of its own.
async fn send(bench: &Bench, line: &str, headers: &str, body: &str) -> Vec<Answer> {
    let request = format!(
        "{line}\r\nHost: x\r\nAuthorization: Bearer {}\r\n{headers}\r\n{body}",
        bench.key
    );
    wire::exchange(bench.server.addresses.api, request.as_bytes()).await
}

#[tokio::test]
async fn two_ways_to_tell_the_length_are_refused() {
    let bench = Bench::start().await;
    let line = format!("POST /v1/projects/{}/keywords HTTP/1.1", bench.project);
    let hidden = "0\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n";
    for headers in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: -1\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
    ] {
        let answers = send(&bench, &line, headers, hidden).await;
        assert!(answers.len() <= 1, "{headers}: {answers:#?}");
        assert!(
            answers.iter().all(|a| matches!(a.status, 400 | 501)),
            "{headers}: {answers:#?}"
        );
    }
    assert!(bench.keywords().await.is_empty());
}

/// RFC 9112, 6.1: with both, the chunks count, and the connection ends with the answer, because what follows
/// may be somebody else's idea of this request's body.
#[tokio::test]
async fn a_length_beside_chunks_ends_the_connection() {
    let bench = Bench::start().await;
    let line = format!("POST /v1/projects/{}/keywords HTTP/1.1", bench.project);
    let hidden = format!(
        "0\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n",
        bench.key
    );
    for headers in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 120\r\n",
    ] {
        let answers = send(&bench, &line, headers, &hidden).await;
        let [only] = answers.as_slice() else {
            panic!("{headers}: {answers:#?}")
        };
        only.refuses(422, "validation_failed");
        assert_eq!(only.header("connection"), Some("close"));
    }
    let length = send(
        &bench,
        "GET /v1/me HTTP/1.1",
        "\r\nGET /v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n",
        "",
    )
    .await;
    assert_eq!(length.len(), 2, "pipelining as such is fine");
}

#[tokio::test]
async fn headers_that_are_none_are_refused() {
    let bench = Bench::start().await;
    for (line, headers) in [
        ("GET /v1/me HTTP/1.1", "X-A: 1\r\n folded: 2\r\n"),
        ("GET /v1/me HTTP/1.1", "X-A : 1\r\n"),
        ("GET /v1/me HTTP/1.1", "X-A: 1\rX-B: 2\r\n"),
        ("GET /v1/me HTTP/1.1", "X-A: 1\0\r\n"),
        ("GET /v1/me HTTP/1.1", "X A: 1\r\n"),
        ("GET /v1/me HTTP/1.1", "no colon\r\n"),
        ("GET  /v1/me HTTP/1.1", ""),
        ("GET /v1/me HTTP/1.1 x", ""),
        ("GET /v1/ me HTTP/1.1", ""),
        ("GET /v1/me HTTP/3.0", ""),
        ("GET /v1/me", ""),
        ("G\u{1}T /v1/me HTTP/1.1", ""),
        ("GET /v1/m\u{e9} HTTP/1.1\r\nX: \u{1}", ""),
    ] {
        let answers = send(&bench, line, headers, "").await;
        assert!(answers.len() <= 1, "{line} {headers}: {answers:#?}");
        assert!(
            answers.iter().all(|a| matches!(a.status, 400 | 505)),
            "{line} {headers:?}: {answers:#?}"
        );
    }
}

/// A bare line feed may end a header line (RFC 9112, 2.2). Then it has to do so everywhere: what follows
/// the empty line is a body or a next request, and never a header.
#[tokio::test]
async fn a_bare_line_feed_hides_no_second_request() {
    let bench = Bench::start().await;
    let request = format!(
        "POST /v1/projects/{}/keywords HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nX-A: 1\nContent-Length: 34\r\nConnection: close\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n...",
        bench.project, bench.key
    );
    let answers = wire::exchange(bench.server.addresses.api, request.as_bytes()).await;
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert!(matches!(answers[0].status, 400 | 415), "{answers:#?}");
}

#[tokio::test]
async fn chunks_are_read_strictly() {
    let bench = Bench::start().await;
    let line = format!("POST /v1/projects/{}/keywords HTTP/1.1", bench.project);
    let headers = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n";
    let body = r#"{"keyword":"whole"}"#;
    for bad in [
        format!("{:x}\n{body}\r\n0\r\n\r\n", body.len() + 40),
        format!("-{:x}\r\n{body}\r\n0\r\n\r\n", body.len()),
        format!("0x{:x}\r\n{body}\r\n0\r\n\r\n", body.len()),
        format!("{:x} \u{1}\r\n{body}\r\n0\r\n\r\n", body.len()),
        format!("ffffffffffffffff1\r\n{body}\r\n0\r\n\r\n"),
        format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len() - 1),
        format!("{:x}\r\n{body}x\r\n0\r\n\r\n", body.len()),
    ] {
        let answers = send(&bench, &line, headers, &bad).await;
        assert!(answers.len() <= 1, "{bad}");
        assert!(
            answers.iter().all(|a| matches!(a.status, 400 | 413)),
            "{bad}: {answers:#?}"
        );
    }
    assert!(bench.keywords().await.is_empty());
    let good = format!(
        "5;name=value\r\n{}\r\n{:x}\r\n{}\r\n0\r\nTrailer: x\r\n\r\n",
        &body[..5],
        body.len() - 5,
        &body[5..]
    );
    assert_eq!(send(&bench, &line, headers, &good).await[0].status, 201);
}

#[tokio::test]
async fn heads_have_a_limit() {
    let bench = Bench::start().await;
    let long = format!("GET /v1/me?x={} HTTP/1.1", "x".repeat(8 * 1024));
    send(&bench, &long, "Connection: close\r\n", "").await[0].refuses(414, "uri_too_long");
    let endless = format!("GET /v1/me?x={} HTTP/1.1", "x".repeat(100 * 1024));
    let answers = send(&bench, &endless, "Connection: close\r\n", "").await;
    assert!(
        answers.iter().all(|a| matches!(a.status, 414 | 431)),
        "{answers:#?}"
    );
    let fits = format!("GET /v1/me?{} HTTP/1.1", "&".repeat(8 * 1024 - 7));
    assert_eq!(
        send(&bench, &fits, "Connection: close\r\n", "").await[0].status,
        200
    );

    let fields =
        |n: usize| (0..n).map(|n| format!("X-{n}: 1\r\n")).collect::<String>() + "Connection: close\r\n";
    assert_eq!(
        send(&bench, "GET /v1/me HTTP/1.1", &fields(97), "").await[0].status,
        200
    );
    send(&bench, "GET /v1/me HTTP/1.1", &fields(98), "").await[0].refuses(431, "headers_too_large");
    let answers = send(&bench, "GET /v1/me HTTP/1.1", &fields(2000), "").await;
    assert!(answers.iter().all(|a| a.status == 431), "{answers:#?}");

    let wide = |bytes: usize| format!("X-A: {}\r\nConnection: close\r\n", "x".repeat(bytes));
    assert_eq!(
        send(&bench, "GET /v1/me HTTP/1.1", &wide(16_000), "").await[0].status,
        200
    );
    send(&bench, "GET /v1/me HTTP/1.1", &wide(16 * 1024), "").await[0].refuses(431, "headers_too_large");
    let answers = send(&bench, "GET /v1/me HTTP/1.1", &wide(200_000), "").await;
    assert!(answers.iter().all(|a| a.status == 431), "{answers:#?}");
}

#[tokio::test]
async fn http_2_in_the_clear_and_http_1_0() {
    let bench = Bench::start().await;
    let two = reqwest::Client::builder().http2_prior_knowledge().no_proxy();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let tls = tls
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let client = two.tls_backend_preconfigured(tls).build().unwrap();
    let me = client
        .get(format!("http://{}/v1/me", bench.server.addresses.api))
        .bearer_auth(&bench.key)
        .send()
        .await
        .unwrap();
    assert_eq!((me.version(), me.status().as_u16()), (http::Version::HTTP_2, 200));
    let old = send(&bench, "GET /v1/me HTTP/1.0", "", "").await;
    assert_eq!((old.len(), old[0].status), (1, 200));
}

#[tokio::test]
async fn a_flood_of_resets_ends_its_connection() {
    let bench = Bench::start().await;
    let mut client = Http2::open(bench.server.addresses.api, 1 << 16).await;
    client.flood(2_000).await;
    let end = client.until(GOAWAY).await;
    // ENHANCE_YOUR_CALM
    assert_eq!(end.payload[4..8], 11_u32.to_be_bytes(), "{end:?}");
    assert_eq!(bench.get("/me").await.status, 200, "others notice nothing");
}

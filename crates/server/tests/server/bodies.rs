//! Bodies: strict JSON of one object, bounded, of the type that was said.

use serde_json::json;

use crate::{
    harness::Bench,
    wire::{self, Wire},
};

const MEBIBYTE: usize = 1 << 20;

#[tokio::test]
async fn what_other_parsers_read_in_two_ways_is_refused() {
    let bench = Bench::start().await;
    let deep = |n| format!("{{\"keyword\":{}{}}}", "[".repeat(n), "]".repeat(n));
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("twice", br#"{"keyword":"a","keyword":"b"}"#.to_vec()),
        (
            "twice, escaped",
            br#"{"keyword":"a","\u006beyword":"b"}"#.to_vec(),
        ),
        ("twice, deeper", br#"{"keyword":{"a":1,"a":2}}"#.to_vec()),
        ("NUL, escaped", br#"{"keyword":"a\u0000b"}"#.to_vec()),
        ("NUL, as it is", b"{\"keyword\":\"a\0b\"}".to_vec()),
        ("NUL in a name", br#"{"key\u0000word":"a"}"#.to_vec()),
        ("deep", deep(32).into_bytes()),
        ("very deep", deep(200_000).into_bytes()),
        (
            "two byte order marks",
            b"\xef\xbb\xbf\xef\xbb\xbf{\"keyword\":\"a\"}".to_vec(),
        ),
        ("trailing value", br#"{"keyword":"a"} {}"#.to_vec()),
        ("trailing comma", br#"{"keyword":"a",}"#.to_vec()),
        ("comment", br#"{"keyword":"a"} // b"#.to_vec()),
        ("single quotes", b"{'keyword':'a'}".to_vec()),
        ("invalid UTF-8", b"{\"keyword\":\"\xff\"}".to_vec()),
        ("overlong UTF-8", b"{\"keyword\":\"\xc0\xaf\"}".to_vec()),
        ("lone surrogate", br#"{"keyword":"\ud83c"}"#.to_vec()),
        (
            "huge integer",
            br#"{"keyword":"a","searchVolume":9007199254740992}"#.to_vec(),
        ),
        ("huge number", br#"{"keyword":"a","searchVolume":1e999}"#.to_vec()),
        ("not a number", br#"{"keyword":"a","searchVolume":NaN}"#.to_vec()),
        ("leading zero", br#"{"keyword":"a","searchVolume":01}"#.to_vec()),
        ("array", br#"[{"keyword":"a"}]"#.to_vec()),
        ("text", br#""keyword""#.to_vec()),
        ("cut off", br#"{"keyword":"a""#.to_vec()),
        ("spaces", b"   ".to_vec()),
        ("form", b"keyword=a".to_vec()),
    ];
    for (name, body) in cases {
        let answer = bench
            .call("POST", "P/keywords")
            .body("application/json", body)
            .send()
            .await;
        let problem = answer.refuses(400, "malformed_json");
        assert_eq!(problem["retryable"], false, "{name}");
    }
    assert!(bench.keywords().await.is_empty());
}

#[tokio::test]
async fn null_is_no_body() {
    let bench = Bench::start().await;
    let call = async |path: &str| {
        let call = bench.call("POST", path);
        call.body("application/json", b"null".to_vec()).send().await
    };
    let refused = call("P/keywords").await.refuses(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/keyword");
    assert_eq!(call("P/audits").await.status, 202);
}

#[tokio::test]
async fn numbers_and_texts_are_taken_for_what_they_are() {
    let bench = Bench::start().await;
    for (text, volume) in [("float", "12.0"), ("exponent", "1.2e1"), ("integer", "12")] {
        let body = format!("{{\"keyword\":\"{text}\",\"searchVolume\":{volume}}}");
        let added = bench
            .call("POST", "P/keywords")
            .body("application/json", body)
            .send()
            .await;
        assert_eq!(
            (added.status, &added.json()["searchVolume"]),
            (201, &json!(12)),
            "{text}"
        );
    }
    let widest = "\u{1f33f}".repeat(200);
    assert_eq!(
        bench
            .post("P/keywords", json!({ "keyword": widest }))
            .await
            .status,
        201,
        "characters are counted, not bytes"
    );
    let escaped = bench
        .call("POST", "P/keywords")
        .body(
            "application/json",
            r#"{"keyword":"\ud83c\udf3f \u00e9 </script> \" \\ \u2028."}"#,
        )
        .send()
        .await;
    assert_eq!(
        escaped.json()["keyword"],
        "\u{1f33f} \u{e9} </script> \" \\ \u{2028}."
    );
}

/// Serialisers write members without a value as `null`, and some editors a byte order mark.
#[tokio::test]
async fn null_is_absent_and_a_byte_order_mark_is_nothing() {
    let bench = Bench::start().await;
    let body = "\u{feff}{\"keyword\":\"desk\",\"intent\":null,\"searchVolume\":null,\"language\":null,\"country\":null}";
    let added = bench
        .call("POST", "P/keywords")
        .body("application/json", body)
        .send()
        .await;
    assert_eq!(
        (added.status, &added.json()["language"]),
        (201, &json!("en")),
        "{added:?}"
    );
    let items = json!({ "items": [{ "name": "Oak", "url": null, "aliases": null }], "onDuplicate": null });
    assert_eq!(bench.post("P/brand/products", items).await.status, 201);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn compressed_body_counts_as_what_is_in_it() {
    let bench = Bench::start().await;
    let send = async |coding: &str, body: Vec<u8>| {
        let call = bench.call("POST", "P/keywords").body("application/json", body);
        call.header("content-encoding", coding).send().await
    };
    for (coding, text) in [
        ("gzip", "a"),
        ("x-gzip", "b"),
        ("GZIP", "c"),
        ("identity, gzip", "d"),
    ] {
        let body = json!({ "keyword": text }).to_string();
        assert_eq!(send(coding, gzip(body.as_bytes())).await.status, 201, "{coding}");
    }
    let plain = json!({ "keyword": "e" }).to_string();
    assert_eq!(send("identity", plain.clone().into_bytes()).await.status, 201);
    for coding in ["br", "zstd", "gzip, gzip"] {
        let refusal = send(coding, gzip(plain.as_bytes())).await;
        let problem = refusal.refuses(415, "unsupported_media_type");
        assert!(
            problem["detail"].as_str().unwrap().contains("Content-Encoding"),
            "{problem}"
        );
        assert_eq!(refusal.header("accept-encoding"), Some("gzip"));
    }
    send("gzip", plain.clone().into_bytes())
        .await
        .refuses(400, "malformed_request");
    let cut = gzip(plain.as_bytes());
    send("gzip", cut[..cut.len() - 9].to_vec())
        .await
        .refuses(400, "malformed_request");
    let padded = format!("{plain}{}", " ".repeat(MEBIBYTE));
    send("gzip", gzip(padded.as_bytes()))
        .await
        .refuses(413, "payload_too_large");
}

#[tokio::test]
async fn every_fault_is_named_at_once() {
    let bench = Bench::start().await;
    let cases = [
        (json!({}), "validation_failed", vec![("/keyword", "required")]),
        (
            json!({ "keyword": null }),
            "validation_failed",
            vec![("/keyword", "null_not_allowed")],
        ),
        (
            json!({ "keyword": "" }),
            "validation_failed",
            vec![("/keyword", "too_short")],
        ),
        (
            json!({ "keyword": " \t" }),
            "validation_failed",
            vec![("/keyword", "blank")],
        ),
        (
            json!({ "keyword": "x".repeat(201) }),
            "validation_failed",
            vec![("/keyword", "too_long")],
        ),
        (
            json!({ "keyword": 5 }),
            "validation_failed",
            vec![("/keyword", "wrong_type")],
        ),
        (
            json!({ "keyword": "a", "searchVolume": "5" }),
            "validation_failed",
            vec![("/searchVolume", "wrong_type")],
        ),
        (
            json!({ "keyword": "a", "searchVolume": -1 }),
            "validation_failed",
            vec![("/searchVolume", "out_of_range")],
        ),
        (
            json!({ "keyword": "a", "searchVolume": 0.5 }),
            "validation_failed",
            vec![("/searchVolume", "wrong_type")],
        ),
        (
            json!({ "keyword": "a", "keywordDifficulty": 101 }),
            "validation_failed",
            vec![("/keywordDifficulty", "out_of_range")],
        ),
        (
            json!({ "keyword": "a", "intent": "shopping" }),
            "validation_failed",
            vec![("/intent", "unknown_value")],
        ),
        (
            json!({ "keyword": "a", "id": null }),
            "unknown_field",
            vec![("/id", "unknown_field")],
        ),
        (
            json!({ "keyword": "a", "country": "1!" }),
            "validation_failed",
            vec![("/country", "not_a_country")],
        ),
        (
            json!({ "keyword": "a", "id": "x" }),
            "unknown_field",
            vec![("/id", "unknown_field")],
        ),
        (
            json!({ "keyword": "a", "a/b~c": 1 }),
            "unknown_field",
            vec![("/a~1b~0c", "unknown_field")],
        ),
        (
            json!({ "keyword": "a", "projectId": bench.project }),
            "unknown_field",
            vec![("/projectId", "unknown_field")],
        ),
        (
            json!({ "keyword": "a", "status": "archived" }),
            "unknown_field",
            vec![("/status", "unknown_field")],
        ),
        (
            json!({ "keyword": 1, "searchVolume": -1, "more": 1 }),
            "validation_failed",
            vec![
                ("/keyword", "wrong_type"),
                ("/searchVolume", "out_of_range"),
                ("/more", "unknown_field"),
            ],
        ),
    ];
    for (body, code, faults) in cases {
        let problem = bench.post("P/keywords", body.clone()).await.refuses(422, code);
        let mut named: Vec<(&str, &str)> = problem["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| (f["pointer"].as_str().unwrap(), f["code"].as_str().unwrap()))
            .collect();
        let mut faults = faults;
        named.sort_unstable();
        faults.sort_unstable();
        assert_eq!(named, faults, "{body}");
    }
    assert!(bench.keywords().await.is_empty());
}

/// Faults of a body are told in a few kilobytes, however much of it is wrong and however long its names are.
#[tokio::test]
async fn an_answer_to_a_faulty_body_is_small() {
    let bench = Bench::start().await;
    let many: String = (0..80_000).map(|n| format!(",\"m{n}\":1")).collect();
    let long = "\u{1}"
        .repeat(100)
        .escape_unicode()
        .to_string()
        .replace("\\u{1}", "\\u0001");
    let long_names: String = (0..300)
        .map(|n| format!(",\"{n}{}\":1", long.repeat(5)))
        .collect();
    let items: Vec<String> = (0..100)
        .map(|_| format!("{{\"a\":1{}}}", &many[..5_000].rsplit_once(',').unwrap().0))
        .collect();
    let twice = "n".repeat(400_000);
    for (path, body, count) in [
        ("P/keywords", format!("{{\"keyword\":\"\"{many}}}"), Some(80_001)),
        ("P/posts", format!("{{\"x\":1{long_names}}}"), Some(301)),
        (
            "P/brand/products",
            format!("{{\"items\":[{}]}}", items.join(",")),
            None,
        ),
        ("P/keywords", format!("{{\"{twice}\":1,\"{twice}\":2}}"), None),
    ] {
        let answer = bench
            .call("POST", path)
            .body("application/json", body)
            .send()
            .await;
        assert!(answer.body.len() < 150_000, "{} bytes", answer.body.len());
        let problem = answer.json();
        let named = problem["errors"].as_array().map_or(0, Vec::len);
        assert!(named <= 100);
        if let Some(count) = count {
            assert_eq!((named, &problem["errorCount"]), (100, &json!(count)));
            assert_eq!(problem["detail"], format!("{count} fields are not valid"));
        }
    }
    let one = bench
        .post("P/keywords", json!({}))
        .await
        .refuses(422, "validation_failed");
    assert_eq!(one["errorCount"], 1);
}

#[tokio::test]
async fn the_type_has_to_be_json_in_utf8() {
    let bench = Bench::start().await;
    for (n, kind) in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON;Charset=\"UTF-8\"",
        "application/json; profile=x",
    ]
    .iter()
    .enumerate()
    {
        let body = json!({ "keyword": format!("k{n}") }).to_string();
        assert_eq!(
            bench
                .call("POST", "P/keywords")
                .body(kind, body)
                .send()
                .await
                .status,
            201,
            "{kind}"
        );
    }
    for kind in [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin1",
        "application/jsonx",
        "application/merge-patch+json",
        "json",
    ] {
        let answer = bench
            .call("POST", "P/keywords")
            .body(kind, r#"{"keyword":"a"}"#)
            .send()
            .await;
        answer.refuses(415, "unsupported_media_type");
        assert_eq!(answer.header("accept-post"), Some("application/json"), "{kind}");
    }
    let id = bench.keyword("patched").await;
    for kind in ["application/json", "application/merge-patch+json"] {
        let patched = bench
            .call("PATCH", &format!("P/keywords/{id}"))
            .body(kind, r#"{"searchVolume":3}"#)
            .send()
            .await;
        assert_eq!(patched.status, 200, "{kind}");
    }
}

#[tokio::test]
async fn an_empty_body_is_an_empty_object_where_a_body_belongs() {
    let bench = Bench::start().await;
    assert_eq!(bench.call("POST", "P/audits").send().await.status, 202);
    bench
        .call("POST", "P/keywords")
        .send()
        .await
        .refuses(422, "validation_failed");
    for (method, path) in [("GET", "P/keywords"), ("DELETE", "P/keywords/x"), ("GET", "/me")] {
        let answer = bench.call(method, path).json(&json!({})).send().await;
        answer.refuses(400, "malformed_request");
    }
}

#[tokio::test]
async fn a_mebibyte_and_no_more() {
    let bench = Bench::start().await;
    let padded = |size: usize, text: &str| {
        let body = json!({ "keyword": text }).to_string();
        format!("{body}{}", " ".repeat(size - body.len()))
    };
    let fits = bench
        .call("POST", "P/keywords")
        .body("application/json", padded(MEBIBYTE, "fits"))
        .send()
        .await;
    assert_eq!(fits.status, 201);
    let head = |extra: &str| {
        format!(
            "POST /v1/projects/{}/keywords HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n{extra}\r\n",
            bench.project, bench.key
        )
    };
    // Said to be too large: refused before a byte of it is read.
    let mut wire = Wire::open(bench.server.addresses.api).await;
    wire.send(head("Content-Length: 2097152\r\n").as_bytes()).await;
    wire.answer().await.refuses(413, "payload_too_large");
    // Not said, and too large by one byte.
    let body = padded(MEBIBYTE + 1, "large");
    let chunked = format!(
        "{}{:x}\r\n{body}\r\n0\r\n\r\n",
        head("Transfer-Encoding: chunked\r\nConnection: close\r\n"),
        body.len()
    );
    let answers = wire::exchange(bench.server.addresses.api, chunked.as_bytes()).await;
    assert_eq!(answers.len(), 1);
    answers[0].refuses(413, "payload_too_large");
    // Without an end: cut off as soon as it is too large.
    let mut wire = Wire::open(bench.server.addresses.api).await;
    wire.send(head("Transfer-Encoding: chunked\r\n").as_bytes()).await;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    for _ in 0..17 {
        wire.send(chunk.as_bytes()).await;
    }
    wire.answer().await.refuses(413, "payload_too_large");
    assert_eq!(bench.keywords().await, ["fits"]);
}

#[tokio::test]
async fn a_body_that_breaks_off_has_no_effect() {
    let bench = Bench::start().await;
    let mut wire = Wire::open(bench.server.addresses.api).await;
    let body = r#"{"keyword":"half"}"#;
    let head = format!(
        "POST /v1/projects/{}/keywords HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        bench.project,
        bench.key,
        body.len() + 5
    );
    wire.send(head.as_bytes()).await;
    drop(wire);
    assert!(bench.keywords().await.is_empty());
}

/// RFC 9112, 9.6: a client that is refused before its body has arrived uses the connection again, or is told that it ends.
#[tokio::test]
async fn refusal_before_the_body_loses_no_next_request() {
    let bench = Bench::start().await;
    for address in [bench.server.addresses.mcp, bench.server.addresses.api] {
        let path = if address == bench.server.addresses.mcp {
            "/mcp"
        } else {
            "/v1/projects/x/keywords"
        };
        let mut wire = Wire::open(address).await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
        );
        assert!(wire.send(format!("{head}2\r\n\r\n").as_bytes()).await);
        assert!(wire.send(b"{}").await);
        let first = wire.answer().await;
        assert_eq!(
            (first.status, first.header("connection")),
            (401, None),
            "{first:?}"
        );
        assert!(wire.send(format!("{head}2\r\n\r\n{{}}").as_bytes()).await);
        assert_eq!(wire.answer().await.status, 401);
    }
    let mut wire = Wire::open(bench.server.addresses.mcp).await;
    let head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n";
    assert!(wire.send(head.as_bytes()).await);
    let large = wire.answer().await;
    assert_eq!((large.status, large.header("connection")), (401, Some("close")));
}

//! Queries: known names, once each, decoded one way.

use serde_json::json;

use crate::{harness::Bench, wire};

#[tokio::test]
async fn unknown_and_repeated_names_are_refused() {
    let bench = Bench::start().await;
    let own = bench.project;
    for query in [
        "limit=5&limit=5",
        "limit=5&limit=6",
        "sort=created&sort=created",
        "offset=5",
        "Limit=5",
        "page[limit]=5",
        "limit[]=5",
        "=5",
        "q",
        &format!("projectId={own}"),
        "access_token=x",
        "limit=5&%6cimit=5",
    ] {
        let answer = bench.get(&format!("P/keywords?{query}")).await;
        if query == "q" {
            answer.refuses(422, "validation_failed");
        } else {
            answer.refuses(400, "malformed_request");
        }
    }
    for (method, path) in [
        ("POST", "P/keywords?keyword=a"),
        ("POST", "P/audits?maxPages=1"),
        ("PATCH", "P/keywords/x?status=new"),
    ] {
        bench
            .call(method, path)
            .json(&json!({}))
            .send()
            .await
            .refuses(400, "malformed_request");
    }
    bench
        .call("DELETE", "P/keywords/x?force=true")
        .send()
        .await
        .refuses(400, "malformed_request");
    bench.get("/me?x=1").await.refuses(400, "malformed_request");
}

#[tokio::test]
async fn values_are_checked_like_members_of_a_body() {
    let bench = Bench::start().await;
    bench.keyword("desk").await;
    for (query, pointer) in [
        ("limit=0", "/limit"),
        ("limit=101", "/limit"),
        ("limit=-1", "/limit"),
        ("limit=1.5", "/limit"),
        ("limit=1e1", "/limit"),
        ("limit=", "/limit"),
        ("limit=ten", "/limit"),
        ("limit=99999999999999999999", "/limit"),
        ("limit=true", "/limit"),
        ("status=gone", "/status"),
        ("status=", "/status"),
        ("sort=updated", "/sort"),
        ("intent=Commercial", "/intent"),
        ("q=", "/q"),
        (&format!("q={}", "x".repeat(201)), "/q"),
        (&format!("cursor={}", "x".repeat(513)), "/cursor"),
    ] {
        let problem = bench
            .get(&format!("P/keywords?{query}"))
            .await
            .refuses(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{query}");
    }
    for query in [
        "limit=1",
        "limit=100",
        "%6cimit=5",
        "limit=%35",
        "q=de",
        "q=DE%53k",
        "&&limit=5&",
        "status=approved&intent=commercial&sort=searchVolume",
    ] {
        let answer = bench.get(&format!("P/keywords?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {answer:?}");
    }
    bench
        .get("P/pages?indexable=maybe")
        .await
        .refuses(422, "validation_failed");
    bench
        .get("P/pages?statusCode=99")
        .await
        .refuses(422, "validation_failed");
    assert_eq!(
        bench.get("P/pages?indexable=true&statusCode=200").await.status,
        200
    );
}

#[tokio::test]
async fn texts_are_decoded_once_and_strictly() {
    let bench = Bench::start().await;
    for text in ["a+b", "a b", "100%", "é\u{1f33f}", "a&b=c"] {
        bench.keyword(text).await;
    }
    for (query, found) in [
        ("a%2Bb", vec!["a+b"]),
        ("a+b", vec!["a b"]),
        ("a%20b", vec!["a b"]),
        ("100%25", vec!["100%"]),
        ("%C3%89%F0%9F%8C%BF", vec!["é\u{1f33f}"]),
        ("a%26b%3Dc", vec!["a&b=c"]),
        ("a%252Bb", vec![]),
    ] {
        let list = bench.get(&format!("P/keywords?q={query}")).await.json();
        let texts: Vec<&str> = list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|k| k["keyword"].as_str().unwrap())
            .collect();
        assert_eq!(texts, found, "{query}");
    }
    for query in [
        "q=%",
        "q=%4",
        "q=%zz",
        "q=%ff",
        "q=%c0%af",
        "q=%ed%a0%80",
        "q=a%00b",
        "%zz=1",
    ] {
        let request = format!(
            "GET /v1/projects/{}/keywords?{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            bench.project, bench.key
        );
        let answers = wire::exchange(bench.server.addresses.api, request.as_bytes()).await;
        answers[0].refuses(400, "malformed_request");
    }
}

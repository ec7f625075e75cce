//! Headers of every answer, and answers to unknown methods and paths.

use std::collections::BTreeSet;

use crate::{
    harness::{Answer, Bench},
    wire,
};

fn carries_the_usual(answer: &Answer) {
    let id = answer
        .header("x-request-id")
        .unwrap_or_else(|| panic!("no X-Request-Id: {answer:?}"));
    let uuid = uuid::Uuid::try_parse(id.strip_prefix("req_").unwrap()).unwrap();
    assert_eq!(uuid.get_version_num(), 7);
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        (
            "content-security-policy",
            "default-src 'none'; frame-ancestors 'none'",
        ),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{answer:?}");
    }
    for exposed in [
        "ETag",
        "Location",
        "Link",
        "Retry-After",
        "RateLimit-Remaining",
        "X-Request-Id",
        "WWW-Authenticate",
        "Idempotency-Replayed",
    ] {
        assert!(
            answer
                .header("access-control-expose-headers")
                .unwrap()
                .contains(exposed),
            "{exposed}"
        );
    }
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    assert_eq!(answer.header("set-cookie"), None);
    assert_eq!(answer.header("server"), None);
}

#[tokio::test]
async fn good_and_bad_answers_carry_the_same() {
    let bench = Bench::start().await;
    let id = bench.keyword("desk").await;
    let answers = [
        bench.get("/me").await,
        bench.get(&format!("P/keywords/{id}")).await,
        bench.post("P/keywords", serde_json::json!({})).await,
        bench.call("GET", "/me").no_key().send().await,
        bench.call("DELETE", &format!("P/keywords/{id}")).send().await,
        bench.call("PUT", "/me").send().await,
        bench.call("OPTIONS", "/me").send().await,
        bench.get("/nothing").await,
        bench
            .call("GET", "/me")
            .header("origin", "https://evil.example")
            .send()
            .await,
        bench.call("GET", "P").header("if-none-match", "*").send().await,
    ];
    let statuses: Vec<u16> = answers.iter().map(|a| a.status).collect();
    assert_eq!(statuses, [200, 200, 422, 401, 204, 405, 204, 404, 200, 304]);
    let mut ids = BTreeSet::new();
    for answer in &answers {
        carries_the_usual(answer);
        assert!(
            ids.insert(answer.header("x-request-id").unwrap()),
            "each has an id of its own"
        );
    }
}

#[tokio::test]
async fn a_request_id_is_always_ours() {
    let bench = Bench::start().await;
    let answer = bench
        .call("GET", "/me")
        .header("x-request-id", "mine-1")
        .send()
        .await;
    carries_the_usual(&answer);
    assert_ne!(answer.header("x-request-id"), Some("mine-1"));
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let bench = Bench::start().await;
    let id = bench.keyword("desk").await;
    for path in [
        "/me",
        "P",
        "P/keywords",
        &format!("P/keywords/{id}"),
        "P/keywords/x",
        "P/keywords?limit=0",
        "P/audits/current",
    ] {
        let (get, head) = (bench.get(path).await, bench.call("HEAD", path).send().await);
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
        for name in get.headers.keys().map(http::HeaderName::as_str) {
            if matches!(
                name,
                "x-request-id" | "ratelimit-remaining" | "ratelimit-reset" | "date"
            ) {
                assert!(head.header(name).is_some(), "{path}: {name}");
            } else {
                assert_eq!(head.header(name), get.header(name), "{path}: {name}");
            }
        }
        assert_eq!(head.headers.len(), get.headers.len(), "{path}");
    }
    let unchanged = bench.call("HEAD", "P").header("if-none-match", "*").send().await;
    assert_eq!(unchanged.status, 304);
}

#[tokio::test]
async fn options_and_other_methods_tell_what_is_allowed() {
    let bench = Bench::start().await;
    let paths: BTreeSet<&str> = bench.endpoints().iter().map(|e| e.meta.path).collect();
    for path in paths {
        let mut allowed: BTreeSet<&str> = bench
            .endpoints()
            .iter()
            .filter(|e| e.meta.path == path)
            .map(|e| e.meta.method.as_str())
            .collect();
        if allowed.contains("GET") {
            allowed.insert("HEAD");
        }
        allowed.insert("OPTIONS");
        let path = path.replace("{projectId}", "x").replace(['{', '}'], "");
        let preflight = bench
            .call("OPTIONS", &path)
            .no_key()
            .header("origin", "https://app.example")
            .header("access-control-request-method", "POST")
            .send()
            .await;
        assert_eq!((preflight.status, preflight.body.len()), (204, 0));
        for name in ["allow", "access-control-allow-methods"] {
            let said: BTreeSet<&str> = preflight.header(name).unwrap().split(", ").collect();
            assert_eq!(said, allowed, "{path}: {name}");
        }
        for name in [
            "Authorization",
            "Content-Type",
            "Idempotency-Key",
            "If-Match",
            "If-None-Match",
        ] {
            assert!(
                preflight
                    .header("access-control-allow-headers")
                    .unwrap()
                    .contains(name)
            );
        }
        assert_eq!(preflight.header("access-control-max-age"), Some("7200"));
        for method in [
            "GET", "POST", "PATCH", "DELETE", "PUT", "TRACE", "PROPFIND", "HEAD",
        ] {
            if allowed.contains(method) {
                continue;
            }
            let refused = bench.call(method, &path).send().await;
            assert_eq!(refused.status, 405, "{method} {path}");
            let said: BTreeSet<&str> = refused.header("allow").unwrap().split(", ").collect();
            assert_eq!(said, allowed);
            if method != "HEAD" {
                refused.refuses(405, "method_not_allowed");
            }
        }
    }
}

#[tokio::test]
async fn addresses_that_are_not_there() {
    let bench = Bench::start().await;
    for path in [
        "/",
        "",
        "/nothing",
        "/me/",
        "/Me",
        "//me",
        "/projects/",
        "P/",
        "P/keywords/",
        "P/visibility",
        "P/keywords/x/y",
        "/me%2f",
        "/openapi.yaml",
    ] {
        let answer = bench.get(path).await;
        let problem = answer.refuses(404, "not_found");
        assert_eq!(problem["resource"], "route", "{path:?}");
    }
    bench
        .call("POST", "/openapi.json")
        .send()
        .await
        .refuses(405, "method_not_allowed");
}

/// Addresses in answers come from the configuration, whatever a request claims about its host.
#[tokio::test]
async fn links_never_follow_the_request() {
    let bench = Bench::with(&["public_url=https://search.example/app"]).await;
    for text in ["a", "b"] {
        bench.keyword(text).await;
    }
    let liar = |method: &str, path: &str, body: &str| {
        format!(
            "{method} http://evil.example/v1/projects/{}{path} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: ftp\r\nForwarded: host=evil.example\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            bench.project,
            bench.key,
            body.len()
        )
    };
    let root = format!("https://search.example/app/v1/projects/{}", bench.project);
    for (request, header) in [
        (liar("GET", "/keywords?limit=1", ""), "link"),
        (liar("POST", "/keywords", r#"{"keyword":"c"}"#), "location"),
        (liar("POST", "/audits", ""), "location"),
        (liar("GET", "/keywords/x", ""), ""),
    ] {
        let answers = wire::exchange(bench.server.addresses.api, request.as_bytes()).await;
        let whole = format!(
            "{:?}{}",
            answers[0].headers,
            String::from_utf8_lossy(&answers[0].body)
        );
        assert!(!whole.contains("evil.example"), "{whole}");
        if !header.is_empty() {
            let link = answers[0].header(header).unwrap().trim_start_matches('<');
            assert!(link.starts_with(&root), "{link}");
        }
    }
}

#[tokio::test]
async fn browsers_find_an_icon_where_they_look_for_it() {
    let bench = Bench::start().await;
    let url = format!("http://{}/favicon.ico", bench.server.addresses.api);
    let answer = bench.http.get(url).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "image/svg+xml");
    let text = answer.text().await.unwrap();
    assert!(text.starts_with("<svg xmlns="), "{text}");
}

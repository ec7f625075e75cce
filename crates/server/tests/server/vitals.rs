//! Core Web Vitals by an account: what was measured is judged, and what was not neither finds nor resolves anything.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use crate::{
    audited::{audit, bench_reaching, issue, occurrence},
    harness::Bench,
};

on_both!(what_was_measured_is_judged,);

/// Answers by path, a good page unless told otherwise; and the paths asked for.
#[derive(Clone, Default)]
struct Service {
    answers: Arc<Mutex<BTreeMap<String, (u16, Value)>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Service {
    fn put(&self, path: &str, status: u16, body: Value) {
        self.answers
            .lock()
            .unwrap()
            .insert(path.to_owned(), (status, body));
    }

    fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.sort();
        asked
    }
}

fn field(lcp: u32, inp: u32, cls: u32) -> Value {
    json!({ "loadingExperience": { "metrics": {
        "LARGEST_CONTENTFUL_PAINT_MS": { "percentile": lcp }, "INTERACTION_TO_NEXT_PAINT": { "percentile": inp },
        "CUMULATIVE_LAYOUT_SHIFT_SCORE": { "percentile": cls },
    } } })
}

async fn answer(State(service): State<Service>, request: Request) -> Response {
    assert_eq!(request.headers()["x-goog-api-key"], "canary-key");
    let query = request.uri().query().unwrap().to_owned();
    assert!(!query.contains("canary"), "{query}");
    let asked: BTreeMap<String, String> = url::form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    let path = url::Url::parse(&asked["url"]).unwrap().path().to_owned();
    service.asked.lock().unwrap().push(path.clone());
    let found = service.answers.lock().unwrap().get(&path).cloned();
    let (status, body) = found.unwrap_or_else(|| (200, field(900, 80, 1)));
    let status = http::StatusCode::from_u16(status).unwrap();
    (status, [("content-type", "application/json")], body.to_string()).into_response()
}

async fn of(bench: &Bench, check: &str, path: &str) -> Value {
    let found = occurrence(bench, check, path).await;
    json!([found["state"], found["stale"], found["resolution"]])
}

async fn what_was_measured_is_judged(database: &str) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = Service::default();
    let router = axum::Router::new().fallback(answer).with_state(service.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let (bench, site) = bench_reaching(database, &format!(",\"provider={address}\"")).await;
    let targets = |mut seen: Value, audit: Value| {
        seen["lighthouseResult"]["audits"]["target-size"] = audit;
        seen
    };
    let small = json!([{ "node": { "selector": "p > a", "snippet": "<a href=\"/x\">" } }]);
    let small = json!({ "scoreDisplayMode": "binary", "details": { "items": small } });
    service.put("/", 200, targets(field(4_100, 150, 31), small));
    let mut lab = field(200, 900, 90);
    lab["loadingExperience"]["origin_fallback"] = true.into();
    lab["lighthouseResult"]["audits"]["largest-contentful-paint"]["numericValue"] = json!(3_900.4);
    service.put("/a", 200, lab);
    audit(&bench).await;
    assert_eq!(service.asked(), Vec::<String>::new(), "no account");
    assert_eq!(issue(&bench, "cwv-lcp-poor").await, Value::Null);

    let settings = [("baseUrl".to_owned(), format!("http://{address}"))];
    bench.account("pagespeed", settings.into(), "canary-key").await;
    audit(&bench).await;
    assert_eq!(service.asked(), ["/", "/a", "/b", "/c"]);
    let home = occurrence(&bench, "cwv-lcp-poor", "/").await["evidence"].clone();
    assert_eq!(
        (&home["ms"], &home["source"], &home["percentile"]),
        (&json!(4_100), &json!("field"), &json!(75))
    );
    assert!(home["measuredAt"].as_str().unwrap().ends_with('Z'), "{home}");
    let a = occurrence(&bench, "cwv-lcp-poor", "/a").await["evidence"].clone();
    assert_eq!((&a["ms"], &a["source"]), (&json!(3_900), &json!("lab")));
    assert_eq!(
        occurrence(&bench, "cwv-cls-poor", "/").await["evidence"]["score"],
        0.31
    );
    assert_eq!(issue(&bench, "cwv-lcp-poor").await["affectedPages"], 2);
    let small = occurrence(&bench, "tap-target-small", "/").await["evidence"].clone();
    assert_eq!(
        (&small["targets"][0]["selector"], &small["total"]),
        (&json!("p > a"), &json!(1))
    );
    assert_eq!(
        issue(&bench, "cwv-inp-poor").await,
        Value::Null,
        "of the origin, not of the page"
    );

    // Nobody knows: it stays as it was.
    for (status, error) in [(500, "broken"), (429, "slower")] {
        for path in ["/", "/a", "/b", "/c"] {
            service.put(path, status, json!({ "error": { "message": error } }));
        }
        let silent = audit(&bench).await;
        assert_eq!(silent["status"], "completed");
        let job = bench
            .get(&format!("P/jobs/{}", silent["jobId"].as_str().unwrap()))
            .await
            .json();
        assert_eq!(job["result"]["coreWebVitals"]["measured"], 0, "{job:#}");
        assert_eq!(silent["changes"]["removed"], 0, "{silent:#}");
        for path in ["/", "/a"] {
            assert_eq!(
                of(&bench, "cwv-lcp-poor", path).await,
                json!(["open", true, null]),
                "{status}"
            );
        }
        assert_eq!(of(&bench, "tap-target-small", "/").await[0], "open");
        service.asked();
    }

    // Measured again: one is fixed, another still unknown, a third is gone.
    let none = json!({ "scoreDisplayMode": "notApplicable" });
    service.put("/", 200, targets(field(2_400, 150, 10), none));
    audit(&bench).await;
    assert_eq!(
        of(&bench, "cwv-lcp-poor", "/").await,
        json!(["resolved", false, "fixed"])
    );
    assert_eq!(of(&bench, "cwv-cls-poor", "/").await[0], "resolved");
    assert_eq!(
        of(&bench, "tap-target-small", "/").await,
        json!(["resolved", false, "fixed"])
    );
    assert_eq!(
        of(&bench, "cwv-lcp-poor", "/a").await,
        json!(["open", true, null])
    );
    site.put("/a", 410, "gone");
    audit(&bench).await;
    assert_eq!(of(&bench, "cwv-lcp-poor", "/a").await[2], "page_gone");
}

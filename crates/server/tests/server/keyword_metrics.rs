//! Figures of keywords from providers: what cannot be had says why, and no stored value is touched.

use serde_json::{Value, json};

use crate::harness::Bench;

on_both!(without_an_account_nothing_is_asked, a_refusal_changes_nothing,);

async fn refresh(bench: &Bench, body: Value) -> Value {
    let started = bench.post("P/keyword-metrics", body).await;
    assert_eq!(started.status, 202, "{started:?}");
    let job = started.json()["job"]["id"].as_str().unwrap().to_owned();
    loop {
        let job = bench.get(&format!("P/jobs/{job}")).await.json();
        if !["queued", "running"].contains(&job["status"].as_str().unwrap()) {
            assert_eq!(job["status"], "succeeded", "{job}");
            return job["result"].clone();
        }
        tokio::task::yield_now().await;
    }
}

async fn counted(bench: &Bench) -> Value {
    let usage = bench.get("P/usage").await.json();
    let mut quotas = usage["quotas"].as_array().unwrap().iter();
    quotas.find(|q| q["metric"] == "keyword_metrics").unwrap()["used"].clone()
}

fn outcome(result: &Value, text: &str) -> Value {
    let outcomes = result["outcomes"].as_array().unwrap().iter();
    let mut found = outcomes.filter(|o| o["keyword"] == text);
    found.next().unwrap_or_else(|| panic!("{text} in {result}"))["outcome"].clone()
}

async fn without_an_account_nothing_is_asked(database: &str) {
    let bench = Bench::on(database, &["worker.jobs=1"]).await;
    let desk = json!({ "keyword": "desk", "searchVolume": 90 });
    let before = bench.post("P/keywords", desk).await.json();
    let result = refresh(
        &bench,
        json!({ "keywords": ["Desk", "nobody added this", "desk"] }),
    )
    .await;
    assert_eq!(
        (&result["skipped"], &result["provider"], &result["costMicrosUsd"]),
        (&json!("no_provider"), &Value::Null, &json!(0))
    );
    assert_eq!(outcome(&result, "Desk"), "no_provider");
    assert_eq!(
        outcome(&result, "desk"),
        "no_provider",
        "each text has its outcome"
    );
    assert_eq!(outcome(&result, "nobody added this"), "unknown_keyword");
    assert_eq!(counted(&bench).await, 0, "nobody was asked");
    let path = format!("P/keywords/{}", before["id"].as_str().unwrap());
    assert_eq!(bench.get(&path).await.json(), before);
    for (body, pointer) in [
        (json!({ "keywords": [] }), "/keywords"),
        (json!({ "keywords": vec!["x"; 1001] }), "/keywords"),
        (json!({ "keywords": ["x", " "] }), "/keywords/1"),
        (json!({ "keywords": ["x"], "maxCost": -1 }), "/maxCost"),
    ] {
        let refusal = bench.post("P/keyword-metrics", body).await;
        assert_eq!(refusal.status, 422, "{refusal:?}");
        assert_eq!(refusal.json()["errors"][0]["pointer"], pointer);
    }
}

async fn a_refusal_changes_nothing(database: &str) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = || async { (http::StatusCode::UNAUTHORIZED, "{\"status_code\":40100}") };
    let provider = axum::Router::new().fallback(answer);
    tokio::spawn(async move { axum::serve(listener, provider).await });
    let allow = format!("allow_outbound=[\"provider={address}\"]");
    let bench = Bench::on(database, &["worker.jobs=1", &allow]).await;
    let settings = [("baseUrl".to_owned(), format!("http://{address}"))];
    bench
        .account("dataforseo", settings.into(), "login:password")
        .await;
    let desk = json!({ "keyword": "desk", "searchVolume": 90, "country": "US" });
    let before = bench.post("P/keywords", desk).await.json();
    let dry = json!({ "keywords": ["desk"], "country": "US", "dryRun": true });
    let dry = refresh(&bench, dry).await;
    assert_eq!(
        (&dry["provider"], outcome(&dry, "desk")),
        (&json!("dataforseo"), json!("would_ask"))
    );
    let result = refresh(&bench, json!({ "keywords": ["desk"], "country": "US" })).await;
    assert_eq!(outcome(&result, "desk"), "provider_error", "{result}");
    assert!(!result.to_string().contains("password"), "{result}");
    assert_eq!(counted(&bench).await, 0, "a refusal is not counted");
    let path = format!("P/keywords/{}", before["id"].as_str().unwrap());
    assert_eq!(bench.get(&path).await.json(), before);
    let usage = bench.get("P/usage").await.json();
    let spent = usage["spend"].as_array().unwrap();
    assert!(
        spent.iter().all(|s| s["uncertainCalls"] != 1),
        "a refusal costs nothing: {usage}"
    );
}

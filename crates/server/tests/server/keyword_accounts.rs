//! Keywords that accounts offer: figures come with them, a model gives candidates only, and an account that fails
//! says so and stops no other.

use std::sync::{Arc, Mutex};

use axum::{
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{harness::Bench, post_generation::until_ended};

on_both!(
    every_account_offers_keywords,
    an_account_that_fails_stops_no_other,
    what_is_missing_is_said,
    search_console_says_which_pages_compete,
);

/// Requests that providers received.
type Asked = Arc<Mutex<Vec<String>>>;

/// Answers as DataForSEO, the search box and a language model do.
async fn provider(State(asked): State<Asked>, request: Request) -> Response {
    let (path, query) = (
        request.uri().path().to_owned(),
        request.uri().query().unwrap_or("").to_owned(),
    );
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
    asked.lock().unwrap().push(format!("{path}?{query}"));
    match path.as_str() {
        "/v3/dataforseo_labs/google/keyword_ideas/live" => {
            let sent: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(sent[0]["keywords"], json!(["standing desk"]));
            let items = json!([
                { "keyword": "Standing Desk Converter", "keyword_info": { "search_volume": 8100, "cpc": 1.2, "competition": 0.9, "competition_level": "HIGH" },
                  "keyword_properties": { "keyword_difficulty": 23 }, "search_intent_info": { "main_intent": "transactional" } },
                { "keyword": "desk", "keyword_info": { "search_volume": 900_000 } },
                { "keyword": "call 030 1234567 now", "keyword_info": { "search_volume": 10 } },
            ]);
            let task = json!({ "status_code": 20000, "status_message": "Ok.", "cost": 0.0123, "result": [{ "total_count": 3, "items": items }] });
            answer(&json!({ "status_code": 20000, "status_message": "Ok.", "tasks": [task] }))
        }
        "/complete/search" => answer(&json!([
            "standing desk",
            [
                "standing desk converter",
                "standing desk height",
                "standing desk mat",
                "standing desk ikea",
                "standing desk legs"
            ]
        ])),
        "/chat/completions" => {
            let said = json!({ "keywords": ["standing desk for tall people", "https://evil.example/x y", "standing desk height"] });
            let events = [
                json!({ "choices": [{ "delta": { "content": said.to_string() } }] }),
                json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
                json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 50 } }),
            ];
            let mut body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
            body += "data: [DONE]\n\n";
            ([("content-type", "text/event-stream")], body).into_response()
        }
        "/token" => answer(&json!({ "access_token": "t", "expires_in": 3600, "token_type": "Bearer" })),
        path if path.starts_with("/webmasters/v3/sites/") => {
            let row = |query: &str, page: &str, shown: i64| {
                json!({ "keys": [query, format!("https://example.com/{page}")], "clicks": 1, "impressions": shown,
                    "ctr": 0.01, "position": 7.5 })
            };
            answer(&json!({ "rows": [
                row("desk oil", "oil", 30), row("desk oil", "care", 60), row("desk oil", "shop", 4),
                row("desk wax", "wax", 90), row("desk wax", "care", 10),
            ] }))
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn answer(body: &Value) -> Response {
    ([("content-type", "application/json")], body.to_string()).into_response()
}

async fn bench(database: &str) -> (Bench, Asked, String) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Asked::default();
    let provider = axum::Router::new().fallback(provider).with_state(asked.clone());
    tokio::spawn(async move { axum::serve(listener, provider).await });
    let allow = format!("allow_outbound=[\"provider={address}\"]");
    let bench = Bench::on(database, &["worker.jobs=1", &allow]).await;
    (bench, asked, format!("http://{address}"))
}

async fn account(bench: &Bench, provider: &str, settings: &[(&str, &str)], secret: &str) {
    let settings = settings
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    bench.account(provider, settings, secret).await;
}

async fn generate(bench: &Bench, body: Value) -> Value {
    let started = bench.post("P/keywords/generate", body).await;
    assert_eq!(started.status, 202, "{started:?}");
    let job = until_ended(bench, started.json()["job"]["id"].as_str().unwrap()).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
    job["result"].clone()
}

fn came<'a>(result: &'a Value, source: &str) -> &'a Value {
    let mut accounts = result["accounts"].as_array().unwrap().iter();
    accounts.find(|account| account["source"] == source).unwrap()
}

async fn every_account_offers_keywords(database: &str) {
    let (bench, asked, url) = bench(database).await;
    account(&bench, "dataforseo", &[("baseUrl", &url)], "login:password").await;
    account(&bench, "autocomplete", &[("baseUrl", &url)], "").await;
    account(
        &bench,
        "openai",
        &[("baseUrl", &url), ("model", "says")],
        "canary-key",
    )
    .await;
    let body = json!({ "seeds": ["standing desk"], "country": "US", "count": 1, "dryRun": true,
        "sources": ["dataforseo", "autocomplete", "llm", "gsc"] });
    let dry = generate(&bench, body.clone()).await;
    assert_eq!(
        (
            &came(&dry, "dataforseo")["outcome"],
            &came(&dry, "gsc")["outcome"]
        ),
        (&json!("would_ask"), &json!("no_provider"))
    );
    assert!(asked.lock().unwrap().is_empty(), "a dry run asks nobody");

    let sources = ["dataforseo", "autocomplete", "llm"];
    let body = json!({ "seeds": ["standing desk"], "country": "US", "count": 20, "sources": [sources[0], sources[2]] });
    let result = generate(&bench, body).await;
    assert_eq!(
        (
            &came(&result, "dataforseo")["rows"],
            &came(&result, "dataforseo")["costMicrosUsd"]
        ),
        (&json!(3), &json!(12_300))
    );
    assert_eq!(came(&result, "llm")["outcome"], "asked");
    let body = json!({ "seeds": ["standing desk"], "country": "US", "count": 1, "sources": [sources[1]] });
    generate(&bench, body.clone()).await;
    generate(&bench, body).await;
    let suggestions = asked
        .lock()
        .unwrap()
        .iter()
        .filter(|a| a.starts_with("/complete"))
        .count();
    assert_eq!(
        suggestions,
        1,
        "what the search box said is used again: {:?}",
        asked.lock().unwrap()
    );

    let all = bench.get("P/keywords?limit=100").await.json();
    let keyword = |text: &str| {
        let mut all = all["data"].as_array().unwrap().iter();
        all.find(|k| k["keyword"].as_str().unwrap().eq_ignore_ascii_case(text))
    };
    let converter = keyword("standing desk converter").unwrap();
    assert_eq!(
        (
            &converter["searchVolume"],
            &converter["keywordDifficulty"],
            &converter["intent"],
            &converter["source"]
        ),
        (
            &json!(8100),
            &json!(23),
            &json!("transactional"),
            &json!("dataforseo")
        ),
        "{converter:#}"
    );
    let candidate = keyword("standing desk for tall people").unwrap();
    assert_eq!(
        (&candidate["searchVolume"], &candidate["source"]),
        (&Value::Null, &json!("llm"))
    );
    for refused in ["desk", "call 030 1234567 now", "https://evil.example/x y"] {
        assert!(keyword(refused).is_none(), "{refused}: {all:#}");
    }
    let spent = bench.get("P/usage").await.json();
    let spent = spent["spend"].as_array().unwrap();
    let of = |provider: &str| spent.iter().find(|s| s["provider"] == provider).unwrap();
    assert_eq!(of("dataforseo")["spentMicrosUsd"], 12_300);
}

async fn an_account_that_fails_stops_no_other(database: &str) {
    let (bench, _, url) = bench(database).await;
    account(
        &bench,
        "dataforseo",
        &[("baseUrl", &format!("{url}/nowhere"))],
        "login:password",
    )
    .await;
    account(
        &bench,
        "openai",
        &[("baseUrl", &url), ("model", "says")],
        "canary-key",
    )
    .await;
    let body =
        json!({ "seeds": ["standing desk"], "country": "US", "count": 5, "sources": ["dataforseo", "llm"] });
    let result = generate(&bench, body).await;
    let failed = came(&result, "dataforseo");
    assert_eq!(
        (&failed["outcome"], &failed["rows"], &failed["costMicrosUsd"]),
        (&json!("provider_error"), &json!(0), &json!(0))
    );
    assert!(!failed.to_string().contains("password"));
    assert_eq!(result["added"], 2);
    let usage = bench.get("P/usage").await.json();
    let mut quotas = usage["quotas"].as_array().unwrap().iter();
    assert_eq!(
        quotas.find(|q| q["metric"] == "keywords_generated").unwrap()["used"],
        2
    );
}

async fn what_is_missing_is_said(database: &str) {
    let (bench, asked, url) = bench(database).await;
    account(&bench, "dataforseo", &[("baseUrl", &url)], "login:password").await;
    let result = generate(&bench, json!({ "sources": ["dataforseo", "google_ads"] })).await;
    assert_eq!(came(&result, "dataforseo")["outcome"], "no_seeds");
    assert_eq!(came(&result, "google_ads")["outcome"], "no_provider");
    assert!(asked.lock().unwrap().is_empty());
    let refused = bench
        .post(
            "P/keywords/generate",
            json!({ "sources": ["dataforseo", "csv_semrush"] }),
        )
        .await;
    assert_eq!(
        refused.json()["errors"][0]["pointer"],
        "/sources/1",
        "{refused:?}"
    );
}

async fn search_console_says_which_pages_compete(database: &str) {
    let (bench, _, url) = bench(database).await;
    let token_url = format!("{url}/token");
    let settings = [
        ("baseUrl", url.as_str()),
        ("tokenUrl", &token_url),
        ("siteUrl", "https://example.com/"),
    ];
    let secret = r#"{"clientId":"id","clientSecret":"canary","refreshToken":"canary"}"#;
    account(&bench, "search-console", &settings, secret).await;
    generate(&bench, json!({ "sources": ["gsc"] })).await;
    let found = bench.get("P/keywords?limit=10").await.json();
    let of = |text: &str| {
        let mut all = found["data"].as_array().unwrap().iter();
        all.find(|keyword| keyword["keyword"] == text)
            .unwrap_or(&Value::Null)
    };
    assert_eq!(
        of("desk oil")["cannibalisation"],
        json!({ "reason": "search_console", "urls": ["https://example.com/care", "https://example.com/oil"], "postIds": [] })
    );
    assert_eq!(
        (&of("desk oil")["impressions"], &of("desk wax")["impressions"]),
        (&json!(94), &json!(100))
    );
    assert_eq!(
        of("desk wax")["cannibalisation"],
        Value::Null,
        "one page has nine tenths"
    );
}

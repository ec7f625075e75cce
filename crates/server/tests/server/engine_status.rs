//! Status of answer engines: what is configured, what is missing, and how engines have answered.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use axum::{
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    harness::Bench,
    post_generation::until_ended,
    visibility::{copy, hours_ago, prompt, with_brand},
};

on_both!(
    what_is_not_configured_says_what_to_set,
    copied_answers_have_a_status,
    answers_of_an_account_are_measured,
    settings_that_leave_an_engine_out_are_named,
);

async fn engines(bench: &Bench) -> Value {
    let answer = bench.get("P/visibility/engines").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn entry<'a>(engines: &'a Value, engine: &str, surface: &str) -> &'a Value {
    let mut entries = engines["data"].as_array().unwrap().iter();
    entries
        .find(|entry| entry["engine"] == engine && entry["surface"] == surface)
        .unwrap_or_else(|| panic!("no {engine}/{surface} in {engines:#}"))
}

fn has_note(entry: &Value, part: &str) -> bool {
    let mut notes = entry["notes"].as_array().unwrap().iter();
    notes.any(|note| note.as_str().unwrap().contains(part))
}

async fn what_is_not_configured_says_what_to_set(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let all = engines(&bench).await;
    assert_eq!(
        (&all["from"], &all["to"]),
        (&json!("2026-10-25"), &json!("2026-11-21"))
    );
    let data = all["data"].as_array().unwrap();
    assert!(data.iter().all(|entry| entry["configured"] == false));
    for (engine, surface, provider) in [
        ("chatgpt", "api", "openai"),
        ("chatgpt", "consumer_ui", "dataforseo"),
        ("claude", "api", "anthropic"),
        ("gemini", "api", "gemini"),
        ("perplexity", "api", "perplexity"),
        ("google_ai_overview", "serp", "dataforseo"),
        ("google_ai_mode", "serp", "dataforseo"),
        ("grok", "api", "xai"),
        ("custom", "api", "openai"),
    ] {
        let found = entry(&all, engine, surface);
        assert_eq!(found["provider"], provider);
        let missing = found["missing"].as_str().unwrap();
        let command = format!(
            "searchwright admin provider set --project {} --provider {provider}",
            bench.project
        );
        assert!(missing.contains(&command), "{missing}");
        for unknown in [
            "searchPerformed",
            "meanCost",
            "medianLatencyMs",
            "estimatedCost",
            "lastGoodAnswerAt",
            "lastError",
            "locationControlled",
        ] {
            assert_eq!(found[unknown], Value::Null, "{unknown}");
        }
    }
    let copilot = entry(&all, "copilot", "manual");
    assert_eq!(copilot["provider"], Value::Null);
    assert!(copilot["missing"].as_str().unwrap().contains("by hand"));
}

async fn copied_answers_have_a_status(database: &str) {
    let bench = with_brand(database).await;
    let id = prompt(&bench, "Which standing desk is quiet?").await;
    let item = |hours: i64, text: &str| json!({ "engine": "chatgpt", "askedAt": hours_ago(&bench, hours), "text": text, "model": "gpt-x" });
    let newest = item(2, "I'm sorry, but I don't have any information about that.");
    let items = json!([
        item(50, "Acme Desk."),
        item(5, "Bolt Desks."),
        newest,
        item(40 * 24, "Old.")
    ]);
    assert_eq!(copy(&bench, &id, items).await.status, 201);
    let all = engines(&bench).await;
    let found = entry(&all, "chatgpt", "manual");
    assert_eq!(found, &all["data"][0], "what is in use comes first");
    assert_eq!(found["answers"], 3, "40 days ago is too long ago");
    assert_eq!(
        found["statuses"],
        json!([{ "status": "ok", "answers": 2 }, { "status": "refused", "answers": 1 }])
    );
    assert_eq!(found["failures"], 1);
    assert_eq!(found["lastGoodAnswerAt"], json!(hours_ago(&bench, 5)));
    assert_eq!(found["lastError"]["at"], json!(hours_ago(&bench, 2)));
    assert!(
        found["lastError"]["message"]
            .as_str()
            .unwrap()
            .contains("refused")
    );
    assert_eq!(found["servedModels"], json!(["gpt-x"]));
    for unknown in [
        "searchPerformed",
        "meanCost",
        "medianLatencyMs",
        "retrieval",
        "provider",
    ] {
        assert_eq!(found[unknown], Value::Null, "{unknown}");
    }
    assert_eq!(found["configured"], false);
    assert!(found["missing"].as_str().unwrap().contains("--provider openai"));
    assert!(has_note(found, "by hand"));
    // A neighbour sees none of it.
    let (project, key) = bench.neighbour().await;
    let path = format!("/projects/{project}/visibility/engines");
    let foreign = bench.call("GET", &path).key(&key).send().await.json();
    let entries = foreign["data"].as_array().unwrap();
    assert!(
        entries
            .iter()
            .all(|entry| entry["answers"] == 0 && entry["lastError"].is_null())
    );
}

/// Answers as an engine with a search tool: the second without a search, the third cut off; then it refuses the key.
async fn engine(State(asked): State<Arc<AtomicU32>>, _: Request) -> Response {
    let (status, output) = match asked.fetch_add(1, Relaxed) {
        0 => ("completed", json!([search(), message("Acme Desk.")])),
        1 => ("completed", json!([message("Bolt Desks.")])),
        2 => ("incomplete", json!([search(), message("Acme")])),
        _ => return StatusCode::UNAUTHORIZED.into_response(),
    };
    let body = json!({ "id": "r", "object": "response", "status": status, "model": "m-1-2026-10-01", "error": null,
        "incomplete_details": { "reason": "max_output_tokens" }, "output": output,
        "usage": { "input_tokens": 1_000, "output_tokens": 100, "total_tokens": 1_100 } });
    ([("content-type", "application/json")], body.to_string()).into_response()
}

fn search() -> Value {
    json!({ "id": "ws", "type": "web_search_call", "status": "completed",
        "action": { "type": "search", "query": "desk", "queries": ["desk"], "sources": [] } })
}

fn message(text: &str) -> Value {
    json!({ "id": "m", "type": "message", "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }] })
}

async fn answers_of_an_account_are_measured(database: &str) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new()
        .fallback(engine)
        .with_state(Arc::new(AtomicU32::new(0)));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let allow = format!("allow_outbound=[\"provider={address}\"]");
    let bench = Bench::on(database, &["worker.jobs=1", &allow]).await;
    let settings = [
        ("baseUrl", format!("http://{address}")),
        ("model", "m-1".to_owned()),
        ("api", "responses".to_owned()),
        ("inputPrice", "1".to_owned()),
        ("outputPrice", "10".to_owned()),
        ("searchPrice", "10".to_owned()),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value));
    bench.account("openai", settings.into(), "secret").await;
    let before = engines(&bench).await;
    let idle = entry(&before, "custom", "api");
    assert_eq!(
        (&idle["configured"], &idle["missing"], &idle["requestedModel"]),
        (&json!(true), &Value::Null, &json!("m-1"))
    );
    assert_eq!((&idle["answers"], &idle["meanCost"]), (&json!(0), &Value::Null));
    let (low, high) = (&idle["estimatedCost"]["low"], &idle["estimatedCost"]["high"]);
    assert!(
        low.as_f64().unwrap() > 0.0 && high.as_f64() > low.as_f64(),
        "{idle:#}"
    );
    let openai = entry(&before, "chatgpt", "api")["missing"].as_str().unwrap();
    assert!(openai.contains("asks another server"), "{openai}");

    let id = prompt(&bench, "Which standing desk is quiet?").await;
    let track = async |samples: u8| {
        let path = format!("P/visibility/prompts/{id}/track");
        let started = bench.post(&path, json!({ "samples": samples })).await;
        assert_eq!(started.status, 202, "{started:?}");
        until_ended(&bench, started.json()["job"]["id"].as_str().unwrap()).await
    };
    assert_eq!(track(3).await["status"], "succeeded");
    track(2).await;
    let all = engines(&bench).await;
    let found = entry(&all, "custom", "api");
    assert_eq!(
        found["statuses"],
        json!([{ "status": "incomplete", "answers": 1 }, { "status": "ok", "answers": 2 }])
    );
    let searched = &found["searchPerformed"];
    assert_eq!(
        (
            &searched["numerator"],
            &searched["denominator"],
            &searched["method"]
        ),
        (&json!(2.0), &json!(3.0), &json!("wilson_clustered"))
    );
    // 1,000 and 100 tokens, and two of three with a search: all answers are charged, also the one that was cut off.
    let cost = &found["meanCost"];
    assert_eq!(cost["answers"], 3);
    let expected = 0.002 + 0.01 * 2.0 / 3.0;
    assert!(
        (cost["value"].as_f64().unwrap() - expected).abs() < 1e-5,
        "{cost}"
    );
    assert_eq!(found["medianLatencyMs"]["answers"], 2, "of good answers");
    assert_eq!(found["servedModels"], json!(["m-1-2026-10-01"]));
    assert_eq!(
        found["missed"],
        json!([{ "reason": "provider_error", "answers": 2 }])
    );
    assert_eq!(found["failures"], 3);
    let error = found["lastError"]["message"].as_str().unwrap();
    assert!(!error.contains("cut off"), "the refused key came later: {error}");
    assert_eq!(found["retrieval"], "auto");
    assert_eq!(found["locationControlled"], true);
    assert!(!all.to_string().contains("secret\""), "secrets stay inside");
}

async fn settings_that_leave_an_engine_out_are_named(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let settings = [("engines".to_owned(), "google_ai_overview".to_owned())];
    bench
        .account("dataforseo", settings.into(), "login:password")
        .await;
    let gemini = [("model".to_owned(), "gemini-3-flash".to_owned())];
    bench.account("gemini", gemini.into(), "key").await;
    let all = engines(&bench).await;
    let overview = entry(&all, "google_ai_overview", "serp");
    assert_eq!(
        (
            &overview["configured"],
            &overview["provider"],
            &overview["locationControlled"]
        ),
        (&json!(true), &json!("dataforseo"), &json!(true))
    );
    let left_out = entry(&all, "google_ai_mode", "serp");
    assert_eq!(left_out["configured"], false);
    assert!(left_out["missing"].as_str().unwrap().contains("setting engines"));
    let gemini = entry(&all, "gemini", "api");
    assert_eq!(
        (
            &gemini["configured"],
            &gemini["retrieval"],
            &gemini["locationControlled"]
        ),
        (&json!(true), &json!("none"), &json!(false))
    );
    assert!(has_note(gemini, "grounding=true") && has_note(gemini, "not controlled"));
}

//! Suggestions of prompts.

use std::collections::HashSet;

use searchwright_store::{Param, sql};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    harness::{Answer, Bench},
    visibility::{prompt, with_brand},
};

on_both!(
    suggestions_come_from_what_the_project_knows,
    saved_suggestions_are_prompts,
    other_languages_get_their_own_templates_or_a_reason,
    limits_of_suggestions,
);

async fn with_material(database: &str) -> Bench {
    let bench = with_brand(database).await;
    let product = json!({ "name": "Oak desk 160", "category": "standing desk", "audience": "people who work at home",
        "useCases": ["two heavy monitors"], "features": ["two motors"] });
    let retired = json!({ "name": "Old desk", "category": "retired goods", "status": "retired" });
    let items = json!({ "items": [product, retired] });
    assert_eq!(bench.post("P/brand/products", items).await.status, 201);
    let faqs = json!({ "items": [
        { "question": "How high does the desk go?", "answer": "128 cm.", "tags": ["height"] },
        { "question": "Wie hoch geht der Tisch?", "answer": "128 cm.", "language": "de" },
    ] });
    assert_eq!(bench.post("P/brand/faqs", faqs).await.status, 201);
    let approved = bench.keyword("quiet standing desk").await;
    let state = bench.get(&format!("P/keywords/{approved}")).await.json();
    assert_eq!(
        state["status"], "approved",
        "keywords that people add are approved"
    );
    let rejected = bench.keyword("wooden spoon").await;
    let status = json!({ "status": "rejected" });
    assert_eq!(
        bench
            .patch(&format!("P/keywords/{rejected}"), status)
            .await
            .status,
        200
    );
    bench
}

async fn suggest(bench: &Bench, body: Value) -> Answer {
    bench.post("P/visibility/prompts/suggest", body).await
}

async fn suggestions(bench: &Bench, body: Value) -> Vec<Value> {
    let suggested = suggest(bench, body).await;
    assert_eq!(suggested.status, 200, "{suggested:?}");
    suggested.json()["data"].as_array().unwrap().clone()
}

fn texts(suggestions: &[Value]) -> Vec<String> {
    let texts = suggestions
        .iter()
        .map(|one| one["text"].as_str().unwrap().to_owned());
    texts.collect()
}

/// Runs a statement with the project of the bench as its first parameter.
async fn execute(bench: &Bench, text: &'static str, rows: Vec<Vec<Param>>) {
    let project = bench.project;
    let written = bench
        .server
        .app
        .engine
        .db
        .write(move |tx| Box::pin(async move { sql(text).bind(project).execute_each(tx, rows).await }));
    written.await.unwrap();
}

async fn suggestions_come_from_what_the_project_knows(database: &str) {
    let bench = with_material(database).await;
    let all = suggestions(&bench, json!({})).await;
    assert_eq!(all.len(), 20);
    let kinds: HashSet<&str> = all
        .iter()
        .map(|one| one["source"]["kind"].as_str().unwrap())
        .collect();
    for kind in ["category", "product", "keyword", "faq", "competitor"] {
        assert!(kinds.contains(kind), "{kind}: {all:#?}");
    }
    let branded = all.iter().filter(|one| one["class"] == "branded").count();
    assert!((1..=4).contains(&branded), "{all:#?}");
    let competitors = bench.get("P/brand/competitors").await.json();
    let products = bench.get("P/brand/products").await.json();
    for one in &all {
        let text = one["text"].as_str().unwrap();
        let words = text.split_whitespace().count();
        assert!((10..=20).contains(&words), "{text}");
        assert!(one["topic"].is_string() && one["promptId"].is_null(), "{one:#}");
        for absent in ["retired", "spoon", "Tisch"] {
            assert!(!text.contains(absent), "{text}");
        }
        match one["source"]["kind"].as_str().unwrap() {
            "competitor" => assert_eq!(one["source"]["id"], competitors["data"][0]["id"]),
            "product" => assert_eq!(one["source"]["id"], products["data"][1]["id"]),
            "faq" => assert_eq!(one["topic"], "height"),
            "category" | "brand" => assert_eq!(one["source"]["id"], Value::Null),
            _ => assert_eq!(one["source"]["name"], "quiet standing desk"),
        }
    }
    assert_eq!(
        suggestions(&bench, json!({})).await,
        all,
        "the same data give the same suggestions"
    );
    let none = bench.get("P/visibility/prompts").await.json();
    assert_eq!(none["data"], json!([]), "nothing is stored");
    // What is asked already, or was, is not suggested.
    let texts = texts(&all);
    prompt(&bench, &texts[0].to_uppercase()).await;
    let archived = prompt(&bench, &texts[1]).await;
    let status = json!({ "status": "archived" });
    assert_eq!(
        bench
            .patch(&format!("P/visibility/prompts/{archived}"), status)
            .await
            .status,
        200
    );
    let rest = suggestions(&bench, json!({ "limit": 50 })).await;
    assert!(
        rest.iter()
            .all(|one| one["text"] != texts[0] && one["text"] != texts[1])
    );
    assert_eq!(rest[0]["text"], texts[2]);
    // Another project has no such data.
    let (foreign, key) = bench.neighbour().await;
    let call = bench
        .call("POST", &format!("/projects/{foreign}/visibility/prompts/suggest"))
        .key(&key);
    let empty = call.json(&json!({})).send().await.json();
    assert_eq!(empty["data"], json!([]));
    assert!(empty["reason"].as_str().unwrap().contains("category"), "{empty}");
}

async fn saved_suggestions_are_prompts(database: &str) {
    let bench = with_material(database).await;
    let seen = suggestions(&bench, json!({ "limit": 6 })).await;
    let saved = suggestions(&bench, json!({ "limit": 6, "save": true })).await;
    assert_eq!(texts(&saved), texts(&seen));
    let prompts = bench.get("P/visibility/prompts").await.json();
    let prompts = prompts["data"].as_array().unwrap();
    assert_eq!(prompts.len(), 6);
    for (one, stored) in saved.iter().rev().zip(prompts) {
        assert_eq!(one["promptId"], stored["id"]);
        assert_eq!((&one["text"], &one["class"]), (&stored["text"], &stored["class"]));
        assert_eq!(stored["tags"], json!([one["topic"]]));
        assert_eq!(stored["language"], "en");
    }
    let again = suggestions(&bench, json!({ "limit": 50, "save": true })).await;
    let old: HashSet<String> = texts(&saved).into_iter().collect();
    assert!(texts(&again).iter().all(|text| !old.contains(text)));
    let rest = suggest(&bench, json!({ "save": true })).await.json();
    assert!(rest["reason"].is_string(), "{rest:#}");
}

async fn other_languages_get_their_own_templates_or_a_reason(database: &str) {
    let bench = with_material(database).await;
    let speak = async |language: &str| {
        let rows = vec![vec![language.into()]];
        execute(&bench, "UPDATE projects SET language = $2 WHERE id = $1", rows).await;
    };
    for (language, word) in [("de-AT", "Marken"), ("fr", "marques"), ("es-MX", "marcas")] {
        speak(language).await;
        let all = suggestions(&bench, json!({})).await;
        assert!(texts(&all)[0].contains(word), "{all:#?}");
        let has_german = texts(&all)
            .iter()
            .any(|text| text.contains("Wie hoch geht der Tisch"));
        assert_eq!(has_german, language == "de-AT", "{all:#?}");
        assert!(
            texts(&all).iter().all(|text| !text.contains("brands")),
            "{all:#?}"
        );
    }
    speak("ja").await;
    let none = suggest(&bench, json!({ "save": true })).await.json();
    assert_eq!(none["data"], json!([]));
    let reason = none["reason"].as_str().unwrap();
    assert!(reason.contains("ja") && reason.contains("de"), "{reason}");
}

async fn limits_of_suggestions(database: &str) {
    let bench = with_material(database).await;
    for (body, pointer) in [
        (json!({ "limit": 0 }), "/limit"),
        (json!({ "limit": 51 }), "/limit"),
        (json!({ "save": "yes" }), "/save"),
    ] {
        let refused = suggest(&bench, body).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer);
    }
    let key = bench.key_for(bench.project, &["visibility:write"]).await;
    let call = bench.call("POST", "P/visibility/prompts/suggest").key(&key);
    let problem = call
        .json(&json!({}))
        .send()
        .await
        .refuses(403, "insufficient_scope");
    assert_eq!(problem["scope"], "content:generate");
    // Near the maximum of active prompts, all are added or none.
    let rows = (0..4_995).map(|n| vec![Param::from(Uuid::from_u128(n + 1)), format!("prompt {n}").into()]);
    let insert = "INSERT INTO prompts (project_id, id, text, text_key, language, country, tags, class, engines, status, version,
        created_at, updated_at) SELECT $1, $2, $3, $3, 'en', '', '[]', 'non_branded', '[]', 'active', 1, created_at, created_at
        FROM projects WHERE id = $1";
    execute(&bench, insert, rows.collect()).await;
    let refused = suggest(&bench, json!({ "limit": 6, "save": true })).await;
    refused.refuses(409, "invalid_state");
    assert_eq!(
        suggestions(&bench, json!({ "limit": 5, "save": true }))
            .await
            .len(),
        5
    );
    let full = suggest(&bench, json!({ "limit": 1, "save": true })).await;
    full.refuses(409, "invalid_state");
}

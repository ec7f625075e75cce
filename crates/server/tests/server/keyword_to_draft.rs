//! From a keyword that the product proposes to a draft of it, without any account.

use serde_json::{Value, json};

use crate::{
    harness::Bench,
    post_generation::{create, generate, get, until_ended},
};

on_both!(
    a_proposed_keyword_becomes_a_draft,
    keywords_about_competitors_name_the_brand,
);

async fn keywords_about_competitors_name_the_brand(database: &str) {
    let bench = Bench::on(database, &["worker.jobs=1"]).await;
    let named = bench.patch("P/brand", json!({ "name": "Fir Works" })).await;
    assert_eq!(named.status, 200, "{named:?}");
    let rival = json!({ "items": [{ "name": "Oakworks", "domain": "oakworks.example" }] });
    assert_eq!(bench.post("P/brand/competitors", rival).await.status, 201);
    let started = bench
        .post("P/keywords/generate", json!({ "count": 50 }))
        .await
        .json();
    until_ended(&bench, started["job"]["id"].as_str().unwrap()).await;
    let listed = bench.get("P/keywords?limit=100").await.json();
    let keywords = listed["data"].as_array().unwrap().iter();
    let compared: Vec<&str> = keywords
        .filter_map(|keyword| keyword["keyword"].as_str())
        .filter(|keyword| keyword.contains(" vs "))
        .collect();
    assert!(!compared.is_empty(), "{listed:#}");
    // not the name of the project, which is a label
    for keyword in compared {
        assert!(keyword.contains("fir works"), "{keyword}");
    }
}

async fn a_proposed_keyword_becomes_a_draft(database: &str) {
    let bench = Bench::on(database, &["worker.jobs=1"]).await;
    let products = json!({ "items": [{
        "name": "Lumen", "category": "bike light", "description": "A bike light with two beams", "url": "https://example.com/lumen",
    }] });
    let added = bench.post("P/brand/products", products).await;
    assert_eq!(added.status, 201, "{added:?}");

    let started = bench.post("P/keywords/generate", json!({ "count": 20 })).await;
    assert_eq!(started.status, 202, "{started:?}");
    let job = until_ended(&bench, started.json()["job"]["id"].as_str().unwrap()).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
    let listed = bench.get("P/keywords?limit=100").await.json();
    let keywords = listed["data"].as_array().unwrap();
    let named = |text: &str| -> &Value {
        let found = keywords.iter().find(|keyword| keyword["keyword"] == text);
        found.unwrap_or_else(|| panic!("no {text} in {listed:#}"))
    };

    for (keyword, title, heading) in [
        (
            "how to choose bike light",
            "How to choose a bike light",
            "## What should you look at when you choose a bike light?",
        ),
        (
            "what is bike light",
            "What is a bike light?",
            "## The short answer",
        ),
        (
            "Lumen",
            "Lumen: what it is and who it is for",
            "## Who is Lumen for?",
        ),
    ] {
        let id = &named(keyword)["id"];
        let post = create(&bench, json!({ "keywordId": id })).await;
        assert_eq!(post["title"], Value::Null);
        let job = generate(&bench, &post, json!({})).await;
        assert_eq!(job["status"], "succeeded", "{job:#}");
        let draft = get(&bench, &post).await;
        assert_eq!(
            (&draft["status"], &draft["title"], &draft["keywordId"]),
            (&json!("review"), &json!(title), id)
        );
        let content = draft["content"].as_str().unwrap();
        for part in [
            heading,
            "A bike light with two beams",
            "https://example.com/lumen",
        ] {
            assert!(content.contains(part), "{part}: {content}");
        }
    }
}

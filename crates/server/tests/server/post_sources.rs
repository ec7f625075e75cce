//! Comparison of posts' texts with each other and with external pages.

use std::sync::Arc;

use axum::response::Html;
use searchwright_contract::Clock;
use searchwright_server::sample;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    harness::{Bench, settings},
    post_generation::{create, generate, path, until_ended},
};

on_both!(
    two_posts_are_not_one,
    a_post_is_no_page_of_the_site,
    a_brief_names_the_pages_that_were_read,
);

/// Sixty words, all others than those of another number.
fn words(of: usize) -> String {
    (0..60).map(|n| format!("word{}x{n} ", of)).collect()
}

fn unique(post: &Value) -> (Value, Value) {
    let checks = post["seoChecks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == "unique_text").unwrap();
    (check["outcome"].clone(), check["value"].clone())
}

async fn two_posts_are_not_one(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let write = async |content: String| create(&bench, json!({ "title": "Desks", "content": content })).await;
    let set = async |post: &Value, body: Value| {
        let answer = bench.call("PATCH", &path(post)).json(&body).send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let first = write(words(1)).await;
    assert_eq!(unique(&first), (json!("pass"), json!(0.0)));
    assert_eq!(unique(&write(words(2)).await), (json!("pass"), json!(0.0)));
    let copy = write(format!("**{}** And more.", words(1).trim())).await;
    let (outcome, share) = unique(&copy);
    assert_eq!(outcome, "fail");
    assert!((0.9..1.0).contains(&share.as_f64().unwrap()), "{share}");
    // It counts against the older one, too, once that is looked at again.
    assert_eq!(unique(&set(&first, json!({ "excerpt": "e" })).await).0, "fail");
    set(&copy, json!({ "status": "archived" })).await;
    assert_eq!(unique(&set(&first, json!({ "excerpt": "f" })).await).0, "pass");
    let other = json!({ "status": "draft", "content": words(3), "ifVersion": 2 });
    assert_eq!(unique(&set(&copy, other).await).0, "pass");
    assert_eq!(unique(&set(&first, json!({ "excerpt": "g" })).await).0, "pass");
}

async fn a_post_is_no_page_of_the_site(database: &str) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let site = listener.local_addr().unwrap();
    let page = |text: String| {
        let html = format!(
            "<!doctype html><html lang=en><title>Desks</title><main><p>{text} <a href=/desk>Desk</a></p></main>"
        );
        axum::routing::get(move || async move { Html(html) })
    };
    let pages = axum::Router::new()
        .route("/", page(words(1)))
        .route("/desk", page(words(2) + &words(3)));
    tokio::spawn(async move { axum::serve(listener, pages).await });
    let folder = Arc::new(tempfile::TempDir::new().unwrap());
    let allowed = format!("allow_outbound=[\"crawl={site}\"]");
    let settings = settings(&folder, database, &[&allowed, "worker.jobs=1"]);
    let mut bench = Bench::open(folder, settings, Clock::system()).await;
    let engine = &bench.server.app.engine;
    let project = engine
        .create_project("Desks", &format!("http://{site}"))
        .await
        .unwrap();
    bench.project = project.id;
    bench.key = bench.key_for(project.id, &[]).await;
    let write = async |content: String| create(&bench, json!({ "title": "Desks", "content": content })).await;
    let copy = write(words(2) + &words(3)).await;
    assert_eq!(unique(&copy).0, "pass", "no page was seen yet");
    let audit = bench.post("P/audits", json!({})).await.json();
    let audit = until_ended(&bench, audit["job"]["id"].as_str().unwrap()).await;
    assert_eq!(audit["status"], "succeeded", "{audit:#}");

    let set = async |body: Value| {
        let answer = bench.call("PATCH", &path(&copy)).json(&body).send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        unique(&answer.json())
    };
    let (outcome, share) = set(json!({ "excerpt": "e" })).await;
    assert_eq!(outcome, "fail");
    assert!(share.as_f64().unwrap() > 0.8, "{share}");
    // The post may be that page.
    let here = json!({ "canonicalUrl": format!("http://{site}/desk#top") });
    assert_eq!(set(here).await.0, "pass");
    let elsewhere = json!({ "canonicalUrl": format!("http://{site}/") });
    assert_eq!(set(elsewhere).await.0, "fail");
    let changed = json!({ "content": words(2) + &words(4) + &words(5), "ifVersion": 4 });
    assert_eq!(set(changed).await.0, "pass", "a quarter is the page's");
}

async fn a_brief_names_the_pages_that_were_read(database: &str) {
    let stop = CancellationToken::new();
    let site = sample::start(stop.clone()).await.unwrap();
    let allowed = format!("allow_outbound=[\"crawl={site}\"]");
    let bench = Bench::on(database, &[&allowed, "worker.jobs=1"]).await;
    let post = create(&bench, json!({ "title": "Boston fern" })).await;
    let (fern, gone) = (
        format!("http://{site}/plants/boston-fern"),
        format!("http://{site}/nothing"),
    );
    let inside = "http://127.0.0.1:9/inside";
    let sources = json!({ "sources": [fern, gone, inside, fern] });
    let job = generate(&bench, &post, sources).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
    let written = bench.get(&path(&post)).await.json();
    let read = written["externalSources"].as_array().unwrap();
    let told: Vec<(&Value, &Value)> = read
        .iter()
        .map(|source| (&source["url"], &source["ok"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!(fern), &json!(true)),
            (&json!(gone), &json!(false)),
            (&json!(inside), &json!(false))
        ]
    );
    assert_eq!(read[0]["title"], "Boston fern care and price");
    assert_eq!(read[0]["checkedAt"], written["generation"]["requestedAt"]);
    let content = written["content"].as_str().unwrap();
    assert!(
        content.contains(&format!("- [Boston fern care and price](<{fern}>)")),
        "{content}"
    );
    assert!(!content.contains("/nothing"), "{content}");
    let unread = written["warnings"].as_array().unwrap();
    let unread: Vec<&Value> = unread.iter().filter(|w| w["code"] == "source_unread").collect();
    assert_eq!(
        (&unread[0]["source"], &unread[0]["blocksPublishing"]),
        (&json!(gone), &json!(false))
    );
    assert!(unread[0]["detail"].as_str().unwrap().contains("404"));
    assert_eq!(unread[1]["source"], inside);
    assert!(unread[1]["detail"].as_str().unwrap().contains("not allowed"));
    stop.cancel();
}

#[tokio::test]
async fn what_is_no_source_and_no_claim_is_named() {
    let bench = Bench::start().await;
    let post = create(
        &bench,
        json!({ "title": "Desks", "content": "It costs 99 euros." }),
    )
    .await;
    let start = format!("{}/generate", path(&post));
    for bad in [
        "ftp://study.example/",
        "study.example",
        "https://me:pw@study.example/",
    ] {
        let body = json!({ "sources": ["https://study.example/", bad] });
        let refused = bench.post(&start, body).await.refuses(422, "validation_failed");
        assert_eq!(refused["errors"][0]["pointer"], "/sources/1", "{bad}");
    }
    let eleven: Vec<String> = (0..11).map(|n| format!("https://study.example/{n}")).collect();
    let refused = bench.post(&start, json!({ "sources": eleven })).await;
    refused.refuses(422, "too_many_items");
    // What people write without a job waits for no source.
    assert_eq!(post["warnings"], json!([]));
    let body = json!({ "acceptClaims": ["It costs 99 euros."] });
    let refused = bench.call("PATCH", &path(&post)).json(&body).send().await;
    let refused = refused.refuses(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/acceptClaims/0");
    assert_eq!(refused["errors"][0]["code"], "no_such_claim");
}

//! Posts and the keywords they aim at: no two for one unless that is meant, and keywords that follow their posts.

use std::sync::Arc;

use searchwright_contract::Clock;
use searchwright_server::sample;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    harness::{Bench, settings},
    post_generation::{create, generate, path, until_ended},
};

on_both!(
    one_post_for_a_keyword,
    a_keyword_follows_its_posts,
    a_job_takes_the_keyword_along,
);

async fn one_post_for_a_keyword(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (keyword, other) = (
        bench.keyword("standing desk").await,
        bench.keyword("desk lamp").await,
    );
    let first = create(&bench, json!({ "keywordId": keyword })).await;
    let second = create(&bench, json!({ "keywordId": keyword })).await;
    let start = async |post: &Value, body| bench.post(&format!("{}/generate", path(post)), body).await;
    for dry_run in [false, true] {
        let refused = start(&second, json!({ "dryRun": dry_run }))
            .await
            .refuses(409, "already_exists");
        assert_eq!(refused["existingId"], first["id"]);
        assert!(refused["hint"].as_str().unwrap().contains("allowDuplicate"));
    }
    // What has no keyword, or another one, competes with nothing.
    for alone in [json!({ "title": "standing desk" }), json!({ "keywordId": other })] {
        let post = create(&bench, alone).await;
        assert_eq!(start(&post, json!({})).await.status, 202);
    }
    assert_eq!(
        start(&second, json!({ "allowDuplicate": true })).await.status,
        202
    );
    start(&first, json!({})).await.refuses(409, "already_exists");
    // Nor does a post that is put away.
    let away = async |post| {
        bench
            .call("PATCH", &path(post))
            .json(&json!({ "status": "archived" }))
            .send()
            .await
    };
    assert_eq!(away(&second).await.status, 200);
    assert_eq!(start(&first, json!({})).await.status, 202);
}

/// Returns the status of a keyword and the posts that target it.
async fn state(bench: &Bench, keyword: &str) -> (Value, Value) {
    let keyword = bench.get(&format!("P/keywords/{keyword}")).await.json();
    (keyword["status"].clone(), keyword["postIds"].clone())
}

async fn set(bench: &Bench, path: &str, body: Value) -> Value {
    let answer = bench.call("PATCH", path).json(&body).send().await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

async fn a_keyword_follows_its_posts(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (desk, lamp) = (
        bench.keyword("standing desk").await,
        bench.keyword("desk lamp").await,
    );
    assert_eq!(state(&bench, &desk).await, (json!("approved"), json!([])));
    let first = create(&bench, json!({ "keywordId": desk })).await;
    assert_eq!(
        state(&bench, &desk).await,
        (json!("planned"), json!([first["id"]]))
    );
    let second = create(
        &bench,
        json!({ "keywordId": desk, "title": "Desks", "content": "Text." }),
    )
    .await;
    assert_eq!(
        state(&bench, &desk).await,
        (json!("in_progress"), json!([first["id"], second["id"]]))
    );
    let listed = bench.get("P/keywords?status=in_progress").await.json();
    assert_eq!(listed["data"][0]["postIds"], json!([first["id"], second["id"]]));
    // A change that moves nothing leaves the keyword alone.
    let before = bench.get(&format!("P/keywords/{desk}")).await.json();
    set(&bench, &path(&second), json!({ "excerpt": "Text." })).await;
    assert_eq!(bench.get(&format!("P/keywords/{desk}")).await.json(), before);
    set(&bench, &path(&second), json!({ "keywordId": lamp })).await;
    assert_eq!(
        state(&bench, &desk).await,
        (json!("planned"), json!([first["id"]]))
    );
    assert_eq!(
        state(&bench, &lamp).await,
        (json!("in_progress"), json!([second["id"]]))
    );
    set(&bench, &path(&second), json!({ "status": "archived" })).await;
    assert_eq!(state(&bench, &lamp).await, (json!("approved"), json!([])));
    set(&bench, &path(&second), json!({ "status": "draft" })).await;
    assert_eq!(
        state(&bench, &lamp).await,
        (json!("in_progress"), json!([second["id"]]))
    );
    set(&bench, &path(&second), json!({ "keywordId": null })).await;
    assert_eq!(state(&bench, &lamp).await, (json!("approved"), json!([])));
    // What a person said of it stays.
    for said in ["rejected", "archived"] {
        set(&bench, &format!("P/keywords/{desk}"), json!({ "status": said })).await;
        let third = create(&bench, json!({ "keywordId": desk })).await;
        assert_eq!(
            state(&bench, &desk).await,
            (json!(said), json!([first["id"], third["id"]]))
        );
        set(&bench, &path(&third), json!({ "status": "archived" })).await;
        assert_eq!(state(&bench, &desk).await, (json!(said), json!([first["id"]])));
    }
    // So does what was set by hand without any post of ours.
    set(
        &bench,
        &format!("P/keywords/{lamp}"),
        json!({ "status": "published" }),
    )
    .await;
    let elsewhere = create(&bench, json!({ "title": "Lamps" })).await;
    set(&bench, &path(&elsewhere), json!({ "status": "archived" })).await;
    assert_eq!(state(&bench, &lamp).await, (json!("published"), json!([])));
}

async fn a_job_takes_the_keyword_along(database: &str) {
    let bench = Bench::on(database, &["worker.jobs=1"]).await;
    let keyword = bench.keyword("standing desk").await;
    let post = create(&bench, json!({ "keywordId": keyword })).await;
    generate(&bench, &post, json!({})).await;
    assert_eq!(
        state(&bench, &keyword).await,
        (json!("in_progress"), json!([post["id"]]))
    );
    let gone = bench
        .call("DELETE", &format!("P/keywords/{keyword}"))
        .send()
        .await;
    assert_eq!(gone.status, 204);
    let left = set(&bench, &path(&post), json!({ "status": "archived" })).await;
    assert_eq!(left["keywordId"], Value::Null);
}

/// A bench whose project is the sample site, audited.
async fn audited(stop: &CancellationToken, keywords: &[&str]) -> (Bench, String) {
    let site = sample::start(stop.clone()).await.unwrap();
    let folder = Arc::new(tempfile::TempDir::new().unwrap());
    let set = format!("allow_outbound=[\"crawl={site}\"]");
    let settings = settings(&folder, "", &[&set, "worker.jobs=1"]);
    let mut bench = Bench::open(folder, settings, Clock::system()).await;
    let engine = &bench.server.app.engine;
    let sampled = engine
        .create_project("Sample", &format!("http://{site}"))
        .await
        .unwrap();
    bench.project = sampled.id;
    bench.key = bench.key_for(sampled.id, &[]).await;
    for keyword in keywords {
        bench.keyword(keyword).await;
    }
    let audit = bench.post("P/audits", json!({})).await.json();
    until_ended(&bench, audit["job"]["id"].as_str().unwrap()).await;
    (bench, site.to_string())
}

#[tokio::test]
async fn what_competes_for_a_keyword_is_said() {
    let stop = CancellationToken::new();
    let (bench, site) = audited(&stop, &["Boston fern care and price", "plants"]).await;
    let jobs = bench.get("P/jobs").await.json();
    let mut jobs = jobs["data"].as_array().unwrap().iter();
    let clusters = jobs.find(|job| job["type"] == "cluster_keywords").unwrap();
    until_ended(&bench, clusters["id"].as_str().unwrap()).await;
    let said = async || -> Vec<Value> {
        let all = bench.get("P/keywords").await.json();
        let all = all["data"].as_array().unwrap().iter().rev();
        all.map(|keyword| keyword["cannibalisation"].clone()).collect()
    };
    let ferns = ["/plants/aspidistra", "/plants/boston-fern"].map(|path| format!("http://{site}{path}"));
    let pages = json!({ "reason": "same_pages", "urls": ferns, "postIds": [] });
    assert_eq!(
        said().await,
        [pages.clone(), Value::Null],
        "one page alone competes with nothing"
    );

    let all = bench.get("P/keywords").await.json();
    let plants = all["data"][0]["id"].clone();
    let first = create(&bench, json!({ "keywordId": plants })).await;
    let second = create(&bench, json!({ "keywordId": plants })).await;
    let posts = json!({ "reason": "same_posts", "urls": [], "postIds": [first["id"], second["id"]] });
    assert_eq!(said().await, [pages.clone(), posts]);
    set(&bench, &path(&second), json!({ "status": "archived" })).await;
    assert_eq!(said().await, [pages, Value::Null]);
    stop.cancel();
}

#[tokio::test]
async fn no_post_for_what_a_page_is_called() {
    let stop = CancellationToken::new();
    let (bench, site) = audited(&stop, &[]).await;
    // One is a title, the other only the heading below a title that several pages share.
    for (keyword, page) in [("plants", "/plants"), ("Aspidistra", "/plants/aspidistra")] {
        let keyword = bench.keyword(keyword).await;
        let post = create(&bench, json!({ "keywordId": keyword })).await;
        let start = format!("{}/generate", path(&post));
        let refused = bench.post(&start, json!({})).await.refuses(409, "already_exists");
        assert_eq!(refused["existingUrl"], json!(format!("http://{site}{page}")));
        assert!(!refused["detail"].as_str().unwrap().contains("http"));
        // The page of the post itself is no other page.
        let own = json!({ "canonicalUrl": format!("http://{site}{page}/") });
        assert_eq!(
            bench.call("PATCH", &path(&post)).json(&own).send().await.status,
            200
        );
        assert_eq!(generate(&bench, &post, json!({})).await["status"], "succeeded");
    }
    // A page that is kept out of search competes with nothing.
    let keyword = bench.keyword("Not found").await;
    let post = create(&bench, json!({ "keywordId": keyword })).await;
    assert_eq!(generate(&bench, &post, json!({})).await["status"], "succeeded");
    stop.cancel();
}

//! Places of a worker: jobs of one lane hold up none of another, and an audit that lasts gives its place to one that waits.

use searchwright_contract::Clock;
use serde_json::{Value, json};

use crate::{
    audited::{HELD, Website, bench_by, page, serve},
    harness::{Bench, now},
    post_generation::until_ended,
};

on_both!(
    a_slow_website_holds_up_nothing_but_audits,
    an_audit_that_lasts_gives_its_place_to_one_that_waits,
);

/// Begins an audit that waits for a page, with one place for each lane. Another website is there to be audited.
async fn held(database: &str) -> (Bench, Website, String) {
    let other = Website::default();
    other.put(
        "/",
        200,
        &page("<title>Another website with one page</title>", &[]),
    );
    let other = serve(&other).await;
    let (bench, site) = bench_by(database, &format!(",\"crawl={other}\""), Clock::fixed(now())).await;
    site.put("/a", HELD, "");
    let started = bench.post("P/audits", json!({})).await;
    assert_eq!(started.status, 202, "{started:?}");
    while !site.asked().iter().any(|path| path == "/a") {
        tokio::task::yield_now().await;
    }
    (bench, site, format!("http://{other}"))
}

async fn a_slow_website_holds_up_nothing_but_audits(database: &str) {
    let (bench, ..) = held(database).await;
    let post = bench.post("P/posts", json!({ "title": "Desks" })).await.json();
    let generate = format!("P/posts/{}/generate", post["id"].as_str().unwrap());
    for path in ["P/keywords/generate", &*generate] {
        let started = bench.post(path, json!({})).await.json();
        until_ended(&bench, started["job"]["id"].as_str().unwrap()).await;
    }
    let audit = bench.get("P/audits/current").await.json();
    assert_eq!(audit["status"], "crawling", "{audit:#}");
}

async fn an_audit_that_lasts_gives_its_place_to_one_that_waits(database: &str) {
    let (mut bench, site, other) = held(database).await;
    let first = bench.get("P/audits/current").await.json();
    let (project, key) = (bench.project, bench.key.clone());
    bench.project = bench
        .server
        .app
        .engine
        .create_project("Other", &other)
        .await
        .unwrap()
        .id;
    bench.key = bench.key_for(bench.project, &[]).await;
    let second = bench.post("P/audits", json!({})).await.json();
    let job: &Value = &second["job"];
    bench.clock.advance(299_000);
    let path = format!("P/jobs/{}", job["id"].as_str().unwrap());
    assert_eq!(bench.get(&path).await.json()["status"], "queued");
    bench.clock.advance(1_000);
    let ended = until_ended(&bench, job["id"].as_str().unwrap()).await;
    assert_eq!(ended["status"], "succeeded", "{ended:#}");
    // the first goes on where it was, and its turn cost it no attempt
    (bench.project, bench.key) = (project, key);
    site.release(
        "/a",
        200,
        &page("<title>It took its time to be answered</title>", &["/"]),
    );
    let job = first["jobId"].as_str().unwrap();
    let ended = until_ended(&bench, job).await;
    assert_eq!(
        (&ended["status"], &ended["attempt"]),
        (&json!("succeeded"), &json!(1)),
        "{ended:#}"
    );
}

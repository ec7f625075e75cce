//! Posts written by jobs.

use serde_json::{Value, json};

use crate::harness::Bench;

on_both!(
    without_a_model_a_brief_of_what_the_project_knows,
    what_people_wrote_stays_unless_it_is_to_be_replaced,
    a_dry_run_changes_nothing,
);

async fn bench(database: &str) -> Bench {
    Bench::on(database, &["worker.jobs=1"]).await
}

pub async fn create(bench: &Bench, body: Value) -> Value {
    let created = bench.post("P/posts", body).await;
    assert_eq!(created.status, 201, "{created:?}");
    created.json()
}

pub fn path(post: &Value) -> String {
    format!("P/posts/{}", post["id"].as_str().unwrap())
}

pub async fn get(bench: &Bench, post: &Value) -> Value {
    bench.get(&path(post)).await.json()
}

/// Starts a generation and waits for its job; the job as it ended.
pub async fn generate(bench: &Bench, post: &Value, body: Value) -> Value {
    let started = bench.post(&format!("{}/generate", path(post)), body).await;
    assert_eq!(started.status, 202, "{started:?}");
    let job = started.json()["job"]["id"].as_str().unwrap().to_owned();
    assert!(
        started
            .header("location")
            .unwrap()
            .ends_with(&format!("/jobs/{job}"))
    );
    until_ended(bench, &job).await
}

/// A job as it ended.
pub async fn until_ended(bench: &Bench, job: &str) -> Value {
    loop {
        let job = bench.get(&format!("P/jobs/{job}")).await.json();
        if !["queued", "running"].contains(&job["status"].as_str().unwrap()) {
            return job;
        }
        tokio::task::yield_now().await;
    }
}

pub async fn used(bench: &Bench) -> i64 {
    let usage = bench.get("P/usage").await.json();
    let quotas = usage["quotas"].as_array().unwrap();
    let quota = quotas
        .iter()
        .find(|quota| quota["metric"] == "posts_generated")
        .unwrap();
    quota["used"].as_i64().unwrap()
}

async fn brand(bench: &Bench) {
    let faqs = json!({ "items": [{ "question": "How high does the standing desk go?", "answer": "Up to 128 cm." }] });
    let products = json!({ "items": [{ "name": "Oak desk", "description": "A standing desk of oak", "url": "https://example.com/oak" }] });
    let ctas = json!({ "items": [{ "label": "Try it", "url": "https://example.com/try" }] });
    for (resource, body) in [("faqs", faqs), ("products", products), ("ctas", ctas)] {
        let added = bench.post(&format!("P/brand/{resource}"), body).await;
        assert_eq!(added.status, 201, "{added:?}");
    }
}

async fn without_a_model_a_brief_of_what_the_project_knows(database: &str) {
    let bench = bench(database).await;
    brand(&bench).await;
    let keyword = bench.keyword("standing desk").await;
    let post = create(&bench, json!({ "keywordId": keyword })).await;
    assert_eq!(
        (&post["title"], &post["allowedActions"]["generate"]),
        (&Value::Null, &json!(true))
    );
    let job = generate(&bench, &post, json!({})).await;
    assert_eq!(
        (&job["status"], &job["type"]),
        (&json!("succeeded"), &json!("generate_post")),
        "{job:#}"
    );
    let written = get(&bench, &post).await;
    assert_eq!(
        (&written["status"], &written["generation"]["method"]),
        (&json!("review"), &json!("brief"))
    );
    assert_eq!(
        (
            &written["generation"]["model"],
            &written["generation"]["costMicrosUsd"]
        ),
        (&Value::Null, &json!(0))
    );
    assert_eq!(written["generation"]["jobId"], job["id"]);
    let content = written["content"].as_str().unwrap();
    for known in [
        "How high does the standing desk go?",
        "Up to 128 cm.",
        "A standing desk of oak",
        "https://example.com/try",
    ] {
        assert!(content.contains(known), "{known}: {content}");
    }
    assert!(written["seoScore"].is_u64());
    let warning = &written["warnings"][0];
    assert_eq!(
        (&warning["code"], &warning["blocksPublishing"]),
        (&json!("brief_only"), &json!(true))
    );
    assert_eq!(used(&bench).await, 1);
    // Whoever writes over the brief has an article.
    let body = json!({ "content": "A text.", "title": "Desks", "ifVersion": written["version"] });
    let edited = bench.call("PATCH", &path(&post)).json(&body).send().await.json();
    assert_eq!(edited["warnings"], json!([]), "{edited:#}");
    let revisions = bench.get(&format!("{}/revisions", path(&post))).await.json();
    assert_eq!(revisions["data"][0]["content"], content);
}

async fn what_people_wrote_stays_unless_it_is_to_be_replaced(database: &str) {
    let bench = bench(database).await;
    let text = "Desks that rise are good for some. They cost more.";
    let post = create(
        &bench,
        json!({ "title": "Standing desks", "content": text, "metaDescription": "Mine." }),
    )
    .await;
    generate(&bench, &post, json!({ "mode": "fill" })).await;
    let filled = get(&bench, &post).await;
    assert_eq!(
        (&filled["content"], &filled["status"]),
        (&json!(text), &json!("review"))
    );
    assert_eq!(
        (&filled["excerpt"], &filled["metaDescription"]),
        (&json!(text), &json!("Mine."))
    );
    assert_eq!(filled["warnings"], json!([]));
    generate(&bench, &post, json!({ "mode": "overwrite" })).await;
    let replaced = get(&bench, &post).await;
    assert!(
        replaced["content"].as_str().unwrap().starts_with("> Brief"),
        "{replaced:#}"
    );
    let revisions = bench.get(&format!("{}/revisions", path(&post))).await.json();
    assert_eq!(revisions["data"][0]["content"], text);
    assert_eq!(used(&bench).await, 2);
}

async fn a_dry_run_changes_nothing(database: &str) {
    let bench = bench(database).await;
    brand(&bench).await;
    let post = create(&bench, json!({ "title": "Standing desk", "content": "Mine." })).await;
    let job = generate(&bench, &post, json!({ "dryRun": true, "mode": "overwrite" })).await;
    assert!(
        job["result"]["content"]
            .as_str()
            .unwrap()
            .contains("Up to 128 cm."),
        "{job:#}"
    );
    assert_eq!(get(&bench, &post).await, post);
    assert_eq!(used(&bench).await, 0);
}

#[tokio::test]
async fn a_post_that_waits_is_left_alone_or_taken_back() {
    // No worker runs: what is queued stays so.
    let bench = Bench::start().await;
    let post = create(&bench, json!({ "title": "Standing desk", "content": "Mine." })).await;
    let start = async |post: &Value| {
        bench
            .post(
                &format!("{}/generate", path(post)),
                json!({ "mode": "overwrite" }),
            )
            .await
    };
    let started = start(&post).await.json();
    assert_eq!(
        (&started["post"]["status"], &started["job"]["status"]),
        (&json!("queued"), &json!("queued"))
    );
    assert_eq!(
        started["job"]["links"]["post"]
            .as_str()
            .map(|l| l.ends_with(post["id"].as_str().unwrap())),
        Some(true)
    );
    let refused = start(&post).await.refuses(409, "invalid_state");
    assert_eq!(
        (&refused["from"], &refused["to"]),
        (&json!("queued"), &json!("queued"))
    );
    assert_eq!(used(&bench).await, 1);
    let taken = bench
        .call("PATCH", &path(&post))
        .json(&json!({ "status": "draft" }))
        .send()
        .await
        .json();
    assert_eq!(
        (&taken["status"], &taken["content"]),
        (&json!("draft"), &json!("Mine."))
    );
    let job = format!("P/jobs/{}", started["job"]["id"].as_str().unwrap());
    assert_eq!(bench.get(&job).await.json()["status"], "canceled");
    assert_eq!(used(&bench).await, 0);
    // Stopping the job is the same.
    let started = start(&post).await.json();
    let job = format!("P/jobs/{}/cancel", started["job"]["id"].as_str().unwrap());
    assert_eq!(bench.post(&job, json!({})).await.json()["status"], "canceled");
    assert_eq!(get(&bench, &post).await["status"], "draft");
    assert_eq!(used(&bench).await, 0);
    bench
        .call("POST", &format!("{}/generate", path(&post)))
        .header("if-match", "\"x\"")
        .json(&json!({}))
        .send()
        .await
        .refuses(412, "precondition_failed");
    let writer = bench.key_for(bench.project, &["posts:write"]).await;
    let refused = bench
        .call("POST", &format!("{}/generate", path(&post)))
        .key(&writer)
        .json(&json!({}))
        .send()
        .await;
    assert_eq!(
        refused.refuses(403, "insufficient_scope")["scope"],
        "content:generate"
    );
}

#[tokio::test]
async fn a_quota_that_is_used_up_stops_before_anything_changes() {
    let bench = Bench::start().await;
    let engine = &bench.server.app.engine;
    let project = bench.project;
    let metric = searchwright_contract::usage::Metric::PostsGenerated;
    engine
        .db
        .write(move |tx| {
            Box::pin(async move { searchwright_store::usage::set_quota(tx, project, metric, Some(0)).await })
        })
        .await
        .unwrap();
    let post = create(&bench, json!({ "title": "Standing desk" })).await;
    let refused = bench
        .post(&format!("{}/generate", path(&post)), json!({}))
        .await
        .refuses(403, "quota_exceeded");
    assert_eq!(refused["metric"], "posts_generated");
    assert_eq!(get(&bench, &post).await, post);
    assert_eq!(bench.get("P/jobs").await.json()["data"], json!([]));
}

//! Jobs of any kind.

use searchwright_contract::ids::JobId;
use searchwright_engine::admin::Grant;
use serde_json::json;

use crate::harness::Bench;

on_both!(whoever_may_start_a_job_may_stop_it,);

async fn whoever_may_start_a_job_may_stop_it(database: &str) {
    // No worker runs: what is queued stays so.
    let bench = Bench::on(database, &[]).await;
    let post = bench.post("P/posts", json!({ "title": "Standing desk" })).await;
    let generate = format!("P/posts/{}/generate", post.json()["id"].as_str().unwrap());
    let read_only = Grant {
        scopes: vec!["audits:write".to_owned(), "content:generate".to_owned()],
        read_only: true,
        lifetime_millis: None,
    };
    let read_only = bench.grant(bench.project, read_only).await.1;
    let stranger = bench.neighbour().await.1;
    for (start, body, needed, other) in [
        ("P/audits", json!({}), "audits:write", "content:generate"),
        (
            "P/keywords/generate",
            json!({}),
            "content:generate",
            "audits:write",
        ),
        (
            "P/keyword-metrics",
            json!({ "keywords": ["desk"] }),
            "content:generate",
            "posts:write",
        ),
        (generate.as_str(), json!({}), "content:generate", "audits:write"),
    ] {
        let mine = bench.key_for(bench.project, &["projects:read", needed]).await;
        let other = bench.key_for(bench.project, &["projects:read", other]).await;
        let started = bench.call("POST", start).key(&mine).json(&body).send().await;
        assert_eq!(started.status, 202, "{started:?}");
        let job = format!("P/jobs/{}", started.json()["job"]["id"].as_str().unwrap());
        let stop = async |key: &str| {
            bench
                .call("POST", &format!("{job}/cancel"))
                .key(key)
                .json(&json!({}))
                .send()
                .await
        };
        let read = async |key: &str| bench.call("GET", &job).key(key).send().await.json();
        assert_eq!(read(&mine).await["allowedActions"]["cancel"], true, "{start}");
        let seen = read(&other).await;
        assert_eq!(
            seen["allowedActions"]["cancel"]["code"], "insufficient_scope",
            "{seen:#}"
        );
        assert_eq!(
            stop(&other).await.refuses(403, "insufficient_scope")["scope"],
            needed
        );
        assert_eq!(
            stop(&read_only).await.refuses(403, "insufficient_scope")["detail"],
            "this key is read-only"
        );
        stop(&stranger).await.refuses(403, "project_forbidden");
        assert_eq!(read(&mine).await["status"], "queued");
        assert_eq!(stop(&mine).await.json()["status"], "canceled", "{start}");
        stop(&mine).await.refuses(409, "invalid_state");
    }
    // What an import leaves to be done is its own.
    let importer = bench.key_for(bench.project, &["keywords:write"]).await;
    let file = json!({ "file": "Keyword,Volume,Keyword Difficulty\nstanding desk,100,20\n" });
    let imported = bench
        .call("POST", "P/keywords/import")
        .key(&importer)
        .json(&file)
        .send()
        .await;
    assert_eq!(imported.status, 200, "{imported:?}");
    let job = imported.json()["job"].clone();
    assert_eq!(
        (&job["type"], &job["allowedActions"]["cancel"]),
        (&json!("cluster_keywords"), &json!(true)),
        "{job:#}"
    );
    // The same is not queued twice, and a file that says nothing new has nothing done.
    let more = json!({ "file": "Keyword,Volume,Keyword Difficulty\nstanding desks,90,20\n" });
    let again = bench.post("P/keywords/import", more.clone()).await.json();
    assert_eq!(again["job"]["id"], job["id"], "{again:#}");
    assert_eq!(
        bench.post("P/keywords/import", more).await.json()["job"],
        json!(null)
    );
    let stop = format!("P/jobs/{}/cancel", job["id"].as_str().unwrap());
    let stopped = bench
        .call("POST", &stop)
        .key(&importer)
        .json(&json!({}))
        .send()
        .await;
    assert_eq!(stopped.json()["status"], "canceled", "{stopped:?}");
    let nobody = format!("P/jobs/{}/cancel", bench.clock.id::<JobId>());
    bench.post(&nobody, json!({})).await.refuses(404, "not_found");
}

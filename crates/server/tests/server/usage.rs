//! Usage: counts with their quotas and money with its budgets, as the operator set them.

use searchwright_contract::usage::Metric;
use searchwright_engine::failure::Failure;
use searchwright_store::{
    access::{self, ProjectScope},
    usage::{self, Charge, NewReservation},
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    blog::Fault,
    harness::Bench,
    publishing::{publish, settled, start, until, write},
};

on_both!(a_post_that_goes_live_counts_against_its_quota,);

async fn scope(bench: &Bench) -> ProjectScope {
    let digest = searchwright_engine::secrets::digest(&bench.key);
    let mut tx = bench.server.app.engine.db.read().await.unwrap();
    access::find_key_by_digest(&mut tx, &digest)
        .await
        .unwrap()
        .unwrap()
        .project
        .scope()
}

fn quota<'a>(usage: &'a Value, metric: &str) -> &'a Value {
    let quotas = usage["quotas"].as_array().unwrap();
    quotas.iter().find(|q| q["metric"] == metric).unwrap()
}

#[tokio::test]
async fn a_fresh_project_has_used_nothing_and_may_use_all() {
    let bench = Bench::start().await;
    let usage = bench.get("P/usage").await;
    assert_eq!(usage.status, 200);
    let usage = usage.json();
    assert_eq!(
        (&usage["periodStart"], &usage["spend"]),
        (&json!("2026-11-01T00:00:00.000Z"), &json!([]))
    );
    let metrics: Vec<&Value> = usage["quotas"]
        .as_array()
        .unwrap()
        .iter()
        .map(|q| &q["metric"])
        .collect();
    assert_eq!(
        metrics,
        [
            "keywords_generated",
            "keyword_metrics",
            "posts_generated",
            "posts_published",
            "audits",
            "answers_tracked"
        ]
    );
    for quota in usage["quotas"].as_array().unwrap() {
        let expected = json!({
            "metric": quota["metric"], "limit": null, "used": 0, "resetsAt": "2026-12-01T00:00:00.000Z"
        });
        assert_eq!(*quota, expected);
    }
}

#[tokio::test]
async fn an_audit_is_counted_when_it_starts() {
    let bench = Bench::start().await;
    for _ in 0..2 {
        assert_eq!(bench.post("P/audits", json!({})).await.status, 202);
    }
    let usage = bench.get("P/usage").await.json();
    assert_eq!(
        quota(&usage, "audits")["used"],
        1,
        "the second call found it running"
    );
}

#[tokio::test]
async fn work_that_is_stopped_before_it_began_is_not_counted() {
    let bench = Bench::start().await;
    let post = bench.post("P/posts", json!({ "title": "Desks" })).await.json();
    let generate = format!("P/posts/{}/generate", post["id"].as_str().unwrap());
    for (metric, path, body, counted) in [
        (
            "keywords_generated",
            "P/keywords/generate",
            json!({ "count": 7 }),
            7,
        ),
        (
            "keyword_metrics",
            "P/keyword-metrics",
            json!({ "keywords": ["desk", "Desk", "chair"] }),
            2,
        ),
        ("posts_generated", generate.as_str(), json!({}), 1),
    ] {
        let started = bench.post(path, body).await;
        assert_eq!(started.status, 202, "{started:?}");
        let usage = bench.get("P/usage").await.json();
        assert_eq!(quota(&usage, metric)["used"], counted);
        let job = started.json()["job"]["id"].as_str().unwrap().to_owned();
        let stopped = bench.post(&format!("P/jobs/{job}/cancel"), json!({})).await;
        assert_eq!(stopped.json()["status"], "canceled", "{stopped:?}");
        let usage = bench.get("P/usage").await.json();
        assert_eq!(quota(&usage, metric)["used"], 0, "{metric}");
    }
}

#[tokio::test]
async fn what_the_operator_sets_is_shown_and_enforced() {
    let bench = Bench::start().await;
    let engine = &bench.server.app.engine;
    engine
        .set_quota(bench.project, "posts_generated", Some(3))
        .await
        .unwrap();
    engine
        .set_budget(bench.project, "openai", Some(20_000_000))
        .await
        .unwrap();
    engine
        .set_daily_budget(bench.project, Some(30_000_000))
        .await
        .unwrap();
    let (scope, now) = (scope(&bench).await, bench.clock.now());
    let ids: Vec<Uuid> = (0..4).map(|_| bench.clock.id()).collect();
    let step = move |n: usize, estimate| NewReservation {
        id: ids[n],
        job: ids[0].into(),
        step: n.to_string(),
        provider: "openai".to_owned(),
        what: "a post".to_owned(),
        estimate,
    };
    let (first, second, third) = (step(0, 5_000_000), step(1, 250_000), step(2, 19_000_000));
    let (settled, probe) = (first.id, bench.clock.id());
    engine
        .db
        .write(move |tx| {
            Box::pin(async move {
                usage::consume(tx, scope, Metric::PostsGenerated, 2, now).await??;
                usage::reserve(tx, scope, first, now).await??;
                usage::settle(tx, scope, settled, Some(3_150_000), now).await?;
                usage::reserve(tx, scope, second, now).await??;
                let unpriced = Charge {
                    id: probe,
                    provider: "anthropic".to_owned(),
                    what: "a probe".to_owned(),
                    actual: None,
                };
                usage::record_charge(tx, scope, unpriced, now).await?;
                Ok::<(), Failure>(())
            })
        })
        .await
        .unwrap();
    let usage = bench.get("P/usage").await.json();
    let resets = "2026-12-01T00:00:00.000Z";
    assert_eq!(
        *quota(&usage, "posts_generated"),
        json!({ "metric": "posts_generated", "limit": 3, "used": 2, "resetsAt": resets })
    );
    assert_eq!(
        usage["spend"],
        json!([
            { "provider": "anthropic", "budgetMicrosUsd": null, "spentMicrosUsd": 0, "uncertainMicrosUsd": 0,
              "uncertainCalls": 1, "resetsAt": resets },
            { "provider": "openai", "budgetMicrosUsd": 20_000_000, "spentMicrosUsd": 3_150_000,
              "uncertainMicrosUsd": 250_000, "uncertainCalls": 1, "resetsAt": resets },
        ])
    );
    assert_eq!(
        (
            &usage["today"]["budgetMicrosUsd"],
            &usage["today"]["spentMicrosUsd"]
        ),
        (&json!(30_000_000), &json!(3_400_000))
    );
    let refused = engine
        .db
        .write(move |tx| {
            Box::pin(async move {
                Ok::<(), Failure>(usage::consume(tx, scope, Metric::PostsGenerated, 2, now).await??)
            })
        })
        .await
        .unwrap_err();
    let problem = serde_json::to_value(&refused.0).unwrap();
    let shown = |names: [&str; 4]| names.map(|n| problem[n].clone());
    assert_eq!(
        shown(["status", "code", "metric", "limit"]),
        [
            json!(403),
            json!("quota_exceeded"),
            json!("posts_generated"),
            json!(3)
        ]
    );
    assert_eq!(
        shown(["used", "resetsAt", "retryable", "provider"]),
        [json!(2), json!(resets), json!(false), json!(null)]
    );
    let refused = engine
        .db
        .write(move |tx| {
            Box::pin(async move {
                usage::reserve(tx, scope, third, now).await??;
                Ok::<(), Failure>(())
            })
        })
        .await
        .unwrap_err();
    let problem = serde_json::to_value(&refused.0).unwrap();
    let shown = |names: [&str; 4]| names.map(|n| problem[n].clone());
    assert_eq!(
        shown(["status", "code", "provider", "limit"]),
        [
            json!(403),
            json!("quota_exceeded"),
            json!("openai"),
            json!(20_000_000)
        ]
    );
    assert_eq!(
        shown(["used", "resetsAt", "retryable", "metric"]),
        [
            json!(3_400_000),
            json!(resets),
            json!(false),
            json!("spend_micros_usd")
        ]
    );
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .starts_with("3.40 of 20.00 USD"),
        "{problem}"
    );
}

#[tokio::test]
async fn the_operator_is_told_what_cannot_be() {
    let bench = Bench::start().await;
    let engine = &bench.server.app.engine;
    let code = |failure: Failure| {
        let problem = failure.0;
        let fault = problem.errors.first().map(|f| f.code.clone());
        (problem.status, fault.unwrap_or_default())
    };
    let nobody = Uuid::nil();
    for (project, metric, limit, expected) in [
        (bench.project, "posts", Some(1), (422, "unknown_value")),
        (bench.project, "audits", Some(1), (422, "unlimited")),
        (bench.project, "posts_generated", Some(-1), (422, "out_of_range")),
        (nobody, "posts_generated", Some(1), (404, "")),
    ] {
        let refused = engine.set_quota(project, metric, limit).await.unwrap_err();
        assert_eq!(code(refused), (expected.0, expected.1.to_owned()));
    }
    for (project, provider, micros, expected) in [
        (bench.project, "opnai", Some(1), (422, "unknown_value")),
        (bench.project, "", Some(1), (422, "unknown_value")),
        (bench.project, "openai", Some(-1), (422, "out_of_range")),
        (nobody, "openai", Some(1), (404, "")),
    ] {
        let refused = engine.set_budget(project, provider, micros).await.unwrap_err();
        assert_eq!(code(refused), (expected.0, expected.1.to_owned()));
    }
    for (project, micros, expected) in [
        (bench.project, Some(-1), (422, "out_of_range")),
        (nobody, Some(1), (404, "")),
    ] {
        let refused = engine.set_daily_budget(project, micros).await.unwrap_err();
        assert_eq!(code(refused), (expected.0, expected.1.to_owned()));
    }
}

async fn a_post_that_goes_live_counts_against_its_quota(database: &str) {
    let (bench, blog) = start(database).await;
    let engine = &bench.server.app.engine;
    let limit = |most| engine.set_quota(bench.project, "posts_published", most);
    let used = async || quota(&bench.get("P/usage").await.json(), "posts_published")["used"].clone();
    // a job that failed gives back when it ends, which is after its post says so
    let given_back = async || {
        while used().await != 0 {
            tokio::task::yield_now().await;
        }
    };
    limit(Some(1)).await.unwrap();
    let oak = write(&bench, "Oak").await;

    // a draft at the provider is not public, and what the provider refuses is given back
    publish(&bench, &oak, json!({ "mode": "draft" })).await;
    settled(&bench, &oak).await;
    assert_eq!(used().await, 0);
    blog.fails(&[Fault::Refuses(400)]);
    publish(&bench, &oak, json!({})).await;
    assert_eq!(settled(&bench, &oak).await["status"], "failed");
    given_back().await;

    publish(&bench, &oak, json!({})).await;
    assert_eq!(settled(&bench, &oak).await["status"], "published");
    assert_eq!(used().await, 1);
    let change = json!({ "title": "Old oak" });
    assert_eq!(bench.patch(&format!("P/posts/{oak}"), change).await.status, 200);
    publish(&bench, &oak, json!({})).await;
    assert_eq!(settled(&bench, &oak).await["status"], "published");
    assert_eq!(used().await, 1, "it was public");

    let elm = write(&bench, "Elm").await;
    let path = format!("P/posts/{elm}/publish");
    let refused = bench.post(&path, json!({})).await.refuses(403, "quota_exceeded");
    assert_eq!(
        (&refused["metric"], &refused["limit"], &refused["used"]),
        (&json!("posts_published"), &json!(1), &json!(1))
    );
    let at = bench.clock.now().plus_millis(3_600_000);
    let body = json!({ "status": "scheduled", "scheduledAt": at });
    assert_eq!(bench.patch(&format!("P/posts/{elm}"), body).await.status, 200);
    bench.clock.advance(3_600_001);
    let post = until(&bench, &elm, |post| post["status"] == "failed").await;
    assert_eq!(post["failure"]["code"], "quota_exceeded", "{post:#}");
    assert_eq!((blog.posts().len(), used().await), (1, json!(1)));

    limit(None).await.unwrap();
    publish(&bench, &elm, json!({})).await;
    assert_eq!(settled(&bench, &elm).await["status"], "published");
    assert_eq!(used().await, 2);
}

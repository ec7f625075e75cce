//! Audits through the doors: one at a time, followed by their job, stopped, and read when they are done.

use std::time::Duration;

use searchwright_contract::Clock;
use searchwright_server::{sample, serve};
use searchwright_store::jobs::{Lane, LeaseTime};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::{Bench, now, settings};

on_both!(one_at_a_time, stopped_before_it_began, a_time_between_two,);

async fn one_at_a_time(database: &str) {
    let bench = Bench::on(database, &[]).await;
    bench.get("P/audits/current").await.refuses(404, "not_found");
    let first = bench
        .post("P/audits", json!({ "maxPages": 5, "include": ["/blog/*"] }))
        .await;
    let started = first.json();
    assert_eq!((first.status, &started["alreadyRunning"]), (202, &json!(false)));
    let job = format!("P/jobs/{}", started["job"]["id"].as_str().unwrap());
    assert!(
        first
            .header("location")
            .unwrap()
            .ends_with(&job.replace('P', &bench.project.to_string())[..])
    );
    assert_eq!(first.number("retry-after"), 5);
    assert_eq!(
        (&started["audit"]["status"], &started["audit"]["startUrl"]),
        (&json!("queued"), &json!("https://example.com/"))
    );
    assert_eq!(
        (
            &started["audit"]["config"]["maxPages"],
            &started["audit"]["config"]["include"][0],
            &started["audit"]["config"]["includeSubdomains"]
        ),
        (&json!(5), &json!("/blog/*"), &json!(false))
    );
    let at_once = futures_util::future::join_all((0..6).map(|_| bench.post("P/audits", json!({})))).await;
    for again in at_once {
        let body = again.json();
        assert_eq!(
            (again.status, &body["alreadyRunning"], &body["audit"]["id"]),
            (202, &json!(true), &started["audit"]["id"])
        );
    }
    assert_eq!(
        bench.get("P/audits").await.json()["data"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let followed = bench.get(&job).await;
    assert_eq!(
        (&followed.json()["status"], followed.number("retry-after")),
        (&json!("queued"), 2)
    );
    assert_eq!(
        bench.get("P/audits/current").await.json()["id"],
        started["audit"]["id"]
    );
    for bad in [
        json!({ "maxPages": 0 }),
        json!({ "maxPages": 1_000_001 }),
        json!({ "include": ["x"] }),
        json!({ "exclude": [""] }),
        json!({ "maxDepth": 101 }),
        json!({ "includeSubdomains": "yes" }),
    ] {
        bench
            .post("P/audits", bad)
            .await
            .refuses(422, "validation_failed");
    }
    let many: Vec<String> = (0..51).map(|n| format!("/{n}")).collect();
    bench
        .post("P/audits", json!({ "include": many }))
        .await
        .refuses(422, "too_many_items");
}

async fn stopped_before_it_began(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for by_job in [false, true] {
        let started = bench.post("P/audits", json!({})).await.json();
        let (audit, job) = (
            started["audit"]["id"].as_str().unwrap(),
            started["job"]["id"].as_str().unwrap(),
        );
        assert_eq!(started["audit"]["allowedActions"]["cancel"], true);
        let path = if by_job {
            format!("P/jobs/{job}/cancel")
        } else {
            format!("P/audits/{audit}/cancel")
        };
        assert_eq!(bench.post(&path, json!({})).await.status, 200);
        let ended = bench.get(&format!("P/audits/{audit}")).await.json();
        assert_eq!(
            (&ended["status"], &ended["termination"]),
            (&json!("cancelled"), &json!("cancelled"))
        );
        assert_eq!(ended["allowedActions"]["cancel"]["allowed"], false);
        assert_eq!(
            bench.get(&format!("P/jobs/{job}")).await.json()["status"],
            "canceled"
        );
        for again in [format!("P/jobs/{job}/cancel"), format!("P/audits/{audit}/cancel")] {
            let problem = bench.post(&again, json!({})).await.refuses(409, "invalid_state");
            assert!(
                problem["from"].is_string() && problem["to"].is_string() && problem["allowed"].is_array()
            );
        }
    }
    let reader = bench.key_for(bench.project, &["audits:read"]).await;
    let seen = bench
        .call("GET", "P/audits/current")
        .key(&reader)
        .send()
        .await
        .json();
    assert_eq!(seen["allowedActions"]["cancel"]["allowed"], false);
    let listed = bench.get("P/audits?status=cancelled").await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    assert_eq!(
        bench.get("P/jobs?status=canceled&limit=1").await.json()["data"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// The operator's least time between two, which holds for what would begin another and for nothing else.
async fn a_time_between_two(database: &str) {
    let bench = Bench::on(database, &["limits.minutes_between_audits=10"]).await;
    let start = || bench.call("POST", "P/audits").json(&json!({}));
    let first = start().send().await.json();
    let running = start().send().await;
    assert_eq!(
        (running.status, &running.json()["alreadyRunning"]),
        (202, &json!(true))
    );
    let stop = format!("P/audits/{}/cancel", first["audit"]["id"].as_str().unwrap());
    assert_eq!(bench.post(&stop, json!({})).await.status, 200);

    bench.clock.advance(3 * 60_000 + 500);
    let early = start().header("idempotency-key", "between-two").send().await;
    let problem = early.refuses(429, "rate_limit_exceeded");
    assert_eq!(early.number("retry-after"), 420);
    assert_eq!(
        (&problem["retryable"], &problem["resetsAt"]),
        (&json!(true), &json!(now().plus_millis(600_000).to_string()))
    );
    assert!(problem["detail"].as_str().unwrap().contains("10 minutes"));
    let used = bench.get("P/usage").await.json();
    let mut quotas = used["quotas"].as_array().unwrap().iter();
    let audits = quotas.find(|quota| quota["metric"] == "audits").unwrap();
    assert_eq!(audits["used"], 1, "what was refused counts nowhere");
    let (theirs, key) = bench.neighbour().await;
    let theirs = bench.call("POST", &format!("/projects/{theirs}/audits"));
    assert_eq!(theirs.key(&key).json(&json!({})).send().await.status, 202);

    bench.clock.advance(420_000 - 500);
    let due = start().header("idempotency-key", "between-two").send().await;
    assert_eq!(
        (due.status, &due.json()["alreadyRunning"]),
        (202, &json!(false)),
        "the refusal was not kept"
    );
}

/// An audit of a small site from end to end; that every answer fits the document is checked on the way.
#[tokio::test]
async fn a_site_is_audited_and_its_issues_are_read() {
    let stop = CancellationToken::new();
    let site = sample::start(stop.clone()).await.unwrap();
    let folder = std::sync::Arc::new(tempfile::TempDir::new().unwrap());
    let set = format!("allow_outbound=[\"crawl={site}\"]");
    let settings = settings(&folder, "", &[&set, "worker.jobs=1"]);
    let bench = Bench::open(folder, settings, Clock::system()).await;
    let project = bench
        .server
        .app
        .engine
        .create_project("Sample", &format!("http://{site}"))
        .await
        .unwrap()
        .id;
    let key = bench.key_for(project, &[]).await;
    let get = async |path: &str| {
        bench
            .call("GET", &format!("/projects/{project}{path}"))
            .key(&key)
            .send()
            .await
    };
    let started = bench
        .call("POST", &format!("/projects/{project}/audits"))
        .key(&key)
        .json(&json!({}))
        .send()
        .await
        .json();
    let job = format!("/jobs/{}", started["job"]["id"].as_str().unwrap());
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    let ended = loop {
        let job = get(&job).await.json();
        get("/audits/current").await;
        if !matches!(job["status"].as_str(), Some("queued" | "running")) {
            break job;
        }
        assert!(std::time::Instant::now() < deadline, "{job:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(ended["status"], "succeeded", "{ended:#}");
    let audit = get("/audits/current").await;
    assert_eq!(
        (&audit.json()["status"], audit.header("retry-after")),
        (&json!("completed"), None)
    );
    assert!(get("").await.json()["setup"]["audited"].as_bool().unwrap());

    let issues = get("/issues?limit=100&status=active").await.json();
    let issues = issues["data"].as_array().unwrap();
    assert!(!issues.is_empty());
    let impacts: Vec<f64> = issues.iter().map(|i| i["impact"].as_f64().unwrap()).collect();
    assert!(impacts.is_sorted_by(|a, b| a >= b));
    // as a person would mend the sample: what visitors meet, then what costs places in results, and notices last
    let first: Vec<&str> = issues.iter().map(|i| i["checkId"].as_str().unwrap()).collect();
    assert_eq!(
        first[..4],
        [
            "broken-internal-link",
            "image-broken",
            "lorem-ipsum",
            "title-missing"
        ]
    );
    let is_notice: Vec<bool> = issues.iter().map(|i| i["severity"] == "notice").collect();
    assert!(is_notice.is_sorted(), "{first:?}");
    // the sample is served on loopback, where nobody needs HTTPS
    assert!(!first.contains(&"https-missing"));
    let wide: Vec<&Value> = issues.iter().filter(|i| !i["siteWide"].is_null()).collect();
    assert!(!wide.is_empty());
    for issue in wide {
        assert_ne!(issue["scope"], "site");
        assert!(issue["siteWide"]["share"].as_f64() >= Some(0.9), "{issue:#}");
        let note = issue["siteWide"]["note"].as_str().unwrap();
        assert!(
            note.starts_with(&format!("{} of ", issue["siteWide"]["pages"])),
            "{note}"
        );
    }
    for issue in issues {
        let id = issue["id"].as_str().unwrap();
        assert_eq!(get(&format!("/issues/{id}")).await.json(), *issue);
        let sentence = match issue["recheckMode"].as_str().unwrap() {
            "audit" => "another audit",
            _ => "A recheck fetches",
        };
        assert!(
            issue["howToVerify"].as_str().unwrap().contains(sentence),
            "{issue}"
        );
        let occurrences = get(&format!("/issues/{id}/occurrences?limit=100")).await.json();
        assert_eq!(
            occurrences["data"].as_array().unwrap().len() as u64,
            issue["affectedPages"].as_u64().unwrap().min(100)
        );
        for occurrence in occurrences["data"].as_array().unwrap() {
            let page = get(&format!("/pages/{}", occurrence["page_id"].as_str().unwrap())).await;
            assert_eq!((page.status, &page.json()["url"]), (200, &occurrence["url"]));
        }
        // Foreign children, of the kinds that only an audit makes.
        bench
            .get(&format!("P/issues/{id}"))
            .await
            .refuses(403, "project_forbidden");
        bench
            .get(&format!("P/issues/{id}/occurrences"))
            .await
            .refuses(403, "project_forbidden");
    }
    let pages = get("/pages?limit=100").await.json();
    let urls: Vec<&str> = pages["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["url"].as_str().unwrap())
        .collect();
    assert!(urls.len() > 5 && urls.is_sorted());
    let page = pages["data"][0]["id"].as_str().unwrap();
    bench
        .get(&format!("P/pages/{page}"))
        .await
        .refuses(403, "project_forbidden");
    let walked = get("/pages?limit=2&q=plants").await.json();
    assert!(
        walked["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(|p| p["url"].as_str().unwrap().contains("plants"))
    );
    assert!(walked["nextCursor"].is_string());
    stop.cancel();
    bench.server.stop().await;
}

#[tokio::test]
async fn jobs_of_a_killed_process_are_taken_up_at_once() {
    let bench = Bench::start().await;
    bench.post("P/audits", json!({})).await;
    let engine = bench.server.app.engine.clone();
    let (owner, at) = (engine.clock.id(), engine.clock.now());
    let leased = engine
        .db
        .write(move |tx| {
            Box::pin(async move {
                searchwright_store::jobs::lease(tx, owner, Lane::Audits, at, LeaseTime(at)).await
            })
        })
        .await;
    assert!(leased.unwrap().is_some());
    let (folder, clock) = (bench.folder.clone(), bench.clock.clone());
    bench.server.stop().await;
    let again = serve::start_with(settings(&folder, "", &[]), clock.clone())
        .await
        .unwrap();
    let mut tx = again.app.engine.db.read().await.unwrap();
    assert!(
        searchwright_store::jobs::has_expired(&mut tx, LeaseTime(clock.now()))
            .await
            .unwrap(),
        "its lease has not run out, but nobody can hold it"
    );
    drop(tx);
    again.stop().await;
}

//! Histories of occurrences and of a project's health, through the API.

use searchwright_contract::ids::{AuditId, PageId};
use searchwright_engine::secrets;
use searchwright_server::serve;
use searchwright_store::{access, issues, pages};
use serde_json::{Value, json};

use crate::{
    audited::{NEVER, audit, bench, issue, occurrence, page, pair, recheck, say},
    degrees::rescored,
    harness::settings,
    post_generation::until_ended,
};

on_both!(
    who_changed_an_occurrence,
    an_audit_that_is_stopped_tells_what_it_changed,
    an_audit_that_waits_and_is_stopped_tells_what_it_changed,
    a_stop_that_was_granted_holds,
    the_health_of_a_project,
);

async fn who_changed_an_occurrence(database: &str) {
    let (bench, site) = bench(database).await;
    let title = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(title["history"], json!([]));
    say(&bench, "done", &[pair(&title)]).await;
    site.put(
        "/a",
        200,
        &page("<title>It has a title now</title>", &["/gone", "/"]),
    );
    let proof = recheck(&bench).await;
    site.put("/a", 200, &page("", &["/gone", "/"]));
    let again = audit(&bench).await;
    say(&bench, "ignore", &[pair(&title)]).await;
    let title = occurrence(&bench, "title-missing", "/a").await;
    let history = title["history"].as_array().unwrap();
    let at = |change: &Value| change["at"].as_str().unwrap().to_owned();
    assert!(history.is_sorted_by(|a, b| at(a) >= at(b)), "{history:#?}");
    let me = bench.get("/me").await.json()["apiKey"].clone();
    let key = json!({ "type": "api_key", "id": me["id"], "name": me["name"] });
    let by = |kind: &str, id: &Value| json!({ "type": kind, "id": id, "name": null });
    let expected = [
        json!(["reopened", "ignored", key, "by hand"]),
        json!(["resolved", "reopened", by("audit", &again["id"]), null]),
        json!(["recheck_pending", "resolved", by("recheck", &proof["id"]), null]),
        json!(["done", "recheck_pending", by("recheck", &proof["id"]), null]),
        json!(["open", "done", key, "by hand"]),
    ];
    let told: Vec<Value> = history
        .iter()
        .map(|change| json!([change["from"], change["to"], change["by"], change["note"]]))
        .collect();
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for line in &expected {
        assert!(told.contains(line), "{line} {told:#?}");
    }
    let other = occurrence(&bench, "title-duplicate", "/b").await;
    assert_eq!(other["history"], json!([]));
}

async fn an_audit_that_is_stopped_tells_what_it_changed(database: &str) {
    stopped(database, false).await;
}

async fn an_audit_that_waits_and_is_stopped_tells_what_it_changed(database: &str) {
    stopped(database, true).await;
}

/// An audit is cancelled behind its first findings, by a worker or while it waits for one.
async fn stopped(database: &str, waits: bool) {
    let (mut bench, site) = bench(database).await;
    let title = occurrence(&bench, "title-missing", "/a").await;
    say(&bench, "done", &[pair(&title)]).await;
    site.put("/a", 200, &page("<title>It has a title now</title>", &["/"]));
    recheck(&bench).await;
    assert_eq!(
        issue(&bench, "title-missing").await["counts"],
        json!({ "resolved": 1 })
    );
    let before = bench.get("P/audits?status=completed").await.json()["data"][0].clone();
    site.put("/b", NEVER, "");
    site.asked();
    let started = bench.post("P/audits", json!({})).await.json();
    while !site.asked().contains(&"/b".to_owned()) {
        tokio::task::yield_now().await;
    }

    let engine = &bench.server.app.engine;
    let digest = secrets::digest(&bench.key);
    let key = access::find_key_by_digest(&mut engine.db.read().await.unwrap(), &digest).await;
    let (scope, now) = (key.unwrap().unwrap().project.scope(), engine.clock.now());
    let audit = AuditId::parse(started["audit"]["id"].as_str().unwrap()).unwrap();
    let page = PageId::parse(title["page_id"].as_str().unwrap()).unwrap();
    let found = vec![issues::Finding {
        issue: title["issue_id"].as_str().unwrap().parse().unwrap(),
        page,
        evidence: "{}".to_owned(),
    }];
    let newest = issues::EvidenceCutoff::from_start(now);
    // of two pages it wrote what they are now, and one of them is new
    let read = bench.get("P/pages?limit=100").await.json();
    let of = read["data"].as_array().unwrap().iter();
    let a = of.clone().find(|page| page["id"] == title["page_id"]).unwrap();
    let seen = [page, bench.clock.id()].map(|id| pages::PageRow {
        id,
        page: serde_json::from_value(a.clone()).unwrap(),
        crawled_at: now,
        scored: true,
        rank: 0.1,
    });
    let written = engine.db.write(move |tx| {
        Box::pin(async move {
            pages::upsert(tx, scope, audit, seen.into()).await?;
            issues::record_findings(tx, scope, audit, found, newest, now).await
        })
    });
    written.await.unwrap();
    if waits {
        bench.server.stop().await;
        let settings = settings(&bench.folder, database, &[]);
        bench.server = serve::start_with(settings, bench.clock.clone()).await.unwrap();
    }
    let stop = format!("P/audits/{audit}/cancel");
    assert_eq!(bench.post(&stop, json!({})).await.status, 200);
    let job = until_ended(&bench, started["job"]["id"].as_str().unwrap()).await;
    assert_eq!(job["status"], "canceled");

    let title = occurrence(&bench, "title-missing", "/a").await;
    let told = title["history"].as_array().unwrap().iter();
    let last = told.max_by_key(|change| change["at"].as_str().unwrap()).unwrap();
    assert_eq!(
        json!([last["from"], last["to"], last["by"]["id"]]),
        json!(["resolved", "reopened", audit]),
        "{title:#}"
    );
    assert_eq!(
        issue(&bench, "title-missing").await["counts"],
        json!({ "reopened": 1 })
    );
    let events = bench.get("P/events?event=issue.reopened&limit=100").await.json();
    assert_eq!(events["data"][0]["data"]["auditId"], json!(audit), "{events:#}");

    if waits {
        // there is no worker now
        let queued = bench.get("P/jobs?status=queued").await.json();
        assert_eq!(queued["data"][0]["type"], "rescore", "{queued:#}");
        return;
    }
    // what it found counts in the score of the audit before, of which the new page is none
    rescored(&bench).await;
    let after = bench.get("P/audits?status=completed").await.json()["data"][0].clone();
    let score = |audit: &Value| audit["healthScore"].as_i64().unwrap();
    assert!(score(&after) < score(&before), "{before:#} {after:#}");
    let errors = |audit: &Value| audit["totals"]["errors"].as_u64().unwrap();
    assert_eq!(errors(&after), errors(&before) + 1);
    let stopped = bench.get(&format!("P/audits/{audit}")).await.json();
    assert_eq!(
        (&stopped["healthScore"], &stopped["healthScoreStatus"]),
        (&Value::Null, &json!("not_measured"))
    );
}

/// In the last moments of an audit either it is stopped, or who asks for it is told that it has ended.
async fn a_stop_that_was_granted_holds(database: &str) {
    let (bench, site) = bench(database).await;
    for round in 0..8 {
        site.asked();
        let started = bench.post("P/audits", json!({})).await.json();
        let audit = format!("P/audits/{}", started["audit"]["id"].as_str().unwrap());
        let job = started["job"]["id"].as_str().unwrap();
        while !site.asked().contains(&"/c".to_owned()) {
            tokio::task::yield_now().await;
        }
        let is_crawling = async || bench.get(&audit).await.json()["status"] == "crawling";
        while round % 4 > 0 && is_crawling().await {}
        for _ in 1..round % 4 {
            bench.get(&audit).await;
        }
        let path = if round < 4 {
            format!("{audit}/cancel")
        } else {
            format!("P/jobs/{job}/cancel")
        };
        let stop = bench.post(&path, json!({})).await;
        let ended = until_ended(&bench, job).await;
        let statuses = json!([bench.get(&audit).await.json()["status"], ended["status"]]);
        if stop.status == 200 {
            assert_eq!(statuses, json!(["cancelled", "canceled"]), "{round}");
        } else {
            stop.refuses(409, "invalid_state");
            assert_eq!(statuses, json!(["completed", "succeeded"]), "{round}");
        }
    }
}

async fn the_health_of_a_project(database: &str) {
    let (bench, site) = bench(database).await;
    let first = bench.get("P/audits/current").await.json();
    assert_eq!(first["sincePrevious"], Value::Null);
    site.put(
        "/a",
        200,
        &page("<title>It has a title now</title>", &["/gone", "/"]),
    );
    let second = audit(&bench).await;
    let since = &second["sincePrevious"];
    let less = |of: &str| second[of].as_f64().unwrap() - first[of].as_f64().unwrap();
    assert!(less("healthScore") > 0.0, "{first:#} {second:#}");
    assert_eq!(since["healthScore"].as_f64().unwrap(), less("healthScore"));
    assert!((since["errorFreePagesPct"].as_f64().unwrap() - less("errorFreePagesPct")).abs() < 0.1);
    let categories = |of: &Value| of["categoryScores"].as_object().unwrap().clone();
    let (before, now) = (categories(&first), categories(&second));
    assert_eq!(now.len(), 16, "{now:#?}");
    assert!(
        now["titles"].as_i64() > before["titles"].as_i64(),
        "{before:#?} {now:#?}"
    );
    assert_eq!(now["images"], 100);
    assert_eq!(since["pagesScored"], less("pagesScored") as i64);
    for of in ["errors", "warnings", "notices", "issues"] {
        let less = second["totals"][of].as_i64().unwrap() - first["totals"][of].as_i64().unwrap();
        assert_eq!(since[of], less, "{of}");
    }
    assert!(since["errors"].as_i64().unwrap() < 0);
    let one = bench.get("P/audits?limit=1").await.json();
    assert_eq!(
        one["data"][0]["sincePrevious"], *since,
        "the one before is not on the page"
    );
    let both = bench.get("P/audits").await.json();
    assert_eq!(
        (
            &both["data"][0]["sincePrevious"],
            &both["data"][1]["sincePrevious"]
        ),
        (since, &Value::Null)
    );
}

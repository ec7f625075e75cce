//! Occurrences ignored until a day, and the limits of one call.

use searchwright_contract::Clock;
use searchwright_contract::ids::PageId;
use searchwright_engine::audits::wake_ignored;
use serde_json::{Value, json};

use crate::{
    audited::{bench, bench_by, issue, occurrence, pair, say},
    harness::{Bench, now},
    post_generation::until_ended,
};

on_both!(
    what_is_accepted_until_a_day_is_open_again,
    a_hundred_are_said_at_once,
);

/// Runs what the server does every minute, and waits for the jobs that follow.
async fn a_minute_passes(bench: &Bench) {
    let engine = bench.server.app.engine.clone();
    let at = bench.clock.now();
    let woken = bench
        .server
        .app
        .engine
        .db
        .write(move |tx| Box::pin(async move { wake_ignored(&engine, tx, at).await }));
    woken.await.unwrap();
    scored(bench).await;
}

async fn scored(bench: &Bench) -> Value {
    let jobs = bench.get("P/jobs").await.json();
    for job in jobs["data"].as_array().unwrap() {
        until_ended(bench, job["id"].as_str().unwrap()).await;
    }
    bench.get("P/audits/current").await.json()
}

async fn what_is_accepted_until_a_day_is_open_again(database: &str) {
    let (bench, _) = bench_by(database, "", Clock::fixed(now())).await;
    let before = scored(&bench).await;
    let affected = async || issue(&bench, "title-missing").await["affectedPages"].clone();
    assert_eq!(affected().await, 1);
    let title = occurrence(&bench, "title-missing", "/a").await;
    let until = bench.clock.now().plus_millis(3_600_000).to_string();
    let ignore = json!({ "occurrences": [pair(&title)], "note": "until the launch", "until": until });
    let said = bench.post("P/occurrences/ignore", ignore).await;
    assert_eq!((said.status, &said.json()["changed"]), (200, &json!(1)));

    let accepted = scored(&bench).await;
    assert!(
        accepted["healthScore"].as_i64() > before["healthScore"].as_i64(),
        "{accepted:#}"
    );
    // as long as its time has not come it stays so
    for wait in [0, 3_599_999] {
        bench.clock.advance(wait);
        a_minute_passes(&bench).await;
        let found = occurrence(&bench, "title-missing", "/a").await;
        assert_eq!(
            (&found["state"], &found["ignoredUntil"], &found["ignoredReason"]),
            (&json!("ignored"), &json!(until), &json!("until the launch")),
            "{wait}"
        );
        assert_eq!(scored(&bench).await["healthScore"], accepted["healthScore"]);
        assert_eq!(affected().await, 0);
    }

    bench.clock.advance(1);
    a_minute_passes(&bench).await;
    let found = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(
        (&found["state"], &found["ignoredUntil"], &found["ignoredReason"]),
        (&json!("open"), &Value::Null, &Value::Null)
    );
    assert_eq!(affected().await, 1);
    let after = scored(&bench).await;
    for member in ["healthScore", "errorFreePagesPct", "categoryScores", "totals"] {
        assert_eq!(after[member], before[member], "{member}");
    }
}

async fn a_hundred_are_said_at_once(database: &str) {
    let (bench, _) = bench(database).await;
    let issues = bench.get("P/issues?limit=100").await.json();
    let mut pairs = Vec::new();
    for issue in issues["data"].as_array().unwrap() {
        let path = format!("P/issues/{}/occurrences?limit=100", issue["id"].as_str().unwrap());
        let found = bench.get(&path).await.json();
        pairs.extend(found["data"].as_array().unwrap().iter().map(pair));
    }
    pairs.truncate(99);
    let known = pairs.len();
    assert!(known >= 10);
    let issue = pairs[0]["issue_id"].clone();
    pairs.resize_with(
        100,
        || json!({ "issue_id": issue, "page_id": bench.clock.id::<PageId>() }),
    );

    let said = say(&bench, "done", &pairs).await;
    let items = said["items"].as_array().unwrap();
    assert_eq!(
        (&said["changed"], &said["refused"], items.len()),
        (&json!(known), &json!(100 - known), 100)
    );
    for (at, (item, pair)) in items.iter().zip(&pairs).enumerate() {
        assert_eq!(
            (&item["issue_id"], &item["page_id"]),
            (&pair["issue_id"], &pair["page_id"])
        );
        let expected = if at < known {
            (json!("changed"), json!("done"), Value::Null)
        } else {
            (json!("refused"), Value::Null, json!("not_found"))
        };
        let (outcome, state, code) = expected;
        assert_eq!(
            (&item["outcome"], &item["state"], &item["code"]),
            (&outcome, &state, &code),
            "{at}"
        );
    }

    pairs.push(pairs[0].clone());
    for what in ["done", "undo", "ignore", "unignore"] {
        let refused = bench
            .post(&format!("P/occurrences/{what}"), json!({ "occurrences": pairs }))
            .await
            .refuses(422, "too_many_items");
        assert_eq!(refused["errors"][0]["pointer"], "/occurrences", "{what}");
    }
    let first = json!({ "occurrences": pairs[..1] });
    let said = bench.post("P/occurrences/undo", first).await.json();
    assert_eq!(
        said["items"][0]["state"], "open",
        "none of those was done or undone"
    );
}

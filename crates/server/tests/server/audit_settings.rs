//! The operator's settings of a project's checks, in audits and rechecks.

use serde_json::{Value, json};

use crate::{
    audited::{audit, bench, issue, occurrence, page, pair, recheck, say},
    harness::Bench,
};

on_both!(
    thresholds_hold_from_the_next_audit_on,
    severities_are_the_projects_own,
    nobody_looked_for_what_is_off,
    settings_are_the_projects_own,
);

async fn set(bench: &Bench, said: &[&str]) {
    let said: Vec<String> = said.iter().map(ToString::to_string).collect();
    let engine = &bench.server.app.engine;
    engine.set_checks(bench.project, &said).await.unwrap();
}

async fn diff(bench: &Bench, audit: &Value) -> Value {
    let id = audit["id"].as_str().unwrap();
    bench.get(&format!("P/audits/{id}/diff")).await.json()
}

fn is_comparable(diff: &Value) -> bool {
    let reasons = json!(if diff["comparable"] == true {
        vec![]
    } else {
        vec!["ruleset"]
    });
    assert_eq!(diff["reasons"], reasons, "{diff:#}");
    diff["comparable"] == true
}

async fn thresholds_hold_from_the_next_audit_on(database: &str) {
    let (bench, _) = bench(database).await;
    let first = bench.get("P/audits/current").await.json();
    assert_eq!(issue(&bench, "title-short").await, Value::Null);

    // The catalogue's own values change nothing.
    set(&bench, &["title-min=30", "severity.title-missing=error"]).await;
    let second = audit(&bench).await;
    assert_eq!(
        (&second["healthScore"], &second["totals"]),
        (&first["healthScore"], &first["totals"])
    );
    assert!(is_comparable(&diff(&bench, &second).await));

    set(&bench, &["titleMin=35"]).await;
    assert_eq!(
        issue(&bench, "title-short").await,
        Value::Null,
        "from the next audit on"
    );
    let third = audit(&bench).await;
    let told = diff(&bench, &third).await;
    assert!(!is_comparable(&told));
    let short = issue(&bench, "title-short").await;
    assert_eq!(short["affectedPages"], 2);
    let description = short["description"].as_str().unwrap();
    assert!(
        description.ends_with("In this project, title-min is 35 characters (default: 30)."),
        "{description}"
    );

    // A claim is proven by the condition it was found by.
    set(&bench, &["title-min=30"]).await;
    say(
        &bench,
        "done",
        &[pair(&occurrence(&bench, "title-short", "/b").await)],
    )
    .await;
    assert_eq!(recheck(&bench).await["counts"]["stillPresent"], 1);
    let fourth = audit(&bench).await;
    assert!(!is_comparable(&diff(&bench, &fourth).await));
    for path in ["/b", "/c"] {
        let short = occurrence(&bench, "title-short", path).await;
        assert_eq!(
            (&short["state"], &short["resolution"]),
            (&json!("resolved"), &json!("rule_changed"))
        );
    }
    let last = audit(&bench).await;
    assert!(is_comparable(&diff(&bench, &last).await));
}

async fn severities_are_the_projects_own(database: &str) {
    let (bench, site) = bench(database).await;
    let first = bench.get("P/audits/current").await.json();
    let errors = async || {
        let listed = bench.get("P/issues?severity=error&limit=100").await.json();
        let listed = listed["data"].as_array().unwrap();
        assert!(listed.iter().all(|issue| issue["severity"] == "error"));
        listed.iter().any(|issue| issue["checkId"] == "title-missing")
    };
    let page_of = occurrence(&bench, "title-missing", "/a").await;
    let page_path = format!("P/pages/{}", page_of["page_id"].as_str().unwrap());
    let on_page = async || {
        let page = bench.get(&page_path).await.json();
        let mut issues = page["issues"].as_array().unwrap().iter();
        let issue = issues.find(|issue| issue["checkId"] == "title-missing");
        issue.map(|issue| issue["severity"].clone())
    };
    assert!(errors().await);
    assert_eq!(on_page().await, Some(json!("error")));
    let before = issue(&bench, "title-missing").await;

    set(&bench, &["severity.title-missing=notice"]).await;
    let second = audit(&bench).await;
    assert!(!errors().await);
    assert_eq!(on_page().await, Some(json!("notice")));
    let notice = issue(&bench, "title-missing").await;
    assert_eq!(notice["severity"], "notice");
    assert!(notice["impact"].as_f64() < before["impact"].as_f64());
    assert!(second["healthScore"].as_i64() > first["healthScore"].as_i64());
    let titles = |audit: &Value| audit["categoryScores"]["titles"].as_i64();
    assert!(titles(&second) > titles(&first), "{second:#}");
    let number = |audit: &Value, of: &str| audit["totals"][of].as_i64().unwrap();
    assert_eq!(number(&second, "errors"), number(&first, "errors") - 1);
    assert_eq!(number(&second, "notices"), number(&first, "notices") + 1);
    assert!(!is_comparable(&diff(&bench, &second).await));

    // A recheck computes the score by the same severities.
    say(
        &bench,
        "done",
        &[pair(&occurrence(&bench, "title-missing", "/a").await)],
    )
    .await;
    assert_eq!(recheck(&bench).await["counts"]["stillPresent"], 1);
    let after = bench.get("P/audits/current").await.json();
    assert_eq!(
        (&after["healthScore"], &after["totals"], &after["categoryScores"]),
        (
            &second["healthScore"],
            &second["totals"],
            &second["categoryScores"]
        )
    );

    // What was found before and is no longer there is told by the severity of now.
    let engine = &bench.server.app.engine;
    engine.reset_checks(bench.project, &[]).await.unwrap();
    site.put(
        "/a",
        200,
        &page("<title>A title that was missing before</title>", &["/gone", "/"]),
    );
    audit(&bench).await;
    let gone = issue(&bench, "title-missing").await;
    assert_eq!(
        (&gone["severity"], &gone["affectedPages"]),
        (&json!("error"), &json!(0))
    );
}

async fn nobody_looked_for_what_is_off(database: &str) {
    let (bench, site) = bench(database).await;
    let first = bench.get("P/audits/current").await.json();
    set(&bench, &["severity.title-missing=off"]).await;
    // It is mended, and one more has the same fault: neither is seen.
    site.put(
        "/a",
        200,
        &page("<title>A title that was missing before</title>", &["/gone", "/"]),
    );
    site.put("/b", 200, &page("", &["/"]));
    let second = audit(&bench).await;
    let title = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!((&title["state"], &title["stale"]), (&json!("open"), &json!(true)));
    assert_eq!(issue(&bench, "title-missing").await["affectedPages"], 1);
    assert!(second["healthScore"].as_i64() > first["healthScore"].as_i64());

    say(&bench, "done", &[pair(&title)]).await;
    site.asked();
    let done = recheck(&bench).await;
    assert_eq!(
        (&done["counts"]["inconclusive"], &done["counts"]["newIssues"]),
        (&json!(1), &json!(0)),
        "{done:#}"
    );
    assert!(done["items"][0]["detail"].as_str().unwrap().contains("off"));
    assert_eq!(site.asked(), [""; 0], "nothing to ask for");
    assert_eq!(occurrence(&bench, "title-missing", "/a").await["state"], "done");
    let after = bench.get("P/audits/current").await.json();
    assert_eq!(after["healthScore"], second["healthScore"]);

    let names = ["severity.title-missing".to_owned()];
    let engine = &bench.server.app.engine;
    engine.reset_checks(bench.project, &names).await.unwrap();
    audit(&bench).await;
    let title = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(
        (&title["state"], &title["resolution"]),
        (&json!("resolved"), &json!("fixed"))
    );
    assert_eq!(occurrence(&bench, "title-missing", "/b").await["state"], "open");
}

async fn settings_are_the_projects_own(database: &str) {
    let (bench, _) = bench(database).await;
    let engine = &bench.server.app.engine;
    let other = engine.create_project("Other", "example.com").await.unwrap().id;
    engine
        .set_checks(other, &["title-min=35".to_owned()])
        .await
        .unwrap();
    audit(&bench).await;
    assert_eq!(issue(&bench, "title-short").await, Value::Null);
    assert!(engine.checks(bench.project).await.unwrap().severities.is_empty());

    // All or nothing.
    let said = ["depth-max=5", "title-min=61"].map(str::to_owned);
    assert!(engine.set_checks(other, &said).await.is_err());
    let kept = engine.checks(other).await.unwrap();
    let set: Vec<(&str, u64)> = kept
        .thresholds
        .iter()
        .filter(|threshold| threshold.set)
        .map(|threshold| (threshold.name.as_str(), threshold.value))
        .collect();
    assert_eq!(set, [("title-min", 35)]);
}

//! Not all findings of a check are equally bad, and not all versions of an occurrence are the one that was read.

use serde_json::{Value, json};

use crate::{
    audited::{audit, bench, issue, occurrence, page, pair, say},
    harness::Bench,
    post_generation::until_ended,
};

on_both!(
    an_issue_is_as_bad_as_its_worst_occurrence,
    who_was_slower_changes_nothing,
);

pub async fn rescored(bench: &Bench) {
    let jobs = bench.get("P/jobs").await.json();
    let mut jobs = jobs["data"].as_array().unwrap().iter();
    let job = jobs.find(|job| job["type"] == "rescore").unwrap();
    until_ended(bench, job["id"].as_str().unwrap()).await;
}

async fn an_issue_is_as_bad_as_its_worst_occurrence(database: &str) {
    let (bench, site) = bench(database).await;
    site.put("/", 200, &page("<title>Home</title>", &["/a", "/long", "/short"]));
    for (from, to) in [
        ("/long", "/4"),
        ("/4", "/3"),
        ("/3", "/short"),
        ("/short", "/1"),
        ("/1", "/a"),
    ] {
        site.put(from, 301, to);
    }
    let errors = |audit: &Value| audit["totals"]["errors"].as_u64().unwrap();
    let first = audit(&bench).await;
    let severity = async |path: &str| occurrence(&bench, "redirect-chain", path).await["severity"].clone();
    assert_eq!(severity("/long").await, "error");
    assert_eq!(severity("/short").await, "warning");
    let worst = issue(&bench, "redirect-chain").await;
    assert_eq!(worst["severity"], "error");
    let listed = bench.get("P/issues?severity=error&limit=100").await.json();
    let mut listed = listed["data"].as_array().unwrap().iter();
    assert!(listed.any(|issue| issue["checkId"] == "redirect-chain"));
    let long = occurrence(&bench, "redirect-chain", "/long").await;
    let path = format!("P/pages/{}", long["page_id"].as_str().unwrap());
    let of_page = bench.get(&path).await.json();
    let mut of_page = of_page["issues"].as_array().unwrap().iter();
    let chain = of_page
        .find(|issue| issue["checkId"] == "redirect-chain")
        .unwrap();
    assert_eq!(chain["severity"], "error");
    assert!(chain["howToVerify"].as_str().unwrap().contains("recheck"));

    // without it the others are warnings
    say(&bench, "ignore", &[pair(&long)]).await;
    rescored(&bench).await;
    let after = bench.get("P/audits/current").await.json();
    assert_eq!(errors(&after), errors(&first) - 1);
    let rest = issue(&bench, "redirect-chain").await;
    assert_eq!(rest["severity"], "warning");
    // an audit counts as a rescore does
    let second = audit(&bench).await;
    assert_eq!(second["totals"], after["totals"]);
    assert_eq!(issue(&bench, "redirect-chain").await["severity"], "warning");
    say(&bench, "unignore", &[pair(&long)]).await;
    rescored(&bench).await;
    assert_eq!(issue(&bench, "redirect-chain").await, {
        let mut again = worst.clone();
        again["lastSeenAt"] = issue(&bench, "redirect-chain").await["lastSeenAt"].clone();
        again
    });

    // a comparison says of an issue what the issue says
    site.put("/1", 200, &page("<title>The end of the road</title>", &["/a"]));
    let third = audit(&bench).await;
    let path = format!("P/audits/{}/diff", third["id"].as_str().unwrap());
    let told = bench.get(&path).await.json();
    let mut told = told["issues"].as_array().unwrap().iter();
    let chain = told.find(|of| of["checkId"] == "redirect-chain").unwrap();
    let kept = issue(&bench, "redirect-chain").await;
    assert_eq!(kept["severity"], "warning");
    assert_eq!(chain["severity"], kept["severity"], "{chain:#}");
}

async fn who_was_slower_changes_nothing(database: &str) {
    let (bench, site) = bench(database).await;
    let current = bench.get("P/audits/current").await.json();
    let read = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(read["rulesetVersion"], current["rulesetVersion"]);
    let named = |of: &Value| {
        let mut named = pair(of);
        named["ifVersion"] = of["version"].clone();
        named
    };
    // nothing of it is another, so neither is its version
    assert_eq!(
        occurrence(&bench, "title-missing", "/a").await["version"],
        read["version"]
    );
    let said = say(&bench, "done", &[named(&read), pair(&read)]).await;
    assert_eq!(said["changed"], 1, "{said:#}");
    let done = occurrence(&bench, "title-missing", "/a").await;
    assert_ne!(done["version"], read["version"]);
    assert_eq!(done["evidenceHash"], read["evidenceHash"]);
    let late = say(&bench, "undo", &[named(&read)]).await;
    assert_eq!(
        (&late["items"][0]["outcome"], &late["items"][0]["code"]),
        (&json!("refused"), &json!("precondition_failed"))
    );
    let body = json!({ "occurrences": [named(&read)] });
    let refused = bench
        .post("P/rechecks", body)
        .await
        .refuses(422, "validation_failed");
    assert_eq!(refused["errors"][0]["code"], "precondition_failed");
    assert_eq!(say(&bench, "undo", &[named(&done)]).await["changed"], 1);

    let broken = occurrence(&bench, "broken-internal-link", "/a").await;
    site.put("/a", 200, &page("", &["/gone", "/gone-too", "/"]));
    audit(&bench).await;
    let again = occurrence(&bench, "broken-internal-link", "/a").await;
    assert_ne!(again["evidenceHash"], broken["evidenceHash"]);
}

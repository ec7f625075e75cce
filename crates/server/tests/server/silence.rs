//! What an audit cannot tell it leaves as it was: no answer, a refusal, a target of which nothing is known, a page that the
//! crawl left out. A page that nothing links to any more is asked for all the same.

use serde_json::{Value, json};

use crate::{
    post_generation::until_ended,
    rechecks::{audit, bench, occurrence, page},
};

on_both!(an_audit_resolves_nothing_by_silence,);

fn state(occurrence: &Value) -> (&str, bool, &str) {
    let text = |name: &str| occurrence[name].as_str().unwrap_or_default();
    (
        text("state"),
        occurrence["stale"].as_bool().unwrap(),
        text("resolution"),
    )
}

async fn an_audit_resolves_nothing_by_silence(database: &str) {
    let (bench, site) = bench(database).await;
    let home = |links: &[&str]| page("<title>The home of all the desks there are</title>", links);
    site.put("/", 200, &home(&["/a", "/b", "/c", "/d", "/e"]));
    site.put("/d", 200, &page("", &["/"]));
    site.put("/e", 200, &page("", &["/"]));
    audit(&bench).await;
    for path in ["/a", "/d", "/e"] {
        let title = occurrence(&bench, "title-missing", path).await;
        assert_eq!(state(&title), ("open", false, ""), "{path}");
    }

    // refused, ill, left alone, and gone
    site.put("/a", 403, "no");
    site.put("/c", 500, "ill");
    site.put("/e", 404, "gone");
    site.put("/", 200, &home(&["/a", "/b", "/c"]));
    let second = audit(&bench).await;
    assert_eq!(second["termination"], "complete", "{second:#}");
    for (check, path, expected) in [
        ("title-missing", "/a", ("open", true, "")),
        ("broken-internal-link", "/a", ("open", true, "")),
        // its twin says nothing
        ("title-duplicate", "/b", ("open", true, "")),
        ("title-duplicate", "/c", ("open", true, "")),
        ("title-missing", "/d", ("open", false, "")),
        ("title-missing", "/e", ("resolved", false, "page_gone")),
    ] {
        assert_eq!(
            state(&occurrence(&bench, check, path).await),
            expected,
            "{check} {path}"
        );
    }
    let orphan = occurrence(&bench, "orphan-page", "/d").await;
    assert_eq!(orphan["evidence"]["provenance"], json!(["previous_audit"]));
    let path = format!("P/audits/{}/diff", second["id"].as_str().unwrap());
    let diff = bench.get(&path).await.json();
    let removed = |check: &str| {
        let mut issues = diff["issues"].as_array().unwrap().iter();
        let issue = issues.find(|issue| issue["checkId"] == check);
        issue
            .map_or(&json!(0), |issue| &issue["counts"]["removed"])
            .clone()
    };
    assert_eq!(removed("title-missing"), 1, "that of /e: {diff:#}");
    assert_eq!(removed("broken-internal-link"), 0, "{diff:#}");

    // a target that refuses
    site.put(
        "/a",
        200,
        &page("<title>It has a title of its own now</title>", &["/gone", "/"]),
    );
    site.put("/gone", 403, "no");
    audit(&bench).await;
    assert_eq!(
        state(&occurrence(&bench, "title-missing", "/a").await),
        ("resolved", false, "fixed")
    );
    assert_eq!(
        state(&occurrence(&bench, "broken-internal-link", "/a").await),
        ("open", true, "")
    );

    // a crawl that leaves pages out, by number or by name
    for body in [json!({ "maxPages": 2 }), json!({ "include": ["/b"] })] {
        let narrow = bench.post("P/audits", body.clone()).await.json();
        until_ended(&bench, narrow["job"]["id"].as_str().unwrap()).await;
        for (check, path) in [
            ("orphan-page", "/d"),
            ("title-missing", "/d"),
            ("broken-internal-link", "/a"),
        ] {
            let found = occurrence(&bench, check, path).await;
            assert_eq!(state(&found), ("open", true, ""), "{check} {path} {body}");
        }
    }

    // nobody links to it any more, which is a proof
    site.put(
        "/a",
        200,
        &page("<title>It has a title of its own now</title>", &["/", "/d"]),
    );
    audit(&bench).await;
    for (check, path) in [("broken-internal-link", "/a"), ("orphan-page", "/d")] {
        let found = occurrence(&bench, check, path).await;
        assert_eq!(state(&found), ("resolved", false, "fixed"), "{check} {path}");
    }
    assert_eq!(
        state(&occurrence(&bench, "title-missing", "/d").await),
        ("open", false, "")
    );

    // what robots.txt said an hour ago is good for today, and its failure is told
    site.put("/robots.txt", 500, "ill");
    site.put("/a", 200, &page("", &["/", "/d"]));
    let last = audit(&bench).await;
    assert_eq!(last["status"], "completed", "{last:#}");
    // an issue that was there all the time recurs on a page
    let events = bench.get("P/events?event=issue.reopened&limit=100").await.json();
    let again = events["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["data"]["checkId"] == "title-missing");
    let again: Vec<&Value> = again.map(|event| &event["data"]["occurrences"]).collect();
    assert_eq!(again, [1], "{events:#}");
    let robots = occurrence(&bench, "robots-unavailable", "/").await;
    assert_eq!(robots["evidence"]["status"], 500);
    assert_eq!(
        state(&occurrence(&bench, "robots-missing", "/").await),
        ("open", true, "")
    );
}

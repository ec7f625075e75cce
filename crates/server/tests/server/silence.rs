//! Audits leave undecidable occurrences unchanged: no answer, a refusal, an unknown target, a page that the crawl
//! left out. A page without links to it is fetched nevertheless.

use serde_json::{Value, json};

use crate::{
    audited::{audit, bench, issue, occurrence, page, pair, recheck, say},
    post_generation::until_ended,
};

on_both!(
    an_audit_resolves_nothing_by_silence,
    others_are_asked_too,
    a_page_that_says_nothing_may_link_to_others,
    markup_without_an_end_proves_nothing,
);

pub fn state(occurrence: &Value) -> (&str, bool, &str) {
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
    let accepted = occurrence(&bench, "description-missing", "/a").await;
    say(&bench, "ignore", &[pair(&accepted)]).await;

    // refused, ill, left alone, and gone
    site.put("/a", 403, "no");
    site.put("/c", 500, "ill");
    site.put("/e", 404, "gone");
    site.put("/", 200, &home(&["/a", "/b", "/c"]));
    let second = audit(&bench).await;
    assert_eq!(second["termination"], "complete", "{second:#}");
    for (check, path, expected) in [
        ("title-missing", "/a", ("open", true, "")),
        ("description-missing", "/a", ("ignored", false, "")),
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
    // pages that did not answer may link to it, as the home page did before
    assert_eq!(issue(&bench, "orphan-page").await, Value::Null);
    let path = format!("P/audits/{}/diff", second["id"].as_str().unwrap());
    let diff = bench.get(&path).await.json();
    let removed = |check: &str| {
        let mut issues = diff["issues"].as_array().unwrap().iter();
        let issue = issues.find(|issue| issue["checkId"] == check);
        issue
            .map_or(&json!(0), |issue| &issue["counts"]["removed"])
            .clone()
    };
    for check in ["title-missing", "description-missing"] {
        assert_eq!(removed(check), 1, "that of /e: {diff:#}");
    }
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

    // no page linked to it in the audit before either
    let orphan = occurrence(&bench, "orphan-page", "/d").await;
    assert_eq!(orphan["evidence"]["provenance"], json!(["previous_audit"]));

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

/// A finding rests on more than its page: who links to it, where its links lead, what else the site has.
async fn others_are_asked_too(database: &str) {
    let (bench, site) = bench(database).await;
    let titled = |title: &str, links: &[&str]| page(&format!("<title>{title}</title>"), links);
    let home = titled(
        "The home of all the desks there are",
        &["/a", "/b", "/c", "/n", "/many"],
    )
    .replace("href=\"/n\"", "href=\"/n\" rel=nofollow");
    assert!(home.contains("nofollow"), "{home}");
    let targets: Vec<String> = (0..26).map(|n| format!("/x{n}")).collect();
    let many: Vec<&str> = targets.iter().map(String::as_str).collect();
    site.put("/", 200, &home);
    site.put(
        "/a",
        200,
        &titled("A page that links to one that is gone", &["/missing", "/"]),
    );
    site.put("/b", 200, &titled("What two pages say of themselves", &["/"]));
    site.put("/c", 200, &titled("What two pages say of themselves", &["/"]));
    site.put(
        "/n",
        200,
        &titled("A page that is linked to with nofollow", &["/"]),
    );
    site.put(
        "/many",
        200,
        &titled("A page with more faults than fit in a list", &many),
    );
    audit(&bench).await;
    let known = [
        ("http-4xx", "/missing"),
        ("nofollow-internal-link", "/"),
        ("broken-internal-link", "/many"),
        ("title-duplicate", "/b"),
    ];
    for (check, path) in known {
        let found = occurrence(&bench, check, path).await;
        assert_eq!(state(&found), ("open", false, ""), "{check} {path}");
    }

    // each of them looks solved, because what shows it says nothing
    for path in ["/a", "/c", "/n"] {
        site.put(path, 403, "no");
    }
    for (number, path) in targets.iter().enumerate() {
        let status = if number < 20 { 200 } else { 403 };
        site.put(path, status, &titled("One of those that were repaired", &["/"]));
    }
    audit(&bench).await;
    for (check, path) in known {
        let found = occurrence(&bench, check, path).await;
        assert_eq!(state(&found), ("open", true, ""), "{check} {path}");
    }
    let mut claims = Vec::new();
    for (check, path) in known {
        claims.push(pair(&occurrence(&bench, check, path).await));
    }
    say(&bench, "done", &claims).await;
    let done = recheck(&bench).await;
    assert_eq!(
        (&done["counts"]["inconclusive"], &done["counts"]["resolved"]),
        (&json!(4), &json!(0)),
        "{done:#}"
    );

    // all of it says something, and the faults are gone
    site.put(
        "/a",
        200,
        &titled("A page that links to one that is gone", &["/"]),
    );
    site.put("/c", 200, &titled("What only one page says of itself", &["/"]));
    site.put(
        "/n",
        200,
        &page(
            "<title>Nobody finds this page any more</title><meta name=robots content=noindex>",
            &["/"],
        ),
    );
    for path in &targets {
        site.put(path, 200, &titled("One of those that were repaired", &["/"]));
    }
    audit(&bench).await;
    for (check, path) in known {
        let found = occurrence(&bench, check, path).await;
        assert_eq!(state(&found), ("resolved", false, "fixed"), "{check} {path}");
    }

    // an answer without a page behind it
    site.put("/b", 200, "");
    site.put(
        "/c",
        200,
        "<title>Just a moment...</title><p>We look at your browser.",
    );
    audit(&bench).await;
    assert_eq!(
        state(&occurrence(&bench, "title-missing", "/b").await),
        ("open", false, "")
    );
}

/// Whether a page has one link only depends on what all others say.
async fn a_page_that_says_nothing_may_link_to_others(database: &str) {
    let (bench, site) = bench(database).await;
    let home = page("<title>Home</title>", &["/a", "/b", "/c"]);
    site.put("/", 200, &home);
    site.put("/d", 200, &page("<title>D</title>", &["/"]));
    for path in ["/a", "/b"] {
        site.put(path, 200, &page("<title>A and B</title>", &["/", "/d"]));
    }
    let single = async || {
        let issue = issue(&bench, "single-inlink").await;
        let path = format!("P/issues/{}/occurrences?limit=100", issue["id"].as_str().unwrap());
        let found = bench.get(&path).await.json();
        let urls = found["data"].as_array().unwrap().iter();
        let urls = urls.map(|found| found["url"].as_str().unwrap().to_owned());
        urls.filter(|url| url.ends_with("/d")).count()
    };
    audit(&bench).await;
    assert_eq!(single().await, 0);
    site.put("/b", 503, "ill");
    audit(&bench).await;
    assert_eq!(single().await, 0, "it may link there still");
    site.put("/b", 200, &page("<title>B</title>", &["/"]));
    audit(&bench).await;
    assert_eq!(single().await, 1);
    // nor is it resolved by the silence of another page
    site.put("/c", 503, "ill");
    audit(&bench).await;
    assert_eq!(single().await, 1);
}

async fn markup_without_an_end_proves_nothing(database: &str) {
    let (bench, site) = bench(database).await;
    let home = |markup: &str| {
        let body = page(
            "<title>The home of all the desks there are</title>",
            &["/a", "/b", "/c"],
        );
        site.put("/", 200, &body.replace("</body>", &format!("{markup}</body>")));
    };
    let owner = async || {
        let found = occurrence(&bench, "organization-missing", "/").await;
        let (state, is_stale, resolution) = state(&found);
        (state.to_owned(), is_stale, resolution.to_owned())
    };
    let is =
        |state: &str, is_stale: bool, resolution: &str| (state.to_owned(), is_stale, resolution.to_owned());
    home("<p>Nobody</p>");
    audit(&bench).await;
    assert_eq!(owner().await, is("open", false, ""));
    // what `itemref` names may lie anywhere, so that nothing is known to be there or to be missing
    home(
        r#"<div itemscope itemtype="https://schema.org/Organization" itemref="rest"><b itemprop="name">Desks</b></div>"#,
    );
    audit(&bench).await;
    assert_eq!(owner().await, is("open", true, ""));
    say(
        &bench,
        "done",
        &[pair(&occurrence(&bench, "organization-missing", "/").await)],
    )
    .await;
    let rechecked = recheck(&bench).await;
    assert_eq!(rechecked["counts"]["inconclusive"], 1, "{rechecked:#}");
    // nor is it where the element is closed by none of its own
    home(r#"<p><span itemscope itemtype="https://schema.org/Organization"><b itemprop="name">Desks</b></p>"#);
    audit(&bench).await;
    assert_eq!(owner().await.0, "done");
    home(
        r#"<div itemscope itemtype="https://schema.org/Organization"><b itemprop="name">Desks</b><a itemprop="url" href="/">x</a>
        <img itemprop="logo" src="/l.png" alt="Desks"><a itemprop="sameAs" href="https://social.example/desks">y</a></div>"#,
    );
    let rechecked = recheck(&bench).await;
    assert_eq!(rechecked["counts"]["resolved"], 1, "{rechecked:#}");
    assert_eq!(owner().await, is("resolved", false, "fixed"));
}

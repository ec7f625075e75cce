//! Undecidable occurrences stay unchanged in scores, in comparisons and for robots.txt.

use serde_json::{Value, json};

use crate::{
    audited::{audit, bench, occurrence, page, pair, say},
    post_generation::until_ended,
    silence::state,
};

on_both!(
    what_nothing_could_be_told_of_counts_as_it_did,
    robots_txt_is_as_it_was_answered_last,
);

async fn what_nothing_could_be_told_of_counts_as_it_did(database: &str) {
    let (bench, site) = bench(database).await;
    let paths = ["/a", "/b", "/c", "/d", "/e", "/f"];
    let titled = |number: usize, text: &str| {
        let title = format!("<title>Desk {number} and all that there is to say of it</title>");
        page(&title, &["/"]).replace("Some text.", text)
    };
    site.put(
        "/",
        200,
        &page("<title>The home of all the desks there are</title>", &paths),
    );
    for (number, path) in paths.iter().enumerate() {
        let untitled = page("", &["/"]).replace("Some text.", &format!("Desk {number} is made of oak."));
        site.put(path, 200, &untitled);
    }
    let first = audit(&bench).await;
    let bad = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(state(&bad), ("open", false, ""));

    // refused is not mended, whatever was audited in between
    for path in ["/a", "/b"] {
        site.put(path, 403, "no");
    }
    let narrow = bench.post("P/audits", json!({ "maxPages": 1 })).await.json();
    until_ended(&bench, narrow["job"]["id"].as_str().unwrap()).await;
    let refused = audit(&bench).await;
    assert_eq!(refused["termination"], "complete", "{refused:#}");
    let score = |audit: &Value| audit["healthScore"].as_i64().unwrap();
    assert!(score(&refused) <= score(&first), "{first:#} {refused:#}");
    let clean = |audit: &Value| audit["errorFreePagesPct"].as_f64().unwrap();
    assert!(clean(&refused) <= clean(&first), "{first:#} {refused:#}");
    let compared = async |now: &Value, before: &Value, check: &str| {
        let [now, before] = [now, before].map(|audit| audit["id"].as_str().unwrap().to_owned());
        let diff = bench
            .get(&format!("P/audits/{now}/diff?against={before}"))
            .await
            .json();
        assert_eq!(diff["comparable"], true, "{diff:#}");
        let issues = diff["issues"].as_array().unwrap();
        let issue = issues.iter().find(|issue| issue["checkId"] == check);
        let counts = issue.map(|issue| &issue["counts"]);
        let count = |name: &str| counts.and_then(|counts| counts[name].as_i64()).unwrap_or(0);
        [count("added"), count("removed")]
    };
    assert_eq!(compared(&refused, &first, "title-missing").await, [0, 0]);

    // what somebody says of one of them changes what that one counts, and nothing else
    let accepted = occurrence(&bench, "title-missing", "/c").await;
    for what in ["ignore", "unignore"] {
        say(&bench, what, &[pair(&accepted)]).await;
        let jobs = bench.get("P/jobs").await.json();
        for job in jobs["data"].as_array().unwrap() {
            until_ended(&bench, job["id"].as_str().unwrap()).await;
        }
    }
    let again = bench.get("P/audits/current").await.json();
    for member in ["healthScore", "errorFreePagesPct", "categoryScores", "totals"] {
        assert_eq!(again[member], refused[member], "{member}");
    }

    // they answer again, and one of them is mended
    site.put(
        "/a",
        200,
        &page("", &["/"]).replace("Some text.", "Desk 0 is made of oak."),
    );
    site.put("/b", 200, &titled(1, "Desk 1 is made of oak."));
    let last = audit(&bench).await;
    assert_eq!(compared(&last, &refused, "title-missing").await, [0, 1]);
    assert!(score(&last) > score(&refused), "{refused:#} {last:#}");
}

async fn robots_txt_is_as_it_was_answered_last(database: &str) {
    let (bench, site) = bench(database).await;
    let run = async |robots: (u16, &str)| {
        site.put("/robots.txt", robots.0, robots.1);
        let started = bench.post("P/audits", json!({})).await.json();
        until_ended(&bench, started["job"]["id"].as_str().unwrap()).await;
        let asked = site.asked();
        let path = format!("P/audits/{}", started["audit"]["id"].as_str().unwrap());
        (
            bench.get(&path).await.json(),
            asked.iter().any(|path| path == "/a"),
        )
    };
    let (forbidden, asked) = run((200, "User-agent: *\nDisallow: /")).await;
    assert_eq!((&forbidden["status"], asked), (&json!("completed"), false));
    // to one crawler alone: nothing is known of the site
    let (shut, asked) = run((200, "User-agent: SearchwrightBot\nDisallow: /")).await;
    assert_eq!((&shut["status"], asked), (&json!("failed"), false), "{shut:#}");
    assert_eq!(shut["termination"], "blocked");
    let message = shut["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("/robots.txt forbids this crawler (SearchwrightBot)"),
        "{message}"
    );
    run((200, "User-agent: *\nDisallow: /")).await;
    // an audit without a result has read it too
    let whole = |path: &str| {
        page(
            &format!("<title>What there is to say of {path}</title>"),
            &["/", "/a"],
        )
    };
    let paths = ["/", "/a", "/b", "/c", "/gone"];
    for path in paths {
        site.put(path, 403, "no");
    }
    let (refused, _) = run((200, "User-agent: *\nAllow: /")).await;
    assert_eq!(refused["status"], "failed", "{refused:#}");
    for path in paths {
        site.put(path, 200, &whole(path));
    }
    // and what is used in its place is used again
    for _ in 0..2 {
        let (ill, asked) = run((503, "ill")).await;
        assert_eq!((&ill["status"], asked), (&json!("completed"), true), "{ill:#}");
    }
    let (forbidden, asked) = run((200, "User-agent: *\nDisallow: /a")).await;
    assert_eq!((&forbidden["status"], asked), (&json!("completed"), false));
    let (ill, asked) = run((503, "ill")).await;
    assert_eq!((&ill["status"], asked), (&json!("completed"), false), "{ill:#}");
}

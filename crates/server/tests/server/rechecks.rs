//! Claims that something is fixed, and their proof, through the doors.

use serde_json::{Value, json};

use crate::{
    audited::{audit, bench, issue, occurrence, page, pair, recheck, say},
    post_generation::until_ended,
};

on_both!(
    a_claim_counts_when_it_is_proven,
    what_people_say,
    silence_proves_nothing,
    the_score_is_computed_again_as_it_was,
);
async fn a_claim_counts_when_it_is_proven(database: &str) {
    let (bench, site) = bench(database).await;
    bench
        .post("P/rechecks", json!({}))
        .await
        .refuses(409, "invalid_state");
    let before = bench.get("P/audits/current").await.json();
    let title = occurrence(&bench, "title-missing", "/a").await;
    let link = occurrence(&bench, "broken-internal-link", "/a").await;
    let twin = occurrence(&bench, "title-duplicate", "/b").await;
    let claims: Vec<Value> = [&title, &link, &twin].map(pair).to_vec();
    let refused = bench
        .post("P/rechecks", json!({ "occurrences": [claims[0]] }))
        .await
        .refuses(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/occurrences/0");
    let said = say(&bench, "done", &claims).await;
    assert_eq!((&said["changed"], &said["refused"]), (&json!(3), &json!(0)));
    assert_eq!(say(&bench, "done", &claims).await["changed"], 0, "once");
    let claimed = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(
        (&claimed["state"], &claimed["doneNote"]),
        (&json!("done"), &json!("by hand"))
    );
    assert!(claimed["doneAt"].is_string() && claimed["doneBy"].is_string());
    assert_eq!(
        bench.get("P/audits/current").await.json()["healthScore"],
        before["healthScore"]
    );

    // One is fixed, one is not, and one cannot be told from the page alone but from what is known of the others.
    site.put(
        "/a",
        200,
        &page("<title>A title that was missing before</title>", &["/gone", "/"]),
    );
    site.put(
        "/b",
        200,
        &page("<title>This one has a title of its own now</title>", &["/"]),
    );
    let seen = async |check: &str| {
        let at = issue(&bench, check).await["lastSeenAt"].clone();
        at.as_str().unwrap().to_owned()
    };
    let seen_before = [seen("title-missing").await, seen("broken-internal-link").await];
    let done = recheck(&bench).await;
    assert_eq!(seen("title-missing").await, seen_before[0], "which is gone");
    assert!(
        seen("broken-internal-link").await > seen_before[1],
        "which is still there"
    );
    assert_eq!(done["status"], "completed", "{done:#}");
    assert_eq!(
        done["scope"],
        json!({ "named": false, "issues": 3, "pages": 2, "occurrences": 3 })
    );
    assert_eq!(
        (&done["counts"]["resolved"], &done["counts"]["stillPresent"]),
        (&json!(2), &json!(1)),
        "{done:#}"
    );
    assert_eq!(
        site.asked(),
        ["/a fresh", "/b fresh", "/gone fresh"],
        "exactly what is concerned, past caches"
    );
    let (foreign, key) = bench.neighbour().await;
    let path = format!("/projects/{foreign}/rechecks/{}", done["id"].as_str().unwrap());
    let theirs = bench.call("GET", &path).key(&key).send().await;
    theirs.refuses(403, "project_forbidden");
    let theirs = bench
        .call("POST", &format!("/projects/{foreign}/occurrences/done"))
        .key(&key);
    let theirs = theirs.json(&json!({ "occurrences": claims })).send().await.json();
    assert_eq!(
        (&theirs["refused"], &theirs["items"][0]["code"]),
        (&json!(3), &json!("not_found"))
    );
    let states = async || {
        let mut states = Vec::new();
        for (check, path) in [
            ("title-missing", "/a"),
            ("broken-internal-link", "/a"),
            ("title-duplicate", "/b"),
        ] {
            states.push(
                occurrence(&bench, check, path).await["state"]
                    .as_str()
                    .unwrap()
                    .to_owned(),
            );
        }
        states
    };
    assert_eq!(states().await, ["resolved", "still_present", "resolved"]);
    let title = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(
        (&title["resolution"], &title["lastRecheck"]["outcome"]),
        (&json!("fixed"), &json!("resolved"))
    );
    let after = bench.get("P/audits/current").await.json();
    assert!(
        after["healthScore"].as_i64() > before["healthScore"].as_i64(),
        "proven at once: {before:#} {after:#}"
    );
    assert_eq!(issue(&bench, "title-missing").await["affectedPages"], 0);

    // What a recheck has seen the next one knows: the other page of the same title is alone with it now.
    say(
        &bench,
        "done",
        &[pair(&occurrence(&bench, "title-duplicate", "/c").await)],
    )
    .await;
    site.asked();
    assert_eq!(recheck(&bench).await["counts"]["resolved"], 1);
    assert_eq!(site.asked(), ["/c fresh"]);

    // The link is taken away, and the page it pointed to comes to nobody's mind again.
    site.put(
        "/a",
        200,
        &page("<title>A title that was missing before</title>", &["/"]),
    );
    say(&bench, "done", &[pair(&link)]).await;
    assert_eq!(recheck(&bench).await["counts"]["resolved"], 1);

    // What is wrong with the site as a whole is seen by what lies beside its pages.
    let robots = occurrence(&bench, "robots-missing", "/").await;
    site.put("/robots.txt", 200, "User-agent: *\nDisallow: /nothing\n");
    say(&bench, "done", &[pair(&robots)]).await;
    site.asked();
    let done = recheck(&bench).await;
    assert_eq!(done["counts"]["resolved"], 1, "{done:#}");
    assert!(site.asked().contains(&"/ fresh".to_owned()));

    // A later audit finds it again, and says why.
    site.put("/a", 200, &page("", &["/gone", "/"]));
    audit(&bench).await;
    let title = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(
        (&title["state"], &title["reopenReason"], &title["reopenCount"]),
        (&json!("reopened"), &json!("recurred"), &json!(1))
    );
    say(&bench, "done", &[pair(&title)]).await;
    audit(&bench).await;
    let title = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(
        (&title["state"], &title["reopenReason"]),
        (&json!("reopened"), &json!("still_present"))
    );
}

async fn what_people_say(database: &str) {
    let (bench, _) = bench(database).await;
    let before = bench.get("P/audits/current").await.json();
    let title = occurrence(&bench, "title-missing", "/a").await;
    let twin = occurrence(&bench, "title-duplicate", "/b").await;
    let nobody = json!({ "issue_id": title["issue_id"], "page_id": bench.project });
    let said = say(
        &bench,
        "ignore",
        &[
            pair(&title),
            nobody,
            pair(&title),
            json!({ "issue_id": "x", "page_id": "y" }),
        ],
    )
    .await;
    let outcomes: Vec<&Value> = said["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["outcome"])
        .collect();
    assert_eq!(outcomes, ["changed", "refused", "unchanged", "refused"]);
    assert_eq!(said["items"][1]["code"], "not_found");
    let ignored = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(
        (&ignored["state"], &ignored["ignoredReason"]),
        (&json!("ignored"), &json!("by hand"))
    );
    let jobs = bench.get("P/jobs").await.json();
    let rescore = jobs["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|job| job["type"] == "rescore")
        .unwrap();
    until_ended(&bench, rescore["id"].as_str().unwrap()).await;
    let after = bench.get("P/audits/current").await.json();
    assert!(
        after["healthScore"].as_i64() > before["healthScore"].as_i64(),
        "it left the score"
    );
    assert_eq!(
        say(&bench, "done", &[pair(&title)]).await["items"][0]["code"],
        "occurrence_ignored"
    );
    assert_eq!(
        say(&bench, "undo", &[pair(&title)]).await["items"][0]["code"],
        "invalid_state"
    );
    assert_eq!(
        say(&bench, "unignore", &[pair(&title), pair(&twin)]).await["changed"],
        1
    );
    assert_eq!(occurrence(&bench, "title-missing", "/a").await["state"], "open");
    assert_eq!(say(&bench, "done", &[pair(&twin)]).await["changed"], 1);
    assert_eq!(
        say(&bench, "undo", &[pair(&twin), pair(&title)]).await["changed"],
        1
    );
    let open = occurrence(&bench, "title-duplicate", "/b").await;
    assert_eq!((&open["state"], &open["doneAt"]), (&json!("open"), &Value::Null));
    for (body, pointer) in [
        (json!({ "occurrences": [] }), "/occurrences"),
        (
            json!({ "occurrences": [pair(&title)], "until": "2020-01-01T00:00:00.000Z" }),
            "/until",
        ),
    ] {
        let refused = bench.post("P/occurrences/ignore", body).await;
        assert_eq!(refused.status, 422);
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer);
    }
    let reader = bench.key_for(bench.project, &["audits:read"]).await;
    let refused = bench
        .call("POST", "P/occurrences/done")
        .key(&reader)
        .json(&json!({ "occurrences": [pair(&title)] }))
        .send()
        .await;
    refused.refuses(403, "insufficient_scope");
}

async fn silence_proves_nothing(database: &str) {
    let (bench, site) = bench(database).await;
    let title = occurrence(&bench, "title-missing", "/a").await;
    let link = occurrence(&bench, "broken-internal-link", "/a").await;
    say(&bench, "done", &[pair(&title), pair(&link)]).await;
    site.put("/a", 429, "too many");
    let done = recheck(&bench).await;
    assert_eq!(
        (&done["status"], &done["counts"]["inconclusive"]),
        (&json!("partial"), &json!(2)),
        "{done:#}"
    );
    assert_eq!(occurrence(&bench, "title-missing", "/a").await["state"], "done");
    // Refused is not gone.
    site.put("/a", 403, "no");
    assert_eq!(recheck(&bench).await["counts"]["inconclusive"], 2);
    // A page that is gone has no title to miss.
    site.put("/a", 410, "gone");
    let done = recheck(&bench).await;
    assert_eq!(done["counts"]["resolved"], 2, "{done:#}");
    assert_eq!(
        occurrence(&bench, "title-missing", "/a").await["resolution"],
        "page_gone"
    );
}

/// Of an audit that left pages out, what older audits saw on those is no part of its score.
async fn the_score_is_computed_again_as_it_was(database: &str) {
    let (bench, site) = bench(database).await;
    let narrow = bench.post("P/audits", json!({ "maxPages": 2 })).await.json();
    until_ended(&bench, narrow["job"]["id"].as_str().unwrap()).await;
    let before = bench.get("P/audits/current").await.json();
    assert_eq!(before["status"], "partial");
    let title = occurrence(&bench, "title-missing", "/a").await;
    let impact = issue(&bench, "title-missing").await["impact"].clone();
    assert!(impact.as_f64() > Some(0.0));
    say(&bench, "ignore", &[pair(&title)]).await;
    assert_eq!(issue(&bench, "title-missing").await["impact"], 0.0);
    let left = async || {
        let jobs = bench.get("P/jobs").await.json();
        for job in jobs["data"].as_array().unwrap() {
            until_ended(&bench, job["id"].as_str().unwrap()).await;
        }
        bench.get("P/audits/current").await.json()
    };
    let ignored = left().await;
    assert_ne!(ignored["totals"], before["totals"]);
    let titles = |audit: &Value| audit["categoryScores"]["titles"].as_i64().unwrap();
    assert!(titles(&ignored) > titles(&before), "{ignored:#}");
    say(&bench, "unignore", &[pair(&title)]).await;
    let after = left().await;
    for member in ["healthScore", "errorFreePagesPct", "categoryScores", "totals"] {
        assert_eq!(after[member], before[member], "{member}");
    }
    assert_eq!(issue(&bench, "title-missing").await["impact"], impact);

    // of two pages one leaves, and comes back
    site.put("/b", 200, &page("", &["/"]));
    audit(&bench).await;
    let weighs = async || issue(&bench, "title-missing").await["impact"].as_f64().unwrap();
    let both = weighs().await;
    let other = occurrence(&bench, "title-missing", "/b").await;
    say(&bench, "ignore", &[pair(&other)]).await;
    left().await;
    let one = weighs().await;
    assert!(0.0 < one && one < both, "{one} {both}");
    say(&bench, "unignore", &[pair(&other)]).await;
    left().await;
    assert_eq!(weighs().await, both);
}

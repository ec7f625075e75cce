//! Rechecks that decide nothing: no answer, pages that robots.txt forbids, what only an audit can tell, and what somebody
//! changed while the pages were fetched.

use serde_json::{Value, json};

use crate::{
    audited::{BROKEN, HELD, Website, audit, bench, occurrence, page, pair, recheck, say},
    harness::Bench,
    post_generation::until_ended,
};

on_both!(
    no_answer_proves_nothing,
    what_robots_txt_forbids_is_not_resolved,
    only_an_audit_can_tell,
    what_somebody_said_meanwhile_stands,
);

const FIXED: &str = "<title>A title that was missing before</title>";

/// Returns the outcome of a recheck for an occurrence, with its detail.
fn item<'a>(recheck: &'a Value, claim: &Value) -> (&'a str, &'a str) {
    let mut items = recheck["items"].as_array().unwrap().iter();
    let item = items
        .find(|item| item["issue_id"] == claim["issue_id"] && item["page_id"] == claim["page_id"])
        .unwrap_or_else(|| panic!("{claim} is not in {recheck:#}"));
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    (text("outcome"), text("detail"))
}

async fn claim(bench: &Bench, claims: &[(&str, &str)]) -> Vec<Value> {
    let mut pairs = Vec::new();
    for (check, path) in claims {
        pairs.push(pair(&occurrence(bench, check, path).await));
    }
    assert_eq!(say(bench, "done", &pairs).await["changed"], pairs.len());
    pairs
}

async fn states(bench: &Bench, of: &[(&str, &str)]) -> Vec<String> {
    let mut states = Vec::new();
    for (check, path) in of {
        let found = occurrence(bench, check, path).await;
        states.push(found["state"].as_str().unwrap().to_owned());
    }
    states
}

async fn no_answer_proves_nothing(database: &str) {
    let (bench, site) = bench(database).await;
    let on_a = [("title-missing", "/a"), ("broken-internal-link", "/a")];
    let claims = claim(&bench, &on_a).await;
    site.put("/a", BROKEN, "");
    let silent = recheck(&bench).await;
    for claim in &claims {
        let (outcome, why) = item(&silent, claim);
        assert_eq!(outcome, "inconclusive", "{silent:#}");
        assert!(why.starts_with("no answer: "), "{why}");
    }
    assert_eq!(
        (&silent["status"], &silent["counts"]["resolved"]),
        (&json!("partial"), &json!(0))
    );
    assert_eq!(states(&bench, &on_a).await, ["done"; 2]);
    // twice is no more of a proof, whoever asked before
    audit(&bench).await;
    assert_eq!(states(&bench, &on_a).await, ["done"; 2]);

    // the page answers, and where it leads does not
    site.put("/a", 200, &page(FIXED, &["/gone", "/"]));
    site.put("/gone", BROKEN, "");
    let answered = recheck(&bench).await;
    let outcomes = [&claims[0], &claims[1]].map(|claim| item(&answered, claim).0);
    assert_eq!(outcomes, ["resolved", "inconclusive"], "{answered:#}");
}

async fn what_robots_txt_forbids_is_not_resolved(database: &str) {
    let (bench, site) = bench(database).await;
    let on_a = [("title-missing", "/a"), ("broken-internal-link", "/a")];
    let twin = [("title-duplicate", "/b")];
    let claims = claim(&bench, &on_a).await;
    let site_wide = claim(&bench, &[("robots-missing", "/")]).await;
    site.put("/a", 200, &page(FIXED, &["/"]));
    site.put("/robots.txt", 200, "User-agent: *\nDisallow: /a\nDisallow: /c\n");

    let first = recheck(&bench).await;
    assert_eq!(item(&first, &site_wide[0]).0, "resolved", "{first:#}");
    for claim in &claims {
        let (outcome, why) = item(&first, claim);
        assert_eq!(outcome, "inconclusive", "{first:#}");
        assert!(why.starts_with("forbidden by robots.txt: "), "{why}");
    }
    assert!(!site.asked().contains(&"/a fresh".to_owned()));
    assert_eq!(states(&bench, &on_a).await, ["done"; 2]);

    let forbidden = audit(&bench).await;
    assert_eq!(forbidden["status"], "completed", "{forbidden:#}");
    assert_eq!(states(&bench, &on_a).await, ["done"; 2]);
    // its twin cannot be read
    assert_eq!(states(&bench, &twin).await, ["open"]);
    assert!(!site.asked().iter().any(|path| path.starts_with("/a")));
    // and what that audit has read of robots.txt is known
    let second = recheck(&bench).await;
    assert_eq!(second["counts"]["inconclusive"], 2, "{second:#}");
    assert_eq!(states(&bench, &on_a).await, ["done"; 2]);
    assert_eq!(site.asked(), ["/gone fresh"], "which is where its link led");
}

async fn only_an_audit_can_tell(database: &str) {
    let (bench, site) = bench(database).await;
    // what only the last audit led to, and no page links to
    site.put(
        "/d",
        200,
        &page("<title>All there is to say of D</title>", &["/"]),
    );
    let home = |links: &[&str]| page("<title>The home of all the desks there are</title>", links);
    site.put("/", 200, &home(&["/a", "/b", "/c", "/d"]));
    audit(&bench).await;
    site.put("/", 200, &home(&["/a", "/b", "/c"]));
    audit(&bench).await;
    let orphan = [("orphan-page", "/d")];
    let claims = claim(&bench, &[orphan[0], ("title-missing", "/a")]).await;
    site.put("/", 200, &home(&["/a", "/b", "/c", "/d"]));
    site.put("/a", 200, &page(FIXED, &["/"]));
    site.asked();

    let told = recheck(&bench).await;
    assert_eq!(
        (&told["status"], item(&told, &claims[0])),
        (
            &json!("partial"),
            ("needs_audit", "only an audit of the whole site can tell")
        )
    );
    assert_eq!(
        (&told["counts"]["needsAudit"], &told["counts"]["resolved"]),
        (&json!(1), &json!(1)),
        "{told:#}"
    );
    assert_eq!(site.asked(), ["/a fresh"], "nothing is asked in vain");
    let found = occurrence(&bench, "orphan-page", "/d").await;
    assert_eq!(
        (&found["state"], &found["lastRecheck"]["outcome"]),
        (&json!("done"), &json!("needs_audit"))
    );
    // which it then does
    audit(&bench).await;
    assert_eq!(states(&bench, &orphan).await, ["resolved"]);
}

async fn until_asked(site: &Website, path: &str) {
    while !site.asked().iter().any(|asked| asked == path) {
        tokio::task::yield_now().await;
    }
}

async fn what_somebody_said_meanwhile_stands(database: &str) {
    let (bench, site) = bench(database).await;
    let on_a = [("title-missing", "/a"), ("broken-internal-link", "/a")];
    let claims = claim(&bench, &on_a).await;
    let body = page(FIXED, &["/gone", "/"]);
    for accepted in [0, 1] {
        site.put("/a", HELD, "");
        let started = bench.post("P/rechecks", json!({})).await.json();
        until_asked(&site, "/a fresh").await;
        assert_eq!(
            states(&bench, &on_a[accepted..=accepted]).await,
            ["recheck_pending"]
        );
        say(&bench, "ignore", &claims[accepted..=accepted]).await;
        site.release("/a", 200, &body);
        until_ended(&bench, started["job"]["id"].as_str().unwrap()).await;
        let path = format!("P/rechecks/{}", started["recheck"]["id"].as_str().unwrap());
        let ended = bench.get(&path).await.json();
        assert_eq!(item(&ended, &claims[accepted]).0, "superseded", "{ended:#}");
        assert_eq!(
            (&ended["status"], &ended["counts"]["superseded"]),
            (&json!("completed"), &json!(1)),
            "{ended:#}"
        );
        let (check, path) = on_a[accepted];
        let found = occurrence(&bench, check, path).await;
        assert_eq!(
            (&found["state"], &found["ignoredReason"], &found["resolution"]),
            (&json!("ignored"), &json!("by hand"), &Value::Null)
        );
        if accepted == 0 {
            // the claim beside it is still there, and is made again
            assert_eq!(item(&ended, &claims[1]).0, "still_present");
            say(&bench, "done", &claims[1..]).await;
        }
    }
}

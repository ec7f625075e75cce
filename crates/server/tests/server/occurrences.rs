//! Allowed actions of occurrences, compared with the answers to the calls.

use serde_json::{Value, json};

use crate::{
    audited::{NEVER, audit, bench, occurrence, page, pair, recheck, say},
    harness::Bench,
};

on_both!(what_is_allowed_is_what_is_not_refused,);

/// The occurrence in this state: these actions are allowed, and every other one is refused as it says.
async fn allows(bench: &Bench, check: &str, path: &str, state: &str, actions: &[&str]) {
    let seen = occurrence(bench, check, path).await;
    assert_eq!(seen["state"], state);
    let offered = seen["allowedActions"].as_object().unwrap();
    assert_eq!(offered.len(), 5, "{seen:#}");
    for (action, permission) in offered {
        assert_eq!(
            *permission == json!(true),
            actions.contains(&action.as_str()),
            "{state} {action} {permission}"
        );
        if *permission == json!(true) {
            continue;
        }
        let code = if action == "recheck" {
            let named = json!({ "occurrences": [pair(&seen)] });
            let refused = bench.post("P/rechecks", named).await;
            refused.refuses(422, "validation_failed")["errors"][0]["code"].clone()
        } else {
            let said = say(bench, action, &[pair(&seen)]).await;
            assert_eq!(said["items"][0]["outcome"], "refused");
            said["items"][0]["code"].clone()
        };
        assert_eq!(permission["code"], code, "{state} {action}");
        assert!(permission["reason"].as_str().unwrap().contains(state));
    }
}

async fn what_is_allowed_is_what_is_not_refused(database: &str) {
    let (bench, site) = bench(database).await;
    let (title, link, twin) = (
        ("title-missing", "/a"),
        ("broken-internal-link", "/a"),
        ("title-duplicate", "/b"),
    );
    let found = async |(check, path): (&str, &str)| pair(&occurrence(&bench, check, path).await);
    let active = ["done", "undo", "ignore", "unignore"];
    let allows = async |(check, path): (&str, &str), state: &str, actions: &[&str]| {
        allows(&bench, check, path, state, actions).await;
    };
    allows(title, "open", &active).await;
    say(&bench, "done", &[found(title).await, found(link).await]).await;
    allows(title, "done", &["done", "undo", "ignore", "unignore", "recheck"]).await;

    site.put(
        "/a",
        200,
        &page("<title>It has a title now</title>", &["/gone", "/"]),
    );
    recheck(&bench).await;
    allows(title, "resolved", &["done", "unignore"]).await;
    allows(link, "still_present", &active).await;
    site.put("/a", 200, &page("", &["/gone", "/"]));
    audit(&bench).await;
    allows(title, "reopened", &active).await;
    say(&bench, "ignore", &[found(twin).await]).await;
    allows(twin, "ignored", &["ignore", "unignore"]).await;

    say(&bench, "unignore", &[found(twin).await]).await;
    say(&bench, "done", &[found(twin).await, found(title).await]).await;
    site.put("/b", NEVER, "");
    let named = json!({ "occurrences": [found(twin).await] });
    let started = bench.post("P/rechecks", named.clone()).await.json();
    assert_eq!(
        started["recheck"]["scope"],
        json!({ "named": true, "issues": 1, "pages": 1, "occurrences": 1 })
    );
    allows(
        twin,
        "recheck_pending",
        &["done", "ignore", "unignore", "recheck"],
    )
    .await;
    let again = bench.post("P/rechecks", named).await.json();
    assert_eq!(
        json!([
            again["alreadyRunning"],
            again["recheck"]["id"],
            again["recheck"]["scope"]
        ]),
        json!([true, started["recheck"]["id"], started["recheck"]["scope"]])
    );

    let reader = bench.key_for(bench.project, &["audits:read"]).await;
    let of = found(title).await["issue_id"].as_str().unwrap().to_owned();
    let path = format!("P/issues/{of}/occurrences");
    let seen = bench.call("GET", &path).key(&reader).send().await.json();
    let offered = seen["data"][0]["allowedActions"].as_object().unwrap();
    let lacks = |permission: &Value| permission["code"] == "insufficient_scope";
    assert!(offered.values().all(lacks), "{offered:#?}");
}

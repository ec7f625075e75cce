//! Settings of the autopilot.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    harness::{Answer, Bench},
    publishing::{publish, settled, working},
};

on_both!(
    a_project_that_has_set_nothing_has_defaults,
    settings_are_kept_until_they_are_changed,
    weekdays_are_numbers_or_names,
    every_invalid_field_is_named,
    a_change_with_an_old_etag_is_refused,
    enabling_needs_an_integration_and_a_keyword,
    a_keyword_with_a_live_post_does_not_count,
    settings_are_the_projects_own,
    scopes_decide_who_reads_and_writes,
);

async fn patch(bench: &Bench, body: Value) -> Answer {
    bench.patch("P/autopilot", body).await
}

/// Connects and maps a folder of the server.
async fn connect(bench: &Bench) {
    let files = BTreeMap::from([("folder".to_owned(), "blog".to_owned())]);
    let engine = &bench.server.app.engine;
    engine.connect(bench.project, "files", files).await.unwrap();
    let map = json!({ "fieldMap": { "title": "title", "content": "content" } });
    let mapped = bench.post("P/integrations/files/mapping", map).await;
    assert_eq!(mapped.json()["status"], "ready", "{mapped:?}");
}

const WEEK: [&str; 7] = [
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];

async fn a_project_that_has_set_nothing_has_defaults(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let read = bench.get("P/autopilot").await;
    assert_eq!(
        read.header("etag"),
        Some(format!("\"{}-0\"", bench.project).as_str())
    );
    let expected = json!({
        "projectId": bench.project, "enabled": false, "publish_interval_days": 7, "publish_weekdays": null,
        "publish_weekday_names": WEEK, "publish_time": "09:00", "timezone": "UTC", "mode": "review", "auto_publish": false,
        "hold_hours": 24, "lead_days": 2, "min_score": 60, "max_posts_per_day": 1, "monthly_cap": 12, "reviewer_other_than_author": true,
        "draft_only": false, "refresh_share": 0, "paused_until": null, "paused_reason": null, "paused_detail": null, "consecutive_failures": 0,
        "next_publish_at": null, "last_publish_at": null, "overdue": [], "version": 0, "updatedAt": null,
        "allowedActions": {
            "update": true,
            "enable": {
                "allowed": false, "code": "invalid_state",
                "reason": "no integration is ready to publish; no keyword is approved and without a live post",
            },
        },
    });
    assert_eq!(read.json(), expected);
}

async fn settings_are_kept_until_they_are_changed(database: &str) {
    let bench = Bench::on(database, &[]).await;
    connect(&bench).await;
    bench.keyword("desk").await;
    let whole = json!({ "enabled": true, "publish_interval_days": 90, "publish_weekdays": ["thu", 1] });
    let set = patch(&bench, whole).await;
    assert_eq!(set.status, 200, "{set:?}");
    let expected = json!({
        "projectId": bench.project, "enabled": true, "publish_interval_days": 90, "publish_weekdays": [1, 4],
        "publish_weekday_names": ["monday", "thursday"], "publish_time": "09:00", "timezone": "UTC", "mode": "review",
        "auto_publish": false, "hold_hours": 24, "lead_days": 2, "min_score": 60, "max_posts_per_day": 1, "monthly_cap": 12,
        "reviewer_other_than_author": true, "draft_only": false, "refresh_share": 0, "paused_until": null, "paused_reason": null, "paused_detail": null,
        "consecutive_failures": 0, "next_publish_at": "2026-11-23T09:00:00.000Z", "last_publish_at": null, "overdue": [],
        "version": 1, "updatedAt": bench.clock.now(),
        "allowedActions": { "update": true, "enable": true },
    });
    assert_eq!(set.json(), expected);
    let read = bench.get("P/autopilot").await;
    assert_eq!(read.json(), expected);
    assert_eq!(
        (read.header("etag"), set.header("etag")),
        (
            Some(format!("\"{}-1\"", bench.project).as_str()),
            read.header("etag")
        )
    );
    let settings = |record: &Value| {
        json!([
            record["enabled"],
            record["publish_interval_days"],
            record["publish_weekdays"],
            record["version"]
        ])
    };
    for (body, after) in [
        (json!({}), json!([true, 90, [1, 4], 2])),
        (json!({ "publish_interval_days": 1 }), json!([true, 1, [1, 4], 3])),
        (json!({ "publish_weekdays": null }), json!([true, 1, null, 4])),
        (json!({ "enabled": false }), json!([false, 1, null, 5])),
    ] {
        bench.clock.advance(1_000);
        let changed = patch(&bench, body.clone()).await.json();
        assert_eq!(settings(&changed), after, "{body}");
        assert_eq!(changed["updatedAt"], json!(bench.clock.now()));
    }
    let activity = bench.get("P/activity").await.json();
    assert_eq!(activity["data"][0]["action"], "autopilot.update");
}

async fn weekdays_are_numbers_or_names(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for (sent, numbers) in [
        (json!([0]), json!([0])),
        (json!([7]), json!([0])),
        (json!([6, 7, 1]), json!([0, 1, 6])),
        (json!(["Sun", "MONDAY", "tue", 3]), json!([0, 1, 2, 3])),
        (json!([6, 5, 4, 3, 2, 1, 0]), json!([0, 1, 2, 3, 4, 5, 6])),
    ] {
        let set = patch(&bench, json!({ "publish_weekdays": sent })).await.json();
        assert_eq!(set["publish_weekdays"], numbers, "{sent}");
        let names: Vec<&str> = numbers
            .as_array()
            .unwrap()
            .iter()
            .map(|number| WEEK[number.as_u64().unwrap() as usize])
            .collect();
        assert_eq!(set["publish_weekday_names"], json!(names), "{sent}");
    }
    let every = patch(&bench, json!({ "publish_weekdays": null })).await.json();
    assert_eq!(
        (&every["publish_weekdays"], &every["publish_weekday_names"]),
        (&Value::Null, &json!(WEEK))
    );
}

async fn every_invalid_field_is_named(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let before = bench.get("P/autopilot").await.json();
    let weekdays = |days: Value| json!({ "publish_weekdays": days });
    let interval = |days: Value| json!({ "publish_interval_days": days });
    for (body, problem, faults) in [
        (
            weekdays(json!([])),
            "validation_failed",
            json!([["/publish_weekdays", "too_few_items"]]),
        ),
        (
            weekdays(json!("mon")),
            "validation_failed",
            json!([["/publish_weekdays", "wrong_type"]]),
        ),
        (
            weekdays(json!([8])),
            "validation_failed",
            json!([["/publish_weekdays/0", "out_of_range"]]),
        ),
        (
            weekdays(json!([1, -1])),
            "validation_failed",
            json!([["/publish_weekdays/1", "out_of_range"]]),
        ),
        (
            weekdays(json!([1.5])),
            "validation_failed",
            json!([["/publish_weekdays/0", "wrong_type"]]),
        ),
        (
            weekdays(json!([null])),
            "validation_failed",
            json!([["/publish_weekdays/0", "null_not_allowed"]]),
        ),
        (
            weekdays(json!([true])),
            "validation_failed",
            json!([["/publish_weekdays/0", "wrong_type"]]),
        ),
        (
            weekdays(json!([""])),
            "validation_failed",
            json!([["/publish_weekdays/0", "too_short"]]),
        ),
        (
            weekdays(json!(["1"])),
            "validation_failed",
            json!([["/publish_weekdays/0", "not_a_weekday"]]),
        ),
        (
            weekdays(json!(["mon", "montag", "mo"])),
            "validation_failed",
            json!([
                ["/publish_weekdays/1", "not_a_weekday"],
                ["/publish_weekdays/2", "not_a_weekday"]
            ]),
        ),
        (
            weekdays(json!([1, "mon"])),
            "validation_failed",
            json!([["/publish_weekdays/1", "duplicate"]]),
        ),
        (
            weekdays(json!([0, 3, 7])),
            "validation_failed",
            json!([["/publish_weekdays/2", "duplicate"]]),
        ),
        (
            weekdays(json!([0, 1, 2, 3, 4, 5, 6, 7])),
            "too_many_items",
            json!([["/publish_weekdays", "too_many_items"]]),
        ),
        (
            interval(json!(0)),
            "validation_failed",
            json!([["/publish_interval_days", "out_of_range"]]),
        ),
        (
            interval(json!(91)),
            "validation_failed",
            json!([["/publish_interval_days", "out_of_range"]]),
        ),
        (
            interval(json!("7")),
            "validation_failed",
            json!([["/publish_interval_days", "wrong_type"]]),
        ),
        (
            interval(json!(null)),
            "validation_failed",
            json!([["/publish_interval_days", "null_not_allowed"]]),
        ),
        (
            json!({ "enabled": null }),
            "validation_failed",
            json!([["/enabled", "null_not_allowed"]]),
        ),
        (
            json!({ "enabled": "true" }),
            "validation_failed",
            json!([["/enabled", "wrong_type"]]),
        ),
        (
            json!({ "publishWeekdays": [1], "publish_weekday_names": ["monday"] }),
            "unknown_field",
            json!([
                ["/publishWeekdays", "unknown_field"],
                ["/publish_weekday_names", "unknown_field"]
            ]),
        ),
        // What is invalid is named before the state is looked at.
        (
            json!({ "enabled": true, "publish_weekdays": ["x"] }),
            "validation_failed",
            json!([["/publish_weekdays/0", "not_a_weekday"]]),
        ),
    ] {
        let refused = patch(&bench, body.clone()).await.refuses(422, problem);
        let named: Vec<Value> = refused["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fault| json!([fault["pointer"], fault["code"]]))
            .collect();
        assert_eq!(json!(named), faults, "{body}");
    }
    let wrong = patch(&bench, weekdays(json!([true]))).await.json();
    assert_eq!(
        wrong["errors"][0]["detail"],
        "is a boolean, must be an integer or a string"
    );
    assert_eq!(bench.get("P/autopilot").await.json(), before);
}

async fn a_change_with_an_old_etag_is_refused(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let change = async |version: i64, days: i64| {
        let tag = format!("\"{}-{version}\"", bench.project);
        let call = bench.call("PATCH", "P/autopilot").header("if-match", &tag);
        call.json(&json!({ "publish_interval_days": days })).send().await
    };
    assert_eq!(change(0, 1).await.status, 200);
    let refused = change(0, 2).await.refuses(412, "precondition_failed");
    assert_eq!(refused["currentVersion"], 1);
    assert_eq!(change(1, 3).await.json()["publish_interval_days"], 3);
    let (one, two) = tokio::join!(change(2, 4), change(2, 5));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);
}

async fn enabling_needs_an_integration_and_a_keyword(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let enable = async || patch(&bench, json!({ "enabled": true, "publish_interval_days": 3 })).await;
    let refused = enable().await.refuses(409, "invalid_state");
    assert_eq!(refused["missing"], json!(["integration", "keyword"]));
    for (member, words) in [
        ("detail", ["no integration is ready", "no keyword is approved"]),
        ("hint", ["integrations.connect", "approved"]),
    ] {
        let text = refused[member].as_str().unwrap();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
    let id = bench.keyword("desk").await;
    let refused = enable().await.refuses(409, "invalid_state");
    assert_eq!(refused["missing"], json!(["integration"]));
    assert!(
        !refused["hint"].as_str().unwrap().contains("keyword"),
        "{refused}"
    );

    // Connected is not ready: the mapping is missing.
    let files = BTreeMap::from([("folder".to_owned(), "blog".to_owned())]);
    let engine = &bench.server.app.engine;
    engine.connect(bench.project, "files", files).await.unwrap();
    let refused = enable().await.refuses(409, "invalid_state");
    assert_eq!(refused["missing"], json!(["integration"]));
    connect(&bench).await;
    let reject = json!({ "status": "rejected" });
    bench.patch(&format!("P/keywords/{id}"), reject).await;
    let refused = enable().await.refuses(409, "invalid_state");
    assert_eq!(refused["missing"], json!(["keyword"]));

    let read = bench.get("P/autopilot").await.json();
    assert_eq!(
        (&read["enabled"], &read["publish_interval_days"], &read["version"]),
        (&json!(false), &json!(7), &json!(0)),
        "a refusal changes nothing"
    );
    let approve = json!({ "status": "approved" });
    bench.patch(&format!("P/keywords/{id}"), approve).await;
    assert_eq!(enable().await.json()["enabled"], true);

    // Other settings can be changed, and it can be disabled, whatever is missing.
    bench.call("DELETE", "P/integrations/files").send().await;
    let changed = patch(&bench, json!({ "publish_interval_days": 4 })).await.json();
    assert_eq!(
        (&changed["enabled"], &changed["allowedActions"]["enable"]["code"]),
        (&json!(true), &json!("invalid_state"))
    );
    assert_eq!(patch(&bench, json!({ "enabled": false })).await.status, 200);
    enable().await.refuses(409, "invalid_state");
}

async fn a_keyword_with_a_live_post_does_not_count(database: &str) {
    let bench = working(database, "").await;
    connect(&bench).await;
    let keyword = bench.keyword("desk").await;
    let body = json!({ "title": "Oak", "content": "Some *text*.", "keywordId": keyword });
    let made = bench.post("P/posts", body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let post = made.json()["id"].as_str().unwrap().to_owned();
    publish(&bench, &post, json!({})).await;
    let live = settled(&bench, &post).await;
    assert_eq!(live["isLive"], true, "{live:#}");
    let approve = json!({ "status": "approved" });
    let approved = bench.patch(&format!("P/keywords/{keyword}"), approve).await;
    assert_eq!(approved.json()["status"], "approved", "{approved:?}");
    let enable = async || patch(&bench, json!({ "enabled": true })).await;
    let refused = enable().await.refuses(409, "invalid_state");
    assert_eq!(refused["missing"], json!(["keyword"]));
    bench.keyword("chair").await;
    assert_eq!(enable().await.status, 200);
}

async fn settings_are_the_projects_own(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (foreign, key) = bench.neighbour().await;
    patch(&bench, json!({ "publish_interval_days": 2 })).await;
    let path = format!("/projects/{foreign}/autopilot");
    for call in [
        bench.call("GET", &path),
        bench.call("PATCH", &path).json(&json!({ "enabled": false })),
    ] {
        call.send().await.refuses(403, "project_forbidden");
    }
    let theirs = bench.call("GET", &path).key(&key).send().await.json();
    assert_eq!(
        (&theirs["publish_interval_days"], &theirs["version"]),
        (&json!(7), &json!(0))
    );
}

async fn scopes_decide_who_reads_and_writes(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let reader = bench.key_for(bench.project, &["autopilot:read"]).await;
    let read = bench.call("GET", "P/autopilot").key(&reader).send().await.json();
    for action in ["update", "enable"] {
        assert_eq!(read["allowedActions"][action]["code"], "insufficient_scope");
    }
    let change = |key: &str| {
        let call = bench.call("PATCH", "P/autopilot").key(key);
        call.json(&json!({ "publish_interval_days": 2 })).send()
    };
    let refused = change(&reader).await.refuses(403, "insufficient_scope");
    assert_eq!(refused["scope"], "autopilot:write");
    let writer = bench.key_for(bench.project, &["autopilot:write"]).await;
    assert_eq!(change(&writer).await.status, 200);
    let other = bench.key_for(bench.project, &["keywords:write"]).await;
    let refused = bench.call("GET", "P/autopilot").key(&other).send().await;
    assert_eq!(
        refused.refuses(403, "insufficient_scope")["scope"],
        "autopilot:read"
    );
}

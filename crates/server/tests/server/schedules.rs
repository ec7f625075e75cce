//! Schedules: their settings, and ticks that start what is due.

use searchwright_contract::{
    Clock,
    people::{AutonomyAction, Role},
};
use searchwright_engine::schedules::tick as tick_of;
use searchwright_server::serve;
use searchwright_store::sql;
use serde_json::{Value, json};

use crate::{
    audited::{bench_by, page},
    harness::{Answer, Bench, now, settings},
    oauth::Agent,
    post_generation::until_ended,
    visibility_runs::with_engine,
};

on_both!(
    a_project_that_has_set_nothing_has_all_kinds_off,
    settings_are_kept_until_they_are_changed,
    every_invalid_field_is_named,
    posts_belong_to_the_autopilot,
    a_change_with_an_old_etag_is_refused,
    visibility_needs_an_engine_prompts_and_a_limit,
    metrics_need_a_provider,
    a_slot_starts_one_audit_whoever_ticks,
    a_downtime_of_hours_is_made_up_for_and_one_of_days_is_not,
    slots_are_local_times,
    the_zone_of_the_project_plans_anew,
    a_clock_that_was_ahead_loses_no_slot,
    an_interval_counts_from_what_was_started,
    refused_starts_are_outcomes,
    a_failing_project_does_not_stop_the_others,
    a_run_asks_every_prompt_within_its_limit,
    a_scheduled_run_keeps_to_the_engines_of_each_prompt,
    metrics_go_by_age_and_market,
    scopes_decide_who_reads_and_writes,
    agents_need_autonomy_for_what_spends,
    slots_are_kept_for_400_days,
    a_scheduled_audit_says_what_is_new,
);

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

async fn patch(bench: &Bench, kind: &str, body: Value) -> Answer {
    bench.patch(&format!("P/schedules/{kind}"), body).await
}

async fn set(bench: &Bench, kind: &str, body: Value) -> Value {
    let set = patch(bench, kind, body).await;
    assert_eq!(set.status, 200, "{set:?}");
    set.json()
}

async fn read(bench: &Bench, kind: &str) -> Value {
    let list = bench.get("P/schedules").await.json();
    let mut data = list["data"].as_array().unwrap().iter();
    data.find(|schedule| schedule["kind"] == kind).unwrap().clone()
}

async fn tick(bench: &Bench) {
    tick_of(&bench.server.app.engine).await.unwrap();
}

/// Time and outcome of the last slot, and time of the next.
async fn state(bench: &Bench, kind: &str) -> Value {
    let schedule = read(bench, kind).await;
    json!([schedule["last_at"], schedule["last_outcome"], schedule["next_at"]])
}

async fn audits(bench: &Bench) -> Vec<Value> {
    bench.get("P/audits?limit=100").await.json()["data"]
        .as_array()
        .unwrap()
        .clone()
}

/// Cancels what a worker would have ended meanwhile.
async fn cancel_audit(bench: &Bench) {
    let queued = bench.get("P/audits?status=queued").await.json();
    for audit in queued["data"].as_array().unwrap() {
        let path = format!("P/audits/{}/cancel", audit["id"].as_str().unwrap());
        let canceled = bench.post(&path, json!({})).await;
        assert_eq!(canceled.status, 200, "{canceled:?}");
    }
}

async fn prompt(bench: &Bench, body: Value) -> String {
    let created = bench.post("P/visibility/prompts", body).await;
    assert_eq!(created.status, 201, "{created:?}");
    created.json()["id"].as_str().unwrap().to_owned()
}

/// Sets accounts that ask two engines at an address where nobody answers.
async fn engines(bench: &Bench, is_priced: bool) {
    for provider in ["openai", "anthropic"] {
        let mut account = vec![("model".to_owned(), "m".to_owned())];
        if is_priced {
            account.push(("inputPrice".to_owned(), "1".to_owned()));
            account.push(("outputPrice".to_owned(), "4".to_owned()));
            account.push(("searchPrice".to_owned(), "0.01".to_owned()));
        }
        bench
            .account(provider, account.into_iter().collect(), "sk-test")
            .await;
    }
}

async fn execute(bench: &Bench, statement: &'static str) {
    let project = bench.project;
    let written = bench
        .server
        .app
        .engine
        .db
        .write(move |tx| Box::pin(async move { sql(statement).bind(project).execute(tx).await }));
    written.await.unwrap();
}

async fn a_project_that_has_set_nothing_has_all_kinds_off(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let list = bench.get("P/schedules").await.json();
    let kinds: Vec<&Value> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["kind"])
        .collect();
    assert_eq!(kinds, ["posts", "audits", "visibility", "metrics"]);
    assert_eq!(
        (&list["nextCursor"], &list["scheduler"]),
        (
            &Value::Null,
            &json!({ "last_tick_at": null, "interval_seconds": 15 })
        )
    );
    let week = [
        "sunday",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
    ];
    let expected = json!({
        "projectId": bench.project, "kind": "audits", "enabled": false, "interval_days": 7, "weekdays": null,
        "weekday_names": week, "time": "09:00", "timezone": null, "samples": null, "max_cost": null, "next_at": null,
        "last_at": null, "last_outcome": null, "last_detail": null, "late_by": null, "version": 0, "updatedAt": null,
        "allowedActions": { "update": true, "enable": true },
    });
    assert_eq!(list["data"][1], expected);
    assert_eq!(
        list["data"][0]["allowedActions"]["update"]["code"],
        "invalid_state"
    );
    tick(&bench).await;
    let list = bench.get("P/schedules").await.json();
    assert_eq!(list["scheduler"]["last_tick_at"], json!(bench.clock.now()));
    assert!(audits(&bench).await.is_empty());
}

async fn settings_are_kept_until_they_are_changed(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let whole = json!({
        "enabled": true, "interval_days": 3, "weekdays": ["thu", 1], "time": "23:59", "timezone": "europe/berlin",
    });
    let changed = set(&bench, "audits", whole).await;
    let expected = json!({
        "projectId": bench.project, "kind": "audits", "enabled": true, "interval_days": 3, "weekdays": [1, 4],
        "weekday_names": ["monday", "thursday"], "time": "23:59", "timezone": "Europe/Berlin", "samples": null,
        "max_cost": null, "next_at": "2026-11-23T22:59:00.000Z", "last_at": null, "last_outcome": null,
        "last_detail": null, "late_by": null, "version": 1, "updatedAt": bench.clock.now(),
        "allowedActions": { "update": true, "enable": true },
    });
    assert_eq!(changed, expected);
    assert_eq!(read(&bench, "audits").await, expected);
    let off = set(
        &bench,
        "audits",
        json!({ "enabled": false, "weekdays": null, "timezone": null }),
    )
    .await;
    assert_eq!(
        [&off["next_at"], &off["weekdays"], &off["timezone"], &off["time"]],
        [&Value::Null, &Value::Null, &Value::Null, &json!("23:59")]
    );
    let activity = bench.get("P/activity").await.json();
    assert_eq!(
        (&activity["data"][0]["action"], &activity["data"][0]["subject"]),
        (&json!("schedules.update"), &json!("audits"))
    );
}

async fn every_invalid_field_is_named(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for (kind, body, faults) in [
        (
            "audits",
            json!({ "interval_days": 0 }),
            json!([["/interval_days", "out_of_range"]]),
        ),
        (
            "audits",
            json!({ "interval_days": 91 }),
            json!([["/interval_days", "out_of_range"]]),
        ),
        (
            "audits",
            json!({ "weekdays": [] }),
            json!([["/weekdays", "too_few_items"]]),
        ),
        (
            "audits",
            json!({ "weekdays": [8] }),
            json!([["/weekdays/0", "out_of_range"]]),
        ),
        (
            "audits",
            json!({ "weekdays": [0, 7] }),
            json!([["/weekdays/1", "duplicate"]]),
        ),
        (
            "audits",
            json!({ "weekdays": ["montag"] }),
            json!([["/weekdays/0", "not_a_weekday"]]),
        ),
        (
            "audits",
            json!({ "time": null }),
            json!([["/time", "null_not_allowed"]]),
        ),
        (
            "audits",
            json!({ "time": "9:00" }),
            json!([["/time", "not_a_time"]]),
        ),
        (
            "audits",
            json!({ "time": "24:00" }),
            json!([["/time", "not_a_time"]]),
        ),
        (
            "audits",
            json!({ "time": "09:60" }),
            json!([["/time", "not_a_time"]]),
        ),
        (
            "audits",
            json!({ "time": "09:00:00" }),
            json!([["/time", "too_long"]]),
        ),
        (
            "audits",
            json!({ "time": "+9:00" }),
            json!([["/time", "not_a_time"]]),
        ),
        (
            "audits",
            json!({ "timezone": "Berlin" }),
            json!([["/timezone", "unknown_time_zone"]]),
        ),
        (
            "audits",
            json!({ "timezone": "" }),
            json!([["/timezone", "unknown_time_zone"]]),
        ),
        (
            "audits",
            json!({ "timezone": "Etc/Unknown" }),
            json!([["/timezone", "unknown_time_zone"]]),
        ),
        (
            "audits",
            json!({ "samples": 2 }),
            json!([["/samples", "not_applicable"]]),
        ),
        (
            "audits",
            json!({ "max_cost": 2 }),
            json!([["/max_cost", "not_applicable"]]),
        ),
        (
            "metrics",
            json!({ "samples": 2 }),
            json!([["/samples", "not_applicable"]]),
        ),
        (
            "visibility",
            json!({ "samples": 6 }),
            json!([["/samples", "out_of_range"]]),
        ),
        (
            "visibility",
            json!({ "max_cost": -1 }),
            json!([["/max_cost", "out_of_range"]]),
        ),
        (
            "visibility",
            json!({ "lateBy": 1 }),
            json!([["/lateBy", "unknown_field"]]),
        ),
        // all at once, before the state is looked at
        (
            "visibility",
            json!({ "enabled": true, "time": "x", "timezone": "y", "weekdays": ["z"] }),
            json!([
                ["/time", "not_a_time"],
                ["/timezone", "unknown_time_zone"],
                ["/weekdays/0", "not_a_weekday"]
            ]),
        ),
    ] {
        let refused = patch(&bench, kind, body.clone()).await;
        assert_eq!(refused.status, 422, "{body}: {refused:?}");
        let refused = refused.json();
        let named: Vec<Value> = refused["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fault| json!([fault["pointer"], fault["code"]]))
            .collect();
        assert_eq!(json!(named), faults, "{body}");
    }
    for kind in ["audits", "visibility", "metrics"] {
        assert_eq!(read(&bench, kind).await["version"], 0);
    }
}

async fn posts_belong_to_the_autopilot(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for kind in ["post", "AUDITS", "%20"] {
        patch(&bench, kind, json!({})).await.refuses(404, "not_found");
    }
    let refused = patch(&bench, "posts", json!({ "enabled": true })).await;
    let refused = refused.refuses(409, "invalid_state");
    assert!(
        refused["hint"].as_str().unwrap().contains("autopilot.update"),
        "{refused}"
    );
}

async fn a_change_with_an_old_etag_is_refused(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let change = async |version: i64, days: i64| {
        let tag = format!("\"{}-audits-{version}\"", bench.project);
        let call = bench.call("PATCH", "P/schedules/audits").header("if-match", &tag);
        call.json(&json!({ "interval_days": days })).send().await
    };
    let first = change(0, 1).await;
    let expected = format!("\"{}-audits-1\"", bench.project);
    assert_eq!(
        (first.status, first.header("etag")),
        (200, Some(expected.as_str()))
    );
    let refused = change(0, 2).await.refuses(412, "precondition_failed");
    assert_eq!(refused["currentVersion"], 1);
    let (one, two) = tokio::join!(change(1, 4), change(1, 5));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);
}

async fn visibility_needs_an_engine_prompts_and_a_limit(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let enable = async |more: Value| {
        let mut body = json!({ "enabled": true });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        patch(&bench, "visibility", body).await
    };
    let refused = enable(json!({})).await.refuses(409, "invalid_state");
    assert_eq!(refused["missing"], json!(["engine", "prompts", "max_cost"]));
    prompt(&bench, json!({ "text": "Which desk?" })).await;
    engines(&bench, false).await;
    let refused = enable(json!({ "max_cost": 1 }))
        .await
        .refuses(409, "invalid_state");
    assert_eq!(refused["missing"], json!(["price"]));
    let action = &read(&bench, "visibility").await["allowedActions"]["enable"];
    assert_eq!(action["code"], "invalid_state");
    engines(&bench, true).await;
    let refused = enable(json!({})).await.refuses(409, "invalid_state");
    assert_eq!(refused["missing"], json!(["max_cost"]));
    let on = enable(json!({ "max_cost": 0.25, "samples": 2 })).await.json();
    assert_eq!(
        [&on["enabled"], &on["max_cost"], &on["samples"], &on["next_at"]],
        [
            &json!(true),
            &json!(0.25),
            &json!(2),
            &json!("2026-11-22T09:00:00.000Z")
        ]
    );
    let refused = patch(&bench, "visibility", json!({ "max_cost": null })).await;
    assert_eq!(
        refused.refuses(409, "invalid_state")["missing"],
        json!(["max_cost"])
    );
    set(
        &bench,
        "visibility",
        json!({ "enabled": false, "max_cost": null }),
    )
    .await;
}

async fn metrics_need_a_provider(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let refused = patch(&bench, "metrics", json!({ "enabled": true })).await;
    assert_eq!(
        refused.refuses(409, "invalid_state")["missing"],
        json!(["provider"])
    );
    bench.account("dataforseo", [].into(), "login:password").await;
    let on = set(&bench, "metrics", json!({ "enabled": true })).await;
    assert_eq!(on["next_at"], "2026-11-22T09:00:00.000Z");
}

async fn a_slot_starts_one_audit_whoever_ticks(database: &str) {
    let bench = Bench::on(database, &[]).await;
    set(&bench, "audits", json!({ "enabled": true, "interval_days": 1 })).await;
    bench.clock.advance(23 * HOUR - 1);
    tick(&bench).await;
    assert!(audits(&bench).await.is_empty(), "a millisecond too early");
    bench.clock.advance(1);
    // several processes where the database allows it, else several ticks of one
    let second = if database.is_empty() {
        None
    } else {
        let settings = settings(&bench.folder, database, &[]);
        Some(serve::start_with(settings, bench.clock.clone()).await.unwrap())
    };
    let engine = &bench.server.app.engine;
    let other = second.as_ref().map_or(engine, |server| &server.app.engine);
    for done in futures_util::future::join_all([engine, other, engine, other].map(tick_of)).await {
        done.unwrap();
    }
    tick(&bench).await;
    let started = audits(&bench).await;
    assert_eq!(started.len(), 1);
    assert_eq!(
        (&started[0]["trigger"], &started[0]["config"]["maxPages"]),
        (&json!("scheduled"), &json!(10_000))
    );
    assert_eq!(
        state(&bench, "audits").await,
        json!(["2026-11-22T09:00:00.000Z", "started", "2026-11-23T09:00:00.000Z"])
    );
    let usage = bench.get("P/usage").await.json();
    let mut quotas = usage["quotas"].as_array().unwrap().iter();
    assert_eq!(
        quotas.find(|quota| quota["metric"] == "audits").unwrap()["used"],
        1
    );
    // turned off and on again, the date has had its slot
    set(&bench, "audits", json!({ "enabled": false })).await;
    let on = set(&bench, "audits", json!({ "enabled": true, "time": "09:30" })).await;
    assert_eq!(on["next_at"], "2026-11-23T09:30:00.000Z");
    if let Some(second) = second {
        second.stop().await;
    }
}

async fn a_downtime_of_hours_is_made_up_for_and_one_of_days_is_not(database: &str) {
    let bench = Bench::on(database, &[]).await;
    set(&bench, "audits", json!({ "enabled": true, "interval_days": 2 })).await;
    bench.clock.advance(23 * HOUR + 3 * HOUR);
    let late = read(&bench, "audits").await;
    assert_eq!(late["late_by"], 3 * 3600);
    tick(&bench).await;
    assert_eq!(
        state(&bench, "audits").await,
        json!(["2026-11-22T09:00:00.000Z", "started", "2026-11-24T09:00:00.000Z"])
    );
    cancel_audit(&bench).await;
    // 24 November and 26 November are missed, and 27 November is two hours late
    bench.clock.advance(5 * DAY - HOUR);
    tick(&bench).await;
    let skipped = read(&bench, "audits").await;
    assert_eq!(
        [
            &skipped["last_at"],
            &skipped["last_outcome"],
            &skipped["next_at"],
            &skipped["late_by"]
        ],
        [
            &json!("2026-11-24T09:00:00.000Z"),
            &json!("skipped_missed"),
            &json!("2026-11-27T09:00:00.000Z"),
            &json!(2 * 3600)
        ]
    );
    assert!(
        skipped["last_detail"].as_str().unwrap().contains("74 hours"),
        "{skipped}"
    );
    assert_eq!(audits(&bench).await.len(), 1);
    tick(&bench).await;
    tick(&bench).await;
    assert_eq!(
        state(&bench, "audits").await,
        json!(["2026-11-27T09:00:00.000Z", "started", "2026-11-29T09:00:00.000Z"])
    );
    assert_eq!(audits(&bench).await.len(), 2, "no burst");
}

async fn slots_are_local_times(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let next = async |time: &str, zone: &str| {
        let body = json!({ "enabled": true, "interval_days": 1, "time": time, "timezone": zone });
        set(&bench, "audits", body).await["next_at"].clone()
    };
    assert_eq!(
        next("09:00", "America/New_York").await,
        "2026-11-21T14:00:00.000Z"
    );
    assert_eq!(next("09:00", "Asia/Tokyo").await, "2026-11-22T00:00:00.000Z");
    // 27 March 2027, the day before the clocks of Berlin go forward at 02:00
    bench.clock.advance(126 * DAY);
    assert_eq!(next("02:30", "Europe/Berlin").await, "2027-03-28T01:30:00.000Z");
    bench.clock.advance(16 * HOUR);
    tick(&bench).await;
    assert_eq!(
        state(&bench, "audits").await,
        json!(["2027-03-28T01:30:00.000Z", "started", "2027-03-29T00:30:00.000Z"])
    );
    // 30 October 2027, the day before they go back at 03:00
    bench.clock.advance(217 * DAY - 16 * HOUR);
    assert_eq!(next("02:15", "Europe/Berlin").await, "2027-10-31T00:15:00.000Z");
}

async fn the_zone_of_the_project_plans_anew(database: &str) {
    let bench = Bench::on(database, &[]).await;
    set(&bench, "audits", json!({ "enabled": true, "interval_days": 1 })).await;
    bench.account("dataforseo", [].into(), "login:password").await;
    let own = json!({ "enabled": true, "interval_days": 1, "timezone": "UTC" });
    set(&bench, "metrics", own).await;
    execute(
        &bench,
        "UPDATE projects SET timezone = 'America/New_York' WHERE id = $1",
    )
    .await;
    tick(&bench).await;
    let next = async |kind| read(&bench, kind).await["next_at"].clone();
    assert_eq!(next("audits").await, "2026-11-21T14:00:00.000Z");
    assert_eq!(
        next("metrics").await,
        "2026-11-22T09:00:00.000Z",
        "it has a zone of its own"
    );
    bench.clock.advance(4 * HOUR);
    tick(&bench).await;
    assert_eq!(audits(&bench).await.len(), 1);
    // where 21 November is not over, it has had its slot
    execute(
        &bench,
        "UPDATE projects SET timezone = 'Pacific/Honolulu' WHERE id = $1",
    )
    .await;
    tick(&bench).await;
    assert_eq!(next("audits").await, "2026-11-22T19:00:00.000Z");
    assert_eq!(audits(&bench).await.len(), 1);
}

async fn a_clock_that_was_ahead_loses_no_slot(database: &str) {
    let bench = Bench::on(database, &[]).await;
    set(&bench, "audits", json!({ "enabled": true, "interval_days": 1 })).await;
    bench.clock.advance(23 * HOUR + 10 * DAY);
    tick(&bench).await;
    tick(&bench).await;
    assert_eq!(
        state(&bench, "audits").await,
        json!(["2026-12-02T09:00:00.000Z", "started", "2026-12-03T09:00:00.000Z"])
    );
    cancel_audit(&bench).await;
    // set right again, an hour before the slot of 23 November
    bench.clock.advance(-10 * DAY + 23 * HOUR);
    tick(&bench).await;
    assert_eq!(
        read(&bench, "audits").await["next_at"],
        "2026-11-23T09:00:00.000Z"
    );
    assert_eq!(audits(&bench).await.len(), 1);
    let mut dates = Vec::new();
    for _ in 0..11 {
        bench.clock.advance(DAY);
        tick(&bench).await;
        let schedule = read(&bench, "audits").await;
        dates.push(schedule["last_at"].as_str().unwrap()[..10].to_owned());
        cancel_audit(&bench).await;
    }
    // 2 December was used by the wrong clock
    let expected: Vec<String> = (23..=30)
        .map(|day| format!("2026-11-{day}"))
        .chain(["2026-12-01", "2026-12-01", "2026-12-03"].map(str::to_owned))
        .collect();
    assert_eq!(dates, expected);
    assert_eq!(audits(&bench).await.len(), 11);
}

async fn an_interval_counts_from_what_was_started(database: &str) {
    let bench = Bench::on(database, &[]).await;
    set(&bench, "audits", json!({ "enabled": true, "interval_days": 7 })).await;
    bench.post("P/audits", json!({})).await;
    bench.clock.advance(23 * HOUR);
    tick(&bench).await;
    let refused = read(&bench, "audits").await;
    assert_eq!(
        [
            &refused["last_outcome"],
            &refused["last_detail"],
            &refused["next_at"]
        ],
        [
            &json!("already_running"),
            &json!("an audit was running"),
            &json!("2026-11-23T09:00:00.000Z")
        ]
    );
    tick(&bench).await;
    assert_eq!(
        audits(&bench).await.len(),
        1,
        "it is not tried again before the next slot"
    );
    cancel_audit(&bench).await;
    bench.clock.advance(DAY);
    tick(&bench).await;
    assert_eq!(
        state(&bench, "audits").await,
        json!(["2026-11-23T09:00:00.000Z", "started", "2026-11-30T09:00:00.000Z"])
    );
    // manual audits do not move it
    cancel_audit(&bench).await;
    bench.post("P/audits", json!({})).await;
    tick(&bench).await;
    assert_eq!(
        read(&bench, "audits").await["next_at"],
        "2026-11-30T09:00:00.000Z"
    );
}

async fn refused_starts_are_outcomes(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let id = prompt(&bench, json!({ "text": "Which desk?" })).await;
    engines(&bench, true).await;
    let on = json!({ "enabled": true, "interval_days": 1, "max_cost": 1 });
    set(&bench, "visibility", on).await;
    let engine = &bench.server.app.engine;
    engine
        .set_quota(bench.project, "answers_tracked", Some(1))
        .await
        .unwrap();
    let outcome = async || {
        tick(&bench).await;
        tick(&bench).await;
        let schedule = read(&bench, "visibility").await;
        assert_eq!(bench.get("P/visibility/runs").await.json()["data"], json!([]));
        let word = |name: &str| schedule[name].as_str().unwrap().to_owned();
        (word("last_at"), word("last_outcome"), word("last_detail"))
    };
    bench.clock.advance(23 * HOUR);
    let (at, word, detail) = outcome().await;
    assert_eq!((&*at, &*word), ("2026-11-22T09:00:00.000Z", "failed"));
    assert!(detail.contains("0 of 1 answers_tracked are used"), "{detail}");
    engine
        .set_quota(bench.project, "answers_tracked", None)
        .await
        .unwrap();

    // a limit that allows no answer
    set(&bench, "visibility", json!({ "max_cost": 0.000001 })).await;
    bench.clock.advance(DAY);
    let (at, word, detail) = outcome().await;
    assert_eq!((&*at, &*word), ("2026-11-23T09:00:00.000Z", "failed"));
    assert!(detail.contains("allows no answer"), "{detail}");

    let archived = bench
        .patch(
            &format!("P/visibility/prompts/{id}"),
            json!({ "status": "archived" }),
        )
        .await;
    assert_eq!(archived.status, 200, "{archived:?}");
    bench.clock.advance(DAY);
    let (_, word, detail) = outcome().await;
    assert_eq!((&*word, &*detail), ("nothing_to_do", "no prompt is active"));

    bench.account("dataforseo", [].into(), "login:password").await;
    set(&bench, "metrics", json!({ "enabled": true, "interval_days": 1 })).await;
    bench.clock.advance(DAY);
    tick(&bench).await;
    let metrics = read(&bench, "metrics").await;
    assert_eq!(
        (&metrics["last_outcome"], &metrics["last_detail"]),
        (&json!("nothing_to_do"), &json!("the project has no keywords"))
    );
    execute(&bench, "DELETE FROM providers WHERE project_id = $1").await;
    bench.keyword("desk").await;
    bench.clock.advance(DAY);
    tick(&bench).await;
    let metrics = read(&bench, "metrics").await;
    assert_eq!(
        (&metrics["last_outcome"], &metrics["last_detail"]),
        (&json!("failed"), &json!("no account has metrics of keywords"))
    );
}

async fn a_failing_project_does_not_stop_the_others(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (other, key) = bench.neighbour().await;
    let on = json!({ "enabled": true, "time": "09:01" });
    set(&bench, "audits", json!({ "enabled": true })).await;
    let path = format!("/projects/{other}/schedules/audits");
    assert_eq!(
        bench.call("PATCH", &path).key(&key).json(&on).send().await.status,
        200
    );
    execute(
        &bench,
        "UPDATE projects SET timezone = 'Nowhere/Land' WHERE id = $1",
    )
    .await;
    bench.clock.advance(DAY);
    tick(&bench).await;
    let path = format!("/projects/{other}/audits");
    let started = bench.call("GET", &path).key(&key).send().await.json();
    assert_eq!(started["data"].as_array().unwrap().len(), 1);
    assert_eq!(read(&bench, "audits").await["late_by"], 3600, "it is shown");
    execute(&bench, "UPDATE projects SET timezone = 'UTC' WHERE id = $1").await;
    tick(&bench).await;
    assert_eq!(audits(&bench).await.len(), 1);
}

async fn a_run_asks_every_prompt_within_its_limit(database: &str) {
    let bench = Bench::on(database, &[]).await;
    engines(&bench, true).await;
    let all = prompt(&bench, json!({ "text": "Which desk suits a small room?" })).await;
    let one = prompt(
        &bench,
        json!({ "text": "Which desk is cheap?", "engines": ["claude"] }),
    )
    .await;
    let gone = prompt(&bench, json!({ "text": "Which desk is best?" })).await;
    prompt(
        &bench,
        json!({ "text": "Which desk is red?", "engines": ["grok"] }),
    )
    .await;
    bench
        .patch(
            &format!("P/visibility/prompts/{gone}"),
            json!({ "status": "archived" }),
        )
        .await;
    let on = json!({ "enabled": true, "interval_days": 1, "max_cost": 0.5, "samples": 2 });
    set(&bench, "visibility", on).await;
    bench.clock.advance(23 * HOUR);
    tick(&bench).await;
    tick(&bench).await;
    let runs = bench.get("P/visibility/runs").await.json();
    assert_eq!(runs["data"].as_array().unwrap().len(), 1, "{runs:#}");
    let run = &runs["data"][0];
    assert_eq!(
        [
            &run["trigger"],
            &run["status"],
            &run["samples"],
            &run["requestedBy"],
            &run["engines"]
        ],
        [
            &json!("scheduled"),
            &json!("queued"),
            &json!(2),
            &Value::Null,
            &json!(["chatgpt", "claude"])
        ]
    );
    assert_eq!(
        run["promptIds"],
        json!([one, all]),
        "neither {gone} nor the one for an engine that is not there"
    );
    assert!(run["estimatedCost"]["high"].as_f64().unwrap() <= 0.5, "{run}");
    // two prompts, of which one goes to two engines, twice each
    let usage = bench.get("P/usage").await.json();
    let mut quotas = usage["quotas"].as_array().unwrap().iter();
    let tracked = quotas.find(|quota| quota["metric"] == "answers_tracked").unwrap();
    assert_eq!(tracked["used"], 6);
    bench.clock.advance(DAY);
    tick(&bench).await;
    assert_eq!(
        read(&bench, "visibility").await["last_outcome"],
        "already_running"
    );
}

async fn a_scheduled_run_keeps_to_the_engines_of_each_prompt(database: &str) {
    let (bench, asked) = with_engine(database, true).await;
    let desk = prompt(
        &bench,
        json!({ "text": "Which standing desk suits a small room?" }),
    )
    .await;
    prompt(
        &bench,
        json!({ "text": "Which desk is red?", "engines": ["grok"] }),
    )
    .await;
    set(&bench, "visibility", json!({ "enabled": true, "max_cost": 1 })).await;
    bench.clock.advance(23 * HOUR);
    tick(&bench).await;
    let run = loop {
        let run = bench.get("P/visibility/runs").await.json()["data"][0].clone();
        if run["finishedAt"].is_string() {
            break run;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(
        [
            &run["status"],
            &run["trigger"],
            &run["promptIds"],
            &run["outcomes"][0]["answers"]
        ],
        [
            &json!("completed"),
            &json!("scheduled"),
            &json!([desk]),
            &json!(1)
        ]
    );
    assert_eq!(asked.count(), 1);
    let events = bench.get("P/events?limit=100").await.json();
    let mut events = events["data"].as_array().unwrap().iter();
    let completed = events
        .find(|event| event["type"] == "visibility.run_completed")
        .unwrap();
    assert_eq!(completed["data"]["trigger"], "scheduled");
}

async fn metrics_go_by_age_and_market(database: &str) {
    let bench = Bench::on(database, &[]).await;
    bench.account("dataforseo", [].into(), "login:password").await;
    for (text, country) in [("desk", "US"), ("chair", "US"), ("tisch", "DE")] {
        let added = bench
            .post("P/keywords", json!({ "keyword": text, "country": country }))
            .await;
        assert_eq!(added.status, 201, "{added:?}");
    }
    let rejected = bench.keyword("rejected").await;
    bench
        .patch(&format!("P/keywords/{rejected}"), json!({ "status": "rejected" }))
        .await;
    let on = json!({ "enabled": true, "interval_days": 1, "max_cost": 0.3 });
    set(&bench, "metrics", on).await;
    bench.clock.advance(23 * HOUR);
    tick(&bench).await;
    let jobs = bench.get("P/jobs").await.json();
    let kinds: Vec<&Value> = jobs["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| &job["type"])
        .collect();
    assert_eq!(
        kinds,
        ["keyword_metrics", "keyword_metrics"],
        "one for each market"
    );
    let usage = bench.get("P/usage").await.json();
    let mut quotas = usage["quotas"].as_array().unwrap().iter();
    assert_eq!(
        quotas.find(|quota| quota["metric"] == "keyword_metrics").unwrap()["used"],
        3
    );
    assert_eq!(
        state(&bench, "metrics").await,
        json!(["2026-11-22T09:00:00.000Z", "started", "2026-11-23T09:00:00.000Z"])
    );
    bench.clock.advance(DAY);
    tick(&bench).await;
    assert_eq!(read(&bench, "metrics").await["last_outcome"], "already_running");
}

async fn scopes_decide_who_reads_and_writes(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for (scope, kinds) in [
        ("audits:read", json!(["audits"])),
        ("visibility:write", json!(["visibility"])),
        ("keywords:read", json!(["metrics"])),
        ("autopilot:read", json!(["posts"])),
        ("posts:read", json!([])),
    ] {
        let key = bench.key_for(bench.project, &[scope]).await;
        let list = bench.call("GET", "P/schedules").key(&key).send().await.json();
        let named: Vec<&Value> = list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["kind"])
            .collect();
        assert_eq!(json!(named), kinds, "{scope}");
        for kind in ["audits", "visibility", "metrics"] {
            let path = format!("P/schedules/{kind}");
            let refused = bench.call("PATCH", &path).key(&key).json(&json!({})).send().await;
            refused.refuses(403, "insufficient_scope");
        }
    }
    for (kind, scope) in [
        ("audits", "audits:write"),
        ("visibility", "visibility:track"),
        ("metrics", "content:generate"),
    ] {
        let key = bench.key_for(bench.project, &[scope]).await;
        let path = format!("P/schedules/{kind}");
        let changed = bench.call("PATCH", &path).key(&key).json(&json!({})).send().await;
        assert_eq!(changed.status, 200, "{changed:?}");
    }
    let (other, _) = bench.neighbour().await;
    for call in [
        bench.call("GET", &format!("/projects/{other}/schedules")),
        bench
            .call("PATCH", &format!("/projects/{other}/schedules/audits"))
            .json(&json!({})),
    ] {
        call.send().await.refuses(403, "project_forbidden");
    }
}

async fn agents_need_autonomy_for_what_spends(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Owner).await;
    let scopes = "projects:read audits:write visibility:track content:generate";
    let tokens = agent.tokens(&[("scope", scopes)]).await;
    let access = tokens["access_token"].as_str().unwrap();
    let change = async |kind: &str| {
        let path = format!("P/schedules/{kind}");
        let call = bench.call("PATCH", &path).key(access);
        call.json(&json!({ "interval_days": 3 })).send().await
    };
    assert_eq!(change("audits").await.status, 200);
    assert_eq!(change("metrics").await.status, 200);
    change("visibility").await.refuses(403, "agent_autonomy_required");
    let people = &bench.server.app.people;
    let action = AutonomyAction::Track;
    people
        .set_autonomy(bench.project, action, true, Some(1), None)
        .await
        .unwrap();
    assert_eq!(change("visibility").await.status, 200);
    change("visibility").await.refuses(403, "agent_autonomy_required");
}

async fn slots_are_kept_for_400_days(database: &str) {
    let bench = Bench::on(database, &[]).await;
    set(&bench, "audits", json!({ "enabled": true })).await;
    bench.clock.advance(23 * HOUR);
    tick(&bench).await;
    let delete = async |before| {
        let deleted = bench.server.app.engine.db.write(move |tx| {
            Box::pin(async move { searchwright_store::schedules::delete_old_slots(tx, before).await })
        });
        deleted.await.unwrap()
    };
    assert_eq!(delete(bench.clock.now()).await, 0);
    assert_eq!(delete(bench.clock.now().plus_millis(1)).await, 1);
}

async fn a_scheduled_audit_says_what_is_new(database: &str) {
    let (bench, site) = bench_by(database, "", Clock::fixed(now())).await;
    let opened = async || {
        let all = bench.get("P/events?limit=100&event=issue.opened").await.json();
        all["data"].as_array().unwrap().clone()
    };
    let by_hand = opened().await;
    assert!(!by_hand.is_empty() && by_hand.iter().all(|event| event["data"]["counts"].is_null()));
    set(&bench, "audits", json!({ "enabled": true, "interval_days": 1 })).await;
    site.put(
        "/b",
        200,
        &page(
            "<title>Two pages share this very title</title><h1></h1><h1></h1>",
            &["/"],
        ),
    );
    bench.clock.advance(DAY);
    tick(&bench).await;
    let started = bench.get("P/audits/current").await.json();
    assert_eq!(started["trigger"], "scheduled", "{started:#}");
    let jobs = bench.get("P/jobs").await.json();
    let jobs = jobs["data"].as_array().unwrap();
    let job = jobs
        .iter()
        .find(|job| job["type"] == "audit")
        .unwrap_or_else(|| panic!("{jobs:#?}"));
    until_ended(&bench, job["id"].as_str().unwrap()).await;
    let done = bench.get("P/audits/current").await.json();
    let all = opened().await;
    let new = &all[by_hand.len()..];
    assert!(!new.is_empty(), "{all:#?}");
    for event in new {
        let counts = &event["data"]["counts"];
        assert_eq!(event["data"]["auditId"], done["id"]);
        for count in ["errors", "warnings", "notices", "issues"] {
            assert_eq!(counts[count], done["totals"][count], "{count}: {done:#}");
        }
        assert!(
            counts["newOccurrences"].as_u64().unwrap() >= new.len() as u64,
            "{counts:#}"
        );
    }
}

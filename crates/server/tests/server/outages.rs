//! Providers that are down when the time of a post comes, and slots that are used late because of it.

use searchwright_contract::Instant;
use serde_json::{Value, json};

use crate::{
    autopilot_runs::{self, enable, get_run, pass_to, text, tick, written},
    blog::Fault,
    harness::Bench,
    publishing::{read, start, until, write},
};

on_both!(
    a_scheduled_post_waits_for_a_provider_that_is_busy,
    a_provider_that_does_not_come_back_is_given_up_before_the_next_day,
    a_slot_waits_for_its_provider_and_says_so,
    turning_the_autopilot_off_withdraws_a_post_that_waits,
    a_slot_that_is_used_after_midnight_leaves_no_room_for_another_post_on_that_day,
);

const HOUR: i64 = 3_600_000;

/// Schedules a post an hour ahead and lets the hour pass.
async fn come_due(bench: &Bench, title: &str) -> String {
    let id = write(bench, title).await;
    let at = bench.clock.now().plus_millis(HOUR);
    let body = json!({ "status": "scheduled", "scheduledAt": at });
    let scheduled = bench.patch(&format!("P/posts/{id}"), body).await;
    assert_eq!(scheduled.status, 200, "{scheduled:?}");
    bench.clock.advance(HOUR);
    bench.server.app.engine.wake.notify_one();
    id
}

/// Times of jobs that wait for the next try of a publication.
async fn waiting(bench: &Bench) -> Vec<Instant> {
    let jobs = bench.get("P/jobs?status=queued&limit=100").await.json();
    let times = jobs["data"].as_array().unwrap().iter();
    times
        .filter(|job| job["type"] == "publish_post")
        .filter_map(|job| serde_json::from_value(job["runAfter"].clone()).ok())
        .filter(|at| *at > bench.clock.now())
        .collect()
}

/// Waits until the publication of a post has an end, or waits for its next try.
async fn until_it_waits(bench: &Bench, id: &str) -> Option<Instant> {
    loop {
        let post = read(bench, id).await;
        if post["status"] != "publishing" && post["status"] != "scheduled" {
            return None;
        }
        if let Some(at) = waiting(bench).await.pop() {
            return Some(at);
        }
        tokio::task::yield_now().await;
    }
}

/// Lets time pass whenever the publication of a post waits, until it has an end.
async fn wait_through(bench: &Bench, id: &str) -> Value {
    while let Some(at) = until_it_waits(bench, id).await {
        bench.clock.advance(at.millis() - bench.clock.now().millis());
        bench.server.app.engine.wake.notify_one();
    }
    read(bench, id).await
}

async fn a_scheduled_post_waits_for_a_provider_that_is_busy(database: &str) {
    let (bench, blog) = start(database).await;
    blog.fails(&[Fault::Refuses(429); 12]);
    let id = come_due(&bench, "Oak").await;
    let begun = bench.clock.now();
    let post = wait_through(&bench, &id).await;
    assert_eq!(
        (&post["status"], blog.posts().len(), blog.writes()),
        (&json!("published"), 1, 13),
        "{post:#}"
    );
    let minutes = (bench.clock.now().millis() - begun.millis()) / 60_000;
    assert!((5..60).contains(&minutes), "{minutes} minutes");
}

async fn a_provider_that_does_not_come_back_is_given_up_before_the_next_day(database: &str) {
    let (bench, blog) = start(database).await;
    blog.fails(&[Fault::Refuses(429); 200]);
    let id = come_due(&bench, "Oak").await;
    let begun = bench.clock.now();
    let post = wait_through(&bench, &id).await;
    assert_eq!(
        (&post["status"], blog.posts().len()),
        (&json!("failed"), 0),
        "{post:#}"
    );
    let hours = (bench.clock.now().millis() - begun.millis()) / HOUR;
    assert_eq!(hours, 20);
}

async fn a_slot_waits_for_its_provider_and_says_so(database: &str) {
    let (bench, blog) = autopilot_runs::start(database).await;
    enable(&bench, json!({ "mode": "auto", "hold_hours": 0 })).await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    blog.fails(&[Fault::Refuses(429); 12]);
    let at: Instant = serde_json::from_value(run["slotAt"].clone()).unwrap();
    bench.clock.advance(at.millis() - bench.clock.now().millis());
    bench.server.app.engine.wake.notify_one();
    assert!(until_it_waits(&bench, &post).await.is_some());
    tick(&bench).await;
    let waits = get_run(&bench, &run).await;
    assert_eq!(waits["outcome"], "publishing", "{waits:#}");
    assert!(text(&waits, "detail").contains("tried again"), "{waits:#}");
    let live = wait_through(&bench, &post).await;
    assert_eq!(
        (&live["status"], blog.posts().len()),
        (&json!("published"), 1),
        "{live:#}"
    );
    bench.clock.advance(HOUR);
    tick(&bench).await;
    let done = get_run(&bench, &run).await;
    assert_eq!(done["outcome"], "published", "{done:#}");
}

async fn turning_the_autopilot_off_withdraws_a_post_that_waits(database: &str) {
    let (bench, blog) = autopilot_runs::start(database).await;
    enable(&bench, json!({ "mode": "auto", "hold_hours": 0 })).await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    blog.fails(&[Fault::Refuses(429); 5]);
    let at: Instant = serde_json::from_value(run["slotAt"].clone()).unwrap();
    bench.clock.advance(at.millis() - bench.clock.now().millis());
    bench.server.app.engine.wake.notify_one();
    assert!(until_it_waits(&bench, &post).await.is_some());
    let off = bench.patch("P/autopilot", json!({ "enabled": false })).await;
    assert_eq!(off.status, 200, "{off:?}");
    assert_eq!(get_run(&bench, &run).await["outcome"], "canceled");
    assert_eq!(waiting(&bench).await, []);
    let kept = until(&bench, &post, |post| post["status"] != "publishing").await;
    assert_eq!(
        (&kept["status"], &kept["failure"]["code"], blog.posts().len()),
        (&json!("failed"), &json!("canceled"), 0),
        "{kept:#}"
    );
}

async fn a_slot_that_is_used_after_midnight_leaves_no_room_for_another_post_on_that_day(database: &str) {
    let (bench, _blog) = autopilot_runs::start(database).await;
    bench.keyword("oak shelf").await;
    let evening = json!({ "mode": "auto", "hold_hours": 0, "publish_time": "20:00" });
    enable(&bench, evening).await;
    let first = written(&bench).await;
    assert_eq!(first["slotAt"], "2026-11-21T20:00:00.000Z", "{first:#}");
    // the server is down until the morning
    let late = pass_to(&bench, "2026-11-22T08:00:00.000Z", text(&first, "postId")).await;
    assert_eq!(
        (&late["status"], &late["publishedAt"]),
        (&json!("published"), &json!("2026-11-22T08:00:00.000Z"))
    );
    let second = written(&bench).await;
    assert_eq!(
        (&second["outcome"], &second["slotAt"]),
        (&json!("scheduled"), &json!("2026-11-22T20:00:00.000Z")),
        "{second:#}"
    );
    let post = text(&second, "postId").to_owned();
    bench.clock.advance(12 * HOUR);
    bench.server.app.engine.wake.notify_one();
    let moved = until(&bench, &post, |post| {
        post["scheduledAt"] != "2026-11-22T20:00:00.000Z"
    })
    .await;
    assert_eq!(
        (&moved["status"], &moved["scheduledAt"]),
        (&json!("scheduled"), &json!("2026-11-23T20:00:00.000Z")),
        "{moved:#}"
    );
    let live = pass_to(&bench, "2026-11-23T20:00:00.000Z", &post).await;
    assert_eq!(live["status"], "published", "{live:#}");
}

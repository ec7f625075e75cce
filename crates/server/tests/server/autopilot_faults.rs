//! Events that may befall a post of the autopilot between two of its steps.

use searchwright_contract::people::Role;
use searchwright_server::people::projects::ProjectChange;
use serde_json::{Value, json};

use crate::{
    autopilot_runs::{
        DAY, HOUR, approvals, decide, enable, get_run, newest, pass_to, runs, signed_in, start, text, tick,
        written,
    },
    blog::{Blog, Fault},
    post_generation::until_ended,
    post_providers::{self, Says, account},
    publishing::{connect_blog, publish, read, settled, until, working, write},
};

on_both!(
    what_failed_and_is_published_by_hand_counts,
    a_change_of_the_times_moves_what_is_prepared,
    a_change_for_the_worse_is_asked_about_without_a_hold_too,
    a_new_time_zone_of_the_project_moves_what_is_prepared,
    a_first_text_waits_for_a_person_when_the_second_fails,
    an_edit_is_not_written_over,
    a_post_taken_back_before_it_was_looked_at_did_not_fail,
    a_sensitive_topic_waits_for_a_person,
    only_a_person_raises_the_cap_above_the_volume_of_the_site,
);

const SLOT: &str = "2026-11-22T09:00:00.000Z";

async fn what_failed_and_is_published_by_hand_counts(database: &str) {
    let (bench, blog) = start(database).await;
    enable(&bench, json!({ "publish_interval_days": 5 })).await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    decide(&ann, &approvals(&bench).await[0], "approve").await;
    blog.fails(&[Fault::Refuses(400)]);
    let failed = pass_to(&bench, SLOT, &post).await;
    assert_eq!(failed["status"], "failed", "{failed:#}");
    assert_eq!(get_run(&bench, &run).await["outcome"], "failed");
    let before = bench.get("P/autopilot").await.json();
    publish(&bench, &post, json!({})).await;
    assert_eq!(settled(&bench, &post).await["status"], "published");
    tick(&bench).await;
    bench.clock.advance(2 * HOUR);
    tick(&bench).await;
    let run = get_run(&bench, &run).await;
    assert_eq!(run["outcome"], "published", "{run:#}");
    let state = bench.get("P/autopilot").await.json();
    assert!(state["last_publish_at"].is_string(), "{state:#}");
    assert_eq!(state["consecutive_failures"], 0);
    // the interval counts from it
    assert_eq!(
        (&before["next_publish_at"], &state["next_publish_at"]),
        (
            &json!("2026-11-23T09:00:00.000Z"),
            &json!("2026-11-27T09:00:00.000Z")
        )
    );
}

async fn a_change_of_the_times_moves_what_is_prepared(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    decide(&ann, &approvals(&bench).await[0], "approve").await;
    let moved = async |body: Value| {
        let set = bench.patch("P/autopilot", body).await;
        assert_eq!(set.status, 200, "{set:?}");
        let run = get_run(&bench, &run).await;
        let scheduled = read(&bench, &post).await["scheduledAt"].clone();
        let approval = &approvals(&bench).await[0];
        assert_eq!(
            (&run["slotAt"], &run["slotAt"], &approval["status"]),
            (&scheduled, &approval["publishAt"], &json!("approved")),
            "{run:#}"
        );
        run["slotAt"].clone()
    };
    // a Sunday
    assert_eq!(
        moved(json!({ "publish_time": "15:30" })).await,
        "2026-11-22T15:30:00.000Z"
    );
    assert_eq!(
        moved(json!({ "timezone": "America/New_York" })).await,
        "2026-11-22T20:30:00.000Z"
    );
    assert_eq!(
        moved(json!({ "publish_weekdays": ["tue", "fri"] })).await,
        "2026-11-24T20:30:00.000Z"
    );
    // nothing to move
    assert_eq!(
        moved(json!({ "min_score": 10 })).await,
        "2026-11-24T20:30:00.000Z"
    );
    let state = bench.get("P/autopilot").await.json();
    assert_eq!(state["next_publish_at"], "2026-11-24T20:30:00.000Z", "{state:#}");
    // what a caller has put on another time stays there
    let body = json!({ "scheduledAt": "2026-11-26T08:00:00.000Z" });
    assert_eq!(bench.patch(&format!("P/posts/{post}"), body).await.status, 200);
    tick(&bench).await;
    let set = bench
        .patch("P/autopilot", json!({ "publish_time": "10:00" }))
        .await;
    assert_eq!(set.status, 200, "{set:?}");
    assert_eq!(
        read(&bench, &post).await["scheduledAt"],
        "2026-11-26T08:00:00.000Z"
    );
    assert_eq!(runs(&bench).await.len(), 1);
}

async fn a_change_for_the_worse_is_asked_about_without_a_hold_too(database: &str) {
    let (bench, blog) = start(database).await;
    enable(&bench, json!({ "mode": "auto", "hold_hours": 0 })).await;
    let run = written(&bench).await;
    assert_eq!(run["outcome"], "scheduled", "{run:#}");
    let post = text(&run, "postId").to_owned();
    let body = json!({ "title": "Which dose of ibuprofen is safe for children" });
    assert_eq!(bench.patch(&format!("P/posts/{post}"), body).await.status, 200);
    tick(&bench).await;
    let asked = get_run(&bench, &run).await;
    assert_eq!(asked["outcome"], "awaiting_review", "{asked:#}");
    let kept = pass_to(&bench, SLOT, &post).await;
    assert_eq!((&kept["isLive"], blog.posts().len()), (&json!(false), 0));
}

async fn a_new_time_zone_of_the_project_moves_what_is_prepared(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    let run = written(&bench).await;
    assert_eq!(run["slotAt"], "2026-11-22T09:00:00.000Z");
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    decide(&ann, &approvals(&bench).await[0], "approve").await;
    let project = bench.get("P").await.json();
    let member = |name: &str| project[name].as_str().unwrap_or_default().to_owned();
    let change = ProjectChange {
        name: member("name"),
        language: member("language"),
        country: member("country"),
        timezone: "America/New_York".to_owned(),
        seen: project["version"].as_i64().unwrap(),
    };
    let people = &bench.server.app.people;
    let user = people.find_user("ann@example.com").await.unwrap();
    people
        .change_project(user, bench.project.into(), change)
        .await
        .unwrap();
    tick(&bench).await;
    let moved = get_run(&bench, &run).await;
    let post = read(&bench, text(&run, "postId")).await;
    assert_eq!(
        (&moved["slotAt"], &post["scheduledAt"], &post["status"]),
        (
            &json!("2026-11-22T14:00:00.000Z"),
            &moved["slotAt"],
            &json!("scheduled")
        ),
        "nine o'clock there"
    );
}

async fn a_first_text_waits_for_a_person_when_the_second_fails(database: &str) {
    let (vendor, model) = post_providers::start().await;
    let (_blog, address) = Blog::start().await;
    let bench = working(database, &format!("\"publish={address}\", \"provider={model}\"")).await;
    account(&bench, &model).await;
    connect_blog(&bench, &address).await;
    bench.keyword("standing desk").await;
    enable(&bench, json!({ "mode": "auto", "min_score": 100 })).await;
    let run = written(&bench).await;
    assert_eq!(
        (&run["regenerated"], &run["outcome"]),
        (&json!(true), &json!("preparing"))
    );
    let post = text(&run, "postId").to_owned();
    let first = read(&bench, &post).await;
    vendor.will_say(&[Says::Status(401, None)]);
    until_ended(&bench, text(&first["generation"], "jobId")).await;
    tick(&bench).await;
    let run = get_run(&bench, &run).await;
    assert_eq!(run["outcome"], "awaiting_review", "{run:#}");
    let asked = approvals(&bench).await;
    assert_eq!((asked.len(), &asked[0]["status"]), (1, &json!("pending")));
    assert!(
        text(&run, "detail").contains("could not be written a second time"),
        "{run:#}"
    );
    let kept = read(&bench, &post).await;
    assert_eq!(
        (&kept["status"], &kept["failure"]),
        (&json!("review"), &Value::Null)
    );
    assert!(!kept["content"].as_str().unwrap().is_empty(), "{kept:#}");
}

async fn an_edit_is_not_written_over(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({ "min_score": 100 })).await;
    tick(&bench).await;
    let run = newest(&bench).await;
    let post = text(&run, "postId").to_owned();
    let ordered = read(&bench, &post).await;
    until_ended(&bench, text(&ordered["generation"], "jobId")).await;
    let article = until(&bench, &post, |post| post["status"] == "review").await;
    bench.clock.advance(1_000);
    let body = json!({ "content": "Written by hand.", "ifVersion": article["version"] });
    assert_eq!(bench.patch(&format!("P/posts/{post}"), body).await.status, 200);
    tick(&bench).await;
    let run = get_run(&bench, &run).await;
    assert_eq!(
        (&run["outcome"], &run["regenerated"]),
        (&json!("awaiting_review"), &json!(false)),
        "{run:#}"
    );
    assert_eq!(read(&bench, &post).await["content"], "Written by hand.");
}

async fn a_post_taken_back_before_it_was_looked_at_did_not_fail(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({ "mode": "auto", "hold_hours": 0 })).await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    let live = pass_to(&bench, SLOT, &post).await;
    assert_eq!(live["status"], "published");
    let taken = bench.post(&format!("P/posts/{post}/unpublish"), json!({})).await;
    assert_eq!(taken.status, 202, "{taken:?}");
    until(&bench, &post, |post| post["status"] == "draft").await;
    tick(&bench).await;
    let run = get_run(&bench, &run).await;
    assert_ne!(run["outcome"], "failed", "{run:#}");
    assert_eq!(run["outcome"], "published");
}

async fn a_sensitive_topic_waits_for_a_person(database: &str) {
    let (bench, _blog) = start(database).await;
    let keyword = bench.get("P/keywords").await.json()["data"][0].clone();
    let body = json!({ "status": "rejected" });
    let path = format!("P/keywords/{}", text(&keyword, "id"));
    assert_eq!(bench.patch(&path, body).await.status, 200);
    bench.keyword("standing desk for back pain symptoms").await;
    enable(&bench, json!({ "mode": "auto", "hold_hours": 0 })).await;
    let run = written(&bench).await;
    assert_eq!(
        (&run["outcome"], &run["regenerated"]),
        (&json!("awaiting_review"), &json!(false)),
        "{run:#}"
    );
    assert!(text(&run, "detail").contains("its topic is health"), "{run:#}");
}

async fn only_a_person_raises_the_cap_above_the_volume_of_the_site(database: &str) {
    let (bench, _blog) = start(database).await;
    bench.clock.advance(-40 * DAY);
    let post = write(&bench, "Once").await;
    publish(&bench, &post, json!({})).await;
    settled(&bench, &post).await;
    bench.clock.advance(40 * DAY);
    let refused = bench
        .patch("P/autopilot", json!({ "monthly_cap": 20 }))
        .await
        .refuses(422, "validation_failed");
    let detail = refused["errors"][0]["detail"].as_str().unwrap().to_owned();
    let path = format!("/projects/{}/settings/autopilot", bench.project);
    assert!(
        detail.contains("at most 3 are allowed") && detail.contains(&path),
        "{detail}"
    );
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let page = ann.open(&path).await;
    assert!(page.text.contains("at most 1 post in one month"), "{}", page.text);
    let csrf = page.field("csrf");
    for wrong in ["0", "32", "many", ""] {
        let refused = ann.send(&path, &[("csrf", &csrf), ("cap", wrong)]).await;
        assert_eq!(refused.status, 422, "{wrong}");
    }
    let saved = ann.send(&path, &[("csrf", &csrf), ("cap", "20")]).await;
    assert!(
        saved.status == 200 && saved.text.contains("Saved."),
        "{}",
        saved.text
    );
    let raised = bench.get("P/autopilot").await.json();
    assert_eq!(
        (&raised["monthly_cap"], &raised["version"]),
        (&json!(20), &json!(1))
    );
    // up to there keys may go too, and not beyond
    let set = bench.patch("P/autopilot", json!({ "monthly_cap": 15 })).await;
    assert_eq!(set.status, 200, "{set:?}");
    bench
        .patch("P/autopilot", json!({ "monthly_cap": 21 }))
        .await
        .refuses(422, "validation_failed");
    let activity = bench.get("P/activity").await.json();
    let raised = activity["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["action"] == "autopilot.set_cap");
    assert_eq!(
        (&raised.unwrap()["user"]["name"], &raised.unwrap()["subject"]),
        (&json!("Ann"), &json!("20"))
    );
    // viewers see it, and others see nothing
    let vic = signed_in(&bench, "vic@example.com", Role::Viewer).await;
    let page = vic.open(&path).await;
    assert!(
        page.status == 200 && !page.text.contains("<form method=\"post\">"),
        "{}",
        page.text
    );
    let foreign = format!("/projects/{}/settings/autopilot", uuid::Uuid::nil());
    assert_eq!(ann.open(&foreign).await.status, 404);
}

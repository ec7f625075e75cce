//! Slots of the autopilot that bring a published post up to date.

use searchwright_contract::people::Role;
use serde_json::{Value, json};

use crate::{
    autopilot_runs::{
        DAY, HOUR, approvals, decide, enable, get_run, page_of, pass_to, signed_in, start, text, tick,
        written,
    },
    blog::{Blog, Fault},
    harness::Bench,
    publishing::{publish, read, settled},
    visibility::{copy, hours_ago, prompt},
};

on_both!(
    the_text_of_a_page_that_is_cited_less_is_replaced_once_approved,
    a_post_that_was_edited_meanwhile_is_not_overwritten,
    nobody_publishes_a_new_text_past_its_approval,
    a_rejected_new_text_leaves_the_page_alone,
    a_new_text_that_cannot_be_sent_leaves_the_old_one,
    without_a_reason_the_slot_goes_to_a_new_post,
);

const OLD: &str = "Standing desks are set to the height of the elbows.\n\nMost people measure it once.";

/// A blog with a published post that a month ago every second answer cited, and that none cites now.
async fn with_post(database: &str) -> (Bench, Blog, String) {
    let (bench, blog) = start(database).await;
    blog.is_known_as("https://example.com");
    let made = bench
        .post(
            "P/posts",
            json!({ "title": "Desk heights", "slug": "desk-heights", "content": OLD }),
        )
        .await;
    let post = text(&made.json(), "id").to_owned();
    publish(&bench, &post, json!({})).await;
    let live = settled(&bench, &post).await;
    assert_eq!(
        live["publishedUrl"], "https://example.com/desk-heights/",
        "{live:#}"
    );
    (bench, blog, post)
}

async fn cite(bench: &Bench, url: Option<&str>, days_ago: i64) {
    let at = hours_ago(bench, days_ago * 24);
    let id = prompt(bench, &format!("How high is a standing desk, {days_ago}?")).await;
    let item = |n: u32| {
        let citations = match url {
            Some(url) if n.is_multiple_of(2) => json!([{ "url": url }]),
            _ => json!([{ "url": "https://other.example/" }]),
        };
        json!({ "engine": "perplexity", "askedAt": at, "text": format!("It depends, {n}."), "citations": citations })
    };
    let items: Vec<Value> = (0..40).map(item).collect();
    let copied = copy(bench, &id, items.into()).await;
    assert_eq!(copied.status, 201, "{copied:?}");
}

/// The same, with the autopilot on and the new text written. Returns the run.
async fn with_new_text(bench: &Bench, post: &str) -> Value {
    cite(bench, Some("https://example.com/desk-heights/"), 40).await;
    cite(bench, None, 3).await;
    enable(
        bench,
        json!({ "refresh_share": 100, "mode": "auto", "hold_hours": 0 }),
    )
    .await;
    let run = written(bench).await;
    assert_eq!(
        (&run["outcome"], &run["refresh"]["postId"]),
        (&json!("awaiting_review"), &json!(post)),
        "{run:#}"
    );
    run
}

async fn the_text_of_a_page_that_is_cited_less_is_replaced_once_approved(database: &str) {
    let (bench, blog, post) = with_post(database).await;
    let run = with_new_text(&bench, &post).await;
    let why = &run["refresh"];
    assert_eq!(
        (
            &why["citations"],
            &why["citationsBefore"],
            &why["newProblems"],
            &why["candidates"]
        ),
        (&json!(0), &json!(20), &json!(0), &json!(1)),
        "{why:#}"
    );
    let draft = read(&bench, text(&run, "postId")).await;
    assert_eq!(
        (&draft["replacesPostId"], &draft["title"], &draft["status"]),
        (&json!(post), &json!("Desk heights"), &json!("review"))
    );
    assert_ne!(draft["content"], OLD);
    // what is live stays as it is
    let live = read(&bench, &post).await;
    assert_eq!(
        (&live["content"], &live["hasUnpublishedChanges"]),
        (&json!(OLD), &json!(false))
    );

    let waiting = approvals(&bench).await;
    assert_eq!(
        (
            &waiting[0]["replacesPostId"],
            &waiting[0]["status"],
            &waiting[0]["expiresAt"]
        ),
        (&json!(post), &json!("pending"), &Value::Null),
        "a new text is never published without a decision"
    );
    assert_eq!(
        waiting[0]["reasons"][0],
        "it replaces the text of a published post"
    );
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let page = ann.open(&page_of(&waiting[0])).await;
    assert!(
        page.text
            .contains("in place of the text at https://example.com/desk-heights/")
            && page.text.contains("The text that is published now"),
        "{}",
        page.text
    );
    decide(&ann, &waiting[0], "approve").await;
    assert_eq!(get_run(&bench, &run).await["outcome"], "scheduled");
    let before = blog.posts().len();
    let left = pass_to(&bench, "2026-11-22T09:00:00.000Z", text(&run, "postId")).await;
    assert_eq!(left["status"], "archived", "{left:#}");
    let live = settled(&bench, &post).await;
    assert_eq!(
        (
            &live["status"],
            &live["content"],
            &live["publishedUrl"],
            &live["hasUnpublishedChanges"]
        ),
        (
            &json!("published"),
            &draft["content"],
            &json!("https://example.com/desk-heights/"),
            &json!(false)
        ),
        "{live:#}"
    );
    assert_eq!((blog.posts().len(), before), (1, 1), "the same page");
    let shown = blog.posts()[0]["content"]["raw"].as_str().unwrap().to_owned();
    assert!(!shown.contains("elbows"), "{shown}");
    let revisions = bench.get(&format!("P/posts/{post}/revisions")).await.json();
    assert_eq!(revisions["data"][0]["content"], OLD, "{revisions:#}");
    bench.clock.advance(2 * HOUR);
    tick(&bench).await;
    let run = get_run(&bench, &run).await;
    assert_eq!(
        (&run["outcome"], &run["postId"]),
        (&json!("published"), &json!(post)),
        "{run:#}"
    );
    // it rests now
    bench.clock.advance(DAY);
    bench.keyword("oak shelf").await;
    let next = written(&bench).await;
    assert_eq!(next["refresh"], Value::Null, "{next:#}");
}

async fn a_post_that_was_edited_meanwhile_is_not_overwritten(database: &str) {
    let (bench, blog, post) = with_post(database).await;
    let run = with_new_text(&bench, &post).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    decide(&ann, &approvals(&bench).await[0], "approve").await;
    let edited = bench
        .patch(
            &format!("P/posts/{post}"),
            json!({ "excerpt": "Changed by hand." }),
        )
        .await;
    assert_eq!(edited.status, 200, "{edited:?}");
    let writes = blog.writes();
    let left = pass_to(&bench, "2026-11-22T09:00:00.000Z", text(&run, "postId")).await;
    assert_eq!(left["status"], "review", "{left:#}");
    let live = read(&bench, &post).await;
    assert_eq!(
        (&live["content"], &live["excerpt"], blog.writes()),
        (&json!(OLD), &json!("Changed by hand."), writes)
    );
    let run = get_run(&bench, &run).await;
    assert!(
        text(&run, "detail").contains("was changed after this text was begun"),
        "{run:#}"
    );
    // and the request says so too
    let newest = &approvals(&bench).await[0];
    let page = ann.open(&page_of(newest)).await;
    assert!(
        page.text.contains("was changed after this text was begun"),
        "{}",
        page.text
    );
}

async fn nobody_publishes_a_new_text_past_its_approval(database: &str) {
    let (bench, blog, post) = with_post(database).await;
    let run = with_new_text(&bench, &post).await;
    let draft = text(&run, "postId");
    let writes = blog.writes();
    let asked = &approvals(&bench).await[0];
    let refused = bench
        .post(&format!("P/posts/{draft}/publish"), json!({}))
        .await
        .refuses(409, "invalid_state");
    assert_eq!(refused["approvalUrl"], asked["url"], "{refused:#}");
    let body = json!({ "status": "scheduled", "scheduledAt": "2026-11-25T09:00:00.000Z" });
    bench
        .patch(&format!("P/posts/{draft}"), body)
        .await
        .refuses(409, "invalid_state");
    assert_eq!(
        bench
            .patch("P/autopilot", json!({ "enabled": false }))
            .await
            .status,
        200
    );
    tick(&bench).await;
    bench
        .post(&format!("P/posts/{draft}/publish"), json!({}))
        .await
        .refuses(409, "invalid_state");
    assert_eq!(blog.writes(), writes);
    // the post itself can be published as always
    let edited = bench
        .patch(
            &format!("P/posts/{post}"),
            json!({ "excerpt": "Changed by hand." }),
        )
        .await;
    assert_eq!(edited.status, 200);
    publish(&bench, &post, json!({})).await;
    assert_eq!(settled(&bench, &post).await["hasUnpublishedChanges"], false);
}

async fn a_rejected_new_text_leaves_the_page_alone(database: &str) {
    let (bench, blog, post) = with_post(database).await;
    let run = with_new_text(&bench, &post).await;
    let writes = blog.writes();
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    decide(&ann, &approvals(&bench).await[0], "reject").await;
    let run = get_run(&bench, &run).await;
    assert_eq!(run["outcome"], "rejected");
    bench.clock.advance(2 * DAY);
    tick(&bench).await;
    let live = read(&bench, &post).await;
    assert_eq!((&live["content"], blog.writes()), (&json!(OLD), writes));
}

async fn a_new_text_that_cannot_be_sent_leaves_the_old_one(database: &str) {
    let (bench, blog, post) = with_post(database).await;
    let run = with_new_text(&bench, &post).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    decide(&ann, &approvals(&bench).await[0], "approve").await;
    blog.fails(&[Fault::Refuses(400)]);
    pass_to(&bench, "2026-11-22T09:00:00.000Z", text(&run, "postId")).await;
    let live = settled(&bench, &post).await;
    assert_eq!(
        (&live["status"], &live["hasUnpublishedChanges"]),
        (&json!("published"), &json!(true)),
        "{live:#}"
    );
    assert!(
        blog.posts()[0]["content"]["raw"]
            .as_str()
            .unwrap()
            .contains("elbows")
    );
    tick(&bench).await;
    let run = get_run(&bench, &run).await;
    assert_eq!(run["outcome"], "failed", "{run:#}");
    assert!(run["detail"].is_string());
}

async fn without_a_reason_the_slot_goes_to_a_new_post(database: &str) {
    let (bench, _blog, _post) = with_post(database).await;
    // a fall within noise
    cite(&bench, Some("https://example.com/desk-heights/"), 40).await;
    cite(&bench, Some("https://example.com/desk-heights/"), 3).await;
    enable(&bench, json!({ "refresh_share": 100 })).await;
    let run = written(&bench).await;
    assert_eq!(
        (&run["refresh"], &run["choice"]["keyword"]),
        (&Value::Null, &json!("standing desk")),
        "{run:#}"
    );
}

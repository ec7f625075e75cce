//! Runs of the autopilot: from the keyword to the published page, and everything that stops it.

use searchwright_contract::people::Role;
use searchwright_engine::schedules::tick as tick_of;
use serde_json::{Value, json};

use crate::{
    blog::Blog,
    browser::{Browser, Page},
    harness::Bench,
    people::{PASSWORD, person},
    post_generation::until_ended,
    post_providers::{self, account},
    publishing::{connect_blog, until, working},
};

on_both!(
    a_post_goes_from_its_keyword_to_its_page,
    an_approval_holds_for_the_bytes_that_were_seen,
    a_held_post_is_published_unless_a_person_stops_it,
    a_change_while_it_is_held_begins_the_hold_again,
    a_brief_waits_for_a_person_who_writes_the_article,
    a_rejected_post_stays_a_draft,
    two_people_who_decide_at_once_make_one_decision,
    the_author_does_not_approve_where_another_can,
    only_members_see_approvals,
    turning_it_off_cancels_and_keeps_drafts,
    a_pause_publishes_nothing_and_tells_what_is_overdue,
    a_lost_integration_pauses_until_it_is_back,
    without_a_keyword_it_says_so_and_looks_for_some_once_a_week,
    three_failures_in_a_row_pause_it,
    a_downtime_of_days_publishes_nothing_unasked,
    a_slot_begins_once_whoever_ticks,
    drafts_at_the_provider_are_not_published,
    proposals_wait_without_a_schedule,
    a_cap_above_what_the_site_published_is_refused,
    the_cap_of_a_month_holds_until_the_next_one,
    another_mode_holds_for_what_is_scheduled_too,
    nobody_schedules_what_was_not_decided,
    another_destination_asks_again,
    several_integrations_are_not_guessed_at,
    an_integration_that_is_lost_before_a_slot_uses_none,
    a_decision_after_a_downtime_drops_no_slot,
);

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// A server that works, with a blog, a model and two approved keywords.
pub async fn start(database: &str) -> (Bench, Blog) {
    let (_, model) = post_providers::start().await;
    let (blog, address) = Blog::start().await;
    let bench = working(database, &format!("\"publish={address}\", \"provider={model}\"")).await;
    account(&bench, &model).await;
    connect_blog(&bench, &address).await;
    bench.keyword("standing desk").await;
    (bench, blog)
}

/// Turns the autopilot on, with a slot every day at 9.
pub async fn enable(bench: &Bench, more: Value) -> Value {
    let mut body = json!({ "enabled": true, "publish_interval_days": 1, "min_score": 0, "lead_days": 1 });
    let members = more.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(members);
    let set = bench.patch("P/autopilot", body).await;
    assert_eq!(set.status, 200, "{set:?}");
    set.json()
}

pub async fn tick(bench: &Bench) {
    tick_of(&bench.server.app.engine).await.unwrap();
}

async fn runs(bench: &Bench) -> Vec<Value> {
    bench.get("P/autopilot/runs").await.json()["data"]
        .as_array()
        .unwrap()
        .clone()
}

pub async fn newest(bench: &Bench) -> Value {
    runs(bench).await.first().cloned().unwrap_or_default()
}

async fn approvals(bench: &Bench) -> Vec<Value> {
    bench.get("P/approvals").await.json()["data"]
        .as_array()
        .unwrap()
        .clone()
}

async fn events(bench: &Bench, kind: &str) -> Vec<Value> {
    let all = bench
        .get(&format!("P/events?limit=100&event={kind}"))
        .await
        .json();
    all["data"].as_array().unwrap().clone()
}

pub fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member]
        .as_str()
        .unwrap_or_else(|| panic!("{member}: {value:#}"))
}

/// Begins the next run and has its post written; returns the run as the next tick leaves it.
pub async fn written(bench: &Bench) -> Value {
    tick(bench).await;
    let all = runs(bench).await;
    let run = all.iter().find(|run| run["postId"].is_string());
    let run = run.unwrap_or_else(|| panic!("no post: {all:#?}"));
    let post = bench
        .get(&format!("P/posts/{}", text(run, "postId")))
        .await
        .json();
    until_ended(bench, text(&post["generation"], "jobId")).await;
    tick(bench).await;
    get_run(bench, run).await
}

/// The run as it is now.
pub async fn get_run(bench: &Bench, run: &Value) -> Value {
    let all = runs(bench).await;
    all.into_iter().find(|other| other["id"] == run["id"]).unwrap()
}

/// Lets time pass to a point, and waits until the post has left the schedule and its way to the provider.
pub async fn pass_to(bench: &Bench, at: &str, post: &str) -> Value {
    let at: searchwright_contract::Instant = serde_json::from_value(json!(at)).unwrap();
    bench.clock.advance(at.millis() - bench.clock.now().millis());
    bench.server.app.engine.wake.notify_one();
    let left = until(bench, post, |post| {
        post["status"] != "scheduled" && post["status"] != "publishing"
    })
    .await;
    tick(bench).await;
    left
}

async fn signed_in<'a>(bench: &'a Bench, email: &str, role: Role) -> Browser<'a> {
    person(bench, email, role).await;
    let browser = Browser::new(bench);
    browser.sign_in(email, PASSWORD).await;
    browser
}

fn page_of(approval: &Value) -> String {
    let url = url::Url::parse(text(approval, "url")).unwrap();
    url.path().to_owned()
}

async fn decide(browser: &Browser<'_>, approval: &Value, decision: &str) -> Page {
    let path = page_of(approval);
    let page = browser.open(&path).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let csrf = page.field("csrf");
    browser
        .send(
            &path,
            &[("csrf", &csrf), ("decision", decision), ("reason", "because")],
        )
        .await
}

async fn a_post_goes_from_its_keyword_to_its_page(database: &str) {
    let (bench, _blog) = start(database).await;
    let set = enable(&bench, json!({})).await;
    assert_eq!(
        (
            &set["mode"],
            &set["next_publish_at"],
            &set["timezone"],
            &set["overdue"]
        ),
        (
            &json!("review"),
            &json!("2026-11-22T09:00:00.000Z"),
            &json!("UTC"),
            &json!([])
        )
    );
    let run = written(&bench).await;
    assert_eq!(
        (&run["outcome"], &run["slotDate"], &run["detail"]),
        (
            &json!("awaiting_review"),
            &json!("2026-11-22"),
            &json!("mode review: every post needs an approval")
        ),
        "{run:#}"
    );
    let choice = &run["choice"];
    assert_eq!(
        (&choice["keyword"], &choice["candidates"]),
        (&json!("standing desk"), &json!(1))
    );
    let waiting = approvals(&bench).await;
    let approval = &waiting[0];
    assert_eq!(
        (
            &approval["status"],
            &approval["provider"],
            &approval["publishAt"],
            waiting.len()
        ),
        (&json!("pending"), &json!("wordpress"), &Value::Null, 1)
    );
    let asked = events(&bench, "approval.requested").await;
    assert_eq!((&asked[0]["data"]["url"], asked.len()), (&approval["url"], 1));
    // a caller cannot schedule what waits for a person
    let post = text(&run, "postId").to_owned();
    let body = json!({ "status": "scheduled", "scheduledAt": "2026-11-22T09:00:00.000Z" });
    let refused = bench
        .patch(&format!("P/posts/{post}"), body)
        .await
        .refuses(409, "invalid_state");
    assert_eq!(refused["approvalUrl"], approval["url"]);

    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let list = ann.open(&format!("/projects/{}/approvals", bench.project)).await;
    assert!(list.text.contains("Standing desk heights"), "{}", list.text);
    // opening the page decides nothing
    let page = ann.open(&page_of(approval)).await;
    assert!(
        page.text
            .contains("Sun 22 Nov 2026, 09:00 +00:00, if you approve it now"),
        "{}",
        page.text
    );
    assert_eq!(approvals(&bench).await[0]["status"], "pending");
    let done = decide(&ann, approval, "approve").await;
    assert!(done.text.contains("approved by Ann"), "{}", done.text);
    let approved = &approvals(&bench).await[0];
    assert_eq!(
        (
            &approved["status"],
            &approved["publishAt"],
            &approved["decidedBy"]["name"]
        ),
        (
            &json!("approved"),
            &json!("2026-11-22T09:00:00.000Z"),
            &json!("Ann")
        )
    );
    assert_eq!(events(&bench, "approval.decided").await.len(), 1);
    assert_eq!(newest(&bench).await["outcome"], "scheduled");
    let live = pass_to(&bench, "2026-11-22T09:00:00.000Z", &post).await;
    assert_eq!(live["status"], "published", "{live:#}");
    // the page is looked at before the run ends, or an hour passes
    bench.clock.advance(HOUR);
    tick(&bench).await;
    let run = bench.get("P/autopilot/runs?outcome=published").await.json()["data"][0].clone();
    assert_eq!(
        (&run["outcome"], &run["postId"]),
        (&json!("published"), &json!(post)),
        "{run:#}"
    );
    assert!(run["publishedUrl"].is_string(), "{run:#}");
    assert_eq!(events(&bench, "autopilot.published").await.len(), 1);
    let state = bench.get("P/autopilot").await.json();
    assert!(state["last_publish_at"].is_string(), "{state:#}");
    let activity = bench.get("P/activity").await.json();
    let decided = activity["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["action"] == "approvals.decide");
    assert_eq!(decided.unwrap()["user"]["name"], "Ann", "{activity:#}");
}

async fn an_approval_holds_for_the_bytes_that_were_seen(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let first = approvals(&bench).await[0].clone();
    decide(&ann, &first, "approve").await;
    let changed = bench
        .patch(&format!("P/posts/{post}"), json!({ "excerpt": "Another one." }))
        .await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let back = pass_to(&bench, "2026-11-22T09:00:00.000Z", &post).await;
    assert_eq!(
        (&back["status"], &back["isLive"]),
        (&json!("review"), &json!(false)),
        "{back:#}"
    );
    let now = approvals(&bench).await;
    assert_eq!(
        [&now[0]["status"], &now[1]["status"]],
        [&json!("pending"), &json!("void")],
        "{now:#?}"
    );
    assert_ne!(now[0]["contentHash"], first["contentHash"]);
    // what is void cannot be decided
    let page = ann.open(&page_of(&first)).await;
    assert!(page.text.contains("changed after this request") && !page.text.contains("value=\"approve\""));
    // its slot has passed, so that the next free one is used
    decide(&ann, &now[0], "approve").await;
    let run = bench.get("P/autopilot/runs?outcome=scheduled").await.json()["data"][0].clone();
    assert_eq!(
        (&run["postId"], &run["slotAt"]),
        (&json!(post), &json!("2026-11-23T09:00:00.000Z"))
    );
}

async fn a_held_post_is_published_unless_a_person_stops_it(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(
        &bench,
        json!({ "mode": "auto", "hold_hours": 12, "lead_days": 2 }),
    )
    .await;
    let run = written(&bench).await;
    assert_eq!(
        (&run["outcome"], &run["slotAt"]),
        (&json!("scheduled"), &json!("2026-11-22T09:00:00.000Z")),
        "{run:#}"
    );
    let waiting = approvals(&bench).await;
    assert_eq!(
        (&waiting[0]["status"], &waiting[0]["expiresAt"]),
        (&json!("pending"), &json!("2026-11-22T09:00:00.000Z"))
    );
    let post = text(&run, "postId").to_owned();
    bench.keyword("oak shelf").await;
    let live = pass_to(&bench, "2026-11-22T09:00:00.000Z", &post).await;
    assert_eq!(live["status"], "published");
    assert_eq!(approvals(&bench).await[0]["status"], "lapsed");

    // the next one is stopped
    let run = written(&bench).await;
    assert_eq!(run["outcome"], "scheduled", "{run:#}");
    let held = approvals(&bench).await[0].clone();
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    decide(&ann, &held, "hold").await;
    assert_eq!(newest(&bench).await["outcome"], "awaiting_review");
    let post = text(&run, "postId").to_owned();
    let kept = pass_to(&bench, text(&held, "expiresAt"), &post).await;
    assert_eq!(
        (&kept["status"], &kept["isLive"]),
        (&json!("review"), &json!(false))
    );
    ann.sign_in("ann@example.com", PASSWORD).await;
    let decided = decide(&ann, &held, "approve").await;
    assert!(decided.text.contains("approved by Ann"), "{}", decided.text);
}

async fn a_change_while_it_is_held_begins_the_hold_again(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(
        &bench,
        json!({ "mode": "auto", "hold_hours": 12, "lead_days": 2 }),
    )
    .await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    // an hour before its slot
    bench.clock.advance(22 * HOUR);
    let changed = bench
        .patch(&format!("P/posts/{post}"), json!({ "excerpt": "Another one." }))
        .await;
    assert_eq!(changed.status, 200, "{changed:?}");
    tick(&bench).await;
    let now = approvals(&bench).await;
    assert_eq!(
        [&now[0]["status"], &now[1]["status"]],
        [&json!("pending"), &json!("void")]
    );
    let at = bench.clock.now().plus_millis(12 * HOUR);
    assert_eq!(
        now[0]["expiresAt"],
        json!(at),
        "the hold is longer than the way to the slot"
    );
    let kept = bench.get(&format!("P/posts/{post}")).await.json();
    assert_eq!(
        (&kept["status"], &kept["scheduledAt"]),
        (&json!("scheduled"), &json!(at))
    );
}

async fn a_brief_waits_for_a_person_who_writes_the_article(database: &str) {
    let (blog, address) = Blog::start().await;
    let bench = working(database, &format!("\"publish={address}\"")).await;
    connect_blog(&bench, &address).await;
    bench.keyword("standing desk").await;
    enable(&bench, json!({ "mode": "auto" })).await;
    let run = written(&bench).await;
    assert_eq!(run["outcome"], "awaiting_review");
    assert!(text(&run, "detail").contains("brief_only"), "{run:#}");
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let asked = approvals(&bench).await[0].clone();
    let page = ann.open(&page_of(&asked)).await;
    assert!(!page.text.contains("value=\"approve\""), "{}", page.text);
    let forced = decide(&ann, &asked, "approve").await;
    assert_eq!(forced.status, 409);
    let post = text(&run, "postId").to_owned();
    let article = bench.get(&format!("P/posts/{post}")).await.json();
    let body = json!({ "title": "Desks", "content": "An article.", "ifVersion": article["version"] });
    assert_eq!(bench.patch(&format!("P/posts/{post}"), body).await.status, 200);
    tick(&bench).await;
    let asked = approvals(&bench).await[0].clone();
    assert_eq!(asked["status"], "pending");
    decide(&ann, &asked, "approve").await;
    let live = pass_to(&bench, "2026-11-22T09:00:00.000Z", &post).await;
    assert_eq!((&live["status"], blog.posts().len()), (&json!("published"), 1));
}

async fn a_rejected_post_stays_a_draft(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    let run = written(&bench).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let asked = approvals(&bench).await[0].clone();
    decide(&ann, &asked, "reject").await;
    let rejected = newest(&bench).await;
    assert_eq!(
        (&rejected["outcome"], &rejected["detail"]),
        (
            &json!("rejected"),
            &json!("Ann rejected it: because. The post stays as a draft")
        )
    );
    let post = bench
        .get(&format!("P/posts/{}", text(&run, "postId")))
        .await
        .json();
    assert_eq!(post["status"], "review");
    // the decision is made
    let again = ann.open(&page_of(&asked)).await;
    assert!(!again.text.contains("value=\"approve\""));
    let state = bench.get("P/autopilot").await.json();
    assert_eq!(
        state["next_publish_at"], "2026-11-23T09:00:00.000Z",
        "its date had a slot"
    );
}

async fn two_people_who_decide_at_once_make_one_decision(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    written(&bench).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let bob = signed_in(&bench, "bob@example.com", Role::Admin).await;
    let asked = approvals(&bench).await[0].clone();
    let path = page_of(&asked);
    let (a, b) = (
        ann.open(&path).await.field("csrf"),
        bob.open(&path).await.field("csrf"),
    );
    let (a, b) = (
        [("csrf", &*a), ("decision", "approve")],
        [("csrf", &*b), ("decision", "reject")],
    );
    let (a, b) = tokio::join!(ann.send(&path, &a), bob.send(&path, &b));
    let mut statuses = [a.status, b.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    assert_eq!(events(&bench, "approval.decided").await.len(), 1);
}

async fn the_author_does_not_approve_where_another_can(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    let run = written(&bench).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let post = text(&run, "postId").to_owned();
    note_author(&bench, &post, "ann@example.com").await;
    let asked = approvals(&bench).await[0].clone();
    // alone she may
    let page = ann.open(&page_of(&asked)).await;
    assert!(page.text.contains("value=\"approve\""), "{}", page.text);
    let bob = signed_in(&bench, "bob@example.com", Role::Editor).await;
    let page = ann.open(&page_of(&asked)).await;
    assert!(
        page.text.contains("another member has to approve it"),
        "{}",
        page.text
    );
    assert_eq!(decide(&ann, &asked, "approve").await.status, 403);
    let viewer = signed_in(&bench, "cid@example.com", Role::Viewer).await;
    assert_eq!(decide(&viewer, &asked, "approve").await.status, 403);
    assert_eq!(decide(&viewer, &asked, "reject").await.status, 403);
    assert_eq!(decide(&bob, &asked, "approve").await.status, 200);
}

/// Writes to the activity log what an agent of a person writes that changes a post.
async fn note_author(bench: &Bench, post: &str, email: &str) {
    let engine = &bench.server.app.engine;
    let user = searchwright_store::users::find_by_email(&mut engine.db.read().await.unwrap(), email)
        .await
        .unwrap()
        .unwrap();
    let user = searchwright_contract::people::UserRef {
        id: user.id,
        name: user.name,
    };
    let entry = searchwright_store::activity::NewActivity::of_person(
        engine.clock.id(),
        "posts.update",
        post.to_owned(),
        user,
    );
    let (project, author, now) = (
        bench.project.into(),
        entry.user.clone().unwrap().id,
        engine.clock.now(),
    );
    let written = engine.db.write(move |tx| {
        Box::pin(async move {
            let access = searchwright_store::access::find_project_of_user(tx, author, project).await?;
            searchwright_store::activity::insert(tx, access.unwrap().scope(), entry, now).await
        })
    });
    written.await.unwrap();
}

async fn only_members_see_approvals(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    written(&bench).await;
    let asked = approvals(&bench).await[0].clone();
    let path = page_of(&asked);
    let visitor = Browser::new(&bench);
    let page = visitor.open(&path).await;
    assert!(
        page.text.contains("name=\"password\""),
        "a sign-in is asked for: {}",
        page.text
    );
    let (neighbour, key) = bench.neighbour().await;
    let id = text(&asked, "id");
    let theirs = format!("/projects/{neighbour}/approvals/{id}");
    let child = bench.call("GET", &theirs).key(&key).send().await;
    child.refuses(403, "project_forbidden");
    let foreign = bench
        .call("GET", &format!("P/approvals/{id}"))
        .key(&key)
        .send()
        .await;
    foreign.refuses(403, "project_forbidden");
    let read = bench.get(&format!("P/approvals/{id}")).await.json();
    assert_eq!(read, asked);
    bench
        .get("P/approvals/01936f36-4c1d-7d10-9a3e-7b2f5a1c2b4c")
        .await
        .refuses(404, "not_found");
    let filtered = bench.get("P/approvals?status=approved").await.json();
    assert_eq!(filtered["data"], json!([]));
}

async fn turning_it_off_cancels_and_keeps_drafts(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({ "mode": "auto", "hold_hours": 1 })).await;
    let run = written(&bench).await;
    assert_eq!(run["outcome"], "scheduled", "{run:#}");
    let off = bench
        .patch("P/autopilot", json!({ "enabled": false }))
        .await
        .json();
    assert_eq!(
        (&off["enabled"], &off["next_publish_at"]),
        (&json!(false), &Value::Null)
    );
    let run = newest(&bench).await;
    assert_eq!(
        (&run["outcome"], &run["detail"]),
        (&json!("canceled"), &json!("the autopilot was turned off"))
    );
    let post = bench
        .get(&format!("P/posts/{}", text(&run, "postId")))
        .await
        .json();
    assert_eq!(
        (&post["status"], &post["scheduledAt"]),
        (&json!("review"), &Value::Null)
    );
    assert!(!text(&post, "content").is_empty());
    assert_eq!(approvals(&bench).await[0]["status"], "void");
    bench.clock.advance(3 * DAY);
    tick(&bench).await;
    assert_eq!(runs(&bench).await.len(), 1);
}

async fn a_pause_publishes_nothing_and_tells_what_is_overdue(database: &str) {
    let (bench, blog) = start(database).await;
    enable(&bench, json!({ "mode": "auto", "hold_hours": 0 })).await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    let until = "2026-11-25T00:00:00.000Z";
    let paused = bench
        .patch("P/autopilot", json!({ "paused_until": until }))
        .await
        .json();
    assert_eq!(
        (&paused["paused_until"], &paused["next_publish_at"]),
        (&json!(until), &json!("2026-11-25T09:00:00.000Z"))
    );
    let kept = pass_to(&bench, "2026-11-22T09:00:00.000Z", &post).await;
    assert_eq!((&kept["status"], blog.posts().len()), (&json!("review"), 0));
    let state = bench.get("P/autopilot").await.json();
    assert_eq!(
        (&state["overdue"][0]["postId"], &state["overdue"][0]["slotAt"]),
        (&json!(post), &json!("2026-11-22T09:00:00.000Z")),
        "{state:#}"
    );
    // going on publishes none of it
    let on = bench
        .patch("P/autopilot", json!({ "paused_until": null, "enabled": true }))
        .await
        .json();
    assert_eq!(on["overdue"][0]["postId"], json!(post));
    tick(&bench).await;
    assert_eq!(blog.posts().len(), 0);
    let past = json!({ "paused_until": "2026-11-01T00:00:00.000Z" });
    let refused = bench
        .patch("P/autopilot", past)
        .await
        .refuses(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/paused_until");
}

async fn a_lost_integration_pauses_until_it_is_back(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    decide(&ann, &approvals(&bench).await[0], "approve").await;
    bench.call("DELETE", "P/integrations/wordpress").send().await;
    let kept = pass_to(&bench, "2026-11-22T09:00:00.000Z", &post).await;
    assert_eq!(kept["status"], "review", "{kept:#}");
    let state = bench.get("P/autopilot").await.json();
    assert_eq!(
        (&state["paused_reason"], &state["next_publish_at"]),
        (&json!("integration"), &Value::Null)
    );
    tick(&bench).await;
    let told = events(&bench, "autopilot.paused").await;
    assert_eq!(
        (told.len(), &told[0]["data"]["reason"]),
        (1, &json!("integration"))
    );
    let files = [("folder".to_owned(), "blog".to_owned())].into();
    let engine = &bench.server.app.engine;
    engine.connect(bench.project, "files", files).await.unwrap();
    let map = json!({ "fieldMap": { "title": "title", "content": "content" } });
    bench.post("P/integrations/files/mapping", map).await;
    tick(&bench).await;
    let state = bench.get("P/autopilot").await.json();
    assert_eq!(state["paused_reason"], Value::Null, "{state:#}");
    assert!(state["next_publish_at"].is_string(), "{state:#}");
}

async fn without_a_keyword_it_says_so_and_looks_for_some_once_a_week(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    let keyword = bench.get("P/keywords").await.json()["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    bench
        .patch(&format!("P/keywords/{keyword}"), json!({ "status": "rejected" }))
        .await;
    tick(&bench).await;
    assert_eq!(
        runs(&bench).await.len(),
        0,
        "its slot is ahead, and a keyword may still come"
    );
    for _ in 0..3 {
        bench.clock.advance(DAY);
        tick(&bench).await;
    }
    let all = runs(&bench).await;
    assert_eq!(all.len(), 3);
    for run in &all {
        assert_eq!(run["outcome"], "no_keyword", "{run:#}");
    }
    let jobs = bench.get("P/jobs?limit=100").await.json();
    let searches = jobs["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|job| job["type"] == "generate_keywords");
    assert_eq!(searches.count(), 1);
    let state = bench.get("P/autopilot").await.json();
    assert_eq!(
        (&state["paused_reason"], &state["consecutive_failures"]),
        (&Value::Null, &json!(0))
    );
}

async fn three_failures_in_a_row_pause_it(database: &str) {
    let (bench, _blog) = start(database).await;
    let engine = &bench.server.app.engine;
    engine
        .set_quota(bench.project, "posts_generated", Some(0))
        .await
        .unwrap();
    enable(&bench, json!({})).await;
    for failures in 1..=3 {
        bench.clock.advance(DAY);
        tick(&bench).await;
        let run = newest(&bench).await;
        assert_eq!(run["outcome"], "failed", "{run:#}");
        assert!(text(&run, "detail").contains("posts_generated"), "{run:#}");
        let state = bench.get("P/autopilot").await.json();
        assert_eq!(state["consecutive_failures"], failures);
        assert_eq!(state["paused_reason"] == "failures", failures == 3, "{state:#}");
    }
    bench.clock.advance(DAY);
    tick(&bench).await;
    assert_eq!(runs(&bench).await.len(), 3, "it is paused");
    let told = events(&bench, "autopilot.paused").await;
    assert_eq!((told.len(), &told[0]["data"]["reason"]), (1, &json!("failures")));
    engine
        .set_quota(bench.project, "posts_generated", None)
        .await
        .unwrap();
    let on = bench
        .patch("P/autopilot", json!({ "enabled": true }))
        .await
        .json();
    assert_eq!(
        (&on["paused_reason"], &on["consecutive_failures"]),
        (&Value::Null, &json!(0)),
        "{on:#}"
    );
    assert_eq!(written(&bench).await["outcome"], "awaiting_review");
}

async fn a_downtime_of_days_publishes_nothing_unasked(database: &str) {
    let (bench, blog) = start(database).await;
    enable(&bench, json!({ "mode": "auto", "hold_hours": 0 })).await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    // three days pass; the clock moves first, and the worker looks after it
    let kept = pass_to(&bench, "2026-11-25T12:00:00.000Z", &post).await;
    assert_eq!((&kept["status"], blog.posts().len()), (&json!("review"), 0));
    let overdue = bench.get("P/autopilot").await.json()["overdue"].clone();
    assert_eq!(overdue[0]["postId"], json!(post), "{:#?}", runs(&bench).await);
    let outcomes: Vec<Value> = runs(&bench)
        .await
        .iter()
        .map(|run| run["outcome"].clone())
        .collect();
    assert!(outcomes.contains(&json!("awaiting_review")), "{outcomes:?}");
}

async fn a_slot_begins_once_whoever_ticks(database: &str) {
    let (bench, _blog) = start(database).await;
    bench.keyword("oak shelf").await;
    enable(&bench, json!({})).await;
    let engine = &bench.server.app.engine;
    let (a, b, c) = tokio::join!(tick_of(engine), tick_of(engine), tick_of(engine));
    for done in [a, b, c] {
        done.unwrap();
    }
    tick(&bench).await;
    assert_eq!(runs(&bench).await.len(), 1);
    let posts = bench.get("P/posts").await.json();
    assert_eq!(posts["data"].as_array().unwrap().len(), 1);
}

async fn drafts_at_the_provider_are_not_published(database: &str) {
    let (bench, blog) = start(database).await;
    enable(
        &bench,
        json!({ "mode": "auto", "hold_hours": 0, "draft_only": true }),
    )
    .await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    let sent = pass_to(&bench, "2026-11-22T09:00:00.000Z", &post).await;
    assert_eq!(
        (&sent["isLive"], &sent["status"]),
        (&json!(false), &json!("review")),
        "{sent:#}"
    );
    let run = bench.get("P/autopilot/runs?outcome=published").await.json()["data"][0].clone();
    assert!(text(&run, "detail").contains("draft at wordpress"), "{run:#}");
    assert_eq!(blog.posts()[0]["status"], "draft");
}

async fn proposals_wait_without_a_schedule(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({ "mode": "propose" })).await;
    let run = written(&bench).await;
    assert_eq!(run["outcome"], "awaiting_review");
    assert!(text(&run, "detail").contains("mode propose"), "{run:#}");
    assert_eq!(approvals(&bench).await.len(), 0);
    // whoever may write schedules it
    let post = text(&run, "postId").to_owned();
    let body = json!({ "status": "scheduled", "scheduledAt": "2026-11-23T10:00:00.000Z" });
    assert_eq!(bench.patch(&format!("P/posts/{post}"), body).await.status, 200);
    let live = pass_to(&bench, "2026-11-23T10:00:00.000Z", &post).await;
    assert_eq!(live["status"], "published", "{live:#}");
}

async fn a_cap_above_what_the_site_published_is_refused(database: &str) {
    let (bench, _blog) = start(database).await;
    // nothing is known of the site
    assert_eq!(
        bench
            .patch("P/autopilot", json!({ "monthly_cap": 31 }))
            .await
            .status,
        200
    );
    let post = crate::publishing::write(&bench, "Oak").await;
    crate::publishing::publish(&bench, &post, json!({})).await;
    crate::publishing::settled(&bench, &post).await;
    // this month is not over
    assert_eq!(
        bench
            .patch("P/autopilot", json!({ "monthly_cap": 31 }))
            .await
            .status,
        200
    );
    bench.clock.advance(10 * DAY);
    let refused = bench
        .patch("P/autopilot", json!({ "monthly_cap": 4 }))
        .await
        .refuses(422, "validation_failed");
    let detail = text(&refused["errors"][0], "detail");
    assert!(
        detail.contains("at most 1 post") && detail.contains(", 3, are allowed"),
        "{detail}"
    );
    assert_eq!(
        bench
            .patch("P/autopilot", json!({ "monthly_cap": 3 }))
            .await
            .status,
        200
    );
    let both = bench
        .patch("P/autopilot", json!({ "mode": "review", "auto_publish": true }))
        .await;
    assert_eq!(
        both.refuses(422, "validation_failed")["errors"][0]["pointer"],
        "/auto_publish"
    );
}

async fn the_cap_of_a_month_holds_until_the_next_one(database: &str) {
    let (bench, blog) = start(database).await;
    bench.keyword("oak shelf").await;
    bench.keyword("desk lamp").await;
    enable(
        &bench,
        json!({ "mode": "auto", "hold_hours": 0, "monthly_cap": 1 }),
    )
    .await;
    let run = written(&bench).await;
    let post = text(&run, "postId").to_owned();
    pass_to(&bench, "2026-11-22T09:00:00.000Z", &post).await;
    bench.clock.advance(HOUR);
    tick(&bench).await;
    let state = bench.get("P/autopilot").await.json();
    assert_eq!(
        (
            &state["paused_reason"],
            &state["next_publish_at"],
            blog.posts().len()
        ),
        (&json!("monthly_cap"), &Value::Null, 1)
    );
    assert_eq!(
        runs(&bench).await.len(),
        1,
        "nothing was written for a slot that cannot be used"
    );
    bench.clock.advance(5 * DAY);
    tick(&bench).await;
    assert_eq!(
        bench.get("P/autopilot").await.json()["paused_reason"],
        "monthly_cap"
    );
    bench.clock.advance(4 * DAY);
    tick(&bench).await;
    let state = bench.get("P/autopilot").await.json();
    assert_eq!(
        (&state["paused_reason"], &state["next_publish_at"]),
        (&Value::Null, &json!("2026-12-02T09:00:00.000Z")),
        "{state:#}"
    );
    assert_eq!(events(&bench, "autopilot.paused").await.len(), 1);
}

async fn another_mode_holds_for_what_is_scheduled_too(database: &str) {
    let (bench, blog) = start(database).await;
    enable(&bench, json!({ "mode": "auto", "hold_hours": 1 })).await;
    let run = written(&bench).await;
    assert_eq!(run["outcome"], "scheduled");
    enable(&bench, json!({ "mode": "review" })).await;
    let post = text(&run, "postId").to_owned();
    let kept = pass_to(&bench, "2026-11-22T09:00:00.000Z", &post).await;
    assert_eq!((&kept["status"], blog.posts().len()), (&json!("review"), 0));
    let asked = &approvals(&bench).await[0];
    assert_eq!(
        (&asked["status"], &asked["expiresAt"]),
        (&json!("pending"), &Value::Null)
    );
}

async fn nobody_schedules_what_was_not_decided(database: &str) {
    let (bench, blog) = start(database).await;
    enable(&bench, json!({})).await;
    tick(&bench).await;
    let run = newest(&bench).await;
    let post = text(&run, "postId").to_owned();
    let written = bench.get(&format!("P/posts/{post}")).await.json();
    until_ended(&bench, text(&written["generation"], "jobId")).await;
    // between the end of the job and the next tick
    let soon = bench.clock.now().plus_millis(2_000);
    let schedule = json!({ "status": "scheduled", "scheduledAt": soon });
    let path = format!("P/posts/{post}");
    bench
        .patch(&path, schedule.clone())
        .await
        .refuses(409, "invalid_state");
    let publish = bench.post(&format!("{path}/publish"), json!({})).await;
    publish.refuses(409, "invalid_state");
    tick(&bench).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    decide(&ann, &approvals(&bench).await[0], "reject").await;
    let refused = bench.patch(&path, schedule).await.refuses(409, "invalid_state");
    assert!(text(&refused, "detail").contains("rejected"), "{refused}");
    assert_eq!(blog.posts().len(), 0);
}

async fn another_destination_asks_again(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    written(&bench).await;
    let first = approvals(&bench).await[0].clone();
    enable(&bench, json!({ "draft_only": true })).await;
    tick(&bench).await;
    let asked = approvals(&bench).await;
    assert_eq!(
        [&asked[0]["status"], &asked[1]["status"]],
        [&json!("pending"), &json!("void")]
    );
    let map = json!({ "collectionId": "posts", "fieldMap": { "title": "title", "content": "content" } });
    let mapped = bench.post("P/integrations/wordpress/mapping", map).await;
    assert_eq!(mapped.status, 200, "{mapped:?}");
    tick(&bench).await;
    let asked = approvals(&bench).await;
    assert_eq!((&asked[0]["status"], asked.len()), (&json!("pending"), 3));
    assert_ne!(asked[0]["contentHash"], first["contentHash"]);
}

async fn several_integrations_are_not_guessed_at(database: &str) {
    let (bench, _blog) = start(database).await;
    let files = [("folder".to_owned(), "blog".to_owned())].into();
    let engine = &bench.server.app.engine;
    engine.connect(bench.project, "files", files).await.unwrap();
    let map = json!({ "fieldMap": { "title": "title", "content": "content" } });
    bench.post("P/integrations/files/mapping", map).await;
    let refused = bench
        .patch("P/autopilot", json!({ "enabled": true }))
        .await
        .refuses(409, "invalid_state");
    assert_eq!(refused["missing"], json!(["integration"]));
    assert!(
        text(&refused, "detail").contains("several integrations"),
        "{refused}"
    );
    bench.call("DELETE", "P/integrations/files").send().await;
    enable(&bench, json!({})).await;
}

async fn an_integration_that_is_lost_before_a_slot_uses_none(database: &str) {
    let (bench, _blog) = start(database).await;
    enable(&bench, json!({})).await;
    bench.call("DELETE", "P/integrations/wordpress").send().await;
    tick(&bench).await;
    let state = bench.get("P/autopilot").await.json();
    assert_eq!(
        (&state["paused_reason"], &state["next_publish_at"]),
        (&json!("integration"), &Value::Null)
    );
    // while it is paused, its slot passes without a run
    bench.clock.advance(DAY);
    tick(&bench).await;
    assert_eq!(runs(&bench).await.len(), 0);
    assert_eq!(events(&bench, "autopilot.paused").await.len(), 1);
}

async fn a_decision_after_a_downtime_drops_no_slot(database: &str) {
    let (bench, _blog) = start(database).await;
    bench.keyword("oak shelf").await;
    enable(&bench, json!({ "publish_interval_days": 1 })).await;
    written(&bench).await;
    let asked = approvals(&bench).await[0].clone();
    // the slot of the 23rd comes while nobody ticks, and a person decides before the first tick
    bench.clock.advance(2 * DAY);
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    decide(&ann, &asked, "reject").await;
    tick(&bench).await;
    let dates: Vec<Value> = runs(&bench)
        .await
        .iter()
        .map(|run| run["slotDate"].clone())
        .collect();
    assert!(dates.contains(&json!("2026-11-23")), "{dates:?}");
}

//! Notices: what is told, how often, and what becomes of a message whose receiver fails or whose server dies.

use std::sync::Arc;

use searchwright_contract::{Clock, Instant, events::EventType, people::Role};
use searchwright_engine::schedules::tick as tick_of;
use searchwright_server::serve;
use searchwright_store::{admin, events, notices::messages, sql};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    audited::{Website, bench_set, page, serve as serve_site},
    blog::{Blog, Fault},
    dashboard_audits::{address, signed_in, submit},
    harness::{Bench, now, settings},
    mail_server::{MailFault, MailServer, SECRET, TakenMail},
    people::{PASSWORD, person},
    post_generation::until_ended,
    publishing::{connect_blog, look, publication, publish, settled, until, write},
    webhook_receivers::Receiver,
};

on_both!(
    a_scheduled_audit_is_one_mail_with_counts,
    posts_that_fail_by_one_lost_connection_are_one_message,
    an_uncertain_post_is_told_until_it_is_found,
    a_failed_audit_is_told_with_its_reason,
    a_burst_is_one_message_and_a_cause_is_told_once,
    what_is_over_within_the_minute_is_not_told,
    a_message_that_was_stored_is_sent_by_whoever_is_there,
    a_message_whose_process_dies_each_time_is_given_up,
    a_receiver_that_is_down_gets_it_later,
    a_refused_recipient_is_told_on_the_page_and_not_tried_again,
    a_login_that_is_refused_is_not_the_fault_of_the_recipient,
    titles_of_others_inject_nothing,
    a_chat_that_is_gone_is_stopped_and_a_busy_one_is_waited_for,
    too_many_messages_end_with_one_that_says_so,
    a_digest_comes_once_a_week_at_its_local_hour,
    people_who_left_are_sent_nothing,
);

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A server with mail, whose worker is the test.
pub async fn with_mail(database: &str, more: &[&str]) -> (Bench, MailServer) {
    let mail = MailServer::start().await;
    let set: Vec<&str> = mail.settings().into_iter().chain(more.iter().copied()).collect();
    (Bench::on(database, &set).await, mail)
}

/// Does what the server does every second.
pub async fn turn(bench: &Bench) {
    let notices = &bench.server.app.notices;
    notices.turn(&mut None).await;
    notices.send_due().await.unwrap();
}

/// Reads what happened, and tells it a minute later.
pub async fn told(bench: &Bench) {
    turn(bench).await;
    bench.clock.advance(MINUTE);
    turn(bench).await;
}

/// Writes an event of the project, as the change that it reports would.
pub async fn happens(bench: &Bench, kind: EventType, data: Value) {
    let engine = &bench.server.app.engine;
    let (project, id, at) = (bench.project, engine.clock.id(), engine.clock.now());
    let written = engine.db.write(move |tx| {
        Box::pin(async move {
            let scope = admin::get_scope(tx, project).await?;
            events::insert(tx, scope, id, kind, &data, at).await
        })
    });
    written.await.unwrap();
}

/// A post that waits for a person; the id of its approval.
pub async fn waits(bench: &Bench, title: &str) -> Uuid {
    let id: Uuid = bench.clock.id();
    happens(
        bench,
        EventType::ApprovalRequested,
        approval(id, title, "pending"),
    )
    .await;
    id
}

fn approval(id: Uuid, title: &str, status: &str) -> Value {
    json!({ "approvalId": id, "postId": id, "title": title, "status": status, "expiresAt": null, "url": "" })
}

fn subjects(mails: &[TakenMail]) -> Vec<&str> {
    mails.iter().map(|mail| mail.header("Subject")).collect()
}

async fn a_scheduled_audit_is_one_mail_with_counts(database: &str) {
    let mail = MailServer::start().await;
    let (bench, site) = bench_set(database, "", Clock::fixed(now()), &mail.settings()).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    person(&bench, "ed@example.com", Role::Editor).await;
    // The audit by hand opened issues, of which nobody is told.
    told(&bench).await;
    assert!(mail.taken().is_empty());
    let on = json!({ "enabled": true, "interval_days": 1 });
    assert_eq!(bench.patch("P/schedules/audits", on).await.status, 200);
    let title = "<title>Two pages share this very title</title><h1></h1><h1></h1>";
    site.put("/b", 200, &page(title, &["/", "/nowhere"]));
    bench.clock.advance(DAY);
    tick_of(&bench.server.app.engine).await.unwrap();
    let jobs = bench.get("P/jobs").await.json();
    let mut jobs = jobs["data"].as_array().unwrap().iter();
    let job = jobs.find(|job| job["type"] == "audit").unwrap()["id"].clone();
    until_ended(&bench, job.as_str().unwrap()).await;
    let audit = bench.get("P/audits/current").await.json();
    assert_eq!(audit["trigger"], "scheduled");
    told(&bench).await;
    told(&bench).await;
    let opened = bench.get("P/events?limit=100&event=issue.opened").await.json();
    let of_audit = |event: &&Value| event["data"]["auditId"] == audit["id"];
    let new = opened["data"].as_array().unwrap().iter().filter(of_audit).count();
    assert!(new > 0, "{opened:#}");
    // The digest may come as well.
    let taken: Vec<_> = mail
        .taken()
        .into_iter()
        .filter(|mail| !mail.text.contains("Mention rate"))
        .collect();
    assert_eq!(taken.len(), 1, "{taken:#?}");
    let told = &taken[0];
    assert_eq!(told.header("To"), "ann@example.com");
    assert!(told.header("Subject").contains("The audit found"), "{}", told.raw);
    assert!(told.text.contains("By severity: "), "{}", told.text);
    assert!(
        told.text.contains(&format!("{new} new issue")),
        "{new}: {}",
        told.text
    );
    let link = format!(
        "/projects/{}/audits/{}",
        bench.project,
        audit["id"].as_str().unwrap()
    );
    assert!(told.text.contains(&link), "{}", told.text);
    assert!(told.text.contains("Health: "), "{}", told.text);
    assert_eq!(told.header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    assert_eq!(told.header("Auto-Submitted"), "auto-generated");
}

async fn posts_that_fail_by_one_lost_connection_are_one_message(database: &str) {
    let (blog, at) = Blog::start().await;
    let allow = format!("allow_outbound=[\"publish={at}\"]");
    let (bench, mail) = with_mail(database, &["worker.jobs=2", &allow]).await;
    connect_blog(&bench, &at).await;
    person(&bench, "ann@example.com", Role::Admin).await;
    let due = bench.clock.now().plus_millis(5 * MINUTE);
    let mut posts = Vec::new();
    for number in 0..10 {
        let id = write(&bench, &format!("Oak number {number}")).await;
        let body = json!({ "status": "scheduled", "scheduledAt": due });
        assert_eq!(bench.patch(&format!("P/posts/{id}"), body).await.status, 200);
        posts.push(id);
    }
    blog.change_password();
    bench.clock.advance(5 * MINUTE);
    for id in &posts {
        until(&bench, id, |post| post["status"] == "failed").await;
    }
    told(&bench).await;
    told(&bench).await;
    let taken = mail.taken();
    assert_eq!(taken.len(), 1, "{:?}", subjects(&taken));
    assert!(
        taken[0]
            .text
            .contains("The connection to WordPress is lost, and publishing 10 posts failed"),
        "{}",
        taken[0].text
    );
    assert!(taken[0].text.contains("- Oak number 3"), "{}", taken[0].text);
    // Connected again, it may be lost again.
    blog.restore_password();
    connect_blog(&bench, &at).await;
    blog.change_password();
    let id = write(&bench, "Elm").await;
    bench.post(&format!("P/posts/{id}/publish"), json!({})).await;
    until(&bench, &id, |post| post["status"] == "failed").await;
    told(&bench).await;
    assert_eq!(mail.taken().len(), 2);
}

async fn an_uncertain_post_is_told_until_it_is_found(database: &str) {
    let (blog, at) = Blog::start().await;
    let allow = format!("allow_outbound=[\"publish={at}\"]");
    let (bench, mail) = with_mail(database, &["worker.jobs=2", &allow]).await;
    connect_blog(&bench, &at).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let id = write(&bench, "Oak").await;
    blog.fails(&[Fault::LosesAnswer]);
    blog.is_silent(true);
    publish(&bench, &id, json!({})).await;
    settled(&bench, &id).await;
    for wait in [5_001, 30_001, 120_001, 600_001, 3_600_001, 21_600_001] {
        look(&bench, &id, wait).await;
    }
    until(&bench, &id, |post| {
        publication(post)["attempt"]["nextCheckAt"].is_null()
    })
    .await;
    told(&bench).await;
    told(&bench).await;
    let taken = mail.taken();
    let subject = "[Fern & Fir] It is uncertain whether a post was published: Oak";
    assert_eq!(subjects(&taken), [subject]);
    blog.is_silent(false);
    publish(&bench, &id, json!({})).await;
    until(&bench, &id, |post| post["status"] == "published").await;
    told(&bench).await;
    assert_eq!(mail.taken().len(), 1);
}

async fn a_failed_audit_is_told_with_its_reason(database: &str) {
    let site = Website::default();
    site.put("/", 401, "who are you?");
    let at = serve_site(&site).await;
    let allow = format!("allow_outbound=[\"crawl={at}\"]");
    let (mut bench, mail) = with_mail(database, &["worker.jobs=1", &allow]).await;
    let engine = &bench.server.app.engine;
    let project = engine
        .create_project("Desks", &format!("http://{at}"))
        .await
        .unwrap();
    bench.project = project.id;
    bench.key = bench.key_for(project.id, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let audit = bench.post("P/audits", json!({})).await.json();
    until_ended(&bench, audit["job"]["id"].as_str().unwrap()).await;
    let failed = bench.get("P/audits?limit=1").await.json()["data"][0].clone();
    assert_eq!(failed["status"], "failed", "{failed:#}");
    told(&bench).await;
    let taken = mail.taken();
    assert_eq!(subjects(&taken), ["[Desks] An audit failed"]);
    let reason = failed["error"]["message"].as_str().unwrap();
    assert!(
        taken[0].text.contains(&reason[1..30]),
        "{reason}: {}",
        taken[0].text
    );
}

async fn a_burst_is_one_message_and_a_cause_is_told_once(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let first = waits(&bench, "Oak").await;
    turn(&bench).await;
    bench.clock.advance(MINUTE / 2);
    waits(&bench, "Elm").await;
    happens(
        &bench,
        EventType::AutopilotPaused,
        json!({ "reason": "failures", "detail": "three posts failed" }),
    )
    .await;
    turn(&bench).await;
    assert!(mail.taken().is_empty(), "it is collected for a minute");
    bench.clock.advance(MINUTE / 2);
    turn(&bench).await;
    let taken = mail.taken();
    assert_eq!(
        subjects(&taken),
        ["[Fern & Fir] A post waits for approval: Oak (and 2 more)"]
    );
    for text in [
        "approval: Oak\n",
        "approval: Elm\n",
        "The autopilot paused itself\nThree posts failed.\n",
    ] {
        assert!(taken[0].text.contains(text), "{text}: {}", taken[0].text);
    }
    // The same cause, told twice by whoever tells it.
    happens(
        &bench,
        EventType::ApprovalRequested,
        approval(first, "Oak", "pending"),
    )
    .await;
    told(&bench).await;
    assert_eq!(mail.taken().len(), 1);
}

async fn what_is_over_within_the_minute_is_not_told(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let id = waits(&bench, "Oak").await;
    turn(&bench).await;
    happens(
        &bench,
        EventType::ApprovalDecided,
        approval(id, "Oak", "approved"),
    )
    .await;
    told(&bench).await;
    assert!(mail.taken().is_empty());
    let page = signed_in(&bench, "bea@example.com", Role::Viewer)
        .await
        .open(&address(&bench, "/settings/notices"))
        .await;
    assert!(page.text.contains("Over before it was told"), "{}", page.text);
}

async fn a_message_that_was_stored_is_sent_by_whoever_is_there(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    waits(&bench, "Oak").await;
    let notices = &bench.server.app.notices;
    notices.turn(&mut None).await;
    bench.clock.advance(MINUTE);
    notices.turn(&mut None).await;
    // It is written. The process that leased it dies before it sends.
    let engine = &bench.server.app.engine;
    let (at, lease) = (
        bench.clock.now(),
        engine.db.lease_time(&bench.clock).await.unwrap(),
    );
    let leased = engine
        .db
        .write(move |tx| Box::pin(messages::lease(tx, at, lease, 10)))
        .await
        .unwrap();
    assert_eq!(leased.len(), 1);
    turn(&bench).await;
    assert!(mail.taken().is_empty(), "the other may be sending it");
    let Bench {
        server,
        folder,
        clock,
        ..
    } = bench;
    let set: Vec<&str> = mail.settings();
    let again = settings(&folder, database, &set);
    server.stop().await;
    clock.advance(2 * MINUTE);
    let other = serve::start_with(again, clock.clone()).await.unwrap();
    other.app.notices.send_due().await.unwrap();
    other.app.notices.send_due().await.unwrap();
    let taken = mail.taken();
    assert_eq!(taken.len(), 1);
    assert_eq!(
        taken[0].header("Message-ID"),
        format!("<notice.{}@example.com>", leased[0].id)
    );
    // What the dead process would still write is not believed.
    let late = leased[0].clone();
    let written = other.app.engine.db.write(move |tx| {
        Box::pin(async move {
            let outcome = messages::MessageOutcome::Failed("late".to_owned());
            messages::record(tx, &late, outcome, at).await
        })
    });
    assert!(!written.await.unwrap());
    other.stop().await;
}

async fn a_message_whose_process_dies_each_time_is_given_up(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    waits(&bench, "Oak").await;
    let notices = &bench.server.app.notices;
    notices.turn(&mut None).await;
    bench.clock.advance(MINUTE);
    notices.turn(&mut None).await;
    let engine = &bench.server.app.engine;
    for died in 1..=9 {
        let (now, lease) = (
            bench.clock.now(),
            engine.db.lease_time(&bench.clock).await.unwrap(),
        );
        let leased = engine
            .db
            .write(move |tx| Box::pin(messages::lease(tx, now, lease, 10)))
            .await
            .unwrap();
        assert_eq!(leased[0].attempts, died);
        bench.clock.advance(2 * MINUTE);
    }
    notices.send_due().await.unwrap();
    assert!(mail.taken().is_empty());
    let later = bench.clock.now().plus_millis(HOUR);
    let lease = engine.db.lease_time(&bench.clock).await.unwrap();
    let mut tx = engine.db.read().await.unwrap();
    let left = messages::has_due(&mut tx, later, lease).await.unwrap();
    assert!(!left, "it is given up");
}

async fn a_receiver_that_is_down_gets_it_later(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    mail.fails(&[
        MailFault::Recipient("451 try again later"),
        MailFault::HangsUp,
        MailFault::Message("452 no room"),
    ]);
    waits(&bench, "Oak").await;
    told(&bench).await;
    let path = address(&bench, "/settings/notices");
    let page = ann.open(&path).await.text;
    assert!(page.contains("Waits until") && page.contains("451"), "{page}");
    for minutes in [1, 5, 15] {
        assert!(mail.taken().is_empty());
        bench.clock.advance(minutes * MINUTE - 1);
        turn(&bench).await;
        assert!(mail.taken().is_empty(), "not before its time");
        bench.clock.advance(1);
        turn(&bench).await;
    }
    let taken = mail.taken();
    assert_eq!((taken.len(), mail.conversations()), (1, 4));
    let date = "Sat, 21 Nov 2026 10:22:00 +0000";
    assert_eq!(taken[0].header("Date"), date);
    assert!(ann.open(&path).await.text.contains("Sent 21 Nov 2026, 10:22"));
    assert!(
        mail.logins()
            .iter()
            .all(|login| login == &format!(" robot {SECRET}"))
    );
}

async fn a_refused_recipient_is_told_on_the_page_and_not_tried_again(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    mail.fails(&[MailFault::Recipient("550 5.1.1 no such user <b>here</b>")]);
    waits(&bench, "Oak").await;
    told(&bench).await;
    for _ in 0..30 {
        bench.clock.advance(HOUR);
        turn(&bench).await;
    }
    ann.sign_in("ann@example.com", PASSWORD).await;
    assert_eq!((mail.taken().len(), mail.conversations()), (0, 1));
    let page = ann.open(&address(&bench, "/settings/notices")).await.text;
    assert!(
        page.contains("did not arrive") && page.contains("no such user"),
        "{page}"
    );
    assert!(!page.contains("<b>here") && !page.contains(SECRET));
    let other = signed_in(&bench, "bea@example.com", Role::Owner).await;
    let page = other.open(&address(&bench, "/settings/notices")).await.text;
    assert!(!page.contains("no such user"), "it is of another person: {page}");
}

async fn a_login_that_is_refused_is_not_the_fault_of_the_recipient(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    mail.fails(&[MailFault::Login("535 wrong password")]);
    waits(&bench, "Oak").await;
    told(&bench).await;
    bench.clock.advance(MINUTE);
    turn(&bench).await;
    assert_eq!(mail.taken().len(), 1);
}

async fn titles_of_others_inject_nothing(database: &str) {
    let (receiver, at) = Receiver::start().await;
    let allow = format!("allow_outbound=[\"webhook={at}\"]");
    let (bench, mail) = with_mail(database, &[&allow]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, "/settings/notices");
    let chat = [
        ("action", "chat"),
        ("secret", &*format!("http://{at}/hook/of-the-chat-1234")),
        ("kind", "approval_waits"),
        ("weekday", "1"),
        ("hour", "8"),
    ];
    let saved = submit(&ann, &ann.open(&path).await, &path, &chat).await;
    assert!(saved.text.contains("Saved."), "{}", saved.text);
    let hostile = "<!channel> <https://evil.example|click> @here\r\nBcc: all@example.com\r\n\r\n.\r\n\u{202e}\u{2066}\u{0}<script>alert(1)</script>";
    waits(&bench, &format!("{hostile}{}", "x".repeat(10_000))).await;
    told(&bench).await;
    let taken = mail.taken();
    assert_eq!(taken.len(), 1);
    assert!(
        !taken[0].head.iter().any(|line| line.starts_with("Bcc")),
        "{:#?}",
        taken[0].head
    );
    assert!(
        !taken[0].text.contains(['\u{202e}', '\u{2066}', '\0', '\r']),
        "{:?}",
        taken[0].text
    );
    assert!(
        !taken[0].text.lines().any(|line| line.starts_with("Bcc")),
        "{}",
        taken[0].text
    );
    assert!(taken[0].text.len() < 2_000);
    assert!(taken[0].raw.lines().all(|line| line.len() <= 998));
    let came = receiver.until("/hook/of-the-chat-1234", 1).await;
    let body: Value = serde_json::from_slice(&came[0].body).unwrap();
    let text = body["text"].as_str().unwrap();
    assert!(
        text.contains("&lt;!channel&gt; &lt;https://evil.example|click&gt;"),
        "{text}"
    );
    assert!(
        !text.contains(['<', '>', '\r', '\u{202e}']) && !text.contains("@here"),
        "{text}"
    );
    assert_eq!(body.as_object().unwrap().len(), 1);
    let page = ann.open(&path).await.text;
    assert!(page.contains("&#60;!channel&#62;"), "{page}");
    assert!(!page.contains("<script>alert") && !page.contains('\u{202e}'));
}

async fn a_chat_that_is_gone_is_stopped_and_a_busy_one_is_waited_for(database: &str) {
    let (receiver, at) = Receiver::start().await;
    let allow = format!("allow_outbound=[\"webhook={at}\"]");
    let bench = Bench::on(database, &[&allow]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, "/settings/notices");
    let secret = format!("http://{at}/services/T0/B0/very-secret-word");
    let chat = [
        ("action", "chat"),
        ("secret", &*secret),
        ("kind", "approval_waits"),
        ("weekday", "1"),
        ("hour", "8"),
    ];
    submit(&ann, &ann.open(&path).await, &path, &chat).await;
    let hook = "/services/T0/B0/very-secret-word";
    // Busy, then broken, then well.
    receiver.will_answer(&[429, 503]);
    waits(&bench, "Oak").await;
    told(&bench).await;
    receiver.until(hook, 1).await;
    bench.clock.advance(MINUTE);
    turn(&bench).await;
    receiver.until(hook, 2).await;
    bench.clock.advance(5 * MINUTE);
    turn(&bench).await;
    receiver.until(hook, 3).await;
    // A kind that was not chosen.
    happens(
        &bench,
        EventType::AutopilotPaused,
        json!({ "reason": "failures", "detail": "x" }),
    )
    .await;
    told(&bench).await;
    assert_eq!(receiver.all().len(), 3);
    receiver.will_answer(&[404]);
    waits(&bench, "Elm").await;
    told(&bench).await;
    let page = ann.open(&path).await.text;
    assert!(
        page.contains("Stopped") && page.contains("The chat answered 404"),
        "{page}"
    );
    assert!(!page.contains("very-secret"), "{page}");
    waits(&bench, "Yew").await;
    told(&bench).await;
    bench.clock.advance(DAY);
    turn(&bench).await;
    assert_eq!(receiver.all().len(), 4, "nothing more is sent");
    ann.sign_in("ann@example.com", PASSWORD).await;
    // Saved again, it goes on.
    let again = [
        ("action", "chat"),
        ("kind", "approval_waits"),
        ("weekday", "1"),
        ("hour", "8"),
    ];
    let saved = submit(&ann, &ann.open(&path).await, &path, &again).await;
    assert!(saved.text.contains("Saved."), "{}", saved.text);
    waits(&bench, "Ash").await;
    told(&bench).await;
    assert_eq!(receiver.all().len(), 5);
}

async fn too_many_messages_end_with_one_that_says_so(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    for number in 0..25 {
        waits(&bench, &format!("Oak {number}")).await;
        told(&bench).await;
    }
    let taken = mail.taken();
    assert_eq!(taken.len(), 21);
    assert!(taken[19].header("Subject").contains("Oak 19"));
    assert_eq!(taken[20].header("Subject"), "[Fern & Fir] No more notices today");
    bench.clock.advance(DAY);
    waits(&bench, "Elm").await;
    told(&bench).await;
    assert!(mail.taken().last().unwrap().header("Subject").contains("Elm"));
}

fn at(text: &str) -> Instant {
    Instant::from_text(text).unwrap()
}

/// Sets the clock.
fn set_clock(bench: &Bench, to: &str) {
    bench.clock.advance(at(to).millis() - bench.clock.now().millis());
}

async fn a_digest_comes_once_a_week_at_its_local_hour(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    person(&bench, "vic@example.com", Role::Viewer).await;
    let project = bench.project;
    let zone = bench.server.app.engine.db.write(move |tx| {
        Box::pin(async move {
            sql("UPDATE projects SET timezone = 'Europe/Berlin' WHERE id = $1")
                .bind(project)
                .execute(tx)
                .await
        })
    });
    zone.await.unwrap();
    waits(&bench, "Oak").await;
    for (time, count) in [
        ("2026-11-23T06:59:59.000Z", 0),
        ("2026-11-23T07:00:00.000Z", 1),
        ("2026-11-23T18:00:00.000Z", 1),
        ("2026-11-24T08:00:00.000Z", 1),
        // Nobody was there at the hour.
        ("2026-11-30T12:00:00.000Z", 2),
        ("2026-12-01T06:00:00.000Z", 2),
        // Or for a day, after which it is left out.
        ("2026-12-08T07:30:00.000Z", 2),
        // The clocks are put forward on Sunday: eight is six in UTC.
        ("2027-03-22T07:00:00.000Z", 3),
        ("2027-03-29T05:59:00.000Z", 3),
        ("2027-03-29T06:00:00.000Z", 4),
        ("2027-03-29T07:00:00.000Z", 4),
        ("2027-04-05T06:00:00.000Z", 5),
        // And back.
        ("2027-10-25T06:00:00.000Z", 6),
        ("2027-11-01T06:30:00.000Z", 6),
        ("2027-11-01T07:00:00.000Z", 7),
    ] {
        set_clock(&bench, time);
        turn(&bench).await;
        turn(&bench).await;
        let digests = mail
            .taken()
            .iter()
            .filter(|mail| mail.text.contains("Mention rate"))
            .count();
        assert_eq!(digests, count, "{time}");
    }
    let digest = mail
        .taken()
        .into_iter()
        .find(|mail| mail.text.contains("Mention rate"))
        .unwrap();
    for text in [
        "2026-11-16 to 2026-11-22",
        "Health: not measured",
        "Mention rate: not measured",
        "Posts: 0 published, 0 attempts failed",
    ] {
        assert!(digest.text.contains(text), "{text}: {}", digest.text);
    }
    assert_eq!(digest.header("To"), "ann@example.com");
}

async fn people_who_left_are_sent_nothing(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let bea = person(&bench, "bea@example.com", Role::Admin).await;
    mail.fails(&[
        MailFault::Recipient("451 later"),
        MailFault::Recipient("451 later"),
    ]);
    waits(&bench, "Oak").await;
    told(&bench).await;
    let engine = Arc::clone(&bench.server.app.engine);
    let removed = engine.db.write(move |tx| {
        Box::pin(async move {
            sql("DELETE FROM memberships WHERE user_id = $1")
                .bind(bea)
                .execute(tx)
                .await
        })
    });
    removed.await.unwrap();
    bench.clock.advance(MINUTE);
    turn(&bench).await;
    let to: Vec<_> = mail
        .taken()
        .iter()
        .map(|mail| mail.header("To").to_owned())
        .collect();
    assert_eq!(to, ["ann@example.com"]);
}

//! The page of notices: who may set what, the test buttons, and the link that stops mail.

use searchwright_contract::people::Role;

use crate::{
    browser::{Browser, Page},
    dashboard_audits::{address, signed_in, submit},
    harness::Bench,
    mail_server::{MailFault, SECRET},
    notices::{told, turn, waits, with_mail},
    webhook_receivers::Receiver,
};

on_both!(
    each_member_decides_for_themselves,
    a_link_stops_mail_by_a_form_and_not_by_a_look,
    the_chat_is_set_by_who_manages_and_its_address_is_not_shown,
    a_test_shows_what_the_other_side_says,
    a_stale_form_and_a_wrong_one_are_refused_with_what_was_typed,
    without_a_mail_server_the_page_names_the_settings,
);

const PATH: &str = "/settings/notices";

/// Fields of the form for mail with these kinds.
fn choice<'a>(kinds: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![("action", "mail"), ("weekday", "5"), ("hour", "17")];
    fields.extend(kinds.iter().map(|kind| ("kind", *kind)));
    fields
}

/// Ticked kinds of the first form.
fn kinds(page: &Page) -> Vec<String> {
    let first = page.text.split("id=\"chat\"").next().unwrap().to_owned();
    Page {
        text: first,
        ..page.clone()
    }
    .ticked("kind")
}

async fn each_member_decides_for_themselves(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    let path = address(&bench, PATH);
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let vic = signed_in(&bench, "vic@example.com", Role::Viewer).await;
    assert_eq!(
        kinds(&ann.open(&path).await).len(),
        7,
        "who manages is told everything"
    );
    let page = vic.open(&path).await;
    assert!(kinds(&page).is_empty() && page.text.contains("You have not chosen yet"));
    let saved = submit(&vic, &page, &path, &choice(&["approval_waits"])).await;
    assert!(saved.text.contains("Saved."), "{}", saved.text);
    assert_eq!(kinds(&saved), ["approval_waits"]);
    assert!(saved.text.contains("value=\"17\" selected") && saved.text.contains("value=\"5\" selected"));
    let none = submit(&ann, &ann.open(&path).await, &path, &choice(&["audit_failed"])).await;
    assert_eq!(kinds(&none), ["audit_failed"]);
    waits(&bench, "Oak").await;
    told(&bench).await;
    let taken = mail.taken();
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].header("To"), "vic@example.com");
    assert!(ann.open(&path).await.text.contains("Not mailed to you"));
    assert!(vic.open(&path).await.text.contains("Sent 21 Nov 2026"));
    // Another project has settings of its own, and a project of others is not there.
    let foreign = "/projects/01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21/settings/notices";
    assert_eq!(ann.open(foreign).await.status, 404);
    let csrf = ann.open("/account").await.field("csrf");
    let sent = ann
        .send(foreign, &[("csrf", csrf.as_str()), ("action", "mail")])
        .await;
    assert_eq!(sent.status, 404);
    let stranger = Browser::new(&bench);
    assert!(stranger.open(&path).await.text.contains("name=\"password\""));
}

async fn a_link_stops_mail_by_a_form_and_not_by_a_look(database: &str) {
    let (bench, mail) = with_mail(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, PATH);
    waits(&bench, "Oak").await;
    told(&bench).await;
    let link = mail.taken()[0].unsubscribe();
    assert!(mail.taken()[0].text.contains(&link), "it is in the text as well");
    let scanner = Browser::new(&bench);
    for _ in 0..3 {
        let page = scanner.open(&link).await;
        assert!(
            page.status == 200 && page.text.contains("Fern &#38; Fir"),
            "{}",
            page.text
        );
        assert_eq!(page.headers["cache-control"], "no-store");
    }
    assert_eq!(kinds(&ann.open(&path).await).len(), 7);
    // A message on its way is stopped as well.
    mail.fails(&[MailFault::Recipient("451 later")]);
    waits(&bench, "Elm").await;
    told(&bench).await;
    // A program of a mail provider: no cookie, and no header of a browser.
    let url = format!("http://{}{link}", bench.server.addresses.api);
    let request = bench
        .http
        .post(url)
        .header("content-type", "application/x-www-form-urlencoded");
    let answer = request.body("List-Unsubscribe=One-Click").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let page = ann.open(&path).await;
    assert!(kinds(&page).is_empty(), "{}", page.text);
    // Sent again, nothing is written: the form that somebody has open stays good.
    let again = scanner.send(&link, &[]).await;
    assert_eq!(again.status, 200);
    assert_eq!(ann.open(&path).await.field("version"), page.field("version"));
    assert!(
        page.text.contains("You stopped the mail of this project"),
        "{}",
        page.text
    );
    bench.clock.advance(3_600_000);
    turn(&bench).await;
    waits(&bench, "Yew").await;
    told(&bench).await;
    assert_eq!(mail.taken().len(), 1);
    // Other tokens do nothing.
    let mut forged = link.clone();
    forged.pop();
    for wrong in [
        forged.as_str(),
        "/notices/unsubscribe/x",
        "/notices/unsubscribe/%ff",
    ] {
        assert_eq!(scanner.open(wrong).await.status, 404, "{wrong}");
        assert_eq!(scanner.send(wrong, &[]).await.status, 404, "{wrong}");
    }
}

async fn the_chat_is_set_by_who_manages_and_its_address_is_not_shown(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let path = address(&bench, PATH);
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let secret = "https://hooks.slack.com/services/T00/B00/wordofthechat";
    let form = |secret| {
        vec![
            ("action", "chat"),
            ("secret", secret),
            ("kind", "audit_found"),
            ("digest", "on"),
            ("weekday", "1"),
            ("hour", "9"),
        ]
    };
    for role in [Role::Editor, Role::Viewer] {
        let person = signed_in(&bench, &format!("{role}@example.com"), role).await;
        let page = person.open(&path).await;
        assert!(!page.text.contains("name=\"secret\""), "{role}");
        for fields in [
            form(secret),
            vec![("action", "remove-chat")],
            vec![("action", "test-chat")],
        ] {
            let refused = submit(&person, &page, &path, &fields).await;
            assert_eq!(refused.status, 403, "{role}: {}", refused.text);
        }
    }
    let page = ann.open(&path).await;
    for wrong in [
        "",
        "hooks.slack.com/x",
        "http://hooks.slack.com/x",
        "https://127.0.0.1/x",
    ] {
        let refused = submit(&ann, &page, &path, &form(wrong)).await;
        assert_eq!(refused.status, 422, "{wrong}: {}", refused.text);
        assert!(refused.text.contains("role=\"alert\""));
    }
    let saved = submit(&ann, &ann.open(&path).await, &path, &form(secret)).await;
    assert!(
        saved.text.contains("hooks.slack.com/\u{2026}chat"),
        "{}",
        saved.text
    );
    for person in [&ann] {
        let page = person.open(&path).await.text;
        assert!(!page.contains("wordofthe") && !page.contains("T00"), "{page}");
    }
    let activity = bench.get("P/activity").await;
    assert_eq!(activity.json()["data"][0]["action"], "notices.chat");
    assert!(!String::from_utf8_lossy(&activity.body).contains("wordofthe"));
    let stored = std::fs::read(bench.folder.path().join("searchwright.sqlite")).unwrap_or_default();
    assert!(!stored.windows(9).any(|bytes| bytes == b"wordofthe"));
    let removed = submit(&ann, &ann.open(&path).await, &path, &[("action", "remove-chat")]).await;
    assert!(removed.text.contains("The chat was removed") && removed.text.contains("Not set"));
}

async fn a_test_shows_what_the_other_side_says(database: &str) {
    let (receiver, at) = Receiver::start().await;
    let allow = format!("allow_outbound=[\"webhook={at}\"]");
    let (bench, mail) = with_mail(database, &[&allow, "limits.runs_per_minute=4"]).await;
    let path = address(&bench, PATH);
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let page = ann.open(&path).await;
    let tried = submit(&ann, &page, &path, &[("action", "test-mail")]).await;
    assert!(
        tried
            .text
            .contains("The mail server took the test and answered: taken as number 7"),
        "{}",
        tried.text
    );
    assert_eq!(mail.taken()[0].header("To"), "ann@example.com");
    mail.fails(&[MailFault::Recipient("550 unknown here")]);
    let tried = submit(&ann, &page, &path, &[("action", "test-mail")]).await;
    assert_eq!(tried.status, 422);
    assert!(
        tried.text.contains("unknown here") && !tried.text.contains(SECRET),
        "{}",
        tried.text
    );
    let url = format!("http://{at}/a/hook-with-a-word");
    let chat = [
        ("action", "chat"),
        ("secret", url.as_str()),
        ("weekday", "1"),
        ("hour", "9"),
    ];
    let saved = submit(&ann, &page, &path, &chat).await;
    let tried = submit(&ann, &saved, &path, &[("action", "test-chat")]).await;
    assert!(
        tried.text.contains("The chat took the test and answered: 200"),
        "{}",
        tried.text
    );
    receiver.will_answer(&[403]);
    let tried = submit(&ann, &saved, &path, &[("action", "test-chat")]).await;
    assert_eq!(tried.status, 422);
    assert!(tried.text.contains("The chat answered 403"), "{}", tried.text);
    let limited = submit(&ann, &saved, &path, &[("action", "test-chat")]).await;
    assert_eq!(limited.status, 429, "{}", limited.text);
    assert_eq!(receiver.all().len(), 2);
}

async fn a_stale_form_and_a_wrong_one_are_refused_with_what_was_typed(database: &str) {
    let (bench, _mail) = with_mail(database, &[]).await;
    let path = address(&bench, PATH);
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let page = ann.open(&path).await;
    let mut first = choice(&["audit_found"]);
    first.push(("version", "0"));
    assert!(submit(&ann, &page, &path, &first).await.text.contains("Saved."));
    let mut stale = choice(&["audit_failed"]);
    stale.push(("version", "0"));
    let refused = submit(&ann, &page, &path, &stale).await;
    assert_eq!(refused.status, 412, "{}", refused.text);
    assert_eq!(kinds(&refused), ["audit_failed"], "what was typed");
    for (name, value) in [("weekday", "7"), ("hour", "24"), ("hour", "noon")] {
        let fields = [("action", "mail"), (name, value)];
        let refused = submit(&ann, &page, &path, &fields).await;
        assert_eq!(refused.status, 422, "{name} {value}");
    }
    assert_eq!(kinds(&ann.open(&path).await), ["audit_found"]);
}

async fn without_a_mail_server_the_page_names_the_settings(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, PATH);
    waits(&bench, "Oak").await;
    told(&bench).await;
    let page = ann.open(&path).await;
    for text in [
        "mail.smtp_url",
        "SEARCHWRIGHT_MAIL_FROM",
        "Mail is not set up",
        "A post waits for approval: Oak",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let tried = submit(&ann, &page, &path, &[("action", "test-mail")]).await;
    assert_eq!(tried.status, 422);
}

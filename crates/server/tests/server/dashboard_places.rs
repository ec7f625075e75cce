//! Pages of integrations and of webhooks.

use searchwright_contract::people::Role;
use serde_json::json;

use crate::{
    browser::Page,
    dashboard_audits::{address, signed_in, submit},
    publishing::start,
    webhook_receivers::{Receiver, bench, until, until_over},
};

on_both!(
    a_webhook_is_made_tested_and_deleted_on_its_page,
    deliveries_are_sent_again_and_answers_are_text,
    a_place_is_connected_mapped_and_disconnected,
);

/// The secret on a page, if one is.
fn shown_secret(page: &Page) -> Option<String> {
    let (_, rest) = page.text.split_once("id=\"secret\">")?;
    rest.split('<').next().map(str::to_owned)
}

async fn a_webhook_is_made_tested_and_deleted_on_its_page(database: &str) {
    let (receiver, at) = Receiver::start().await;
    let bench = bench(database, &[at]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let path = address(&bench, "/webhooks");
    let page = ann.open(&path).await;
    assert!(page.text.contains("No webhook yet"));
    let url = format!("http://{at}/one");
    for (wrong, event) in [
        ("ftp://x", "*"),
        ("nothing", "*"),
        (url.as_str(), "post.exploded"),
    ] {
        let refused = submit(&ann, &page, &path, &[("url", wrong), ("event", event)]).await;
        assert_eq!(refused.status, 422, "{wrong}");
        assert!(refused.text.contains(&format!("value=\"{wrong}\"")), "{wrong}");
    }
    let page = ann.open(&path).await;
    let fields = [("url", url.as_str()), ("event", "post.created")];
    let made = submit(&ann, &page, &path, &fields).await;
    assert_eq!(made.status, 200, "{}", made.text);
    assert_eq!(made.headers["cache-control"], "no-store");
    let secret = shown_secret(&made).unwrap();
    submit(&ann, &page, &path, &fields).await;
    let listed = bench.get("P/webhooks").await.json();
    assert_eq!(
        listed["data"].as_array().unwrap().len(),
        1,
        "sent twice, made once"
    );
    assert!(shown_secret(&ann.open(&path).await).is_none());
    let fresh = ann.open(&path).await;
    assert_eq!(submit(&ann, &fresh, &path, &fields).await.status, 409);

    let id = listed["data"][0]["id"].as_str().unwrap();
    let own = format!("{path}/{id}");
    let page = ann.open(&own).await;
    let tested = submit(&ann, &page, &own, &[("action", "test")]).await;
    assert!(tested.text.contains("A test is on its way"), "{}", tested.text);
    until(&bench, id, "succeeded", 1).await;
    let came = receiver.until("/one", 1).await.remove(0);
    assert!(came.verified(&secret).is_some());

    // A new secret, and the page of before.
    let page = ann.open(&own).await;
    let version = page.field("version");
    let rotate = [("action", "rotate"), ("version", version.as_str())];
    let rotated = submit(&ann, &page, &own, &rotate).await;
    assert_ne!(shown_secret(&rotated).unwrap(), secret);
    let page = ann.open(&own).await;
    assert!(shown_secret(&page).is_none());
    let delete = [("action", "delete"), ("version", version.as_str())];
    for _ in 0..2 {
        // The same form sent twice is refused twice, in the same words.
        let stale = submit(&ann, &page, &own, &delete).await;
        assert_eq!(stale.status, 412, "{}", stale.text);
        assert!(stale.text.contains("role=\"alert\""), "{}", stale.text);
    }

    let ed = signed_in(&bench, "ed@example.com", Role::Editor).await;
    for path in [&path, &own] {
        let page = ed.open(path).await;
        assert!(
            page.status == 200 && !page.text.contains("<form method=\"post\""),
            "{}",
            page.text
        );
    }
    let csrf = ed.open("/account").await.field("csrf");
    for (path, form) in [
        (&path, vec![("csrf", csrf.as_str()), fields[0], ("event", "*")]),
        (&own, vec![("csrf", csrf.as_str()), ("action", "test")]),
    ] {
        assert_eq!(ed.send(path, &form).await.status, 403);
    }
    let page = ann.open(&own).await;
    let delete = [("action", "delete"), ("version", &page.field("version"))];
    let gone = submit(&ann, &page, &own, &delete).await;
    assert!(gone.text.contains("The webhook was deleted"), "{}", gone.text);
    assert_eq!(ann.open(&own).await.status, 404);
    let nowhere = format!("{path}/01936f31-6a0a-7d55-b1c7-8a2f4e6d9b21");
    assert_eq!(ann.open(&nowhere).await.status, 404);
}

async fn deliveries_are_sent_again_and_answers_are_text(database: &str) {
    let (receiver, at) = Receiver::start().await;
    let bench = bench(database, &[at]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let hook = json!({ "targetUrl": format!("http://{at}/<b>"), "event": "post.created" });
    let id = bench.post("P/webhooks", hook).await.json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let own = address(&bench, &format!("/webhooks/{id}"));
    receiver.will_answer(&[410]);
    bench.post("P/posts", json!({ "title": "Oak" })).await;
    until(&bench, &id, "failed", 1).await;
    let page = ann.open(&own).await;
    assert!(
        page.text.contains("answered 410") && page.text.contains("It answered 410"),
        "{}",
        page.text
    );
    assert!(page.text.contains("thanks \\u{1b}[31mred") && !page.text.contains("<b>"));
    // It is off until a test succeeds; then what failed is sent again.
    let refused = submit(&ann, &page, &own, &[("action", "recover")]).await;
    assert_eq!(refused.status, 409);
    assert!(
        refused.text.contains("the webhook is disabled") || refused.text.contains("The webhook is disabled")
    );
    let page = ann.open(&own).await;
    submit(&ann, &page, &own, &[("action", "test")]).await;
    until(&bench, &id, "succeeded", 1).await;
    let page = ann.open(&format!("{own}?status=failed")).await;
    let delivery = page.field("delivery");
    let replay = [("action", "replay"), ("delivery", delivery.as_str())];
    let sent = submit(&ann, &page, &own, &replay).await;
    assert!(sent.text.contains("The delivery is sent again"), "{}", sent.text);
    until_over(&bench, &id, &json!(delivery)).await;
    let page = ann.open(&own).await;
    let none = submit(&ann, &page, &own, &[("action", "recover"), ("days", "7")]).await;
    assert!(
        none.text.contains("No delivery has failed in that time"),
        "{}",
        none.text
    );
}

async fn a_place_is_connected_mapped_and_disconnected(database: &str) {
    let (bench, _blog) = start(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let path = address(&bench, "/integrations");
    let list = ann.open(&path).await;
    assert!(
        list.text.contains("WordPress") && list.text.contains("Ready"),
        "{}",
        list.text
    );
    let framer = ann.open(&format!("{path}/framer")).await;
    assert!(
        framer.status == 200 && !framer.text.contains("<form method=\"post\""),
        "{}",
        framer.text
    );
    assert_eq!(ann.open(&format!("{path}/blogger")).await.status, 404);

    // A page of our own asks for what Ghost needs.
    let ghost = format!("{path}/ghost");
    let page = ann.open(&ghost).await;
    let wrong = [("action", "connect"), ("siteUrl", "nowhere")];
    let refused = submit(&ann, &page, &ghost, &wrong).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text.contains("value=\"nowhere\""));
    let page = ann.open(&ghost).await;
    let asked = submit(&ann, &page, &ghost, &[("action", "connect")]).await;
    let is_there = asked
        .location
        .as_deref()
        .is_some_and(|at| at.contains("/connect/"));
    assert!(
        is_there || asked.text.contains("Ghost"),
        "{} {}",
        asked.status,
        asked.text
    );
    assert!(ann.open(&path).await.text.contains("Link waits for a person"));

    let own = format!("{path}/wordpress");
    let page = ann.open(&own).await;
    assert!(page.text.contains("name=\"map-title\""), "{}", page.text);
    let version = page.field("version");
    let place = [
        ("site", page.field("site")),
        ("collection", page.field("collection")),
    ];
    let fields = |title: &'static str| {
        let mut fields = vec![
            ("action", "map"),
            ("version", version.as_str()),
            ("map-title", title),
            ("map-content", "content"),
        ];
        fields.extend(place.iter().map(|(name, value)| (*name, value.as_str())));
        fields
    };
    let refused = submit(&ann, &page, &own, &fields("nothing-there")).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    let page = ann.open(&own).await;
    let saved = submit(&ann, &page, &own, &fields("title")).await;
    assert!(saved.text.contains("The mapping was saved"), "{}", saved.text);
    let listed = bench.get("P/integrations").await.json();
    assert_eq!(
        listed["data"][0]["fieldMap"],
        json!({ "title": "title", "content": "content" })
    );
    let stale = submit(&ann, &saved, &own, &fields("title")).await;
    assert_eq!(stale.status, 412, "{}", stale.text);

    let ed = signed_in(&bench, "ed@example.com", Role::Editor).await;
    let shown = ed.open(&own).await;
    assert!(
        shown.status == 200 && !shown.text.contains("Disconnect"),
        "{}",
        shown.text
    );
    let csrf = ed.open("/account").await.field("csrf");
    let refused = ed.send(&own, &[("csrf", &csrf), ("action", "disconnect")]).await;
    assert_eq!(refused.status, 403);
    let version = saved.field("version");
    let gone = submit(
        &ann,
        &saved,
        &own,
        &[("action", "disconnect"), ("version", &version)],
    )
    .await;
    assert!(gone.text.contains("Disconnected"), "{}", gone.text);
    let listed = bench.get("P/integrations").await.json();
    assert_eq!(listed["data"][0]["status"], "not_connected");
}

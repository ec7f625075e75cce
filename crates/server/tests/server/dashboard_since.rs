//! Changes since the last visit, on the overview: for each person apart, and until they have read it.

use searchwright_contract::{Clock, people::Role};
use serde_json::json;

use crate::{
    audited::{audit, bench_by, page},
    browser::{Browser, Page},
    dashboard_audits::{address, signed_in, submit},
    harness::{Bench, now},
};

on_both!(
    what_changed_since_the_last_visit_is_counted,
    a_period_moves_on_when_it_was_read_or_after_a_while,
    each_person_and_project_has_a_period_of_its_own,
);

const MINUTE: i64 = 60_000;

/// The section of the overview.
async fn since(browser: &Browser<'_>, bench: &Bench) -> (Page, String) {
    let page = browser.open(&address(bench, "")).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let (_, rest) = page.text.split_once("id=\"since\"").unwrap();
    let section = rest.split("</section>").next().unwrap().to_owned();
    (page, section)
}

async fn keyword(bench: &Bench, text: &str) {
    let made = bench.post("P/keywords", json!({ "keyword": text })).await;
    assert_eq!(made.status, 201);
}

async fn what_changed_since_the_last_visit_is_counted(database: &str) {
    let (bench, site) = bench_by(database, "", Clock::fixed(now())).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Viewer).await;
    let (_, first) = since(&ann, &bench).await;
    assert!(first.contains("This is your first visit"), "{first}");
    assert!(!first.contains("<form"));
    let (_, again) = since(&ann, &bench).await;
    assert!(again.contains("Nothing changed since"), "{again}");

    bench.clock.advance(40 * MINUTE);
    for path in ["/a", "/b", "/c"] {
        site.put(
            path,
            200,
            &page(&format!("<title>A title of its own for {path}</title>"), &["/"]),
        );
    }
    site.put("/", 500, "broken");
    audit(&bench).await;
    keyword(&bench, "oak desk").await;
    keyword(&bench, "elm desk").await;
    let ed = signed_in(&bench, "ed@example.com", Role::Editor).await;
    let form = ed.open(&address(&bench, "/keywords")).await;
    let added = submit(
        &ed,
        &form,
        &address(&bench, "/keywords"),
        &[("action", "add"), ("keyword", "ash desk")],
    )
    .await;
    assert_eq!(added.status, 200, "{}", added.text);
    bench.clock.advance(MINUTE);
    let (_, section) = since(&ann, &bench).await;
    for (text, rest) in [
        ("1 audit finished", "/audits"),
        ("3 changes by keys and agents", "/activity"),
        ("1 change by a person", "/activity"),
    ] {
        let link = format!("<a href=\"{}\">{text}</a>", address(&bench, rest));
        assert!(section.contains(&link), "{text}: {section}");
    }
    assert!(section.contains("new issue"), "{section}");
    assert!(section.contains("Mark as read"));
}

async fn a_period_moves_on_when_it_was_read_or_after_a_while(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    since(&ann, &bench).await;
    bench.clock.advance(MINUTE);
    keyword(&bench, "oak desk").await;
    // However often the page is loaded, what is new stays.
    for _ in 0..6 {
        bench.clock.advance(20 * MINUTE);
        let (_, section) = since(&ann, &bench).await;
        assert!(section.contains("1 change by a key or an agent"), "{section}");
    }
    // The last view is what was seen when somebody comes back.
    bench.clock.advance(20 * MINUTE);
    keyword(&bench, "elm desk").await;
    bench.clock.advance(11 * MINUTE);
    let (page, section) = since(&ann, &bench).await;
    assert!(section.contains("1 change by a key or an agent"), "{section}");
    keyword(&bench, "ash desk").await;
    bench.clock.advance(MINUTE);
    let path = address(&bench, "/seen");
    let read = submit(&ann, &page, &path, &[]).await;
    assert!(read.text.contains("is marked as read"), "{}", read.text);
    assert!(read.text.contains("Nothing changed since"), "{}", read.text);
    let again = submit(&ann, &page, &path, &[]).await;
    assert_eq!(again.status, 200);
    let forged = ann.send(&path, &[("csrf", "x")]).await;
    assert_eq!(forged.status, 403);
    bench.clock.advance(MINUTE);
    keyword(&bench, "fir desk").await;
    let (_, section) = since(&ann, &bench).await;
    assert!(section.contains("1 change by a key or an agent"), "{section}");
}

async fn each_person_and_project_has_a_period_of_its_own(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    since(&ann, &bench).await;
    since(&eve, &bench).await;
    bench.clock.advance(MINUTE);
    keyword(&bench, "oak desk").await;
    let (page, _) = since(&eve, &bench).await;
    bench.clock.advance(MINUTE);
    let read = submit(&eve, &page, &address(&bench, "/seen"), &[]).await;
    assert!(read.text.contains("Nothing changed since"), "{}", read.text);
    let (_, section) = since(&ann, &bench).await;
    assert!(section.contains("1 change by a key or an agent"), "{section}");
    let (other, _) = bench.neighbour().await;
    let elsewhere = ann.open(&format!("/projects/{other}")).await;
    assert!(
        elsewhere.text.contains("This is your first visit"),
        "{}",
        elsewhere.text
    );
    let nowhere = "/projects/01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21/seen";
    assert_eq!(
        submit(&ann, &page, nowhere, &[]).await.status,
        403,
        "a form of another session"
    );
    let (own, _) = since(&ann, &bench).await;
    assert_eq!(submit(&ann, &own, nowhere, &[]).await.status, 404);
    let stranger = Browser::new(&bench);
    let sent = stranger.send(&address(&bench, "/seen"), &[("csrf", "x")]).await;
    assert_eq!(sent.status, 401);
}

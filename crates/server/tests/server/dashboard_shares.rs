//! Share links: one report for people without an account, until the link ends; who makes them, and what they do not show.

use std::{
    io,
    sync::{Arc, LazyLock, Mutex},
};

use searchwright_contract::{Clock, people::Role};
use searchwright_store::sql;
use serde_json::json;

use crate::{
    audited::{audit, bench_by, page},
    browser::{Browser, Page},
    dashboard_audits::{address, signed_in, submit},
    harness::{Bench, now},
    visibility::{copy, hours_ago, prompt, with_brand},
};

on_both!(
    a_link_shows_the_report_of_its_audit_to_anyone,
    a_link_that_ended_looks_like_one_that_never_existed,
    a_link_reads_its_report_and_is_no_credential,
    a_form_makes_one_link_and_keeps_what_was_typed,
    links_are_made_and_revoked_by_admins_only,
    a_link_shows_visibility_of_the_last_days_or_of_fixed_ones,
    text_of_others_is_no_markup_in_a_shared_report,
    a_long_report_has_pages,
    what_is_ignored_is_left_out_of_a_shared_report,
    opening_links_is_limited_by_address,
    tokens_of_links_are_in_no_log,
);

const DAY: i64 = 86_400_000;
const UNKNOWN: &str = "/share/swv_0000000000000000000000000000000000000";

/// Path of the link that a page shows, if it shows one.
fn shown_link(page: &Page) -> Option<String> {
    let (_, rest) = page.text.split_once("id=\"new-link\">")?;
    let link = rest.split('<').next()?;
    let at = link.find("/share/")?;
    Some(link[at..].to_owned())
}

/// Shares what a page shows.
async fn share(browser: &Browser<'_>, bench: &Bench, path: &str, fields: &[(&str, &str)]) -> Page {
    let from = browser.open(path).await;
    assert!(from.text.contains("Make the link"), "{}", from.text);
    submit(browser, &from, &address(bench, "/settings/shares"), fields).await
}

async fn current(bench: &Bench) -> String {
    let audit = bench.get("P/audits/current").await.json();
    audit["id"].as_str().unwrap().to_owned()
}

/// A project with an audit, its owner, and a link to the audit.
async fn audited(database: &str) -> (Bench, crate::audited::Website, String) {
    let (bench, site) = bench_by(database, "", Clock::fixed(now())).await;
    let id = current(&bench).await;
    (bench, site, id)
}

fn audit_page(bench: &Bench, id: &str) -> String {
    address(bench, &format!("/audits/{id}"))
}

async fn ended(browser: &Browser<'_>, path: &str) {
    let (page, unknown) = (browser.open(path).await, browser.open(UNKNOWN).await);
    assert_eq!(page.status, 404, "{path}: {}", page.text);
    assert!(
        page.text
            .contains("This link has ended or never existed. Ask who sent it for a new one."),
        "{}",
        page.text
    );
    assert_eq!(page.text, unknown.text);
    let names = |page: &Page| {
        let mut names: Vec<String> = page.headers.iter().map(|(n, v)| format!("{n}: {v:?}")).collect();
        names.retain(|line| !line.starts_with("date"));
        names
    };
    assert_eq!(names(&page), names(&unknown));
}

async fn a_link_shows_the_report_of_its_audit_to_anyone(database: &str) {
    let (bench, site, first) = audited(database).await;
    site.put(
        "/a",
        200,
        &page("<title>A title that is now there</title>", &["/"]),
    );
    bench.clock.advance(DAY);
    let second = audit(&bench).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let id = second["id"].as_str().unwrap();
    let made = share(&ann, &bench, &audit_page(&bench, id), &[("audit", id)]).await;
    assert_eq!(made.status, 200, "{}", made.text);
    assert_eq!(made.headers["cache-control"], "no-store");
    let link = shown_link(&made).unwrap();
    let list = ann.open(&address(&bench, "/settings/shares")).await;
    let token = link.strip_prefix("/share/").unwrap();
    assert!(!list.text.contains(token) && list.text.contains(&token[..12]));
    assert!(list.text.contains("never"), "{}", list.text);

    let stranger = Browser::new(&bench);
    let report = stranger.open(&link).await;
    assert_eq!(report.status, 200, "{}", report.text);
    for text in [
        "Audit of Desks",
        "127.0.0.1",
        "This link ends",
        "of 100",
        "Since the audit before",
        "Fixed, page by page",
        "Why it matters",
        "How to verify",
    ] {
        assert!(report.text.contains(text), "{text}: {}", report.text);
    }
    assert!(report.text.len() < 150_000);
    for absent in [
        "Ann",
        "/projects",
        "href=\"/\"",
        "<form",
        "<script",
        "login",
        first.as_str(),
        id,
        bench.project.to_string().as_str(),
    ] {
        assert!(!report.text.contains(absent), "{absent}: {}", report.text);
    }
    for (name, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-robots-tag", "noindex"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(report.headers[name], value);
    }
    let policy = report.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"));
    assert!(!policy.contains("script-src"));
    assert!(!report.headers.contains_key("set-cookie"));

    // Only reading, and only the first page of it is counted.
    let root = format!("http://{}{link}", bench.server.addresses.api);
    let head = bench.http.head(&root).send().await.unwrap();
    assert_eq!(
        (
            head.status().as_u16(),
            head.headers()["referrer-policy"].to_str().unwrap()
        ),
        (200, "no-referrer")
    );
    assert!(head.text().await.unwrap().is_empty());
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let sent = bench
            .http
            .request(method.parse().unwrap(), &root)
            .send()
            .await
            .unwrap();
        assert_eq!(sent.status(), 405, "{method}");
    }
    assert_eq!(stranger.open(&format!("{link}?page=2")).await.status, 200);
    let list = ann.open(&address(&bench, "/settings/shares")).await;
    assert!(list.text.contains("1 time<"), "{}", list.text);
    // A program that adds a slash to addresses leads there too, and a form that is sent there is told that on a page.
    assert_eq!(stranger.open(&format!("{link}/")).await.status, 200);
    let sent = stranger.send(&link, &[("a", "b")]).await;
    assert_eq!(sent.status, 405);
    assert_eq!(sent.headers["allow"], "GET, HEAD");
    assert!(sent.text.contains("<h1>Only for reading</h1>"), "{}", sent.text);

    // The report stays that of its audit.
    bench.clock.advance(DAY);
    audit(&bench).await;
    let later = stranger.open(&link).await;
    let counts = |page: &Page| {
        page.text
            .split("id=\"changes\"")
            .nth(1)
            .unwrap()
            .split("<h2")
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(counts(&later), counts(&report));
    let log = bench.get("P/activity").await.json();
    let entry = &log["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["action"] == "shares.create");
    assert_eq!(entry.unwrap()["user"]["name"], "Ann");
}

async fn a_link_that_ended_looks_like_one_that_never_existed(database: &str) {
    let (bench, _site, id) = audited(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let (path, stranger) = (audit_page(&bench, &id), Browser::new(&bench));
    let list = address(&bench, "/settings/shares");
    let week = shown_link(&share(&ann, &bench, &path, &[("audit", &id), ("days", "7")]).await).unwrap();
    let month = shown_link(&share(&ann, &bench, &path, &[("audit", &id)]).await).unwrap();
    for odd in [
        "/share/x",
        "/share/%00",
        "/share/%ff",
        "/share/swk_x",
        &format!("{week}x"),
    ] {
        ended(&stranger, odd).await;
    }
    ended(&stranger, &week.replace("swv_", "swk_")).await;

    // Revoked: that of the week is the older one, and so the second of the list.
    let page = ann.open(&list).await;
    let links: Vec<&str> = page.text.split("name=\"link\" value=\"").skip(1).collect();
    let older = links[1].split('"').next().unwrap();
    let revoke = [("action", "revoke"), ("link", older)];
    let revoked = submit(&ann, &page, &list, &revoke).await;
    assert!(revoked.text.contains("The link was revoked"), "{}", revoked.text);
    assert!(revoked.text.contains("1 ended link"));
    ended(&stranger, &week).await;
    assert_eq!(stranger.open(&month).await.status, 200);
    let again = submit(&ann, &revoked, &list, &revoke).await;
    assert_eq!(again.status, 200);
    let log = bench.get("P/activity").await.json();
    let revocations = log["data"].as_array().unwrap().iter();
    assert_eq!(
        revocations
            .filter(|entry| entry["action"] == "shares.revoke")
            .count(),
        1
    );

    // Expired, to the millisecond.
    bench.clock.advance(30 * DAY - 1);
    assert_eq!(stranger.open(&month).await.status, 200);
    bench.clock.advance(1);
    ended(&stranger, &month).await;

    // Its audit is gone.
    let ben = signed_in(&bench, "ben@example.com", Role::Admin).await;
    let page = ben.open(&list).await;
    assert!(
        page.text.contains("Ended") && page.text.contains("expired"),
        "{}",
        page.text
    );
    let dated = shown_link(&share(&ben, &bench, &path, &[("audit", &id), ("until", "2027-01-31")]).await);
    let dated = dated.unwrap();
    assert_eq!(stranger.open(&dated).await.status, 200);
    let project = bench.project;
    let db = &bench.server.app.engine.db;
    let gone = db.write(move |tx| {
        Box::pin(async move {
            sql("DELETE FROM audits WHERE project_id = $1")
                .bind(project)
                .execute(tx)
                .await
        })
    });
    gone.await.unwrap();
    ended(&stranger, &dated).await;
    assert!(ben.open(&list).await.text.contains("An audit that is gone"));
    // Its project is gone, and with it the link.
    let gone = db.write(move |tx| {
        Box::pin(async move {
            sql("DELETE FROM share_links WHERE project_id = $1")
                .bind(project)
                .execute(tx)
                .await
        })
    });
    gone.await.unwrap();
    ended(&stranger, &dated).await;
}

async fn a_link_reads_its_report_and_is_no_credential(database: &str) {
    let (bench, _site, id) = audited(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let link = shown_link(&share(&ann, &bench, &audit_page(&bench, &id), &[("audit", &id)]).await).unwrap();
    let token = link.strip_prefix("/share/").unwrap();
    for path in ["/me", "P", "P/audits", "P/issues", "P/visibility/overview"] {
        assert_eq!(
            bench.call("GET", path).key(token).send().await.status,
            401,
            "{path}"
        );
    }
    let mut stranger = Browser::new(&bench);
    stranger.cookie = Some(token.to_owned()).into();
    for path in [
        address(&bench, ""),
        audit_page(&bench, &id),
        "/account".to_owned(),
    ] {
        let page = stranger.open(&path).await;
        assert!(page.text.contains("name=\"password\""), "{path} is open");
    }
    // Nothing in its address names another report.
    let (other, _) = bench.neighbour().await;
    let stranger = Browser::new(&bench);
    let plain = stranger.open(&link).await.text;
    for odd in [
        format!("?project={other}"),
        format!("?audit={other}&against={other}&issue_id={other}"),
        "?cursor=x&change=added&page=0".to_owned(),
        "?page=-1".to_owned(),
        "/".to_owned(),
    ] {
        assert_eq!(stranger.open(&format!("{link}{odd}")).await.text, plain, "{odd}");
    }
    for below in ["/issues", &format!("/audits/{id}")] {
        assert_eq!(
            stranger.open(&format!("{link}{below}")).await.status,
            404,
            "{below}"
        );
    }
    // The key and the session are what they were.
    assert_eq!(bench.get("/me").await.status, 200);
    assert_eq!(ann.open(&address(&bench, "")).await.status, 200);
    // An audit of another project cannot be shared from this one.
    let page = ann.open(&audit_page(&bench, &id)).await;
    for foreign in [other.to_string(), "x".to_owned()] {
        let refused = submit(
            &ann,
            &page,
            &address(&bench, "/settings/shares"),
            &[("audit", &foreign)],
        )
        .await;
        assert_eq!(refused.status, 404, "{foreign}");
        assert!(shown_link(&refused).is_none());
    }
}

async fn a_form_makes_one_link_and_keeps_what_was_typed(database: &str) {
    let (bench, _site, id) = audited(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let (path, list) = (audit_page(&bench, &id), address(&bench, "/settings/shares"));
    let page = ann.open(&path).await;
    let fields = [("audit", id.as_str()), ("days", "90")];
    assert!(shown_link(&submit(&ann, &page, &list, &fields).await).is_some());
    let twice = submit(&ann, &page, &list, &fields).await;
    assert_eq!(twice.status, 409);
    assert!(twice.text.contains("was shown then") && shown_link(&twice).is_none());
    assert!(twice.text.contains("1 live link,"), "{}", twice.text);

    for (field, value) in [
        ("until", "soon"),
        ("until", "2020-01-01"),
        ("until", "2036-01-01"),
        ("days", "365"),
        ("days", "never"),
    ] {
        let page = ann.open(&path).await;
        let refused = submit(&ann, &page, &list, &[("audit", &id), (field, value)]).await;
        assert_eq!(refused.status, 422, "{value}: {}", refused.text);
        assert!(refused.text.contains("role=\"alert\"") && shown_link(&refused).is_none());
        if field == "until" {
            assert!(
                refused.text.contains(&format!("value=\"{value}\"")),
                "{}",
                refused.text
            );
        }
        // It can be mended on the page that refused it.
        let mended = submit(&ann, &refused, &list, &[("audit", &id), ("days", "7")]).await;
        let link = shown_link(&mended).unwrap();
        let page = ann.open(&list).await;
        let newest = page.field("link");
        submit(&ann, &page, &list, &[("action", "revoke"), ("link", &newest)]).await;
        ended(&Browser::new(&bench), &link).await;
    }

    // Fifty are live at most.
    for _ in 1..50 {
        let page = ann.open(&path).await;
        assert!(shown_link(&submit(&ann, &page, &list, &fields).await).is_some());
    }
    let page = ann.open(&path).await;
    let many = submit(&ann, &page, &list, &fields).await;
    assert_eq!(many.status, 409);
    assert!(many.text.contains("at most 50 live share links"), "{}", many.text);
    let newest = many.field("link");
    let revoked = submit(&ann, &many, &list, &[("action", "revoke"), ("link", &newest)]).await;
    assert!(revoked.text.contains("49 live links"), "{}", revoked.text);
    assert!(shown_link(&submit(&ann, &page, &list, &fields).await).is_some());
}

async fn links_are_made_and_revoked_by_admins_only(database: &str) {
    let (bench, _site, id) = audited(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let (path, list) = (audit_page(&bench, &id), address(&bench, "/settings/shares"));
    let link = shown_link(&share(&ann, &bench, &path, &[("audit", &id)]).await).unwrap();
    let known = ann.open(&list).await.field("link");
    for (email, role) in [
        ("ed@example.com", Role::Editor),
        ("eve@example.com", Role::Viewer),
    ] {
        let browser = signed_in(&bench, email, role).await;
        for page in [&path, &address(&bench, "/visibility")] {
            assert!(
                !browser.open(page).await.text.contains("Make the link"),
                "{email}: {page}"
            );
        }
        let shown = browser.open(&list).await;
        assert_eq!(shown.status, 200);
        assert!(
            !shown.text.contains("<form method=\"post\"") && shown.text.contains("by an admin or the owner")
        );
        let csrf = browser.open("/account").await.field("csrf");
        for form in [
            vec![("action", "share"), ("audit", id.as_str())],
            vec![("action", "share"), ("period", "moving")],
            vec![("action", "revoke"), ("link", known.as_str())],
        ] {
            let mut form = form;
            form.push(("csrf", csrf.as_str()));
            let refused = browser.send(&list, &form).await;
            assert_eq!(refused.status, 403, "{form:?}: {}", refused.text);
            assert!(refused.text.contains("needs the role admin"), "{}", refused.text);
        }
    }
    let stranger = Browser::new(&bench);
    assert_eq!(stranger.open(&link).await.status, 200, "it was not revoked");
    assert!(stranger.open(&list).await.text.contains("name=\"password\""));
    // A link of another project is not there, and a sign-in has to be recent.
    let page = ann.open(&list).await;
    let nowhere = "01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21";
    let foreign = submit(&ann, &page, &list, &[("action", "revoke"), ("link", nowhere)]).await;
    assert_eq!(foreign.status, 404);
    bench.clock.advance(15 * 60_000);
    let late = ann.open(&path).await;
    assert!(late.text.contains("confirm that it is you") && !late.text.contains("Make the link"));
    let sent = submit(&ann, &page, &list, &[("action", "revoke"), ("link", &known)]).await;
    assert!(sent.text.contains("Confirm that it is you"), "{}", sent.text);
    assert_eq!(stranger.open(&link).await.status, 200);
}

async fn a_link_shows_visibility_of_the_last_days_or_of_fixed_ones(database: &str) {
    let bench = with_brand(database).await;
    let question = "Which standing desk is quiet, of all?";
    let id = prompt(&bench, question).await;
    let text = "1. **Acme Desk** – quiet\n2. **Bolt Desks** – cheap\n3. **Oakworks** – heavy";
    let item = json!({ "engine": "chatgpt", "askedAt": hours_ago(&bench, 1), "text": text,
                       "citations": [{ "url": "https://acme.example/desks", "title": "Desks" }] });
    assert_eq!(copy(&bench, &id, json!([item])).await.status, 201);
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, "/visibility?period=7d");
    let moving = shown_link(&share(&ann, &bench, &path, &[("period", "moving")]).await).unwrap();
    let from = ann.open(&path).await;
    let (first, last) = (from.field("first"), from.field("last"));
    let fields = [
        ("period", "fixed"),
        ("first", first.as_str()),
        ("last", last.as_str()),
    ];
    let fixed = shown_link(&share(&ann, &bench, &path, &fields).await).unwrap();
    let list = ann.open(&address(&bench, "/settings/shares")).await;
    assert!(list.text.contains("the last 28 days") && list.text.contains(&format!("{first} to {last}")));

    let stranger = Browser::new(&bench);
    for link in [&moving, &fixed] {
        let report = stranger.open(link).await;
        assert_eq!(report.status, 200, "{}", report.text);
        for text in [
            "Fern &#38; Fir",
            "1 of 1 answers",
            "Thin evidence",
            "Bolt Desks",
            "class=\"chart\"",
            "This link ends",
        ] {
            assert!(report.text.contains(text), "{text}: {}", report.text);
        }
        for absent in [
            "Ann",
            "/projects",
            "href=\"/\"",
            "<form",
            "<script",
            question,
            "Oakworks",
            "quiet",
            "?view=",
        ] {
            assert!(!report.text.contains(absent), "{absent}: {}", report.text);
        }
        assert!(report.text.len() < 150_000);
        assert_eq!(report.headers["referrer-policy"], "no-referrer");
        assert_eq!(report.headers["x-robots-tag"], "noindex");
    }
    assert!(
        stranger
            .open(&fixed)
            .await
            .text
            .contains(&format!("{first} to {last}"))
    );
    for (first, last) in [
        ("2026-11-28", "2026-11-01"),
        ("x", "y"),
        ("2020-01-01", "2026-11-01"),
        ("", ""),
    ] {
        let fields = [("period", "fixed"), ("first", first), ("last", last)];
        let refused = share(&ann, &bench, &path, &fields).await;
        assert_eq!(refused.status, 422, "{first} {last}: {}", refused.text);
        assert!(shown_link(&refused).is_none());
    }
    // A month later one still shows its days, and the other has others.
    bench.clock.advance(29 * DAY);
    assert!(stranger.open(&fixed).await.text.contains("1 of 1 answers"));
    assert!(stranger.open(&moving).await.text.contains("Not measured"));
}

async fn text_of_others_is_no_markup_in_a_shared_report(database: &str) {
    let (bench, site, _) = audited(database).await;
    let bad = "<script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}";
    let (project, name) = (bench.project, bad.to_owned());
    let db = &bench.server.app.engine.db;
    let renamed = db.write(move |tx| {
        Box::pin(async move {
            sql("UPDATE projects SET name = $2 WHERE id = $1")
                .bind(project)
                .bind(name)
                .execute(tx)
                .await
        })
    });
    renamed.await.unwrap();
    let title = format!(
        "<title>&lt;script&gt;alert(3)&lt;/script&gt; {}</title>",
        "long ".repeat(400)
    );
    site.put(
        "/a",
        200,
        &page(
            &title,
            &["/%22%3E%3Cscript%3Ealert(4)%3C/script%3E", "javascript:alert(5)"],
        ),
    );
    let id = audit(&bench).await["id"].as_str().unwrap().to_owned();
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = audit_page(&bench, &id);
    let links = [
        shown_link(&share(&ann, &bench, &path, &[("audit", &id)]).await).unwrap(),
        shown_link(&share(&ann, &bench, &address(&bench, "/visibility"), &[]).await).unwrap(),
    ];
    let stranger = Browser::new(&bench);
    for link in links {
        for part in 1..4 {
            let report = stranger.open(&format!("{link}?page={part}")).await;
            assert_eq!(report.status, 200);
            for absent in ["<script", "<img", "href=\"javascript", "\u{202e}"] {
                assert!(!report.text.contains(absent), "{absent}: {}", report.text);
            }
            assert!(
                report.text.contains("&#60;script&#62;alert(1)"),
                "{}",
                report.text
            );
            assert!(report.text.len() < 150_000);
        }
    }
}

async fn a_long_report_has_pages(database: &str) {
    let (bench, _site, id) = audited(database).await;
    let found = bench.get("P/issues?limit=100&status=active").await.json();
    let titles: Vec<String> = found["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| issue["title"].as_str().unwrap().replace('\'', "&#39;"))
        .collect();
    assert!(titles.len() > 8, "{titles:?}");
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let link = shown_link(&share(&ann, &bench, &audit_page(&bench, &id), &[("audit", &id)]).await).unwrap();
    let stranger = Browser::new(&bench);
    let first = stranger.open(&link).await.text;
    assert!(
        first.contains(&format!("1 to 8 of {} issues", titles.len())),
        "{first}"
    );
    assert!(first.contains("href=\"?page=2\"") && !first.contains("Page before"));
    let mut all = String::new();
    for part in 1..=titles.len().div_ceil(8) {
        all += &stranger.open(&format!("{link}?page={part}")).await.text;
    }
    for title in &titles {
        assert_eq!(
            all.matches(&format!("</span> {title} <span")).count(),
            1,
            "{title}"
        );
    }
    let beyond = stranger.open(&format!("{link}?page=999")).await;
    assert!(beyond.status == 200 && beyond.text.contains("The list ends before this page"));
    assert!(!all.contains("Which pages this audit found issues on is no longer kept"));
}

async fn what_is_ignored_is_left_out_of_a_shared_report(database: &str) {
    let (bench, _site, id) = audited(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let link = shown_link(&share(&ann, &bench, &audit_page(&bench, &id), &[("audit", &id)]).await).unwrap();
    let stranger = Browser::new(&bench);
    let found = crate::audited::occurrence(&bench, "title-missing", "/a").await;
    let title = crate::audited::issue(&bench, "title-missing").await["title"]
        .as_str()
        .unwrap()
        .to_owned();
    let row = format!("</span> {title} <span");
    assert!(stranger.open(&link).await.text.contains(&row));
    crate::audited::say(&bench, "ignore", &[crate::audited::pair(&found)]).await;
    let after = stranger.open(&link).await.text;
    assert!(!after.contains(&row), "{after}");
}

async fn opening_links_is_limited_by_address(database: &str) {
    let bench = Bench::on(database, &["limits.failed_authentications_per_minute=3"]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let link = shown_link(&share(&ann, &bench, &address(&bench, "/visibility"), &[]).await).unwrap();
    let stranger = Browser::new(&bench);
    assert_eq!(stranger.open(&link).await.status, 200);
    assert_eq!(stranger.open(UNKNOWN).await.status, 404);
    assert_eq!(stranger.open(UNKNOWN).await.status, 404);
    for path in [UNKNOWN, &link] {
        let late = stranger.open(path).await;
        assert_eq!(late.status, 429);
        assert!(
            late.headers["retry-after"]
                .to_str()
                .unwrap()
                .parse::<u32>()
                .unwrap()
                > 0
        );
        assert_eq!(late.headers["referrer-policy"], "no-referrer");
    }
    bench.clock.advance(60_000);
    assert_eq!(stranger.open(&link).await.status, 200);
    assert_eq!(
        bench.get("/me").await.status,
        200,
        "keys have quotas of their own"
    );
}

/// Everything that this process logged.
static LOG: LazyLock<Arc<Mutex<Vec<u8>>>> = LazyLock::new(Arc::default);

struct LogWriter;

impl io::Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn tokens_of_links_are_in_no_log(database: &str) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(|| LogWriter)
        .finish();
    // The test of the other database may have set it.
    let _ = tracing::subscriber::set_global_default(subscriber);
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let link = shown_link(&share(&ann, &bench, &address(&bench, "/visibility"), &[]).await).unwrap();
    let token = link.strip_prefix("/share/").unwrap();
    let stranger = Browser::new(&bench);
    for path in [
        link.clone(),
        format!("{link}?page=2"),
        format!("{link}/below"),
        format!("{link}x"),
    ] {
        stranger.open(&path).await;
    }
    let root = format!("http://{}{link}", bench.server.addresses.api);
    assert_eq!(bench.http.post(&root).send().await.unwrap().status(), 405);
    let metrics = format!("http://{}/metrics", bench.server.addresses.metrics.unwrap());
    let metrics = bench
        .http
        .get(metrics)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(!metrics.contains(&token[..12]), "{metrics}");
    let log = String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned();
    assert!(
        log.contains(&token[..12]),
        "opened links are logged by their prefix"
    );
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(token)).collect();
    assert!(lines.is_empty(), "{lines:#?}");
}

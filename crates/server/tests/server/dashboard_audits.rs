//! Pages of audits: what they show, what a role may do there, and forms that change something.

use searchwright_contract::people::Role;
use serde_json::{Value, json};

use crate::{
    audited::{audit, bench, issue, occurrence, page, pair, say},
    browser::{Browser, Page},
    harness::Bench,
    people::{PASSWORD, person},
    post_generation::until_ended,
};

on_both!(
    pages_show_the_audit_to_members_only,
    occurrences_are_marked_and_rechecked,
    a_form_has_its_effect_once_and_only_on_what_was_seen,
    viewers_see_no_forms_and_change_nothing,
    text_of_websites_is_never_markup,
    changes_of_a_person_are_in_the_activity_log,
    a_form_of_a_session_that_ended_is_not_lost,
    forms_that_start_work_have_its_limit,
    everything_that_is_marked_is_rechecked_at_once,
    progress_comes_as_it_happens,
    progress_ends_with_the_session,
    counts_of_changes_lead_to_their_pages,
);

/// Signs somebody in.
pub async fn signed_in<'a>(bench: &'a Bench, email: &str, role: Role) -> Browser<'a> {
    person(bench, email, role).await;
    let browser = Browser::new(bench);
    assert_eq!(browser.sign_in(email, PASSWORD).await.status, 200);
    browser
}

/// Address of a page of the project.
pub fn address(bench: &Bench, rest: &str) -> String {
    format!("/projects/{}{rest}", bench.project)
}

/// Sends a form of a page with its hidden fields.
pub async fn submit(browser: &Browser<'_>, page: &Page, path: &str, fields: &[(&str, &str)]) -> Page {
    let (csrf, once) = (page.field("csrf"), page.field("once"));
    let mut form = vec![("csrf", csrf.as_str()), ("once", once.as_str())];
    form.extend(fields);
    browser.send(path, &form).await
}

/// Waits until no job is left.
pub async fn until_idle(bench: &Bench) {
    let jobs = bench.get("P/jobs").await.json();
    for job in jobs["data"].as_array().unwrap() {
        until_ended(bench, job["id"].as_str().unwrap()).await;
    }
}

/// Values of the tick boxes of a page.
fn rows(page: &Page) -> Vec<String> {
    let boxes = page.text.split("name=\"row\" value=\"").skip(1);
    boxes
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

async fn pages_show_the_audit_to_members_only(database: &str) {
    let (bench, site) = bench(database).await;
    site.put("/a", 404, "gone");
    audit(&bench).await;
    let broken = issue(&bench, "broken-internal-link").await;
    let found = occurrence(&bench, "broken-internal-link", "/").await;
    let current = bench.get("P/audits/current").await.json();
    let paths = [
        String::new(),
        "/audits".to_owned(),
        format!("/audits/{}", current["id"].as_str().unwrap()),
        "/issues".to_owned(),
        format!("/issues/{}", broken["id"].as_str().unwrap()),
        "/pages".to_owned(),
        format!("/pages/{}", found["page_id"].as_str().unwrap()),
        "/activity".to_owned(),
    ];
    let stranger = Browser::new(&bench);
    let ann = signed_in(&bench, "ann@example.com", Role::Viewer).await;
    for path in &paths {
        let page = stranger.open(&address(&bench, path)).await;
        assert!(page.text.contains("name=\"password\""), "{path} is open");
        let page = ann.open(&address(&bench, path)).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"));
        assert!(page.text.len() < 150_000, "{path}");
        let nowhere = "01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21";
        let elsewhere = ann.open(&format!("/projects/{nowhere}{path}")).await;
        assert_eq!(elsewhere.status, 404, "{path} of a project of others");
    }
    let projects = ann.open("/projects").await.text;
    assert!(projects.contains(&address(&bench, "")), "{projects}");
    let shown = ann.open(&address(&bench, &paths[4])).await.text;
    for text in [&broken["title"], &broken["whyItMatters"], &broken["howToVerify"]] {
        let text = text
            .as_str()
            .unwrap()
            .replace('\'', "&#39;")
            .replace('"', "&#34;");
        assert!(shown.contains(&text), "{text}");
    }
    for wrong in [
        "/audits/x",
        "/issues/x",
        "/pages/x",
        "/audits/01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21",
    ] {
        assert_eq!(ann.open(&address(&bench, wrong)).await.status, 404, "{wrong}");
    }
}

async fn occurrences_are_marked_and_rechecked(database: &str) {
    let (bench, site) = bench(database).await;
    site.put("/a", 200, &page("<title></title>", &["/"]));
    audit(&bench).await;
    let missing = issue(&bench, "title-missing").await;
    let path = address(&bench, &format!("/issues/{}", missing["id"].as_str().unwrap()));
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let before = ann.open(&path).await;
    let nothing = submit(&ann, &before, &path, &[("action", "done"), ("note", "my note")]).await;
    assert_eq!(nothing.status, 422);
    assert!(nothing.text.contains("tick at least one row"), "{}", nothing.text);
    assert!(nothing.text.contains("value=\"my note\""), "the note is kept");
    let ticked = rows(&before);
    assert_eq!(ticked.len(), 1);
    let early = submit(
        &ann,
        &before,
        &path,
        &[("action", "recheck"), ("row", &ticked[0])],
    )
    .await;
    assert!(early.status == 409 || early.status == 422, "{}", early.text);
    let before = ann.open(&path).await;
    let done = submit(
        &ann,
        &before,
        &path,
        &[
            ("action", "done"),
            ("row", &ticked[0]),
            ("note", "a title was written"),
        ],
    )
    .await;
    assert!(
        done.text.contains("One occurrence was marked as done"),
        "{}",
        done.text
    );
    assert!(done.text.contains("a title was written"));
    site.put("/a", 200, &page("<title>A title</title>", &["/"]));
    let ticked = rows(&done);
    let started = submit(&ann, &done, &path, &[("action", "recheck"), ("row", &ticked[0])]).await;
    assert!(
        started.text.contains("The recheck was started"),
        "{}",
        started.text
    );
    until_idle(&bench).await;
    let after = ann.open(&format!("{path}?state=resolved")).await;
    assert!(
        after.text.contains("Resolved") && rows(&after).len() == 1,
        "{}",
        after.text
    );
}

async fn a_form_has_its_effect_once_and_only_on_what_was_seen(database: &str) {
    let (bench, site) = bench(database).await;
    site.put("/a", 200, &page("<title></title>", &["/"]));
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, "/audits");
    let audits = ann.open(&path).await;
    let first = submit(&ann, &audits, &path, &[]).await;
    assert_eq!(first.status, 200);
    until_idle(&bench).await;
    let again = submit(&ann, &audits, &path, &[]).await;
    assert_eq!(again.status, 200);
    let listed = bench.get("P/audits").await.json();
    assert_eq!(
        listed["data"].as_array().unwrap().len(),
        2,
        "one before, and one sent twice"
    );
    // A form of another session, and one of another origin.
    let forged = ann.send(&path, &[("csrf", "x"), ("once", "1")]).await;
    assert_eq!(forged.status, 403);
    let mut other = Browser::new(&bench);
    other.cookie = ann.cookie.clone();
    other.origin = vec![("sec-fetch-site", "cross-site".to_owned())];
    assert_eq!(submit(&other, &audits, &path, &[]).await.status, 403);
    // Bad limits are told, and what was typed is kept.
    let wrong = submit(&ann, &audits, &path, &[("maxPages", "many"), ("exclude", "/x*")]).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.text.contains("value=\"many\"") && wrong.text.contains("/x*"));
    // What changed since the page was loaded is not marked.
    let missing = issue(&bench, "title-missing").await;
    let path = address(&bench, &format!("/issues/{}", missing["id"].as_str().unwrap()));
    let stale = ann.open(&path).await;
    let row = rows(&stale).remove(0);
    let ignored = submit(
        &ann,
        &stale,
        &path,
        &[("action", "ignore"), ("row", &row), ("until", "2030-01-31")],
    )
    .await;
    assert!(ignored.text.contains("is ignored"), "{}", ignored.text);
    let fresh = ann.open(&path).await;
    assert!(
        fresh.text.contains("Nothing is left to do here"),
        "{}",
        fresh.text
    );
    let late = ann
        .send(
            &path,
            &[
                ("csrf", &stale.field("csrf")),
                ("once", "other"),
                ("action", "done"),
                ("row", &row),
            ],
        )
        .await;
    assert_eq!(late.status, 422);
    assert!(
        late.text.contains("have changed since the page was loaded"),
        "{}",
        late.text
    );
}

async fn viewers_see_no_forms_and_change_nothing(database: &str) {
    let (bench, site) = bench(database).await;
    site.put("/a", 200, &page("<title></title>", &["/"]));
    audit(&bench).await;
    let missing = issue(&bench, "title-missing").await;
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    let issue_path = address(&bench, &format!("/issues/{}", missing["id"].as_str().unwrap()));
    let audits = address(&bench, "/audits");
    for path in [&issue_path, &audits] {
        let page = eve.open(path).await;
        assert!(
            !page.text.contains("method=\"post\" class=\"inline\""),
            "{}",
            page.text
        );
        assert!(!page.text.contains("class=\"bulk\"") && !page.text.contains("type=\"checkbox\" name"));
    }
    let account = eve.open("/account").await.field("csrf");
    let row = format!(
        "{} 1",
        occurrence(&bench, "title-missing", "/a").await["page_id"]
            .as_str()
            .unwrap()
    );
    let forms: [(&String, &[(&str, &str)]); 2] = [
        (&audits, &[("csrf", &account)]),
        (
            &issue_path,
            &[("csrf", &account), ("action", "done"), ("row", &row)],
        ),
    ];
    for (path, form) in forms {
        let refused = eve.send(path, form).await;
        assert_eq!(refused.status, 403, "{}", refused.text);
        assert!(refused.text.contains("needs editor"), "{}", refused.text);
    }
}

async fn text_of_websites_is_never_markup(database: &str) {
    let (bench, site) = bench(database).await;
    let nasty = "<script>alert(1)</script>\u{202e}\"><img src=x onerror=alert(2)>";
    let escaped = nasty.replace('<', "&lt;");
    let long = "w".repeat(10_000);
    site.put(
        "/a",
        200,
        &page(&format!("<title>{escaped}{long}</title>"), &["/"]),
    );
    site.put("/b", 404, "gone");
    audit(&bench).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let pages = bench.get("P/pages?q=/a").await.json();
    let id = pages["data"][0]["id"].as_str().unwrap().to_owned();
    let issues = bench.get("P/issues?limit=100").await.json();
    let mut paths = vec!["/pages".to_owned(), format!("/pages/{id}"), String::new()];
    for issue in issues["data"].as_array().unwrap() {
        paths.push(format!("/issues/{}", issue["id"].as_str().unwrap()));
    }
    for path in paths {
        let page = ann.open(&address(&bench, &path)).await;
        assert_eq!(page.status, 200);
        for bad in ["<script>alert", "<img src=x", "\u{202e}"] {
            assert!(!page.text.contains(bad), "{path}: {bad:?}");
        }
        assert!(page.text.len() < 150_000, "{path}: {}", page.text.len());
    }
    // An address carries no text of its own onto a page.
    let message = ann
        .open(&address(&bench, "/issues?done=%3Cb%3EPay+here%3C%2Fb%3E&n=9"))
        .await;
    assert!(!message.text.contains("Pay here"));
}

async fn changes_of_a_person_are_in_the_activity_log(database: &str) {
    let (bench, _) = bench(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/audits");
    let audits = ann.open(&path).await;
    submit(&ann, &audits, &path, &[]).await;
    until_idle(&bench).await;
    let log = bench.get("P/activity").await.json();
    let entry = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["action"] == "audits.start")
        .cloned()
        .unwrap_or(Value::Null);
    assert_eq!(entry["credential"]["type"], json!("session"));
    assert!(entry["user"]["name"].is_string(), "{entry}");
    let page = ann.open(&address(&bench, "/activity")).await;
    assert!(page.text.contains("Audits: start"), "{}", page.text);
}

async fn a_form_of_a_session_that_ended_is_not_lost(database: &str) {
    let (bench, _) = bench(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/audits");
    let audits = ann.open(&path).await;
    let (csrf, once) = (audits.field("csrf"), audits.field("once"));
    let typed = [
        ("csrf", csrf.as_str()),
        ("once", once.as_str()),
        ("maxPages", "7"),
        ("exclude", "/\"quoted\" <b>*"),
    ];
    ann.cookie.replace(None);
    let out = ann.send(&path, &typed).await;
    assert_eq!(out.status, 401, "{}", out.text);
    assert!(out.text.contains("You were signed out") && !out.text.contains("<b>*"));
    // Sent again after signing in: with a token of the new session, after another look.
    ann.sign_in("ann@example.com", PASSWORD).await;
    let ask = ann.send(&path, &typed).await;
    assert_eq!(ask.status, 403, "{}", ask.text);
    assert_eq!(ask.field("maxPages"), "7");
    let fresh = ask.field("csrf");
    assert_ne!(fresh, csrf);
    let again = submit(&ann, &ask, &path, &[("maxPages", "7"), ("exclude", "/x*")]).await;
    assert!(again.text.contains("The audit was started"), "{}", again.text);
    let current = bench.get("P/audits/current").await.json();
    assert_eq!(current["config"]["maxPages"], json!(7));
    until_idle(&bench).await;
}

async fn forms_that_start_work_have_its_limit(database: &str) {
    let bench = Bench::on(database, &["limits.runs_per_minute=1"]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/audits");
    let (first, second) = (ann.open(&path).await, ann.open(&path).await);
    let started = submit(&ann, &first, &path, &[]).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let limited = submit(&ann, &second, &path, &[("maxPages", "7")]).await;
    assert_eq!(limited.status, 429, "{}", limited.text);
    assert_eq!(limited.field("maxPages"), "7");
}

async fn everything_that_is_marked_is_rechecked_at_once(database: &str) {
    let (bench, site) = bench(database).await;
    site.put("/a", 200, &page("<title></title>", &["/"]));
    audit(&bench).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let (issues, rechecks) = (address(&bench, "/issues"), address(&bench, "/rechecks"));
    let button = "Recheck what is marked as done";
    assert!(!ann.open(&issues).await.text.contains(button));
    let claim = pair(&occurrence(&bench, "title-missing", "/a").await);
    say(&bench, "done", &[claim]).await;
    site.put("/a", 200, &page("<title>A title</title>", &["/"]));
    let page = ann.open(&issues).await;
    assert!(page.text.contains(button), "{}", page.text);
    let started = submit(&ann, &page, &rechecks, &[]).await;
    assert!(
        started.text.contains("The recheck was started"),
        "{}",
        started.text
    );
    until_idle(&bench).await;
    let found = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(found["state"], "resolved");
    let again = submit(&ann, &page, &rechecks, &[]).await;
    assert_eq!(again.status, 200, "sent twice, started once");
}

async fn next_change(stream: &mut reqwest::Response) {
    let mut text = String::new();
    while !text.contains("event: changed\n") {
        text += std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap();
    }
}

async fn progress_comes_as_it_happens(database: &str) {
    let (bench, _) = bench(database).await;
    let viewer = signed_in(&bench, "viewer@example.com", Role::Viewer).await;
    let live = address(&bench, "/live");
    let mut stream = viewer.stream(&live).await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    next_change(&mut stream).await;
    bench.post("P/audits", json!({})).await;
    next_change(&mut stream).await;
    let others: Vec<_> = futures_util::future::join_all((1..8).map(|_| viewer.stream(&live))).await;
    assert!(others.iter().all(|other| other.status() == 200));
    assert_eq!(viewer.stream(&live).await.status(), 429);
    drop((stream, others));
    let foreign = "/projects/01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a/live";
    assert_eq!(viewer.stream(foreign).await.status(), 404);
    let nobody = Browser::new(&bench).stream(&live).await;
    assert_eq!(nobody.status(), 303);
}

async fn progress_ends_with_the_session(database: &str) {
    let (bench, _) = bench(database).await;
    let viewer = signed_in(&bench, "viewer@example.com", Role::Viewer).await;
    let mut stream = viewer.stream(&address(&bench, "/live")).await;
    next_change(&mut stream).await;
    let csrf = viewer.open("/account").await.field("csrf");
    viewer.send("/logout", &[("csrf", &csrf)]).await;
    bench.post("P/audits", json!({})).await;
    // Nothing that happens after it is told: the stream is over.
    assert_eq!(stream.chunk().await.unwrap(), None);
}

async fn counts_of_changes_lead_to_their_pages(database: &str) {
    let (bench, site) = bench(database).await;
    site.put(
        "/a",
        200,
        &page("<title>A title that is now there</title>", &["/"]),
    );
    site.put("/b", 200, &page("", &["/"]));
    let later = audit(&bench).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Viewer).await;
    let path = address(&bench, &format!("/audits/{}", later["id"].as_str().unwrap()));
    let shown = ann.open(&path).await.text;
    let missing = issue(&bench, "title-missing").await;
    let id = missing["id"].as_str().unwrap();
    let rows = |text: &str| {
        let (_, list) = text.split_once("id=\"page-by-page\"").unwrap();
        list.matches("<td class=\"url\">").count()
    };
    for (change, page) in [("added", "/b"), ("removed", "/a")] {
        let link = format!("?change={change}&issue={id}");
        let escaped = link.replace('&', "&#38;");
        assert!(
            shown.contains(&format!("href=\"{escaped}#page-by-page\">1</a>")),
            "{shown}"
        );
        let list = ann.open(&format!("{path}{link}")).await.text;
        assert_eq!(rows(&list), 1, "{list}");
        assert!(list.contains(&format!(">{page}</a>")), "{list}");
        assert!(list.contains("Of one issue; show all"));
        let all = ann.open(&format!("{path}?change={change}")).await.text;
        let counts = &later["changes"][change];
        assert_eq!(rows(&all) as u64, counts.as_u64().unwrap(), "{all}");
        assert!(
            all.contains(&format!("href=\"?change={change}#page-by-page\">{counts}</a>")),
            "{all}"
        );
    }
    let odd = ann.open(&format!("{path}?change=x&issue=y")).await;
    assert_eq!(odd.status, 200);
}

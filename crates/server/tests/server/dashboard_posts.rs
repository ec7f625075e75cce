//! Pages of posts: the whole loop of one post, and two people who edit it.

use searchwright_contract::people::Role;
use serde_json::json;

use crate::{
    browser::{Browser, Page},
    dashboard_audits::{address, signed_in, submit, until_idle},
    harness::Bench,
    publishing::{read, start, until, write},
};

on_both!(
    posts_are_found_by_status_and_title,
    a_post_goes_from_title_to_live_page_and_back,
    two_editors_never_overwrite_each_other,
    a_form_of_a_post_that_is_sent_twice_saves_once,
    earlier_texts_are_compared_and_restored,
    fields_of_a_post_are_refused_with_what_was_typed,
    a_text_is_asked_for_with_what_it_uses,
    viewers_of_posts_change_nothing,
    text_of_posts_is_never_markup,
    posts_are_moved_in_the_calendar,
);

/// Sends a form of a post with the version that the page has.
async fn send(browser: &Browser<'_>, page: &Page, path: &str, fields: &[(&str, &str)]) -> Page {
    let version = page.field("version");
    let mut form = vec![("version", version.as_str())];
    form.extend(fields);
    submit(browser, page, path, &form).await
}

/// Fields of the form that edits a post.
fn edit<'a>(title: &'a str, content: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("action", "save"),
        ("title", title),
        ("content", content),
        ("slug", "a-desk"),
    ]
}

async fn posts_are_found_by_status_and_title(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/posts");
    let empty = ann.open(&path).await;
    assert!(empty.text.contains("No posts yet"), "{}", empty.text);
    let refused = submit(&ann, &empty, &path, &[("title", " ")]).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    let created = submit(&ann, &refused, &path, &[("title", "A desk")]).await;
    assert!(created.text.contains("The draft was created"), "{}", created.text);
    write(&bench, "A chair").await;
    let all = ann.open(&path).await.text;
    assert!(all.contains("A desk") && all.contains("A chair"));
    let found = ann.open(&format!("{path}?q=CHAIR&status=draft")).await.text;
    assert!(!found.contains(">A desk<") && found.contains("A chair"));
    let none = ann.open(&format!("{path}?status=published")).await.text;
    assert!(none.contains("No post matches"));
    assert_eq!(ann.open(&format!("{path}?status=x&keyword=y")).await.status, 200);
    for wrong in ["/posts/x", "/posts/01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21"] {
        assert_eq!(ann.open(&address(&bench, wrong)).await.status, 404, "{wrong}");
    }
}

async fn a_post_goes_from_title_to_live_page_and_back(database: &str) {
    let (bench, _blog) = start(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let id = write(&bench, "A desk").await;
    let path = address(&bench, &format!("/posts/{id}"));
    let page = ann.open(&path).await;
    assert!(page.text.contains("Publish to WordPress"), "{}", page.text);
    assert!(page.text.contains("sandbox title=\"Preview"), "{}", page.text);
    let sent = send(
        &ann,
        &page,
        &path,
        &[("action", "publish"), ("provider", "wordpress")],
    )
    .await;
    assert!(
        sent.text.contains("on its way to its destination"),
        "{}",
        sent.text
    );
    until(&bench, &id, |post| post["status"] == "published").await;
    let live = ann.open(&path).await;
    for text in [
        "Public",
        "Unpublish at WordPress",
        "Update at WordPress",
        "Steps of the last attempt",
    ] {
        assert!(live.text.contains(text), "{text}: {}", live.text);
    }
    let back = [("action", "unpublish"), ("provider", "wordpress")];
    let back = send(&ann, &live, &path, &back).await;
    assert!(back.text.contains("being taken back"), "{}", back.text);
    until(&bench, &id, |post| post["status"] == "draft").await;
    let page = ann.open(&path).await;
    assert!(page.text.contains("Taken back"), "{}", page.text);
    let archived = send(&ann, &page, &path, &[("action", "archive")]).await;
    assert!(
        archived.text.contains("The post was archived"),
        "{}",
        archived.text
    );
    let restored = send(&ann, &archived, &path, &[("action", "draft")]).await;
    assert!(restored.text.contains("The post is a draft"), "{}", restored.text);
}

async fn two_editors_never_overwrite_each_other(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let id = write(&bench, "A desk").await;
    let path = address(&bench, &format!("/posts/{id}"));
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let bob = signed_in(&bench, "bob@example.com", Role::Owner).await;
    let (first, second) = (ann.open(&path).await, bob.open(&path).await);
    let saved = send(&ann, &first, &path, &edit("Desk of Ann", "Text of Ann")).await;
    assert!(saved.text.contains("The post was saved"), "{}", saved.text);
    let stale = send(&bob, &second, &path, &edit("Desk of Bob", "Text of Bob <b>")).await;
    assert_eq!(stale.status, 412, "{}", stale.text);
    assert!(stale.text.contains("Nothing was saved"), "{}", stale.text);
    for text in [
        "value=\"Desk of Bob\"",
        "Text of Bob &#60;b&#62;</textarea>",
        "<dd>Desk of Ann</dd>",
        "<del>Text of Ann</del>",
    ] {
        assert!(stale.text.contains(text), "{text}: {}", stale.text);
    }
    let now = read(&bench, &id).await;
    assert_eq!(
        (now["title"].as_str(), now["content"].as_str()),
        (Some("Desk of Ann"), Some("Text of Ann"))
    );
    // Saved again after the difference was shown, it replaces; what it replaced is a revision.
    let saved = send(&bob, &stale, &path, &edit("Desk of Bob", "Text of Bob <b>")).await;
    assert!(saved.text.contains("The post was saved"), "{}", saved.text);
    assert_eq!(read(&bench, &id).await["content"], "Text of Bob <b>");
    // Nor does any other form act on a post that was not seen.
    let archived = send(&ann, &first, &path, &[("action", "archive")]).await;
    assert_eq!(archived.status, 412, "{}", archived.text);
}

async fn a_form_of_a_post_that_is_sent_twice_saves_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let id = write(&bench, "A desk").await;
    let path = address(&bench, &format!("/posts/{id}"));
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let page = ann.open(&path).await;
    for _ in 0..2 {
        let saved = send(&ann, &page, &path, &edit("A desk", "One line\r\n\r\nand another")).await;
        assert!(saved.text.contains("The post was saved"), "{}", saved.text);
    }
    let now = read(&bench, &id).await;
    assert_eq!(now["content"], "One line\n\nand another");
    assert_eq!(now["version"], 2, "{now:#}");
}

async fn earlier_texts_are_compared_and_restored(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let id = write(&bench, "A desk").await;
    let path = address(&bench, &format!("/posts/{id}"));
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let page = ann.open(&path).await;
    assert!(
        page.text.contains("The text was not changed yet"),
        "{}",
        page.text
    );
    let saved = send(&ann, &page, &path, &edit("A desk", "Another text")).await;
    assert!(saved.text.contains("Compare revision 1"), "{}", saved.text);
    let compared = ann.open(&format!("{path}?revision=1")).await;
    assert!(
        compared.text.contains("<del>Some *text* that stays.</del>")
            && compared.text.contains("<ins>Another text</ins>"),
        "{}",
        compared.text
    );
    let restored = send(
        &ann,
        &compared,
        &path,
        &[("action", "restore"), ("revision", "1")],
    )
    .await;
    assert!(
        restored.text.contains("earlier text is in force"),
        "{}",
        restored.text
    );
    assert_eq!(read(&bench, &id).await["content"], "Some *text* that stays.");
    assert_eq!(ann.open(&format!("{path}?revision=99")).await.status, 200);
}

async fn fields_of_a_post_are_refused_with_what_was_typed(database: &str) {
    let bench = Bench::on(database, &[]).await;
    bench.keyword("oak desk").await;
    let id = write(&bench, "A desk").await;
    let path = address(&bench, &format!("/posts/{id}"));
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let page = ann.open(&path).await;
    let mut form = edit("Typed title", "Typed text");
    form.push(("keyword", "teak desk"));
    let refused = send(&ann, &page, &path, &form).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    for text in [
        "is not a keyword of the project",
        "value=\"Typed title\"",
        "Typed text</textarea>",
        "value=\"teak desk\"",
    ] {
        assert!(refused.text.contains(text), "{text}: {}", refused.text);
    }
    let mut form = edit("Typed title", "Typed text");
    form.extend([("keyword", "Oak Desk"), ("day", "2026-13-01")]);
    let refused = send(&ann, &refused, &path, &form).await;
    assert!(
        refused.status == 422 && refused.text.contains("value=\"2026-13-01\""),
        "{}",
        refused.text
    );
    let erased = send(&ann, &refused, &path, &edit("Typed title", "")).await;
    assert!(
        erased.status == 422 && erased.text.contains("Erase the text"),
        "{}",
        erased.text
    );
    let mut form = edit("Typed title", "Typed text");
    form.extend([
        ("keyword", "Oak Desk"),
        ("metaDescription", "A description"),
        ("day", "2030-01-31"),
    ]);
    let saved = send(&ann, &erased, &path, &form).await;
    assert!(saved.text.contains("The post was saved"), "{}", saved.text);
    let now = read(&bench, &id).await;
    assert_eq!(
        (
            now["keyword"].as_str(),
            now["metaDescription"].as_str(),
            now["excerpt"].as_str(),
            now["scheduledAt"].as_str()
        ),
        (
            Some("oak desk"),
            Some("A description"),
            None,
            Some("2030-01-31T09:00:00.000Z")
        ),
        "{now:#}"
    );
    // Without an integration that is ready, nothing is scheduled.
    let mut form = edit("Typed title", "Typed text");
    form[0] = ("action", "schedule");
    form.push(("day", "2030-02-01"));
    let refused = send(&ann, &saved, &path, &form).await;
    assert!(
        refused.status >= 400 && refused.text.contains("value=\"2030-02-01\""),
        "{}",
        refused.text
    );
    assert_eq!(read(&bench, &id).await["status"], "draft");
}

async fn a_text_is_asked_for_with_what_it_uses(database: &str) {
    let bench = Bench::on(database, &["worker.jobs=1"]).await;
    let created = bench
        .post("P/posts", json!({ "title": "Desk heights" }))
        .await
        .json();
    let id = created["id"].as_str().unwrap();
    let path = address(&bench, &format!("/posts/{id}"));
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let page = ann.open(&path).await;
    assert!(page.text.contains("which costs nothing"), "{}", page.text);
    let form = [
        ("action", "generate"),
        ("mode", "fill"),
        ("instructions", "keep it short"),
        ("sources", "not an address"),
    ];
    let refused = send(&ann, &page, &path, &form).await;
    if refused.status != 200 {
        assert!(
            refused.text.contains("keep it short") && refused.text.contains("not an address"),
            "{}",
            refused.text
        );
    }
    until_idle(&bench).await;
    let page = ann.open(&path).await;
    let started = send(
        &ann,
        &page,
        &path,
        &[("action", "generate"), ("mode", "overwrite")],
    )
    .await;
    assert!(
        started.text.contains("The text is being written"),
        "{}",
        started.text
    );
    until_idle(&bench).await;
    let done = ann.open(&path).await;
    assert!(
        done.text.contains("In review") && done.text.contains("Last written"),
        "{}",
        done.text
    );
    assert!(
        done.text.contains("Blocks publishing") || done.text.contains("Not met"),
        "{}",
        done.text
    );
}

async fn viewers_of_posts_change_nothing(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let id = write(&bench, "A desk").await;
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    let path = address(&bench, &format!("/posts/{id}"));
    for shown in [
        path.clone(),
        address(&bench, "/posts"),
        address(&bench, "/calendar"),
    ] {
        let page = eve.open(&shown).await;
        assert_eq!(page.status, 200, "{}", page.text);
        for form in [
            "data-guard",
            "name=\"content\"",
            "value=\"publish\"",
            "value=\"archive\"",
            ">Move<",
        ] {
            assert!(!page.text.contains(form), "{shown}: {form}");
        }
    }
    let csrf = eve.open("/account").await.field("csrf");
    let version = format!("{id}-1");
    let row = format!("{id} 1");
    let forms: [(String, Vec<(&str, &str)>); 5] = [
        (path.clone(), edit("Mine", "Mine")),
        (path.clone(), vec![("action", "publish")]),
        (path.clone(), vec![("action", "archive")]),
        (address(&bench, "/posts"), vec![("title", "Mine")]),
        (
            address(&bench, "/calendar"),
            vec![("action", "plan"), ("row", &row), ("day", "2030-01-01")],
        ),
    ];
    for (path, mut form) in forms {
        form.extend([("csrf", &*csrf), ("version", &*version)]);
        if path.ends_with("/posts") {
            form.pop();
        }
        let refused = eve.send(&path, &form).await;
        assert_eq!(refused.status, 403, "{path}: {}", refused.text);
    }
    assert_eq!(read(&bench, &id).await["version"], 1);
}

async fn text_of_posts_is_never_markup(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let nasty = "<script>alert(1)</script>\"><img src=x onerror=alert(2)></textarea>";
    let id = write(&bench, &format!("{nasty} {}", "w".repeat(200))).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let long = format!("{nasty}\n\n").repeat(3_000);
    let path = address(&bench, &format!("/posts/{id}"));
    let page = ann.open(&path).await;
    let mut form = edit("A desk", &long);
    form.push(("metaTitle", nasty));
    let saved = send(&ann, &page, &path, &form).await;
    assert!(
        saved.text.contains("The post was saved"),
        "a text of {} bytes",
        long.len()
    );
    for rest in [
        format!("/posts/{id}"),
        format!("/posts/{id}?view=edit"),
        format!("/posts/{id}?revision=1"),
        "/posts".to_owned(),
        "/calendar".to_owned(),
    ] {
        let page = ann.open(&address(&bench, &rest)).await;
        assert_eq!(page.status, 200);
        for bad in ["<script>alert", "<img src=x", "\"><img"] {
            assert!(!page.text.contains(bad), "{rest}: {bad}");
        }
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"));
    }
    let kept = ann.open(&format!("{path}?view=edit")).await;
    assert!(kept.text.matches("&#60;/textarea&#62;").count() >= 3_000);
}

async fn posts_are_moved_in_the_calendar(database: &str) {
    let (bench, _blog) = start(database).await;
    let id = write(&bench, "A desk").await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/calendar?month=2030-01");
    let page = ann.open(&path).await;
    assert!(
        page.text.contains("January 2030") && page.text.contains("Give it a day"),
        "{}",
        page.text
    );
    let form = ann.open(&format!("{path}&move={id}")).await;
    let row = format!("{id} 1");
    assert_eq!(form.field("row"), row);
    let wrong = [
        ("action", "plan"),
        ("row", &*row),
        ("day", "some day"),
        ("time", "10:30"),
    ];
    let wrong = submit(&ann, &form, &path, &wrong).await;
    assert!(
        wrong.status == 422 && wrong.text.contains("value=\"some day\""),
        "{}",
        wrong.text
    );
    let planned = [
        ("action", "plan"),
        ("row", &*row),
        ("day", "2030-01-15"),
        ("time", "00:30"),
    ];
    let planned = submit(&ann, &wrong, &path, &planned).await;
    assert!(planned.text.contains("The date was set"), "{}", planned.text);
    let now = read(&bench, &id).await;
    assert_eq!(now["scheduledAt"], "2030-01-15T00:30:00.000Z");
    // What scripts read to drag it, with the form that they send.
    for text in [
        format!("id=\"post-{id}\" data-row=\"{id} 2\" data-time=\"00:30\" data-action=\"plan\""),
        "data-move hidden".to_owned(),
    ] {
        assert!(planned.text.contains(&text), "{text}: {}", planned.text);
    }
    assert!(planned.text.contains("Every post has a day"), "{}", planned.text);
    let day = planned.text.split("data-day=\"2030-01-15\"").nth(1).unwrap();
    assert!(day.split("</td>").next().unwrap().contains("A desk"));
    // Seen before somebody moved it, it is not moved.
    let stale = [
        ("action", "schedule"),
        ("row", &*row),
        ("day", "2030-01-20"),
        ("time", "09:00"),
    ];
    let stale = submit(&ann, &form, &path, &stale).await;
    assert_eq!(stale.status, 412, "{}", stale.text);
    let row = format!("{id} 2");
    let scheduled = [
        ("action", "schedule"),
        ("row", &*row),
        ("day", "2030-01-20"),
        ("time", "09:00"),
    ];
    let form = ann.open(&format!("{path}&move={id}")).await;
    let scheduled = submit(&ann, &form, &path, &scheduled).await;
    assert!(
        scheduled.text.contains("The post is scheduled"),
        "{}",
        scheduled.text
    );
    assert_eq!(read(&bench, &id).await["status"], "scheduled");
    let list = ann.open(&format!("{path}&view=list")).await.text;
    assert!(list.contains("2030-01-20 09:00"), "{list}");
    let version = read(&bench, &id).await["version"].to_string();
    let row = format!("{id} {version}");
    let taken_off = [("action", "unschedule"), ("row", &*row)];
    let form = ann.open(&format!("{path}&move={id}")).await;
    let taken_off = submit(&ann, &form, &path, &taken_off).await;
    assert!(
        taken_off.text.contains("has no date any more"),
        "{}",
        taken_off.text
    );
    let now = read(&bench, &id).await;
    assert_eq!(
        (now["status"].as_str(), now["scheduledAt"].as_str()),
        (Some("draft"), None)
    );
    assert_eq!(
        ann.open(&address(&bench, "/calendar?month=nonsense&move=x"))
            .await
            .status,
        200
    );
}

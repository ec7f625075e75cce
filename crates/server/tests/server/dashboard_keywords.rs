//! Pages of keywords: figures with their source, what a role may change, import row by row.

use searchwright_contract::people::Role;
use serde_json::{Value, json};

use crate::{
    browser::Page,
    dashboard_audits::{address, signed_in, submit},
    harness::Bench,
};

on_both!(
    keywords_are_shown_with_the_source_of_each_figure,
    keywords_are_added_changed_and_deleted,
    rows_that_somebody_changed_meanwhile_are_left_alone,
    an_import_tells_the_outcome_of_each_row,
    an_import_is_looked_at_before_anything_is_stored,
    a_post_is_begun_at_a_keyword_once,
    viewers_of_keywords_change_nothing,
    text_of_keywords_is_never_markup,
);

/// Value of the tick box of the row with this label.
fn row_of(page: &Page, label: &str) -> String {
    let tags = page.text.split('<');
    let mut of_label =
        tags.filter(|tag| tag.contains("name=\"row\"") && tag.contains(&format!("aria-label=\"{label}\"")));
    let tag = of_label
        .next()
        .unwrap_or_else(|| panic!("no row {label}: {}", page.text));
    tag.split_once("value=\"")
        .unwrap()
        .1
        .split('"')
        .next()
        .unwrap()
        .to_owned()
}

async fn keywords_are_shown_with_the_source_of_each_figure(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let file = "Keyword,Intent,Volume,Trend,Keyword Difficulty,CPC (USD),Competitive Density,SERP Features,Number of Results\n\
        standing desk,Commercial,2400,\"0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,1\",31,1.20,0.9,Video,1000\n";
    bench.post("P/keywords/import", json!({ "file": file })).await;
    bench
        .post("P/keywords", json!({ "keyword": "desk height" }))
        .await;
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    let path = address(&bench, "/keywords");
    let page = eve.open(&path).await;
    assert_eq!(page.status, 200, "{}", page.text);
    for text in [
        "2\u{202f}400",
        "Semrush file, ",
        "1.20 USD",
        "not measured",
        "Commercial",
        "Approved",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let found = eve.open(&format!("{path}?q=HEIGHT")).await.text;
    assert!(found.contains("desk height") && !found.contains("standing desk"));
    let new = eve
        .open(&format!("{path}?status=new&sort=searchVolume"))
        .await
        .text;
    assert!(new.contains("standing desk") && !new.contains("desk height"));
    let none = eve
        .open(&format!("{path}?intent=navigational&status=rejected"))
        .await;
    assert!(none.text.contains("No keyword matches"), "{}", none.text);
    // What is no filter is none, and a project of others is not there.
    assert_eq!(
        eve.open(&format!("{path}?status=x&sort=y&cluster=z"))
            .await
            .status,
        200
    );
    for rest in ["/keywords", "/keywords/import"] {
        let elsewhere = format!("/projects/01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21{rest}");
        assert_eq!(eve.open(&elsewhere).await.status, 404);
    }
}

async fn keywords_are_added_changed_and_deleted(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/keywords");
    let empty = ann.open(&path).await;
    assert!(empty.text.contains("No keywords yet"), "{}", empty.text);
    let typed = [
        ("action", "add"),
        ("keyword", "oak desk"),
        ("searchVolume", "many"),
        ("intent", "commercial"),
    ];
    let wrong = submit(&ann, &empty, &path, &typed).await;
    assert_eq!(wrong.status, 422, "{}", wrong.text);
    for kept in [
        "value=\"oak desk\"",
        "value=\"many\"",
        "value=\"commercial\" selected",
    ] {
        assert!(wrong.text.contains(kept), "{kept}: {}", wrong.text);
    }
    let typed = [("action", "add"), ("keyword", "oak desk"), ("searchVolume", "90")];
    let added = submit(&ann, &wrong, &path, &typed).await;
    assert!(added.text.contains("The keyword was added"), "{}", added.text);
    let again = submit(&ann, &wrong, &path, &typed).await;
    assert_eq!(again.status, 200, "sent twice: {}", again.text);
    assert_eq!(bench.keywords().await, ["oak desk"]);
    let taken = submit(&ann, &again, &path, &typed).await;
    assert!(
        taken.status == 409 && taken.text.contains("already has this keyword"),
        "{}",
        taken.text
    );
    bench.keyword("pine desk").await;
    let page = ann.open(&path).await;
    let (oak, pine) = (row_of(&page, "oak desk"), row_of(&page, "pine desk"));
    let nothing = submit(&ann, &page, &path, &[("action", "status"), ("status", "planned")]).await;
    assert!(nothing.status == 422 && nothing.text.contains("tick at least one row"));
    let unnamed = submit(&ann, &page, &path, &[("action", "status"), ("row", &oak)]).await;
    assert!(unnamed.status == 422 && unnamed.text.contains("hoose the status"));
    let set = [
        ("action", "status"),
        ("status", "planned"),
        ("row", &*oak),
        ("row", &*pine),
    ];
    let set = submit(&ann, &page, &path, &set).await;
    assert!(set.text.contains("2 keywords were changed"), "{}", set.text);
    let page = ann.open(&format!("{path}?status=planned")).await;
    let oak = row_of(&page, "oak desk");
    let filtered = format!("{path}?status=planned");
    let deleted = submit(&ann, &page, &filtered, &[("action", "delete"), ("row", &oak)]).await;
    assert!(
        deleted.text.contains("One keyword was deleted"),
        "{}",
        deleted.text
    );
    assert_eq!(bench.keywords().await, ["pine desk"]);
}

async fn rows_that_somebody_changed_meanwhile_are_left_alone(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let id = bench.keyword("oak desk").await;
    bench.keyword("pine desk").await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, "/keywords");
    let stale = ann.open(&path).await;
    bench
        .patch(&format!("P/keywords/{id}"), json!({ "status": "rejected" }))
        .await;
    let (oak, pine) = (row_of(&stale, "oak desk"), row_of(&stale, "pine desk"));
    let rows = [("action", "delete"), ("row", &*oak), ("row", &*pine)];
    let refused = submit(&ann, &stale, &path, &rows).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert!(refused.text.contains("1 of 2 were changed"), "{}", refused.text);
    assert_eq!(bench.keywords().await, ["oak desk"]);
}

async fn an_import_tells_the_outcome_of_each_row(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/keywords/import");
    let page = ann.open(&path).await;
    let file = "keyword,searchVolume\r\noak desk,90\r\npine desk,<b>lots</b>\r\noak desk,90\r\n";
    let told = submit(&ann, &page, &path, &[("file", file), ("status", "approved")]).await;
    assert_eq!(told.status, 200, "{}", told.text);
    for text in ["Added", "Not imported", "Repeats an earlier row", "pine desk,"] {
        assert!(told.text.contains(text), "{text}: {}", told.text);
    }
    assert!(!told.text.contains("<b>lots"), "{}", told.text);
    let kept = bench.get("P/keywords").await.json();
    assert_eq!(kept["data"][0]["status"], "approved");
    let again = submit(&ann, &page, &path, &[("file", file), ("status", "approved")]).await;
    assert_eq!(again.status, 200, "sent twice: {}", again.text);
    assert_eq!(bench.keywords().await, ["oak desk"]);
    // More than forms of other pages may have.
    let many: String = (0..6_000).map(|at| format!("a keyword number {at}\n")).collect();
    let told = submit(&ann, &ann.open(&path).await, &path, &[("file", &many)]).await;
    assert_eq!(told.status, 200);
    assert!(told.text.contains("6\u{202f}000 rows") && told.text.len() < 150_000);
    let blank = submit(&ann, &ann.open(&path).await, &path, &[("file", "")]).await;
    assert_eq!(blank.status, 422, "{}", blank.text);
}

async fn an_import_is_looked_at_before_anything_is_stored(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let known = "keyword,searchVolume\nelm desk,10\nash desk,20\n";
    bench
        .post("P/keywords/import", json!({ "file": known }))
        .await
        .json();
    let activity = bench.get("P/activity").await.json();
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/keywords/import");
    let page = ann.open(&path).await;
    assert!(
        !page.text.contains("value=\"import\""),
        "it is looked at first: {}",
        page.text
    );
    let file = "keyword,searchVolume\r\noak desk,90\r\npine desk,<b>lots</b>\r\noak desk,90\r\nelm desk,10\r\nash desk,30\r\n";
    let look = [("action", "preview"), ("file", file), ("status", "approved")];
    let mut seen = submit(&ann, &page, &path, &look).await;
    for _ in 0..2 {
        assert_eq!(seen.status, 200, "{}", seen.text);
        for text in [
            "Nothing is stored yet",
            "Would be refused",
            "Would be added",
            "Exist, and would be updated",
            "Exist, with the same values",
            "Repeat an earlier row",
            "searchVolume: not a number: ",
            "pine desk,&#60;b&#62;lots",
            "value=\"approved\" selected",
        ] {
            assert!(seen.text.contains(text), "{text}: {}", seen.text);
        }
        assert!(!seen.text.contains("<b>lots"));
        assert_eq!(bench.keywords().await.len(), 2);
        seen = submit(&ann, &seen, &path, &look).await;
    }
    let asked = bench
        .post("P/keywords/import", json!({ "file": file, "dryRun": true }))
        .await;
    assert_eq!(asked.status, 200);
    let told = asked.json();
    assert_eq!(
        [
            &told["created"],
            &told["updated"],
            &told["unchanged"],
            &told["duplicates"],
            &told["failed"]
        ],
        [1, 1, 1, 1, 1]
    );
    assert_eq!((&told["dryRun"], &told["job"]), (&json!(true), &Value::Null));
    let created = told["outcomes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["outcome"] == "created");
    assert!(created.unwrap()["keywordId"].is_null(), "{told}");
    assert_eq!(
        bench.get("P/activity").await.json(),
        activity,
        "nothing was changed"
    );

    let import = [("action", "import"), ("file", file), ("status", "approved")];
    let done = submit(&ann, &seen, &path, &import).await;
    assert!(done.text.contains("See the keywords"), "{}", done.text);
    assert_eq!(bench.keywords().await.len(), 3);
    let mut again = import;
    again[0].1 = "preview";
    let seen = submit(&ann, &ann.open(&path).await, &path, &again).await;
    assert!(
        seen.text.contains("No row would add or change anything"),
        "{}",
        seen.text
    );

    // A long file: the first rows of each outcome.
    let many: String = (0..3_000).map(|at| format!("a keyword number {at}\n")).collect();
    let seen = submit(&ann, &page, &path, &[("action", "preview"), ("file", &many)]).await;
    assert!(
        seen.text.contains("The first 50 of 3\u{202f}000"),
        "{}",
        seen.text.len()
    );
    assert_eq!(seen.text.matches("<tr><td class=\"num\">").count(), 50);
    assert_eq!(bench.keywords().await.len(), 3);
    let blank = submit(&ann, &page, &path, &[("action", "preview"), ("file", "")]).await;
    assert_eq!(blank.status, 422);
    let vic = signed_in(&bench, "vic@example.com", Role::Viewer).await;
    let csrf = vic.open("/account").await.field("csrf");
    let form = [("csrf", csrf.as_str()), ("action", "preview"), ("file", file)];
    assert_eq!(vic.send(&path, &form).await.status, 403);
}

async fn a_post_is_begun_at_a_keyword_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let id = bench.keyword("oak desk").await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/keywords");
    let page = ann.open(&path).await;
    for _ in 0..2 {
        let begun = submit(&ann, &page, &path, &[("post", &id)]).await;
        assert!(begun.text.contains("The draft was created"), "{}", begun.text);
        assert!(
            begun.text.contains("value=\"oak desk\""),
            "the keyword of the post"
        );
    }
    let posts = bench.get("P/posts").await.json();
    assert_eq!(posts["data"].as_array().unwrap().len(), 1);
    assert_eq!(posts["data"][0]["origin"], "manual");
    let listed = ann.open(&path).await.text;
    let post = address(
        &bench,
        &format!("/posts/{}", posts["data"][0]["id"].as_str().unwrap()),
    );
    assert!(
        listed.contains(&post) && !listed.contains("name=\"post\""),
        "{listed}"
    );
}

async fn viewers_of_keywords_change_nothing(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let id = bench.keyword("oak desk").await;
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    for rest in ["/keywords", "/keywords/import"] {
        let page = eve.open(&address(&bench, rest)).await;
        assert!(
            page.status == 200 && !page.text.contains("method=\"post\" data-guard"),
            "{}",
            page.text
        );
        assert!(!page.text.contains("type=\"checkbox\" name") && !page.text.contains("Write a post"));
    }
    let csrf = eve.open("/account").await.field("csrf");
    let row = format!("{id} 1");
    let forms: [(&str, Vec<(&str, &str)>); 4] = [
        ("/keywords", vec![("action", "add"), ("keyword", "pine desk")]),
        ("/keywords", vec![("action", "delete"), ("row", &row)]),
        ("/keywords", vec![("post", &id)]),
        ("/keywords/import", vec![("file", "pine desk\n")]),
    ];
    for (rest, mut form) in forms {
        form.push(("csrf", &csrf));
        let refused = eve.send(&address(&bench, rest), &form).await;
        assert_eq!(refused.status, 403, "{rest}: {}", refused.text);
        assert!(refused.text.contains("needs editor"), "{}", refused.text);
    }
    assert_eq!(bench.keywords().await, ["oak desk"]);
    // A large form is taken from own pages of the session only, as any other.
    let path = address(&bench, "/keywords/import");
    let forged = eve.send(&path, &[("csrf", "x"), ("file", "pine desk\n")]).await;
    assert_eq!(forged.status, 403);
}

async fn text_of_keywords_is_never_markup(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let nasty = "<script>alert(1)</script> \"><img src=x>";
    bench.keyword(nasty).await;
    for at in 0..99 {
        bench.keyword(&format!("{} {at}", "w".repeat(190))).await;
    }
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, "/keywords");
    for path in [
        path.clone(),
        format!("{path}?q=script"),
        address(&bench, "/keywords?sort=score"),
    ] {
        let page = ann.open(&path).await;
        assert_eq!(page.status, 200);
        assert!(!page.text.contains("<script>alert") && !page.text.contains("<img src=x"));
        assert!(page.text.len() < 150_000, "{path}: {}", page.text.len());
    }
    let first = ann.open(&path).await.text;
    assert!(first.contains("Next page"), "{first}");
}

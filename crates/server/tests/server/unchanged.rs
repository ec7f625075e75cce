//! Pages that have not changed since the last audit are not sent again, and nothing else is different for it.

use std::sync::atomic::Ordering::Relaxed;

use searchwright_store::sql;
use serde_json::{Value, json};

use crate::{
    audited::{Website, audit, bench, occurrence, page, pair, recheck, say},
    harness::Bench,
    post_generation::until_ended,
};

on_both!(audits_of_what_has_not_changed, what_changed_is_read,);

/// Without what belongs to one audit: its times, ids and counts of changes, and the order in which pages came.
fn settled(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|name, _| {
                    let own = [
                        "version",
                        "ttfbMs",
                        "sincePrevious",
                        "changes",
                        "history",
                        "id",
                        "jobId",
                    ];
                    !own.contains(&name.as_str()) && !name.ends_with("At") && !name.ends_with("uditId")
                });
                map.values_mut().for_each(walk);
            }
            Value::Array(values) => {
                values.iter_mut().for_each(walk);
                values.sort_by_key(ToString::to_string);
            }
            _ => {}
        }
    }
    walk(&mut value);
    value
}

async fn list(bench: &Bench, path: &str) -> Vec<Value> {
    let answer = bench.get(&format!("P/{path}limit=100")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["data"].as_array().unwrap().clone()
}

/// All that the newest audit says, and what is made of the texts it kept.
async fn everything(bench: &Bench) -> Value {
    let audit = bench.get("P/audits/current").await.json();
    let issues = list(bench, "issues?").await;
    let mut occurrences = Vec::new();
    for issue in &issues {
        let id = issue["id"].as_str().unwrap();
        occurrences.extend(list(bench, &format!("issues/{id}/occurrences?")).await);
    }
    let pages = list(bench, "pages?").await;
    let mut details = Vec::new();
    for page in &pages {
        let id = page["id"].as_str().unwrap();
        details.push(bench.get(&format!("P/pages/{id}")).await.json());
    }
    let body = json!({ "sources": ["site_content"], "count": 50, "dryRun": true });
    let started = bench.post("P/keywords/generate", body).await;
    assert_eq!(started.status, 202, "{started:?}");
    let job = until_ended(bench, started.json()["job"]["id"].as_str().unwrap()).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
    // places are those of the pages that came first
    let keywords = job["result"]["keywords"].as_array().unwrap().iter();
    let keywords = keywords.map(|keyword| {
        json!([
            keyword["keyword"],
            keyword["score"].as_f64().unwrap().round(),
            keyword["intent"]
        ])
    });
    settled(json!({
        "audit": audit,
        "issues": issues,
        "occurrences": occurrences,
        "pages": details,
        "keywords": keywords.collect::<Vec<_>>(),
    }))
}

fn assert_same(a: &Value, b: &Value) {
    for (name, a) in a.as_object().unwrap() {
        match (a, &b[name]) {
            (Value::Array(a), Value::Array(b)) => {
                assert_eq!(a.len(), b.len(), "{name}");
                a.iter().zip(b).for_each(|(a, b)| assert_eq!(a, b, "{name}"));
            }
            (a, b) => assert_eq!(a, b, "{name}"),
        }
    }
}

/// A site with something to say.
fn furnish(site: &Website) {
    let text = "<p>A standing oak desk takes the whole height of the room. A standing oak desk lasts. Buy a standing oak desk for the office at home.</p>".repeat(3);
    let full = |title: &str, links: &[&str]| page(title, links).replace("<p>Some text.</p>", &text);
    site.put(
        "/",
        200,
        &page(
            "<title>The home of all the desks there are</title>",
            &[
                "/a",
                "/b",
                "/c",
                "/moved",
                "/d#part",
                "/d#none",
                "/dated",
                "/odd",
                "/a?utm_source=x",
            ],
        ),
    );
    site.put(
        "/b",
        200,
        &full("<title>Two pages share this very title</title>", &["/"]),
    );
    site.put(
        "/c",
        200,
        &full("<title>Two pages share this very title</title>", &["/"]),
    );
    site.put(
        "/d",
        200,
        &page(
            "<title>Part of a whole</title><link rel=canonical href=/c>",
            &["/b", "/e"],
        )
        .replace("<h1>", "<h1 id=part>"),
    );
    site.put("/dated", 200, &page("", &["/d"]));
    site.put("/e", 404, &page("", &["/a"]));
    // whatever it is asked
    site.put("/odd", 304, "");
    site.validates.store(true, Relaxed);
}

async fn audits_of_what_has_not_changed(database: &str) {
    let (bench, site) = bench(database).await;
    furnish(&site);
    audit(&bench).await;
    assert!(
        !site.asked().iter().any(|asked| asked.ends_with(" if")),
        "nothing was there to ask by"
    );

    audit(&bench).await;
    let second = everything(&bench).await;
    let mut asked = site.asked();
    asked.retain(|asked| asked.ends_with(" if"));
    assert_eq!(
        asked,
        ["/a if", "/b if", "/c if", "/d if", "/dated if"],
        "once each, and not the home page"
    );
    assert!(
        second["keywords"].to_string().contains("standing oak desk"),
        "which only texts say: {:#}",
        second["keywords"]
    );

    // by what the second kept of the first
    audit(&bench).await;
    assert_same(&everything(&bench).await, &second);
    assert_eq!(
        site.asked().iter().filter(|asked| asked.ends_with(" if")).count(),
        5
    );

    // what is fetched whole says the same
    let forgotten = bench
        .server
        .app
        .engine
        .db
        .write(|tx| Box::pin(async move { sql("DELETE FROM crawl_validators").execute(tx).await }));
    assert!(forgotten.await.unwrap() > 0);
    audit(&bench).await;
    assert_same(&everything(&bench).await, &second);
    assert!(!site.asked().iter().any(|asked| asked.ends_with(" if")));

    // and so does a site that cannot be asked
    site.validates.store(false, Relaxed);
    audit(&bench).await;
    assert_same(&everything(&bench).await, &second);
}

async fn what_changed_is_read(database: &str) {
    let (bench, site) = bench(database).await;
    furnish(&site);
    site.put(
        "/lies/1",
        200,
        &page("<title>What it says at first</title>", &["/"]),
    );
    site.put("/dated", 200, &page("", &["/d", "/lies/1"]));
    audit(&bench).await;
    audit(&bench).await;
    let title = occurrence(&bench, "title-missing", "/a").await;
    assert_eq!(title["state"], "open");
    site.asked();

    // a recheck asks for pages whole
    say(&bench, "done", &[pair(&title)]).await;
    assert_eq!(recheck(&bench).await["counts"]["stillPresent"], 1);
    let asked = site.asked();
    assert!(asked.contains(&"/a fresh".to_owned()), "{asked:?}");
    assert!(!asked.iter().any(|asked| asked.ends_with(" if")), "{asked:?}");

    site.put(
        "/a",
        200,
        &page("<title>It has a title of its own now</title>", &["/new", "/"]),
    );
    site.put("/new", 200, &page("", &["/"]));
    site.put("/lies/1", 200, &page("", &["/"]));
    audit(&bench).await;
    let asked = site.asked();
    let how = |path: &str| {
        let of = asked.iter().filter(|asked| asked.split(' ').next() == Some(path));
        of.cloned().collect::<Vec<_>>()
    };
    assert_eq!(how("/a"), ["/a if"]);
    assert_eq!(how("/new"), ["/new"]);
    assert_eq!(how("/lies/1"), ["/lies/1", "/lies/1 if"]);
    assert_eq!(
        occurrence(&bench, "title-missing", "/a").await["resolution"],
        "fixed"
    );
    for path in ["/new", "/lies/1"] {
        assert_eq!(
            occurrence(&bench, "title-missing", path).await["state"],
            "open",
            "{path}"
        );
    }
}

/// Texts are kept of the first pages of an audit alone, whichever they are: one whose text the last audit did not keep is
/// read anew while this one keeps texts.
#[tokio::test(flavor = "multi_thread")]
async fn texts_are_there_for_every_page_that_needs_one() {
    let (bench, site) = bench("").await;
    site.validates.store(true, Relaxed);
    let many: Vec<String> = (0..2_500).map(|n| format!("/n/{n:04}")).collect();
    let all: Vec<&str> = many.iter().map(String::as_str).collect();
    let titled = |title: &str, links: &[&str]| page(&format!("<title>{title}</title>"), links);
    // each hub leads to the next, so that the last page is among the last in whichever order answers arrive
    for (n, links) in all.chunks(100).enumerate() {
        let next = format!("/hub/{}", n + 1);
        let links = [links, &[&next]].concat();
        site.put(&format!("/hub/{n}"), 200, &titled("A hub", &links));
    }
    for path in &many {
        site.put(path, 200, &titled(path, &["/"]));
    }
    site.put("/", 200, &titled("Home", &["/hub/0"]));
    let whole = json!({ "maxPages": 5_000, "maxDepth": 100 });
    let run = async || {
        let audit = bench.post("P/audits", whole.clone()).await.json();
        until_ended(&bench, audit["job"]["id"].as_str().unwrap()).await;
        site.asked()
    };
    run().await;
    // the last one is among the first now
    site.put("/", 200, &titled("Home", &["/hub/0", "/n/2499"]));
    let asked = run().await;
    assert!(asked.contains(&"/n/2499".to_owned()));
    assert!(asked.contains(&"/n/0000 if".to_owned()));
    let conditional = asked.iter().filter(|asked| asked.ends_with(" if")).count();
    assert!(conditional > 500, "{conditional}");
}

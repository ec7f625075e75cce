//! One page through the doors: what was read of it, what links there, where its links lead.

use serde_json::{Value, json};

use crate::{
    audited::{Website, audit, bench, page},
    harness::Bench,
};

on_both!(
    a_page_with_its_links,
    links_are_cut_and_counted,
    a_page_that_was_not_seen_again,
    a_page_with_a_character_that_no_database_stores,
);

/// The page whose URL ends so.
async fn detail(bench: &Bench, path: &str) -> Value {
    let pages = bench.get(&format!("P/pages?limit=100&q={path}")).await.json();
    let mut pages = pages["data"].as_array().unwrap().iter();
    let found = pages.find(|page| page["url"].as_str().unwrap().ends_with(path));
    let id = found.unwrap_or_else(|| panic!("no page {path}"))["id"]
        .as_str()
        .unwrap();
    let answer = bench.get(&format!("P/pages/{id}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// Path, text, followable, status and failure of links.
fn told(links: &Value) -> Vec<Value> {
    let links = links["data"].as_array().unwrap().iter();
    links
        .map(|link| {
            let url = link["url"].as_str().unwrap();
            let path = url.splitn(4, '/').nth(3).unwrap();
            json!([
                path,
                link["anchor"],
                link["followable"],
                link["statusCode"],
                link["failure"]
            ])
        })
        .collect()
}

fn wide(site: &Website) {
    let many: Vec<String> = (0..60).map(|n| format!("/n/{n}")).collect();
    let links: Vec<&str> = many.iter().map(String::as_str).collect();
    site.put("/hub", 200, &page("<title>A hub of pages</title>", &links));
    for path in &links {
        site.put(path, 200, &page("<title>One of many</title>", &["/target"]));
    }
    site.put("/", 200, &page("<title>Home of the hub</title>", &["/hub"]));
    site.put("/target", 200, &page("<title>What all link to</title>", &[]));
}

async fn a_page_with_its_links(database: &str) {
    let (bench, site) = bench(database).await;
    site.put("/robots.txt", 200, "User-agent: *\nDisallow: /private\n");
    let body = "<title>Links of every kind</title><meta name=description content=\"What it is about\"><link rel=canonical href=\"/a\">\
        </head><body><h1>Kinds</h1><h2>Of links</h2><a href=\"/gone\">Gone</a> <a rel=nofollow href=\"/b#part\">Not that</a> <a href=\"/private\">Secret</a>\
        <a href=\"https://127.0.0.1:9/else\">Elsewhere</a> <a href=\"/gone?utm_source=x\">Gone again</a> <a href=\"mailto:a@example.com\">Write</a>";
    site.put("/a", 200, &page(body, &[]));
    audit(&bench).await;
    let a = detail(&bench, "/a").await;
    assert_eq!(
        (&a["linksStatus"], &a["foundBy"][0]),
        (&Value::Null, &json!("link"))
    );
    assert_eq!(
        told(&a["linksOut"]),
        [
            json!(["gone", "Gone", true, 404, null]),
            json!(["b", "Not that", false, 200, null]),
            json!(["private", "Secret", true, null, "blocked"]),
            json!(["else", "Elsewhere", true, null, "no_answer"]),
        ]
    );
    let out = &a["linksOut"]["data"];
    assert!(out[0]["page_id"].is_string() && out[3]["page_id"].is_null());
    assert_eq!(a["linksOut"]["total"], a["outlinks"]);
    assert_eq!(
        told(&a["linksIn"]),
        [json!(["", "Read on about /a", true, 200, null])]
    );
    let facts = &a["facts"];
    assert_eq!(
        (&facts["language"], &facts["description"], &facts["canonical"]),
        (&json!("en"), &json!("What it is about"), &json!("/a"))
    );
    assert_eq!(facts["headings"][1], json!({ "level": 2, "text": "Of links" }));
    let issue = a["issues"]
        .as_array()
        .unwrap()
        .iter()
        .find(|i| i["checkId"] == "broken-internal-link");
    assert_eq!(issue.unwrap()["state"], "open");
    assert!(issue.unwrap()["recommendation"].is_string());

    let b = detail(&bench, "/b").await;
    assert_eq!(
        told(&b["linksIn"]),
        [
            json!(["", "Read on about /b", true, 200, null]),
            json!(["a", "Not that", false, 200, null]),
        ]
    );
    assert_eq!((&b["linksIn"]["total"], &b["inlinks"]), (&json!(2), &json!(1)));
    let gone = detail(&bench, "/gone").await;
    assert_eq!(told(&gone["linksIn"]), [json!(["a", "Gone", true, 200, null])]);
    assert_eq!(gone["linksIn"]["data"][0]["page_id"], a["id"]);
    let private = detail(&bench, "/private").await;
    assert_eq!(
        (&private["facts"], &private["linksIn"]["total"]),
        (&Value::Null, &json!(1))
    );
    assert_eq!(
        private["outlinks"],
        Value::Null,
        "what was not read has no number"
    );
}

async fn links_are_cut_and_counted(database: &str) {
    let (bench, site) = bench(database).await;
    wide(&site);
    audit(&bench).await;
    let hub = detail(&bench, "/hub").await;
    assert_eq!(
        (&hub["linksOut"]["total"], told(&hub["linksOut"]).len()),
        (&json!(60), 50)
    );
    let target = detail(&bench, "/target").await;
    assert_eq!(
        (&target["linksIn"]["total"], told(&target["linksIn"]).len()),
        (&json!(60), 50)
    );
    assert_eq!(target["linksOut"], json!({ "total": 0, "data": [] }));

    // Addresses of thousands of characters fill an answer sooner.
    let many: Vec<String> = (0..40)
        .map(|n| format!("/long/{n}/{}", "x".repeat(1_500)))
        .collect();
    let links: Vec<&str> = many.iter().map(String::as_str).collect();
    site.put("/hub", 200, &page("<title>A hub of long names</title>", &links));
    audit(&bench).await;
    let hub = detail(&bench, "/hub").await;
    let shown = told(&hub["linksOut"]).len();
    assert!((5..22).contains(&shown), "{shown}");
    assert_eq!(hub["linksOut"]["total"], 40);
}

async fn a_page_that_was_not_seen_again(database: &str) {
    let (bench, _) = bench(database).await;
    let before = detail(&bench, "/c").await;
    assert_eq!(before["linksIn"]["total"], 1);
    let started = bench.post("P/audits", json!({ "include": ["/b"] })).await.json();
    crate::post_generation::until_ended(&bench, started["job"]["id"].as_str().unwrap()).await;
    let after = detail(&bench, "/c").await;
    assert_eq!(
        (&after["linksStatus"], &after["linksIn"], &after["facts"]),
        (&json!("not_measured"), &Value::Null, &Value::Null)
    );
    assert_eq!(after["title"], before["title"]);
    assert_eq!(detail(&bench, "/b").await["linksStatus"], Value::Null);
}

async fn a_page_with_a_character_that_no_database_stores(database: &str) {
    let (bench, site) = bench(database).await;
    let nul = "<title>Desks\0and tables</title><meta name=description content='a\0b'>\
        <script type=application/ld+json>{\"@type\":\"Thing\",\"name\":\"a\\u0000b\"}</script>";
    site.put("/a", 200, &page(nul, &["/", "/x\0y"]));
    let audit = audit(&bench).await;
    assert_eq!(audit["status"], "completed", "{audit:#}");
    let all = bench.get("P/pages?limit=100").await.json();
    let title = all["data"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|page| page["title"].as_str().filter(|title| title.contains("tables")));
    assert_eq!(title, Some("Desks\u{fffd}and tables"), "{all:#}");
}

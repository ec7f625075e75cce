//! Pages of the brand: the profile and its four resources, changed by forms.

use searchwright_contract::people::Role;
use serde_json::json;

use crate::{
    browser::Browser,
    dashboard_audits::{address, signed_in, submit},
    harness::Bench,
    visibility::with_brand,
};

on_both!(
    the_profile_is_changed_by_one_person_at_a_time,
    items_are_added_changed_and_deleted,
    what_is_refused_keeps_what_was_typed,
    viewers_read_brand_data_only,
    brand_data_is_never_markup,
);

const VIEWS: [&str; 5] = [
    "",
    "?view=products",
    "?view=competitors",
    "?view=faqs",
    "?view=ctas",
];

/// Fields of a form.
type Fields<'a> = &'a [(&'a str, &'a str)];

fn brand(bench: &Bench, rest: &str) -> String {
    address(bench, &format!("/brand{rest}"))
}

async fn the_profile_is_changed_by_one_person_at_a_time(database: &str) {
    let bench = with_brand(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = brand(&bench, "");
    let page = ann.open(&path).await;
    assert!(page.text.contains("value=\"Acme Desk\""), "{}", page.text);
    let version = page.field("version");
    let form = [
        ("version", version.as_str()),
        ("name", "Acme Desk"),
        ("aliases", "Acme Desk\r\nAcmeDesk\r\n\r\n"),
        ("tone", "plain"),
        ("ambiguous", "true"),
    ];
    let saved = submit(&ann, &page, &path, &form).await;
    assert!(saved.text.contains("Saved."), "{}", saved.text);
    let stored = bench.get("P/brand").await.json();
    assert_eq!(stored["aliases"], json!(["Acme Desk", "AcmeDesk"]));
    assert_eq!(
        (&stored["ambiguous"], &stored["category"], &stored["domains"]),
        (&json!(true), &json!(null), &json!([]))
    );
    let other = [
        ("version", version.as_str()),
        ("name", "Acme"),
        ("tone", "my tone"),
    ];
    let stale = submit(&ann, &saved, &path, &other).await;
    assert_eq!(stale.status, 412, "{}", stale.text);
    assert!(stale.text.contains("has changed since it was read") && stale.text.contains("my tone"));
    // Still with the version that was seen: sending it again does not win.
    assert_eq!(stale.field("version"), version);
    let empty = submit(
        &ann,
        &saved,
        &path,
        &[("version", &saved.field("version")), ("name", " ")],
    )
    .await;
    assert_eq!(empty.status, 422, "{}", empty.text);
    assert_eq!(bench.get("P/brand").await.json()["name"], "Acme Desk");
}

async fn items_are_added_changed_and_deleted(database: &str) {
    let bench = with_brand(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let forms: [(&str, Fields<'_>, &str); 4] = [
        (
            "products",
            &[
                ("name", "Oak desk 160"),
                ("price", "499.50"),
                ("price-2", "EUR"),
                ("features", "two motors\r\nsolid oak"),
                ("status", "active"),
            ],
            "name",
        ),
        (
            "competitors",
            &[
                ("name", "Oakworks"),
                ("domain", "oakworks.example"),
                (
                    "claims",
                    "Ships within 30 days | https://oakworks.example/shipping",
                ),
                ("active", "true"),
            ],
            "name",
        ),
        (
            "faqs",
            &[
                ("question", "How high does it go?"),
                ("answer", "Up to **128 cm**."),
                ("verifiedAt", "2020-01-31"),
            ],
            "question",
        ),
        (
            "ctas",
            &[
                ("label", "Try it at home"),
                ("url", "https://acme.example/trial"),
                ("placement", "banner"),
                ("priority", "10"),
                ("intents", "commercial"),
                ("intents", "transactional"),
            ],
            "label",
        ),
    ];
    for (resource, fields, title) in forms {
        let path = brand(&bench, &format!("?view={resource}"));
        let page = ann.open(&path).await;
        let mut form = vec![("action", "add")];
        form.extend(fields);
        for _ in 0..2 {
            let added = submit(&ann, &page, &path, &form).await;
            assert!(added.text.contains("Added."), "{resource}: {}", added.text);
            assert!(added.text.contains(fields[0].1), "{}", added.text);
        }
        let listed = bench.get(&format!("P/brand/{resource}")).await.json();
        let stored = listed["data"][0].clone();
        assert_eq!(stored[title], fields[0].1, "{stored}");
        let id = stored["id"].as_str().unwrap();
        let edit = format!("{path}&edit={id}");
        let page = ann.open(&edit).await;
        let version = page.field("version");
        let mut form = vec![("action", "save"), ("version", version.as_str())];
        form.extend(fields);
        let whole = stored["verifiedAt"].as_str().unwrap_or_default().to_owned();
        form.push(("verifiedAt-2", &whole));
        let saved = submit(&ann, &page, &edit, &form).await;
        assert!(saved.text.contains("Saved."), "{resource}: {}", saved.text);
        let again = bench.get(&format!("P/brand/{resource}/{id}")).await.json();
        for name in [
            "price",
            "claims",
            "features",
            "verifiedAt",
            "intents",
            "placement",
            "active",
        ] {
            assert_eq!(
                stored[name], again[name],
                "{resource}: a form that changes nothing changes nothing"
            );
        }
        // Deleting is of the version that was seen, too.
        let stale = submit(
            &ann,
            &saved,
            &edit,
            &[("action", "delete"), ("version", &format!("{id}-99"))],
        )
        .await;
        assert_eq!(stale.status, 412, "{}", stale.text);
        let seen = ann.open(&edit).await.field("version");
        let gone = submit(&ann, &stale, &edit, &[("action", "delete"), ("version", &seen)]).await;
        assert!(gone.text.contains("Deleted."), "{resource}: {}", gone.text);
        assert_eq!(ann.open(&edit).await.status, 404);
    }
}

async fn what_is_refused_keeps_what_was_typed(database: &str) {
    let bench = with_brand(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let forms: [(&str, Fields<'_>, &str); 5] = [
        (
            "products",
            &[
                ("name", "Oak"),
                ("price", "much"),
                ("price-2", "EUR"),
                ("status", "active"),
            ],
            "value=\"much\"",
        ),
        (
            "products",
            &[("name", "Oak"), ("url", "no url"), ("status", "sold")],
            "value=\"no url\"",
        ),
        (
            "competitors",
            &[("name", "Bolt Desks"), ("domain", "bolt.example")],
            "value=\"bolt.example\"",
        ),
        (
            "competitors",
            &[("name", "C"), ("domain", "c.example"), ("claims", "no source")],
            "no source",
        ),
        (
            "ctas",
            &[
                ("label", "Go"),
                ("url", "https://acme.example/"),
                ("placement", "end"),
                ("priority", "x"),
            ],
            "value=\"x\"",
        ),
    ];
    for (resource, fields, kept) in forms {
        let path = brand(&bench, &format!("?view={resource}"));
        let page = ann.open(&path).await;
        let mut form = vec![("action", "add")];
        form.extend(fields);
        let refused = submit(&ann, &page, &path, &form).await;
        assert!(
            refused.status == 422 || refused.status == 409,
            "{resource}: {}",
            refused.status
        );
        assert!(
            refused.text.contains("role=\"alert\"") && refused.text.contains(kept),
            "{}",
            refused.text
        );
        assert!(
            !refused.text.to_lowercase().contains("items/0"),
            "{}",
            refused.text
        );
    }
}

async fn viewers_read_brand_data_only(database: &str) {
    let bench = with_brand(database).await;
    let stranger = Browser::new(&bench);
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    let csrf = eve.open("/account").await.field("csrf");
    for view in VIEWS {
        let path = brand(&bench, view);
        let page = stranger.open(&path).await;
        assert!(page.text.contains("name=\"password\""), "{path} is open");
        let page = eve.open(&path).await;
        assert_eq!(page.status, 200);
        assert!(!page.text.contains("method=\"post\""), "{path}: {}", page.text);
        let form = [
            ("csrf", csrf.as_str()),
            ("action", "add"),
            ("name", "N"),
            ("domain", "n.example"),
            ("question", "Q?"),
            ("answer", "A"),
            ("label", "L"),
            ("url", "https://acme.example/"),
            ("status", "active"),
            ("placement", "end"),
        ];
        let refused = eve.send(&path, &form).await;
        assert_eq!(refused.status, 403, "{path}: {}", refused.text);
        let nowhere = format!("/projects/01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21/brand{view}");
        assert_eq!(eve.open(&nowhere).await.status, 404);
    }
    let wrong = brand(&bench, "?view=products&edit=01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21");
    assert_eq!(eve.open(&wrong).await.status, 404);
}

async fn brand_data_is_never_markup(database: &str) {
    let bench = with_brand(database).await;
    let nasty = "<script>alert(1)</script>\"><img src=x onerror=alert(2)>";
    let item = json!({ "items": [{ "name": nasty, "description": nasty, "features": [nasty] }] });
    assert_eq!(bench.post("P/brand/products", item).await.status, 201);
    let question = json!({ "items": [{ "question": nasty, "answer": format!("</textarea>{nasty}") }] });
    assert_eq!(bench.post("P/brand/faqs", question).await.status, 201);
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let mut paths: Vec<String> = VIEWS.iter().map(|view| (*view).to_owned()).collect();
    for resource in ["products", "faqs"] {
        let listed = bench.get(&format!("P/brand/{resource}")).await.json();
        let id = listed["data"][0]["id"].as_str().unwrap().to_owned();
        paths.push(format!("?view={resource}&edit={id}"));
    }
    for path in paths {
        let page = ann.open(&brand(&bench, &path)).await;
        assert_eq!(page.status, 200, "{path}");
        for bad in ["<script>alert", "<img src=x"] {
            assert!(!page.text.contains(bad), "{path}: {bad:?}");
        }
    }
}

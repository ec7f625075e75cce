//! The brand profile.

use serde_json::{Value, json};

use crate::harness::{Answer, Bench};

async fn patch(bench: &Bench, body: Value) -> Answer {
    bench.call("PATCH", "P/brand").json(&body).send().await
}

/// A value for every member.
fn whole() -> Value {
    json!({
        "name": "Fern & Fir GmbH",
        "aliases": ["FernFir", "Fern und Fir"],
        "domains": ["fernfir.example", "http://127.0.0.1:8099"],
        "category": "office furniture",
        "tone": "plain, warm, no superlatives",
        "bannedPhrases": ["game changer", "best in class"],
        "language": "de-AT",
        "ambiguous": true,
        "negativeContext": ["fern leaf"],
    })
}

/// Whether every member of `part` is so in `whole`.
#[track_caller]
fn holds(whole: &Value, part: &Value) {
    for (name, value) in part.as_object().unwrap() {
        assert_eq!(&whole[name], value, "{name}");
    }
}

#[tokio::test]
async fn a_project_that_has_set_nothing_has_defaults() {
    let bench = Bench::start().await;
    let brand = bench.get("P/brand").await;
    assert_eq!(
        brand.header("etag"),
        Some(format!("\"{}-0\"", bench.project).as_str())
    );
    let expected = json!({
        "projectId": bench.project, "name": "Fern & Fir", "aliases": [], "domains": [], "category": null, "tone": null,
        "bannedPhrases": [], "language": null, "ambiguous": false, "negativeContext": [], "version": 0, "updatedAt": null,
        "allowedActions": { "update": true },
    });
    assert_eq!(brand.json(), expected);
}

#[tokio::test]
async fn every_member_is_kept_and_cleared() {
    let bench = Bench::start().await;
    let set = patch(&bench, whole()).await;
    assert_eq!(set.status, 200, "{set:?}");
    holds(&set.json(), &whole());
    let read = bench.get("P/brand").await;
    assert_eq!(read.json(), set.json());
    assert_eq!(
        read.header("etag"),
        Some(format!("\"{}-1\"", bench.project).as_str())
    );
    assert_eq!(
        (&read.json()["version"], &read.json()["updatedAt"]),
        (&json!(1), &json!(bench.clock.now().to_string()))
    );
    for (name, value) in whole().as_object().unwrap() {
        let again = patch(&bench, json!({ name.as_str(): value })).await.json();
        assert_eq!(again, set.json(), "{name} is what it was");
    }
    let cleared = json!({
        "aliases": [], "domains": [], "category": null, "tone": null, "bannedPhrases": [], "language": null,
        "ambiguous": false, "negativeContext": [],
    });
    let after = patch(&bench, cleared.clone()).await.json();
    holds(&after, &cleared);
    assert_eq!(after["name"], "Fern & Fir GmbH", "what is not named stays");
    assert_eq!(after["version"], json!(2));
    let (foreign, key) = bench.neighbour().await;
    let theirs = bench
        .call("GET", &format!("/projects/{foreign}/brand"))
        .key(&key)
        .send()
        .await
        .json();
    assert_eq!((&theirs["name"], &theirs["version"]), (&json!("Oak"), &json!(0)));
}

#[tokio::test]
async fn texts_are_brought_into_one_form() {
    let bench = Bench::start().await;
    let set = patch(
        &bench,
        json!({ "name": "  Fern ", "domains": ["HTTPS://WWW.Bücher.Example/"], "language": "EN-us" }),
    )
    .await
    .json();
    holds(
        &set,
        &json!({ "name": "Fern", "domains": ["https://www.xn--bcher-kva.example"], "language": "en-US" }),
    );
}

#[tokio::test]
async fn every_fault_is_named() {
    let bench = Bench::start().await;
    let before = bench.get("P/brand").await.json();
    for (body, pointer, code) in [
        (json!({ "name": "  " }), "/name", "blank"),
        (json!({ "name": "" }), "/name", "too_short"),
        (json!({ "name": null }), "/name", "null_not_allowed"),
        (json!({ "aliases": ["a", " "] }), "/aliases/1", "blank"),
        (json!({ "aliases": null }), "/aliases", "null_not_allowed"),
        (json!({ "aliases": vec!["a"; 51] }), "/aliases", "too_many_items"),
        (
            json!({ "domains": ["a.example", "a.example/path"] }),
            "/domains/1",
            "not_a_domain",
        ),
        (json!({ "category": "x".repeat(201) }), "/category", "too_long"),
        (json!({ "tone": " " }), "/tone", "blank"),
        (json!({ "bannedPhrases": [1] }), "/bannedPhrases/0", "wrong_type"),
        (
            json!({ "language": "english language" }),
            "/language",
            "not_a_language",
        ),
        (json!({ "ambiguous": "yes" }), "/ambiguous", "wrong_type"),
        (json!({ "negativeContext": [" "] }), "/negativeContext/0", "blank"),
        (json!({ "colour": "green" }), "/colour", "unknown_field"),
        (json!({ "version": 3 }), "/version", "unknown_field"),
    ] {
        let refused = patch(&bench, body.clone()).await;
        assert_eq!(refused.status, 422, "{body}");
        let errors = &refused.json()["errors"];
        assert_eq!(
            (&errors[0]["pointer"], &errors[0]["code"]),
            (&json!(pointer), &json!(code)),
            "{body}"
        );
        assert_eq!(errors.as_array().unwrap().len(), 1, "{errors}");
    }
    assert_eq!(bench.get("P/brand").await.json(), before);
}

#[tokio::test]
async fn a_change_names_the_version_it_has_seen() {
    let bench = Bench::start().await;
    let tag = |version| format!("\"{}-{version}\"", bench.project);
    let change = async |version: i64, name: &str| {
        bench
            .call("PATCH", "P/brand")
            .header("if-match", &tag(version))
            .json(&json!({ "name": name }))
            .send()
            .await
    };
    assert_eq!(change(0, "A").await.status, 200);
    change(0, "B").await.refuses(412, "precondition_failed");
    assert_eq!(change(1, "C").await.json()["name"], "C");
}

#[tokio::test]
async fn scopes_say_who_may_read_and_write() {
    let bench = Bench::start().await;
    let reader = bench.key_for(bench.project, &["brand:read"]).await;
    let read = bench.call("GET", "P/brand").key(&reader).send().await.json();
    assert_eq!(read["allowedActions"]["update"]["code"], "insufficient_scope");
    let refused = bench
        .call("PATCH", "P/brand")
        .key(&reader)
        .json(&json!({ "name": "x" }))
        .send()
        .await;
    assert_eq!(refused.refuses(403, "insufficient_scope")["scope"], "brand:write");
    let other = bench.key_for(bench.project, &["keywords:write"]).await;
    bench
        .call("GET", "P/brand/products")
        .key(&other)
        .send()
        .await
        .refuses(403, "insufficient_scope");
}

//! A recheck that is answered by a cache on the way: what is seen may be older than the page.

use serde_json::{Value, json};

use crate::audited::{bench, occurrence, pair, recheck, say};

on_both!(an_old_copy_is_told_from_a_fault,);

async fn an_old_copy_is_told_from_a_fault(database: &str) {
    let (bench, site) = bench(database).await;
    let title = occurrence(&bench, "title-missing", "/a").await;
    for (headers, evidence, told) in [
        (vec![], Value::Null, "the page answered 200"),
        (
            vec![("age", "0"), ("x-cache", "MISS from edge")],
            json!({ "age": "0", "x-cache": "MISS from edge" }),
            "the page answered 200",
        ),
        (
            vec![("age", "3600"), ("via", "1.1 varnish"), ("x-cache", "HIT")],
            json!({ "age": "3600", "via": "1.1 varnish", "x-cache": "HIT" }),
            "a cache answered 200 with a copy 3600 seconds old",
        ),
        (
            vec![("cf-cache-status", "HIT")],
            json!({ "cf-cache-status": "HIT" }),
            "a cache answered 200: purge it",
        ),
    ] {
        *site.headers.lock().unwrap() = headers;
        say(&bench, "done", &[pair(&title)]).await;
        let done = recheck(&bench).await;
        let item = &done["items"][0];
        assert_eq!(item["outcome"], "still_present");
        assert!(item["detail"].as_str().unwrap().starts_with(told), "{item:#}");
        let seen = occurrence(&bench, "title-missing", "/a").await;
        assert_eq!(seen["evidence"]["cache"], evidence);
    }
}

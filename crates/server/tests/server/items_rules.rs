//! Rules across items: how many, no two alike, all or none, and what hangs on what.

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};

use crate::{
    harness::Bench,
    items::{add, added, listed},
};

fn products(names: impl IntoIterator<Item = String>) -> Vec<Value> {
    names.into_iter().map(|name| json!({ "name": name })).collect()
}

#[tokio::test]
async fn one_to_a_hundred_items_at_a_time() {
    let bench = Bench::start().await;
    for resource in ["products", "competitors", "faqs", "ctas"] {
        let many: Vec<Value> = (0..101).map(|_| json!({})).collect();
        let problem = add(&bench, resource, &many).await.refuses(422, "too_many_items");
        assert_eq!(problem["errors"][0]["pointer"], "/items");
        let problem = add(&bench, resource, &[]).await.refuses(422, "validation_failed");
        assert_eq!(problem["errors"][0]["code"], "too_few_items");
        let path = format!("P/brand/{resource}");
        let problem = bench
            .post(&path, json!({}))
            .await
            .refuses(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], "/items");
    }
    let hundred = add(
        &bench,
        "products",
        &products((0..100).map(|n| format!("desk {n}"))),
    )
    .await;
    assert_eq!(
        (hundred.status, hundred.json()["data"].as_array().unwrap().len()),
        (201, 100)
    );
}

#[tokio::test]
async fn two_thousand_of_each_resource() {
    let bench = Bench::start().await;
    for batch in 0..20 {
        let names = (0..100).map(|n| format!("desk {}", batch * 100 + n));
        assert_eq!(add(&bench, "products", &products(names)).await.status, 201);
    }
    let problem = add(&bench, "products", &products(["one more".to_owned()]))
        .await
        .refuses(422, "too_many_items");
    assert_eq!(
        (&problem["limit"], &problem["used"]),
        (&json!(2000), &json!(2000))
    );
    assert_eq!(
        add(&bench, "faqs", &[json!({ "question": "q", "answer": "a" })])
            .await
            .status,
        201
    );
    let skipped = bench
        .post(
            "P/brand/products",
            json!({ "items": [{ "name": "desk 7" }], "onDuplicate": "skip" }),
        )
        .await;
    assert_eq!(
        skipped.json()["data"][0]["outcome"],
        "skipped",
        "nothing is added, so nothing is too much"
    );
    let id = listed(&bench, "products").await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        bench
            .call("DELETE", &format!("P/brand/products/{id}"))
            .send()
            .await
            .status,
        204
    );
    assert_eq!(
        add(&bench, "products", &products(["one more".to_owned()]))
            .await
            .status,
        201
    );
}

#[tokio::test]
async fn no_two_are_alike() {
    let bench = Bench::start().await;
    for (resource, first, alike, member, other) in [
        (
            "products",
            json!({ "name": "Café desk" }),
            json!({ "name": " CAFE\u{301}  DESK" }),
            "name",
            json!({ "name": "Cafe desk" }),
        ),
        (
            "competitors",
            json!({ "name": "Oak", "domain": "oak.example" }),
            json!({ "name": "OAK", "domain": "elm.example" }),
            "name",
            json!({ "name": "Pine", "domain": "pine.example" }),
        ),
        (
            "competitors",
            json!({ "name": "Ash", "domain": "ash.co.uk" }),
            json!({ "name": "Ash UK", "domain": "https://WWW.ash.co.uk" }),
            "domain",
            json!({ "name": "Yew", "domain": "yew.co.uk" }),
        ),
        (
            "faqs",
            json!({ "question": "How high?", "answer": "A" }),
            json!({ "question": "how  HIGH?", "answer": "B", "language": "EN" }),
            "question",
            json!({ "question": "How high?", "answer": "A", "language": "de" }),
        ),
        (
            "ctas",
            json!({ "label": "Try it", "url": "https://a.example" }),
            json!({ "label": "TRY it", "url": "https://A.example/" }),
            "label",
            json!({ "label": "Try it", "url": "https://a.example/b" }),
        ),
    ] {
        let kept = added(&bench, resource, first.clone()).await;
        let id = kept["id"].as_str().unwrap();
        let problem = add(&bench, resource, &[other.clone(), alike.clone()])
            .await
            .refuses(409, "already_exists");
        let pointer = format!("/items/1/{member}");
        assert_eq!(problem["errors"].as_array().unwrap().len(), 1);
        assert_eq!(problem["errors"][0]["pointer"], json!(pointer));
        assert_eq!(
            problem["existing"],
            json!([{ "pointer": pointer, "existingId": id }])
        );
        let path = format!("P/brand/{resource}");
        let skipped = bench
            .post(
                &path,
                json!({ "items": [alike.clone(), other.clone(), other.clone()], "onDuplicate": "skip" }),
            )
            .await;
        assert_eq!(skipped.status, 201, "{skipped:?}");
        let data = skipped.json()["data"].clone();
        assert_eq!(
            data[0],
            json!({ "outcome": "skipped", "item": null, "existingId": id })
        );
        let new = &data[1]["item"]["id"];
        assert_eq!(
            data[2],
            json!({ "outcome": "skipped", "item": null, "existingId": new }),
            "also within a request"
        );
        assert_eq!(
            bench.get(&format!("{path}/{id}")).await.json(),
            kept,
            "the existing one is left alone"
        );
        let theirs = format!("{path}/{}", new.as_str().unwrap());
        let problem = bench
            .call("PATCH", &theirs)
            .json(&alike)
            .send()
            .await
            .refuses(409, "already_exists");
        assert_eq!(
            (&problem["errors"][0]["pointer"], &problem["existingId"]),
            (&json!(format!("/{member}")), &json!(id))
        );
        let same = bench
            .call("PATCH", &format!("{path}/{id}"))
            .json(&alike)
            .send()
            .await;
        assert_eq!(same.status, 200, "an item is no duplicate of itself: {same:?}");
        assert_eq!(
            bench.call("DELETE", &format!("{path}/{id}")).send().await.status,
            204
        );
        assert_eq!(
            bench.call("PATCH", &theirs).json(&alike).send().await.status,
            200,
            "the key is free again"
        );
    }
}

#[tokio::test]
async fn a_name_that_is_changed_is_free() {
    let bench = Bench::start().await;
    let desk = added(&bench, "products", json!({ "name": "desk" })).await;
    let path = format!("P/brand/products/{}", desk["id"].as_str().unwrap());
    assert_eq!(
        bench
            .call("PATCH", &path)
            .json(&json!({ "name": "table" }))
            .send()
            .await
            .status,
        200
    );
    added(&bench, "products", json!({ "name": "desk" })).await;
    add(&bench, "products", &products(["Table".to_owned()]))
        .await
        .refuses(409, "already_exists");
}

#[tokio::test]
async fn a_product_that_is_linked_to_stays() {
    let bench = Bench::start().await;
    let desk = added(&bench, "products", json!({ "name": "desk" })).await;
    let id = desk["id"].as_str().unwrap();
    let upper = id.to_uppercase();
    let cta = added(
        &bench,
        "ctas",
        json!({ "label": "L", "url": "https://a.example", "productId": upper }),
    )
    .await;
    assert_eq!(cta["productId"], json!(id), "in one spelling");
    let path = format!("P/brand/products/{id}");
    let problem = bench
        .call("DELETE", &path)
        .send()
        .await
        .refuses(409, "invalid_state");
    assert_eq!(problem["ctas"], json!(1));
    let unlink = bench.call("PATCH", &format!("P/brand/ctas/{}", cta["id"].as_str().unwrap()));
    assert_eq!(
        unlink.json(&json!({ "productId": null })).send().await.status,
        200
    );
    assert_eq!(bench.call("DELETE", &path).send().await.status, 204);
}

#[tokio::test]
async fn a_domain_is_the_brands_or_a_competitors() {
    let bench = Bench::start().await;
    added(
        &bench,
        "competitors",
        json!({ "name": "Oak", "domain": "www.oak.example" }),
    )
    .await;
    let problem = bench
        .call("PATCH", "P/brand")
        .json(&json!({ "domains": ["fern.example", "shop.oak.example"] }))
        .send()
        .await
        .refuses(422, "validation_failed");
    assert_eq!(
        (&problem["errors"][0]["pointer"], &problem["errors"][0]["code"]),
        (&json!("/domains/1"), &json!("competitor_domain"))
    );
}

#[tokio::test]
async fn a_request_that_is_repeated_adds_once() {
    let bench = Bench::start().await;
    let mut bodies = Vec::new();
    for _ in 0..2 {
        let answer = bench
            .call("POST", "P/brand/products")
            .header("idempotency-key", "once")
            .json(&json!({ "items": [{ "name": "desk" }] }))
            .send()
            .await;
        assert_eq!(answer.status, 201);
        bodies.push(answer.json());
    }
    assert_eq!(bodies[0], bodies[1]);
    assert_eq!(listed(&bench, "products").await.len(), 1);
}

/// Generates an item of a request: a name, or an invalid item.
fn entry() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => (0..12u8, any::<bool>()).prop_map(|(n, upper)| {
            let name = format!("desk {n}");
            json!({ "name": if upper { name.to_uppercase() } else { name } })
        }),
        1 => Just(json!({ "name": "  " })),
        1 => Just(json!({ "name": "x", "url": "nowhere" })),
        1 => Just(json!({ "name": "x", "id": "y" })),
    ]
}

/// Whatever is sent, in whatever order: either every item is there afterwards or, if any is at fault, the
/// project is as it was; and no two are ever alike.
#[test]
fn all_or_nothing() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let bench = runtime.block_on(Bench::start());
    let requests = proptest::collection::vec((proptest::collection::vec(entry(), 1..6), any::<bool>()), 1..5);
    let mut runner = TestRunner::new(Config {
        cases: 48,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&requests, |requests| {
            runtime.block_on(async {
                for item in listed(&bench, "products").await {
                    let path = format!("P/brand/products/{}", item["id"].as_str().unwrap());
                    assert_eq!(bench.call("DELETE", &path).send().await.status, 204);
                }
                let mut expected: Vec<String> = Vec::new();
                for (items, skips) in requests {
                    let names: Vec<String> = items
                        .iter()
                        .map(|i| i["name"].as_str().unwrap().to_lowercase())
                        .collect();
                    let faulty = items
                        .iter()
                        .any(|i| i["name"] == "  " || i.get("url").is_some() || i.get("id").is_some());
                    let mut fresh = names.clone();
                    fresh.sort();
                    fresh.dedup();
                    fresh.retain(|n| !expected.contains(n));
                    let alike = fresh.len() < names.len();
                    let body =
                        json!({ "items": items, "onDuplicate": if skips { "skip" } else { "refuse" } });
                    let status = bench.post("P/brand/products", body).await.status;
                    let wanted = match (faulty, alike && !skips) {
                        (true, _) => 422,
                        (false, true) => 409,
                        (false, false) => 201,
                    };
                    assert_eq!(status, wanted);
                    if status == 201 {
                        expected.extend(fresh);
                    }
                    let mut there: Vec<String> = listed(&bench, "products")
                        .await
                        .iter()
                        .map(|i| i["name"].as_str().unwrap().to_lowercase())
                        .collect();
                    there.sort();
                    expected.sort();
                    assert_eq!(there, expected);
                }
            });
            Ok(())
        })
        .unwrap();
}

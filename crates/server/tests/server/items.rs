//! Products, competitors, questions and calls to action: what is sent is kept, what is at fault is named.

use serde_json::{Value, json};

use crate::harness::{Answer, Bench};

/// An item of a resource with a value for every member, and what answers add to nothing but a name.
struct Sample {
    resource: &'static str,
    /// Every member.
    whole: Value,
    /// The least that is accepted.
    least: Value,
    /// Stored form of the smallest valid item.
    defaults: Value,
    /// Members that `null` clears.
    nullable: &'static [&'static str],
}

fn samples(product: &str) -> [Sample; 4] {
    [
        Sample {
            resource: "products",
            whole: json!({
                "name": "Oak desk 160", "aliases": ["OD160"], "url": "https://fernfir.example/oak-desk", "description": "A desk. 🪴",
                "category": "standing desk", "price": { "amount": 499.95, "currency": "EUR" }, "features": ["two motors", "oak"],
                "audience": "people who work at home", "useCases": ["work"], "differentiators": ["local oak"], "status": "retired",
                "imageUrl": "https://fernfir.example/oak.jpg",
            }),
            least: json!({ "name": "Pine desk" }),
            defaults: json!({
                "aliases": [], "url": null, "description": null, "category": null, "price": null, "features": [], "audience": null,
                "useCases": [], "differentiators": [], "status": "active", "imageUrl": null,
            }),
            nullable: &["url", "description", "category", "price", "audience", "imageUrl"],
        },
        Sample {
            resource: "competitors",
            whole: json!({
                "name": "Oakworks", "domain": "oakworks.example", "aliases": ["OW"], "ownedDomains": ["ow.example", "https://oak.works.example"],
                "ambiguous": true, "notes": "since 1990", "claims": [{ "text": "Ships in 30 days", "sourceUrl": "https://oakworks.example/s" }],
                "active": false,
            }),
            least: json!({ "name": "Pineworks", "domain": "pineworks.example" }),
            defaults: json!({
                "aliases": [], "ownedDomains": [], "ambiguous": false, "notes": null, "claims": [], "active": true,
            }),
            nullable: &["notes"],
        },
        Sample {
            resource: "faqs",
            whole: json!({
                "question": "How high does it go?", "answer": "Up to **128 cm**.", "sourceUrl": "https://fernfir.example/faq",
                "language": "de", "tags": ["height"], "verifiedAt": "2026-11-20T08:00:00.000Z",
            }),
            least: json!({ "question": "How wide?", "answer": "160 cm" }),
            defaults: json!({ "sourceUrl": null, "language": "en", "tags": [], "verifiedAt": null }),
            nullable: &["sourceUrl", "verifiedAt"],
        },
        Sample {
            resource: "ctas",
            whole: json!({
                "label": "Try it", "url": "https://fernfir.example/trial", "text": "30 days at home.", "placement": "banner", "priority": 7,
                "intents": ["commercial", "transactional"], "productId": product, "activeFrom": "2026-11-01T00:00:00.000Z",
                "activeTo": "2026-12-01T00:00:00.000Z", "language": "en-GB",
            }),
            least: json!({ "label": "Read on", "url": "https://fernfir.example/" }),
            defaults: json!({
                "text": null, "placement": "end", "priority": 0, "intents": [], "productId": null, "activeFrom": null, "activeTo": null,
                "language": null,
            }),
            nullable: &["text", "productId", "activeFrom", "activeTo", "language"],
        },
    ]
}

pub async fn add(bench: &Bench, resource: &str, items: &[Value]) -> Answer {
    bench
        .post(&format!("P/brand/{resource}"), json!({ "items": items }))
        .await
}

/// Adds one item; the item as it is kept.
pub async fn added(bench: &Bench, resource: &str, item: Value) -> Value {
    let answer = add(bench, resource, &[item]).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["data"][0]["item"].clone()
}

pub async fn listed(bench: &Bench, resource: &str) -> Vec<Value> {
    let list = bench.get(&format!("P/brand/{resource}?limit=100")).await.json();
    list["data"].as_array().unwrap().clone()
}

async fn bench_with_product() -> (Bench, [Sample; 4]) {
    let bench = Bench::start().await;
    let product = added(&bench, "products", json!({ "name": "Elm desk" })).await;
    let samples = samples(product["id"].as_str().unwrap());
    (bench, samples)
}

#[track_caller]
fn holds(whole: &Value, part: &Value) {
    for (name, value) in part.as_object().unwrap() {
        assert_eq!(&whole[name], value, "{name}");
    }
}

#[tokio::test]
async fn every_member_is_kept() {
    let (bench, samples) = bench_with_product().await;
    for Sample {
        resource,
        whole,
        least,
        defaults,
        ..
    } in samples
    {
        let answer = add(&bench, resource, &[whole.clone(), least.clone()]).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let data = answer.json()["data"].clone();
        for (at, sent) in [(0, &whole), (1, &least)] {
            let item = &data[at]["item"];
            assert_eq!(
                (&data[at]["outcome"], &data[at]["existingId"]),
                (&json!("created"), &json!(null))
            );
            holds(item, sent);
            let now = json!(bench.clock.now().to_string());
            assert_eq!(
                (&item["version"], &item["createdAt"], &item["updatedAt"]),
                (&json!(1), &now, &now)
            );
            assert_eq!(item["allowedActions"], json!({ "delete": true, "update": true }));
            let id = item["id"].as_str().unwrap();
            let read = bench.get(&format!("P/brand/{resource}/{id}")).await;
            assert_eq!(read.json(), *item, "what is read is what was answered");
            assert_eq!(read.header("etag"), Some(format!("\"{id}-1\"").as_str()));
        }
        holds(&data[1]["item"], &defaults);
        let members = whole.as_object().unwrap().keys();
        assert!(
            members
                .clone()
                .all(|m| least.get(m).is_some() || defaults.get(m).is_some())
        );
        let list = listed(&bench, resource).await;
        assert_eq!(
            (&list[0], &list[1]),
            (&data[1]["item"], &data[0]["item"]),
            "newest first"
        );
    }
}

#[tokio::test]
async fn every_member_is_changed_and_cleared() {
    let (bench, samples) = bench_with_product().await;
    for Sample {
        resource,
        whole,
        least,
        nullable,
        ..
    } in samples
    {
        let item = added(&bench, resource, least).await;
        let path = format!("P/brand/{resource}/{}", item["id"].as_str().unwrap());
        let change = async |body: Value| {
            let changed = bench.call("PATCH", &path).json(&body).send().await;
            assert_eq!(changed.status, 200, "{body}: {changed:?}");
            assert_eq!(bench.get(&path).await.json(), changed.json());
            changed.json()
        };
        let mut expected = item.clone();
        for (name, value) in whole.as_object().unwrap() {
            bench.clock.advance(1000);
            let changed = change(json!({ name.as_str(): value })).await;
            expected[name] = value.clone();
            expected["version"] = json!(expected["version"].as_i64().unwrap() + 1);
            expected["updatedAt"] = json!(bench.clock.now().to_string());
            assert_eq!(changed, expected, "{name} and nothing else");
        }
        for name in nullable {
            let changed = change(json!({ *name: null })).await;
            expected[*name] = json!(null);
            expected["version"] = json!(expected["version"].as_i64().unwrap() + 1);
            assert_eq!(changed, expected, "{name}");
        }
        for name in whole
            .as_object()
            .unwrap()
            .keys()
            .filter(|n| !nullable.contains(&n.as_str()) && *n != "language")
        {
            let refused = bench
                .call("PATCH", &path)
                .json(&json!({ name.as_str(): null }))
                .send()
                .await;
            assert_eq!(
                refused.refuses(422, "validation_failed")["errors"][0]["code"],
                "null_not_allowed",
                "{name}"
            );
        }
        let stale = bench
            .call("PATCH", &path)
            .header("if-match", &format!("\"{}-1\"", item["id"].as_str().unwrap()))
            .json(&whole)
            .send()
            .await;
        stale.refuses(412, "precondition_failed");
        let stale = bench
            .call("DELETE", &path)
            .header("if-match", "\"x-1\"")
            .send()
            .await;
        stale.refuses(412, "precondition_failed");
        assert_eq!(bench.call("DELETE", &path).send().await.status, 204);
        bench.get(&path).await.refuses(404, "not_found");
        bench.call("DELETE", &path).send().await.refuses(404, "not_found");
    }
}

#[tokio::test]
async fn an_item_of_one_resource_is_none_of_another() {
    let (bench, samples) = bench_with_product().await;
    let faq = added(&bench, "faqs", samples[2].least.clone()).await;
    let path = format!("P/brand/products/{}", faq["id"].as_str().unwrap());
    bench.get(&path).await.refuses(404, "not_found");
    bench.call("DELETE", &path).send().await.refuses(404, "not_found");
    bench.get("P/brand/colours").await.refuses(404, "not_found");
}

#[tokio::test]
async fn every_fault_of_an_item_is_named_where_it_is() {
    let (bench, _) = bench_with_product().await;
    let with = |base: Value, name: &str, value: Value| {
        let mut item = base;
        item[name] = value;
        item
    };
    let product = |name, value| ("products", with(json!({ "name": "P" }), name, value));
    let rival = |name, value| {
        (
            "competitors",
            with(json!({ "name": "C", "domain": "c.example" }), name, value),
        )
    };
    let faq = |name, value| {
        (
            "faqs",
            with(json!({ "question": "Q", "answer": "A" }), name, value),
        )
    };
    let cta = |name, value| {
        (
            "ctas",
            with(json!({ "label": "L", "url": "https://a.example" }), name, value),
        )
    };
    let unknown = "01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10";
    for ((resource, item), pointer, code) in [
        (product("name", json!(" ")), "name", "blank"),
        (product("name", json!(null)), "name", "null_not_allowed"),
        (product("name", json!("x".repeat(201))), "name", "too_long"),
        (product("id", json!(unknown)), "id", "read_only"),
        (product("projectId", json!(unknown)), "projectId", "read_only"),
        (product("createdAt", json!("x")), "createdAt", "read_only"),
        (product("colour", json!("oak")), "colour", "unknown_field"),
        (product("url", json!("/oak")), "url", "not_a_url"),
        (product("url", json!("ftp://a.example")), "url", "not_a_url"),
        (product("url", json!("javascript:alert(1)")), "url", "not_a_url"),
        (
            product("url", json!("https://u:p@a.example/")),
            "url",
            "not_a_url",
        ),
        (product("imageUrl", json!("oak.jpg")), "imageUrl", "not_a_url"),
        (product("aliases", json!(["a", ""])), "aliases/1", "too_short"),
        (product("features", json!([" "])), "features/0", "blank"),
        (product("useCases", json!(["u", " "])), "useCases/1", "blank"),
        (
            product("differentiators", json!("d")),
            "differentiators",
            "wrong_type",
        ),
        (
            product("price", json!({ "amount": 1 })),
            "price/currency",
            "required",
        ),
        (
            product("price", json!({ "amount": -1, "currency": "EUR" })),
            "price/amount",
            "out_of_range",
        ),
        (
            product("price", json!({ "amount": 1, "currency": "E1R" })),
            "price/currency",
            "not_a_currency",
        ),
        (
            product("price", json!({ "amount": 1, "currency": "EUR", "net": true })),
            "price/net",
            "unknown_field",
        ),
        (product("status", json!("sold")), "status", "unknown_value"),
        (rival("domain", json!("c.example/path")), "domain", "not_a_domain"),
        (rival("domain", json!("example.com")), "domain", "own_domain"),
        (
            rival("domain", json!("https://shop.example.com:8443")),
            "domain",
            "own_domain",
        ),
        (rival("domain", json!("further.example")), "domain", "own_domain"),
        (
            rival("ownedDomains", json!(["d.example", "www.example.com"])),
            "ownedDomains/1",
            "own_domain",
        ),
        (
            rival("ownedDomains", json!(["d d"])),
            "ownedDomains/0",
            "not_a_domain",
        ),
        (
            rival("claims", json!([{ "text": "x" }])),
            "claims/0/sourceUrl",
            "required",
        ),
        (
            rival("claims", json!([{ "text": "x", "sourceUrl": "y" }])),
            "claims/0/sourceUrl",
            "not_a_url",
        ),
        (
            rival(
                "claims",
                json!([{ "text": " ", "sourceUrl": "https://a.example" }]),
            ),
            "claims/0/text",
            "blank",
        ),
        (rival("active", json!(1)), "active", "wrong_type"),
        (faq("answer", json!(" \n")), "answer", "blank"),
        (faq("sourceUrl", json!("x")), "sourceUrl", "not_a_url"),
        (faq("language", json!("e!")), "language", "not_a_language"),
        (faq("tags", json!([" "])), "tags/0", "blank"),
        (
            faq("verifiedAt", json!("yesterday")),
            "verifiedAt",
            "not_an_instant",
        ),
        (cta("label", json!(" ")), "label", "blank"),
        (cta("url", json!("mailto:a@a.example")), "url", "not_a_url"),
        (cta("placement", json!("top")), "placement", "unknown_value"),
        (cta("priority", json!(101)), "priority", "out_of_range"),
        (cta("intents", json!(["buy"])), "intents/0", "unknown_value"),
        (cta("productId", json!("x")), "productId", "not_a_uuid"),
        (cta("productId", json!(unknown)), "productId", "not_found"),
        (cta("language", json!("x-y")), "language", "not_a_language"),
    ] {
        let own = bench
            .call("PATCH", "P/brand")
            .json(&json!({ "domains": ["www.further.example"] }))
            .send();
        assert_eq!(own.await.status, 200);
        let good = match resource {
            "products" => json!({ "name": "good" }),
            "competitors" => json!({ "name": "good", "domain": "good.example" }),
            "faqs" => json!({ "question": "good", "answer": "A" }),
            _ => json!({ "label": "good", "url": "https://good.example" }),
        };
        let before = listed(&bench, resource).await;
        let refused = add(&bench, resource, &[good, item.clone()]).await;
        assert_eq!(refused.status, 422, "{item}");
        let errors = refused.json()["errors"].clone();
        let named = (
            errors[0]["pointer"].as_str().unwrap(),
            errors[0]["code"].as_str().unwrap(),
        );
        assert_eq!(named, (format!("/items/1/{pointer}").as_str(), code), "{item}");
        assert_eq!(errors.as_array().unwrap().len(), 1, "{errors}");
        assert_eq!(
            listed(&bench, resource).await,
            before,
            "none, not even the good one"
        );
    }
    let late = json!({ "label": "L", "url": "https://a.example", "activeFrom": "2026-12-01T00:00:00.000Z", "activeTo": "2026-12-01T00:00:00.000Z" });
    let refused = add(&bench, "ctas", &[late])
        .await
        .refuses(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/items/0/activeTo");
}

#[tokio::test]
async fn all_faults_are_named_at_once() {
    let bench = Bench::start().await;
    let faulty = json!({ "name": " ", "url": "x", "aliases": [" "] });
    let problem = add(
        &bench,
        "products",
        &[faulty.clone(), json!({ "name": "good" }), faulty],
    )
    .await
    .refuses(422, "validation_failed");
    let mut pointers: Vec<&str> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["pointer"].as_str().unwrap())
        .collect();
    pointers.sort_unstable();
    let at = |n: usize| ["aliases/0", "name", "url"].map(|m| format!("/items/{n}/{m}"));
    assert_eq!(pointers, [at(0), at(2)].concat());
    let faulty: Vec<Value> = (0..100).map(|_| json!({ "name": " ", "url": "x" })).collect();
    let problem = add(&bench, "products", &faulty)
        .await
        .refuses(422, "validation_failed");
    assert_eq!(
        problem["errors"].as_array().unwrap().len(),
        100,
        "no more than anybody reads"
    );
}

//! `{projectId}`: unknown, malformed and foreign are one answer, byte for byte. Children of other projects
//! are refused, unknown ones are not found.

use searchwright_contract::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{harness::Bench, wire};

#[tokio::test]
async fn unknown_malformed_and_foreign_are_one_answer() {
    let bench = Bench::start().await;
    let (foreign, _) = bench.neighbour().await;
    let own = bench.project.to_string();
    let others = [
        Uuid::max().to_string(),
        foreign.to_string(),
        Uuid::nil().to_string(),
        own.to_uppercase(),
        own.replace('-', ""),
        format!("%7B{own}%7D"),
        format!("{own}%00"),
        format!("{own}%20"),
        "%zz".to_owned(),
        "%ff%fe".to_owned(),
        "x".to_owned(),
        "0".to_owned(),
        "..%2f..".to_owned(),
        "'%20OR%201=1".to_owned(),
        "a".repeat(3000),
    ];
    let mut heads = Vec::new();
    for endpoint in bench.endpoints().iter().filter(|e| e.meta.in_project()) {
        for other in &others {
            let path = endpoint.meta.path.replace("{projectId}", other);
            let path = path.replace(['{', '}'], "");
            let body = match endpoint.meta.method {
                Method::GET | Method::DELETE => "",
                Method::POST | Method::PATCH => "{\"nonsense\":1}",
            };
            let request = format!(
                "{} /v1{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                endpoint.meta.method.as_str(),
                bench.key,
                body.len()
            );
            let answers = wire::exchange(bench.server.addresses.api, request.as_bytes()).await;
            let [answer] = answers.as_slice() else {
                panic!("{request}: {answers:?}")
            };
            answer.refuses(403, "project_forbidden");
            let text = String::from_utf8(answer.body.clone())
                .unwrap()
                .replace(answer.header("x-request-id").unwrap(), "ID");
            let mut headers: Vec<String> = answer
                .headers
                .iter()
                .filter(|(name, _)| {
                    !matches!(
                        name.as_str(),
                        "x-request-id"
                            | "ratelimit-remaining"
                            | "ratelimit-reset"
                            | "ratelimit-limit"
                            | "date"
                    )
                })
                .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
                .collect();
            headers.sort();
            heads.push((headers, text));
        }
    }
    assert!(heads.len() > 200);
    heads.dedup();
    assert_eq!(heads.len(), 1, "{heads:#?}");
}

#[tokio::test]
async fn a_child_of_another_project_is_refused_and_an_unknown_one_is_not_found() {
    let bench = Bench::start().await;
    let (foreign, key) = bench.neighbour().await;
    let started = bench
        .call("POST", &format!("/projects/{foreign}/audits"))
        .key(&key)
        .json(&json!({}))
        .send()
        .await
        .json();
    let added = bench
        .call("POST", &format!("/projects/{foreign}/keywords"))
        .key(&key)
        .json(&json!({ "keyword": "oak" }))
        .send()
        .await
        .json();
    let (audit, job, keyword) = (&started["audit"]["id"], &started["job"]["id"], &added["id"]);
    let post = bench
        .call("POST", &format!("/projects/{foreign}/posts"))
        .key(&key)
        .json(&json!({ "title": "Oak" }))
        .send()
        .await
        .json();
    let post = &post["id"];
    let webhook = bench
        .call("POST", &format!("/projects/{foreign}/webhooks"))
        .key(&key)
        .json(&json!({ "targetUrl": "https://oak.example/hook", "event": "*" }))
        .send()
        .await
        .json();
    let webhook = &webhook["id"];
    let prompt = bench
        .call("POST", &format!("/projects/{foreign}/visibility/prompts"))
        .key(&key)
        .json(&json!({ "text": "Which oak desk?" }))
        .send()
        .await
        .json();
    let prompt = &prompt["id"];
    let item = async |resource: &str, item: Value| {
        let path = format!("/projects/{foreign}/brand/{resource}");
        let call = bench
            .call("POST", &path)
            .key(&key)
            .json(&json!({ "items": [item] }));
        call.send().await.json()["data"][0]["item"]["id"].clone()
    };
    let product = &item("products", json!({ "name": "desk" })).await;
    let competitor = &item("competitors", json!({ "name": "Elm", "domain": "elm.example" })).await;
    let faq = &item("faqs", json!({ "question": "q", "answer": "a" })).await;
    let cta = &item("ctas", json!({ "label": "l", "url": "https://oak.example" })).await;
    for endpoint in bench.endpoints() {
        let Some(child) = endpoint.meta.path_parameters().nth(1) else {
            continue;
        };
        let call = async |id: &str| {
            let path = endpoint
                .meta
                .path
                .replace("{projectId}", &bench.project.to_string())
                .replace("{number}", "1")
                .replace("{deliveryId}", &Uuid::max().to_string())
                .replace("{answerId}", &Uuid::max().to_string())
                .replace(&format!("{{{child}}}"), id);
            let call = bench.call(endpoint.meta.method.as_str(), &path);
            if endpoint.meta.name == "integrations.map" {
                call.json(&json!({ "fieldMap": { "title": "title", "content": "content" } }))
            } else if endpoint.meta.name == "prompts.copy" {
                let item = json!({ "engine": "chatgpt", "askedAt": bench.clock.now(), "text": "x" });
                call.json(&json!({ "items": [item] }))
            } else if endpoint.meta.name == "prompts.dispute" {
                call.json(&json!({ "brand": "own", "mentioned": true }))
            } else if endpoint.meta.name == "webhooks.recover" {
                call.json(&json!({ "since": bench.clock.now() }))
            } else if endpoint.meta.effect.writes() && endpoint.meta.method != Method::DELETE {
                call.json(&json!({}))
            } else {
                call
            }
            .send()
            .await
        };
        for unknown in [&Uuid::max().to_string(), "x", "-", "%00", "%zz", "1%2f..%2f2"] {
            let problem = call(unknown).await.refuses(404, "not_found");
            let resource = match child {
                "kind" => "schedule",
                child => child.trim_end_matches("Id"),
            };
            assert_eq!(problem["resource"], resource, "{endpoint:?}");
        }
        // A provider, and the kind of a schedule, is a word that every project knows.
        if ["provider", "kind"].contains(&child) {
            continue;
        }
        let there = match child {
            "keywordId" => keyword,
            "auditId" => audit,
            "jobId" => job,
            "productId" => product,
            "competitorId" => competitor,
            "faqId" => faq,
            "ctaId" => cta,
            "postId" => post,
            "webhookId" => webhook,
            "promptId" => prompt,
            // A run takes an account at an engine.
            "runId" => continue,
            // An approval takes a run of the autopilot: see `autopilot_runs.rs`.
            "approvalId" => continue,
            // Their rows take an audit: see `audits.rs` and `rechecks.rs`.
            "issueId" | "pageId" | "recheckId" => continue,
            other => panic!("how is a foreign {other} made?"),
        };
        call(there.as_str().unwrap())
            .await
            .refuses(403, "project_forbidden");
    }
    let unharmed = bench
        .call("GET", &format!("/projects/{foreign}/keywords"))
        .key(&key)
        .send()
        .await
        .json();
    assert_eq!(unharmed["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_project_of_a_key() {
    let bench = Bench::start().await;
    bench.neighbour().await;
    let direct = bench.get("/project").await;
    let by_id = bench.get("P").await;
    assert_eq!((direct.status, direct.json()), (200, by_id.json()));
    let project = by_id.json();
    assert_eq!(
        (&project["id"], &project["domain"]),
        (&json!(bench.project), &json!("example.com"))
    );
    let off = json!({ "enabled": false, "dailyCap": null, "expiresAt": null });
    assert_eq!(
        project["agentAutonomy"],
        json!({ "publish": off, "track": off, "autopilot": off })
    );
    let list = bench.get("/projects").await.json();
    assert_eq!(
        list,
        json!({ "data": [{ "id": bench.project, "name": "Fern & Fir", "domain": "example.com" }], "nextCursor": null })
    );
}

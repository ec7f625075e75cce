//! The life of a key: what `/me` tells of it, its rotation, its end.

use searchwright_contract::{Clock, Scope};
use searchwright_engine::admin::Grant;

use crate::harness::{Bench, now, settings};

on_both!(
    a_revoked_key_is_refused_at_once_or_within_two_seconds,
    an_old_key_works_on_for_its_overlap,
);

const MINUTE: i64 = 60_000;

#[tokio::test]
async fn me_tells_what_a_key_is_and_never_the_key() {
    let bench = Bench::start().await;
    let grant = Grant {
        scopes: vec!["audits:write".to_owned(), "keywords:read".to_owned()],
        read_only: true,
        lifetime_millis: Some(MINUTE),
    };
    let (id, key) = bench.grant(bench.project, grant).await;
    let answer = bench.call("GET", "/me").key(&key).send().await;
    assert_eq!(
        answer.json(),
        serde_json::json!({
            "apiKey": {
                "id": id, "name": "test", "prefix": &key[..12], "lastUsedAt": null,
                "scopes": ["audits:write", "keywords:read"], "readOnly": true,
                "expiresAt": now().plus_millis(MINUTE),
            },
            "project": { "id": bench.project, "name": "Fern & Fir", "domain": "example.com" },
        })
    );
    assert!(!String::from_utf8_lossy(&answer.body).contains(&key));
    let all = bench.get("/me").await.json();
    assert_eq!(
        all["apiKey"]["scopes"].as_array().unwrap().len(),
        Scope::ALL.len()
    );
}

async fn a_revoked_key_is_refused_at_once_or_within_two_seconds(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (id, key) = bench
        .grant(
            bench.project,
            Grant {
                scopes: vec![],
                read_only: false,
                lifetime_millis: None,
            },
        )
        .await;
    let status = async || bench.call("GET", "/me").key(&key).send().await.status;
    assert_eq!(status().await, 200);
    assert!(bench.server.app.engine.revoke_key(id).await.unwrap());
    assert!(
        !bench.server.app.engine.revoke_key(id).await.unwrap(),
        "a second time"
    );
    if !database.is_empty() {
        // Replicas may believe a key for a moment, and no longer.
        bench.clock.advance(2_000);
    }
    assert_eq!(status().await, 401);
    // a clock that is set back, or that of another server, makes it no key again
    bench.clock.advance(-120 * MINUTE);
    assert_eq!(status().await, 401);
}

async fn an_old_key_works_on_for_its_overlap(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (id, old) = bench
        .grant(
            bench.project,
            Grant {
                scopes: vec!["keywords:read".to_owned()],
                read_only: true,
                lifetime_millis: None,
            },
        )
        .await;
    let engine = &bench.server.app.engine;
    let new = engine.rotate_key(id, MINUTE, None).await.unwrap();
    let code = async |key: &str| {
        let answer = bench.call("GET", "/me").key(key).send().await;
        if answer.status == 200 {
            "works".to_owned()
        } else {
            answer.code()
        }
    };
    assert_eq!(
        (code(&old).await.as_str(), code(&new.key).await.as_str()),
        ("works", "works")
    );
    bench.clock.advance(MINUTE - 1);
    assert_eq!(code(&old).await, "works");
    bench.clock.advance(1);
    assert_eq!(
        (code(&old).await.as_str(), code(&new.key).await.as_str()),
        ("token_expired", "works")
    );
    let me = bench.call("GET", "/me").key(&new.key).send().await.json();
    assert_eq!(
        (&me["apiKey"]["scopes"][0], &me["apiKey"]["readOnly"]),
        (&"keywords:read".into(), &true.into())
    );
    assert!(
        engine.rotate_key(id, MINUTE, None).await.is_err(),
        "what has ended is not rotated"
    );
}

#[tokio::test]
async fn the_last_use_is_written_down_at_shutdown() {
    let bench = Bench::start().await;
    bench.clock.advance(MINUTE);
    assert_eq!(
        bench.get("/me").await.json()["apiKey"]["lastUsedAt"],
        serde_json::Value::Null
    );
    let (folder, key) = (bench.folder.clone(), bench.key.clone());
    bench.server.stop().await;
    let again = Bench::open(folder.clone(), settings(&folder, "", &[]), Clock::fixed(now())).await;
    let me = again.call("GET", "/me").key(&key).send().await.json();
    assert_eq!(
        me["apiKey"]["lastUsedAt"],
        serde_json::json!(now().plus_millis(MINUTE))
    );
}

#[tokio::test]
async fn a_project_has_at_most_twenty_five_live_keys() {
    let bench = Bench::start().await;
    let engine = &bench.server.app.engine;
    let grant = || Grant {
        scopes: vec![],
        read_only: false,
        lifetime_millis: Some(MINUTE),
    };
    for _ in 1..25 {
        engine.create_key(bench.project, "test", grant()).await.unwrap();
    }
    let refused = engine
        .create_key(bench.project, "test", grant())
        .await
        .unwrap_err();
    assert_eq!(refused.0.code.as_str(), "invalid_state");
    bench.clock.advance(MINUTE);
    engine.create_key(bench.project, "test", grant()).await.unwrap();
    for (name, scopes) in [("", vec![]), ("x", vec!["everything".to_owned()])] {
        let refused = engine
            .create_key(bench.project, name, Grant { scopes, ..grant() })
            .await
            .unwrap_err();
        assert_eq!(refused.0.code.as_str(), "validation_failed");
    }
}

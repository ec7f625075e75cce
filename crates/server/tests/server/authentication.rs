//! Every operation against every kind of credential. The operations come from the table: a new one is
//! covered when it is added.

use searchwright_contract::{Meta, Method, Scope};
use searchwright_engine::{Endpoint, admin::Grant, secrets};
use uuid::Uuid;

use crate::harness::{Answer, Bench, Call};

const HOUR: i64 = 3_600_000;

/// A call of the operation with made-up ids below the bench's project.
fn call<'a>(bench: &'a Bench, meta: &Meta) -> Call<'a> {
    let mut path = meta.path.replace("{projectId}", &bench.project.to_string());
    for name in meta.path_parameters().filter(|n| *n != "projectId") {
        path = path.replace(&format!("{{{name}}}"), &Uuid::max().to_string());
    }
    let call = bench.call(meta.method.as_str(), &path);
    match meta.method {
        Method::GET | Method::DELETE => call,
        Method::POST | Method::PATCH => call.json(&serde_json::json!({})),
    }
}

/// Runs a check with every operation of the table.
async fn each(bench: &Bench, check: impl AsyncFn(&Endpoint)) {
    assert!(bench.endpoints().len() >= 22);
    for endpoint in bench.endpoints() {
        check(endpoint).await;
    }
}

fn is_let_in(answer: &Answer) -> bool {
    !matches!(answer.status, 401 | 403)
}

#[tokio::test]
async fn without_a_credential() {
    let bench = Bench::start().await;
    each(&bench, async |endpoint| {
        let without = call(&bench, &endpoint.meta).no_key();
        let cookie = call(&bench, &endpoint.meta)
            .no_key()
            .header("cookie", &format!("session={0}; key={0}", bench.key));
        let basic = call(&bench, &endpoint.meta).header("authorization", "Basic c3drXzo=");
        let bare = call(&bench, &endpoint.meta).header("authorization", &bench.key);
        for unauthenticated in [without, cookie, basic, bare] {
            let answer = unauthenticated.send().await;
            answer.refuses(401, "unauthenticated");
            let challenge = answer.header("www-authenticate").unwrap();
            assert!(
                challenge.starts_with("Bearer realm=\"api\", resource_metadata=\"http"),
                "{challenge}"
            );
            assert!(
                challenge.contains("scope=\"projects:read") && !challenge.contains("error"),
                "{challenge}"
            );
            assert_eq!(
                answer.header("ratelimit-limit"),
                None,
                "nobody's quota is touched"
            );
        }
        let two = call(&bench, &endpoint.meta)
            .and_header("authorization", &format!("Bearer {}", bench.key))
            .send()
            .await;
        two.refuses(400, "malformed_request");
        let challenge = two.header("www-authenticate").unwrap();
        assert!(challenge.contains("error=\"invalid_request\""), "{challenge}");
    })
    .await;
    let in_query = bench
        .call("GET", &format!("/me?access_token={}", bench.key))
        .no_key()
        .send()
        .await;
    in_query.refuses(400, "malformed_request");
    let case = bench
        .call("GET", "/me")
        .header("authorization", &format!("bEARER {}", bench.key))
        .send()
        .await;
    assert_eq!(
        case.status, 200,
        "the scheme is case-insensitive (RFC 9110, 11.1)"
    );
}

#[tokio::test]
async fn with_a_key_that_never_was_or_is_no_more() {
    let bench = Bench::start().await;
    let mut mistyped = bench.key.clone().into_bytes();
    mistyped[10] = if mistyped[10] == b'a' { b'b' } else { b'a' };
    let grant = |lifetime_millis| Grant {
        scopes: vec![],
        read_only: false,
        lifetime_millis,
    };
    let (revoked_id, revoked) = bench.grant(bench.project, grant(None)).await;
    assert_eq!(bench.call("GET", "/me").key(&revoked).send().await.status, 200);
    assert!(bench.server.app.engine.revoke_key(revoked_id).await.unwrap());
    let (_, expired) = bench.grant(bench.project, grant(Some(HOUR))).await;
    bench.clock.advance(HOUR - 1);
    assert_eq!(bench.call("GET", "/me").key(&expired).send().await.status, 200);
    bench.clock.advance(1);
    let invalid = [
        String::from_utf8(mistyped).unwrap(),
        secrets::generate(secrets::SecretKind::ApiKey).unwrap(),
        revoked,
        bench.key[..bench.key.len() - 1].to_owned(),
        format!("{}x", bench.key),
        bench.key.replace("swk_", "swa_"),
        "swk_".to_owned(),
        "x".repeat(5000),
        "' OR 1=1 --".to_owned(),
    ];
    each(&bench, async |endpoint| {
        let mut said = Vec::new();
        for key in &invalid {
            let answer = call(&bench, &endpoint.meta).key(key).send().await;
            answer.refuses(401, "invalid_token");
            assert!(
                answer
                    .header("www-authenticate")
                    .unwrap()
                    .contains("error=\"invalid_token\"")
            );
            said.push(answer.without_request_id());
        }
        said.dedup();
        assert_eq!(
            said.len(),
            1,
            "unknown, mistyped and revoked are told apart: {said:#?}"
        );
        let answer = call(&bench, &endpoint.meta).key(&expired).send().await;
        answer.refuses(401, "token_expired");
        assert!(
            answer
                .header("www-authenticate")
                .unwrap()
                .contains("error=\"invalid_token\"")
        );
    })
    .await;
}

#[tokio::test]
async fn with_a_key_of_another_project() {
    let bench = Bench::start().await;
    let (foreign, key) = bench.neighbour().await;
    each(&bench, async |endpoint| {
        let answer = call(&bench, &endpoint.meta).key(&key).send().await;
        if endpoint.meta.in_project() {
            answer.refuses(403, "project_forbidden");
            assert_eq!(
                answer.header("www-authenticate"),
                None,
                "no other scope would help"
            );
        } else {
            assert_eq!(answer.status, 200);
            assert!(answer.json().to_string().contains(&foreign.to_string()));
            assert!(!answer.json().to_string().contains(&bench.project.to_string()));
        }
    })
    .await;
}

#[tokio::test]
async fn with_a_read_only_key() {
    let bench = Bench::start().await;
    let (_, key) = bench
        .grant(
            bench.project,
            Grant {
                scopes: vec![],
                read_only: true,
                lifetime_millis: None,
            },
        )
        .await;
    each(&bench, async |endpoint| {
        let answer = call(&bench, &endpoint.meta).key(&key).send().await;
        assert_eq!(
            endpoint.meta.scope.writes(),
            endpoint.meta.effect.writes(),
            "{endpoint:?}: what changes something needs a scope that does"
        );
        if endpoint.meta.effect.writes() {
            assert_eq!(
                answer.refuses(403, "insufficient_scope")["scope"]
                    .as_str()
                    .unwrap_or_default(),
                endpoint.meta.scope.as_str()
            );
        } else {
            assert!(is_let_in(&answer), "{endpoint:?}: {answer:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn with_one_scope() {
    let bench = Bench::start().await;
    let mut keys = Vec::new();
    for scope in Scope::ALL {
        keys.push((*scope, bench.key_for(bench.project, &[scope.as_str()]).await));
    }
    for scope in Scope::ALL {
        let mut endpoints = bench.server.app.engine.endpoints.iter();
        assert!(
            endpoints.any(|endpoint| endpoint.meta.scope == *scope),
            "{scope:?} is offered and opens nothing"
        );
    }
    each(&bench, async |endpoint| {
        let needed = endpoint.meta.scope;
        for (scope, key) in &keys {
            let answer = call(&bench, &endpoint.meta).key(key).send().await;
            if scope.grants(needed) {
                assert!(is_let_in(&answer), "{endpoint:?} with {scope:?}: {answer:?}");
                continue;
            }
            let problem = answer.refuses(403, "insufficient_scope");
            assert_eq!(problem["scope"], needed.as_str(), "{endpoint:?} with {scope:?}");
            let challenge = answer.header("www-authenticate").unwrap();
            assert!(
                challenge.contains(&format!("scope=\"{}\"", needed.as_str())),
                "{challenge}"
            );
            assert_eq!(problem["retryable"], false);
        }
    })
    .await;
}

#[tokio::test]
async fn with_a_key_that_may_everything() {
    let bench = Bench::start().await;
    each(&bench, async |endpoint| {
        let answer = call(&bench, &endpoint.meta).send().await;
        let children = endpoint.meta.path_parameters().count() > 1;
        match answer.status {
            404 => assert!(children || endpoint.meta.name == "audits.current", "{endpoint:?}"),
            // There is nothing to be proven yet.
            409 => assert_eq!(endpoint.meta.name, "rechecks.start"),
            422 => assert!(
                endpoint.meta.effect.writes()
                    && (!children
                        || matches!(
                            endpoint.meta.name,
                            "integrations.map" | "webhooks.recover" | "prompts.copy" | "prompts.dispute"
                        )),
                "{endpoint:?}: {answer:?}"
            ),
            status => assert_eq!(status, endpoint.meta.effect.status(), "{endpoint:?}: {answer:?}"),
        }
        for header in ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"] {
            answer.number(header);
        }
    })
    .await;
}

//! Quotas: what is too much is refused with the time at which it is not.

use searchwright_server::serve;
use serde_json::json;

use crate::harness::{Answer, Bench, on_postgres, settings};

on_both!(a_quota_is_shown_used_up_and_whole_again,);

fn standing(answer: &Answer) -> (u32, u32, u32) {
    (
        answer.number("ratelimit-limit"),
        answer.number("ratelimit-remaining"),
        answer.number("ratelimit-reset"),
    )
}

/// Servers on one database give a key its quota once, whichever of them it asks.
#[test]
fn a_quota_counts_at_all_servers_together() {
    on_postgres(async |database| {
        let set = ["limits.requests_per_minute=60"];
        let bench = Bench::on(database, &set).await;
        let other = serve::start_with(settings(&bench.folder, database, &set), bench.clock.clone())
            .await
            .unwrap();
        let addresses = [bench.server.addresses.api, other.addresses.api];
        let ask = async |at: usize| {
            let call = bench.http.get(format!("http://{}/v1/me", addresses[at % 2]));
            let answer = call.bearer_auth(&bench.key).send().await.unwrap();
            answer.status().as_u16()
        };
        let mut accepted = 0;
        for at in 0..120 {
            accepted += u32::from(ask(at).await == 200);
        }
        // what one of them has taken and not used is lost, and that is less than a twentieth each
        assert!((54..=60).contains(&accepted), "{accepted}");
        bench.clock.advance(30_000);
        let mut accepted = 0;
        for at in 0..60 {
            accepted += u32::from(ask(at / 30).await == 200);
        }
        assert!((27..=30).contains(&accepted), "{accepted}");
        other.stop().await;
    });
}

async fn a_quota_is_shown_used_up_and_whole_again(database: &str) {
    let bench = Bench::on(database, &["limits.requests_per_minute=3"]).await;
    for left in [2, 1, 0] {
        let answer = bench.get("/me").await;
        assert_eq!(
            (answer.status, standing(&answer)),
            (200, (3, left, (3 - left) * 20))
        );
    }
    for _ in 0..5 {
        let refused = bench.get("/me").await;
        let problem = refused.refuses(429, "rate_limit_exceeded");
        assert_eq!(standing(&refused), (3, 0, 20), "what is refused takes nothing");
        assert_eq!(
            (refused.number("retry-after"), &problem["retryable"]),
            (20, &json!(true))
        );
    }
    bench.clock.advance(19_999);
    assert_eq!(bench.get("/me").await.status, 429);
    bench.clock.advance(1);
    assert_eq!(bench.get("/me").await.status, 200, "waiting as told succeeds");
    assert_eq!(bench.get("/me").await.status, 429);
    bench.clock.advance(60_000);
    assert_eq!(standing(&bench.get("/me").await), (3, 2, 20));
}

#[tokio::test]
async fn whatever_reaches_an_operation_counts() {
    let bench = Bench::with(&["limits.requests_per_minute=9"]).await;
    let calls = [
        bench.call("HEAD", "/me"),
        bench.call("GET", "P/keywords/x"),
        bench.call("GET", "P/keywords?limit=0"),
        bench.call("POST", "P/keywords").json(&json!({})),
        bench.call("GET", "/projects/x"),
    ];
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(standing(&call.send().await).1, 8 - n as u32);
    }
    bench.call("OPTIONS", "/me").send().await;
    bench.get("/nothing").await;
    bench.call("GET", "/me").no_key().send().await;
    bench
        .call("POST", "P/keywords")
        .body("application/json", "{")
        .send()
        .await
        .refuses(400, "malformed_json");
    assert_eq!(
        standing(&bench.get("/me").await).1,
        3,
        "what never reached one does not"
    );
}

#[tokio::test]
async fn starting_work_has_a_quota_of_its_own() {
    let bench = Bench::with(&["limits.requests_per_minute=10", "limits.runs_per_minute=2"]).await;
    for left in [1, 0] {
        let started = bench.post("P/audits", json!({})).await;
        assert_eq!(
            (started.status, standing(&started)),
            (202, (2, left, (2 - left) * 30)),
            "the one closest to its end is shown"
        );
    }
    let refused = bench.post("P/audits", json!({})).await;
    refused.refuses(429, "rate_limit_exceeded");
    assert_eq!(
        (standing(&refused), refused.number("retry-after")),
        ((2, 0, 30), 30)
    );
    let read = bench.get("P/audits").await;
    assert_eq!(
        (read.status, standing(&read)),
        (200, (10, 7, 18)),
        "the refusal took nothing of the other quota"
    );
}

#[tokio::test]
async fn keys_share_the_quota_of_their_project() {
    let bench = Bench::with(&[
        "limits.requests_per_minute=3",
        "limits.requests_per_minute_and_project=4",
    ])
    .await;
    let second = bench.key_for(bench.project, &[]).await;
    let (_, foreign) = bench.neighbour().await;
    let get = async |key: &str| bench.call("GET", "/me").key(key).send().await;
    for _ in 0..2 {
        assert_eq!(
            (get(&bench.key).await.status, get(&second).await.status),
            (200, 200)
        );
    }
    let refused = get(&second).await;
    refused.refuses(429, "rate_limit_exceeded");
    assert_eq!(standing(&refused), (4, 0, 15));
    assert_eq!(get(&foreign).await.status, 200);
    bench.clock.advance(15_000);
    let freed = get(&second).await;
    assert_eq!(
        freed.status, 200,
        "the refusal took nothing of the key's own quota: {freed:?}"
    );
}

#[tokio::test]
async fn guessing_is_slow_and_hurts_nobody_else() {
    let bench = Bench::with(&[
        "limits.failed_authentications_per_minute=3",
        "limits.requests_per_minute=5",
    ])
    .await;
    let wrong = bench.key.replace(&bench.key[6..9], "000");
    for key in ["swk_", &wrong, "x"] {
        bench
            .call("GET", "/me")
            .key(key)
            .send()
            .await
            .refuses(401, "invalid_token");
    }
    let refused = bench.call("GET", "/me").key(&wrong).send().await;
    refused.refuses(429, "rate_limit_exceeded");
    assert_eq!(
        (standing(&refused), refused.number("retry-after")),
        ((3, 0, 20), 20)
    );
    bench
        .call("GET", "/me")
        .no_key()
        .send()
        .await
        .refuses(429, "rate_limit_exceeded");
    assert_eq!(
        standing(&bench.get("/me").await),
        (5, 4, 12),
        "a valid key from the same address works on"
    );
    bench.clock.advance(20_000);
    bench
        .call("GET", "/me")
        .key("x")
        .send()
        .await
        .refuses(401, "invalid_token");
}

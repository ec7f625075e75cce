//! More requests than can be carried out: what has waited for too long is refused at once, and the others go on.

use std::time::{Duration, Instant};

use searchwright_server::http::pressure::Urgency;
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Bench},
    mcp,
    wire::Wire,
};

on_both!(
    work_is_refused_before_changes_and_reads,
    what_is_refused_costs_nothing_and_says_when_to_come_again,
    few_callers_are_refused_nothing,
);

const BOUND: Duration = Duration::from_millis(10);

/// Lets the server find that many came, and waited for so long.
fn find(bench: &Bench, waited: Duration) {
    let pressure = &bench.server.app.pressure;
    pressure.expect(Instant::now());
    for _ in 0..100 {
        let _ = pressure.admit(Urgency::Read, Instant::now());
    }
    // timers go by whole milliseconds
    pressure.observe(waited + Duration::from_millis(1), BOUND);
}

async fn refused(times: usize, ask: impl AsyncFn() -> Answer) -> usize {
    let mut refused = 0;
    for _ in 0..times {
        let answer = ask().await;
        if answer.status == 503 {
            answer.refuses(503, "overloaded");
            refused += 1;
        }
    }
    refused
}

async fn work_is_refused_before_changes_and_reads(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let outcomes = async || {
        [
            refused(5, async || bench.post("P/audits", json!({})).await).await,
            refused(5, async || {
                bench.post("P/keywords", json!({ "keyword": "oak" })).await
            })
            .await,
            refused(5, async || bench.get("P/keywords").await).await,
        ]
    };
    find(&bench, BOUND * 4 / 10);
    assert_eq!(outcomes().await, [0; 3]);
    find(&bench, BOUND * 2);
    assert_eq!(outcomes().await, [5; 3]);
    find(&bench, BOUND * 9 / 10);
    assert_eq!(outcomes().await, [5, 5, 0]);
    find(&bench, BOUND * 6 / 10);
    assert_eq!(outcomes().await, [5, 0, 0]);
    find(&bench, Duration::ZERO);
    assert_eq!(outcomes().await, [0; 3]);
}

async fn what_is_refused_costs_nothing_and_says_when_to_come_again(database: &str) {
    let bench = Bench::on(database, &[]).await;
    find(&bench, 100 * BOUND);
    let mut times = Vec::new();
    for _ in 0..5 {
        let mut wire = Wire::open(bench.server.addresses.api).await;
        // neither a key nor the body are looked at
        let head = format!(
            "POST /v1/projects/{}/keywords HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n",
            bench.project
        );
        wire.send(head.as_bytes()).await;
        let answer = wire.answer().await;
        let problem = answer.refuses(503, "overloaded");
        assert_eq!(problem["retryable"], json!(true));
        times.push(answer.number("retry-after"));
    }
    assert!(times.iter().all(|time| (1..=5).contains(time)), "{times:?}");
    times.sort_unstable();
    times.dedup();
    assert!(times.len() > 2, "not all are to come again at once: {times:?}");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "me_get" } });
    let over_mcp = mcp::send_at(&bench, "", &[], &call).await;
    over_mcp.refuses(503, "overloaded");
    assert!((1..=5).contains(&over_mcp.number("retry-after")));
    for path in ["/healthz", "/readyz", "/login", "/v1/openapi.json"] {
        for _ in 0..3 {
            let url = format!("http://{}{path}", bench.server.addresses.api);
            assert_eq!(bench.http.get(url).send().await.unwrap().status(), 200, "{path}");
        }
    }
}

/// However slow the machine is: they wait for each other, and nobody for them.
async fn few_callers_are_refused_nothing(database: &str) {
    let bench = Bench::on(database, &["limits.wait_ms=1"]).await;
    for number in 0..30 {
        assert_eq!(bench.get("P/keywords").await.status, 200);
        let keyword = json!({ "keyword": format!("keyword {number}") });
        assert_eq!(bench.post("P/keywords", keyword).await.status, 201);
    }
}

/// The result of a tool has no headers to say it in.
#[tokio::test]
async fn a_tool_that_is_refused_says_when_to_call_again() {
    let bench = Bench::with(&["limits.concurrent=1"]).await;
    let _taken = bench.server.app.turns.clone().try_acquire_owned().unwrap();
    let result = mcp::tool(&bench, "keywords_list", json!({})).await;
    let said = result["content"][0]["text"].as_str().unwrap();
    let problem: Value = serde_json::from_str(said).unwrap();
    assert_eq!(
        (
            &result["isError"],
            &problem["code"],
            &problem["retryAfterSeconds"]
        ),
        (&json!(true), &json!("overloaded"), &json!(1))
    );
}

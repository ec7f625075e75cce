//! The life of a post through HTTP: what the table of transitions says is what the server does, and what an answer
//! offers is what a call gets.

use proptest::{
    prelude::{ProptestConfig, Strategy, prop},
    test_runner::TestRunner,
};
use searchwright_contract::posts::PostStatus;
use serde_json::{Value, json};

use crate::harness::{Bench, now};

fn path(post: &Value) -> String {
    format!("P/posts/{}", post["id"].as_str().unwrap())
}

async fn create(bench: &Bench, body: Value) -> Value {
    bench.post("P/posts", body).await.json()
}

async fn set(bench: &Bench, post: &Value, body: Value) -> crate::harness::Answer {
    bench.call("PATCH", &path(post)).json(&body).send().await
}

#[tokio::test]
async fn people_write_review_and_put_away() {
    let bench = Bench::start().await;
    let post = create(&bench, json!({ "title": "Desks", "content": "Text." })).await;
    for (to, archived) in [
        ("review", false),
        ("draft", false),
        ("archived", true),
        ("draft", false),
    ] {
        let answer = set(&bench, &post, json!({ "status": to })).await;
        assert_eq!(answer.status, 200, "{to}: {answer:?}");
        let after = answer.json();
        assert_eq!(
            (after["status"].as_str(), after["archivedAt"].is_null()),
            (Some(to), !archived)
        );
    }
    for to in ["queued", "generating", "publishing", "published", "failed"] {
        let problem = set(&bench, &post, json!({ "status": to }))
            .await
            .refuses(409, "invalid_state");
        assert_eq!((&problem["from"], &problem["to"]), (&json!("draft"), &json!(to)));
        assert_eq!(problem["allowed"], json!(["review", "archived"]), "{to}");
    }
    // Nothing can be published with yet, so nothing can be scheduled.
    let later = now().plus_millis(60_000).to_string();
    let problem = set(
        &bench,
        &post,
        json!({ "status": "scheduled", "scheduledAt": later }),
    )
    .await
    .refuses(409, "invalid_state");
    assert_eq!(problem["reason"], "integration_not_ready");
    let problem = set(&bench, &post, json!({ "status": "scheduled" }))
        .await
        .refuses(409, "invalid_state");
    assert_eq!(problem["reason"], "scheduled_at_not_ahead");
    let planned = set(&bench, &post, json!({ "scheduledAt": later })).await.json();
    assert_eq!(
        (&planned["scheduledAt"], &planned["status"]),
        (&json!(later), &json!("draft"))
    );
    let cleared = set(&bench, &post, json!({ "scheduledAt": null })).await.json();
    assert_eq!(cleared["scheduledAt"], Value::Null);
}

/// Step of a random walk: sets a status, or has the post generated.
#[derive(Clone, Debug)]
enum Step {
    Set(PostStatus),
    Generate,
}

#[test]
fn what_is_offered_is_what_succeeds() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let bench = runtime.block_on(Bench::start());
    let config = ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let status = prop::sample::select(PostStatus::ALL.to_vec()).prop_map(Step::Set);
    let step = prop::strategy::Union::new_weighted(vec![
        (4, status.boxed()),
        (1, prop::strategy::Just(Step::Generate).boxed()),
    ]);
    let walk = (prop::bool::ANY, prop::collection::vec(step, 1..8));
    TestRunner::new(config)
        .run(&walk, |(has_text, steps)| {
            runtime.block_on(walk_through(&bench, has_text, &steps));
            Ok(())
        })
        .unwrap();
}

async fn walk_through(bench: &Bench, has_text: bool, steps: &[Step]) {
    let content = if has_text { "Text." } else { "" };
    let mut post = create(bench, json!({ "title": "Desks", "content": content })).await;
    for step in steps {
        let (action, answer) = match step {
            Step::Generate => (
                "generate",
                bench.post(&format!("{}/generate", path(&post)), json!({})).await,
            ),
            Step::Set(to) => {
                let action = match to {
                    PostStatus::Draft => "draft",
                    PostStatus::Review => "review",
                    PostStatus::Scheduled => "schedule",
                    PostStatus::Archived => "archive",
                    _ => "",
                };
                (action, set(bench, &post, json!({ "status": to })).await)
            }
        };
        let stays = matches!(step, Step::Set(to) if post["status"] == to.as_str()) && !action.is_empty();
        let offered = post["allowedActions"][action] == json!(true);
        let after = bench.get(&path(&post)).await.json();
        if answer.status < 300 {
            assert!(offered || stays, "{step:?} was not offered: {post:#}");
            let wanted = match step {
                Step::Generate => "queued",
                Step::Set(to) => to.as_str(),
            };
            assert_eq!(after["status"], wanted);
            assert_eq!(after["archivedAt"].is_null(), wanted != "archived");
        } else {
            let problem = answer.refuses(409, "invalid_state");
            assert!(!offered, "{step:?} was offered: {problem:#}");
            assert_eq!(problem["from"], post["status"]);
            assert_eq!(after, post, "a refusal changes nothing");
        }
        post = after;
    }
}

//! Two requests at the same moment: no check of one is undone by the other.

use std::sync::Arc;

use axum::extract::{Request, State};
use searchwright_contract::people::Role;
use searchwright_server::{
    admin::Grant,
    people::{Caller, operator::NewUser, sessions::SignIn},
};
use serde_json::json;
use tokio::sync::Notify;

use crate::{
    harness::Bench,
    people::{PASSWORD, person},
    post_generation::until_ended,
};

on_both!(
    a_workspace_keeps_an_owner,
    a_former_password_opens_no_session,
    guesses_at_once_are_all_counted,
    the_last_room_for_a_key_is_given_once,
    two_imports_create_each_keyword_once,
    figures_do_not_undo_what_a_person_set_meanwhile,
);

async fn a_workspace_keeps_an_owner(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let people = &bench.server.app.people;
    let owner = |email: &str| NewUser {
        email: email.to_owned(),
        name: "Ann".to_owned(),
        password: None,
        role: Some(Role::Owner),
        workspace: None,
    };
    let one = people.create_user(owner("one@example.com")).await.unwrap();
    let other = people.create_user(owner("other@example.com")).await.unwrap();
    for round in 0..10 {
        let (first, second) = tokio::join!(
            people.set_member(one.workspace_id, one.id, Role::Editor),
            people.remove_member(other.workspace_id, other.id),
        );
        assert!(
            first.is_ok() != second.is_ok(),
            "round {round}: {first:?}, {second:?}"
        );
        for user in [one.id, other.id] {
            people
                .set_member(one.workspace_id, user, Role::Owner)
                .await
                .unwrap();
        }
    }
}

fn caller() -> Caller {
    Caller {
        address: "192.0.2.1".to_owned(),
        user_agent: "test".to_owned(),
    }
}

async fn a_former_password_opens_no_session(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let people = &bench.server.app.people;
    person(&bench, "ann@example.com", Role::Editor).await;
    let mut password = PASSWORD.to_owned();
    for round in 0..8 {
        let sign_in = || people.sign_in("ann@example.com", password.clone(), caller(), None);
        let Ok(SignIn::Done(own)) = sign_in().await else {
            panic!("round {round}")
        };
        let session = people.session(&own).await.unwrap().unwrap();
        let recent = people.recent(&session).unwrap();
        let next = format!("{PASSWORD} {round}");
        let by = caller();
        let (changed, late) = tokio::join!(
            people.set_password(&recent, &session, next.clone(), &by),
            sign_in()
        );
        changed.unwrap();
        if let SignIn::Done(token) = late.unwrap() {
            // it came first, and ended with the change
            assert_eq!(people.session(&token).await.unwrap(), None, "round {round}");
        }
        password = next;
    }
}

async fn guesses_at_once_are_all_counted(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let people = &bench.server.app.people;
    person(&bench, "ann@example.com", Role::Editor).await;
    let guesses = (0..16).map(|guess| people.sign_in("ann@example.com", format!("{guess}"), caller(), None));
    let mut wrong = 0;
    for outcome in futures_util::future::join_all(guesses).await {
        match outcome.unwrap() {
            SignIn::Wrong => wrong += 1,
            SignIn::Blocked { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(wrong, 10, "as many as cost no waiting");
}

async fn the_last_room_for_a_key_is_given_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let engine = &bench.server.app.engine;
    let create = || {
        let grant = Grant {
            scopes: Vec::new(),
            read_only: false,
            lifetime_millis: None,
        };
        engine.create_key(bench.project, "test", grant)
    };
    // the bench has one
    for _ in 2..25 {
        create().await.unwrap();
    }
    let made = futures_util::future::join_all((0..6).map(|_| create())).await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
}

async fn two_imports_create_each_keyword_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for round in 0..3 {
        let rows: String = (0..40).map(|n| format!("desk {round} {n},{n}\n")).collect();
        let file = json!({ "file": format!("keyword,volume\n{rows}") });
        let import = || bench.post("P/keywords/import", file.clone());
        let (one, other) = tokio::join!(import(), import());
        let mut created = 0;
        for answer in [one, other] {
            assert!(matches!(answer.status, 200..=202), "{answer:?}");
            for row in answer.json()["outcomes"].as_array().unwrap() {
                created += usize::from(row["outcome"] == "created");
                let id = row["keywordId"].as_str().unwrap();
                assert_eq!(bench.get(&format!("P/keywords/{id}")).await.status, 200, "{row}");
            }
        }
        assert_eq!(created, 40, "round {round}");
    }
}

/// A provider that waits with its answer.
#[derive(Default)]
struct SlowProvider {
    asked: Notify,
    answers: Notify,
}

async fn figures_do_not_undo_what_a_person_set_meanwhile(database: &str) {
    async fn answer(State(provider): State<Arc<SlowProvider>>, request: Request) -> String {
        let mut result = json!([]);
        if request.uri().path().ends_with("/search_volume/live") {
            provider.asked.notify_one();
            provider.answers.notified().await;
            result = json!([{ "keyword": "desk", "search_volume": 500 }]);
        }
        let task = json!({ "status_code": 20000, "status_message": "Ok.", "cost": 0.01, "result": result });
        json!({ "status_code": 20000, "status_message": "Ok.", "tasks": [task] }).to_string()
    }
    let provider = Arc::new(SlowProvider::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().fallback(answer).with_state(provider.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let allow = format!("allow_outbound=[\"provider={address}\"]");
    let bench = Bench::on(database, &["worker.jobs=1", &allow]).await;
    let settings = [("baseUrl".to_owned(), format!("http://{address}"))];
    bench
        .account("dataforseo", settings.into(), "login:password")
        .await;
    let desk = json!({ "keyword": "desk", "country": "US" });
    let made = bench.post("P/keywords", desk).await.json();
    let path = format!("P/keywords/{}", made["id"].as_str().unwrap());
    let wanted = json!({ "keywords": ["desk"], "country": "US" });
    let started = bench.post("P/keyword-metrics", wanted).await.json();
    provider.asked.notified().await;
    let patched = bench.patch(&path, json!({ "intent": "transactional" })).await;
    assert_eq!(patched.status, 200, "{patched:?}");
    provider.answers.notify_one();
    let job = until_ended(&bench, started["job"]["id"].as_str().unwrap()).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
    let now = bench.get(&path).await.json();
    assert_eq!(
        (&now["searchVolume"], &now["intent"], &now["intentSource"]),
        (&json!(500), &json!("transactional"), &json!("manual")),
        "{now:#}"
    );
}

#[tokio::test]
async fn guesses_that_have_to_wait_leave_no_row() {
    let bench = Bench::start().await;
    let people = &bench.server.app.people;
    let guess = |name: usize| async move {
        let email = format!("{name}@example.com");
        people.sign_in(&email, "wrong".to_owned(), caller(), None).await
    };
    let rows = || -> i64 {
        let file = bench.folder.path().join("searchwright.sqlite");
        let database = rusqlite::Connection::open(file).unwrap();
        let count = "SELECT count(*) FROM sign_in_attempts";
        database.query_row(count, [], |row| row.get(0)).unwrap()
    };
    for name in 0..10 {
        assert!(matches!(guess(name).await, Ok(SignIn::Wrong)));
    }
    let before = rows();
    assert_eq!(before, 11, "ten accounts and an address");
    for name in 10..15 {
        assert!(matches!(guess(name).await, Ok(SignIn::Blocked { .. })));
    }
    assert_eq!(rows(), before);
}

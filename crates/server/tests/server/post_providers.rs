//! Posts written by a model whose provider is slow, broken or half there.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    response::{Html, IntoResponse as _, Response},
};
use futures_util::stream;
use http::StatusCode;
use searchwright_contract::Instant;
use searchwright_server::serve;
use serde_json::{Value, json};

use crate::{
    harness::{Bench, settings},
    post_generation::{create, get, path, until_ended, used},
};

on_both!(
    a_provider_that_asks_for_patience_is_asked_again_and_paid_once,
    one_that_never_recovers_leaves_the_post_as_it_was,
    one_that_is_down_is_left_alone_for_a_while,
    what_is_no_answer_is_told_and_not_asked_for_again,
    a_job_that_is_stopped_while_it_writes_gives_back_what_it_took,
    a_server_that_shuts_down_costs_a_post_no_attempt,
);

/// Price of a call, in millionths of a US dollar.
const PRICE: i64 = 1_000 + 2 * 500;
/// URL that injected text asks a model to insert.
pub const EVIL: &str = "https://evil.example/win";

/// Failure sent instead of an answer.
#[derive(Clone, Copy)]
pub enum Says {
    Status(u16, Option<&'static str>),
    HalfOfIt,
    Nothing,
    APage,
    NotTheForm,
}

/// A server with Chat Completions that says what it is told to, and then answers well.
#[derive(Clone, Default)]
pub struct Vendor {
    address: String,
    script: Arc<Mutex<VecDeque<Says>>>,
    /// Each step that was asked for, with the whole request.
    pub prompts: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Vendor {
    /// Returns the number of requests per step since the last call.
    fn asked(&self) -> BTreeMap<String, usize> {
        let mut asked = BTreeMap::new();
        for (step, _) in self.prompts.lock().unwrap().drain(..) {
            *asked.entry(step).or_default() += 1;
        }
        asked
    }

    async fn until_asked(&self) {
        while self.prompts.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    }

    pub fn will_say(&self, script: &[Says]) {
        self.script.lock().unwrap().extend(script);
    }
}

async fn vendor(State(vendor): State<Vendor>, request: Request) -> Response {
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let (step, answer) = answer(body["messages"][1]["content"].as_str().unwrap());
    vendor.prompts.lock().unwrap().push((step, body));
    let says = vendor.script.lock().unwrap().pop_front();
    let chunk = |value: Value| format!("data: {value}\n\n");
    let text = |text: &str| chunk(json!({ "choices": [{ "delta": { "content": text } }] }));
    let end = chunk(json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }))
        + &chunk(json!({ "choices": [], "usage": { "prompt_tokens": 1000, "completion_tokens": 500 } }))
        + "data: [DONE]\n\n";
    let events = |body: Body| ([("content-type", "text/event-stream")], body).into_response();
    match says {
        None => events(Body::from(text(&answer) + &end)),
        Some(Says::NotTheForm) => events(Body::from(text("Sure! {\"title\":") + &end)),
        Some(Says::HalfOfIt) => {
            let cut = std::io::Error::other("cut");
            let half = [Ok(Bytes::from(text(&answer[..answer.len() / 2]))), Err(cut)];
            events(Body::from_stream(stream::iter(half)))
        }
        Some(Says::Nothing) => std::future::pending().await,
        Some(Says::APage) => Html("<h1>Please log in to this network</h1>").into_response(),
        Some(Says::Status(status, wait)) => {
            let mut refusal = StatusCode::from_u16(status).unwrap().into_response();
            if let Some(wait) = wait {
                refusal.headers_mut().insert("retry-after", wait.parse().unwrap());
            }
            refusal
        }
    }
}

/// Returns the step of a prompt and the answer to it. The model obeys injected text.
pub fn answer(user: &str) -> (String, String) {
    // as a link, as an address, and as an image
    let obeys = if user.contains(EVIL) {
        format!(" [Win]({EVIL}) <{EVIL}> ![]({EVIL})")
    } else {
        String::new()
    };
    if user.contains("Outline it:") {
        let section =
            |heading: &str| json!({ "heading": format!("{heading}{obeys}"), "points": ["up to 128 cm"] });
        let outline = json!({ "title": "Standing desk heights", "sections": [section("How high does it go?"), section("What it does")] });
        return ("outline".to_owned(), outline.to_string());
    }
    if let Some(at) = (1..=8).find(|at| user.contains(&format!("Write section {at} only"))) {
        return (format!("section {at}"), format!("It stands.{obeys}"));
    }
    if user.contains("Edit the draft:") {
        let (_, draft) = user.split_once("> draft\n").unwrap();
        let (draft, _) = draft.split_once("\n</data-").unwrap();
        return ("edit".to_owned(), format!("{draft}{obeys}"));
    }
    let said = format!("A standing desk.{obeys}");
    (
        "meta".to_owned(),
        json!({ "excerpt": said, "metaDescription": said }).to_string(),
    )
}

pub async fn start() -> (Vendor, String) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let said = Vendor {
        address: address.clone(),
        ..Vendor::default()
    };
    let app = axum::Router::new().fallback(vendor).with_state(said.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (said, address)
}

pub async fn account(bench: &Bench, address: &str) {
    let settings = [
        ("baseUrl", format!("http://{address}").as_str()),
        ("model", "m-1"),
        ("inputPrice", "1"),
        ("outputPrice", "2"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    bench.account("openai", settings.into(), "canary-key").await;
}

pub async fn bench(database: &str) -> (Bench, Vendor) {
    let (vendor, address) = start().await;
    let allow = format!("allow_outbound=[\"provider={address}\"]");
    let bench = Bench::on(database, &["worker.jobs=1", &allow]).await;
    account(&bench, &address).await;
    (bench, vendor)
}

pub async fn begin(bench: &Bench, body: Value) -> (Value, String) {
    let post = create(bench, body).await;
    let started = bench
        .post(
            &format!("{}/generate", path(&post)),
            json!({ "mode": "overwrite" }),
        )
        .await;
    assert_eq!(started.status, 202, "{started:?}");
    let job = started.json()["job"]["id"].as_str().unwrap().to_owned();
    (post, job)
}

/// Milliseconds for which a job waits yet.
fn wait(bench: &Bench, job: &Value) -> i64 {
    let due: Option<Instant> = serde_json::from_value(job["runAfter"].clone()).unwrap();
    due.map_or(0, |due| due.millis() - bench.clock.now().millis())
}

/// The job as it ended; time passes whenever it waits. Each wait in seconds.
async fn patiently(bench: &Bench, job: &str) -> (Value, Vec<i64>) {
    let mut waits = Vec::new();
    loop {
        let job = bench.get(&format!("P/jobs/{job}")).await.json();
        if !["queued", "running"].contains(&job["status"].as_str().unwrap()) {
            return (job, waits);
        }
        let wait = wait(bench, &job);
        if wait > 0 {
            waits.push(wait / 1_000);
            bench.clock.advance(wait);
            bench.server.app.engine.wake.notify_one();
        }
        tokio::task::yield_now().await;
    }
}

/// Money spent, and calls of which nobody knows.
async fn spent(bench: &Bench) -> (i64, i64) {
    let spend = bench.get("P/usage").await.json()["spend"][0].clone();
    (
        spend["spentMicrosUsd"].as_i64().unwrap(),
        spend["uncertainCalls"].as_i64().unwrap(),
    )
}

async fn a_provider_that_asks_for_patience_is_asked_again_and_paid_once(database: &str) {
    let (bench, vendor) = bench(database).await;
    let mut paid = 0;
    for (at, (script, least)) in [
        (&[Says::Status(429, Some("7"))][..], 7),
        (&[Says::Status(503, Some("7"))], 7),
        (&[Says::Status(503, None)], 10),
        (&[Says::Status(500, None), Says::Status(500, None)], 10),
    ]
    .into_iter()
    .enumerate()
    {
        vendor.will_say(script);
        let (post, job) = begin(&bench, json!({ "title": format!("Standing desk {at}") })).await;
        let (job, waits) = patiently(&bench, &job).await;
        assert_eq!(job["status"], "succeeded", "{job:#}");
        assert_eq!(waits.len(), script.len());
        assert!(waits.iter().all(|wait| *wait >= least), "{waits:?}");
        let asked = vendor.asked();
        assert_eq!(asked["outline"], 1 + script.len(), "{asked:?}");
        assert_eq!(asked.values().sum::<usize>(), 5 + script.len(), "{asked:?}");
        let written = get(&bench, &post).await;
        assert_eq!(written["generation"]["costMicrosUsd"], 5 * PRICE);
        paid += 5 * PRICE;
        assert_eq!(spent(&bench).await, (paid, 0));
    }
    assert_eq!(used(&bench).await, 4);
}

async fn one_that_never_recovers_leaves_the_post_as_it_was(database: &str) {
    let (bench, vendor) = bench(database).await;
    vendor.will_say(&[Says::Status(500, None); 3]);
    let (post, job) = begin(&bench, json!({ "title": "Standing desk", "content": "Mine." })).await;
    let (job, _) = patiently(&bench, &job).await;
    assert_eq!(
        (&job["status"], &job["attempt"]),
        (&json!("failed"), &json!(3)),
        "{job:#}"
    );
    let failed = get(&bench, &post).await;
    assert_eq!(
        (&failed["status"], &failed["content"]),
        (&json!("failed"), &json!("Mine."))
    );
    assert_eq!(failed["allowedActions"]["generate"], true);
    assert_eq!(vendor.asked(), [("outline".to_owned(), 3)].into());
    assert_eq!((used(&bench).await, spent(&bench).await), (0, (0, 0)));
}

async fn one_that_is_down_is_left_alone_for_a_while(database: &str) {
    let (bench, vendor) = bench(database).await;
    vendor.will_say(&[Says::Status(503, None); 5]);
    let mut jobs = Vec::new();
    for at in 0..7 {
        let (_, job) = begin(&bench, json!({ "title": format!("Standing desk {at}") })).await;
        jobs.push(job);
    }
    let read = async |job: &String| bench.get(&format!("P/jobs/{job}")).await.json();
    // Time stands still: five fail, and the others wait without having asked.
    for (at, job) in jobs.iter().enumerate() {
        let waits = loop {
            let job = read(job).await;
            let wait = wait(&bench, &job);
            if wait > 0 {
                break (job["attempt"].as_i64().unwrap(), wait / 1_000);
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(waits, if at < 5 { (1, 20) } else { (0, 30) }, "{at}");
    }
    assert_eq!(vendor.asked(), [("outline".to_owned(), 5)].into());
    for job in &jobs {
        assert_eq!(patiently(&bench, job).await.0["status"], "succeeded");
    }
    assert_eq!(vendor.asked().values().sum::<usize>(), 7 * 5);
    assert_eq!((used(&bench).await, spent(&bench).await), (7, (7 * 5 * PRICE, 0)));
}

async fn what_is_no_answer_is_told_and_not_asked_for_again(database: &str) {
    let (bench, vendor) = bench(database).await;
    let mut before = (0, 0);
    for (at, (says, cost, uncertain)) in [
        (Says::HalfOfIt, Value::Null, 1),
        (Says::APage, json!(0), 0),
        (Says::NotTheForm, json!(PRICE), 0),
    ]
    .into_iter()
    .enumerate()
    {
        vendor.will_say(&[says]);
        let (post, job) = begin(&bench, json!({ "title": format!("Standing desk {at}") })).await;
        let (job, waits) = patiently(&bench, &job).await;
        assert_eq!((&job["status"], waits.len()), (&json!("succeeded"), 0), "{job:#}");
        let asked = vendor.asked();
        assert!(asked.values().all(|times| *times == 1), "{asked:?}");
        let answered = i64::try_from(asked.len() - 1).unwrap() * PRICE;
        let written = get(&bench, &post).await;
        assert_eq!(
            written["generation"]["costMicrosUsd"],
            cost.as_i64().map_or(Value::Null, |cost| json!(cost + answered))
        );
        let lost: Vec<&Value> = written["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|w| w["code"] == "step_lost")
            .collect();
        assert!(
            lost.len() == 1 && lost[0]["detail"].as_str().unwrap().contains("\"outline\""),
            "{lost:?}"
        );
        let text = written.to_string();
        assert!(!text.contains("log in") && !text.contains("Sure!"), "{text}");
        let after = spent(&bench).await;
        assert_eq!(
            (after.0 - before.0, after.1 - before.1),
            (answered + cost.as_i64().unwrap_or(0), uncertain)
        );
        before = after;
    }
}

async fn a_job_that_is_stopped_while_it_writes_gives_back_what_it_took(database: &str) {
    let (bench, vendor) = bench(database).await;
    vendor.will_say(&[Says::Nothing]);
    let (post, job) = begin(&bench, json!({ "title": "Standing desk", "content": "Mine." })).await;
    vendor.until_asked().await;
    assert_eq!(
        (&get(&bench, &post).await["status"], used(&bench).await),
        (&json!("generating"), 1)
    );
    let stopped = bench.post(&format!("P/jobs/{job}/cancel"), json!({})).await;
    assert_eq!(stopped.status, 200, "{stopped:?}");
    assert_eq!(until_ended(&bench, &job).await["status"], "canceled");
    let left = get(&bench, &post).await;
    assert_eq!(
        (&left["content"], &left["failure"]["code"]),
        (&json!("Mine."), &json!("canceled"))
    );
    assert_eq!(left["allowedActions"]["generate"], true);
    assert_eq!(used(&bench).await, 0);
    // What was asked may have been charged for.
    assert_eq!(spent(&bench).await, (0, 1));
    assert_eq!(vendor.asked(), [("outline".to_owned(), 1)].into());
}

async fn a_server_that_shuts_down_costs_a_post_no_attempt(database: &str) {
    let (mut bench, vendor) = bench(database).await;
    vendor.will_say(&[Says::Nothing; 3]);
    let (post, job) = begin(&bench, json!({ "title": "Standing desk" })).await;
    for restart in 0..3 {
        vendor.until_asked().await;
        vendor.asked();
        bench.server.stop().await;
        let allow = format!("allow_outbound=[\"provider={}\"]", vendor.address);
        let settings = settings(&bench.folder, database, &["worker.jobs=1", &allow]);
        if restart == 2 {
            // A post has three attempts: this answer would be the end of one that shutdowns are counted against.
            vendor.will_say(&[Says::Status(503, None)]);
        }
        bench.server = serve::start_with(settings, bench.clock.clone()).await.unwrap();
    }
    let (job, waits) = patiently(&bench, &job).await;
    assert_eq!(
        (&job["status"], &job["attempt"], waits.len()),
        (&json!("succeeded"), &json!(2), 1),
        "{job:#}"
    );
    assert_eq!(get(&bench, &post).await["status"], "review");
}

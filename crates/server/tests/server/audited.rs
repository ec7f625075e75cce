//! A website whose pages change, audited: what tests of audits begin with, and what they ask.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use searchwright_contract::Clock;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    harness::{Bench, settings},
    post_generation::until_ended,
};

/// Pages by path, and what was asked for.
#[derive(Clone, Default)]
pub struct Website {
    pages: Arc<Mutex<BTreeMap<String, (u16, String)>>>,
    asked: Arc<Mutex<Vec<String>>>,
    /// Sent with every page.
    pub headers: Arc<Mutex<Vec<(&'static str, &'static str)>>>,
    /// Pages say what they may be asked by, and answer 304 to who asks so; those below `/lies` mean another page.
    pub validates: Arc<AtomicBool>,
    released: Arc<Notify>,
}

/// As the status of a page: it is never answered.
pub const NEVER: u16 = 0;
/// The connection ends where an answer would begin.
pub const BROKEN: u16 = 1;
/// It is answered when it is released, as it is then.
pub const HELD: u16 = 2;

/// `Last-Modified` of every page.
const CHANGED: &str = "Wed, 18 Nov 2020 02:00:00 GMT";

/// The validators of a page, and whether it was asked for by them.
fn validated(path: &str, body: &str, asked: &http::HeaderMap) -> (http::HeaderMap, bool) {
    let mut headers = http::HeaderMap::new();
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let etag = format!("W/\"{:x}\"", hasher.finish());
    let is = |name, value: &str| asked.get(name).is_some_and(|asked| asked == value);
    let (by_etag, by_date) = (is("if-none-match", &etag), is("if-modified-since", CHANGED));
    // one page has nothing but its date
    if !path.ends_with("/dated") {
        headers.insert("etag", etag.parse().unwrap());
    }
    headers.insert("last-modified", CHANGED.parse().unwrap());
    (headers, by_date && (by_etag || path.ends_with("/dated")))
}

impl Website {
    pub fn put(&self, path: &str, status: u16, body: &str) {
        // of two pages with one text the one is a copy of the other, which has a check of its own
        let body = body.replace("<p>Some text.</p>", &format!("<p>Some text of {path}.</p>"));
        self.pages.lock().unwrap().insert(path.to_owned(), (status, body));
    }

    /// Answers the request for the page that is held, or the next one.
    pub fn release(&self, path: &str, status: u16, body: &str) {
        self.put(path, status, body);
        self.released.notify_one();
    }

    pub fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.sort();
        asked
    }
}

async fn answer(State(site): State<Website>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let fresh = request
        .headers()
        .get("cache-control")
        .is_some_and(|v| v == "no-cache");
    let conditional = request
        .headers()
        .keys()
        .any(|name| name == "if-none-match" || name == "if-modified-since");
    site.asked.lock().unwrap().push(format!(
        "{path}{}{}",
        if fresh { " fresh" } else { "" },
        if conditional { " if" } else { "" }
    ));
    let now = || site.pages.lock().unwrap().get(&path).cloned();
    let mut page = now();
    if matches!(page, Some((HELD, _))) {
        site.released.notified().await;
        page = now();
    }
    match &page {
        Some((NEVER, _)) => std::future::pending().await,
        // without a word of the panic hook
        Some((BROKEN, _)) => std::panic::resume_unwind(Box::new(())),
        Some((status, body)) => {
            let mut headers = http::HeaderMap::new();
            headers.insert("content-type", "text/html; charset=utf-8".parse().unwrap());
            for (name, value) in site.headers.lock().unwrap().iter() {
                headers.insert(*name, value.parse().unwrap());
            }
            if *status == 200 && site.validates.load(Relaxed) {
                let (validators, same) = validated(&path, body, request.headers());
                headers.extend(validators);
                if conditional && path.starts_with("/lies") {
                    headers.insert("etag", "\"another\"".parse().unwrap());
                    return (http::StatusCode::NOT_MODIFIED, headers).into_response();
                }
                if same {
                    // as Apache does
                    headers.remove("content-type");
                    headers.remove("last-modified");
                    return (http::StatusCode::NOT_MODIFIED, headers).into_response();
                }
            }
            let status = http::StatusCode::from_u16(*status).unwrap();
            // of a redirect the body is where it leads
            if status.is_redirection() {
                headers.insert("location", body.parse().unwrap());
            }
            (status, headers, body.clone()).into_response()
        }
        None => (http::StatusCode::NOT_FOUND, "no").into_response(),
    }
}

pub fn page(title: &str, links: &[&str]) -> String {
    let links: String = links
        .iter()
        .map(|to| format!("<a href=\"{to}\">Read on about {to}</a>"))
        .collect();
    format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8>{title}</head><body><h1>A heading</h1><p>Some text.</p>{links}</body></html>"
    )
}

/// Serves a website for as long as the test runs. Where it is.
pub async fn serve(site: &Website) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().fallback(answer).with_state(site.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

pub async fn bench(database: &str) -> (Bench, Website) {
    bench_reaching(database, "").await
}

/// The same, and it may reach what `also` says.
pub async fn bench_reaching(database: &str, also: &str) -> (Bench, Website) {
    bench_by(database, also, Clock::system()).await
}

/// The same, by a clock.
pub async fn bench_by(database: &str, also: &str, clock: Clock) -> (Bench, Website) {
    bench_set(database, also, clock, &[]).await
}

/// The same, with more settings.
pub async fn bench_set(database: &str, also: &str, clock: Clock, more: &[&str]) -> (Bench, Website) {
    let site = Website::default();
    site.put(
        "/",
        200,
        &page(
            "<title>The home of all the desks there are</title>",
            &["/a", "/b", "/c"],
        ),
    );
    site.put("/a", 200, &page("", &["/gone", "/"]));
    site.put(
        "/b",
        200,
        &page("<title>Two pages share this very title</title>", &["/"]),
    );
    site.put(
        "/c",
        200,
        &page("<title>Two pages share this very title</title>", &["/"]),
    );
    let address = serve(&site).await;
    let folder = Arc::new(tempfile::TempDir::new().unwrap());
    let allow = format!("allow_outbound=[\"crawl={address}\"{also}]");
    let set: Vec<&str> = [allow.as_str(), "worker.jobs=1"]
        .into_iter()
        .chain(more.iter().copied())
        .collect();
    let settings = settings(&folder, database, &set);
    let mut bench = Bench::open(folder, settings, clock).await;
    let engine = &bench.server.app.engine;
    let project = engine
        .create_project("Desks", &format!("http://{address}"))
        .await
        .unwrap();
    bench.project = project.id;
    bench.key = bench.key_for(project.id, &[]).await;
    audit(&bench).await;
    site.asked();
    (bench, site)
}

pub async fn audit(bench: &Bench) -> Value {
    let audit = bench.post("P/audits", json!({})).await.json();
    until_ended(bench, audit["job"]["id"].as_str().unwrap()).await;
    bench.get("P/audits/current").await.json()
}

pub async fn issue(bench: &Bench, check: &str) -> Value {
    let issues = bench.get("P/issues?limit=100").await.json();
    let mut issues = issues["data"].as_array().unwrap().iter();
    issues
        .find(|issue| issue["checkId"] == check)
        .cloned()
        .unwrap_or_default()
}

/// The occurrence of a check on a page, whatever its state.
pub async fn occurrence(bench: &Bench, check: &str, path: &str) -> Value {
    let issue = issue(bench, check).await;
    let id = issue["id"].as_str().unwrap_or_else(|| panic!("no issue {check}"));
    for state in [
        "open",
        "done",
        "recheck_pending",
        "resolved",
        "still_present",
        "reopened",
        "ignored",
    ] {
        let list = bench
            .get(&format!("P/issues/{id}/occurrences?state={state}&limit=100"))
            .await
            .json();
        let mut list = list["data"].as_array().unwrap().iter();
        if let Some(found) = list.find(|o| o["url"].as_str().unwrap().ends_with(path)) {
            return found.clone();
        }
    }
    panic!("no occurrence of {check} on {path}");
}

pub fn pair(occurrence: &Value) -> Value {
    json!({ "issue_id": occurrence["issue_id"], "page_id": occurrence["page_id"] })
}

pub async fn say(bench: &Bench, what: &str, pairs: &[Value]) -> Value {
    let said = bench
        .post(
            &format!("P/occurrences/{what}"),
            json!({ "occurrences": pairs, "note": "by hand" }),
        )
        .await;
    assert_eq!(said.status, 200, "{said:?}");
    said.json()
}

pub async fn recheck(bench: &Bench) -> Value {
    let started = bench.post("P/rechecks", json!({})).await;
    assert_eq!(started.status, 202, "{started:?}");
    let location = started.header("location").unwrap_or_default().to_owned();
    let started = started.json();
    assert!(
        location.ends_with(&format!("/jobs/{}", started["job"]["id"].as_str().unwrap())),
        "{location}"
    );
    let job = until_ended(bench, started["job"]["id"].as_str().unwrap()).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
    let id = started["recheck"]["id"].as_str().unwrap();
    bench.get(&format!("P/rechecks/{id}")).await.json()
}

//! Audits of a website behind HTTP Basic authentication.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
    response::{Html, IntoResponse as _, Response},
};
use searchwright_contract::Clock;
use serde_json::Value;

use crate::{
    audited::audit,
    harness::{Bench, settings},
};

on_both!(
    an_audit_logs_in_where_it_has_a_login_and_nowhere_else,
    without_a_login_it_says_what_is_missing,
    a_login_of_another_website_does_not_help,
);

/// User `ada`, password `canary:1`.
const SENT: &str = "Basic YWRhOmNhbmFyeTox";

/// The `Authorization` of each request.
type Sent = Arc<Mutex<Vec<Option<String>>>>;

async fn answer(State((sent, link)): State<(Sent, Option<SocketAddr>)>, request: Request) -> Response {
    let header = request.headers().get("authorization");
    let header = header.map(|value| value.to_str().unwrap().to_owned());
    sent.lock().unwrap().push(header.clone());
    let Some(other) = link else {
        return Html("<title>Another website</title>").into_response();
    };
    if header.as_deref() != Some(SENT) {
        let challenge = [("www-authenticate", "Basic realm=\"staging\"")];
        return (StatusCode::UNAUTHORIZED, challenge, "no").into_response();
    }
    let links = format!("<a href=/a>A</a> <a href=/b>B</a> <a href=http://{other}/>Other</a>");
    Html(format!(
        "<title>A page of the staging website</title><h1>Staging</h1>{links}"
    ))
    .into_response()
}

async fn website(link: Option<SocketAddr>) -> (SocketAddr, Sent) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let sent = Sent::default();
    let router = Router::new().fallback(answer).with_state((sent.clone(), link));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, sent)
}

async fn bench(database: &str, login: impl Fn(SocketAddr) -> String) -> (Bench, Sent, Sent) {
    let (other, at_other) = website(None).await;
    let (address, at_site) = website(Some(other)).await;
    let folder = Arc::new(tempfile::TempDir::new().unwrap());
    let allow = format!("allow_outbound=[\"crawl={address}\", \"crawl={other}\"]");
    let settings = settings(&folder, database, &[&allow, &login(address), "worker.jobs=1"]);
    assert!(!settings.to_toml().unwrap().contains("canary"));
    let mut bench = Bench::open(folder, settings, Clock::system()).await;
    let engine = &bench.server.app.engine;
    let project = engine
        .create_project("Staging", &format!("http://{address}"))
        .await
        .unwrap();
    bench.project = project.id;
    bench.key = bench.key_for(project.id, &[]).await;
    (bench, at_site, at_other)
}

async fn an_audit_logs_in_where_it_has_a_login_and_nowhere_else(database: &str) {
    let login = |address| format!("crawl.logins=[\"http://ada:canary%3A1@{address}\"]");
    let (bench, at_site, at_other) = bench(database, login).await;
    let done = audit(&bench).await;
    assert_eq!(done["status"], "completed", "{done:#}");
    let pages = bench.get("P/pages?limit=100").await;
    assert!(pages.json()["data"].as_array().unwrap().len() >= 3, "{pages:?}");
    let sent = at_site.lock().unwrap().clone();
    assert!(
        !sent.is_empty() && sent.iter().all(|header| header.as_deref() == Some(SENT)),
        "{sent:?}"
    );
    let elsewhere = at_other.lock().unwrap().clone();
    assert!(
        !elsewhere.is_empty() && elsewhere.iter().all(Option::is_none),
        "{elsewhere:?}"
    );
    let issues = bench.get("P/issues?limit=100").await;
    for shown in [
        pages,
        issues,
        bench.get("P/audits/current").await,
        bench.get("P/jobs").await,
    ] {
        let text = String::from_utf8_lossy(&shown.body).into_owned();
        assert!(!text.contains("canary") && !text.contains("YWRhOmNh"), "{text}");
    }
}

async fn without_a_login_it_says_what_is_missing(database: &str) {
    says_what_is_missing(database, "crawl.logins=[]").await;
}

async fn a_login_of_another_website_does_not_help(database: &str) {
    says_what_is_missing(database, "crawl.logins=[\"http://ada:canary%3A1@127.0.0.1:1\"]").await;
}

async fn says_what_is_missing(database: &str, login: &str) {
    let (bench, ..) = bench(database, |_| login.to_owned()).await;
    let failed = audit(&bench).await;
    assert_eq!(failed["status"], "failed", "{failed:#}");
    let error = &failed["error"];
    let message = error["message"].as_str().or_else(|| error["detail"].as_str());
    let message = message.unwrap_or_else(|| panic!("{failed:#}")).to_owned();
    assert!(
        message.contains("asks for a user name and a password") && message.contains("--site-login"),
        "{message}"
    );
    assert_ne!(error["code"], Value::Null);
}

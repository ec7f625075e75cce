//! The process: probes, metrics, its folder and its key, and an end in order.

use std::{sync::Arc, time::Duration};

use searchwright_contract::Clock;
use searchwright_server::{open, serve};
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::{
    harness::{Bench, now, settings},
    wire::Wire,
};

async fn fetch(bench: &Bench, url: String) -> (u16, String, String) {
    let response = bench.http.get(url).send().await.unwrap();
    let kind = response
        .headers()
        .get("content-type")
        .map_or("", |v| v.to_str().unwrap())
        .to_owned();
    (response.status().as_u16(), kind, response.text().await.unwrap())
}

#[tokio::test]
async fn probes_need_no_credential() {
    let bench = Bench::with(&["limits.failed_authentications_per_minute=1"]).await;
    let api = bench.server.addresses.api;
    for _ in 0..5 {
        assert_eq!(fetch(&bench, format!("http://{api}/healthz")).await.0, 200);
        assert_eq!(fetch(&bench, format!("http://{api}/readyz")).await.0, 200);
    }
    let (status, kind, docs) = fetch(&bench, format!("http://{api}/docs/reference")).await;
    assert_eq!((status, kind.as_str()), (200, "text/html; charset=utf-8"));
    for endpoint in bench.endpoints() {
        assert!(
            docs.contains(&format!("#{}\"", endpoint.meta.name)),
            "{endpoint:?}"
        );
    }
    let (status, _, bot) = fetch(&bench, format!("http://{api}/bot")).await;
    assert!(status == 200 && bot.contains("User-agent: SearchwrightBot\nDisallow: /"));
    for loaded in ["<script", "src=", "@import", "url("] {
        assert!(
            !bot.contains(loaded) && !docs.contains(loaded),
            "the page loads something: {loaded}"
        );
    }
}

#[tokio::test]
async fn metrics_have_a_listener_of_their_own() {
    let bench = Bench::start().await;
    bench.get("/me").await;
    bench.get("P/keywords/x").await;
    bench.call("GET", "/me").no_key().send().await;
    let metrics = bench.server.addresses.metrics.unwrap();
    let (status, kind, text) = fetch(&bench, format!("http://{metrics}/metrics")).await;
    assert_eq!(
        (status, kind.as_str()),
        (200, "application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    for line in [
        "searchwright_requests_total{operation=\"me.get\",status=\"200\"} 1",
        "searchwright_requests_total{operation=\"me.get\",status=\"401\"} 1",
        "searchwright_requests_total{operation=\"keywords.get\",status=\"404\"} 1",
        "searchwright_request_seconds_count 3",
        "searchwright_ready 1",
        "# EOF",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} in\n{text}");
    }
    assert!(!text.contains(&bench.key) && !text.contains(&bench.project.to_string()));
    let (status, ..) = fetch(&bench, format!("http://{}/metrics", bench.server.addresses.api)).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn a_folder_has_one_server() {
    let bench = Bench::start().await;
    let second = serve::start_with(settings(&bench.folder, "", &[]), Clock::fixed(now())).await;
    let refused = second.unwrap_err().to_string();
    assert!(
        refused.contains("in use") && refused.contains("--data-dir"),
        "{refused}"
    );
    let beside = open::open(&settings(&bench.folder, "", &[])).await.unwrap();
    let created = beside
        .engine
        .create_project("Beside", "beside.example")
        .await
        .unwrap();
    beside.engine.db.close().await;
    let key = bench.key_for(created.id, &[]).await;
    assert_eq!(
        bench.call("GET", "/project").key(&key).send().await.status,
        200,
        "the operator works beside a running server"
    );
}

#[tokio::test]
async fn another_sealing_key_is_refused() {
    let bench = Bench::start().await;
    let (folder, path) = (bench.folder.clone(), bench.folder.path().join("sealing.key"));
    bench.server.stop().await;
    let key = std::fs::read(&path).unwrap();
    assert_eq!(key.len(), 32);
    std::fs::write(&path, [9; 32]).unwrap();
    let refused = serve::start_with(settings(&folder, "", &[]), Clock::fixed(now()))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("sealing key"), "{refused}");
    std::fs::write(&path, key).unwrap();
    serve::start_with(settings(&folder, "", &[]), Clock::fixed(now()))
        .await
        .unwrap()
        .stop()
        .await;
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_reads_the_folder() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = TempDir::new().unwrap();
    let mut settings = settings(&parent, "", &[]);
    settings.data_dir = parent.path().join("deep/data");
    let server = serve::start_with(settings, Clock::fixed(now())).await.unwrap();
    for (name, mode) in [("", 0o700), ("sealing.key", 0o600)] {
        let found = std::fs::metadata(parent.path().join("deep/data").join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(found & 0o777, mode, "{name}");
    }
    server.stop().await;
}

#[tokio::test]
async fn without_migrations_a_fresh_database_is_refused() {
    let folder = TempDir::new().unwrap();
    let refused = serve::start_with(
        settings(&folder, "", &["auto_migrate=false"]),
        Clock::fixed(now()),
    )
    .await
    .unwrap_err();
    assert!(refused.to_string().contains("searchwright migrate"), "{refused}");
    serve::start_with(settings(&folder, "", &[]), Clock::fixed(now()))
        .await
        .unwrap()
        .stop()
        .await;
    serve::start_with(
        settings(&folder, "", &["auto_migrate=false"]),
        Clock::fixed(now()),
    )
    .await
    .unwrap()
    .stop()
    .await;
}

#[tokio::test]
async fn what_is_under_way_ends_before_the_process_does() {
    let bench = Bench::start().await;
    let body = r#"{"keyword":"last"}"#;
    let head = format!(
        "POST /v1/projects/{}/keywords HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        bench.project,
        bench.key,
        body.len()
    );
    let (api, folder, project, key) = (
        bench.server.addresses.api,
        bench.folder.clone(),
        bench.project,
        bench.key.clone(),
    );
    let mut idle = Wire::open(api).await;
    let mut wire = Wire::open(api).await;
    wire.send(head.as_bytes()).await;
    // 100 Continue says that the request is under way: its handler waits for the body.
    assert_eq!(wire.answer().await.status, 100);
    let stopping = tokio::spawn(bench.server.stop());
    while TcpStream::connect(api).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(
        idle.rest().await.is_empty(),
        "a connection without a request is closed"
    );
    assert!(!stopping.is_finished());
    wire.send(body.as_bytes()).await;
    assert_eq!(wire.answer().await.status, 201);
    stopping.await.unwrap();
    let again = Bench::open(folder.clone(), settings(&folder, "", &[]), Clock::fixed(now())).await;
    let kept = again
        .call("GET", &format!("/projects/{project}/keywords"))
        .key(&key)
        .send()
        .await
        .json();
    assert_eq!(kept["data"][0]["keyword"], json!("last"));
}

#[tokio::test]
async fn readiness_follows_the_process() {
    let bench = Bench::start().await;
    let app = Arc::clone(&bench.server.app);
    assert_eq!(app.ready().await, Ok(()));
    bench.server.stop().await;
    assert_eq!(app.ready().await, Err("shutting down".to_owned()));
}

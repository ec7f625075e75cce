//! Client ID metadata documents: fetched for a person who is signed in, checked, and kept for a while.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use searchwright_contract::people::Role;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::{
    browser::Browser,
    harness::Bench,
    oauth::Agent,
    people::{PASSWORD, person},
};

on_both!(client_with_a_document_connects_without_registration,);

/// Publishes a document, and counts how often it is fetched.
struct Publisher {
    url: String,
    answer: Arc<Mutex<String>>,
    fetched: Arc<AtomicUsize>,
}

impl Publisher {
    async fn start() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (answer, fetched) = (Arc::new(Mutex::new(String::new())), Arc::new(AtomicUsize::new(0)));
        let (shared, count) = (answer.clone(), fetched.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let mut head = [0; 4096];
                let _ = stream.read(&mut head).await;
                let answer = shared.lock().unwrap().clone();
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        let url = format!("http://{host}/client.json");
        (Self { url, answer, fetched }, host)
    }

    fn answers(&self, status: &str, headers: &str, body: &str) {
        *self.answer.lock().unwrap() = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
            body.len()
        );
    }

    /// Publishes a document with a change.
    fn publishes(&self, change: &Value) {
        let mut document = json!({
            "client_id": self.url, "client_name": "Agent of the document", "redirect_uris": ["http://127.0.0.1/cb"],
            "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
            "grant_types": ["authorization_code", "refresh_token", "urn:x:other"],
        });
        for (name, value) in change.as_object().unwrap() {
            document[name] = value.clone();
        }
        self.answers("200 OK", "", &document.to_string());
    }
}

async fn client_with_a_document_connects_without_registration(database: &str) {
    let (publisher, host) = Publisher::start().await;
    let allow = format!("allow_outbound=[\"client-metadata={host}\"]");
    let bench = Bench::on(database, &[&allow]).await;
    let agent = Agent {
        client: publisher.url.clone(),
        ..Agent::new(&bench, Role::Editor).await
    };
    publisher.publishes(&json!({}));
    let stranger = Browser::new(&bench);
    assert!(
        stranger
            .open(&agent.request(&[]))
            .await
            .text
            .contains("name=\"password\"")
    );
    assert_eq!(publisher.fetched.load(Ordering::SeqCst), 0, "nobody is signed in");
    let page = agent.browser.open(&agent.request(&[])).await;
    assert!(
        page.text.contains("Agent of the document") && page.text.contains("127.0.0.1"),
        "{}",
        page.text
    );
    let tokens = agent.tokens(&[]).await;
    assert_eq!(agent.status(&tokens["access_token"]).await, 200);
    assert_eq!(agent.refresh(&tokens["refresh_token"]).await.status, 200);
    assert_eq!(
        publisher.fetched.load(Ordering::SeqCst),
        1,
        "it is fresh for 5 minutes"
    );
    // It is fetched again, and what it says now counts.
    bench.clock.advance(5 * 60_000);
    publisher.publishes(&json!({ "redirect_uris": ["https://elsewhere.example/cb"] }));
    let page = agent.browser.open(&agent.request(&[])).await;
    assert_eq!(page.status, 400, "{}", page.text);
    for (change, why) in [
        (
            json!({ "client_id": "https://other.example/client.json" }),
            "not the URL of the document",
        ),
        (
            json!({ "redirect_uris": ["javascript:alert(1)"] }),
            "redirect_uris[0]",
        ),
        (json!({ "client_secret": "x" }), "client_secret"),
        (json!({ "filler": "x".repeat(6 << 10) }), "5 KiB"),
    ] {
        bench.clock.advance(5 * 60_000);
        publisher.publishes(&change);
        let page = agent.browser.open(&agent.request(&[])).await;
        assert_eq!((page.status, page.location.clone()), (400, None), "{change}");
        assert!(page.text.contains(why), "{why}: {}", page.text);
    }
    let location = format!("Location: {}\r\n", publisher.url);
    publisher.answers("302 Found", &location, "");
    let page = agent.browser.open(&agent.request(&[])).await;
    assert!(page.status == 400 && page.text.contains("302"), "{}", page.text);
    publisher.answers("200 OK", "", "<html>");
    assert_eq!(agent.browser.open(&agent.request(&[])).await.status, 400);
    // Private addresses are reached only where the operator names them.
    for private in [
        "https://127.0.0.1:1/client.json",
        "https://169.254.169.254/client.json",
        "http://10.0.0.1/client.json",
    ] {
        let page = agent
            .browser
            .open(&agent.request(&[("client_id", private)]))
            .await;
        assert_eq!((page.status, page.location), (400, None), "{private}");
    }
    let closed = Bench::on("", &[]).await;
    person(&closed, "ann@example.com", Role::Editor).await;
    let browser = Browser::new(&closed);
    browser.sign_in("ann@example.com", PASSWORD).await;
    publisher.publishes(&json!({}));
    let before = publisher.fetched.load(Ordering::SeqCst);
    assert_eq!(browser.open(&agent.request(&[])).await.status, 400);
    assert_eq!(publisher.fetched.load(Ordering::SeqCst), before);
}

#[tokio::test]
async fn operator_restricts_clients() {
    let (publisher, host) = Publisher::start().await;
    publisher.publishes(&json!({}));
    let allow = format!("allow_outbound=[\"client-metadata={host}\"]");
    for (policy, hosts, accepted) in [
        ("off", "[]", false),
        ("allowlist", "[\"agent.example\"]", false),
        ("allowlist", "[\"127.0.0.1\"]", true),
    ] {
        let (policy, hosts) = (
            format!("oauth.cimd_policy={policy:?}"),
            format!("oauth.cimd_hosts={hosts}"),
        );
        let bench = Bench::with(&[&allow, &policy, &hosts]).await;
        let agent = Agent {
            client: publisher.url.clone(),
            ..Agent::new(&bench, Role::Editor).await
        };
        let page = agent.browser.open(&agent.request(&[])).await;
        assert_eq!(page.status == 200, accepted, "{policy} {hosts}: {}", page.text);
        assert!(accepted || page.text.contains("cimd_"), "{}", page.text);
    }
    let bench = Bench::with(&["oauth.dcr=\"off\"", "oauth.cimd_policy=\"off\""]).await;
    let root = format!("http://{}", bench.server.addresses.api);
    let metadata = bench
        .http
        .get(format!("{root}/.well-known/oauth-authorization-server"))
        .send()
        .await
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.bytes().await.unwrap()).unwrap();
    assert_eq!(metadata["registration_endpoint"], Value::Null);
    assert_eq!(metadata["client_id_metadata_document_supported"], false);
    let refused = bench
        .http
        .post(format!("{root}/oauth/register"))
        .header("content-type", "application/json")
        .body(r#"{"redirect_uris":["http://127.0.0.1/cb"]}"#)
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), 400);
    assert!(refused.text().await.unwrap().contains("registers no clients"));
}

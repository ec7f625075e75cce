//! A receiver of webhooks as the tests need it, which notes what came and answers what it is told to.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    body::Bytes,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use standardwebhooks::Webhook;

use crate::harness::Bench;

/// A received request.
#[derive(Clone, Debug)]
pub struct Received {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    /// The event, if it carries the signature that the official library makes. Its own verifier looks at the machine's clock, and
    /// that of the tests stands still.
    pub fn verified(&self, secret: &str) -> Option<Value> {
        let time = self.header("webhook-timestamp").parse().unwrap();
        let signed = Webhook::new(secret)
            .unwrap()
            .sign(self.header("webhook-id"), time, &self.body)
            .unwrap();
        let mut signatures = self.header("webhook-signature").split(' ');
        signatures.any(|signature| signature == signed).then_some(())?;
        Some(serde_json::from_slice(&self.body).unwrap())
    }
}

/// A receiver on loopback.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    pub came: Arc<Mutex<Vec<Received>>>,
    /// Statuses of the next answers; 200 when there are none.
    pub answers: Arc<Mutex<Vec<u16>>>,
    /// Nothing is answered while somebody writes here.
    pub held: Arc<tokio::sync::RwLock<()>>,
}

impl Receiver {
    pub async fn start() -> (Self, SocketAddr) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let receiver = Self::default();
        let router = axum::Router::new().fallback(answer).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (receiver, address)
    }

    pub fn all(&self) -> Vec<Received> {
        self.came.lock().unwrap().clone()
    }

    pub fn will_answer(&self, statuses: &[u16]) {
        self.answers.lock().unwrap().extend(statuses.iter().rev());
    }

    /// Waits until so many came to a path.
    pub async fn until(&self, path: &str, count: usize) -> Vec<Received> {
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
        loop {
            let mut came = self.all();
            came.retain(|received| received.path == path);
            if came.len() >= count {
                return came;
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "{} of {count} came to {path}",
                came.len()
            );
            tokio::task::yield_now().await;
        }
    }
}

async fn answer(State(receiver): State<Receiver>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let status = receiver.answers.lock().unwrap().pop().unwrap_or(200);
    receiver.came.lock().unwrap().push(Received {
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
        body,
    });
    drop(receiver.held.read().await);
    let location = [("location", "http://169.254.169.254/latest/meta-data/")];
    (
        StatusCode::from_u16(status).unwrap(),
        location,
        "thanks \u{1b}[31mred",
    )
        .into_response()
}

/// A server that may send to these addresses, and sends.
pub async fn bench(database: &str, allowed: &[SocketAddr]) -> Bench {
    let allowed: Vec<String> = allowed.iter().map(|a| format!("\"webhook={a}\"")).collect();
    let allow = format!("allow_outbound=[{}]", allowed.join(","));
    Bench::on(database, &["worker.jobs=1", &allow]).await
}

/// Waits until the newest delivery of a webhook stands so.
pub async fn until(bench: &Bench, webhook: &str, status: &str, attempts: u64) -> Value {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let newest = bench
            .get(&format!("P/webhooks/{webhook}/deliveries?limit=1"))
            .await
            .json();
        let newest = newest["data"][0].clone();
        if newest["status"] == status && newest["attempts"] == attempts {
            return newest;
        }
        assert!(tokio::time::Instant::now() < deadline, "{newest:#}");
    }
}

/// Waits until a delivery is under way no more, so that it may be replayed.
pub async fn until_over(bench: &Bench, webhook: &str, delivery: &Value) {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let all = bench
            .get(&format!("P/webhooks/{webhook}/deliveries"))
            .await
            .json();
        let mut all = all["data"].as_array().unwrap().iter();
        let one = all.find(|one| one["id"] == *delivery).unwrap();
        if one["allowedActions"]["replay"] == true {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "{one:#}");
    }
}

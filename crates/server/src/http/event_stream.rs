//! The feed of events as server-sent events (WHATWG HTML 9.2): the same pages as the list, as they come.

use std::{
    convert::Infallible,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::body::{Body, Bytes};
use futures_util::stream;
use http::{HeaderMap, header};
use searchwright_contract::{List, events::Event, ids::CredentialId};
use searchwright_engine::{Endpoint, Failure, Invocation};
use serde_json::{Map, Value};

use super::bearer::Door;
use super::{concurrency::Turn, operations::invoke};
use crate::app::App;

/// Interval at which it polls for events.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Polls without an event after which a keep-alive is sent.
const SILENT: u32 = 15;
/// The operation whose answer can be a stream.
const FEED: &str = "events.list";

/// Returns whether the request accepts an event stream and the operation has one.
pub(super) fn is_wanted(endpoint: &Endpoint, headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter();
    endpoint.meta.name == FEED
        && accepted.any(|accept| {
            let mut types = accept.to_str().unwrap_or_default().split(',');
            types.any(|kind| kind.split(';').next().unwrap_or_default().trim() == "text/event-stream")
        })
}

/// A follower of the feed.
pub(super) struct Follower {
    pub(super) app: Arc<App>,
    /// Verified anew for every page: a key that is revoked ends the stream.
    pub(super) token: String,
    pub(super) arguments: Map<String, Value>,
    /// Its place among the requests of its credential.
    pub(super) _turn: Turn<CredentialId>,
}

impl Follower {
    /// Goes on behind the last event that a client saw, by `Last-Event-ID`.
    pub(super) fn behind(&mut self, headers: &HeaderMap) {
        if let Some(last) = headers.get("last-event-id").and_then(|id| id.to_str().ok())
            && !last.is_empty()
        {
            self.arguments.insert("cursor".to_owned(), last.into());
        }
    }

    async fn page(&self) -> Result<List<Event>, Failure> {
        let feed = self.app.engine.endpoints.iter().find(|e| e.meta.name == FEED);
        let Some(endpoint) = feed else {
            return Ok(List {
                data: Vec::new(),
                next_cursor: None,
            });
        };
        let invocation = Invocation {
            credential: self.app.gate.verify(&self.token, &self.app, Door::Api).await?,
            arguments: Value::Object(self.arguments.clone()),
            if_match: None,
            idempotency_key: None,
            consented: false,
        };
        let reply = invoke(&self.app, endpoint, invocation).await?;
        serde_json::from_slice(&reply.body).map_err(|e| searchwright_engine::failure::defect("events", e))
    }

    /// The next piece of the stream; `None` at its end.
    async fn next(&mut self) -> Option<String> {
        for _ in 0..SILENT {
            if self.app.stopping.load(Ordering::Acquire) {
                return None;
            }
            let page = self.page().await.ok()?;
            if let Some(cursor) = page.next_cursor {
                self.arguments.insert("cursor".to_owned(), cursor.clone().into());
                return Some(written(&page.data, &cursor));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Some(":\n\n".to_owned())
    }

    /// Returns the body of the answer. A bad request is refused before the stream begins.
    pub(super) async fn body(self) -> Result<Body, Failure> {
        self.page().await?;
        let begun = stream::unfold((self, true), |(mut follower, is_first)| async move {
            let piece = if is_first {
                "retry: 3000\n\n".to_owned()
            } else {
                follower.next().await?
            };
            Some((Ok::<_, Infallible>(Bytes::from(piece)), (follower, false)))
        });
        Ok(Body::from_stream(begun))
    }
}

/// Events on the wire. The id of the last is the cursor behind it, so that a client that comes back goes on there.
fn written(events: &[Event], cursor: &str) -> String {
    let mut out = String::new();
    for (at, event) in events.iter().enumerate() {
        let data = serde_json::to_string(event).unwrap_or_default();
        if at + 1 == events.len() {
            out.push_str(&format!("id: {cursor}\n"));
        }
        out.push_str(&format!("event: {}\ndata: {data}\n\n", event.kind));
    }
    out
}

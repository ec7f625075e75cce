//! Progress of running work as server-sent events (WHATWG HTML 9.2), so that a page fetches its parts again only when something
//! has changed. Without them, as without scripts, a page loads again every few seconds.

use std::{
    convert::Infallible,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    routing::get,
};
use futures_util::stream;
use http::{Response, StatusCode, header};
use searchwright_contract::{
    Code, Problem,
    ids::CredentialId,
    jobs::{JobStatus, ListJobs},
};
use searchwright_engine::Failure;

use super::visit::{PageResult, Visit};
use crate::{
    app::App,
    http::{answer, concurrency::Turn},
};

/// Interval at which it looks.
const INTERVAL: Duration = Duration::from_secs(1);
/// Looks after which a stream ends. The browser comes back, and its session is verified anew.
const LOOKS: u32 = 60;
/// Looks without a change after which a keep-alive is sent.
const SILENT: u32 = 10;
/// Streams of one session at a time.
const STREAMS: usize = 8;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/projects/{project}/live", get(follow))
}

/// A page that follows the work of its project.
struct PageFollower {
    visit: Visit,
    /// Work as it was told last.
    told: Option<Vec<u8>>,
    looks: u32,
    _place: Turn<CredentialId>,
}

impl PageFollower {
    /// State of the newest work, which may have ended between two looks, and of all that runs.
    async fn look(&self) -> Result<Vec<u8>, Failure> {
        let mut seen = Vec::new();
        for status in [None, Some(JobStatus::Running)] {
            let jobs = self
                .visit
                .read(&ListJobs {
                    project_id: self.visit.project_id(),
                    status,
                    limit: Some(20),
                    cursor: None,
                })
                .await?;
            for job in jobs.data {
                seen.extend(
                    serde_json::to_vec(&(job.id, job.status, job.attempt, job.progress)).unwrap_or_default(),
                );
            }
        }
        Ok(seen)
    }

    /// The next piece of the stream; `None` at its end.
    async fn next(&mut self) -> Option<&'static str> {
        for _ in 0..SILENT {
            if self.looks > 0 {
                tokio::time::sleep(INTERVAL).await;
            }
            self.looks += 1;
            if self.looks > LOOKS || self.visit.app().stopping.load(Ordering::Acquire) {
                return None;
            }
            if !self.visit.guest().is_signed_in().await {
                return None;
            }
            let seen = self.look().await.ok()?;
            let is_first = self.told.is_none();
            if self.told.as_ref() != Some(&seen) {
                self.told = Some(seen);
                // What changed while the page was loaded is told too.
                return Some(if is_first {
                    "retry: 1000\nevent: changed\ndata:\n\n"
                } else {
                    "event: changed\ndata:\n\n"
                });
            }
        }
        Some(":\n\n")
    }
}

async fn follow(visit: Visit) -> PageResult {
    let session = visit.visitor().session.id.uuid().into();
    let Some(place) = visit.app().followers.enter(session, STREAMS) else {
        let many = format!("this session follows {STREAMS} pages already");
        return Err(Failure::from(Problem::new(Code::RateLimitExceeded, many)).into());
    };
    let follower = PageFollower {
        visit,
        told: None,
        looks: 0,
        _place: place,
    };
    let pieces = stream::unfold(follower, |mut follower| async move {
        let piece = follower.next().await?;
        Some((
            Ok::<_, Infallible>(Bytes::from_static(piece.as_bytes())),
            follower,
        ))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    answer::put(headers, header::CONTENT_TYPE, "text/event-stream");
    answer::put(headers, header::CACHE_CONTROL, "no-store");
    Ok(response)
}

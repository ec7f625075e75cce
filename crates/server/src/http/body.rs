//! Bodies on their way in: bounded in size, time and memory, strict JSON, one object.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, header};
use http_body::Body as _;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use searchwright_contract::{Code, Effect, Problem, argument::file_member, ids::CredentialId, json};
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::concurrency::{Concurrency, Turn};
use crate::config::Limits;

/// Largest body, where no operation says otherwise.
pub const MAX_BODY_BYTES: usize = 1 << 20;

/// Sender of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// A credential.
    Credential(CredentialId),
    /// A network address without one.
    Stranger(IpAddr),
}

/// Reads bodies. What has arrived of those that are incomplete is bounded: in all, and by sender.
#[derive(Debug)]
pub struct Intake {
    all: Arc<Semaphore>,
    each: Concurrency<Sender>,
    most_each: usize,
    longest: Duration,
}

/// Memory for a body that is arriving; given back when dropped.
struct Room<'a> {
    intake: &'a Intake,
    all: Option<OwnedSemaphorePermit>,
    own: Turn<Sender>,
}

impl Room<'_> {
    fn grow(&mut self, bytes: usize) -> bool {
        let more = u32::try_from(bytes)
            .ok()
            .and_then(|n| self.intake.all.clone().try_acquire_many_owned(n).ok());
        match (more, &mut self.all) {
            (None, _) => return false,
            (Some(more), Some(all)) => all.merge(more),
            (more, all) => *all = more,
        }
        self.own.grow(bytes, self.intake.most_each)
    }
}

impl Intake {
    /// An empty one.
    pub fn new(limits: &Limits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.body_bytes.min(Semaphore::MAX_PERMITS))),
            each: Concurrency::default(),
            most_each: limits.body_bytes_per_credential,
            longest: Duration::from_millis(limits.body_ms),
        }
    }

    /// Every byte of a body.
    pub async fn collect(
        &self,
        headers: &HeaderMap,
        sender: Sender,
        body: Body,
        largest: usize,
    ) -> Result<Bytes, Problem> {
        let length = headers
            .get(header::CONTENT_LENGTH)
            .and_then(|v| v.to_str().ok())
            .and_then(|v| v.parse::<u64>().ok());
        if length.is_some_and(|l| l > largest as u64) {
            return Err(too_large(largest));
        }
        if body.is_end_stream() {
            return Ok(Bytes::new());
        }
        let late = |_| {
            let detail = format!("the body took more than {:?} to arrive", self.longest);
            Problem::new(Code::RequestTimeout, detail).after(1)
        };
        tokio::time::timeout(self.longest, self.arrive(sender, body, largest))
            .await
            .map_err(late)?
    }

    async fn arrive(&self, sender: Sender, body: Body, largest: usize) -> Result<Bytes, Problem> {
        let mut room = Room {
            intake: self,
            all: None,
            own: self.each.idle(sender),
        };
        let mut arrived = BytesMut::new();
        let mut body = Limited::new(body, largest);
        while let Some(frame) = body.frame().await {
            let frame = match frame {
                Ok(frame) => frame,
                Err(error) if error.is::<LengthLimitError>() => return Err(too_large(largest)),
                Err(_) => return Err(Problem::new(Code::MalformedRequest, "the body ended early")),
            };
            // What is no data is a trailer, which nobody reads here.
            let Ok(data) = frame.into_data() else { continue };
            if !room.grow(data.len()) {
                let busy = "too many bytes of request bodies are in flight";
                return Err(Problem::new(Code::Overloaded, busy).after(1));
            }
            arrived.extend_from_slice(&data);
        }
        Ok(arrived.freeze())
    }

    /// The object a request carries; empty for methods without a body and for empty bodies. A file may be the
    /// body itself, where the effect takes one in.
    pub async fn read(
        &self,
        effect: Effect,
        method: &Method,
        headers: &HeaderMap,
        sender: Sender,
        body: Body,
    ) -> Result<Map<String, Value>, Problem> {
        let largest = match sender {
            Sender::Credential(_) => effect.largest_body(),
            Sender::Stranger(_) => MAX_BODY_BYTES,
        };
        let body = self.collect(headers, sender, body, largest).await?;
        if body.is_empty() {
            return Ok(Map::new());
        }
        if *method != Method::POST && *method != Method::PATCH {
            return Err(Problem::new(
                Code::MalformedRequest,
                format!("{method} takes no body here"),
            ));
        }
        if effect == Effect::Import && is_file(headers) {
            return Ok(Map::from_iter([(
                "file".to_owned(),
                file_member(body.into()).into(),
            )]));
        }
        check_type(method, headers)?;
        match json::parse(&body) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(Problem::new(
                Code::MalformedJson,
                "the body has to be a JSON object",
            )),
            Err(error) => Err(Problem::new(
                Code::MalformedJson,
                format!("the body is not acceptable JSON: {error}"),
            )),
        }
    }
}

fn too_large(largest: usize) -> Problem {
    Problem::new(
        Code::PayloadTooLarge,
        format!("at most {largest} bytes are accepted"),
    )
}

fn is_file(headers: &HeaderMap) -> bool {
    const FILES: [&str; 4] = [
        "text/csv",
        "text/tab-separated-values",
        "text/plain",
        "application/octet-stream",
    ];
    let value = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
    let kind = value
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    FILES.iter().any(|file| kind.eq_ignore_ascii_case(file))
}

fn check_type(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    let mut parts = value.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default();
    let json = kind.eq_ignore_ascii_case("application/json")
        || *method == Method::PATCH && kind.eq_ignore_ascii_case("application/merge-patch+json");
    let utf8 = parts.all(|p| match p.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
            value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    if json && utf8 {
        return Ok(());
    }
    Err(Problem::new(
        Code::UnsupportedMediaType,
        "the body has to be application/json in UTF-8",
    ))
}

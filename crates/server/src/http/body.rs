//! Bodies on their way in: bounded in size, time and memory, unpacked, strict JSON, one object.

use std::{io::Read as _, sync::Arc, time::Duration};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use flate2::bufread::MultiGzDecoder;
use http::{HeaderMap, Method, header};
use http_body::Body as _;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use searchwright_contract::{
    Code, Effect, Problem,
    argument::{charset, file_member, labelled_file_member},
    json,
};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use super::memory::{MemoryPool, Room, Sender};
use crate::config::Limits;

/// Largest body, where no operation says otherwise.
pub const MAX_BODY_BYTES: usize = 1 << 20;

/// Bytes of a body that is parsed at once: a matter of a millisecond.
const SHORT: usize = 32 << 10;

/// Bytes unpacked at a time.
const PIECE: usize = 64 << 10;

/// Reads bodies. What has arrived of those that are incomplete is bounded: in all, and by sender.
#[derive(Debug)]
pub struct Intake {
    memory: MemoryPool,
    longest: Duration,
    /// Places for parsing long bodies: for half of the cores.
    parsers: Arc<Semaphore>,
}

impl Intake {
    /// An empty one.
    pub fn new(limits: &Limits) -> Self {
        Self {
            memory: MemoryPool::new(limits.body_bytes, limits.body_bytes_per_credential),
            longest: Duration::from_millis(limits.body_ms),
            parsers: Arc::new(Semaphore::new(
                std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2)),
            )),
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
        let is_packed = is_gzip(headers)?;
        let late = |_| {
            let detail = format!("the body took more than {:?} to arrive", self.longest);
            Problem::new(Code::RequestTimeout, detail).after(1)
        };
        tokio::time::timeout(self.longest, self.arrive(sender, body, largest, is_packed))
            .await
            .map_err(late)?
    }

    async fn arrive(
        &self,
        sender: Sender,
        body: Body,
        largest: usize,
        is_packed: bool,
    ) -> Result<Bytes, Problem> {
        let mut room = self.memory.room(sender);
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
                return Err(busy());
            }
            arrived.extend_from_slice(&data);
        }
        if is_packed {
            return unpack(&arrived, largest, &mut room).await;
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
        if effect == Effect::Import && is_file(headers, &body) {
            let media_type = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
            let file = match media_type.and_then(charset) {
                Some(charset) => labelled_file_member(body.into(), charset),
                None => file_member(body.into()),
            };
            return Ok(Map::from_iter([("file".to_owned(), file.into())]));
        }
        check_type(method, headers, effect)?;
        match self.parse(body).await? {
            Ok(Value::Object(object)) => Ok(object),
            // Clients that openapi-generator makes send it for a body that is left out; a member that is `null` is absent as well.
            Ok(Value::Null) => Ok(Map::new()),
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

impl Intake {
    /// Parses a body: a long one on a thread of its own, because it may have as many members as bytes, and a few at a time.
    async fn parse(&self, body: Bytes) -> Result<serde_json::Result<Value>, Problem> {
        if body.len() <= SHORT {
            return Ok(json::parse(json::without_mark(&body)));
        }
        let failed = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, "a body was not parsed");
            Problem::new(Code::InternalError, "the body could not be parsed")
        };
        let place = self.parsers.clone().acquire_owned().await;
        let place = place.map_err(|error| failed(&error))?;
        let parsing = tokio::task::spawn_blocking(move || {
            let _place = place;
            json::parse(json::without_mark(&body))
        });
        parsing.await.map_err(|error| failed(&error))
    }
}

fn too_large(largest: usize) -> Problem {
    Problem::new(
        Code::PayloadTooLarge,
        format!("at most {largest} bytes are accepted"),
    )
}

fn busy() -> Problem {
    Problem::new(Code::Overloaded, "too many bytes of request bodies are in flight").after(1)
}

/// Returns whether a body is compressed by gzip; 415 if by anything else.
fn is_gzip(headers: &HeaderMap) -> Result<bool, Problem> {
    let mut codings = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity");
    let first = codings.next();
    match (first.as_deref(), codings.next()) {
        (None, _) => Ok(false),
        (Some("gzip" | "x-gzip"), None) => Ok(true),
        (Some(coding), _) => Err(Problem::new(
            Code::UnsupportedMediaType,
            format!(
                "the Content-Encoding {coding:?} is not understood; send the body as it is, or compressed once by gzip"
            ),
        )),
    }
}

/// Unpacks a body piece by piece, so that one that grows beyond all measure costs a piece too many at most.
async fn unpack(packed: &[u8], largest: usize, room: &mut Room) -> Result<Bytes, Problem> {
    let mut unpacked = BytesMut::new();
    let mut decoder = MultiGzDecoder::new(packed);
    let mut piece = vec![0; PIECE];
    loop {
        let read = decoder
            .read(&mut piece)
            .map_err(|_| Problem::new(Code::MalformedRequest, "the body is not valid gzip"))?;
        if read == 0 {
            return Ok(unpacked.freeze());
        }
        if unpacked.len() + read > largest {
            return Err(too_large(largest));
        }
        if !room.grow(read) {
            return Err(busy());
        }
        unpacked.extend_from_slice(&piece[..read]);
        tokio::task::yield_now().await;
    }
}

/// Media types under which programs send a file of keywords: a browser takes that of a name from the system, and Windows
/// with Excel calls CSV a workbook.
const FILES: [&str; 15] = [
    "text/csv",
    "text/x-csv",
    "text/comma-separated-values",
    "text/x-comma-separated-values",
    "text/tab-separated-values",
    "text/plain",
    "application/csv",
    "application/x-csv",
    "application/excel",
    "application/vnd.ms-excel",
    "application/vnd.msexcel",
    "application/octet-stream",
    "binary/octet-stream",
    "application/zip",
    "application/x-zip-compressed",
];

/// Returns whether a body is a file. Without a type, or with that which curl and others give any body, it is one, unless it
/// looks like JSON.
fn is_file(headers: &HeaderMap, body: &[u8]) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
    let kind = value
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    if kind.is_empty() || kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return !json::without_mark(body).trim_ascii_start().starts_with(b"{");
    }
    FILES.iter().any(|file| kind.eq_ignore_ascii_case(file))
}

fn check_type(method: &Method, headers: &HeaderMap, effect: Effect) -> Result<(), Problem> {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim();
    let json = kind.eq_ignore_ascii_case("application/json")
        || *method == Method::PATCH && kind.eq_ignore_ascii_case("application/merge-patch+json");
    let utf8 = charset(value).is_none_or(|charset| charset.eq_ignore_ascii_case("utf-8"));
    if json && utf8 {
        return Ok(());
    }
    let wanted = if effect == Effect::Import {
        "the body has to be the file itself (text/csv), or application/json in UTF-8"
    } else {
        "the body has to be application/json in UTF-8"
    };
    Err(Problem::new(Code::UnsupportedMediaType, wanted))
}

//! An answer that is read while it comes, under the limits of its purpose.

use bytes::Bytes;
use http::HeaderMap;
use searchwright_site::fetch::{Cut, FetchError};
use tokio::time::{Instant as Deadline, timeout_at};

use super::{Times, body::Body, client::reason};

/// An answer whose body is still coming.
pub struct Streamed {
    /// Status code, 100 to 599.
    pub status: u16,
    /// Headers as received.
    pub headers: HeaderMap,
    answer: reqwest::Response,
    body: Option<Body>,
    /// Reason why the body ended early, returned after the last bytes.
    cut: Option<Cut>,
    start: Deadline,
    times: Times,
    begun: bool,
}

/// Next piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Decoded bytes, at least one.
    Bytes(Bytes),
    /// The rest is not wanted: too long, or a decompression bomb.
    Cut(Cut),
    /// The body is whole.
    End,
}

impl Streamed {
    pub(super) fn new(
        answer: reqwest::Response,
        headers: HeaderMap,
        body: Body,
        start: Deadline,
        times: Times,
    ) -> Self {
        Self {
            status: answer.status().as_u16(),
            headers,
            answer,
            body: Some(body),
            cut: None,
            start,
            times,
            begun: false,
        }
    }

    /// The next piece. The first may take as long as a first byte, each later one the idle time; all
    /// together the total time. `Timeout` and `Broken` end the body where it is.
    pub async fn next(&mut self) -> Result<Piece, FetchError> {
        loop {
            let Some(body) = &mut self.body else {
                return Ok(self.cut.map_or(Piece::End, Piece::Cut));
            };
            let patience = if self.begun {
                Deadline::now() + self.times.idle
            } else {
                self.start + self.times.first_byte
            };
            let until = patience.min(self.start + self.times.total);
            let bytes = match timeout_at(until, self.answer.chunk()).await {
                Err(_) => return Err(FetchError::Timeout),
                Ok(Err(error)) => return Err(reason(&error)),
                Ok(Ok(Some(piece))) => {
                    self.begun = true;
                    let more = body.take(piece).map_err(|_| FetchError::Broken)?;
                    let bytes = body.drain();
                    if !more {
                        self.end_with(|body| Ok::<_, FetchError>(body.cut_short(None)))?;
                    }
                    bytes
                }
                Ok(Ok(None)) => self.end_with(Body::finish)?,
            };
            if !bytes.is_empty() {
                return Ok(Piece::Bytes(bytes));
            }
        }
    }

    fn end_with<E>(
        &mut self,
        end: impl FnOnce(Body) -> Result<(Bytes, u64, Option<Cut>), E>,
    ) -> Result<Bytes, FetchError> {
        let Some(body) = self.body.take() else {
            return Ok(Bytes::new());
        };
        let (bytes, _, cut) = end(body).map_err(|_| FetchError::Broken)?;
        self.cut = cut;
        Ok(bytes)
    }
}

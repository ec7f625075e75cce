//! Messages to an MCP server over Streamable HTTP, and the messages that come back.

use std::time::Duration;

use reqwest::{Response, StatusCode, header};

use crate::{Client, ClientError, call::innermost};

/// Time for one exchange: a stream of events may stay open as long as its client wants it.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(86_400);
/// Longest message of a stream in bytes.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Reply to one message.
#[derive(Debug)]
pub enum McpReply {
    /// The message was taken, and needs no answer.
    Accepted,
    /// One message.
    Message(Vec<u8>),
    /// Messages as they come.
    Events(Box<McpEvents>),
    /// A refusal by HTTP.
    Refused {
        /// Status.
        status: u16,
        /// Body: a JSON-RPC error, a problem, or something else.
        body: Vec<u8>,
    },
}

impl Client {
    /// Sends one message to an MCP server with a bearer token and further headers.
    pub async fn send_mcp(
        &self,
        url: &str,
        bearer: &str,
        headers: &[(&'static str, String)],
        message: Vec<u8>,
    ) -> Result<McpReply, ClientError> {
        let mut request = self
            .http
            .post(url)
            .bearer_auth(bearer)
            .timeout(EXCHANGE_TIMEOUT)
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header(header::CONTENT_TYPE, "application/json")
            .body(message);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let unreachable = |e: reqwest::Error| ClientError::Unreachable {
            url: url.to_owned(),
            cause: innermost(&e),
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let content_type = response.headers().get(header::CONTENT_TYPE);
        let is_stream = content_type
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.starts_with("text/event-stream"));
        if status.is_success() && is_stream {
            return Ok(McpReply::Events(Box::new(McpEvents {
                url: url.to_owned(),
                response,
                parser: EventParser::default(),
            })));
        }
        let body = response.bytes().await.map_err(unreachable)?.to_vec();
        Ok(match status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => McpReply::Accepted,
            _ if status.is_success() => McpReply::Message(body),
            _ => McpReply::Refused {
                status: status.as_u16(),
                body,
            },
        })
    }
}

/// Messages of a stream of server-sent events.
#[derive(Debug)]
pub struct McpEvents {
    url: String,
    response: Response,
    parser: EventParser,
}

impl McpEvents {
    /// Waits for the next message; `None` at the end of the stream.
    pub async fn next(&mut self) -> Result<Option<String>, ClientError> {
        loop {
            if let Some(message) = self.parser.next() {
                return Ok(Some(message));
            }
            if self.parser.pending() > MAX_MESSAGE_BYTES {
                return Err(ClientError::Unexpected(format!(
                    "a message is longer than {MAX_MESSAGE_BYTES} bytes"
                )));
            }
            let piece = self.response.chunk().await;
            let piece = piece.map_err(|e| ClientError::Unreachable {
                url: self.url.clone(),
                cause: innermost(&e),
            })?;
            match piece {
                Some(piece) => self.parser.push(&piece),
                None => return Ok(None),
            }
        }
    }
}

/// Reader of server-sent events (HTML standard, section 9.2) that gives the data of each.
#[derive(Debug, Default)]
struct EventParser {
    buffer: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// Start of what has not been read.
    at: usize,
    /// Whether the last line ended with a carriage return, so that a line feed belongs to it.
    after_return: bool,
}

impl EventParser {
    fn push(&mut self, piece: &[u8]) {
        self.buffer.drain(..self.at);
        self.at = 0;
        self.buffer.extend_from_slice(piece);
    }

    /// Bytes of the message that is not complete.
    fn pending(&self) -> usize {
        self.buffer.len() - self.at + self.data.len()
    }

    /// Returns the data of the next complete event that has some.
    fn next(&mut self) -> Option<String> {
        loop {
            let rest = self.buffer.get(self.at..)?;
            if self.after_return && rest.first() == Some(&b'\n') {
                self.at += 1;
                self.after_return = false;
                continue;
            }
            let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'))?;
            self.after_return = rest.get(end) == Some(&b'\r');
            let line = rest.get(..end).unwrap_or_default();
            self.at += end + 1;
            if line.is_empty() {
                let data = std::mem::take(&mut self.data);
                if std::mem::take(&mut self.has_data) && !data.is_empty() {
                    return Some(String::from_utf8_lossy(&data).into_owned());
                }
            } else if let Some(value) = line.strip_prefix(b"data") {
                let Some(value) = value.strip_prefix(b":").or(value.is_empty().then_some(value)) else {
                    continue;
                };
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data
                    .extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EventParser;

    #[test]
    fn events_are_read_whatever_the_pieces() {
        let text = "\u{feff}: hello\r\nid: 1\ndata:\n\ndata: {\"a\":\ndata:1}\r\n\r\nevent: message\rdata: b\r\rretry: 5\ndatum: x\n\ndata: never ended";
        for size in [1, 2, 3, 7, 1000] {
            let mut parser = EventParser::default();
            let mut found = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                parser.push(piece);
                while let Some(message) = parser.next() {
                    found.push(message);
                }
            }
            assert_eq!(found, ["{\"a\":\n1}", "b"], "{size}");
            assert_eq!(parser.pending(), "data: never ended".len());
        }
    }
}

//! Errors of requests to vendors, by what they say about the request: that it was not sent, that it was refused, or that
//! nobody knows whether it was carried out. Who publishes or pays decides by this difference whether to send it again.

use std::time::Duration;

use http::HeaderMap;
use searchwright_site::fetch::{Cut, FetchError};
use serde_json::Value;

use super::retry_after;

/// Error of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Nothing of the request left this machine.
    #[error("the request was not sent: {0}")]
    NotSent(#[from] NotSent),
    /// The answer has a status that is no success.
    #[error("the answer has the status {}", .0.status)]
    Rejected(Rejected),
    /// The request was sent, and there is no complete answer: it may or may not have been carried out.
    #[error("the answer was lost: {}", .0.cause)]
    Ambiguous(Ambiguous),
}

/// Cause that a request was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// The address guard forbids the address, or it is none.
    #[error("its address is not allowed")]
    Address,
    /// The name cannot be resolved.
    #[error("its host name does not resolve")]
    Dns,
    /// The server accepts no connection.
    #[error("its server accepts no connection")]
    Connect,
    /// No secure connection can be made.
    #[error("no secure connection can be made")]
    Tls,
}

/// A complete answer whose status is no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; `Null` where it is no JSON.
    pub body: Value,
}

impl Rejected {
    /// Reads an answer whose body should be JSON.
    pub fn read(status: u16, headers: HeaderMap, body: &[u8]) -> Self {
        Self {
            status,
            headers,
            body: serde_json::from_slice(body).unwrap_or_default(),
        }
    }

    /// Returns the wait that `Retry-After` asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers)
    }
}

/// A request whose outcome is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ambiguous {
    /// Cause that there is no complete answer.
    pub cause: Loss,
    /// Status of the answer, where only its body is incomplete.
    pub status: Option<u16>,
}

/// Cause that an answer is missing or incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Loss {
    /// The time ran out.
    #[error("the time ran out")]
    Timeout,
    /// The connection broke, or its bytes are no answer.
    #[error("the connection broke")]
    Broken,
    /// The body is larger than what is read, or a decompression bomb.
    #[error("the body is too large")]
    Oversized,
}

impl RequestError {
    /// Returns the error for an answer whose body was cut.
    pub const fn from_cut(cut: Cut, status: u16) -> Self {
        let cause = match cut {
            Cut::Time => Loss::Timeout,
            Cut::Size | Cut::Ratio => Loss::Oversized,
        };
        Self::Ambiguous(Ambiguous {
            cause,
            status: Some(status),
        })
    }
}

impl From<FetchError> for RequestError {
    fn from(error: FetchError) -> Self {
        let lost = |cause| Self::Ambiguous(Ambiguous { cause, status: None });
        match error {
            FetchError::Denied => Self::NotSent(NotSent::Address),
            FetchError::Dns => Self::NotSent(NotSent::Dns),
            FetchError::Connect => Self::NotSent(NotSent::Connect),
            FetchError::Tls | FetchError::Certificate(_) => Self::NotSent(NotSent::Tls),
            FetchError::Timeout => lost(Loss::Timeout),
            FetchError::Broken => lost(Loss::Broken),
        }
    }
}

#[cfg(test)]
mod tests {
    use searchwright_site::fetch::Fault;

    use super::*;

    #[test]
    fn only_a_request_without_a_connection_counts_as_not_sent() {
        for (error, cause) in [
            (FetchError::Denied, NotSent::Address),
            (FetchError::Dns, NotSent::Dns),
            (FetchError::Connect, NotSent::Connect),
            (FetchError::Tls, NotSent::Tls),
            (FetchError::Certificate(Fault::Expired), NotSent::Tls),
        ] {
            assert_eq!(RequestError::from(error), RequestError::NotSent(cause));
        }
        for (error, cause) in [
            (FetchError::Timeout, Loss::Timeout),
            (FetchError::Broken, Loss::Broken),
        ] {
            let lost = Ambiguous { cause, status: None };
            assert_eq!(RequestError::from(error), RequestError::Ambiguous(lost));
        }
    }

    #[test]
    fn cut_body_leaves_open_what_happened() {
        for (cut, cause) in [
            (Cut::Time, Loss::Timeout),
            (Cut::Size, Loss::Oversized),
            (Cut::Ratio, Loss::Oversized),
        ] {
            let lost = Ambiguous {
                cause,
                status: Some(201),
            };
            assert_eq!(RequestError::from_cut(cut, 201), RequestError::Ambiguous(lost));
        }
    }

    #[test]
    fn rejected_answer_keeps_its_json_and_its_wait() {
        let headers = [(http::header::RETRY_AFTER, http::HeaderValue::from_static("7"))];
        let rejected = Rejected::read(429, headers.into_iter().collect(), br#"{"message":"slower"}"#);
        assert_eq!(rejected.retry_after(), Some(Duration::from_secs(7)));
        assert_eq!(rejected.body["message"], "slower");
        assert_eq!(Rejected::read(502, HeaderMap::new(), b"<html>").body, Value::Null);
    }
}

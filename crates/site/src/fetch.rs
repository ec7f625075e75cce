//! One HTTP exchange, as the crawler sees it. The client that performs it is passed in, because
//! which addresses may be reached is not the crawler's to decide.

use std::{future::Future, pin::Pin, time::Duration};

use bytes::Bytes;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use url::Url;

/// Request method; an audit never changes anything on a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Headers and body.
    Get,
    /// Headers only.
    Head,
}

/// One request. Redirects are never followed by the fetcher: each hop is a record of its own.
#[derive(Clone, Debug)]
pub struct Request {
    /// Absolute http or https URL without fragment.
    pub url: Url,
    /// GET or HEAD.
    pub method: Method,
    /// Most bytes to keep of the decoded body; what follows is cut and noted in `cut`.
    pub body_limit: usize,
    /// Bypass caches on the way (`Cache-Control: no-cache`), as a recheck must.
    pub fresh: bool,
    /// It is shown as a picture, whatever its name says: servers choose the format by what is accepted.
    pub picture: bool,
    /// Ask for the page only if it is another than the one these belong to; 304 says that it is not.
    pub unless: Option<Box<Validators>>,
}

/// By what a server tells whether a page is still the one that was read (RFC 9110 section 8.8): as it sent them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`, weak ones too: what they leave open, a byte here or there, is nothing that checks look at.
    pub etag: Option<Box<str>>,
    /// `Last-Modified`.
    pub last_modified: Option<Box<str>>,
    /// Time at which the page was read whole, in milliseconds since the Unix epoch.
    pub read_at_ms: i64,
}

/// Reason that a body ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// The decoded body was longer than the limit.
    Size,
    /// The body inflated by more than 100:1 after its first MiB: a decompression bomb.
    Ratio,
    /// The total time of the exchange ran out while the body was trickling in.
    Time,
}

/// Connection that an answer came over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// HTTP/2 or newer.
    pub multiplexed: bool,
    /// Expiry of the server's certificate, milliseconds since the Unix epoch; `None` without TLS or where it is not known.
    pub certificate_until_ms: Option<i64>,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status code, 100 to 599.
    pub status: u16,
    /// As received.
    pub headers: HeaderMap,
    /// Decoded body (gzip and br undone), at most `body_limit` bytes.
    pub body: Bytes,
    /// Bytes of the body on the wire.
    pub wire_bytes: u64,
    /// Set when the body is not whole.
    pub cut: Option<Cut>,
    /// From sending the request to the first byte of the answer.
    pub ttfb: Duration,
    /// Its connection.
    pub connection: Connection,
}

#[cfg(test)]
impl Response {
    /// An answer that came whole and soon.
    pub(crate) fn new(status: u16, headers: &[(&'static str, &str)], body: &[u8]) -> Self {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, http::HeaderValue::from_str(value).unwrap());
        }
        Self {
            status,
            headers: map,
            body: Bytes::copy_from_slice(body),
            wire_bytes: body.len() as u64,
            cut: None,
            ttfb: Duration::from_millis(12),
            connection: Connection::default(),
        }
    }
}

/// Fault of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It is over, or has not begun.
    Expired,
    /// It is for other names.
    WrongName,
    /// It leads to no authority that is trusted.
    UnknownIssuer,
    /// Revoked, malformed, or not meant for servers.
    Invalid,
}

impl Fault {
    /// The word for it in evidence.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::WrongName => "wrong_name",
            Self::UnknownIssuer => "unknown_issuer",
            Self::Invalid => "invalid",
        }
    }
}

/// Reason that there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum FetchError {
    /// The address guard refused: private, loopback, link-local, metadata, or not http(s).
    #[error("address not allowed")]
    Denied,
    /// The name does not resolve (NXDOMAIN or no addresses).
    #[error("host name does not resolve")]
    Dns,
    /// Refused or unreachable.
    #[error("could not connect")]
    Connect,
    /// The handshake failed for another reason than the certificate.
    #[error("TLS failed")]
    Tls,
    /// DNS, connect, first byte or total time ran out.
    #[error("timed out")]
    Timeout,
    /// The connection ended or the answer was not HTTP.
    #[error("connection broken")]
    Broken,
    /// The server's certificate is not valid. Stored, like the others, by its place in this list.
    #[error("certificate not valid")]
    Certificate(Fault),
}

/// Result of a fetch.
pub type Fetched = Result<Response, FetchError>;

/// Performs requests through the guard. Object safe, shared by all connections of a crawl.
pub trait Fetch: Send + Sync + 'static {
    /// Performs one exchange. Never retries, never follows a redirect, always ends in bounded time.
    fn fetch(&self, request: Request) -> Pin<Box<dyn Future<Output = Fetched> + Send + '_>>;
}

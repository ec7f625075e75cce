//! One HTTP exchange as the crawler sees it. The client is passed in, because the crawler does not decide which
//! addresses may be reached.

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

/// One request. The fetcher never follows redirects: each hop is a request of its own.
#[derive(Clone, Debug)]
pub struct Request {
    /// Absolute http or https URL without fragment.
    pub url: Url,
    /// GET or HEAD.
    pub method: Method,
    /// Maximum number of bytes kept of the decoded body; a longer body is cut and marked in `cut`.
    pub body_limit: usize,
    /// Whether to bypass intermediate caches (`Cache-Control: no-cache`), as a recheck must.
    pub fresh: bool,
    /// Whether the URL is shown as an image, whatever its name: servers choose the format by `Accept`.
    pub picture: bool,
    /// Validators of a known version, for a conditional request; status 304 means that it is unchanged.
    pub unless: Option<Box<Validators>>,
}

/// Validators of a response (RFC 9110 section 8.8), as sent by the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`, also a weak one: changes that it ignores do not matter to checks.
    pub etag: Option<Box<str>>,
    /// `Last-Modified`.
    pub last_modified: Option<Box<str>>,
    /// Time at which the page was fetched in full, in milliseconds since the Unix epoch.
    pub read_at_ms: i64,
}

/// Reason why a body is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// The decoded body exceeded the limit.
    Size,
    /// The body inflated by more than 100:1 after its first MiB, as a decompression bomb does.
    Ratio,
    /// The total time of the exchange ran out while the body was arriving.
    Time,
}

/// Connection of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// Whether the connection is HTTP/2 or newer.
    pub multiplexed: bool,
    /// Expiry of the server's certificate in milliseconds since the Unix epoch; `None` without TLS or if unknown.
    pub certificate_until_ms: Option<i64>,
}

/// One response.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status code, 100 to 599.
    pub status: u16,
    /// Headers as received.
    pub headers: HeaderMap,
    /// Body after decoding of gzip and br, at most `body_limit` bytes.
    pub body: Bytes,
    /// Number of bytes of the body on the wire.
    pub wire_bytes: u64,
    /// Reason why the body is incomplete, if it is.
    pub cut: Option<Cut>,
    /// Time from sending the request to the first byte of the response.
    pub ttfb: Duration,
    /// Connection of the response.
    pub connection: Connection,
}

#[cfg(test)]
impl Response {
    /// Creates a complete and fast response.
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
    /// Expired, or not valid yet.
    Expired,
    /// Issued for other names.
    WrongName,
    /// Not signed by a trusted authority.
    UnknownIssuer,
    /// Revoked, malformed, or not meant for servers.
    Invalid,
}

impl Fault {
    /// Returns the code of the fault in evidence.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::WrongName => "wrong_name",
            Self::UnknownIssuer => "unknown_issuer",
            Self::Invalid => "invalid",
        }
    }
}

/// Reason why there is no response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum FetchError {
    /// The address guard refused the URL: private, loopback, link-local, metadata, or not http(s).
    #[error("address not allowed")]
    Denied,
    /// The name does not resolve (NXDOMAIN or no addresses).
    #[error("host name does not resolve")]
    Dns,
    /// The connection was refused, or the host is unreachable.
    #[error("could not connect")]
    Connect,
    /// The TLS handshake failed for another reason than the certificate.
    #[error("TLS failed")]
    Tls,
    /// The time for DNS, connecting, the first byte or the whole exchange ran out.
    #[error("timed out")]
    Timeout,
    /// The connection ended early, or the response was not HTTP.
    #[error("connection broken")]
    Broken,
    /// The server's certificate is not valid. Like the other variants, stored by its position in this list.
    #[error("certificate not valid")]
    Certificate(Fault),
}

/// Result of a fetch.
pub type Fetched = Result<Response, FetchError>;

/// Performs requests through the address guard. Object safe; shared by all connections of a crawl.
pub trait Fetch: Send + Sync + 'static {
    /// Performs one exchange. Never retries or follows a redirect, and always ends in bounded time.
    fn fetch(&self, request: Request) -> Pin<Box<dyn Future<Output = Fetched> + Send + '_>>;
}

//! One call: the operation's members go where its row of the table says, the answer comes back typed.

use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use reqwest::{Method as HttpMethod, StatusCode, header};
use searchwright_contract::{Meta, Method, Operation, Problem};
use serde_json::{Map, Value};
use url::Url;

/// Everything that has a meaning in a path or a query.
const RESERVED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b'+')
    .add(b'/')
    .add(b'<')
    .add(b'=')
    .add(b'>')
    .add(b'?')
    .add(b'`');
/// Maximum number of tries after temporary failures, the first one included.
const MAX_TRIES: u32 = 4;
/// Longest wait before a retry, in seconds.
const MAX_WAIT: u64 = 60;

/// Error of a call.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server refused or failed; its own words.
    #[error("{0}")]
    Problem(Box<Problem>),
    /// No answer.
    #[error("{url} does not answer: {cause}")]
    Unreachable {
        /// URL that was called.
        url: String,
        /// Cause of the failure.
        cause: String,
    },
    /// An answer that is not from the API.
    #[error("the answer is not from the Searchwright API: {0}")]
    Unexpected(String),
}

/// A server and a credential.
#[derive(Clone)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) root: String,
    key: String,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({})", self.root)
    }
}

impl Client {
    /// A client of the server at `url` (with or without `/v1`) with this key.
    pub fn new(url: &str, key: &str) -> Result<Self, ClientError> {
        let trimmed = url.trim_end_matches('/');
        let root = if trimmed.ends_with("/v1") {
            trimmed.to_owned()
        } else {
            format!("{trimmed}/v1")
        };
        let unusable = |cause: String| ClientError::Unreachable {
            url: url.to_owned(),
            cause,
        };
        Url::parse(&root).map_err(|e| unusable(e.to_string()))?;
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| unusable(e.to_string()))?
            .with_root_certificates(rustls::RootCertStore {
                roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
            })
            .with_no_client_auth();
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(5))
            .timeout(Duration::from_secs(60))
            .user_agent(concat!("searchwright/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|e| unusable(e.to_string()))?;
        Ok(Self {
            http,
            root,
            key: key.to_owned(),
        })
    }

    /// Root of the API, without a slash at its end.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Calls an operation.
    pub async fn call<O: Operation>(&self, operation: &O) -> Result<O::Answer, ClientError> {
        let arguments =
            serde_json::to_value(operation).map_err(|e| ClientError::Unexpected(e.to_string()))?;
        let value = self.call_raw(&O::META, arguments).await?;
        serde_json::from_value(value).map_err(|e| ClientError::Unexpected(e.to_string()))
    }

    /// Calls an operation with its arguments as one JSON object. Returns the answer as JSON, `null` for none.
    ///
    /// Temporary failures are retried: writes carry an `Idempotency-Key`, so that a request whose answer was lost is
    /// not executed twice.
    pub async fn call_raw(&self, meta: &Meta, arguments: Value) -> Result<Value, ClientError> {
        let Value::Object(members) = arguments else {
            return Err(ClientError::Unexpected("arguments are not an object".to_owned()));
        };
        let (url, body) = self.place(meta, members);
        let mut random = [0u8; 16];
        getrandom::fill(&mut random).map_err(|e| ClientError::Unexpected(e.to_string()))?;
        let key = uuid::Builder::from_random_bytes(random).into_uuid().to_string();
        let mut tries = 0;
        loop {
            tries += 1;
            let outcome = self.send(meta, &url, body.as_ref(), &key).await;
            let wait = match &outcome {
                Err(ClientError::Problem(problem)) if problem.retryable => {
                    u64::from(problem.retry_after.unwrap_or(0)).max(1 << (tries - 1))
                }
                Err(ClientError::Unreachable { .. }) if meta.method == Method::GET && tries > 1 => {
                    1 << (tries - 1)
                }
                _ => return outcome,
            };
            if tries >= MAX_TRIES || wait > MAX_WAIT {
                return outcome;
            }
            tokio::time::sleep(Duration::from_secs(wait)).await;
        }
    }

    fn place(&self, meta: &Meta, mut members: Map<String, Value>) -> (String, Option<Value>) {
        let mut url = self.root.clone();
        for segment in meta.path.split('/').skip(1) {
            url.push('/');
            match segment.strip_prefix('{').and_then(|s| s.strip_suffix('}')) {
                Some(name) => url.push_str(&encode(&members.shift_remove(name).unwrap_or_default())),
                None => url.push_str(segment),
            }
        }
        if !matches!(meta.method, Method::GET | Method::DELETE) {
            return (url, Some(Value::Object(members)));
        }
        let pairs: Vec<String> = members
            .iter()
            .filter(|(_, v)| !v.is_null())
            .map(|(name, value)| format!("{name}={}", encode(value)))
            .collect();
        if !pairs.is_empty() {
            url.push('?');
            url.push_str(&pairs.join("&"));
        }
        (url, None)
    }

    async fn send(
        &self,
        meta: &Meta,
        url: &str,
        body: Option<&Value>,
        key: &str,
    ) -> Result<Value, ClientError> {
        let method = HttpMethod::from_bytes(meta.method.as_str().as_bytes()).unwrap_or(HttpMethod::GET);
        let mut request = self
            .http
            .request(method, url)
            .bearer_auth(&self.key)
            .header(header::ACCEPT, "application/json");
        if let Some(body) = body {
            request = request
                .header(header::CONTENT_TYPE, "application/json")
                .header("Idempotency-Key", key)
                .body(body.to_string());
        }
        let unreachable = |e: reqwest::Error| ClientError::Unreachable {
            url: self.root.clone(),
            cause: innermost(&e),
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let after = response
            .headers()
            .get(header::RETRY_AFTER)
            .and_then(|v| v.to_str().ok()?.parse().ok());
        let bytes = response.bytes().await.map_err(unreachable)?;
        if status.is_success() {
            if status == StatusCode::NO_CONTENT || bytes.is_empty() {
                return Ok(Value::Null);
            }
            return serde_json::from_slice(&bytes).map_err(|e| ClientError::Unexpected(e.to_string()));
        }
        match serde_json::from_slice::<Problem>(&bytes) {
            Ok(mut problem) => {
                problem.retry_after = after;
                Err(ClientError::Problem(Box::new(problem)))
            }
            Err(_) => Err(ClientError::Unexpected(format!(
                "status {status} without a problem document; is this a Searchwright server?"
            ))),
        }
    }
}

fn encode(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items
            .iter()
            .map(|i| i.as_str().map_or_else(|| i.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join(","),
        other => other.to_string(),
    };
    utf8_percent_encode(&text, RESERVED).to_string()
}

/// The cause at the end of the chain says what happened; those before it only that something did.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    let mut at: &dyn std::error::Error = error;
    while let Some(cause) = at.source() {
        at = cause;
    }
    at.to_string()
}

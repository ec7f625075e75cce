//! Answers on their way out: every header that an answer of the API carries, in one place.

use axum::body::Body;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use searchwright_contract::{Code, Problem};
use searchwright_engine::Reply;

use super::{
    bearer::{self, Door},
    rate_limit::Standing,
};
use crate::app::App;

const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Seconds after which to look for what was started, where the answer knows no better.
const POLL_SECONDS: u32 = 5;
/// Headers scripts of other origins may read.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "ETag, Location, Link, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Request-Id, WWW-Authenticate, Idempotency-Replayed, Deprecation, Sunset",
);
const ALLOWED: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Content-Encoding, Idempotency-Key, If-Match, If-None-Match, MCP-Protocol-Version, Mcp-Method, Mcp-Name",
);

/// The answer to a call that worked.
pub fn reply(
    app: &App,
    request_id: &str,
    project: Option<&str>,
    reply: Reply,
    standing: Option<Standing>,
) -> Response<Body> {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let mut headers = base(request_id, standing);
    if reply.status >= 400 {
        headers.insert(header::CONTENT_TYPE, PROBLEM);
    } else if reply.status != 204 {
        headers.insert(header::CONTENT_TYPE, JSON);
    }
    if let Some(etag) = &reply.head.etag {
        put(&mut headers, header::ETAG, &format!("\"{etag}\""));
    }
    if let (Some(location), Some(project)) = (&reply.head.location, project) {
        put(
            &mut headers,
            header::LOCATION,
            &format!("{}/projects/{project}/{location}", app.settings.base_url()),
        );
    }
    let asks_later = (reply.status == 202).then_some(POLL_SECONDS);
    if let Some(seconds) = reply.head.retry_after.or(asks_later) {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    if reply.replayed {
        headers.insert(
            HeaderName::from_static("idempotency-replayed"),
            HeaderValue::from_static("true"),
        );
    }
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// The answer to a call that failed.
pub fn problem(
    app: &App,
    request_id: &str,
    door: Door,
    path: &str,
    mut problem: Problem,
    standing: Option<Standing>,
) -> Response<Body> {
    problem.request_id = request_id.to_owned();
    problem.kind = format!(
        "{}/docs/reference/errors#{}",
        app.settings.public_url,
        problem.code.as_str()
    );
    if problem.code == Code::Overloaded {
        // thousands a second, and whoever watches is told how many
        tracing::debug!(request_id, path, "request refused");
    } else if problem.status >= 500 {
        tracing::warn!(request_id, path, code = problem.code.as_str(), "request failed");
    }
    let mut headers = base(request_id, standing);
    headers.insert(header::CONTENT_TYPE, PROBLEM);
    if let Some(seconds) = problem.retry_after {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    if let Some(challenge) = bearer::challenge(app, door, &problem) {
        put(&mut headers, header::WWW_AUTHENTICATE, &challenge);
    }
    if problem.code == Code::UnsupportedMediaType {
        headers.insert(HeaderName::from_static("accept-post"), JSON);
        // RFC 9110, 15.5.16: what may be sent instead
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        headers.insert(
            HeaderName::from_static("accept-patch"),
            HeaderValue::from_static("application/json, application/merge-patch+json"),
        );
    }
    let mut response = Response::new(Body::from(serde_json::to_vec(&problem).unwrap_or_default()));
    *response.status_mut() =
        StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = headers;
    response
}

/// The answer to `OPTIONS`: what is allowed, for anyone.
pub fn options(request_id: &str, allow: &str) -> Response<Body> {
    let mut headers = base(request_id, None);
    put(&mut headers, header::ALLOW, allow);
    put(&mut headers, header::ACCESS_CONTROL_ALLOW_METHODS, allow);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    *response.headers_mut() = headers;
    response
}

/// Headers of every answer of the API.
fn base(request_id: &str, standing: Option<Standing>) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(16);
    put(&mut headers, HeaderName::from_static("x-request-id"), request_id);
    open_to_scripts(&mut headers);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    );
    if let Some(standing) = standing {
        headers.insert(HeaderName::from_static("ratelimit-limit"), standing.limit.into());
        headers.insert(
            HeaderName::from_static("ratelimit-remaining"),
            standing.remaining.into(),
        );
        headers.insert(HeaderName::from_static("ratelimit-reset"), standing.reset.into());
    }
    headers
}

/// Allows scripts of any origin to read an answer, and forbids caching: it was given to a credential, not to a browser.
pub fn open_to_scripts(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
}

/// Sets a header whose text is ours; what cannot stand in a header is left out.
pub fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

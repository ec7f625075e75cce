//! HTTP that all vendors share: JSON requests, refusals by status, answers that lie.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use searchwright_outbound::{Ambiguous, Guarded, Loss, NotSent, Rejected, RequestError, excerpt};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::error::{ProviderError, Why};

/// Largest answer that is read whole, in bytes.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// A header whose value is a secret: kept out of logs and of header compression.
pub(super) fn secret_header(value: &str) -> Result<HeaderValue, ProviderError> {
    let mut value = HeaderValue::from_str(value).map_err(|_| ProviderError::refused(Why::Credential))?;
    value.set_sensitive(true);
    Ok(value)
}

/// A bearer token.
pub(super) fn bearer(token: &SecretString) -> Result<HeaderValue, ProviderError> {
    secret_header(&format!("Bearer {}", token.expose_secret()))
}

/// A request with a JSON body.
pub(super) fn post_json(
    url: &str,
    headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
    body: &Value,
) -> Result<http::Request<Bytes>, ProviderError> {
    let mut request = build_request(Method::POST, url, Bytes::from(body.to_string()))?;
    let all = request.headers_mut();
    all.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    all.extend(headers);
    Ok(request)
}

/// Any request. An address that is none is refused here.
pub(super) fn build_request(
    method: Method,
    url: &str,
    body: Bytes,
) -> Result<http::Request<Bytes>, ProviderError> {
    http::Request::builder()
        .method(method)
        .uri(url)
        .body(body)
        .map_err(|_| ProviderError::refused(Why::Address))
}

/// Terms by which an answer is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms<'a> {
    /// Whether the provider charges for what it does, so that a lost answer is no reason to ask again.
    pub charges: bool,
    /// Secrets that must not be passed on, should the provider repeat them.
    pub secrets: &'a [&'a str],
}

impl ProviderError {
    /// Converts the error of a request. A provider that answers for free may be asked again; one that charges may
    /// not, once the request was sent.
    pub(super) fn from_request(error: &RequestError, terms: Terms<'_>) -> Self {
        match error {
            RequestError::NotSent(NotSent::Address) => Self::refused(Why::Address),
            RequestError::NotSent(NotSent::Dns | NotSent::Connect | NotSent::Tls) => Self::Unavailable,
            RequestError::Rejected(answer) => rejection(answer, terms),
            RequestError::Ambiguous(Ambiguous {
                cause: Loss::Oversized,
                ..
            }) => Self::refused(Why::Unreadable),
            RequestError::Ambiguous(_) if terms.charges => Self::Uncertain(Box::default()),
            RequestError::Ambiguous(_) => Self::Unavailable,
        }
    }
}

/// Sends, and reads an answer of JSON. Never asks twice.
pub(super) async fn fetch_json(
    client: &Guarded,
    request: http::Request<Bytes>,
    terms: Terms<'_>,
) -> Result<Value, ProviderError> {
    let body = send(client, request).await;
    let body = body.map_err(|error| ProviderError::from_request(&error, terms))?;
    serde_json::from_slice(&body).map_err(|_| ProviderError::refused(Why::Unreadable))
}

/// Sends, and returns the body of a complete answer with status 200.
pub(super) async fn send(client: &Guarded, request: http::Request<Bytes>) -> Result<Bytes, RequestError> {
    let answer = client.send(request, MAX_ANSWER_BYTES).await?;
    match answer.cut {
        Some(cut) => Err(RequestError::from_cut(cut, answer.status)),
        None if answer.status == 200 => Ok(answer.body),
        None => {
            let rejected = Rejected::read(answer.status, answer.headers, &answer.body);
            Err(RequestError::Rejected(rejected))
        }
    }
}

/// Turns an answer that is no success into the error that it means.
pub(super) fn rejection(answer: &Rejected, terms: Terms<'_>) -> ProviderError {
    let words = error_message(&answer.body).and_then(|text| excerpt(text, terms.secrets));
    let refused = |why| ProviderError::refused_with(why, words.clone());
    match answer.status {
        401 | 403 => refused(Why::Credential),
        402 => refused(Why::Quota),
        429 if used_up(&answer.body) => refused(Why::Quota),
        429 => ProviderError::RateLimited(answer.retry_after().or_else(|| retry_delay(&answer.body))),
        503 | 529 if answer.headers.contains_key(header::RETRY_AFTER) => {
            ProviderError::RateLimited(answer.retry_after())
        }
        // The server itself says that it did not do it.
        408 | 425 | 500 | 503 | 529 => ProviderError::Unavailable,
        // A gateway speaks, and does not know what happened behind it.
        501..=599 if terms.charges => ProviderError::Uncertain(Box::default()),
        501..=599 => ProviderError::Unavailable,
        400..=499 => refused(Why::Request),
        _ => refused(Why::Unreadable),
    }
}

/// The message in an error object of any of the vendors.
pub(super) fn error_message(body: &Value) -> Option<&str> {
    // Gemini puts its object into an array where it streams; some servers give a bare text.
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let inner = error.get("message").or_else(|| error.get("status_message"));
    inner.unwrap_or(error).as_str().or_else(|| {
        // OAuth, RFC 6749 section 5.2.
        body.get("error_description").and_then(Value::as_str)
    })
}

/// OpenAI answers 429 both for too fast and for no credit left.
fn used_up(body: &Value) -> bool {
    ["/error/code", "/error/type"]
        .iter()
        .any(|at| body.pointer(at).and_then(Value::as_str) == Some("insufficient_quota"))
}

/// Google's `RetryInfo` in the body: `"retryDelay": "34s"`.
fn retry_delay(body: &Value) -> Option<Duration> {
    let body = body.get(0).unwrap_or(body);
    let details = body.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|d| d.get("retryDelay"))?.as_str()?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Whether the answer is of this media type.
pub(super) fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.split(';').next())
        .is_some_and(|v| v.trim().eq_ignore_ascii_case(media_type))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v)))
            .collect()
    }

    #[test]
    fn retry_delay_of_google_is_read() {
        let body = json!([{ "error": { "details": [{ "@type": "x" }, { "retryDelay": "34.5s" }] } }]);
        assert_eq!(retry_delay(&body), Some(Duration::from_millis(34_500)));
    }

    #[test]
    fn a_status_says_what_comes_next() {
        let of = |status, body: Value, charges| {
            let answer = Rejected {
                status,
                headers: headers(&[("retry-after", "3")]),
                body,
            };
            let secrets = &["sk-4711"];
            rejection(&answer, Terms { charges, secrets })
        };
        let three = ProviderError::RateLimited(Some(Duration::from_secs(3)));
        assert_eq!(of(429, json!({}), true), three);
        assert_eq!(of(503, json!({}), true), three);
        let spent = json!({ "error": { "code": "insufficient_quota", "message": "pay sk-4711" } });
        assert_eq!(
            of(429, spent, true),
            ProviderError::refused_with(Why::Quota, Some("pay [secret]".to_owned()))
        );
        assert_eq!(of(500, json!({}), true), ProviderError::Unavailable);
        for gateway in [502, 504, 520] {
            assert_eq!(
                of(gateway, json!({}), true),
                ProviderError::Uncertain(Box::default())
            );
            assert_eq!(of(gateway, json!({}), false), ProviderError::Unavailable);
        }
        for (status, why) in [
            (401, Why::Credential),
            (403, Why::Credential),
            (402, Why::Quota),
            (400, Why::Request),
            (404, Why::Request),
            (302, Why::Unreadable),
            (204, Why::Unreadable),
        ] {
            assert_eq!(
                of(status, Value::Null, true),
                ProviderError::refused(why),
                "{status}"
            );
        }
    }

    #[test]
    fn every_vendors_error_object_is_read() {
        for (body, expected) in [
            (json!({ "error": { "message": "a" } }), Some("a")),
            (json!([{ "error": { "message": "b" } }]), Some("b")),
            (
                json!({ "type": "error", "error": { "type": "t", "message": "c" } }),
                Some("c"),
            ),
            (json!({ "error": "d" }), Some("d")),
            (json!({ "message": "e" }), Some("e")),
            (json!({ "status_message": "f" }), Some("f")),
            (json!({ "other": 1 }), None),
            (Value::Null, None),
        ] {
            assert_eq!(error_message(&body), expected, "{body}");
        }
    }

    #[test]
    fn request_that_was_not_sent_may_be_sent_again() {
        let of = |error: RequestError, charges| {
            let secrets = &[];
            ProviderError::from_request(&error, Terms { charges, secrets })
        };
        for charges in [true, false] {
            for cause in [NotSent::Dns, NotSent::Connect, NotSent::Tls] {
                assert_eq!(of(cause.into(), charges), ProviderError::Unavailable);
            }
            assert_eq!(
                of(NotSent::Address.into(), charges),
                ProviderError::refused(Why::Address)
            );
        }
    }

    #[test]
    fn lost_answer_is_uncertain_where_it_may_be_charged() {
        for (cause, status) in [
            (Loss::Timeout, None),
            (Loss::Broken, None),
            (Loss::Timeout, Some(200)),
        ] {
            let lost = RequestError::Ambiguous(Ambiguous { cause, status });
            let of = |charges| {
                let secrets = &[];
                ProviderError::from_request(&lost, Terms { charges, secrets })
            };
            assert_eq!(of(true), ProviderError::Uncertain(Box::default()));
            assert_eq!(of(false), ProviderError::Unavailable);
        }
        for charges in [true, false] {
            let lost = RequestError::Ambiguous(Ambiguous {
                cause: Loss::Oversized,
                status: Some(200),
            });
            let secrets = &[];
            assert_eq!(
                ProviderError::from_request(&lost, Terms { charges, secrets }),
                ProviderError::refused(Why::Unreadable)
            );
        }
    }
}

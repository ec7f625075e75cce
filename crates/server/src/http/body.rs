//! Bodies on their way in: bounded in size and time, strict JSON, one object.

use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, Method, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use searchwright_contract::{Code, Problem, json};
use serde_json::{Map, Value};

/// Largest body.
pub const LARGEST: usize = 1 << 20;
/// Longest a body may take to arrive.
const LONGEST: Duration = Duration::from_secs(30);

/// Reads the object a request carries; empty for methods without a body and for empty bodies.
pub async fn read(method: &Method, headers: &HeaderMap, body: Body) -> Result<Map<String, Value>, Problem> {
    let too_large = || {
        Problem::new(
            Code::PayloadTooLarge,
            format!("at most {LARGEST} bytes are accepted"),
        )
    };
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.parse::<u64>().ok());
    if length.is_some_and(|l| l > LARGEST as u64) {
        return Err(too_large());
    }
    let collected = match tokio::time::timeout(LONGEST, Limited::new(body, LARGEST).collect()).await {
        Err(_) => {
            return Err(Problem::new(
                Code::RequestTimeout,
                "the body took more than 30 seconds to arrive",
            )
            .after(1));
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large()),
        Ok(Err(_)) => return Err(Problem::new(Code::MalformedRequest, "the body broke off")),
        Ok(Ok(collected)) => collected.to_bytes(),
    };
    if collected.is_empty() {
        return Ok(Map::new());
    }
    if *method != Method::POST && *method != Method::PATCH {
        return Err(Problem::new(
            Code::MalformedRequest,
            format!("{method} takes no body here"),
        ));
    }
    check_type(method, headers)?;
    match json::parse(&collected) {
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

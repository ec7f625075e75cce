//! Responses of an operation in the document: success, errors, and their headers.

use std::collections::BTreeMap;

use searchwright_contract::{Code, Effect, Meta, Method, Scope, people::AutonomyAction};
use searchwright_engine::Endpoint;
use serde_json::{Map, Value, json};

use super::{
    Shared, has_tag,
    schemas::{drop_examples, lift_definitions, reference},
    tag,
};

/// Returns the responses of an operation, by status.
pub(super) fn describe(endpoint: &Endpoint, shared: &mut Shared) -> Value {
    let meta = &endpoint.meta;
    let mut all = Map::new();
    let mut shown = Vec::new();
    let mut success = json!({ "description": success(meta.effect) });
    if meta.effect != Effect::Delete {
        let mut answer = (endpoint.answer)().to_value();
        drop_examples(&mut answer);
        lift_definitions(&mut answer, &mut shared.schemas);
        let name = answer["title"].as_str().unwrap_or(meta.name).to_owned();
        if answer["properties"].get("nextCursor").is_some() {
            shown.push("Link");
        }
        if has_tag(endpoint) {
            shown.push("ETag");
        }
        success["content"] = json!({ "application/json": { "schema": reference("schemas", &name) } });
        shared.schemas.insert(name, answer);
    }
    if meta.effect == Effect::Create || meta.effect.runs() {
        shown.push("Location");
    }
    if meta.effect.runs() || matches!(tag(meta), "audits" | "jobs") && !meta.name.ends_with(".list") {
        shown.push("Retry-After");
    }
    if meta.effect.writes() {
        shown.push("Idempotency-Replayed");
    }
    if meta.method == Method::GET && has_tag(endpoint) {
        all.insert("304".to_owned(), reference("responses", "304"));
    }
    if !shown.is_empty() {
        success["headers"] = shown.into_iter().map(header).collect::<Map<_, _>>().into();
    }
    if endpoint.dry_run {
        let mut estimate = success.clone();
        estimate["description"] = "The result of a dry run; nothing was started".into();
        all.insert("200".to_owned(), estimate);
    }
    all.insert(meta.effect.status().to_string(), success);
    let mut failures: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes(meta).filter(|code| !CODES_OF_THE_REST.contains(code)) {
        failures.entry(code.status()).or_default().push(code);
    }
    all.insert("default".to_owned(), reference("responses", "default"));
    for (status, codes) in failures {
        let name = name(status, &codes);
        all.insert(status.to_string(), reference("responses", &name));
        shared.responses.entry(name).or_insert_with(|| problem(&codes));
    }
    all.into()
}

/// Returns the responses that every operation has in common.
pub(super) fn common() -> Map<String, Value> {
    let headers = Map::from_iter([header("ETag")]);
    Map::from_iter([
        (
            "304".to_owned(),
            json!({ "description": "Not modified since the ETag in `If-None-Match` was read", "headers": headers }),
        ),
        ("default".to_owned(), problem(&CODES_OF_THE_REST)),
    ])
}

/// Returns the name of a response to refusals with one status: the status, `write` if it has the codes of operations with a body, and
/// the codes that only some operations have.
fn name(status: u16, codes: &[Code]) -> String {
    let mut name = status.to_string();
    if codes.iter().any(|code| CODES_OF_WRITES.contains(code)) {
        name.push_str(".write");
    }
    for code in codes {
        if !CODES_OF_WRITES.contains(code) && !CODES_OF_ALL.contains(code) {
            name.push('.');
            name.push_str(code.as_str());
        }
    }
    name
}

const fn success(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "The requested data",
        Effect::Create => "The created record",
        Effect::Import => "The result of the import",
        Effect::Change => "The updated record",
        Effect::Start | Effect::Spend | Effect::Publish => "The started work and its job",
        Effect::Delete => "Deleted",
    }
}

/// Returns the error codes that an operation can answer, by status.
pub(crate) fn codes(meta: &Meta) -> impl Iterator<Item = Code> {
    let is_possible = |code: &Code| {
        let by_kind = match code {
            Code::ProjectForbidden => meta.in_project(),
            Code::InsufficientScope => meta.scope != Scope::Any,
            Code::InsufficientRole => meta.in_project() && meta.scope.writes(),
            Code::AgentAutonomyRequired => AutonomyAction::of_scope(meta.scope).is_some(),
            code if CODES_OF_WRITES.contains(code) => meta.method != Method::GET,
            code => CODES_OF_ALL.contains(code),
        };
        by_kind || meta.errors.contains(code)
    };
    Code::ALL.iter().copied().filter(is_possible)
}

/// Error codes of every operation.
const CODES_OF_ALL: [Code; 12] = [
    Code::MalformedRequest,
    Code::Unauthenticated,
    Code::InvalidToken,
    Code::TokenExpired,
    Code::UriTooLong,
    Code::ValidationFailed,
    Code::RateLimitExceeded,
    Code::HeadersTooLarge,
    Code::InternalError,
    Code::Overloaded,
    Code::StorageUnavailable,
    Code::HandlerTimeout,
];

/// Error codes that say nothing about an operation, only about the request as a whole or the state of the server.
const CODES_OF_THE_REST: [Code; 14] = [
    Code::Unauthenticated,
    Code::InvalidToken,
    Code::TokenExpired,
    Code::RequestTimeout,
    Code::PayloadTooLarge,
    Code::UriTooLong,
    Code::UnsupportedMediaType,
    Code::RateLimitExceeded,
    Code::HeadersTooLarge,
    Code::InternalError,
    Code::Overloaded,
    Code::StorageUnavailable,
    Code::StorageFull,
    Code::HandlerTimeout,
];

/// Error codes of every operation with a body.
const CODES_OF_WRITES: [Code; 9] = [
    Code::MalformedJson,
    Code::InvalidIdempotencyKey,
    Code::RequestTimeout,
    Code::IdempotencyInProgress,
    Code::PayloadTooLarge,
    Code::UnsupportedMediaType,
    Code::UnknownField,
    Code::IdempotencyKeyReused,
    Code::StorageFull,
];

/// Returns the response of refusals with one status, which names their codes.
fn problem(codes: &[Code]) -> Value {
    let mut shown = vec!["X-Request-Id"];
    match codes.first().map_or(0, |code| code.status()) {
        400 | 403 => shown.push("WWW-Authenticate"),
        // The first of those that are not told apart.
        401 => shown.extend(["WWW-Authenticate", "Retry-After"]),
        // A stored answer to an Idempotency-Key, or the request to wait for the call that is running.
        409 => shown.extend(["Idempotency-Replayed", "Retry-After"]),
        412 | 422 => shown.push("Idempotency-Replayed"),
        502 => shown.push("Retry-After"),
        _ => {}
    }
    let headers: Map<String, Value> = shown.into_iter().map(header).collect();
    let named: Vec<String> = codes
        .iter()
        .map(|code| format!("`{}`: {}", code.as_str(), code.title()))
        .collect();
    json!({
        "description": named.join(". "),
        "headers": headers,
        "content": { "application/problem+json": { "schema": reference("schemas", "Problem") } }
    })
}

/// Returns every header that answers can have.
pub(super) fn headers() -> Value {
    let text = |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    let number = |description: &str| json!({ "description": description, "schema": { "type": "integer", "minimum": 0 } });
    json!({
        "X-Request-Id": text("Id of this request in the logs."),
        "RateLimit-Limit": number("Requests allowed per minute by the rate limit closest to exhaustion."),
        "RateLimit-Remaining": number("Requests left in that limit."),
        "RateLimit-Reset": number("Seconds until that limit is fully restored; on 429 until one request is free."),
        "Retry-After": number("Seconds to wait."),
        "ETag": text("Strong entity tag of the record, for If-Match and If-None-Match."),
        "Link": text("`rel=\"next\"`: the next page, absent on the last."),
        "Location": text("URL of the record or job."),
        "Idempotency-Replayed": text("`true` when this is the stored answer to an earlier request with the same key."),
        "WWW-Authenticate": text("Authentication error (RFC 6750); absent if another credential would not help."),
    })
}

fn header(name: &str) -> (String, Value) {
    (name.to_owned(), reference("headers", name))
}

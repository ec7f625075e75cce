//! Responses of an operation in the document: success, errors, and their headers.

use searchwright_contract::{Code, Effect, Meta, Method, Problem, Scope, people::AutonomyAction};
use searchwright_engine::Endpoint;
use serde_json::{Map, Value, json};

use super::{
    has_tag,
    schemas::{example, lift_definitions},
    tag,
};

/// Returns the responses of an operation, by status.
pub(super) fn describe(endpoint: &Endpoint, schemas: &mut Map<String, Value>) -> Value {
    let meta = &endpoint.meta;
    let mut all = Map::new();
    let mut shown = vec![
        "X-Request-Id",
        "RateLimit-Limit",
        "RateLimit-Remaining",
        "RateLimit-Reset",
    ];
    let mut success = json!({ "description": success(meta.effect) });
    if meta.effect != Effect::Delete {
        let mut answer = (endpoint.answer)().to_value();
        lift_definitions(&mut answer, schemas);
        let name = answer["title"].as_str().unwrap_or(meta.name).to_owned();
        if answer["properties"].get("nextCursor").is_some() {
            shown.push("Link");
        }
        if has_tag(endpoint) {
            shown.push("ETag");
        }
        schemas.insert(name.clone(), answer);
        let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
        let example = example(&reference, schemas, 0);
        success["content"] = json!({ "application/json": { "schema": reference, "example": example } });
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
        let headers: Map<String, Value> = shown
            .iter()
            .filter(|h| **h != "Retry-After")
            .map(|h| header(h))
            .collect();
        let unchanged = json!({ "description": "Not modified since the ETag in `If-None-Match` was read", "headers": headers });
        all.insert("304".to_owned(), unchanged);
    }
    success["headers"] = shown.into_iter().map(header).collect::<Map<_, _>>().into();
    if endpoint.dry_run {
        let mut estimate = success.clone();
        estimate["description"] = "The result of a dry run; nothing was started".into();
        all.insert("200".to_owned(), estimate);
    }
    all.insert(meta.effect.status().to_string(), success);
    for code in codes(meta) {
        let status = code.status().to_string();
        let reference = format!("#/components/responses/{}", code.as_str());
        match all.get_mut(&status) {
            None => {
                all.insert(status, json!({ "$ref": reference }));
            }
            // A status with several codes lists an example of each.
            Some(existing) => merge(existing, code),
        }
    }
    all.into()
}

fn merge(existing: &mut Value, code: Code) {
    if let Some(reference) = existing.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        if let Some(first) = Code::parse(name) {
            *existing = problem(first);
        }
    }
    let examples = problem(code);
    let description = format!(
        "{}; or {}",
        existing["description"].as_str().unwrap_or_default(),
        code.as_str()
    );
    existing["description"] = description.into();
    let name = code.as_str();
    existing["content"]["application/problem+json"]["examples"][name] =
        examples["content"]["application/problem+json"]["examples"][name].clone();
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
fn codes(meta: &Meta) -> impl Iterator<Item = Code> {
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

/// Returns the response of an error, with an example.
pub(super) fn problem(code: Code) -> Value {
    let mut shown = vec!["X-Request-Id"];
    match code.status() {
        400 | 401 | 403 => shown.push("WWW-Authenticate"),
        // A stored answer to an Idempotency-Key, or the request to wait for the call that is running.
        409 => shown.extend(["Idempotency-Replayed", "Retry-After"]),
        412 | 422 => shown.push("Idempotency-Replayed"),
        429 => shown.extend([
            "Retry-After",
            "RateLimit-Limit",
            "RateLimit-Remaining",
            "RateLimit-Reset",
        ]),
        408 | 502 | 503 | 504 => shown.push("Retry-After"),
        _ => {}
    }
    let headers: Map<String, Value> = shown.into_iter().map(header).collect();
    let mut problem = Problem::new(code, code.title());
    problem.request_id = "req_01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a".to_owned();
    json!({
        "description": format!("{} (`{}`)", code.title(), code.as_str()),
        "headers": headers,
        "content": { "application/problem+json": {
            "schema": { "$ref": "#/components/schemas/Problem" },
            "examples": { code.as_str(): { "value": problem } }
        } }
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
    (
        name.to_owned(),
        json!({ "$ref": format!("#/components/headers/{name}") }),
    )
}

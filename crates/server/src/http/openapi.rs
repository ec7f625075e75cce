//! The OpenAPI 3.1 document, assembled from the contract table: the schemas are the ones that are enforced.

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{HeaderValue, Response, header};
use searchwright_contract::{Code, Effect, Meta, Method, Problem, Scope, events::Event};
use searchwright_engine::Endpoint;
use serde_json::{Map, Value, json};

use crate::serve::App;

/// Serves the document to anyone.
pub async fn serve(State(app): State<Arc<App>>) -> Response<Body> {
    let body = app.openapi.get_or_init(|| {
        serde_json::to_vec(&document(&app.engine.endpoints, &app.settings.base_url()))
            .unwrap_or_default()
            .into()
    });
    let mut response = Response::new(Body::from(body.clone()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// The document of these endpoints at this address.
pub fn document(endpoints: &[Endpoint], base_url: &str) -> Value {
    let mut schemas = Map::new();
    let mut paths: Map<String, Value> = Map::new();
    collect("Problem", schemars::schema_for!(Problem).to_value(), &mut schemas);
    collect("Event", schemars::schema_for!(Event).to_value(), &mut schemas);
    for endpoint in endpoints {
        let operation = operation(endpoint, &mut schemas);
        let item = paths.entry(endpoint.meta.path).or_insert_with(|| json!({}));
        item[endpoint.meta.method.as_str().to_lowercase()] = operation;
    }
    let tags: Vec<Value> = {
        let mut names: Vec<&str> = endpoints.iter().map(|e| tag(&e.meta)).collect();
        names.dedup();
        names.into_iter().map(|n| json!({ "name": n })).collect()
    };
    let responses: Map<String, Value> = Code::ALL
        .iter()
        .map(|c| (c.as_str().to_owned(), problem_response(*c)))
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Searchwright API",
            "version": "1.0.0",
            "summary": "Search-content work on one website: audits, keywords, posts, visibility.",
            "description": "Every request names its project explicitly and is authenticated by `Authorization: Bearer`. Call `GET /me` first.\n\nLists hold `data` and `nextCursor`. Errors are RFC 9457 problems whose `code` is stable. Unknown members of answers have to be ignored.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" }
        },
        "servers": [{ "url": base_url }],
        "security": [{ "bearer": [] }],
        "tags": tags,
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "An API key (`swk_…`), bound to one project." }
            },
            "schemas": schemas,
            "headers": headers(),
            "responses": responses
        }
    })
}

fn tag(meta: &Meta) -> &'static str {
    meta.name.split('.').next().unwrap_or_default()
}

fn operation(endpoint: &Endpoint, schemas: &mut Map<String, Value>) -> Value {
    let meta = &endpoint.meta;
    let mut input = endpoint.input.clone().to_value();
    lift_definitions(&mut input, schemas);
    let required: Vec<String> = names(&input["required"]);
    let mut properties = input["properties"].as_object().cloned().unwrap_or_default();
    let mut parameters = Vec::new();
    for name in meta.path_parameters() {
        let schema = properties.shift_remove(name).unwrap_or_default();
        parameters.push(parameter(name, "path", true, schema));
    }
    let mut operation = json!({
        "operationId": meta.name,
        "tags": [tag(meta)],
        "summary": endpoint.description().lines().next().unwrap_or_default(),
        "description": describe(endpoint),
        "x-scope": meta.scope.as_str(),
        "security": [{ "bearer": if meta.scope == Scope::Any { json!([]) } else { json!([meta.scope.as_str()]) } }],
    });
    if matches!(meta.method, Method::GET | Method::DELETE) {
        for (name, schema) in properties {
            let required = required.contains(&name);
            parameters.push(parameter(&name, "query", required, schema));
        }
    } else {
        let body_required: Vec<&String> = required.iter().filter(|n| properties.contains_key(*n)).collect();
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !body_required.is_empty() {
            schema["required"] = json!(body_required);
        }
        let example = example(&schema, schemas, 0);
        operation["requestBody"] = json!({
            "required": !body_required.is_empty(),
            "content": { "application/json": { "schema": schema, "example": example } }
        });
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "Repeating a request with the same key gives the first answer again instead of a second effect. Kept for 48 hours, 30 days where work is started.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" }
        }));
    }
    if meta.effect == Effect::Change && meta.method == Method::PATCH || meta.effect == Effect::Delete {
        parameters.push(json!({
            "name": "If-Match", "in": "header", "required": false,
            "description": "ETag of the record as it was read; 412 if it has changed since.",
            "schema": entity_tags()
        }));
    }
    if meta.method == Method::GET && has_version(endpoint) {
        parameters.push(json!({
            "name": "If-None-Match", "in": "header", "required": false,
            "description": "ETag of the record as it was read; 304 without a body if it has not changed since.",
            "schema": entity_tags()
        }));
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation["responses"] = responses(endpoint, schemas);
    operation
}

fn describe(endpoint: &Endpoint) -> String {
    let scope = match endpoint.meta.scope {
        Scope::Any => "Needs any valid credential.".to_owned(),
        scope => format!("Needs the scope `{}` ({}).", scope.as_str(), scope.help()),
    };
    format!("{}\n\n{scope}", endpoint.description())
}

/// Whether its answer is a record with a version, which is its entity tag.
fn has_version(endpoint: &Endpoint) -> bool {
    endpoint
        .answer
        .get("properties")
        .is_some_and(|p| p.get("version").is_some())
}

/// Entity tags as the server reads them.
fn entity_tags() -> Value {
    let tag = "(W/)?\"[!#-~]*\"";
    json!({ "type": "string", "maxLength": super::arguments::LONGEST_TAGS, "pattern": format!("^(\\*|{tag}([ \\t]*,[ \\t]*{tag})*)$") })
}

fn header(name: &str) -> (String, Value) {
    (
        name.to_owned(),
        json!({ "$ref": format!("#/components/headers/{name}") }),
    )
}

fn parameter(name: &str, place: &str, required: bool, mut schema: Value) -> Value {
    let description = schema.as_object_mut().and_then(|o| o.shift_remove("description"));
    let example = schema.get("examples").and_then(|e| e.get(0)).cloned();
    let mut parameter = json!({ "name": name, "in": place, "required": required, "schema": schema });
    if let Some(description) = description {
        parameter["description"] = description;
    }
    if let Some(example) = example {
        parameter["example"] = example;
    }
    parameter
}

fn responses(endpoint: &Endpoint, schemas: &mut Map<String, Value>) -> Value {
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
        let mut answer = endpoint.answer.clone().to_value();
        lift_definitions(&mut answer, schemas);
        let name = answer["title"].as_str().unwrap_or(meta.name).to_owned();
        if answer["properties"].get("nextCursor").is_some() {
            shown.push("Link");
        } else if has_version(endpoint) {
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
    if meta.method == Method::GET && has_version(endpoint) {
        let headers: Map<String, Value> = shown
            .iter()
            .filter(|h| **h != "Retry-After")
            .map(|h| header(h))
            .collect();
        let unchanged =
            json!({ "description": "It is as it was when `If-None-Match` was read", "headers": headers });
        all.insert("304".to_owned(), unchanged);
    }
    success["headers"] = shown.into_iter().map(header).collect::<Map<_, _>>().into();
    all.insert(meta.effect.status().to_string(), success);
    for code in codes(endpoint) {
        let status = code.status().to_string();
        let reference = format!("#/components/responses/{}", code.as_str());
        match all.get_mut(&status) {
            None => {
                all.insert(status, json!({ "$ref": reference }));
            }
            // A status with several codes is written out, with an example of each.
            Some(existing) => merge(existing, code),
        }
    }
    all.into()
}

fn merge(existing: &mut Value, code: Code) {
    if let Some(reference) = existing.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        if let Some(first) = Code::parse(name) {
            *existing = problem_response(first);
        }
    }
    let examples = problem_response(code);
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
        Effect::Read => "What was asked for",
        Effect::Create => "The record that was made",
        Effect::Change => "The record as it is now",
        Effect::Start | Effect::Spend | Effect::Publish => "The work that was started, and its job",
        Effect::Delete => "It is gone",
    }
}

/// The codes an operation can answer.
fn codes(endpoint: &Endpoint) -> Vec<Code> {
    let meta = &endpoint.meta;
    let members = endpoint.input.get("properties").and_then(Value::as_object);
    let mut codes = vec![
        Code::MalformedRequest,
        Code::Unauthenticated,
        Code::InvalidToken,
        Code::TokenExpired,
    ];
    if meta.scope != Scope::Any {
        codes.push(Code::InsufficientScope);
    }
    if meta.in_project() {
        codes.push(Code::ProjectForbidden);
    }
    if meta.path_parameters().count() > 1 || meta.name == "audits.current" {
        codes.push(Code::NotFound);
    }
    if meta.method == Method::GET {
        if meta.name.ends_with(".list") || meta.name == "issues.occurrences" {
            codes.push(Code::InvalidCursor);
        }
        codes.push(Code::ValidationFailed);
    } else {
        codes.extend([
            Code::MalformedJson,
            Code::InvalidIdempotencyKey,
            Code::RequestTimeout,
            Code::PayloadTooLarge,
        ]);
        codes.extend([
            Code::UnsupportedMediaType,
            Code::ValidationFailed,
            Code::UnknownField,
            Code::IdempotencyKeyReused,
        ]);
        if members.is_some_and(|all| all.values().any(|m| m.get("maxItems").is_some())) {
            codes.push(Code::TooManyItems);
        }
        codes.push(Code::IdempotencyInProgress);
        codes.push(Code::StorageFull);
    }
    match meta.effect {
        Effect::Create => codes.push(Code::AlreadyExists),
        Effect::Change if meta.method == Method::POST => codes.push(Code::InvalidState),
        Effect::Change | Effect::Delete => codes.push(Code::PreconditionFailed),
        _ => {}
    }
    codes.extend([
        Code::UriTooLong,
        Code::HeadersTooLarge,
        Code::RateLimitExceeded,
        Code::InternalError,
    ]);
    codes.extend([Code::Overloaded, Code::StorageUnavailable, Code::HandlerTimeout]);
    codes
}

fn problem_response(code: Code) -> Value {
    let mut shown = vec!["X-Request-Id"];
    match code.status() {
        401 | 403 => shown.push("WWW-Authenticate"),
        // Kept under an Idempotency-Key, or told to wait for the one that is being carried out.
        409 => shown.extend(["Idempotency-Replayed", "Retry-After"]),
        412 | 422 => shown.push("Idempotency-Replayed"),
        429 => shown.extend([
            "Retry-After",
            "RateLimit-Limit",
            "RateLimit-Remaining",
            "RateLimit-Reset",
        ]),
        408 | 503 | 504 => shown.push("Retry-After"),
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

fn headers() -> Value {
    let text = |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    let number = |description: &str| json!({ "description": description, "schema": { "type": "integer", "minimum": 0 } });
    json!({
        "X-Request-Id": text("Identifies this request in the logs."),
        "RateLimit-Limit": number("Units of the quota closest to its end."),
        "RateLimit-Remaining": number("Units of it that are left."),
        "RateLimit-Reset": number("Seconds until it is whole again; on 429 until one unit is free."),
        "Retry-After": number("Seconds to wait."),
        "ETag": text("Strong entity tag of the record, for If-Match and If-None-Match."),
        "Link": text("`rel=\"next\"`: the next page, absent on the last."),
        "Location": text("Where the record, or the job, is."),
        "Idempotency-Replayed": text("`true` when this is the stored answer to an earlier request with the same key."),
        "WWW-Authenticate": text("What is wrong with the credential (RFC 6750); absent when another one would not help."),
    })
}

fn names(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn collect(name: &str, mut schema: Value, schemas: &mut Map<String, Value>) {
    lift_definitions(&mut schema, schemas);
    schemas.insert(name.to_owned(), schema);
}

/// Moves `$defs` to the components and turns references to them.
fn lift_definitions(schema: &mut Value, schemas: &mut Map<String, Value>) {
    if let Some(object) = schema.as_object_mut() {
        object.shift_remove("$schema");
        if let Some(Value::Object(definitions)) = object.shift_remove("$defs") {
            for (name, mut definition) in definitions {
                turn_references(&mut definition);
                schemas.insert(name, definition);
            }
        }
    }
    turn_references(schema);
}

fn turn_references(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.shift_remove(searchwright_contract::shape::NULLABLE);
            if let Some(Value::String(reference)) = object.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", "#/components/schemas/");
            }
            object.values_mut().for_each(turn_references);
        }
        Value::Array(items) => items.iter_mut().for_each(turn_references),
        _ => {}
    }
}

/// An example composed from the examples of the members.
fn example(schema: &Value, schemas: &Map<String, Value>, depth: u32) -> Value {
    if depth > 6 {
        return Value::Null;
    }
    if let Some(example) = schema
        .get("examples")
        .and_then(|e| e.get(0))
        .or_else(|| schema.get("const"))
    {
        return example.clone();
    }
    if let Some(name) = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|r| r.rsplit('/').next())
    {
        return schemas
            .get(name)
            .map_or(Value::Null, |s| example(s, schemas, depth + 1));
    }
    for several in ["oneOf", "anyOf", "enum"] {
        if let Some(first) = schema.get(several).and_then(|s| s.get(0)) {
            return if several == "enum" {
                first.clone()
            } else {
                example(first, schemas, depth + 1)
            };
        }
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) if kinds.iter().any(|k| k == "null") => "null",
        Some(Value::String(kind)) => kind.as_str(),
        _ => return Value::Null,
    };
    match kind {
        "object" => {
            let members = schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten();
            Value::Object(
                members
                    .map(|(name, member)| (name.clone(), example(member, schemas, depth + 1)))
                    .collect(),
            )
        }
        "array" => schema.get("items").map_or_else(
            || json!([]),
            |items| match example(items, schemas, depth + 1) {
                Value::Null => json!([]),
                item => json!([item]),
            },
        ),
        "string" => "text".into(),
        "integer" => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        "number" => json!(1.0),
        "boolean" => false.into(),
        _ => Value::Null,
    }
}

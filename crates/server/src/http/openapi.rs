//! The OpenAPI 3.1 document, assembled from the contract table: the schemas are the ones that are enforced.

mod links;
mod responses;
mod schemas;

use std::sync::Arc;

use axum::{body::Body, extract::State};
use http::{HeaderMap, HeaderValue, Response, header};
use searchwright_contract::{
    Effect, Meta, Method, Problem, Scope,
    events::{Event, EventType},
};
use searchwright_engine::Endpoint;
use serde_json::{Map, Value, json};

pub(crate) use self::responses::codes;
use super::kept::KeptDocument;
use crate::app::App;

/// Serves the document to anyone.
pub async fn serve(State(app): State<Arc<App>>, request: HeaderMap) -> Response<Body> {
    let kept = app.openapi.get_or_init(|| {
        let document = document(&app.engine.endpoints, &app.settings.base_url());
        KeptDocument::new(serde_json::to_vec(&document).unwrap_or_default())
    });
    let mut response = kept.answer(&request, "application/json");
    response
        .headers_mut()
        .insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// Returns the OpenAPI document of these endpoints at this base URL.
pub fn document(endpoints: &[Endpoint], base_url: &str) -> Value {
    let mut shared = Shared {
        responses: responses::common(),
        ..Shared::default()
    };
    let mut paths: Map<String, Value> = Map::new();
    schemas::collect(
        "Problem",
        schemars::schema_for!(Problem).to_value(),
        &mut shared.schemas,
    );
    schemas::collect(
        "Event",
        schemars::schema_for!(Event).to_value(),
        &mut shared.schemas,
    );
    for endpoint in endpoints {
        let mut operation = operation(endpoint, &mut shared);
        links::add(&mut operation, endpoint, endpoints);
        let item = paths.entry(endpoint.meta.path).or_insert_with(|| json!({}));
        item[endpoint.meta.method.as_str().to_lowercase()] = operation;
    }
    let tags: Vec<Value> = {
        let mut names: Vec<&str> = Vec::new();
        for name in endpoints.iter().map(|e| tag(&e.meta)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.into_iter().map(|n| json!({ "name": n })).collect()
    };
    let webhooks = webhooks(&mut shared);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Searchwright API",
            "version": "1.0.0",
            "summary": "Search-content work on one website: audits, keywords, posts, visibility.",
            "description": "Every request names its project explicitly and is authenticated by `Authorization: Bearer`. Call `GET /me` first.\n\nLists hold `data` and `nextCursor`. Errors are RFC 9457 problems whose `code` is stable. Clients must ignore unknown members of answers.\n\nTimes are read in every form of RFC 3339 and written in UTC with milliseconds. A member of a request that is `null` counts as absent, where it may be absent; in a PATCH `null` clears a member, and is refused where it cannot. A PATCH that changes nothing leaves version and `updatedAt` as they are and sends no event. Bodies may be compressed (`Content-Encoding: gzip`); limits hold for what is in them.\n\nEvery answer has `X-Request-Id`, the id of the request in the logs. Every authenticated one has `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` of the limit closest to exhaustion.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" }
        },
        "servers": [{ "url": base_url }],
        "security": [{ "bearer": [] }],
        "tags": tags,
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "An API key (`swk_…`), bound to one project, or an OAuth access token (`swa_…`), for which each call names a project." }
            },
            "schemas": shared.schemas,
            "parameters": shared.parameters,
            "headers": responses::headers(),
            "links": links::components(),
            "responses": shared.responses
        }
    })
}

/// Components of the document: what several operations have stands there once.
#[derive(Default)]
struct Shared {
    schemas: Map<String, Value>,
    parameters: Map<String, Value>,
    responses: Map<String, Value>,
}

impl Shared {
    /// Returns a reference to a parameter, which is kept under its name, with a number if others of that name are different.
    fn parameter(&mut self, parameter: Value) -> Value {
        let name = parameter["name"].as_str().unwrap_or_default();
        let mut key = name.to_owned();
        let mut number = 1;
        while self.parameters.get(&key).is_some_and(|kept| *kept != parameter) {
            number += 1;
            key = format!("{name}-{number}");
        }
        let reference = schemas::reference("parameters", &key);
        self.parameters.entry(key).or_insert(parameter);
        reference
    }
}

/// Returns the `webhooks` of the document: one entry for each kind of event.
fn webhooks(shared: &mut Shared) -> Value {
    let header = |name: &str, description: &str| json!({ "name": name, "in": "header", "required": true, "description": description, "schema": { "type": "string" } });
    let parameters = [
        header(
            "webhook-id",
            "Id of the message, the same in every attempt and replay. Receivers must process each id only once."
        ),
        header(
            "webhook-timestamp",
            "Unix time of this attempt, in seconds. Reject deliveries that are more than 5 minutes off."
        ),
        header(
            "webhook-signature",
            "Standard Webhooks 1.0.0: `v1,` and the base64 of HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` under the \
            secret; several signatures, separated by spaces, while a secret is rotated."
        ),
    ]
    .map(|header| shared.parameter(header));
    let entry = |kind: EventType, shared: &mut Shared| {
        let mut data = kind.data_schema().to_value();
        schemas::lift_definitions(&mut data, &mut shared.schemas);
        let data = match data["title"].as_str().map(str::to_owned) {
            Some(name) => {
                shared.schemas.insert(name.clone(), data);
                schemas::reference("schemas", &name)
            }
            None => data,
        };
        let body = json!({ "allOf": [
            { "$ref": "#/components/schemas/Event" },
            { "type": "object", "properties": { "type": { "const": kind.as_str() }, "data": data } }
        ] });
        let operation = json!({
            "operationId": format!("on.{}", kind.as_str()),
            "summary": format!("`{}` happened", kind.as_str()),
            "security": [],
            "parameters": parameters,
            "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
            "responses": {
                "2XX": { "description": "Received. Any other status, or no answer within 15 seconds, is retried: 10 attempts in 75.6 hours." },
                "410": { "description": "The receiver is gone: the webhook is disabled." }
            }
        });
        (kind.as_str().to_owned(), json!({ "post": operation }))
    };
    let entries = EventType::ALL.iter().map(|kind| entry(*kind, shared));
    entries.collect::<Map<String, Value>>().into()
}

fn tag(meta: &Meta) -> &'static str {
    meta.name.split('.').next().unwrap_or_default()
}

fn operation(endpoint: &Endpoint, shared: &mut Shared) -> Value {
    let meta = &endpoint.meta;
    let mut input = (endpoint.input)().to_value();
    schemas::lift_definitions(&mut input, &mut shared.schemas);
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
        "summary": summary(endpoint),
        "description": describe(endpoint),
        "security": [{ "bearer": if meta.scope.as_str().is_empty() { json!([]) } else { json!([meta.scope.as_str()]) } }],
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
        let example = schemas::example(&schema, &shared.schemas, 0);
        // The example of the whole has them.
        schemas::drop_examples(&mut schema);
        operation["requestBody"] = json!({
            "required": !body_required.is_empty(),
            "content": { "application/json": { "schema": schema, "example": example } }
        });
        if meta.effect == Effect::Import {
            operation["requestBody"]["content"]["text/csv"] = json!({
                "schema": { "description": "The file itself; the other fields take their defaults. Its encoding is that of `charset`, or is detected. The media types that browsers and spreadsheets give such a file (`text/plain`, `text/tab-separated-values`, `application/csv`, `application/vnd.ms-excel`, `application/octet-stream`, `application/zip` and others) are accepted too." }
            });
        }
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "A repeated request with the same key returns the first answer and has no second effect. Keys are kept for 48 hours, and for 30 days if a job was started.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" }
        }));
    }
    if meta.effect == Effect::Change && meta.method == Method::PATCH || meta.effect == Effect::Delete {
        parameters.push(json!({
            "name": "If-Match", "in": "header", "required": false,
            "description": "ETag of the record as it was read; 412 if it has changed since. The weak form (`W/`) that a compressing proxy makes of it counts as it does.",
            "schema": entity_tags()
        }));
    }
    if meta.method == Method::GET && has_tag(endpoint) {
        parameters.push(json!({
            "name": "If-None-Match", "in": "header", "required": false,
            "description": "ETag of the record as it was read; 304 without a body if it has not changed since.",
            "schema": entity_tags()
        }));
    }
    if !parameters.is_empty() {
        let parameters: Vec<Value> = parameters.into_iter().map(|p| shared.parameter(p)).collect();
        operation["parameters"] = parameters.into();
    }
    operation["responses"] = responses::describe(endpoint, shared);
    operation
}

fn describe(endpoint: &Endpoint) -> String {
    let scope = match endpoint.meta.scope {
        Scope::OfRecord => return endpoint.description.clone(),
        Scope::Any => "Needs any valid credential.".to_owned(),
        scope => format!("Needs the scope `{}` ({}).", scope.as_str(), scope.help()),
    };
    let more = endpoint.description.strip_prefix(summary(endpoint));
    format!("{}\n\n{scope}", more.unwrap_or_default().trim())
        .trim()
        .to_owned()
}

/// First line of the description.
fn summary(endpoint: &Endpoint) -> &str {
    endpoint.description.lines().next().unwrap_or_default()
}

/// Returns whether the answer of an endpoint has an entity tag: a GET, or a record with a version; never a list.
fn has_tag(endpoint: &Endpoint) -> bool {
    let has_version = || {
        let answer = (endpoint.answer)();
        answer
            .get("properties")
            .is_some_and(|p| p.get("version").is_some())
    };
    !endpoint.list && (endpoint.meta.method == Method::GET || has_version())
}

/// Entity tags as the server reads them.
fn entity_tags() -> Value {
    let tag = "(W/)?\"[!#-~]*\"";
    json!({ "type": "string", "maxLength": super::arguments::MAX_TAGS, "pattern": format!("^(\\*|{tag}([ \\t]*,[ \\t]*{tag})*)$") })
}

fn parameter(name: &str, place: &str, required: bool, mut schema: Value) -> Value {
    let description = schema.as_object_mut().and_then(|o| o.shift_remove("description"));
    let example = schema
        .as_object_mut()
        .and_then(|schema| schema.shift_remove("examples"));
    let example = example.as_ref().and_then(|examples| examples.get(0)).cloned();
    let mut parameter = json!({ "name": name, "in": place, "required": required, "schema": schema });
    if let Some(description) = description {
        parameter["description"] = description;
    }
    if let Some(example) = example {
        parameter["example"] = example;
    }
    parameter
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

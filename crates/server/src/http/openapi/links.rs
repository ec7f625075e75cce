//! Links of the document: from what was created or started to the operations that read and delete it.

use searchwright_contract::{Effect, Method};
use searchwright_engine::Endpoint;
use serde_json::{Map, Value, json};

use super::schemas::reference;

/// Name of the link to the job that was started.
const JOB: &str = "job";

/// Returns the links that several operations have.
pub(super) fn components() -> Value {
    json!({ JOB: {
        "operationId": "jobs.get",
        "parameters": { "projectId": "$request.path.projectId", "jobId": "$response.body#/job/id" }
    } })
}

/// Adds to an operation the links of what it answers when it succeeds.
pub(super) fn add(operation: &mut Value, endpoint: &Endpoint, endpoints: &[Endpoint]) {
    let meta = &endpoint.meta;
    let answer = (endpoint.answer)();
    let has = |name: &str| {
        answer
            .get("properties")
            .is_some_and(|members| members.get(name).is_some())
    };
    let mut links = Map::new();
    if meta.effect.runs() && has("job") {
        links.insert(JOB.to_owned(), reference("links", JOB));
    }
    let id = if has("id") {
        Some("$response.body#/id")
    } else {
        has("data").then_some("$response.body#/data/0/item/id")
    };
    if let Some(id) = id.filter(|_| meta.effect == Effect::Create) {
        for other in endpoints {
            let rest = other.meta.path.strip_prefix(meta.path);
            let key = rest.and_then(|rest| rest.strip_prefix("/{")?.strip_suffix('}'));
            let Some(key) = key.filter(|key| !key.contains('/')) else {
                continue;
            };
            let name = match other.meta.method {
                Method::GET => "get",
                Method::DELETE => "delete",
                _ => continue,
            };
            let mut parameters = Map::new();
            for parameter in meta.path_parameters() {
                parameters.insert(parameter.to_owned(), format!("$request.path.{parameter}").into());
            }
            parameters.insert(key.to_owned(), id.into());
            links.insert(
                name.to_owned(),
                json!({ "operationId": other.meta.name, "parameters": parameters }),
            );
        }
    }
    let status = meta.effect.status().to_string();
    if !links.is_empty()
        && let Some(answer) = operation["responses"].get_mut(status)
    {
        answer["links"] = links.into();
    }
}

//! Calls of tools: an operation of the table, by the name of its tool or by way of those that call others.

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResult, ContentBlock},
    service::RequestContext,
};
use searchwright_contract::Problem;
use searchwright_engine::{Credential, Endpoint, Failure, Invocation};
use serde_json::{Map, Value, json};

use super::{
    Tools,
    catalogue::{Action, Entry, names_project},
    clean, credential_of, extension,
    finder::{ByName, Wanted},
};
use crate::{
    app::App,
    http::{operations, outgoing::Places, panics::caught},
    mcp::AnswerParts,
};
use std::sync::Arc;

/// Characters of the name of an unknown tool that its refusal repeats.
const MAX_NAME: usize = 100;
/// Bytes that found tools take.
const FOUND_BYTES: usize = 12_000;

impl Tools {
    /// Calls a tool.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let credential = credential_of(context)?.clone();
        let arguments = request.arguments.unwrap_or_default();
        let Some(entry) = self.entry(&request.name) else {
            return Err(ErrorData::invalid_params(unknown(&request.name), None));
        };
        let done = match entry.action {
            Action::Operation(at) => self.operate(at, arguments, credential, context).await,
            Action::Find => self.find_tools(&arguments, &credential).map_err(Failure::from),
            Action::Read | Action::Change => self.call_by_name(entry, arguments, credential, context).await,
        };
        Ok(done.unwrap_or_else(|failure| refused(&self.app, *failure.0)))
    }

    async fn call_by_name(
        &self,
        by: &Entry,
        arguments: Map<String, Value>,
        credential: Credential,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let called = ByName::read(arguments)?;
        let none = || Problem::fault("/name", "unknown", unknown(&called.name));
        let entry = self.entry(&called.name).ok_or_else(none)?;
        match entry.action {
            Action::Operation(at) => {
                let writes = self.app.engine.endpoints[at].meta.effect.writes();
                if writes && by.action == Action::Read {
                    let detail = format!("{} changes something; call it with tools_change", called.name);
                    return Err(Problem::fault("/name", "not_allowed", detail).into());
                }
                self.operate(at, called.arguments, credential, context).await
            }
            Action::Find => Ok(self.find_tools(&called.arguments, &credential)?),
            Action::Read | Action::Change => {
                let detail = "is the name of another tool than those that call one";
                Err(Problem::fault("/name", "not_allowed", detail).into())
            }
        }
    }

    fn find_tools(
        &self,
        arguments: &Map<String, Value>,
        credential: &Credential,
    ) -> Result<CallToolResult, Problem> {
        let wanted = Wanted::read(arguments)?;
        let endpoints = &self.app.engine.endpoints;
        let names_project = names_project(credential);
        let entries: Vec<&Entry> = self
            .all()
            .iter()
            .filter(|entry| {
                matches!(entry.action, Action::Operation(_)) && entry.is_useful_to(credential, endpoints)
            })
            .collect();
        let takes = |entry: &Entry| {
            let tool = entry.form(names_project);
            let writes = entry
                .endpoint(endpoints)
                .is_some_and(|endpoint| endpoint.meta.effect.writes());
            json!({ "name": tool.name, "description": tool.description, "readOnly": !writes, "inputSchema": tool.input_schema })
        };
        let operation = |entry: &Entry| entry.endpoint(endpoints).map(|endpoint| endpoint.meta.name);
        Ok(CallToolResult::structured(wanted.answer(
            &entries,
            operation,
            takes,
            FOUND_BYTES,
        )))
    }

    /// Carries out an operation.
    async fn operate(
        &self,
        at: usize,
        mut arguments: Map<String, Value>,
        credential: Credential,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let endpoint = &self.app.engine.endpoints[at];
        let needs_project = endpoint.meta.in_project() && !arguments.contains_key("projectId");
        let places = self.enter(&credential, context).await;
        let runs = endpoint.meta.effect.runs();
        let limited = operations::limit(&self.app, runs, &credential)
            .await
            .map_err(|refusal| refusal.failure);
        let _places = limited.and(places)?;
        if needs_project {
            let project = self.only_project(&credential).await?;
            arguments.insert("projectId".to_owned(), project);
        }
        let body = self.invoke(endpoint, arguments, credential).await?;
        if body.is_empty() {
            return Ok(CallToolResult::structured(json!({ "done": true })));
        }
        let mut value: Value = serde_json::from_slice(&body).unwrap_or_default();
        clean(&mut value);
        Ok(CallToolResult::structured(value))
    }

    /// Returns the id of the project of a key, or of the only one that is open to a token.
    async fn only_project(&self, credential: &Credential) -> Result<Value, Failure> {
        if let Credential::Key(key) = credential {
            return Ok(key.project.project.id.into());
        }
        let me = self.app.engine.endpoints.iter().find(|e| e.meta.path == "/me");
        let me = me.ok_or_else(|| Problem::not_found("credential"))?;
        let me: Value = serde_json::from_slice(&self.invoke(me, Map::new(), credential.clone()).await?)
            .unwrap_or_default();
        match me["projects"].as_array().map(Vec::as_slice) {
            Some([project]) => Ok(project["id"].clone()),
            _ => {
                Err(Problem::fault("/projectId", "required", "says which project; me_get lists them").into())
            }
        }
    }

    async fn invoke(
        &self,
        endpoint: &Endpoint,
        arguments: Map<String, Value>,
        credential: Credential,
    ) -> Result<Vec<u8>, Failure> {
        let invocation = Invocation {
            credential,
            arguments: Value::Object(arguments),
            if_match: None,
            idempotency_key: None,
        };
        let reply = caught(operations::invoke(&self.app, endpoint, invocation)).await?;
        Ok(reply.body)
    }

    /// Takes the places of a request, which are held until its answer is written.
    async fn enter(
        &self,
        credential: &Credential,
        context: &RequestContext<RoleServer>,
    ) -> Result<Places, Failure> {
        let place = operations::enter(&self.app).await?;
        let places = Places::new(place, operations::enter_as(&self.app, credential).await?);
        if let Some(answer_parts) = extension::<Arc<AnswerParts>>(context) {
            let _ = answer_parts.places.set(places.clone());
        }
        Ok(places)
    }
}

/// Says that a tool is unknown.
fn unknown(name: &str) -> String {
    let name: String = name.chars().take(MAX_NAME).collect();
    format!("there is no tool {name:?}; tools_find lists them")
}

/// A refusal is a result that the model reads, not a protocol error that its client swallows.
fn refused(app: &App, mut problem: Problem) -> CallToolResult {
    problem.request_id = app.request_id();
    let text = serde_json::to_string(&problem).unwrap_or_default();
    CallToolResult::error(vec![ContentBlock::text(text)])
}

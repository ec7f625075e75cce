//! Calls of tools: an operation of the table, by the name of its tool or by way of those that call others.

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, MetaObject,
    },
    service::RequestContext,
};
use searchwright_contract::{Code, Problem, list::DEFAULT_LIMIT};
use searchwright_engine::{Endpoint, Failure};
use serde_json::{Map, Value, json};

use super::{
    budget::Budget,
    cards,
    catalogue::{Action, Entry, names_project},
    consent::{self, Returned, Stop},
    finder::{ByName, Wanted},
    lists::Insertion,
    resources,
    shaping::{self, Members, Shaped, Source, Untrusted, Written},
    tools::{Caller, Tools},
    untrusted,
};
use crate::app::App;

/// Characters of the name of an unknown tool that its refusal repeats.
const MAX_NAME: usize = 100;
/// Bytes below which a result is not made smaller.
const LEAST_ROOM: usize = 400;
/// Most characters of a refusal.
const MAX_REFUSAL: usize = 2_000;
/// Member of a problem that holds the words of a provider.
const PROVIDER_SAID: &str = "providerMessage";

impl Tools {
    /// Calls a tool.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let mut caller = Caller::from_context(context)?;
        if caller.asks || request.request_state.is_some() {
            caller.call = consent::call_digest(&request.name, &arguments);
        }
        if let Some(state) = &request.request_state {
            let responses = request.input_responses.as_ref();
            match self.returned(state, responses, &caller.credential, &caller.call) {
                Returned::Accepted(pledge) => caller.pledge = Some(pledge),
                Returned::Declined(why) => {
                    let declined = Problem::new(Code::ConfirmationRequired, why);
                    return Ok(refused(&self.app, declined).into());
                }
                Returned::Invalid => {
                    let detail = "requestState is not one of this call, is too old, or was used; call again without it";
                    return Err(ErrorData::invalid_params(detail, None));
                }
            }
        }
        let Some(entry) = self.entry(&request.name) else {
            return Err(ErrorData::invalid_params(unknown(&request.name), None));
        };
        let done = match entry.action {
            Action::Read | Action::Change => self.call_by_name(entry, arguments, &caller).await,
            _ => self.act(entry, arguments, &caller).await,
        };
        match done {
            Ok(Written(written)) => {
                // it takes the place of this one where the protocol has written the rest
                let _ = caller.parts.insertion.set(Insertion::Content(written.into()));
                Ok(CallToolResult::success(Vec::new()).into())
            }
            Err(Stop::Asked(asked)) => Ok((*asked).into()),
            Err(Stop::Started(task)) => Ok(CreateTaskResult::new(*task).into()),
            Err(Stop::Failed(failure)) => {
                let mut problem = *failure.0;
                let card = problem.extra.remove(consent::CARD);
                let mut refusal = refused(&self.app, problem);
                let meta = |card| MetaObject(Map::from_iter([(cards::FACTS.to_owned(), card)]));
                refusal.meta = card.filter(|_| caller.shows_cards).map(meta);
                Ok(refusal.into())
            }
        }
    }

    async fn act(
        &self,
        entry: &Entry,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Written, Stop> {
        Ok(match entry.action {
            Action::Operation(at) => self.operate(entry, at, arguments, caller).await?,
            Action::Find => self.find_tools(arguments, caller)?,
            Action::Search => {
                let _places = self.take_places(false, caller).await?;
                self.search(arguments, caller).await?
            }
            Action::Fetch => self.fetch(arguments, caller).await?,
            Action::Read | Action::Change => {
                let detail = "is the name of another tool than those that call one";
                return Err(Problem::fault("/name", "not_allowed", detail).into());
            }
        })
    }

    async fn call_by_name(
        &self,
        by: &Entry,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Written, Stop> {
        let called = ByName::read(arguments)?;
        let none = || Problem::fault("/name", "unknown", unknown(&called.name));
        let entry = self.entry(&called.name).ok_or_else(none)?;
        let writes = entry
            .endpoint(&self.app.engine.endpoints)
            .is_some_and(|endpoint| endpoint.meta.effect.writes());
        if writes && by.action == Action::Read {
            let detail = format!("{} changes something; call it with tools_change", called.name);
            return Err(Problem::fault("/name", "not_allowed", detail).into());
        }
        self.act(entry, called.arguments, caller).await
    }

    fn find_tools(&self, mut arguments: Map<String, Value>, caller: &Caller) -> Result<Written, Problem> {
        let budget = Budget::take(&mut arguments)?;
        let wanted = Wanted::read(&arguments)?;
        let endpoints = &self.app.engine.endpoints;
        let names_project = names_project(&caller.credential);
        let is_shown = |entry: &&Entry| {
            matches!(entry.action, Action::Operation(_)) && entry.is_useful_to(&caller.credential, endpoints)
        };
        let entries: Vec<&Entry> = self.all().iter().filter(is_shown).collect();
        let takes = |entry: &Entry| {
            let tool = entry.form(names_project);
            let writes = entry
                .endpoint(endpoints)
                .is_some_and(|endpoint| endpoint.meta.effect.writes());
            json!({ "name": tool.name, "description": tool.description, "readOnly": !writes, "inputSchema": tool.input_schema })
        };
        let operation = |entry: &Entry| entry.endpoint(endpoints).map(|endpoint| endpoint.meta.name);
        let mut room = budget.room();
        loop {
            let written = Shaped::from(wanted.answer(&entries, operation, takes, room)).write();
            if written.fits(budget.room()) || room < LEAST_ROOM {
                return Ok(written);
            }
            room /= 2;
        }
    }

    /// Carries out an operation.
    async fn operate(
        &self,
        entry: &Entry,
        at: usize,
        mut arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Written, Stop> {
        let endpoint = &self.app.engine.endpoints[at];
        let _places = self.enter(endpoint.meta.effect, caller).await?;
        let budget = Budget::take(&mut arguments)?;
        let all = entry.columns(endpoint);
        let chosen = budget.columns(all)?;
        if endpoint.meta.in_project() && !arguments.contains_key("projectId") {
            let project = self.only_project(caller).await?;
            arguments.insert("projectId".to_owned(), project);
        }
        let nonce = self.consented(endpoint, &arguments, caller).await?;
        let done = self
            .invoke_as(endpoint, arguments.clone(), caller, nonce, nonce.is_some())
            .await;
        let value = match done {
            Ok(Some(value)) => value,
            Ok(None) => return Ok(Shaped::from(json!({ "done": true })).write()),
            Err(failure) if failure.0.code == Code::AgentAutonomyRequired => {
                return Err(self
                    .without_autonomy(endpoint, &arguments, caller, *failure.0)
                    .await);
            }
            Err(failure) => return Err(failure.into()),
        };
        if let Some(task) = self.started(endpoint, &value, caller) {
            return Err(Stop::Started(Box::new(task)));
        }
        let form = AnswerForm {
            members: Members {
                all,
                chosen: chosen.as_ref(),
            },
            untrusted: untrusted::members(endpoint.meta.name),
            source: resources::source(&self.app.engine.endpoints, endpoint, &arguments),
        };
        let room = budget.room();
        if endpoint.list {
            return Ok(self.page(endpoint, arguments, value, &form, room, caller).await?);
        }
        Ok(self.record(entry, arguments, value, &form, room, caller).await?)
    }

    /// Gives a page of a list its form. One that is too large is read again with fewer records, so that its cursor goes on after the
    /// last one that is shown.
    async fn page(
        &self,
        endpoint: &Endpoint,
        mut arguments: Map<String, Value>,
        mut page: Value,
        form: &AnswerForm<'_>,
        room: usize,
        caller: &Caller,
    ) -> Result<Written, Failure> {
        let records = |page: &Value| page["data"].as_array().map_or(0, Vec::len);
        loop {
            let mut most = records(&page);
            let mut written = form.list(&page, most);
            if written.fits(room) {
                return Ok(written);
            }
            if most <= 1 {
                return Ok(form.one_of_list(&page, room));
            }
            while most > 1 && !written.fits(room) {
                most = (most * room / written.0.len()).clamp(1, most - 1);
                written = form.list(&page, most);
            }
            arguments.insert("limit".to_owned(), most.into());
            page = self
                .invoke(endpoint, arguments.clone(), caller)
                .await?
                .unwrap_or_default();
        }
    }

    /// Gives a record its form. One that has a list in it with a cursor is read again with a shorter one if it is too large.
    async fn record(
        &self,
        entry: &Entry,
        mut arguments: Map<String, Value>,
        mut value: Value,
        form: &AnswerForm<'_>,
        room: usize,
        caller: &Caller,
    ) -> Result<Written, Failure> {
        let endpoint = entry.endpoint(&self.app.engine.endpoints);
        let has_list = |endpoint: &&Endpoint| !endpoint.meta.effect.writes() && entry.takes("limit");
        let mut limit = u64::from(DEFAULT_LIMIT);
        limit = arguments.get("limit").and_then(Value::as_u64).unwrap_or(limit);
        loop {
            let written = form.whole_record(&value);
            if written.fits(room) {
                return Ok(written);
            }
            let Some(endpoint) = endpoint.filter(has_list).filter(|_| limit > 1) else {
                return Ok(form.small_record(&value, room));
            };
            limit /= 2;
            arguments.insert("limit".to_owned(), limit.into());
            value = self
                .invoke(endpoint, arguments.clone(), caller)
                .await?
                .unwrap_or_default();
        }
    }
}

/// Form of the answers of a call.
struct AnswerForm<'a> {
    members: Members<'a>,
    untrusted: Untrusted,
    source: Source,
}

impl AnswerForm<'_> {
    fn list(&self, page: &Value, most: usize) -> Written {
        let Members { all, chosen } = self.members;
        let Some(columns) = chosen.or(all) else {
            return self.whole_record(page);
        };
        shaping::list(
            page,
            columns,
            chosen.is_some(),
            self.untrusted,
            &self.source,
            most,
        )
    }

    fn one_of_list(&self, page: &Value, room: usize) -> Written {
        let Some(columns) = self.members.chosen.or(self.members.all) else {
            return self.small_record(page, room);
        };
        shaping::one_of_list(page, columns, self.untrusted, &self.source, room)
    }

    fn whole_record(&self, value: &Value) -> Written {
        shaping::whole_record(value, self.members, self.untrusted, &self.source)
    }

    fn small_record(&self, value: &Value, room: usize) -> Written {
        shaping::small_record(value, self.members, self.untrusted, &self.source, room)
    }
}

/// Says that a tool is unknown.
fn unknown(name: &str) -> String {
    let name: String = shaping::visible(name).chars().take(MAX_NAME).collect();
    format!("there is no tool {name:?}; tools_find lists them")
}

/// A refusal is a result that the model reads, not a protocol error that its client swallows.
pub(super) fn refused(app: &App, mut problem: Problem) -> CallToolResult {
    problem.request_id = app.request_id();
    // a refusal speaks for the server; what a provider said is at its integration or job, where it is named as text of others
    problem.extra.remove(PROVIDER_SAID);
    let mut value = serde_json::to_value(&problem).unwrap_or_default();
    // a result has no headers
    if let Some(seconds) = problem.retry_after {
        value["retryAfterSeconds"] = seconds.into();
    }
    let mut text = value.to_string();
    while text.chars().count() > MAX_REFUSAL {
        let errors = value["errors"].as_array_mut();
        match errors.filter(|errors| errors.len() > 1) {
            Some(errors) => {
                errors.truncate(errors.len() / 2);
                value["moreErrors"] = true.into();
            }
            None => shorten(&mut value, text.len()),
        }
        text = value.to_string();
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// Halves the longest text of a refusal, and drops what is left of it in other forms if no text is long.
fn shorten(value: &mut Value, size: usize) {
    const SHORT: usize = 40;
    match value {
        Value::Object(members) => {
            let longest = members.iter().max_by_key(|(_, member)| member.to_string().len());
            let Some(name) = longest.map(|(name, _)| name.clone()) else {
                return;
            };
            match members.get_mut(&name) {
                Some(member) if size > SHORT && !member.is_number() && !member.is_boolean() => {
                    shorten(member, size / 2)
                }
                _ => drop(members.shift_remove(&name)),
            }
        }
        Value::Array(items) => {
            items.truncate(items.len() / 2);
        }
        Value::String(text) => {
            let half = text.chars().count() / 2;
            *text = text.chars().take(half).chain("…".chars()).collect();
        }
        other => *other = Value::Null,
    }
}

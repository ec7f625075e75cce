//! Calls of tools: an operation of the table, by the name of its tool or by way of those that call others.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResult, ContentBlock},
    service::RequestContext,
};
use searchwright_contract::{Problem, list::DEFAULT_LIMIT};
use searchwright_engine::{Credential, Endpoint, Failure, Invocation};
use serde_json::{Map, Value, json};

use super::{
    AnswerParts, Tools,
    budget::Budget,
    catalogue::{Action, Entry, names_project},
    credential_of, extension,
    finder::{ByName, Wanted},
    lists::Insertion,
    resources::{self, Address, Part},
    shaping::{self, Members, Shaped, Source, Untrusted, Written},
    untrusted,
};
use crate::{
    app::App,
    http::{operations, outgoing::Places, panics::caught},
};

/// Characters of the name of an unknown tool that its refusal repeats.
const MAX_NAME: usize = 100;
/// Bytes below which a result is not made smaller.
const LEAST_ROOM: usize = 400;
/// Bytes of what was fetched beside its text, and times that its address is written.
const FETCHED: usize = 600;
const LINKS: usize = 6;
/// Records of a page of a list in which one is looked for, and pages.
const MAX_LIMIT: u64 = 100;
const MAX_PAGES: usize = 10;
/// Most characters of a refusal.
const MAX_REFUSAL: usize = 2_000;

impl Tools {
    /// Calls a tool.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let caller = Caller::of(context)?;
        let arguments = request.arguments.unwrap_or_default();
        let Some(entry) = self.entry(&request.name) else {
            return Err(ErrorData::invalid_params(unknown(&request.name), None));
        };
        let done = match entry.action {
            Action::Operation(at) => self.operate(entry, at, arguments, &caller).await,
            Action::Find => self.find_tools(arguments, &caller).map_err(Failure::from),
            Action::Read | Action::Change => self.call_by_name(entry, arguments, &caller).await,
            Action::Fetch => self.fetch(arguments, &caller).await,
        };
        match done {
            Ok(Written(written)) => {
                // it takes the place of this one where the protocol has written the rest
                let _ = caller.parts.insertion.set(Insertion::Content(written.into()));
                Ok(CallToolResult::success(Vec::new()))
            }
            Err(failure) => Ok(refused(&self.app, *failure.0)),
        }
    }

    async fn call_by_name(
        &self,
        by: &Entry,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Written, Failure> {
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
                self.operate(entry, at, called.arguments, caller).await
            }
            Action::Find => Ok(self.find_tools(called.arguments, caller)?),
            Action::Fetch => self.fetch(called.arguments, caller).await,
            Action::Read | Action::Change => {
                let detail = "is the name of another tool than those that call one";
                Err(Problem::fault("/name", "not_allowed", detail).into())
            }
        }
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
    ) -> Result<Written, Failure> {
        let endpoint = &self.app.engine.endpoints[at];
        let _places = self.enter(endpoint.meta.effect.runs(), caller).await?;
        let budget = Budget::take(&mut arguments)?;
        let all = entry.columns(endpoint);
        let chosen = budget.columns(all)?;
        if endpoint.meta.in_project() && !arguments.contains_key("projectId") {
            let project = self.only_project(caller).await?;
            arguments.insert("projectId".to_owned(), project);
        }
        let Some(value) = self.invoke(endpoint, arguments.clone(), caller).await? else {
            return Ok(Shaped::from(json!({ "done": true })).write());
        };
        let form = Form {
            members: Members {
                all,
                chosen: chosen.as_ref(),
            },
            untrusted: untrusted::members(endpoint.meta.name),
            source: resources::source(&self.app.engine.endpoints, endpoint, &arguments),
        };
        if endpoint.list {
            return self
                .page(endpoint, arguments, value, &form, budget.room(), caller)
                .await;
        }
        self.record(entry, arguments, value, &form, budget.room(), caller)
            .await
    }

    /// Gives a page of a list its form. One that is too large is read again with fewer records, so that its cursor goes on after the
    /// last one that is shown.
    async fn page(
        &self,
        endpoint: &Endpoint,
        mut arguments: Map<String, Value>,
        mut page: Value,
        form: &Form<'_>,
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
        form: &Form<'_>,
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

    /// Reads a part of a long text.
    async fn fetch(&self, mut arguments: Map<String, Value>, caller: &Caller) -> Result<Written, Failure> {
        let budget = Budget::take(&mut arguments)?;
        let Some(Value::String(id)) = arguments.remove("id") else {
            return Err(Problem::fault("/id", "required", "is the address of a text").into());
        };
        let beside = FETCHED + LINKS * id.len();
        let part = self
            .read_text(&id, budget.room().saturating_sub(beside), caller)
            .await?;
        let mut found = json!({ "id": id, "title": "text", "text": part.text, "url": id, "untrusted": ["text"],
            "metadata": { "from": part.from, "to": part.to, "of": part.of } });
        if let Some(next) = part.next {
            found["metadata"]["next"] = next.into();
        }
        Ok(Shaped::from(found).write())
    }

    /// Reads the part of a long text that fits into so many bytes.
    pub(super) async fn read_text(&self, uri: &str, room: usize, caller: &Caller) -> Result<Part, Failure> {
        let none = || Problem::not_found("text");
        let address = Address::read(&self.app.engine.endpoints, uri).ok_or_else(none)?;
        let _places = self.enter(false, caller).await?;
        let mut arguments = address.arguments.clone();
        let Some(key) = &address.key else {
            let record = self
                .invoke(address.endpoint, arguments, caller)
                .await?
                .unwrap_or_default();
            return Ok(address.part(&record, room).ok_or_else(none)?);
        };
        arguments.insert("limit".to_owned(), MAX_LIMIT.into());
        for _ in 0..MAX_PAGES {
            let page = self
                .invoke(address.endpoint, arguments.clone(), caller)
                .await?
                .unwrap_or_default();
            let mut records = page["data"].as_array().into_iter().flatten();
            if let Some(record) = records.find(|record| is_key_of(record, key)) {
                return Ok(address.part(record, room).ok_or_else(none)?);
            }
            match &page["nextCursor"] {
                Value::String(cursor) => arguments.insert("cursor".to_owned(), cursor.as_str().into()),
                _ => break,
            };
        }
        Err(none().into())
    }

    /// Returns the id of the project of a key, or of the only one that is open to a token.
    async fn only_project(&self, caller: &Caller) -> Result<Value, Failure> {
        if let Credential::Key(key) = &caller.credential {
            return Ok(key.project.project.id.into());
        }
        let me = self.app.engine.endpoints.iter().find(|e| e.meta.path == "/me");
        let me = me.ok_or_else(|| Problem::not_found("credential"))?;
        let me = self.invoke(me, Map::new(), caller).await?.unwrap_or_default();
        match me["projects"].as_array().map(Vec::as_slice) {
            Some([project]) => Ok(project["id"].clone()),
            _ => {
                Err(Problem::fault("/projectId", "required", "says which project; me_get lists them").into())
            }
        }
    }

    /// Calls an endpoint; `None` is an answer without a body.
    async fn invoke(
        &self,
        endpoint: &Endpoint,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Option<Value>, Failure> {
        let invocation = Invocation {
            credential: caller.credential.clone(),
            arguments: Value::Object(arguments),
            if_match: None,
            idempotency_key: None,
            consented: false,
        };
        let reply = caught(operations::invoke(&self.app, endpoint, invocation)).await?;
        Ok(match reply.body.as_slice() {
            [] => None,
            body => Some(serde_json::from_slice(body).unwrap_or_default()),
        })
    }

    /// Takes the places of a request, which are held until its answer is written, and a unit of its quotas.
    async fn enter(&self, runs: bool, caller: &Caller) -> Result<Places, Failure> {
        let place = operations::enter(&self.app).await;
        let places = match place {
            Ok(place) => {
                let own = operations::enter_as(&self.app, &caller.credential).await;
                own.map(|own| Places::new(place, own))
            }
            Err(busy) => Err(busy),
        };
        if let Ok(places) = &places {
            let _ = caller.parts.places.set(places.clone());
        }
        operations::limit(&self.app, runs, &caller.credential)
            .await
            .map_err(|refusal| refusal.failure)?;
        places
    }
}

/// Who calls, and where the answer goes.
pub(super) struct Caller {
    pub(super) credential: Credential,
    parts: Arc<AnswerParts>,
}

impl Caller {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Result<Self, ErrorData> {
        let none = || ErrorData::internal_error("the request carries no place for its answer", None);
        Ok(Self {
            credential: credential_of(context)?.clone(),
            parts: extension::<Arc<AnswerParts>>(context).ok_or_else(none)?.clone(),
        })
    }
}

/// Form of the answers of a call.
struct Form<'a> {
    members: Members<'a>,
    untrusted: Untrusted,
    source: Source,
}

impl Form<'_> {
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

/// Returns whether a record of a list has this key.
fn is_key_of(record: &Value, key: &str) -> bool {
    shaping::KEYS.iter().any(|name| match &record[*name] {
        Value::String(id) => id == key,
        Value::Number(number) => number.to_string() == key,
        _ => false,
    })
}

/// Says that a tool is unknown.
fn unknown(name: &str) -> String {
    let name: String = shaping::visible(name).chars().take(MAX_NAME).collect();
    format!("there is no tool {name:?}; tools_find lists them")
}

/// A refusal is a result that the model reads, not a protocol error that its client swallows.
fn refused(app: &App, mut problem: Problem) -> CallToolResult {
    problem.request_id = app.request_id();
    let mut value = serde_json::to_value(&problem).unwrap_or_default();
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

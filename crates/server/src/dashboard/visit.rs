//! A person at a page of a project: who they are, what their role permits, and the operations that the page calls.
//!
//! Pages call the operations of the table, like every other door, so that checks, quotas and the activity log are the same.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{FromRequest, FromRequestParts, RawPathParams},
    response::IntoResponse,
};
use http::{Request, Response, StatusCode, request::Parts};
use searchwright_contract::{
    Code, Instant, Operation, Problem, Scope,
    people::Role,
    projects::{GetProjectById, Project},
};
use searchwright_engine::{
    Credential, Failure, Invocation,
    autopilot::{from_local, local_clock, local_day, local_minute},
    failure::defect,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

pub(crate) use super::links::{FilterLink, Paging, SortColumn, Sorting};
use super::{
    flash,
    frame::{ProjectFrame, Section},
    page::{self, Layout},
    session::{self, FormData, Visitor},
    show,
};
use crate::{
    app::App,
    http::{concurrency::Turn, memory::Sender, operations, outgoing::ChangedNothing},
};
use searchwright_contract::ids::{CredentialId, UserId};
use searchwright_people::{Caller, sessions::RecentSession};
use searchwright_store::sessions::Session;

/// A page that cannot be shown, as its answer.
#[derive(Debug)]
pub(crate) struct PageError(Box<Response<Body>>);

/// Answer of a page.
pub(crate) type PageResult = Result<Response<Body>, PageError>;

impl IntoResponse for PageError {
    fn into_response(self) -> Response<Body> {
        *self.0
    }
}

impl From<Box<Response<Body>>> for PageError {
    fn from(response: Box<Response<Body>>) -> Self {
        Self(response)
    }
}

impl From<Failure> for PageError {
    fn from(failure: Failure) -> Self {
        let is_hidden = matches!(failure.0.code, Code::ProjectForbidden | Code::NotFound);
        Self(Box::new(if is_hidden {
            not_found()
        } else {
            page::failed(&failure)
        }))
    }
}

/// Answers that there is no such page: whether it exists for somebody else is not told.
pub(crate) fn not_found() -> Response<Body> {
    page::notice(
        StatusCode::NOT_FOUND,
        "Not found",
        "There is no such page, or your account has no access to it.",
    )
}

/// A person who is signed in, at a page that belongs to no project.
pub(crate) struct Guest {
    /// The service.
    pub app: Arc<App>,
    /// The person.
    pub visitor: Visitor,
    credential: Credential,
    /// Place among the requests of the session, given back at the end of the page.
    _turn: Turn<CredentialId>,
}

impl Guest {
    async fn new(app: Arc<App>, visitor: Visitor) -> Result<Self, PageError> {
        let credential = Credential::Session(Arc::new(visitor.session.clone()));
        operations::limit(&app, false, &credential)
            .await
            .map_err(|refusal| refusal.failure)?;
        let turn = operations::enter_as(&app, &credential).await?;
        Ok(Self {
            app,
            visitor,
            credential,
            _turn: turn,
        })
    }

    /// Calls an operation that reads.
    pub async fn read<O: Operation>(&self, operation: &O) -> Result<O::Answer, Failure> {
        self.call(operation, None, None).await
    }

    /// Calls the operation of this name, which reads, and returns its answer as JSON.
    pub async fn read_json(&self, operation: &str, arguments: Value) -> Result<Value, Failure> {
        let terms = CallTerms::default();
        call_json(&self.app, &self.credential, operation, arguments, terms).await
    }

    /// Whether the person is still signed in, by a look at the session: an answer may outlast it.
    pub async fn is_signed_in(&self) -> bool {
        let found = self.app.people.session(&self.visitor.token).await;
        matches!(found, Ok(Some(_)))
    }

    /// The one for whom the memory of answers is held.
    pub fn sender(&self) -> Sender {
        Sender::Credential(self.credential.owner())
    }

    async fn call<O: Operation>(
        &self,
        operation: &O,
        idempotency_key: Option<String>,
        if_match: Option<Vec<String>>,
    ) -> Result<O::Answer, Failure> {
        let terms = CallTerms {
            idempotency_key,
            if_match,
        };
        call_as(&self.app, &self.credential, operation, terms).await
    }
}

/// Terms under which an operation is carried out.
#[derive(Default)]
pub(super) struct CallTerms {
    idempotency_key: Option<String>,
    if_match: Option<Vec<String>>,
}

/// Calls an operation of the table with a credential.
pub(super) async fn call_as<O: Operation>(
    app: &Arc<App>,
    credential: &Credential,
    operation: &O,
    terms: CallTerms,
) -> Result<O::Answer, Failure> {
    let arguments = serde_json::to_value(operation).map_err(|e| defect("page", e))?;
    call_json(app, credential, O::META.name, arguments, terms).await
}

async fn call_json<A: DeserializeOwned>(
    app: &Arc<App>,
    credential: &Credential,
    operation: &str,
    arguments: Value,
    terms: CallTerms,
) -> Result<A, Failure> {
    let mut endpoints = app.engine.endpoints.iter();
    let endpoint = endpoints
        .find(|endpoint| endpoint.meta.name == operation)
        .ok_or_else(|| defect("page", "the operation is not in the table"))?;
    // The page itself took a unit of the others.
    if endpoint.meta.effect.runs() {
        operations::limit(app, true, credential)
            .await
            .map_err(|refusal| refusal.failure)?;
    }
    let invocation = Invocation {
        credential: credential.clone(),
        arguments,
        if_match: terms.if_match,
        idempotency_key: terms.idempotency_key,
        consented: false,
    };
    let reply = operations::invoke(app, endpoint, invocation).await?;
    // A refusal that is replayed comes as the answer that it was.
    if reply.status >= 400 {
        let problem: Problem = serde_json::from_slice(&reply.body).map_err(|e| defect("page", e))?;
        return Err(problem.into());
    }
    let body: &[u8] = if reply.body.is_empty() {
        b"null"
    } else {
        &reply.body
    };
    serde_json::from_slice(body).map_err(|e| defect("page", e))
}

/// A person at a page of a project.
pub(crate) struct Visit {
    guest: Guest,
    /// The project.
    pub project: Project,
    /// Role of the person in the workspace of the project.
    pub role: Role,
    /// Parameters of the address.
    query: Vec<(String, String)>,
    /// Path of the address.
    path: String,
}

impl Visit {
    async fn open(parts: &Parts, guest: Guest, project: &str) -> Result<Self, PageError> {
        let access = guest.credential.find_project(&guest.app.engine, project).await?;
        let Some(role) = access.and_then(|access| access.role) else {
            return Err(PageError(Box::new(not_found())));
        };
        let project = guest
            .read(&GetProjectById {
                project_id: project.to_owned(),
            })
            .await?;
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self {
            guest,
            project,
            role,
            query: url::form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
            path: parts.uri.path().to_owned(),
        })
    }

    /// The service.
    pub fn app(&self) -> &Arc<App> {
        &self.guest.app
    }

    /// The person, wherever they are.
    pub fn guest(&self) -> &Guest {
        &self.guest
    }

    /// The person, who leaves the page.
    pub fn into_guest(self) -> Guest {
        self.guest
    }

    /// The person.
    pub fn visitor(&self) -> &Visitor {
        &self.guest.visitor
    }

    /// Id of the project, as the operations take it.
    pub fn project_id(&self) -> String {
        self.project.id.to_string()
    }

    /// Address of a page of the project.
    pub fn address(&self, rest: &str) -> String {
        format!("/projects/{}{rest}", self.project.id)
    }

    /// Returns a parameter of the address; `None` if it is missing or empty.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Returns a parameter as a value; `None` if it is missing or cannot be read.
    pub fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.parameter(name)?.parse().ok()
    }

    /// Place in the list of the page.
    pub fn cursor(&self) -> Option<String> {
        self.parameter("cursor").map(str::to_owned)
    }

    /// Returns the address of this page with one parameter changed or removed. The place in a list is given up.
    pub fn with_parameter(&self, name: &str, value: Option<&str>) -> String {
        self.with_parameters(&[(name, value)])
    }

    /// Returns the address of this page with some parameters changed or removed. The place in a list is given up.
    pub fn with_parameters(&self, parameters: &[(&str, Option<&str>)]) -> String {
        let mut dropped = vec!["cursor", "done", "n"];
        dropped.extend(parameters.iter().map(|(name, _)| *name));
        let mut query = self.query_without(&dropped);
        for (name, value) in parameters {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        self.address_with(&query.finish())
    }

    /// Returns the address of this page with its filters, without the message about what was done.
    pub fn here(&self) -> String {
        self.address_with(&self.query_without(&["done", "n"]).finish())
    }

    /// Returns the address of a file below the project, with the filters of this page.
    pub fn file(&self, rest: &str) -> String {
        let query = self.query_without(&["cursor", "done", "n", "view"]).finish();
        let sign = if query.is_empty() { "" } else { "?" };
        self.address(&format!("{rest}{sign}{query}"))
    }

    fn query_without(&self, dropped: &[&str]) -> url::form_urlencoded::Serializer<'static, String> {
        let kept = self
            .query
            .iter()
            .filter(|(name, value)| !value.is_empty() && !dropped.contains(&name.as_str()));
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(kept);
        query
    }

    fn address_with(&self, query: &str) -> String {
        if query.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{query}", self.path)
        }
    }

    /// Returns whether the role permits operations with this scope.
    pub fn may(&self, scope: Scope) -> bool {
        self.role.permits(scope)
    }

    /// Id of the person.
    pub fn user(&self) -> UserId {
        self.guest.visitor.session.user
    }

    /// Refuses who does not manage the project, before what was sent is judged.
    pub fn check_manages(&self) -> Result<(), Failure> {
        searchwright_people::keys::check_manages(Some(self.role))
    }

    /// Session of the person.
    pub fn session(&self) -> &Session {
        &self.guest.visitor.session
    }

    /// Address of the sign-in page that leads back here; `None` while the last sign-in is recent enough for privileged actions.
    pub fn confirm(&self) -> Option<String> {
        let is_recent = self.app().people.recent(&self.guest.visitor.session).is_some();
        (!is_recent).then(|| session::sign_in_again(&self.path))
    }

    /// Takes a unit of the limit on what starts work, for work that no operation of the table starts.
    pub async fn start_work(&self) -> Result<(), Failure> {
        operations::limit(self.app(), true, &self.guest.credential)
            .await
            .map_err(|refusal| refusal.failure)?;
        Ok(())
    }

    /// Calls an operation that reads.
    pub async fn read<O: Operation>(&self, operation: &O) -> Result<O::Answer, Failure> {
        self.guest.read(operation).await
    }

    /// Calls an operation that reads; `None` if there is no such record.
    pub async fn find<O: Operation>(&self, operation: &O) -> Result<Option<O::Answer>, Failure> {
        match self.read(operation).await {
            Ok(answer) => Ok(Some(answer)),
            Err(failure) if failure.0.code == Code::NotFound => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Charges the memory of a long answer to the session, and not to the network address that others may share. One to a request
    /// that changed nothing may be refused.
    pub fn charge(&self, mut answer: Response<Body>, changed_nothing: bool) -> Response<Body> {
        answer.extensions_mut().insert(self.guest.sender());
        if changed_nothing {
            answer.extensions_mut().insert(ChangedNothing);
        }
        answer
    }

    /// A time in the time zone of the project, to the minute.
    pub fn time(&self, at: &Instant) -> String {
        local_minute(*at, &self.project.timezone)
    }

    /// The day of a time in the time zone of the project, such as `2026-11-28`.
    pub fn day(&self, at: &Instant) -> String {
        local_day(*at, &self.project.timezone)
    }

    /// The time of day in the time zone of the project, as forms have it.
    pub fn clock(&self, at: &Instant) -> String {
        local_clock(*at, &self.project.timezone)
    }

    /// The point in time of a day and a time of day in the time zone of the project; `None` if they are none.
    pub fn moment(&self, day: &str, time: &str) -> Option<Instant> {
        from_local(day, time, &self.project.timezone)
    }

    /// The time now.
    pub fn now(&self) -> Instant {
        self.app().engine.clock.now()
    }

    /// The frame of a page.
    pub fn frame(&self, title: &'static str, section: Section) -> ProjectFrame {
        let message = self.parameter("done").and_then(|code| {
            let count = self.parsed("n").unwrap_or(0);
            flash::message(code, count)
        });
        ProjectFrame {
            layout: Layout::new(title),
            script: page::pages_script(),
            project: self.project.id.to_string(),
            name: show::plain(&self.project.name),
            domain: self.project.domain.clone(),
            timezone: self.project.timezone.clone(),
            user: self.guest.visitor.session.user_name.clone(),
            csrf: self.guest.visitor.csrf(),
            once: self.app().engine.clock.id::<Uuid>().to_string(),
            section,
            message,
            is_running: false,
            reloads: false,
        }
    }
}

impl FromRequestParts<Arc<App>> for Guest {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, PageError> {
        let address = parts.uri.path_and_query().map_or("", |address| address.as_str());
        let visitor = session::need_visitor(app, &parts.headers, address).await?;
        Self::new(app.clone(), visitor).await
    }
}

async fn project_of(parts: &mut Parts, app: &Arc<App>) -> Result<String, PageError> {
    let parameters = RawPathParams::from_request_parts(parts, app).await;
    let parameters = parameters.map_err(|_| PageError(Box::new(not_found())))?;
    let project = parameters.iter().find(|(name, _)| *name == "project");
    Ok(project.map(|(_, id)| id.to_owned()).unwrap_or_default())
}

impl FromRequestParts<Arc<App>> for Visit {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, PageError> {
        let project = project_of(parts, app).await?;
        let guest = Guest::from_request_parts(parts, app).await?;
        Self::open(parts, guest, &project).await
    }
}

/// A form that a person sent from a page of a project.
pub(crate) struct SentForm {
    /// The person and the project.
    pub visit: Visit,
    /// The fields.
    pub form: FormData,
}

impl FromRequest<Arc<App>> for SentForm {
    type Rejection = PageError;

    async fn from_request(request: Request<Body>, app: &Arc<App>) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let project = project_of(&mut parts, app).await?;
        let request = Request::from_parts(parts.clone(), body);
        let (visitor, form, _) = session::receive(app, request).await?;
        let guest = Guest::new(app.clone(), visitor).await?;
        Ok(Self {
            visit: Visit::open(&parts, guest, &project).await?,
            form,
        })
    }
}

/// A row that was ticked, as the person saw it.
#[derive(Debug)]
pub(crate) struct TickedRow {
    /// Id of the record.
    pub id: String,
    /// Its version.
    pub version: String,
}

/// A form with a whole text, such as that of a post: as [`SentForm`], but larger.
pub(crate) struct SentText(pub SentForm);

impl FromRequest<Arc<App>> for SentText {
    type Rejection = PageError;

    async fn from_request(request: Request<Body>, app: &Arc<App>) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let project = project_of(&mut parts, app).await?;
        let request = Request::from_parts(parts.clone(), body);
        let Some(visitor) = session::visitor(app, &parts.headers).await? else {
            // A text that is not too long comes back with the answer.
            session::receive(app, request).await?;
            return Err(PageError(Box::new(not_found())));
        };
        let guest = Guest::new(app.clone(), visitor.clone()).await?;
        let sender = guest.credential.owner();
        let form = session::receive_text(app, visitor, sender, request).await?;
        Ok(Self(SentForm {
            visit: Visit::open(&parts, guest, &project).await?,
            form,
        }))
    }
}

/// A form for a privileged action on a page of a project. Who did not sign in recently is led to the sign-in page and back.
pub(crate) struct ConfirmedForm {
    /// The form with the person and the project.
    pub sent: SentForm,
    /// The recent sign-in.
    pub by: RecentSession,
    /// Network address and program of the browser.
    pub caller: Caller,
}

/// Returns the page of a privileged form, `/projects/ID/settings/NAME`: its own address may be below that.
fn settings_page(path: &str) -> &str {
    let end = path.match_indices('/').nth(4).map_or(path.len(), |(at, _)| at);
    &path[..end]
}

impl FromRequest<Arc<App>> for ConfirmedForm {
    type Rejection = PageError;

    async fn from_request(request: Request<Body>, app: &Arc<App>) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let project = project_of(&mut parts, app).await?;
        let request = Request::from_parts(parts.clone(), body);
        let received = session::receive_privileged(app, request, settings_page(parts.uri.path())).await?;
        let guest = Guest::new(app.clone(), received.visitor).await?;
        let sent = SentForm {
            visit: Visit::open(&parts, guest, &project).await?,
            form: received.form,
        };
        Ok(Self {
            sent,
            by: received.by,
            caller: received.caller,
        })
    }
}

impl SentForm {
    /// Calls an operation that changes something. A form that is sent twice has its effect once.
    pub async fn change<O: Operation>(&self, operation: &O) -> Result<O::Answer, Failure> {
        let once = Some(self.form.get("once")).filter(|once| !once.is_empty());
        let version = Some(self.form.get("version")).filter(|version| !version.is_empty());
        // A page may have several forms for one operation.
        let action = self.form.get("action");
        self.visit
            .guest
            .call(
                operation,
                once.map(|once| format!("{}:{once}:{action}", O::META.name)),
                version.map(|version| vec![version.to_owned()]),
            )
            .await
    }

    /// Calls an operation that changes one of several rows, if it still has the version that the person saw, or any where
    /// there is none.
    pub async fn change_row<O: Operation>(
        &self,
        operation: &O,
        row: &TickedRow,
    ) -> Result<O::Answer, Failure> {
        let once = Some(self.form.get("once")).filter(|once| !once.is_empty());
        self.visit
            .guest
            .call(
                operation,
                once.map(|once| format!("{}:{once}:{}", O::META.name, row.id)),
                Some(&row.version)
                    .filter(|version| !version.is_empty())
                    .map(|version| vec![format!("{}-{version}", row.id)]),
            )
            .await
    }

    /// The rows that were ticked; values without an id and a version are left out.
    pub fn ticked_rows(&self) -> Vec<TickedRow> {
        let ticked = self.form.all("row").filter_map(|value| {
            let (id, version) = value.split_once(' ')?;
            Some(TickedRow {
                id: id.to_owned(),
                version: version.to_owned(),
            })
        });
        ticked.collect()
    }

    /// Answers with the page that says that something was done.
    pub fn done(&self, address: &str, code: &str, count: u64) -> Response<Body> {
        // What the page is about to show stands behind `#`.
        let (address, place) = address.split_once('#').unwrap_or((address, ""));
        let sign = if address.contains('?') { '&' } else { '?' };
        let hash = if place.is_empty() { "" } else { "#" };
        page::see_other(&format!("{address}{sign}done={code}&n={count}{hash}{place}"))
    }
}

/// A failure that the person at a page can do something about, as a sentence with its status.
pub(crate) fn refusal(failure: &Failure) -> Option<(StatusCode, String)> {
    let is_theirs = matches!(
        failure.0.status,
        402 | 403 | 409 | 412 | 413 | 422 | 428 | 429 | 501 | 502 | 503 | 504
    );
    let is_hidden = matches!(failure.0.code, Code::ProjectForbidden | Code::NotFound);
    if !is_theirs || is_hidden {
        return None;
    }
    let status = StatusCode::from_u16(failure.0.status).unwrap_or(StatusCode::CONFLICT);
    if failure.0.code == Code::IdempotencyKeyReused {
        // The browser went back to a form that was sent, and what was typed has changed since.
        let text = "This form was sent before with something else in it. Look at the page as it is now, and send it again.";
        return Some((status, text.to_owned()));
    }
    Some((status, page::sentence(failure)))
}

/// Refuses an empty choice of rows.
pub(crate) fn nothing_selected() -> Failure {
    Problem::fault("", "missing", "nothing is selected: tick at least one row").into()
}

#[cfg(test)]
mod tests {
    use super::settings_page;

    #[test]
    fn a_privileged_form_leads_back_to_its_page() {
        for (path, page) in [
            ("/projects/1/settings/keys", "/projects/1/settings/keys"),
            (
                "/projects/1/settings/members/2/role",
                "/projects/1/settings/members",
            ),
            (
                "/projects/1/settings/members/invitations/3/withdraw",
                "/projects/1/settings/members",
            ),
        ] {
            assert_eq!(settings_page(path), page);
        }
    }
}

//! The page on which a person connects a place to publish. The token in its address is all that lets one in; it works once.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
    time::Duration,
};

use askama::Template;
use axum::{
    body::{Body, to_bytes},
    extract::{Path, State},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use searchwright_contract::Problem;
use searchwright_engine::{ConnectPage, Connected};
use searchwright_publishing::Input;
use sha2::{Digest as _, Sha256};

use super::page::Layout;
use crate::app::App;

/// The one script: it sends what only a script can read.
const SCRIPT: &str = include_str!("../../assets/handover.js");
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
/// Bytes of a form.
const MAX_FORM_BYTES: usize = 64 << 10;
/// Time in which it has to arrive.
const ARRIVES_WITHIN: Duration = Duration::from_secs(10);

#[derive(Template)]
#[template(path = "connect.html")]
struct View<'a> {
    title: String,
    layout: Layout,
    name: &'a str,
    /// Path to which the form is sent.
    path: &'a str,
    /// There is something to send, though nothing to enter.
    asks: bool,
    fields: Vec<Field<'a>>,
    done: Option<String>,
    wrong: Option<String>,
}

struct Field<'a> {
    name: &'a str,
    label: &'a str,
    hint: &'a str,
    secret: bool,
    required: bool,
    lines: bool,
    value: String,
    fault: Option<String>,
}

/// The page that a person comes back to with a token behind the # of the address.
#[derive(Template)]
#[template(path = "handover.html")]
struct Handover {
    layout: Layout,
    script: &'static str,
}

/// Shows the form, or takes what WordPress sends a person back with.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Path(token): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let page = match found(&app, &token).await {
        Ok(page) => page,
        Err(response) => return *response,
    };
    let query = members(request.uri().query().unwrap_or_default().as_bytes());
    // Names by which WordPress gives an application password (authorize-application.php).
    let given: BTreeMap<String, String> = [
        ("site_url", "siteUrl"),
        ("user_login", "username"),
        ("password", "password"),
    ]
    .into_iter()
    .filter_map(|(theirs, ours)| Some((ours.to_owned(), query.get(theirs)?.clone())))
    .collect();
    if given.contains_key("password") {
        return connect(&app, &page, given).await;
    }
    if query.get("success").is_some_and(|success| success == "false") {
        return turned_away(&page, "");
    }
    respond(
        StatusCode::OK,
        &form(&page, &BTreeMap::new(), &BTreeMap::new(), None),
    )
}

/// Takes what a provider sends a person back with in the address: a code (RFC 6749 section 4.1.2), or an installation.
pub(crate) async fn callback(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let query = members(request.uri().query().unwrap_or_default().as_bytes());
    if ["state", "code", "error"]
        .iter()
        .all(|name| !query.contains_key(*name))
    {
        return handover();
    }
    let page = match found(&app, given(&query, "state")).await {
        Ok(page) => page,
        Err(response) => return *response,
    };
    let error = given(&query, "error");
    if !error.is_empty() {
        return turned_away(&page, error);
    }
    let connected = app.engine.connect_by_address(&page, &query).await;
    outcome(&page, connected, &BTreeMap::new())
}

/// Takes what our script found behind the # (RFC 6749 section 4.2.2).
pub(crate) async fn handed_over(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    if !is_ours(request.headers(), &app.settings.public_url) {
        let text = "This was not sent by a page of this server. Ask for a new link.";
        return respond(StatusCode::FORBIDDEN, &message("Nothing is connected", text));
    }
    let Some(form) = received(request).await else {
        let text = "The request was incomplete. Open the link again.";
        return respond(StatusCode::BAD_REQUEST, &message("Nothing is connected", text));
    };
    // It names the link, which works once: who does not know it connects nothing.
    let page = match found(&app, given(&form, "state")).await {
        Ok(page) => page,
        Err(response) => return *response,
    };
    let error = given(&form, "error");
    if !error.is_empty() {
        return turned_away(&page, error);
    }
    let token = given(&form, "access_token").to_owned();
    let connected = app.engine.connect_by_token(&page, token).await;
    outcome(&page, connected, &BTreeMap::new())
}

/// Returns whether a request comes from one of our pages, by the headers of browsers. Requests without these headers pass:
/// programs that are no browsers hold no secret of a person.
fn is_ours(headers: &HeaderMap, public_url: &str) -> bool {
    let origin = url::Url::parse(public_url).map(|url| url.origin().ascii_serialization());
    let is = |name: &str, wanted: &str| headers.get(name).is_none_or(|value| value == wanted);
    is("sec-fetch-site", "same-origin") && is("origin", &origin.unwrap_or_default())
}

fn members(text: &[u8]) -> BTreeMap<String, String> {
    url::form_urlencoded::parse(text).into_owned().collect()
}

fn given<'a>(members: &'a BTreeMap<String, String>, name: &str) -> &'a str {
    members.get(name).map_or("", String::as_str)
}

/// The members of a form that arrived whole.
async fn received(request: Request<Body>) -> Option<BTreeMap<String, String>> {
    let body = tokio::time::timeout(ARRIVES_WITHIN, to_bytes(request.into_body(), MAX_FORM_BYTES)).await;
    Some(members(&body.ok()?.ok()?))
}

/// Takes what a person entered.
pub(crate) async fn submit(
    State(app): State<Arc<App>>,
    Path(token): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let page = match found(&app, &token).await {
        Ok(page) => page,
        Err(response) => return *response,
    };
    let Some(entered) = received(request).await else {
        let wrong = Some("The form was incomplete; send it again.".to_owned());
        let view = form(&page, &BTreeMap::new(), &BTreeMap::new(), wrong);
        return respond(StatusCode::BAD_REQUEST, &view);
    };
    connect(&app, &page, entered).await
}

async fn found(app: &App, token: &str) -> Result<ConnectPage, Box<Response<Body>>> {
    match app.engine.connect_page(token).await {
        Ok(Some(page)) => Ok(page),
        Ok(None) => {
            let text = "This page is no longer valid: it was used, or its hour is over. Ask for a new link.";
            Err(Box::new(respond(
                StatusCode::NOT_FOUND,
                &message("Nothing to connect", text),
            )))
        }
        Err(failure) => {
            tracing::error!(%failure, "a page to connect a provider was not found out");
            let text = "The server cannot look it up at the moment; try again in a minute.";
            Err(Box::new(respond(
                StatusCode::SERVICE_UNAVAILABLE,
                &message("Not now", text),
            )))
        }
    }
}

async fn connect(app: &App, page: &ConnectPage, entered: BTreeMap<String, String>) -> Response<Body> {
    let connected = app.engine.connect_by_page(page, entered.clone()).await;
    outcome(page, connected, &entered)
}

/// Returns the page for an outcome: success, or the form with the error.
fn outcome(
    page: &ConnectPage,
    connected: searchwright_engine::Result<Connected>,
    entered: &BTreeMap<String, String>,
) -> Response<Body> {
    match connected {
        Ok(connected) => {
            let account = connected
                .account
                .map(|name| format!(" as {name}"))
                .unwrap_or_default();
            let view = View {
                title: format!("{} is connected", page.name),
                layout: Layout::new("Connect"),
                name: page.name,
                path: "",
                asks: false,
                fields: Vec::new(),
                done: Some(format!("Searchwright can publish to {}{account}.", page.name)),
                wrong: None,
            };
            respond(StatusCode::OK, &view)
        }
        Err(failure) => {
            let problem = Problem::from(failure);
            let faults = problem
                .errors
                .iter()
                .map(|fault| {
                    (
                        fault.pointer.trim_start_matches('/').to_owned(),
                        fault.detail.clone(),
                    )
                })
                .collect();
            let mut wrong = if problem.errors.is_empty() {
                format!("Not connected: {}.", problem.detail)
            } else {
                "Something is missing or wrong.".to_owned()
            };
            if let Some(said) = problem
                .extra
                .get("providerMessage")
                .and_then(|said| said.as_str())
            {
                wrong += &format!(" {} says: {said}", page.name);
            }
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
            respond(status, &form(page, entered, &faults, Some(wrong)))
        }
    }
}

/// Returns the form for a person whom the provider sent back without credentials.
fn turned_away(page: &ConnectPage, error: &str) -> Response<Body> {
    let is_word = !error.is_empty()
        && error.len() <= 40
        && !error.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let why = if is_word {
        format!(" ({error})")
    } else {
        String::new()
    };
    let wrong = format!(
        "{} refused access{why}. You can enter the credentials here instead.",
        page.name
    );
    let view = form(page, &BTreeMap::new(), &BTreeMap::new(), Some(wrong));
    respond(StatusCode::OK, &view)
}

/// Returns the form with the entered values; secrets have to be entered again.
fn form<'a>(
    page: &'a ConnectPage,
    entered: &BTreeMap<String, String>,
    faults: &BTreeMap<String, String>,
    wrong: Option<String>,
) -> View<'a> {
    let field = |input: &'a Input| {
        let value = entered.get(input.name).or_else(|| page.known.get(input.name));
        Field {
            name: input.name,
            label: input.label,
            hint: input.hint,
            secret: input.secret,
            required: input.required,
            lines: input.lines,
            value: value.filter(|_| !input.secret).cloned().unwrap_or_default(),
            fault: faults.get(input.name).cloned(),
        }
    };
    View {
        title: format!("Connect {}", page.name),
        layout: Layout::new("Connect"),
        name: page.name,
        path: &page.path,
        asks: true,
        fields: page
            .inputs
            .iter()
            .filter(|input| input.asked)
            .map(field)
            .collect(),
        done: None,
        wrong,
    }
}

fn message(title: &str, text: &str) -> View<'static> {
    View {
        title: title.to_owned(),
        layout: Layout::new("Connect"),
        name: "",
        path: "",
        asks: false,
        fields: Vec::new(),
        done: None,
        wrong: Some(text.to_owned()),
    }
}

/// A page whose script sends what stands behind the # of its address.
fn handover() -> Response<Body> {
    static WITH_SCRIPT: LazyLock<HeaderValue> = LazyLock::new(|| {
        let digest = STANDARD.encode(Sha256::digest(SCRIPT));
        HeaderValue::try_from(format!("{POLICY}; script-src 'sha256-{digest}'"))
            .unwrap_or(HeaderValue::from_static(POLICY))
    });
    let page = Handover {
        layout: Layout::new("Connect"),
        script: SCRIPT,
    };
    let mut response = respond(StatusCode::OK, &page);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, WITH_SCRIPT.clone());
    // With no-referrer a browser would not say whose form it sends. This address holds no secret once the # is gone.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

fn respond(status: StatusCode, view: &impl Template) -> Response<Body> {
    let html = view.render().unwrap_or_default();
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        // The address is a secret, and so may be its query.
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

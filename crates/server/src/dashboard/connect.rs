//! The page on which a person connects a place to publish. The token in its address is all that lets one in; it works once.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use askama::Template;
use axum::{
    body::{Body, to_bytes},
    extract::{Path, State},
};
use http::{HeaderValue, Request, Response, StatusCode, header};
use searchwright_contract::Problem;
use searchwright_engine::publishing::{Connected, Input, Page};

use crate::serve::App;

const STYLE: &str = include_str!("../../assets/connect.css");
/// Bytes of a form.
const LARGEST: usize = 64 << 10;
/// Time in which it has to arrive.
const ARRIVES_WITHIN: Duration = Duration::from_secs(10);

#[derive(Template)]
#[template(path = "connect.html")]
struct View<'a> {
    title: String,
    style: &'static str,
    name: &'a str,
    /// Where the form goes.
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
    let query: BTreeMap<String, String> =
        url::form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes())
            .into_owned()
            .collect();
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
    let wrong = query
        .get("success")
        .filter(|success| *success == "false")
        .map(|_| {
            format!(
                "{} did not let us in. You can enter the credentials here instead.",
                page.name
            )
        });
    let status = StatusCode::OK;
    respond(status, &form(&page, &BTreeMap::new(), &BTreeMap::new(), wrong))
}

/// Takes the code that a provider sends a person back with (RFC 6749 section 4.1.2).
pub(crate) async fn callback(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let query: BTreeMap<String, String> =
        url::form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes())
            .into_owned()
            .collect();
    let page = match found(&app, query.get("state").map_or("", String::as_str)).await {
        Ok(page) => page,
        Err(response) => return *response,
    };
    let connected = app.engine.connect_by_code(&page, &query).await;
    outcome(&page, connected, &BTreeMap::new())
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
    let body = tokio::time::timeout(ARRIVES_WITHIN, to_bytes(request.into_body(), LARGEST)).await;
    let Ok(Ok(body)) = body else {
        let wrong = Some("The form did not arrive whole; send it again.".to_owned());
        let view = form(&page, &BTreeMap::new(), &BTreeMap::new(), wrong);
        return respond(StatusCode::BAD_REQUEST, &view);
    };
    let entered = url::form_urlencoded::parse(&body).into_owned().collect();
    connect(&app, &page, entered).await
}

async fn found(app: &App, token: &str) -> Result<Page, Box<Response<Body>>> {
    match app.engine.connect_page(token).await {
        Ok(Some(page)) => Ok(page),
        Ok(None) => {
            let text =
                "This page does not work any more: it was used, or its hour is over. Ask for a new link.";
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

async fn connect(app: &App, page: &Page, entered: BTreeMap<String, String>) -> Response<Body> {
    let connected = app.engine.connect_by_page(page, entered.clone()).await;
    outcome(page, connected, &entered)
}

/// What came of it, as a page: done, or the form with what is wrong.
fn outcome(
    page: &Page,
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
                style: STYLE,
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

/// The form with what was entered; secrets have to be entered again.
fn form<'a>(
    page: &'a Page,
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
        style: STYLE,
        name: page.name,
        path: &page.path,
        asks: true,
        fields: page.inputs.iter().map(field).collect(),
        done: None,
        wrong,
    }
}

fn message(title: &str, text: &str) -> View<'static> {
    View {
        title: title.to_owned(),
        style: STYLE,
        name: "",
        path: "",
        asks: false,
        fields: Vec::new(),
        done: None,
        wrong: Some(text.to_owned()),
    }
}

fn respond(status: StatusCode, view: &View<'_>) -> Response<Body> {
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
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

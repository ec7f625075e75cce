//! HTTP API v1: routes from the contract table, and the frame around every call.

pub mod answer;
pub mod arguments;
pub mod bearer;
pub mod body;
mod bot;
pub mod concurrency;
mod conditional;
pub mod docs;
mod event_stream;
pub mod guides;
pub mod kept;
pub mod memory;
pub mod openapi;
pub mod operations;
pub mod outgoing;
pub mod panics;
pub mod pressure;
pub mod rate_limit;
pub mod shared_limits;

use std::sync::Arc;

use axum::{Router, body::Body, extract::State, routing};
use http::{Request, Response};
use searchwright_contract::{Code, Problem};

use self::bearer::Door;
use crate::{app::App, dashboard, oauth};

/// Largest request target.
const MAX_URI: usize = 8 * 1024;
/// Largest headers in bytes, names and values.
const MAX_HEADERS: usize = 16 * 1024;
/// Most header fields.
const MAX_FIELDS: usize = 100;

/// Everything the API listener answers.
pub fn router(app: Arc<App>) -> Router {
    let mut router = Router::new()
        .route("/healthz", routing::get(|| async { "ok\n" }))
        .route("/readyz", routing::get(ready))
        .route("/v1/openapi.json", routing::get(openapi::serve))
        .route("/docs", routing::get(docs::serve))
        .route(
            "/docs/",
            routing::get(|| async { dashboard::page::see_other("/docs") }),
        )
        .route("/docs/{*path}", routing::get(docs::serve_below))
        .route("/llms.txt", routing::get(guides::serve_links))
        .route("/skill.md", routing::get(guides::serve_skill))
        .route("/bot", routing::get(bot::serve))
        .merge(if app.settings.is_insecure() {
            oauth::closed_routes()
        } else {
            oauth::routes()
        })
        .merge(dashboard::routes(&app))
        .fallback(unknown)
        .method_not_allowed_fallback(not_allowed);
    for (path, resource) in operations::resources(&app) {
        let app = app.clone();
        router = router.route(
            &format!("/v1{path}"),
            routing::any(move |request: Request<Body>| {
                let (app, resource) = (app.clone(), resource.clone());
                async move { operations::call(app, resource, request).await }
            }),
        );
    }
    router.with_state(app)
}

/// `200` when this process may be given work, else `503` with the reason.
async fn ready(State(app): State<Arc<App>>) -> Response<Body> {
    let (status, text) = match app.ready().await {
        Ok(()) => (200, "ready\n".to_owned()),
        Err(why) => (503, format!("{why}\n")),
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    response
}

/// Answers everything on the listener of MCP while it is off.
pub fn without_tls(app: Arc<App>) -> Router {
    Router::new().fallback(off).with_state(app)
}

/// Answers what is off without TLS.
pub async fn off(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    no_route(
        &app,
        &request,
        "MCP and OAuth are off: this server is reached over plain http",
        "put a proxy with TLS in front, and set PUBLIC_URL and MCP_URL to its https addresses",
    )
}

fn no_route(app: &App, request: &Request<Body>, detail: &str, hint: &str) -> Response<Body> {
    let problem = Problem::new(Code::NotFound, detail)
        .with("resource", "route")
        .hint(hint);
    answer::problem(
        app,
        &app.request_id(),
        Door::Api,
        request.uri().path(),
        problem,
        None,
    )
}

async fn unknown(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    no_route(
        &app,
        &request,
        "there is no resource at this address",
        "the API is described at /v1/openapi.json and /docs",
    )
}

/// A method that an address outside the table does not know; the `Allow` header comes with its route.
async fn not_allowed(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let problem = Problem::new(
        Code::MethodNotAllowed,
        format!("{} is not allowed here", request.method()),
    );
    answer::problem(
        &app,
        &app.request_id(),
        Door::Api,
        request.uri().path(),
        problem,
        None,
    )
}

/// Checks the request line and the headers against their limits.
fn check_head(request: &Request<Body>) -> Result<(), Problem> {
    let length = request.uri().path_and_query().map_or(0, |p| p.as_str().len());
    if length > MAX_URI {
        return Err(Problem::new(
            Code::UriTooLong,
            format!("the URI has {length} bytes, at most {MAX_URI} are accepted"),
        ));
    }
    let (fields, bytes) = request
        .headers()
        .iter()
        .fold((0, 0), |(fields, bytes), (name, value)| {
            (fields + 1, bytes + name.as_str().len() + value.len())
        });
    if fields > MAX_FIELDS || bytes > MAX_HEADERS {
        return Err(Problem::new(
            Code::HeadersTooLarge,
            format!(
                "{fields} header fields of {bytes} bytes, at most {MAX_FIELDS} of {MAX_HEADERS} are accepted"
            ),
        ));
    }
    Ok(())
}

//! `/projects/{id}/settings/connect`: how each known agent is connected, and where the last attempts stopped.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    routing::get,
};
use http::{Request, Response, StatusCode};
use searchwright_contract::{
    ids::ProjectId,
    mcp_clients::{ClientSetup, DEFAULT_NAME, McpClient, McpServer, Os},
};
use searchwright_engine::identity::connections::Attempt;

use super::{
    page::{self, Form, Layout, minute},
    session,
};
use crate::app::App;

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/projects/{project}/settings/connect", get(show))
}

#[derive(Template)]
#[template(path = "agents.html")]
struct AgentsView<'a> {
    layout: Layout,
    mcp_url: &'a str,
    clients: Vec<ClientSetup>,
    attempts: Vec<Attempt>,
}

/// Path of the configuration file that is named on the page.
fn config_path(setup: &ClientSetup) -> String {
    setup
        .config
        .as_ref()
        .map_or_else(String::new, |entry| entry.path(Os::Linux).to_string())
}

/// A sentence without the marks of code that it has on a terminal.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

async fn show(
    State(app): State<Arc<App>>,
    Path(project): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let visitor = match session::need_visitor(&app, request.headers(), request.uri().path()).await {
        Ok(visitor) => visitor,
        Err(response) => return *response,
    };
    let not_found = || {
        page::notice(
            StatusCode::NOT_FOUND,
            "Not found",
            "There is no such project, or your account has no access to it.",
        )
    };
    let Ok(project) = ProjectId::parse(&project) else {
        return not_found();
    };
    let attempts = match app
        .people
        .connection_attempts(visitor.session.user, project)
        .await
    {
        Ok(attempts) => attempts,
        Err(failure) if failure.0.status == 404 => return not_found(),
        Err(failure) => return page::failed(&failure),
    };
    let clients = match McpServer::new(DEFAULT_NAME, &app.settings.mcp_url) {
        Ok(server) => McpClient::ALL
            .iter()
            .map(|client| client.setup(&server))
            .collect(),
        Err(_) => Vec::new(),
    };
    let view = AgentsView {
        layout: Layout::new("Connect an agent"),
        mcp_url: &app.settings.mcp_url,
        clients,
        attempts,
    };
    page::respond(StatusCode::OK, &view, Form::Own)
}

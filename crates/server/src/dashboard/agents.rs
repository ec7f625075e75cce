//! `/projects/{id}/settings/connect`: how each known agent is connected, and where the last attempts stopped.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::mcp_clients::{ClientSetup, DEFAULT_NAME, McpClient, McpServer, Os};
use searchwright_engine::identity::connections::Attempt;

use super::{
    frame::{ProjectFrame, Section},
    page::{self, Form, minute},
    visit::{PageResult, Visit},
};
use crate::app::App;

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/projects/{project}/settings/connect", get(show))
}

#[derive(Template)]
#[template(path = "agents.html")]
struct AgentsView<'a> {
    frame: ProjectFrame,
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

async fn show(visit: Visit) -> PageResult {
    let app = visit.app().clone();
    let attempts = app
        .people
        .connection_attempts(visit.user(), visit.project.id)
        .await?;
    let clients = match McpServer::new(DEFAULT_NAME, &app.settings.mcp_url) {
        Ok(server) => McpClient::ALL
            .iter()
            .map(|client| client.setup(&server))
            .collect(),
        Err(_) => Vec::new(),
    };
    let view = AgentsView {
        frame: visit.frame("Connect an agent", Section::Settings),
        mcp_url: &app.settings.mcp_url,
        clients,
        attempts,
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

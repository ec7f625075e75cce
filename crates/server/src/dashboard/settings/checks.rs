//! `/projects/{id}/settings/checks`: thresholds and severities of a project's checks, as the operator set them.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_engine::admin::checks::ChecksSet;

use crate::{
    app::App,
    dashboard::{
        frame::{ProjectFrame, Section},
        page::{self, Form},
        show,
        visit::{PageResult, Visit},
    },
};

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/projects/{project}/settings/checks", get(show_page))
}

#[derive(Template)]
#[template(path = "checks.html")]
struct ChecksView {
    frame: ProjectFrame,
    checks: ChecksSet,
}

async fn show_page(visit: Visit) -> PageResult {
    let view = ChecksView {
        frame: visit.frame("Checks", Section::Settings),
        checks: visit.app().engine.checks(visit.project.id.into()).await?,
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

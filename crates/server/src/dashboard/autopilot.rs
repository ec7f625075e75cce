//! `/projects/{id}/settings/autopilot`: what only a person may set, the volume of a month.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    routing::get,
};
use http::{Request, Response, StatusCode};
use searchwright_contract::ids::ProjectId;
use searchwright_engine::autopilot::cap::MonthlyCap;

use super::{
    approvals::{not_found, user},
    page::{self, Form, Layout},
    session::{self, Visitor},
};
use crate::app::App;

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/projects/{project}/settings/autopilot", get(show).post(save))
}

#[derive(Template)]
#[template(path = "autopilot.html")]
struct AutopilotView<'a> {
    layout: Layout,
    project: ProjectId,
    cap: MonthlyCap,
    csrf: String,
    saved: bool,
    wrong: Option<&'a str>,
}

async fn view(
    app: &App,
    visitor: &Visitor,
    project: ProjectId,
    saved: bool,
    wrong: Option<(StatusCode, &str)>,
) -> Response<Body> {
    match app.engine.monthly_cap_for(&user(visitor), project).await {
        Ok(cap) => {
            let view = AutopilotView {
                layout: Layout::new("Autopilot"),
                project,
                cap,
                csrf: visitor.csrf(),
                saved,
                wrong: wrong.map(|(_, text)| text),
            };
            page::respond(
                wrong.map_or(StatusCode::OK, |(status, _)| status),
                &view,
                Form::Own,
            )
        }
        Err(failure) if failure.0.status == 404 => not_found(),
        Err(failure) => page::failed(&failure),
    }
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
    match ProjectId::parse(&project) {
        Ok(project) => view(&app, &visitor, project, false, None).await,
        Err(_) => not_found(),
    }
}

async fn save(
    State(app): State<Arc<App>>,
    Path(project): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let (visitor, form, _) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let Ok(project) = ProjectId::parse(&project) else {
        return not_found();
    };
    let cap = form.get("cap").trim().parse().unwrap_or_default();
    match app.engine.set_monthly_cap(&user(&visitor), project, cap).await {
        Ok(()) => view(&app, &visitor, project, true, None).await,
        Err(failure) if failure.0.status == 404 => not_found(),
        Err(failure) if matches!(failure.0.status, 403 | 422) => {
            let status = StatusCode::from_u16(failure.0.status).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
            let wrong = page::sentence(&failure);
            view(&app, &visitor, project, false, Some((status, &wrong))).await
        }
        Err(failure) => page::failed(&failure),
    }
}

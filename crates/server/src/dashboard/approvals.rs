//! `/projects/{id}/approvals`: posts that wait for a person, and the page on which one is decided. Opening a page decides nothing.

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
    Instant,
    approvals::{Approval, ApprovalStatus},
    ids::{ApprovalId, ProjectId},
    people::UserRef,
};
use searchwright_engine::autopilot::{
    decisions::{ApprovalPage, Decision},
    local_time,
};

use super::{
    page::{self, Form, Layout},
    session::{self, Visitor},
};
use crate::app::App;

/// Approvals that a page lists.
const MAX_LISTED: u32 = 50;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/approvals", get(list))
        .route("/projects/{project}/approvals/{approval}", get(show).post(decide))
}

#[derive(Template)]
#[template(path = "approvals.html")]
struct ApprovalsView {
    layout: Layout,
    project: ProjectId,
    waiting: Vec<Approval>,
    decided: Vec<Approval>,
    timezone: String,
}

#[derive(Template)]
#[template(path = "approval.html")]
struct ApprovalView<'a> {
    layout: Layout,
    project: ProjectId,
    page: ApprovalPage,
    csrf: String,
    wrong: Option<&'a str>,
}

impl ApprovalsView {
    fn time(&self, at: &Instant) -> String {
        local_time(*at, &self.timezone)
    }
}

impl ApprovalView<'_> {
    fn time(&self, at: &Instant) -> String {
        local_time(*at, &self.page.timezone)
    }

    /// Warnings that keep the post from being published.
    fn blocking(&self) -> Vec<String> {
        let warnings = &self.page.post.findings.warnings;
        let blocking = warnings.iter().filter(|warning| warning.blocks_publishing);
        blocking.map(|warning| warning.detail.clone()).collect()
    }
}

fn word(status: ApprovalStatus) -> &'static str {
    match status {
        ApprovalStatus::Pending => "waits for a decision",
        ApprovalStatus::Held => "held",
        ApprovalStatus::Approved => "approved",
        ApprovalStatus::Rejected => "rejected",
        ApprovalStatus::Lapsed => "published without a decision",
        ApprovalStatus::Void => "void",
    }
}

pub(super) fn not_found() -> Response<Body> {
    page::notice(
        StatusCode::NOT_FOUND,
        "Not found",
        "There is no such page, or your account has no access to it.",
    )
}

pub(super) fn user(visitor: &Visitor) -> UserRef {
    UserRef {
        id: visitor.session.user,
        name: visitor.session.user_name.clone(),
    }
}

async fn list(
    State(app): State<Arc<App>>,
    Path(project): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let visitor = match session::need_visitor(&app, request.headers(), request.uri().path()).await {
        Ok(visitor) => visitor,
        Err(response) => return *response,
    };
    let Ok(project) = ProjectId::parse(&project) else {
        return not_found();
    };
    match app
        .engine
        .approvals_for(&user(&visitor), project, MAX_LISTED)
        .await
    {
        Ok(Some(listed)) => {
            let view = ApprovalsView {
                layout: Layout::new("Approvals"),
                project,
                waiting: listed.waiting,
                decided: listed.decided,
                timezone: listed.timezone,
            };
            page::respond(StatusCode::OK, &view, Form::Own)
        }
        Ok(None) => not_found(),
        Err(failure) => page::failed(&failure),
    }
}

async fn view(
    app: &App,
    visitor: &Visitor,
    project: ProjectId,
    id: ApprovalId,
    wrong: Option<(StatusCode, &str)>,
) -> Response<Body> {
    match app.engine.approval_for(&user(visitor), project, id).await {
        Ok(Some(found)) => {
            let view = ApprovalView {
                layout: Layout::new("Approval"),
                project,
                page: found,
                csrf: visitor.csrf(),
                wrong: wrong.map(|(_, text)| text),
            };
            let status = wrong.map_or(StatusCode::OK, |(status, _)| status);
            page::respond(status, &view, Form::Own)
        }
        Ok(None) => not_found(),
        Err(failure) => page::failed(&failure),
    }
}

async fn show(
    State(app): State<Arc<App>>,
    Path((project, approval)): Path<(String, String)>,
    request: Request<Body>,
) -> Response<Body> {
    let visitor = match session::need_visitor(&app, request.headers(), request.uri().path()).await {
        Ok(visitor) => visitor,
        Err(response) => return *response,
    };
    let (Ok(project), Ok(id)) = (ProjectId::parse(&project), ApprovalId::parse(&approval)) else {
        return not_found();
    };
    view(&app, &visitor, project, id, None).await
}

async fn decide(
    State(app): State<Arc<App>>,
    Path((project, approval)): Path<(String, String)>,
    request: Request<Body>,
) -> Response<Body> {
    let (visitor, form, _) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let (Ok(project), Ok(id)) = (ProjectId::parse(&project), ApprovalId::parse(&approval)) else {
        return not_found();
    };
    let decision = match form.get("decision") {
        "approve" => Decision::Approve,
        "hold" => Decision::Hold,
        "reject" => Decision::Reject,
        _ => {
            let wrong = (StatusCode::UNPROCESSABLE_ENTITY, "Choose one of the buttons.");
            return view(&app, &visitor, project, id, Some(wrong)).await;
        }
    };
    let reason = Some(form.get("reason").to_owned());
    let decided = app
        .engine
        .decide_approval(&user(&visitor), project, id, decision, reason)
        .await;
    match decided {
        Ok(_) => page::see_other(&format!("/projects/{project}/approvals/{id}")),
        Err(failure) if failure.0.status == 404 => not_found(),
        Err(failure) if matches!(failure.0.status, 403 | 409 | 422) => {
            let status = StatusCode::from_u16(failure.0.status).unwrap_or(StatusCode::CONFLICT);
            let wrong = page::sentence(&failure);
            view(&app, &visitor, project, id, Some((status, &wrong))).await
        }
        Err(failure) => page::failed(&failure),
    }
}

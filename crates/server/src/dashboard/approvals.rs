//! `/projects/{id}/approvals`: posts that wait for a person, and the page on which one is decided. Opening a page decides nothing.

use std::sync::Arc;

use askama::Template;
use axum::{Router, extract::Path, routing::get};
use http::{Response, StatusCode};
use searchwright_contract::{
    Instant,
    approvals::{Approval, ApprovalStatus, ListApprovals},
    ids::ApprovalId,
    people::UserRef,
};
use searchwright_engine::autopilot::{
    decisions::{ApprovalPage, Decision},
    local_time,
};

use super::{
    export::CsvFile,
    frame::{ProjectFrame, Section},
    lines::{compare, line_table},
    page::{self, Form},
    session::Visitor,
    show,
    visit::{self, PageResult, Paging, SentForm, Visit},
};
use crate::app::App;

/// Approvals that a page lists.
const MAX_LISTED: u32 = 50;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/approvals", get(list))
        .route(
            "/projects/{project}/approvals.csv",
            CsvFile::of_list("approvals").route(|visit| ListApprovals {
                project_id: visit.project_id(),
                status: None,
                limit: Some(100),
                cursor: None,
            }),
        )
        .route("/projects/{project}/approvals/{approval}", get(open).post(decide))
}

#[derive(Template)]
#[template(path = "approvals.html")]
struct ApprovalsView {
    frame: ProjectFrame,
    address: String,
    waiting: Vec<Approval>,
    decided: Vec<Approval>,
    timezone: String,
    paging: Paging,
}

#[derive(Template)]
#[template(path = "approval.html")]
struct ApprovalView {
    frame: ProjectFrame,
    address: String,
    post: String,
    page: ApprovalPage,
    wrong: Option<String>,
}

/// Title of the post of an approval.
fn title(title: &Option<String>) -> String {
    match title {
        Some(title) => show::cut(title, 300),
        None => "Post without a title".to_owned(),
    }
}

impl ApprovalsView {
    fn time(&self, at: &Instant) -> String {
        local_time(*at, &self.timezone)
    }
}

impl ApprovalView {
    fn time(&self, at: &Instant) -> String {
        local_time(*at, &self.page.timezone)
    }

    /// An amount of money of which millionths are known.
    fn money(&self, micros: &i64) -> String {
        show::dollars(*micros)
    }

    /// Warnings that keep the post from being published.
    fn blocking(&self) -> Vec<String> {
        let warnings = &self.page.post.findings.warnings;
        let blocking = warnings.iter().filter(|warning| warning.blocks_publishing);
        blocking.map(|warning| warning.detail.clone()).collect()
    }

    /// The text that is published now and the one that would replace it, side by side.
    fn difference(&self) -> Option<String> {
        let replaced = self.page.replaced.as_ref()?;
        let difference = compare(&replaced.content, &self.page.post.content);
        Some(line_table(&difference, "Published now", "The new text"))
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

/// Class of the mark of a status.
fn class(status: ApprovalStatus) -> &'static str {
    match status {
        ApprovalStatus::Pending | ApprovalStatus::Held => "warning",
        ApprovalStatus::Approved => "good",
        ApprovalStatus::Rejected => "error",
        ApprovalStatus::Lapsed | ApprovalStatus::Void => "off",
    }
}

pub(super) fn not_found() -> Response<axum::body::Body> {
    visit::not_found()
}

pub(super) fn user(visitor: &Visitor) -> UserRef {
    UserRef {
        id: visitor.session.user,
        name: visitor.session.user_name.clone(),
    }
}

async fn list(visit: Visit) -> PageResult {
    let user = user(visit.visitor());
    let listed = visit
        .app()
        .engine
        .approvals_for(&user, visit.project.id, MAX_LISTED)
        .await?;
    let Some(listed) = listed else {
        return Ok(not_found());
    };
    let view = ApprovalsView {
        frame: visit.frame("Approvals", Section::Approvals),
        address: visit.address("/approvals"),
        waiting: listed.waiting,
        decided: listed.decided,
        timezone: listed.timezone,
        paging: Paging::of_whole(&visit, "/approvals.csv"),
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

async fn show_approval(visit: &Visit, id: ApprovalId, wrong: Option<(StatusCode, String)>) -> PageResult {
    let user = user(visit.visitor());
    let found = visit
        .app()
        .engine
        .approval_for(&user, visit.project.id, id)
        .await?;
    let Some(found) = found else {
        return Ok(not_found());
    };
    let (status, wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let view = ApprovalView {
        frame: visit.frame("Approval", Section::Approvals),
        address: visit.address("/approvals"),
        post: visit.address(&format!("/posts/{}", found.approval.post_id)),
        page: found,
        wrong,
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn open(visit: Visit, Path((_, approval)): Path<(String, String)>) -> PageResult {
    match ApprovalId::parse(&approval) {
        Ok(id) => show_approval(&visit, id, None).await,
        Err(_) => Ok(not_found()),
    }
}

async fn decide(Path((_, approval)): Path<(String, String)>, sent: SentForm) -> PageResult {
    let Ok(id) = ApprovalId::parse(&approval) else {
        return Ok(not_found());
    };
    let visit = &sent.visit;
    let decision = match sent.form.get("decision") {
        "approve" => Decision::Approve,
        "hold" => Decision::Hold,
        "reject" => Decision::Reject,
        _ => {
            let text = "Choose one of the buttons.".to_owned();
            return show_approval(visit, id, Some((StatusCode::UNPROCESSABLE_ENTITY, text))).await;
        }
    };
    let reason = Some(sent.form.get("reason").to_owned());
    let decided = visit
        .app()
        .engine
        .decide_approval(&user(visit.visitor()), visit.project.id, id, decision, reason)
        .await;
    match decided {
        Ok(_) => Ok(page::see_other(&visit.address(&format!("/approvals/{id}")))),
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => show_approval(visit, id, Some(wrong)).await,
            None => Err(failure.into()),
        },
    }
}

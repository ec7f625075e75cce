//! `/projects`: every website of the person with how it is doing.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::{
    Code,
    approvals::{ApprovalStatus, ListApprovals},
    audits::{Audit, ListAudits},
    posts::{ListPosts, PostStatus},
    projects::{ListProjects, ProjectRef},
    schedules::{ListSchedules, ScheduleKind},
};
use searchwright_engine::{
    Failure,
    autopilot::{local_day, local_minute},
};

use super::{
    chart,
    export::CsvFile,
    page::{self, Form, Layout},
    show,
    visit::{Guest, PageResult, Paging, SortColumn},
};
use crate::app::App;

/// Projects on a page.
const LISTED: u8 = 25;

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects", get(list))
        .route("/projects.csv", get(file))
}

/// A project with how it is doing.
struct ProjectRow {
    project: ProjectRef,
    audit: Option<Audit>,
    running: bool,
    trend: String,
    next_audit: Option<String>,
    due: u64,
    needs: u64,
}

impl ProjectRow {
    async fn read(guest: &Guest, project: ProjectRef) -> Result<Self, Failure> {
        let project_id = project.id.to_string();
        let audits = guest
            .read(&ListAudits {
                project_id: project_id.clone(),
                status: None,
                limit: Some(10),
                cursor: None,
            })
            .await?
            .data;
        let schedules = guest
            .read(&ListSchedules {
                project_id: project_id.clone(),
            })
            .await?;
        let due = guest
            .read(&ListPosts {
                project_id: project_id.clone(),
                status: Some(PostStatus::Scheduled),
                keyword_id: None,
                q: None,
                sort: None,
                limit: Some(100),
                cursor: None,
            })
            .await?;
        let waiting = guest
            .read(&ListApprovals {
                project_id,
                status: Some(ApprovalStatus::Pending),
                limit: Some(100),
                cursor: None,
            })
            .await?;
        let running = audits.iter().any(|audit| audit.status.is_active());
        let failed = audits.first().is_some_and(|audit| audit.error.is_some());
        let scored: Vec<Option<f64>> = audits
            .iter()
            .rev()
            .filter(|audit| audit.status.has_results())
            .map(|audit| audit.health_score.map(f64::from))
            .collect();
        let next = schedules
            .data
            .iter()
            .find(|schedule| schedule.kind == ScheduleKind::Audits);
        Ok(Self {
            trend: if scored.len() > 1 {
                chart::sparkline(&scored, 100.0)
            } else {
                String::new()
            },
            next_audit: next.and_then(|schedule| {
                let zone = schedule.timezone.as_deref().unwrap_or("UTC");
                Some(format!("{} {zone}", local_minute(schedule.next_at?, zone)))
            }),
            due: due.data.len() as u64,
            needs: waiting.data.len() as u64 + u64::from(failed),
            audit: audits.into_iter().find(|audit| audit.status.has_results()),
            running,
            project,
        })
    }

    fn delta(&self) -> String {
        let since = self.audit.as_ref().and_then(|audit| audit.since_previous);
        since
            .and_then(|since| since.health_score)
            .map_or_else(String::new, |change| show::change(i64::from(change)))
    }

    fn audited(&self) -> String {
        let ended = self.audit.as_ref().and_then(|audit| audit.finished_at);
        ended.map_or_else(
            || "not yet".to_owned(),
            |at| format!("{} UTC", local_minute(at, "UTC")),
        )
    }
}

/// Order of the table, if all projects are on the page.
fn sorted(rows: &mut [ProjectRow], mut named: &str) -> [SortColumn; 3] {
    let health = |row: &ProjectRow| row.audit.as_ref().and_then(|audit| audit.health_score);
    let errors = |row: &ProjectRow| {
        let totals = row.audit.as_ref().and_then(|audit| audit.totals);
        totals.map(|totals| (totals.errors, totals.warnings))
    };
    match named {
        // What was not measured comes last.
        "health" => rows.sort_by_key(|row| health(row).map_or(u16::MAX, u16::from)),
        "errors" => rows.sort_by_key(|row| std::cmp::Reverse(errors(row))),
        // The list is by name.
        _ => named = "name",
    }
    let column = |word, text, order| SortColumn {
        href: format!("/projects?sort={word}"),
        text,
        order: Some(order).filter(|_| named == word),
        is_number: word != "name",
    };
    [
        column("name", "Project", "ascending"),
        column("health", "Health", "ascending"),
        column("errors", "Errors", "descending"),
    ]
}

#[derive(Template)]
#[template(path = "projects.html")]
struct ProjectsView {
    layout: Layout,
    user: String,
    sorts: Option<[SortColumn; 3]>,
    rows: Vec<ProjectRow>,
    paging: Paging,
}

async fn file(guest: Guest) -> PageResult {
    let now = guest.app.engine.clock.now();
    let name = format!("projects-{}", local_day(now, "UTC"));
    let asked = ListProjects {
        limit: Some(LISTED),
        cursor: None,
    };
    CsvFile::of_list("projects").answer(guest, &name, &asked).await
}

async fn list(guest: Guest, uri: http::Uri) -> PageResult {
    let query = uri.query().unwrap_or_default();
    let parameter = |name| {
        url::form_urlencoded::parse(query.as_bytes())
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.into_owned())
    };
    let cursor = parameter("cursor");
    let listed = guest
        .read(&ListProjects {
            limit: Some(LISTED),
            cursor: cursor.clone(),
        })
        .await?;
    let mut rows = Vec::with_capacity(listed.data.len());
    for project in listed.data {
        match ProjectRow::read(&guest, project).await {
            Ok(row) => rows.push(row),
            // Access was taken away meanwhile.
            Err(failure) if failure.0.code == Code::ProjectForbidden => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    let is_whole = cursor.is_none() && listed.next_cursor.is_none();
    let view = ProjectsView {
        sorts: is_whole.then(|| sorted(&mut rows, &parameter("sort").unwrap_or_default())),
        layout: Layout::new("Projects"),
        user: guest.visitor.session.user_name.clone(),
        rows,
        paging: Paging {
            first: cursor.map(|_| "/projects".to_owned()),
            next: listed.next_cursor.map(|cursor| {
                let query = url::form_urlencoded::Serializer::new(String::new())
                    .append_pair("cursor", &cursor)
                    .finish();
                format!("/projects?{query}")
            }),
            file: Some("/projects.csv".to_owned()),
        },
    };
    Ok(page::respond(StatusCode::OK, &view, Form::Own))
}

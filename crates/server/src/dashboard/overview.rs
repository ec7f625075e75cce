//! `/projects/{id}`: what needs somebody, what runs, what changed, and the next steps of the setup. `/projects/{id}/activity`:
//! every change.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::{
    activity::{Activity, CredentialKind, ListActivity},
    approvals::{ApprovalStatus, ListApprovals},
    audits::{Audit, ListAudits},
    issues::{Issue, IssueStatus, ListIssues},
    jobs::{Job, JobStatus, ListJobs},
    posts::{ListPosts, PostStatus},
    schedules::{ListSchedules, ScheduleKind},
};

use super::{
    audits::health_chart,
    chart::LineChart,
    export::CsvFile,
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    since::{self, SinceView},
    visit::{PageResult, Paging, Visit},
};
use crate::app::App;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}", get(overview))
        .route("/projects/{project}/activity", get(activity))
        .route(
            "/projects/{project}/activity.csv",
            CsvFile::of_list("activity").route(log),
        )
}

/// Something that waits for a person, with where to decide.
struct Need {
    class: &'static str,
    mark: &'static str,
    text: String,
    href: String,
    link: &'static str,
}

/// A step of the setup.
struct Step {
    is_done: bool,
    text: &'static str,
    href: String,
}

/// Work under way.
struct Running {
    text: String,
    href: Option<String>,
    since: String,
}

/// An entry of the log of changes.
struct LogEntry {
    at: String,
    action: String,
    by: String,
    subject: Option<String>,
}

impl LogEntry {
    fn new(visit: &Visit, entry: &Activity) -> Self {
        let credential = &entry.credential;
        let person = entry.user.as_ref().map(|user| show::plain(&user.name));
        let name = show::plain(&credential.name);
        let by = match (credential.kind, person) {
            (CredentialKind::ApiKey, _) => format!("key {name}"),
            (CredentialKind::OauthToken, Some(person)) => format!("{name}, for {person}"),
            (CredentialKind::OauthToken, None) => name,
            (CredentialKind::Session | CredentialKind::Page, Some(person)) => person,
            (CredentialKind::Session | CredentialKind::Page, None) => "a person".to_owned(),
            (CredentialKind::Operator, _) => "the operator".to_owned(),
            (CredentialKind::Server, _) => "the server".to_owned(),
        };
        let (resource, verb) = entry.action.split_once('.').unwrap_or((&entry.action, ""));
        Self {
            at: visit.time(&entry.created_at),
            action: format!("{}: {}", show::heading(resource), show::words(verb)),
            by,
            subject: entry
                .subject
                .as_ref()
                .and_then(|id| subject_page(resource, id))
                .map(|rest| visit.address(&rest)),
        }
    }
}

/// Page of the record that a change was about, below the project.
fn subject_page(resource: &str, id: &str) -> Option<String> {
    let folder = match resource {
        "posts" => "posts",
        "webhooks" => "webhooks",
        "approvals" => "approvals",
        _ => return None,
    };
    // Text of the log becomes part of an address only if it is an id.
    id.chars()
        .all(|c| c.is_ascii_hexdigit() || c == '-')
        .then(|| format!("/{folder}/{id}"))
}

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewView {
    frame: ProjectFrame,
    since: SinceView,
    needs: Vec<Need>,
    steps: Vec<Step>,
    running: Vec<Running>,
    newest: Option<Audit>,
    newest_at: Option<String>,
    next_audit: Option<String>,
    chart: Option<LineChart>,
    issues: Vec<Issue>,
    entries: Vec<LogEntry>,
}

impl OverviewView {
    fn delta(&self) -> String {
        let since = self.newest.as_ref().and_then(|audit| audit.since_previous);
        since
            .and_then(|since| since.health_score)
            .map_or_else(String::new, |change| {
                format!("{} since the audit before", show::change(i64::from(change)))
            })
    }
}

async fn needs(visit: &Visit, audits: &[Audit]) -> Result<Vec<Need>, searchwright_engine::Failure> {
    let mut needs = Vec::new();
    if let Some(failed) = audits.first().filter(|audit| audit.error.is_some()) {
        let reason = failed.error.as_ref().map(|error| show::plain(&error.message));
        needs.push(Need {
            class: "error",
            mark: "Audit failed",
            text: reason.unwrap_or_default(),
            href: visit.address(&format!("/audits/{}", failed.id)),
            link: "Look at it",
        });
    }
    let approvals = visit
        .read(&ListApprovals {
            project_id: visit.project_id(),
            status: Some(ApprovalStatus::Pending),
            limit: Some(5),
            cursor: None,
        })
        .await?;
    for approval in approvals.data {
        let title = approval.title.as_deref().unwrap_or("a post without a title");
        let until = approval.expires_at.map_or_else(
            || "waits for a decision".to_owned(),
            |at| format!("is published on {} unless you stop it", visit.time(&at)),
        );
        needs.push(Need {
            class: "warning",
            mark: "Approval",
            text: format!("\u{201c}{}\u{201d} {until}", show::cut(title, 120)),
            href: visit.address(&format!("/approvals/{}", approval.id)),
            link: "Decide",
        });
    }
    let failed = visit
        .read(&ListPosts {
            project_id: visit.project_id(),
            status: Some(PostStatus::Failed),
            keyword_id: None,
            q: None,
            sort: None,
            limit: Some(5),
            cursor: None,
        })
        .await?;
    for post in failed.data {
        let title = post.title.as_deref().unwrap_or("a post without a title");
        let reason = post.failure.as_ref().map(|failure| show::plain(&failure.detail));
        needs.push(Need {
            class: "error",
            mark: "Post failed",
            text: format!(
                "\u{201c}{}\u{201d}: {}",
                show::cut(title, 120),
                reason.unwrap_or_else(|| "the last job failed".to_owned())
            ),
            href: visit.address(&format!("/posts/{}", post.id)),
            link: "Look at it",
        });
    }
    Ok(needs)
}

fn running(visit: &Visit, jobs: Vec<Job>) -> Vec<Running> {
    jobs.into_iter()
        .map(|job| {
            let audit = job.links.get("audit").and_then(|link| link.rsplit('/').next());
            let since = job.started_at.unwrap_or(job.created_at);
            Running {
                text: show::heading(&job.kind),
                href: audit.map(|id| visit.address(&format!("/audits/{id}"))),
                since: visit.time(&since),
            }
        })
        .collect()
}

async fn overview(visit: Visit) -> PageResult {
    let project_id = visit.project_id();
    let audits = visit
        .read(&ListAudits {
            project_id: project_id.clone(),
            status: None,
            limit: Some(20),
            cursor: None,
        })
        .await?
        .data;
    let issues = visit
        .read(&ListIssues {
            project_id: project_id.clone(),
            status: Some(IssueStatus::Active),
            severity: None,
            category: None,
            sort: None,
            limit: Some(5),
            cursor: None,
        })
        .await?
        .data;
    let jobs = visit
        .read(&ListJobs {
            project_id: project_id.clone(),
            status: Some(JobStatus::Running),
            limit: Some(5),
            cursor: None,
        })
        .await?
        .data;
    let schedules = visit
        .read(&ListSchedules {
            project_id: project_id.clone(),
        })
        .await?;
    let entries = visit
        .read(&ListActivity {
            project_id: project_id.clone(),
            limit: Some(8),
            cursor: None,
        })
        .await?
        .data;
    let needs = needs(&visit, &audits).await?;
    let setup = visit.project.setup;
    let is_running = !jobs.is_empty();
    let next = schedules
        .data
        .iter()
        .find(|schedule| schedule.kind == ScheduleKind::Audits)
        .and_then(|schedule| schedule.next_at);
    let chart = health_chart(&visit, &audits);
    let newest = audits.into_iter().find(|audit| audit.status.has_results());
    let step = |is_done, text, rest: &str| Step {
        is_done,
        text,
        href: visit.address(rest),
    };
    let steps = vec![
        step(setup.audited, "Run the first audit", "/audits"),
        step(next.is_some(), "Audit every week", "/settings/schedules"),
        step(
            setup.has_keywords,
            "Add keywords, or import them from a file",
            "/keywords",
        ),
        step(
            entries
                .iter()
                .any(|entry| entry.credential.kind == CredentialKind::OauthToken),
            "Connect an agent",
            "/settings/connect",
        ),
    ];
    let view = OverviewView {
        frame: visit.frame("Overview", Section::Overview).live(is_running),
        since: since::since(&visit).await?,
        needs,
        steps: if steps.iter().all(|step| step.is_done) {
            Vec::new()
        } else {
            steps
        },
        running: running(&visit, jobs),
        newest_at: newest
            .as_ref()
            .and_then(|audit| audit.finished_at)
            .map(|at| visit.time(&at)),
        next_audit: next.map(|at| visit.time(&at)),
        chart,
        newest,
        issues,
        entries: entries.iter().map(|entry| LogEntry::new(&visit, entry)).collect(),
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityView {
    frame: ProjectFrame,
    entries: Vec<LogEntry>,
    paging: Paging,
}

fn log(visit: &Visit) -> ListActivity {
    ListActivity {
        project_id: visit.project_id(),
        limit: Some(50),
        cursor: visit.cursor(),
    }
}

async fn activity(visit: Visit) -> PageResult {
    let listed = visit.read(&log(&visit)).await?;
    let view = ActivityView {
        frame: visit.frame("Activity", Section::Activity),
        entries: listed
            .data
            .iter()
            .map(|entry| LogEntry::new(&visit, entry))
            .collect(),
        paging: Paging::new(&visit, listed.next_cursor.as_deref()).with_file(&visit, "/activity.csv"),
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

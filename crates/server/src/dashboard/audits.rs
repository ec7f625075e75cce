//! `/projects/{id}/audits`: health over time, every audit, one audit with what it changed, and the start of another.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    extract::Path,
    routing::{get, post},
};
use http::StatusCode;
use searchwright_contract::{
    Code, Scope,
    audits::{Audit, AuditStatus, CancelAudit, GetAudit, ListAudits, StartAudit},
    diffs::{AuditDiff, Change, ChangeCounts, DiffAudits, Incomparable},
    ids::{AuditId, IssueId},
    schedules::{ListSchedules, ScheduleKind},
};
use searchwright_engine::Failure;

use super::{
    chart::{self, LineChart, Point},
    export::CsvFile,
    frame::{ProjectFrame, Section},
    page::{self, Form},
    shares::form::ShareForm,
    show,
    visit::{self, FilterLink, PageResult, Paging, SentForm, Visit},
};
use crate::app::App;

/// Audits that a page lists.
const LISTED: u8 = 25;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/audits", get(list).post(start))
        .route(
            "/projects/{project}/audits.csv",
            CsvFile::of_list("audits").route(listing),
        )
        .route(
            "/projects/{project}/audits/{audit}/changes.csv",
            CHANGES.route_of(comparison),
        )
        .route("/projects/{project}/audits/{audit}", get(detail))
        .route("/projects/{project}/audits/{audit}/cancel", post(cancel))
}

/// Changes of an audit, page by page.
const CHANGES: CsvFile = CsvFile {
    name: "changes",
    member: "changes",
};

/// A change of a figure since the audit before.
pub(super) fn delta(change: Option<i64>) -> String {
    change.map_or_else(String::new, show::change)
}

/// A row of the table of audits.
struct AuditRow {
    audit: Audit,
    href: String,
    at: String,
    status: (&'static str, &'static str),
}

impl AuditRow {
    fn new(visit: &Visit, audit: Audit) -> Self {
        Self {
            href: visit.address(&format!("/audits/{}", audit.id)),
            at: visit.time(&audit.requested_at),
            status: show::audit_status(audit.status),
            audit,
        }
    }

    /// Findings that the audit before did not have.
    fn added(&self) -> Option<String> {
        let changes = self.audit.changes?;
        Some(show::number(changes.new + changes.added))
    }

    /// Findings that are gone since the audit before.
    fn fixed(&self) -> Option<String> {
        let changes = self.audit.changes?;
        Some(show::number(changes.removed + changes.missing))
    }

    fn delta(&self) -> String {
        let since = self.audit.since_previous;
        delta(since.and_then(|since| since.health_score).map(i64::from))
    }
}

/// Returns the chart of the health scores of audits, given newest first.
pub(super) fn health_chart(visit: &Visit, audits: &[Audit]) -> Option<LineChart> {
    let scored: Vec<&Audit> = audits.iter().filter(|audit| audit.status.has_results()).collect();
    if scored.len() < 2 {
        return None;
    }
    let mut points: Vec<Point> = Vec::with_capacity(scored.len());
    let mut ruleset: Option<&str> = None;
    for audit in scored.into_iter().rev() {
        points.push(Point {
            label: visit.day(&audit.requested_at),
            value: audit.health_score.map(f64::from),
            is_partial: audit.score_is_partial,
            is_break: ruleset.is_some_and(|earlier| earlier != audit.ruleset_version),
            ..Point::default()
        });
        ruleset = Some(&audit.ruleset_version);
    }
    Some(LineChart::of_percent(
        "Health score of each audit, 0 to 100",
        points,
    ))
}

#[derive(Template)]
#[template(path = "audits.html")]
struct AuditsView {
    frame: ProjectFrame,
    rows: Vec<AuditRow>,
    chart: Option<LineChart>,
    schedule_next: Option<String>,
    may_start: bool,
    is_running: bool,
    paging: Paging,
    wrong: Option<String>,
    max_pages: String,
    exclude: String,
}

/// The list of the page.
fn listing(visit: &Visit) -> ListAudits {
    ListAudits {
        project_id: visit.project_id(),
        status: None,
        limit: Some(LISTED),
        cursor: visit.cursor(),
    }
}

async fn show_list(visit: &Visit, wrong: Option<(StatusCode, String)>, sent: Sent) -> PageResult {
    let listed = visit.read(&listing(visit)).await?;
    let schedules = visit
        .read(&ListSchedules {
            project_id: visit.project_id(),
        })
        .await?;
    let schedule = schedules
        .data
        .into_iter()
        .find(|schedule| schedule.kind == ScheduleKind::Audits);
    let is_running = listed.data.iter().any(|audit| audit.status.is_active());
    let (status, wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let view = AuditsView {
        frame: visit.frame("Audits", Section::Audits).live_with_text(is_running),
        chart: health_chart(visit, &listed.data),
        schedule_next: schedule
            .and_then(|schedule| schedule.next_at)
            .map(|at| visit.time(&at)),
        may_start: visit.may(Scope::AuditsWrite),
        is_running,
        paging: Paging::new(visit, listed.next_cursor.as_deref()).with_file(visit, "/audits.csv"),
        rows: listed
            .data
            .into_iter()
            .map(|audit| AuditRow::new(visit, audit))
            .collect(),
        wrong,
        max_pages: sent.max_pages,
        exclude: sent.exclude,
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn list(visit: Visit) -> PageResult {
    show_list(&visit, None, Sent::default()).await
}

/// Fields of the form, as they were sent.
#[derive(Default)]
struct Sent {
    max_pages: String,
    exclude: String,
}

async fn start(sent: SentForm) -> PageResult {
    let fields = Sent {
        max_pages: sent.form.get("maxPages").trim().to_owned(),
        exclude: sent.form.get("exclude").to_owned(),
    };
    let max_pages = match fields.max_pages.as_str() {
        "" => None,
        text => match text.parse() {
            Ok(number) => Some(number),
            Err(_) => {
                let text = "Maximum number of pages has to be a whole number from 1 to 1,000,000.".to_owned();
                let wrong = Some((StatusCode::UNPROCESSABLE_ENTITY, text));
                return show_list(&sent.visit, wrong, fields).await;
            }
        },
    };
    let exclude: Vec<String> = fields
        .exclude
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    let started = sent
        .change(&StartAudit {
            project_id: sent.visit.project_id(),
            max_pages,
            max_depth: None,
            include: None,
            exclude: (!exclude.is_empty()).then_some(exclude),
            include_subdomains: None,
        })
        .await;
    match started {
        Ok(started) => {
            let code = if started.already_running {
                "audit-running"
            } else {
                "audit-started"
            };
            let address = sent.visit.address(&format!("/audits/{}", started.audit.id));
            Ok(sent.done(&address, code, 1))
        }
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => show_list(&sent.visit, Some(wrong), fields).await,
            None => Err(failure.into()),
        },
    }
}

async fn cancel(Path((_, audit)): Path<(String, String)>, sent: SentForm) -> PageResult {
    let address = sent.visit.address(&format!("/audits/{audit}"));
    let cancelled = sent
        .change(&CancelAudit {
            project_id: sent.visit.project_id(),
            audit_id: audit,
        })
        .await;
    match cancelled {
        Ok(_) => Ok(sent.done(&address, "audit-cancelled", 1)),
        // It ended meanwhile, which its page shows.
        Err(failure) if failure.0.code == Code::InvalidState => Ok(page::see_other(&address)),
        Err(failure) => Err(failure.into()),
    }
}

/// Score of a category of checks.
struct CategoryScore {
    name: String,
    score: u8,
    bar: String,
    href: String,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditView {
    frame: ProjectFrame,
    audit: Audit,
    row: AuditRow,
    categories: Vec<CategoryScore>,
    diff: Option<AuditDiff>,
    others: Vec<AuditRow>,
    against: Option<String>,
    links: Links,
    may_cancel: bool,
    ended: Option<String>,
    share: Option<ShareForm>,
}

/// A number of changes with the list of their pages.
struct ChangeCell {
    name: &'static str,
    number: u64,
    href: String,
}

/// Addresses on the page of an audit.
struct Links {
    issues: String,
    pages: String,
    all_audits: String,

    changes: Vec<FilterLink>,
    /// The list of changes without that of an issue, if one is named.
    every_issue: Option<String>,
    /// This audit with what it is compared with, and nothing else.
    compared: String,
    paging: Paging,
}

impl AuditView {
    fn severities(&self) -> Vec<(&'static str, &'static str, u64, String, String)> {
        let Some(totals) = self.audit.totals else {
            return Vec::new();
        };
        let since = self.audit.since_previous;
        let link = |severity: &str| format!("{}?severity={severity}", self.links.issues);
        vec![
            (
                "error",
                "Errors",
                totals.errors,
                delta(since.map(|s| s.errors)),
                link("error"),
            ),
            (
                "warning",
                "Warnings",
                totals.warnings,
                delta(since.map(|s| s.warnings)),
                link("warning"),
            ),
            (
                "notice",
                "Notices",
                totals.notices,
                delta(since.map(|s| s.notices)),
                link("notice"),
            ),
        ]
    }

    fn termination(&self) -> Option<&'static str> {
        show::termination(self.audit.termination.as_deref()?)
    }

    /// Share of the known URLs that were fetched or found to be forbidden, for progress.
    fn progress(&self) -> f64 {
        let progress = self.audit.progress;
        let ended = progress.fetched + progress.failed + progress.blocked;
        100.0 * ended as f64 / progress.discovered.max(1) as f64
    }

    /// Numbers of changes with the lists of their pages; of all issues, or of one.
    fn change_counts(&self, counts: &ChangeCounts, issue: Option<&IssueId>) -> Vec<ChangeCell> {
        let of_issue = issue.map_or_else(String::new, |issue| format!("&issue={issue}"));
        let cell = |change: Change, name, number| ChangeCell {
            name,
            number,
            href: format!("{}change={change}{of_issue}#page-by-page", self.links.compared),
        };
        vec![
            cell(Change::Added, "New on known pages", counts.added),
            cell(Change::New, "On new pages", counts.new),
            cell(Change::Removed, "Fixed", counts.removed),
            cell(Change::Missing, "Page is gone", counts.missing),
        ]
    }

    fn page_changes<'a>(
        &self,
        diff: &'a AuditDiff,
    ) -> Vec<(&'static str, &'a searchwright_contract::diffs::PagesChanged)> {
        let pages = &diff.pages;
        [
            ("New", &pages.added),
            ("Gone", &pages.gone),
            ("Status changed", &pages.status_changed),
            ("Title changed", &pages.title_changed),
            ("Canonical URL changed", &pages.canonical_changed),
            ("Indexability changed", &pages.indexability_changed),
        ]
        .into_iter()
        .filter(|(_, changed)| changed.count > 0)
        .collect()
    }
}

/// Reasons for which two audits are not fully comparable.
pub(super) fn incomparable(diff: &AuditDiff) -> String {
    let reasons = diff.reasons.iter().map(|reason| match reason {
        Incomparable::Ruleset => "the checks have different versions",
        Incomparable::Config => "the crawls had different limits or patterns",
        Incomparable::StartUrl => "the crawls began at different URLs",
        Incomparable::Partial => "one of them left out known pages",
    });
    reasons.collect::<Vec<_>>().join("; ")
}

/// Name of a change of an issue on a page.
fn change_name(change: Change) -> &'static str {
    match change {
        Change::New => "On new pages",
        Change::Added => "New on known pages",
        Change::Removed => "Fixed",
        Change::Missing => "Page is gone",
        Change::Unchanged => "Unchanged",
    }
}

/// The comparison that the address asks for.
fn comparison(visit: &Visit, audit: &str) -> DiffAudits {
    DiffAudits {
        project_id: visit.project_id(),
        audit_id: audit.to_owned(),
        against: visit.parameter("against").map(str::to_owned),
        change: visit.parsed("change"),
        issue_id: visit.parsed::<IssueId>("issue").map(|issue| issue.to_string()),
        limit: Some(50),
        cursor: visit.cursor(),
    }
}

async fn compare(visit: &Visit, audit: &Audit) -> Result<Option<AuditDiff>, Failure> {
    let asked = comparison(visit, &audit.id.to_string());
    let has_earlier = asked.against.is_some() || audit.previous_audit_id.is_some();
    if !audit.status.has_results() || !has_earlier {
        return Ok(None);
    }
    match visit.read(&asked).await {
        Ok(diff) => Ok(Some(diff)),
        // The findings of old audits are not kept, and an earlier one may have no results.
        Err(failure) if matches!(failure.0.code, Code::NotFound | Code::InvalidState) => Ok(None),
        Err(failure) => Err(failure),
    }
}

async fn detail(visit: Visit, Path((_, id)): Path<(String, String)>) -> PageResult {
    let audit = visit
        .read(&GetAudit {
            project_id: visit.project_id(),
            audit_id: id,
        })
        .await?;
    let diff = compare(&visit, &audit).await?;
    let others = visit
        .read(&ListAudits {
            project_id: visit.project_id(),
            status: None,
            limit: Some(10),
            cursor: None,
        })
        .await?;
    let others = others
        .data
        .into_iter()
        .filter(|other| other.id != audit.id && other.status.has_results() && other.id < audit.id);
    let issues = visit.address("/issues");
    let categories = audit.category_scores.iter().flatten();
    let mut filters = vec![FilterLink::new(&visit, "change", None, "All changes")];
    for change in [Change::Added, Change::New, Change::Removed, Change::Missing] {
        filters.push(FilterLink::new(
            &visit,
            "change",
            Some(change.as_str()),
            change_name(change),
        ));
    }
    let view = AuditView {
        frame: visit
            .frame("Audit", Section::Audits)
            .live(audit.status.is_active()),
        categories: categories
            .map(|(code, score)| CategoryScore {
                name: show::category(code),
                score: *score,
                bar: chart::bar(f64::from(*score)),
                href: format!("{issues}?category={code}"),
            })
            .collect(),
        others: others.map(|other| AuditRow::new(&visit, other)).collect(),
        against: diff.as_ref().map(|diff| diff.against_id.to_string()),
        links: Links {
            pages: visit.address("/pages"),
            all_audits: visit.address("/audits"),
            changes: filters,
            every_issue: visit
                .parameter("issue")
                .map(|_| visit.with_parameter("issue", None)),
            compared: visit
                .parsed::<AuditId>("against")
                .map_or_else(|| "?".to_owned(), |against| format!("?against={against}&")),
            paging: Paging::new(&visit, diff.as_ref().and_then(|diff| diff.next_cursor.as_deref()))
                .with_file(&visit, &format!("/audits/{}/changes.csv", audit.id)),
            issues,
        },
        may_cancel: visit.may(Scope::AuditsWrite) && audit.status.is_active(),
        ended: audit.finished_at.map(|at| visit.time(&at)),
        share: Some(())
            .filter(|()| audit.status.has_results())
            .and_then(|()| ShareForm::of_audit(&visit, &audit.id.to_string())),
        row: AuditRow::new(&visit, audit.clone()),
        audit,
        diff,
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

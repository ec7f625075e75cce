//! `/projects/{id}/issues`: what is wrong with the website, and one issue with its occurrences, which are marked and rechecked
//! here.

use std::{collections::BTreeMap, sync::Arc};

use askama::Template;
use axum::{
    Router,
    body::Body,
    extract::Path,
    routing::{get, post},
};
use http::{Response, StatusCode};
use searchwright_contract::{
    Instant, Scope,
    evidence::in_words,
    issues::{
        GetIssue, Issue, IssueSort, IssueStatus, ListIssues, ListOccurrences, Occurrence, OccurrenceState,
        Severity,
    },
    occurrences::{IgnoreOccurrences, MarkDone, Marking, Pair, UndoDone, UnignoreOccurrences},
    rechecks::{GetRecheck, Recheck, RecheckStatus, StartRecheck},
};
use searchwright_engine::{Failure, failure};

use super::{
    chart,
    export::CsvFile,
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{self, FilterLink, PageResult, Paging, SentForm, SortColumn, Sorting, Visit},
};
use crate::app::App;

/// Characters of evidence that a row shows; the rest is behind a summary.
const MAX_EVIDENCE: usize = 240;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/issues", get(list))
        .route(
            "/projects/{project}/issues.csv",
            CsvFile::of_list("issues").route(listing),
        )
        .route(
            "/projects/{project}/issues/{issue}/occurrences.csv",
            CsvFile::of_list("occurrences").route_of(occurrences),
        )
        .route("/projects/{project}/issues/{issue}", get(detail).post(mark))
        .route("/projects/{project}/rechecks", post(recheck_all))
}

/// A row of the table of issues.
struct IssueRow {
    issue: Issue,
    href: String,
    bar: String,
    first_seen: String,
}

impl IssueRow {
    fn new(visit: &Visit, issue: Issue) -> Self {
        Self {
            href: visit.address(&format!("/issues/{}", issue.id)),
            bar: chart::bar(issue.impact),
            first_seen: visit.day(&issue.first_seen_at),
            issue,
        }
    }

    /// States of its occurrences that are not simply open, in words.
    fn states(&self) -> String {
        let said = OccurrenceState::ALL.iter().filter_map(|state| {
            let count = self.issue.counts.get(state.as_str()).copied().unwrap_or(0);
            let is_told = count > 0 && !matches!(state, OccurrenceState::Open);
            is_told.then(|| format!("{} {}", show::number(count), show::state(*state).1.to_lowercase()))
        });
        said.collect::<Vec<_>>().join(", ")
    }
}

#[derive(Template)]
#[template(path = "issues.html")]
struct IssuesView {
    frame: ProjectFrame,
    rows: Vec<IssueRow>,
    statuses: Vec<FilterLink>,
    severities: Vec<FilterLink>,
    categories: Vec<FilterLink>,
    audited_at: Option<String>,
    audits: String,
    /// Whether something is marked as done, which a recheck would prove.
    has_claims: bool,
    /// By pages, impact and time of the first finding.
    sorts: [SortColumn; 3],
    paging: Paging,
}

/// The list with the filters of the address.
fn listing(visit: &Visit) -> ListIssues {
    ListIssues {
        project_id: visit.project_id(),
        status: Some(visit.parsed("status").unwrap_or(IssueStatus::Active)),
        severity: visit.parsed("severity"),
        category: visit
            .parameter("category")
            .map(|category| category.chars().take(40).collect()),
        sort: visit.parsed("sort"),
        limit: Some(50),
        cursor: visit.cursor(),
    }
}

/// The occurrences of an issue with the filters of the address.
fn occurrences(visit: &Visit, issue: &str) -> ListOccurrences {
    ListOccurrences {
        project_id: visit.project_id(),
        issue_id: issue.to_owned(),
        state: visit.parsed("state"),
        limit: Some(50),
        cursor: visit.cursor(),
    }
}

async fn list(visit: Visit) -> PageResult {
    let asked = listing(&visit);
    let listed = visit.read(&asked).await?;
    let sorting = Sorting::new(&visit, "sort", "impact", asked.sort.map(IssueSort::as_str));
    let current = visit
        .find(&searchwright_contract::audits::GetCurrentAudit {
            project_id: visit.project_id(),
        })
        .await?;
    let scored = current.as_ref().and_then(|audit| audit.category_scores.as_ref());
    let categories: Vec<&String> = scored.into_iter().flatten().map(|(code, _)| code).collect();
    let mut severities = vec![FilterLink::new(&visit, "severity", None, "All")];
    for severity in Severity::ALL {
        let text = format!("{}s", show::severity_name(*severity));
        severities.push(FilterLink::new(&visit, "severity", Some(severity.as_str()), text));
    }
    let mut filters = vec![FilterLink::new(&visit, "category", None, "All")];
    for code in categories {
        filters.push(FilterLink::new(
            &visit,
            "category",
            Some(code),
            show::category(code),
        ));
    }
    let has_any = |state: OccurrenceState| {
        let mut counts = listed
            .data
            .iter()
            .filter_map(|issue| issue.counts.get(state.as_str()));
        counts.any(|count| *count > 0)
    };
    let view = IssuesView {
        frame: visit
            .frame("Issues", Section::Issues)
            .live(has_any(OccurrenceState::RecheckPending)),
        statuses: vec![
            FilterLink::new(&visit, "status", None, "To do"),
            FilterLink::new(&visit, "status", Some("inactive"), "Resolved or ignored"),
        ],
        severities,
        categories: filters,
        audited_at: current
            .as_ref()
            .and_then(|audit| audit.finished_at)
            .map(|at| visit.time(&at)),
        audits: visit.address("/audits"),
        sorts: [
            sorting.order_by_number("pages", "Pages", "descending"),
            sorting.order_by_number("impact", "Impact", "descending"),
            sorting.order_by("newest", "First seen", "descending"),
        ],
        paging: Paging::new(&visit, listed.next_cursor.as_deref()).with_file(&visit, "/issues.csv"),
        has_claims: visit.may(Scope::AuditsWrite) && has_any(OccurrenceState::Done),
        rows: listed
            .data
            .into_iter()
            .map(|issue| IssueRow::new(&visit, issue))
            .collect(),
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

/// A row of the table of occurrences.
struct OccurrenceRow {
    occurrence: Occurrence,
    href: String,
    state: (&'static str, &'static str),
    evidence: String,
    more_evidence: Option<String>,
    checked: String,
    history: Vec<String>,
}

impl OccurrenceRow {
    fn new(visit: &Visit, occurrence: Occurrence) -> Self {
        let whole = show::plain(&in_words(&occurrence.evidence));
        let evidence = show::cut(&whole, MAX_EVIDENCE);
        let history = occurrence.history.iter().map(|change| {
            let by = change
                .by
                .name
                .clone()
                .unwrap_or_else(|| show::words(change.by.kind.as_str()));
            let note = change
                .note
                .as_ref()
                .map_or_else(String::new, |note| format!(": {}", show::plain(note)));
            format!(
                "{}: {} to {} by {}{note}",
                visit.time(&change.at),
                show::state(change.from).1.to_lowercase(),
                show::state(change.to).1.to_lowercase(),
                show::plain(&by),
            )
        });
        Self {
            href: visit.address(&format!("/pages/{}", occurrence.page_id)),
            state: show::state(occurrence.state),
            more_evidence: (evidence != whole).then_some(whole),
            evidence,
            checked: visit.time(&occurrence.last_checked_at),
            history: history.collect(),
            occurrence,
        }
    }

    /// Value of its tick box.
    fn value(&self) -> String {
        format!("{} {}", self.occurrence.page_id, self.occurrence.version)
    }
}

#[derive(Template)]
#[template(path = "issue.html")]
struct IssueView {
    frame: ProjectFrame,
    issue: Issue,
    row: IssueRow,
    rows: Vec<OccurrenceRow>,
    states: Vec<FilterLink>,
    state: Option<OccurrenceState>,
    issues: String,
    action: String,
    may_change: bool,
    recheck: Option<Recheck>,
    ticket: String,
    paging: Paging,
    wrong: Option<String>,
    note: String,
}

impl IssueView {
    fn source(&self) -> Option<&str> {
        let source = self.issue.recommendation_source.as_str();
        source.starts_with("https://").then_some(source)
    }

    fn recheck_mark(&self) -> (&'static str, &'static str) {
        match self.recheck.as_ref().map(|recheck| recheck.status) {
            Some(RecheckStatus::Queued | RecheckStatus::Running) => ("run", "Rechecking"),
            Some(RecheckStatus::Failed) => ("error", "The recheck failed; every row is as it was"),
            _ => ("good", "Rechecked"),
        }
    }

    /// Outcomes of the recheck, in words.
    fn outcomes(&self, recheck: &Recheck) -> String {
        let counts = recheck.counts;
        let outcomes = [
            (counts.pending, "not checked yet"),
            (counts.resolved, "resolved"),
            (counts.still_present, "still present"),
            (counts.inconclusive, "could not be checked"),
            (counts.needs_audit, "need an audit"),
            (counts.superseded, "changed meanwhile"),
            (counts.new_issues, "found anew on these pages"),
        ];
        let told = outcomes
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{count} {words}"));
        told.collect::<Vec<_>>().join(", ")
    }
}

/// The issue as text for a ticket.
fn ticket(issue: &Issue, rows: &[OccurrenceRow]) -> String {
    let mut text = format!(
        "{}\n\n{}\n\nWhy: {}\nFix: {}\nVerify: {}\n",
        issue.title, issue.description, issue.why_it_matters, issue.recommendation, issue.how_to_verify
    );
    for row in rows.iter().take(20) {
        text.push_str(&format!(
            "\n- {}: {}",
            show::plain(&row.occurrence.url),
            row.evidence
        ));
    }
    let left = issue.affected_pages.saturating_sub(rows.len().min(20) as u64);
    if left > 0 {
        text.push_str(&format!("\n- and {} more", show::number(left)));
    }
    text
}

fn state_filters(visit: &Visit, counts: &BTreeMap<String, u64>) -> Vec<FilterLink> {
    let mut filters = vec![FilterLink::new(visit, "state", None, "To do")];
    for state in OccurrenceState::ALL {
        let count = counts.get(state.as_str()).copied().unwrap_or(0);
        if count > 0 {
            let text = format!("{} {}", show::state(*state).1, show::number(count));
            filters.push(FilterLink::new(visit, "state", Some(state.as_str()), text));
        }
    }
    filters
}

async fn show_issue(
    visit: &Visit,
    id: String,
    wrong: Option<(StatusCode, String)>,
    note: String,
) -> PageResult {
    let issue = visit
        .read(&GetIssue {
            project_id: visit.project_id(),
            issue_id: id.clone(),
        })
        .await?;
    let asked = occurrences(visit, &id);
    let listed = visit.read(&asked).await?;
    let state = asked.state;
    let recheck = match visit.parameter("recheck") {
        Some(id) => {
            visit
                .find(&GetRecheck {
                    project_id: visit.project_id(),
                    recheck_id: id.to_owned(),
                    limit: Some(1),
                    cursor: None,
                })
                .await?
        }
        None => None,
    };
    let rows: Vec<OccurrenceRow> = listed
        .data
        .into_iter()
        .map(|occurrence| OccurrenceRow::new(visit, occurrence))
        .collect();
    let (status, wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let is_active = recheck
        .as_ref()
        .is_some_and(|recheck| matches!(recheck.status, RecheckStatus::Queued | RecheckStatus::Running));
    let view = IssueView {
        frame: visit.frame("Issue", Section::Issues).live_with_text(is_active),
        states: state_filters(visit, &issue.counts),
        state,
        issues: visit.address("/issues"),
        action: visit.address(&format!("/issues/{id}")),
        may_change: visit.may(Scope::AuditsWrite),
        recheck,
        ticket: ticket(&issue, &rows),
        paging: Paging::new(visit, listed.next_cursor.as_deref())
            .with_file(visit, &format!("/issues/{id}/occurrences.csv")),
        row: IssueRow::new(visit, issue.clone()),
        issue,
        rows,
        wrong,
        note,
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn detail(visit: Visit, Path((_, id)): Path<(String, String)>) -> PageResult {
    show_issue(&visit, id, None, String::new()).await
}

/// Rows that were ticked: the pages with the versions that the person saw.
fn ticked(sent: &SentForm, issue: &str) -> Vec<Pair> {
    let ticked = sent.form.all("row").filter_map(|value| {
        let (page, version) = value.split_once(' ')?;
        Some(Pair {
            issue_id: issue.to_owned(),
            page_id: page.to_owned(),
            if_version: Some(version.to_owned()),
        })
    });
    ticked.collect()
}

async fn carry_out(sent: &SentForm, issue: &str, address: &str) -> Result<Response<Body>, Failure> {
    let pairs = ticked(sent, issue);
    if pairs.is_empty() {
        return Err(visit::nothing_selected());
    }
    let project_id = sent.visit.project_id();
    let note = Some(sent.form.get("note").trim().to_owned()).filter(|note| !note.is_empty());
    let occurrences = pairs;
    let marked = |marking: Marking, code: &'static str| -> Result<Response<Body>, Failure> {
        if marking.changed == 0 && marking.refused > 0 {
            let reason = marking.items.iter().find_map(|item| item.code.clone());
            return Err(failure::fault(
                "",
                "refused",
                refused_rows(reason.as_deref().unwrap_or_default()),
            ));
        }
        Ok(sent.done(address, code, u64::from(marking.changed)))
    };
    match sent.form.get("action") {
        "done" => marked(
            sent.change(&MarkDone {
                project_id,
                occurrences,
                note,
            })
            .await?,
            "marked-done",
        ),
        "undo" => marked(
            sent.change(&UndoDone {
                project_id,
                occurrences,
                note,
            })
            .await?,
            "undone",
        ),
        "ignore" => {
            let day = sent.form.get("until");
            let until: Option<Instant> = match day {
                "" => None,
                day => Some(format!("{day}T00:00:00Z").parse().map_err(|_| {
                    failure::fault("/until", "invalid", "has to be a day, such as 2026-12-31")
                })?),
            };
            marked(
                sent.change(&IgnoreOccurrences {
                    project_id,
                    occurrences,
                    note,
                    until,
                })
                .await?,
                "ignored",
            )
        }
        "unignore" => marked(
            sent.change(&UnignoreOccurrences {
                project_id,
                occurrences,
                note,
            })
            .await?,
            "unignored",
        ),
        "recheck" => {
            let started = sent
                .change(&StartRecheck {
                    project_id,
                    occurrences: Some(occurrences),
                })
                .await?;
            let code = if started.already_running {
                "recheck-running"
            } else {
                "recheck-started"
            };
            Ok(sent.done(&format!("{address}?recheck={}", started.recheck.id), code, 1))
        }
        _ => Err(failure::fault("", "invalid", "choose one of the buttons")),
    }
}

/// Sentence about rows that were refused.
fn refused_rows(code: &str) -> &'static str {
    match code {
        "precondition_failed" => {
            "these rows have changed since the page was loaded. Look at them as they are now, and tick them again"
        }
        "occurrence_ignored" => "ignored occurrences cannot be marked as done: stop ignoring them first",
        "recheck_pending" => "these rows are being rechecked: wait until it has ended",
        "invalid_state" => "the state of these rows does not allow that",
        _ => "these rows are no longer there",
    }
}

async fn mark(Path((_, issue)): Path<(String, String)>, sent: SentForm) -> PageResult {
    let address = sent.visit.address(&format!("/issues/{issue}"));
    match carry_out(&sent, &issue, &address).await {
        Ok(response) => Ok(response),
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => {
                let note = sent.form.get("note").to_owned();
                show_issue(&sent.visit, issue, Some(wrong), note).await
            }
            None => Err(failure.into()),
        },
    }
}

/// Rechecks everything that is marked as done.
async fn recheck_all(sent: SentForm) -> PageResult {
    let started = sent
        .change(&StartRecheck {
            project_id: sent.visit.project_id(),
            occurrences: None,
        })
        .await?;
    let code = if started.already_running {
        "recheck-running"
    } else {
        "recheck-started"
    };
    Ok(sent.done(&sent.visit.address("/issues"), code, 1))
}

//! Runs: prompts that were put to engines, with what came back and what it cost.

use askama::Template;
use http::StatusCode;
use searchwright_contract::runs::{CostEstimate, ListRuns, Run, RunOutcome, RunStatus, RunTrigger};

use super::{
    engines::miss_reason,
    shown::{ShareCell, VisibilityTab, dollars, engine_name, surface_name},
};
use crate::dashboard::{
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{FilterLink, PageResult, Paging, Visit},
};

/// Outcome of a run at one engine.
struct OutcomeRow {
    engine: String,
    answers: u32,
    missing: Option<String>,
    mention_rate: ShareCell,
    stability: Option<String>,
}

/// A row of the table of runs.
struct RunRow {
    at: String,
    status: (&'static str, &'static str),
    trigger: String,
    prompts: usize,
    href: Option<String>,
    samples: u8,
    cost: String,
    outcomes: Vec<OutcomeRow>,
}

pub(super) const fn run_status(status: RunStatus) -> (&'static str, &'static str) {
    match status {
        RunStatus::Queued => ("off", "Waiting"),
        RunStatus::Running => ("run", "Asking"),
        RunStatus::Completed => ("good", "Complete"),
        RunStatus::Partial => ("warning", "Partial"),
        RunStatus::Failed => ("error", "Failed"),
        RunStatus::Canceled => ("off", "Cancelled"),
    }
}

pub(super) const fn is_active(status: RunStatus) -> bool {
    matches!(status, RunStatus::Queued | RunStatus::Running)
}

/// A range of costs in words.
pub(super) fn estimate(cost: CostEstimate) -> String {
    match (cost.low, cost.high) {
        (Some(low), Some(high)) if (high - low).abs() < f64::EPSILON => dollars(high),
        (Some(low), Some(high)) => format!("{} to {}", dollars(low), dollars(high)),
        (None, Some(high)) => format!("at most {}", dollars(high)),
        (Some(low), None) => format!("at least {}", dollars(low)),
        (None, None) => "not known".to_owned(),
    }
}

fn outcome_row(outcome: RunOutcome) -> OutcomeRow {
    let missing = (outcome.missing > 0).then(|| {
        let reason = outcome.reason.map_or("", miss_reason);
        let detail = outcome
            .detail
            .as_deref()
            .map_or_else(String::new, |detail| format!(" ({})", show::cut(detail, 120)));
        format!("{} missing: {reason}{detail}", show::number(outcome.missing))
    });
    OutcomeRow {
        engine: format!(
            "{}, {}",
            engine_name(outcome.engine),
            surface_name(outcome.surface)
        ),
        answers: outcome.answers,
        missing,
        mention_rate: ShareCell::new(outcome.mention_rate.as_ref()),
        stability: outcome.stability.map(|value| show::percent(value * 100.0)),
    }
}

impl RunRow {
    fn new(visit: &Visit, run: Run) -> Self {
        let trigger = match (run.trigger, &run.requested_by) {
            (RunTrigger::Scheduled, _) => "the schedule".to_owned(),
            (RunTrigger::Manual, Some(by)) => show::cut(by, 80),
            (RunTrigger::Manual, None) => "by hand".to_owned(),
        };
        let only = match run.prompt_ids.as_slice() {
            [id] => Some(visit.address(&format!("/visibility/prompts/{id}"))),
            _ => None,
        };
        Self {
            at: visit.time(&run.created_at),
            status: run_status(run.status),
            trigger,
            prompts: run.prompt_ids.len(),
            href: only,
            samples: run.samples,
            cost: run
                .actual_cost
                .map_or_else(|| format!("estimated {}", estimate(run.estimated_cost)), dollars),
            outcomes: run.outcomes.into_iter().map(outcome_row).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "visibility_runs.html")]
struct RunsView {
    frame: ProjectFrame,
    tabs: Vec<FilterLink>,
    statuses: Vec<FilterLink>,
    is_filtered: bool,
    rows: Vec<RunRow>,
    prompts: String,
    paging: Paging,
}

/// The list with the filters of the address.
pub(super) fn listing(visit: &Visit) -> ListRuns {
    ListRuns {
        project_id: visit.project_id(),
        status: visit.parsed("status"),
        limit: Some(25),
        cursor: visit.cursor(),
    }
}

/// Shows the runs.
pub(super) async fn show(visit: &Visit) -> PageResult {
    let asked = listing(visit);
    let listed = visit.read(&asked).await?;
    let is_running = listed.data.iter().any(|run| is_active(run.status));
    let mut statuses = vec![FilterLink::new(visit, "status", None, "All")];
    for status in RunStatus::ALL {
        let text = run_status(*status).1;
        statuses.push(FilterLink::new(visit, "status", Some(status.as_str()), text));
    }
    let view = RunsView {
        frame: visit.frame("Runs", Section::Visibility).live(is_running),
        tabs: VisibilityTab::Runs.links(visit),
        statuses,
        is_filtered: asked.status.is_some(),
        prompts: VisibilityTab::Prompts.address(visit),
        paging: Paging::new(visit, listed.next_cursor.as_deref()).with_file(visit, "/visibility/runs.csv"),
        rows: listed
            .data
            .into_iter()
            .map(|run| RunRow::new(visit, run))
            .collect(),
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

//! Status of the answer engines: which are asked, what the others need, and how they have answered.

use askama::Template;
use http::StatusCode;
use searchwright_contract::{
    answers::{AnswerStatus, Surface},
    engine_status::{EngineStatus, ListEngines},
    runs::MissReason,
};

use super::shown::{ShareCell, VisibilityTab, dollars, engine_name, surface_name, tenth};
use crate::dashboard::{
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{FilterLink, PageResult, Paging, Visit},
};

/// A row of the table of engines.
struct EngineRow {
    name: &'static str,
    surface: &'static str,
    mark: (&'static str, &'static str),
    missing: Option<String>,
    model: String,
    answers: u64,
    href: String,
    failures: Option<String>,
    reasons: String,
    searched: ShareCell,
    cost: String,
    latency: Option<String>,
    last_good: Option<String>,
    last_error: Option<String>,
    notes: Vec<String>,
}

pub(super) const fn miss_reason(reason: MissReason) -> &'static str {
    match reason {
        MissReason::ProviderError => "the engine failed",
        MissReason::Uncertain => "lost on the way, not asked again",
        MissReason::Capped => "stopped by a limit of cost",
        MissReason::Interrupted => "cancelled or interrupted",
    }
}

pub(super) const fn answer_status(status: AnswerStatus) -> (&'static str, &'static str) {
    match status {
        AnswerStatus::Ok => ("good", "Answered"),
        AnswerStatus::Refused => ("warning", "Refused"),
        AnswerStatus::Empty => ("warning", "Empty"),
        AnswerStatus::NoOverview => ("off", "No AI Overview shown"),
        AnswerStatus::Incomplete => ("warning", "Cut off"),
        AnswerStatus::Error => ("error", "Failed"),
    }
}

/// Share of the questions of 28 days that got no good answer.
fn failure_share(status: &EngineStatus) -> Option<String> {
    let missed: u64 = status.missed.iter().map(|missed| missed.answers).sum();
    let asked = status.answers + missed;
    (asked > 0).then(|| {
        let share = status.failures as f64 / asked as f64 * 100.0;
        format!(
            "{} ({} of {})",
            show::percent(share),
            show::number(status.failures),
            show::number(asked)
        )
    })
}

impl EngineRow {
    fn has_limits(&self) -> bool {
        self.missing.is_some() || !self.notes.is_empty()
    }

    fn has_more(&self) -> bool {
        self.last_error.is_some() || self.has_limits()
    }

    fn new(visit: &Visit, status: EngineStatus) -> Self {
        let is_by_hand = status.surface == Surface::Manual && status.answers > 0;
        let mark = match (status.configured, is_by_hand) {
            (true, _) if status.last_error.is_some() && status.last_good_answer_at.is_none() => {
                ("error", "Fails")
            }
            (true, _) => ("good", "Configured"),
            (false, true) => ("off", "Copied by hand"),
            (false, false) => ("off", "Not configured"),
        };
        let mut models: Vec<String> = status
            .served_models
            .iter()
            .map(|model| show::cut(model, 60))
            .collect();
        if models.is_empty() {
            models.extend(
                status
                    .requested_model
                    .as_deref()
                    .map(|model| show::cut(model, 60)),
            );
        }
        let bad = status
            .statuses
            .iter()
            .filter(|count| count.status != AnswerStatus::Ok && count.answers > 0)
            .map(|count| {
                let name = answer_status(count.status).1.to_lowercase();
                format!("{} {name}", show::number(count.answers))
            });
        let missed = status.missed.iter().map(|missed| {
            format!(
                "{}: {}",
                show::count(missed.answers, "time", "times"),
                miss_reason(missed.reason)
            )
        });
        let reasons: Vec<String> = bad.chain(missed).collect();
        let estimate = status.estimated_cost.as_ref();
        let cost = match (
            &status.mean_cost,
            estimate.and_then(|cost| cost.low.zip(cost.high)),
        ) {
            (Some(mean), _) => format!("{} (of {})", dollars(mean.value), show::number(mean.answers)),
            (None, Some((low, high))) => format!("about {} to {}", dollars(low), dollars(high)),
            (None, None) => String::new(),
        };
        let last_error = status
            .last_error
            .as_ref()
            .map(|error| format!("{}: {}", visit.time(&error.at), show::cut(&error.message, 300)));
        Self {
            name: engine_name(status.engine),
            surface: surface_name(status.surface),
            mark,
            missing: status.missing.as_deref().map(show::plain),
            model: models.join(", "),
            answers: status.answers,
            href: visit.address(&format!(
                "/visibility?engine={}&surface={}",
                status.engine, status.surface
            )),
            failures: failure_share(&status),
            reasons: reasons.join(", "),
            searched: ShareCell::new(status.search_performed.as_ref()),
            cost,
            latency: status
                .median_latency_ms
                .map(|median| format!("{} s", tenth(median.value / 1000.0))),
            last_good: status.last_good_answer_at.map(|at| visit.time(&at)),
            last_error,
            notes: status.notes.iter().map(|note| show::plain(note)).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "visibility_engines.html")]
struct EnginesView {
    frame: ProjectFrame,
    tabs: Vec<FilterLink>,
    used: Vec<EngineRow>,
    others: Vec<EngineRow>,
    paging: Paging,
    from: String,
    to: String,
}

pub(super) fn listing(visit: &Visit) -> ListEngines {
    ListEngines {
        project_id: visit.project_id(),
    }
}

/// Shows the engines.
pub(super) async fn show(visit: &Visit) -> PageResult {
    let listed = visit.read(&listing(visit)).await?;
    let (used, others): (Vec<EngineStatus>, Vec<EngineStatus>) = listed
        .data
        .into_iter()
        .partition(|status| status.configured || status.answers > 0 || status.last_good_answer_at.is_some());
    let rows = |statuses: Vec<EngineStatus>| -> Vec<EngineRow> {
        statuses
            .into_iter()
            .map(|status| EngineRow::new(visit, status))
            .collect()
    };
    let view = EnginesView {
        frame: visit.frame("Engines", Section::Visibility),
        tabs: VisibilityTab::Engines.links(visit),
        used: rows(used),
        others: rows(others),
        paging: Paging::of_whole(visit, "/visibility/engines.csv"),
        from: listed.from,
        to: listed.to,
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

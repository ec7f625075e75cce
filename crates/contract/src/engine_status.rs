//! Status of the answer engines of a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Instant,
    answers::{AnswerStatus, Engine, Surface},
    declare::operation,
    runs::{CostEstimate, MissReason},
    visibility::Rate,
};

operation! {
    /// Lists the answer engines: which are configured, what the others need, and how they have answered in the last 28 days.
    ///
    /// One entry per engine and surface that an account of the project asks, or that has stored answers, also ones copied by
    /// hand; engines without either follow, with what to set in `missing`. Figures that were not measured are `null`.
    ListEngines {
        project;
    }
}

/// Status of all engines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineStatuses {
    /// One entry per engine and surface: those in use first.
    pub data: Vec<EngineStatus>,
    /// First of the 28 days, in the time zone of the project.
    #[schemars(example = &"2026-11-01")]
    pub from: String,
    /// Last of them: today.
    #[schemars(example = &"2026-11-28")]
    pub to: String,
}

impl Answer for EngineStatuses {}

/// Status of an engine at a surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EngineStatus {
    /// Engine.
    pub engine: Engine,
    /// Way by which it is asked.
    pub surface: Surface,
    /// Rule of its searches: `auto` (the engine decides), `forced` or `none`; of the newest answer if it is not configured.
    #[schemars(example = &"auto")]
    pub retrieval: Option<String>,
    /// Provider whose account asks it; `null` where answers are copied by hand.
    #[schemars(example = &"openai")]
    pub provider: Option<String>,
    /// Whether an account of the project asks it.
    pub configured: bool,
    /// Next action of whoever wants it to be asked; `null` if it is configured.
    pub missing: Option<String>,
    /// Model that the account asks for; `null` where there is no choice.
    pub requested_model: Option<String>,
    /// Models that answered in the 28 days, as the engine says, at most 20.
    pub served_models: Vec<String>,
    /// Version of its search tool.
    pub tool_version: Option<String>,
    /// Whether it answers as it would in the country of the prompt; `null` if it is not configured.
    pub location_controlled: Option<bool>,
    /// Estimated cost of one answer, to a prompt of about 15 words; `null` if it is not configured.
    pub estimated_cost: Option<CostEstimate>,
    /// Time of the last good answer, however long ago.
    pub last_good_answer_at: Option<Instant>,
    /// Answers of the 28 days, whatever their status.
    pub answers: u64,
    /// Those answers by status.
    pub statuses: Vec<StatusAnswers>,
    /// Answers of the 28 days that are refused, empty, cut off or errors, and answers that runs of these days did not get.
    pub failures: u64,
    /// The answers that runs did not get, by reason.
    pub missed: Vec<MissedAnswers>,
    /// Share of the answers for which the engine searched the web, of those of which it is known; `null` if it never is.
    pub search_performed: Option<Rate>,
    /// Mean cost of an answer in US dollars.
    pub mean_cost: Option<MeasuredValue>,
    /// Median of the milliseconds until a good answer was complete.
    pub median_latency_ms: Option<MeasuredValue>,
    /// The last failure of the 28 days.
    pub last_error: Option<EngineFailure>,
    /// Limits of the engine at this surface, in words.
    pub notes: Vec<String>,
}

/// Number of answers with a status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusAnswers {
    /// Status.
    pub status: AnswerStatus,
    /// Answers.
    pub answers: u64,
}

/// Number of answers that are missing for a reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissedAnswers {
    /// Reason for which the first answer of a run is missing.
    pub reason: MissReason,
    /// Missing answers of those runs.
    pub answers: u64,
}

/// A mean or median with the number of answers behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredValue {
    /// The value.
    pub value: f64,
    /// Answers of which it is known.
    pub answers: u64,
}

/// A failure of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineFailure {
    /// Time of the failure.
    pub at: Instant,
    /// Failure in words.
    pub message: String,
}

//! Runs: prompts that are put to engines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant,
    answers::Engine,
    declare::operation,
    ids::{PromptId, RunId},
    jobs::Job,
    visibility::Rate,
    words::words,
};

words! {
    /// Start of a run.
    RunTrigger {
        /// A caller asked for it.
        Manual = "manual",
        /// The schedule of the project did.
        Scheduled = "scheduled",
    }
}
words! {
    /// Status of a run.
    RunStatus {
        /// Waiting.
        Queued = "queued",
        /// Engines are being asked.
        Running = "running",
        /// All answers are there.
        Completed = "completed",
        /// Some answers are there; the others failed, or were not asked for because of a limit.
        Partial = "partial",
        /// No answer is there.
        Failed = "failed",
        /// Canceled; answers that were there before are kept.
        Canceled = "cancelled",
    }
}
words! {
    /// Reason for which an answer is missing.
    MissReason {
        /// The engine failed or refused the request.
        ProviderError = "provider_error",
        /// The answer was lost on its way, and may have been charged; the question is not repeated.
        Uncertain = "uncertain",
        /// `maxCost`, a quota or a budget is used up.
        Capped = "capped",
        /// The run was canceled or interrupted before.
        Interrupted = "interrupted",
    }
}

operation! {
    /// Puts a prompt to engines, which may cost money: ask a person first.
    ///
    /// `dryRun` answers with the estimate and starts nothing. An equal call within 60 seconds gets the run that the first one
    /// started. Answers that came before a failure are kept; a question whose answer may have been charged is not repeated.
    TrackPrompt {
        project;
        /// Id of the prompt.
        #[schemars(example = &"01936f34-0d5e-7a52-8c11-2b6f5a1c2b4c")]
        prompt_id: String,
        /// Engines to ask; default those of the prompt, or all that are configured.
        #[schemars(length(min = 1, max = 12))]
        engines: Option<Vec<Engine>>,
        /// Answers per engine, 1 to 5; default 1.
        #[schemars(range(min = 1, max = 5))]
        samples: Option<u8>,
        /// Only estimate the cost; default `false`.
        dry_run: Option<bool>,
        /// Most that the run may cost, in US dollars. No question is asked that could exceed it.
        #[schemars(range(min = 0, max = 10_000), example = 0.5)]
        max_cost: Option<f64>,
        /// Half-width of the 95 % interval of the mention rate, in points, 5 to 50: each engine is asked beyond `samples` until
        /// it is reached, `maxCost` is used up, or there are 200 answers. Needs `maxCost`. Ten points take up to 97 answers.
        #[schemars(range(min = 5, max = 50), example = 10)]
        precision_target: Option<f64>,
    }
}

operation! {
    /// Lists the runs of a project, newest first.
    ListRuns {
        project;
        /// Only runs with this status.
        status: Option<RunStatus>,
        paging;
    }
}

operation! {
    /// Returns a run with its outcome per engine.
    GetRun {
        project;
        /// Id of the run.
        #[schemars(example = &"01936f35-2b6f-7a52-8c11-0d5e5a1c2b4c")]
        run_id: String,
    }
}

/// A started run, or an estimate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStarted {
    /// The run; `null` for a dry run.
    pub run: Option<Run>,
    /// Its job; follow it at `jobs/{jobId}`. `null` for a dry run.
    pub job: Option<Job>,
    /// Estimate of the cost.
    pub estimated_cost: CostEstimate,
    /// Whether an equal call started the run before.
    pub already_running: bool,
}

impl Answer for RunStarted {
    const DRY_RUN: bool = true;

    fn head(&self) -> Head {
        Head {
            location: self.job.as_ref().map(|job| format!("jobs/{}", job.id)),
            is_dry_run: self.run.is_none(),
            is_under_way: self.already_running,
            ..Head::default()
        }
    }
}

/// Range of a cost in US dollars. `null` is unknown, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostEstimate {
    /// Least that is to be expected.
    pub low: Option<f64>,
    /// Most that is to be expected.
    pub high: Option<f64>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Identifier.
    #[schemars(example = &"01936f35-2b6f-7a52-8c11-0d5e5a1c2b4c")]
    pub id: RunId,
    /// Start.
    pub trigger: RunTrigger,
    /// Status.
    pub status: RunStatus,
    /// Prompts.
    pub prompt_ids: Vec<PromptId>,
    /// Engines.
    pub engines: Vec<Engine>,
    /// Answers per prompt and engine, or the fewest with a `precisionTarget`.
    pub samples: u8,
    /// Half-width of the 95 % interval of the mention rate that was asked for, in points.
    pub precision_target: Option<f64>,
    /// Estimate of the cost.
    pub estimated_cost: CostEstimate,
    /// Cost as far as vendors say; `null` if none says.
    pub actual_cost: Option<f64>,
    /// Currency of costs.
    #[schemars(example = &"USD")]
    pub currency: String,
    /// Outcome per engine.
    pub outcomes: Vec<RunOutcome>,
    /// Name of the key or the application that asked for it; `null` for the schedule.
    pub requested_by: Option<String>,
    /// Time at which it was asked for.
    pub created_at: Instant,
    /// Time at which it ended.
    pub finished_at: Option<Instant>,
}

impl Answer for Run {}

/// Outcome of a run at one engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunOutcome {
    /// Engine.
    pub engine: Engine,
    /// Way by which it was asked.
    pub surface: crate::answers::Surface,
    /// Answers that were stored, whatever their status.
    pub answers: u32,
    /// Answers that are missing.
    pub missing: u32,
    /// Reason for which the first of them is missing.
    pub reason: Option<MissReason>,
    /// Details of the reason.
    pub detail: Option<String>,
    /// Share of the answers of this run that mention the brand; `null` if none could be evaluated.
    pub mention_rate: Option<Rate>,
    /// Share of these answers that agree with the more frequent outcome, mentioned or not, 0.5 to 1; `null` below two. It says
    /// how often one answer alone would have been right about the engine.
    pub stability: Option<f64>,
    /// Whether the engine answers as it would in the country of the prompt; otherwise the location is not controlled. `null` for
    /// a run that was interrupted.
    pub location_controlled: Option<bool>,
}

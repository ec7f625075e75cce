//! Jobs: asynchronous work, which ends after the call that started it. Any such work is followed here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant, actions::AllowedActions, declare::operation, error::Problem, ids::JobId,
    words::words,
};

words! {
    /// Status of a job.
    JobStatus {
        /// Waiting for a worker.
        Queued = "queued",
        /// Being worked on.
        Running = "running",
        /// Done; see `result`.
        Succeeded = "succeeded",
        /// Failed; see `problem`.
        Failed = "failed",
        /// Cancelled before it ended.
        Canceled = "canceled",
        /// Its effect is unknown and is being reconciled.
        Uncertain = "uncertain",
    }
}

impl JobStatus {
    /// Returns whether the job is queued or running.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

operation! {
    /// Lists the jobs of a project, newest first.
    ListJobs {
        project;
        /// Only jobs with this status.
        status: Option<JobStatus>,
        paging;
    }
}

operation! {
    /// Returns one job.
    ///
    /// The answer is 200 even if the job failed; see its `problem`.
    GetJob {
        project;
        /// Id of the job.
        #[schemars(example = &"01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a")]
        job_id: String,
    }
}

operation! {
    /// Cancels a job.
    ///
    /// Needs the same scope as starting it: `audits:write` for an audit, `keywords:write` for the clustering after an
    /// import, `content:generate` for generation. A job that has ended answers `409 invalid_state`.
    CancelJob {
        project;
        /// Id of the job.
        #[schemars(example = &"01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a")]
        job_id: String,
    }
}

/// Asynchronous work, started by a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a")]
    pub id: JobId,
    /// Type of work, such as `audit`.
    #[serde(rename = "type")]
    #[schemars(example = &"audit")]
    pub kind: String,
    /// Status.
    pub status: JobStatus,
    /// Number of attempts, the current one included.
    #[schemars(example = 1)]
    pub attempt: i64,
    /// Time of the request.
    pub created_at: Instant,
    /// Time at which a worker first took it; `null` while no worker has.
    pub started_at: Option<Instant>,
    /// Time at which it ended; `null` while it is active.
    pub finished_at: Option<Instant>,
    /// Earliest time of the next attempt, while it is waiting.
    pub run_after: Option<Instant>,
    /// Progress; members depend on the type.
    pub progress: Option<serde_json::Value>,
    /// Result; members depend on the type.
    pub result: Option<serde_json::Value>,
    /// Cause of the failure, an RFC 9457 problem.
    pub problem: Option<Problem>,
    /// Paths of the records it works on, relative to the versioned root.
    pub links: std::collections::BTreeMap<String, String>,
    /// Actions that the caller may perform now.
    pub allowed_actions: AllowedActions,
}

impl Answer for Job {
    fn head(&self) -> Head {
        Head {
            retry_after: self.status.is_active().then_some(2),
            ..Head::default()
        }
    }
}

//! Jobs: work that ends later than the call that started it. The one way to follow any of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant, actions::AllowedActions, declare::operation, error::Problem, words::words,
};

words! {
    /// Where a job stands.
    JobStatus {
        /// Waits for a worker.
        Queued = "queued",
        /// A worker has it.
        Running = "running",
        /// Done; see `result`.
        Succeeded = "succeeded",
        /// Not done; see `problem`.
        Failed = "failed",
        /// Somebody stopped it.
        Canceled = "canceled",
        /// Whether it took effect is unknown; it is being reconciled.
        Uncertain = "uncertain",
    }
}

impl JobStatus {
    /// Still has work to do.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

operation! {
    /// Lists the jobs of a project, newest first.
    ListJobs {
        project;
        /// Only jobs of this status.
        status: Option<JobStatus>,
        paging;
    }
}

operation! {
    /// Returns one job.
    ///
    /// Always 200, also for a job that failed: its `problem` says why.
    GetJob {
        project;
        /// The job.
        #[schemars(example = &"01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a")]
        job_id: String,
    }
}

operation! {
    /// Stops a job.
    ///
    /// Needs the scope that starting it needs: `audits:write` for an audit, `keywords:write` for what follows an
    /// import, `content:generate` for what generates.
    /// A job that has ended answers `409 invalid_state`.
    CancelJob {
        project;
        /// The job.
        #[schemars(example = &"01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a")]
        job_id: String,
    }
}

/// Work that ends later than the call that started it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a")]
    pub id: String,
    /// What it does, such as `audit`.
    #[serde(rename = "type")]
    #[schemars(example = &"audit")]
    pub kind: String,
    /// Where it stands.
    pub status: JobStatus,
    /// How often a worker has taken it.
    #[schemars(example = 1)]
    pub attempt: i64,
    /// When it was asked for.
    pub created_at: Instant,
    /// When a worker first took it.
    pub started_at: Option<Instant>,
    /// When it ended.
    pub finished_at: Option<Instant>,
    /// When it will next be tried, while it waits.
    pub run_after: Option<Instant>,
    /// How far it is; members depend on the type.
    pub progress: Option<serde_json::Value>,
    /// What came of it; members depend on the type.
    pub result: Option<serde_json::Value>,
    /// Why it failed, an RFC 9457 problem.
    pub problem: Option<Problem>,
    /// Paths of the records it works on, below the versioned root.
    pub links: std::collections::BTreeMap<String, String>,
    /// What the caller may do with it now.
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

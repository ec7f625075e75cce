//! Jobs: work that ends later than the call that started it. The one way to follow any of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Head, Instant, actions::AllowedActions, error::Problem, keywords::words};

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

/// Lists the jobs of a project, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListJobs {
    /// The project.
    #[arg(
        long = "project",
        env = "SEARCHWRIGHT_PROJECT",
        default_value = "",
        hide_default_value = true
    )]
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub project_id: String,
    /// Only jobs of this status.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<JobStatus>,
    /// Records per page; 25 unless given.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u8>,
    /// `nextCursor` of the page before, with the same filters.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub cursor: Option<String>,
}

/// Returns one job.
///
/// Always 200, also for a job that failed: its `problem` says why.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetJob {
    /// The project.
    #[arg(
        long = "project",
        env = "SEARCHWRIGHT_PROJECT",
        default_value = "",
        hide_default_value = true
    )]
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub project_id: String,
    /// The job.
    #[schemars(example = &"01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a")]
    pub job_id: String,
}

/// Stops a job.
///
/// A job that has ended answers `409 invalid_state`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancelJob {
    /// The project.
    #[arg(
        long = "project",
        env = "SEARCHWRIGHT_PROJECT",
        default_value = "",
        hide_default_value = true
    )]
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub project_id: String,
    /// The job.
    #[schemars(example = &"01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a")]
    pub job_id: String,
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

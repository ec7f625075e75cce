//! Audits: crawls of the project's website with their results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant,
    actions::AllowedActions,
    declare::operation,
    diffs::ChangeCounts,
    ids::{AuditId, JobId, ProjectId},
    jobs::Job,
    missing::MissingReason,
    words::words,
};

words! {
    /// Status of an audit.
    AuditStatus {
        /// Waiting for a worker.
        Queued = "queued",
        /// Fetching pages.
        Crawling = "crawling",
        /// Evaluating the checks.
        Analyzing = "analyzing",
        /// Finished; every known URL was covered.
        Completed = "completed",
        /// Finished with results, but a limit left known URLs uncovered.
        Partial = "partial",
        /// Failed; see `error`.
        Failed = "failed",
        /// Cancelled before it ended.
        Cancelled = "cancelled",
    }
}
words! {
    /// Trigger of an audit.
    AuditTrigger {
        /// Started by a caller.
        Manual = "manual",
        /// Started by a schedule.
        Scheduled = "scheduled",
        /// Started by the autopilot.
        Autopilot = "autopilot",
    }
}

impl AuditStatus {
    /// Returns whether the audit ended with results.
    pub const fn has_results(self) -> bool {
        matches!(self, Self::Completed | Self::Partial)
    }

    /// Returns whether the audit is queued or running.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Crawling | Self::Analyzing)
    }
}

operation! {
    /// Starts an audit of the project's website.
    ///
    /// If an audit is already active, returns that one with `alreadyRunning: true` and starts nothing. Poll
    /// `audits.current`, not this operation. If the operator has set a minimum interval between audits, a call before
    /// it has passed answers `429 rate_limit_exceeded` with `Retry-After`.
    StartAudit {
        project;
        /// Maximum number of pages to fetch; default 10,000.
        #[schemars(range(min = 1, max = 1_000_000), example = 500)]
        max_pages: Option<u32>,
        /// Maximum click depth from the start page; default 20.
        #[schemars(range(min = 0, max = 100))]
        max_depth: Option<u16>,
        /// Crawl only URLs whose path and query match one of these patterns (`*` matches any text).
        #[schemars(length(max = 50), inner(length(min = 1, max = 500)))]
        include: Option<Vec<String>>,
        /// Skip URLs whose path and query match one of these patterns.
        #[schemars(length(max = 50), inner(length(min = 1, max = 500)))]
        exclude: Option<Vec<String>>,
        /// Whether to include subdomains of the project's domain other than `www.`, each with its own robots.txt;
        /// default `false`.
        include_subdomains: Option<bool>,
    }
}

operation! {
    /// Lists the audits of a project, newest first, each with its health score and the changes since the previous
    /// audit.
    ListAudits {
        project;
        /// Only audits with this status.
        status: Option<AuditStatus>,
        paging;
    }
}

operation! {
    /// Returns the newest audit: its progress while it runs, its results afterwards.
    ///
    /// Answers 404 before the first audit.
    GetCurrentAudit {
        project;
    }
}

operation! {
    /// Returns one audit.
    GetAudit {
        project;
        /// Id of the audit.
        #[schemars(example = &"01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21")]
        audit_id: String,
    }
}

operation! {
    /// Cancels an audit, which then ends without results. The results of the previous audit stay in force; changes to
    /// issues that were already made are kept in their history and sent as events.
    ///
    /// An audit that has ended answers `409 invalid_state`.
    CancelAudit {
        project;
        /// Id of the audit.
        #[schemars(example = &"01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21")]
        audit_id: String,
    }
}

/// A started audit with its job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditStarted {
    /// Job that runs the audit.
    pub job: Job,
    /// The audit.
    pub audit: Audit,
    /// Whether the audit was already running, so that nothing was started.
    pub already_running: bool,
}

/// One crawl of the website with its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21")]
    pub id: AuditId,
    /// Id of the project.
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub project_id: ProjectId,
    /// Id of the job that runs the audit.
    #[schemars(example = &"01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a")]
    pub job_id: JobId,
    /// Status.
    pub status: AuditStatus,
    /// Trigger of the audit.
    pub trigger: AuditTrigger,
    /// URL at which the crawl began.
    #[schemars(example = &"https://example.com/")]
    pub start_url: String,
    /// Limits of the crawl.
    pub config: AuditConfig,
    /// Version of the checks (semver); results of different versions are not comparable.
    #[schemars(example = &"1.0.0")]
    pub ruleset_version: String,
    /// Version of the URL normalisation rules. Page ids of different versions are not comparable.
    #[schemars(example = 1)]
    pub normalization_version: u32,
    /// Time of the request.
    pub requested_at: Instant,
    /// Time at which a worker first took it; `null` while it is queued.
    pub started_at: Option<Instant>,
    /// Time at which it ended; `null` while it is active.
    pub finished_at: Option<Instant>,
    /// Counts of URLs by crawl state.
    pub progress: AuditProgress,
    /// Reason the crawl ended: `complete`, `max_pages`, `max_depth`, `max_query_variants`, `max_duration`,
    /// `max_bytes`, `blocked` (the site refused most pages with 401, 403, 429, 451 or a firewall challenge),
    /// `host_unavailable` (most pages, or ten in a row, gave no answer or 5xx), `cancelled`, `robots_unreachable`.
    #[schemars(example = &"complete")]
    pub termination: Option<String>,
    /// Health score, 0 (worst) to 100; `null` while the audit runs and if no page could be scored.
    #[schemars(example = 87)]
    pub health_score: Option<u8>,
    /// Reason `healthScore` is `null`: `not_measured` while the audit runs or if it ended without results,
    /// `not_applicable` if none of its pages counts towards the score.
    pub health_score_status: Option<MissingReason>,
    /// Band of the health score: `excellent` from 91, `good` from 71, `fair` from 31, otherwise `weak`.
    #[schemars(example = &"good")]
    pub band: Option<String>,
    /// Percentage of pages without an error.
    #[schemars(example = 94.5)]
    pub error_free_pages_pct: Option<f64>,
    /// Number of pages that the score is computed from.
    #[schemars(example = 120)]
    pub pages_scored: Option<u32>,
    /// Whether the score lacks pages because a limit ended the crawl.
    pub score_is_partial: bool,
    /// Health score of each issue category, 0 to 100, by the formula of `healthScore` over the checks of that
    /// category alone. `null` while the audit runs, if no page could be scored, and for audits that did not record
    /// it.
    #[schemars(example = &serde_json::json!({ "titles": 82, "links": 100 }))]
    pub category_scores: Option<BTreeMap<String, u8>>,
    /// Numbers of issues and of occurrences by severity; `null` while there are no results.
    pub totals: Option<AuditTotals>,
    /// Id of the previous audit.
    pub previous_audit_id: Option<AuditId>,
    /// Differences from the previous audit; `null` unless both have results. `audits.diff` says whether the two are
    /// comparable.
    pub since_previous: Option<AuditTrend>,
    /// Numbers of occurrences by change since the previous audit, as in `audits.diff`; `null` while the audit runs
    /// and if there is no audit to compare with.
    pub changes: Option<ChangeCounts>,
    /// Cause of the failure; `null` unless the audit failed.
    pub error: Option<AuditError>,
    /// Version number, incremented by every change; part of the `ETag`.
    #[schemars(example = 3)]
    pub version: i64,
    /// Actions that the caller may perform now.
    pub allowed_actions: AllowedActions,
}

/// Limits of an audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditConfig {
    /// Maximum number of pages to fetch.
    #[schemars(example = 10_000)]
    pub max_pages: u32,
    /// Maximum click depth from the start page.
    #[schemars(example = 20)]
    pub max_depth: u16,
    /// Patterns of the only URLs to crawl; empty for all URLs.
    #[serde(default)]
    pub include: Vec<String>,
    /// Patterns of URLs to skip.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Whether subdomains are included.
    #[serde(default)]
    pub include_subdomains: bool,
}

/// Counts of the URLs of an audit by crawl state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditProgress {
    /// URLs known so far.
    pub discovered: u64,
    /// URLs that answered.
    pub fetched: u64,
    /// URLs waiting to be fetched.
    pub queued: u64,
    /// URLs that gave no answer.
    pub failed: u64,
    /// URLs disallowed by robots.txt.
    pub blocked: u64,
}

/// Counts of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditTotals {
    /// Occurrences with severity `error`.
    pub errors: u64,
    /// Occurrences with severity `warning`.
    pub warnings: u64,
    /// Occurrences with severity `notice`.
    pub notices: u64,
    /// Distinct issues.
    pub issues: u64,
}

/// Figures of an audit minus those of the previous one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditTrend {
    /// Change of the health score, in points; `null` if either audit has none.
    #[schemars(example = 4)]
    pub health_score: Option<i16>,
    /// Change of the share of pages without an error, in percentage points; `null` if either audit has none.
    #[schemars(example = 2.5)]
    pub error_free_pages_pct: Option<f64>,
    /// Change of the number of scored pages; `null` if either audit has none.
    #[schemars(example = 3)]
    pub pages_scored: Option<i64>,
    /// Occurrences with severity `error`.
    #[schemars(example = -7)]
    pub errors: i64,
    /// Occurrences with severity `warning`.
    #[schemars(example = 0)]
    pub warnings: i64,
    /// Occurrences with severity `notice`.
    #[schemars(example = 12)]
    pub notices: i64,
    /// Distinct issues.
    #[schemars(example = -1)]
    pub issues: i64,
}

/// Cause of a failed audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditError {
    /// Machine-readable code, such as `robots_unreachable`, `host_unavailable`, `interrupted`.
    #[schemars(example = &"robots_unreachable")]
    pub code: String,
    /// Human-readable explanation.
    pub message: String,
}

impl Answer for Audit {
    fn head(&self) -> Head {
        let retry_after = self.status.is_active().then_some(2);
        Head {
            etag: Some(format!("{}-{}", self.id, self.version)),
            retry_after,
            ..Head::default()
        }
    }
}

impl Answer for AuditStarted {
    fn head(&self) -> Head {
        Head {
            location: Some(format!("jobs/{}", self.job.id)),
            retry_after: Some(5),
            is_under_way: self.already_running,
            ..Head::default()
        }
    }
}

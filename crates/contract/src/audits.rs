//! Audits: one crawl of the project's website and what it found.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant, actions::AllowedActions, declare::operation, diffs::ChangeCounts, jobs::Job,
    missing::MissingReason, words::words,
};

words! {
    /// Where an audit stands.
    AuditStatus {
        /// Waits for a worker.
        Queued = "queued",
        /// Fetches pages.
        Crawling = "crawling",
        /// Evaluates the checks.
        Analyzing = "analyzing",
        /// Every known URL was seen.
        Completed = "completed",
        /// A limit left known URLs unseen.
        Partial = "partial",
        /// It could not be done; see `error`.
        Failed = "failed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
    }
}
words! {
    /// What started an audit.
    AuditTrigger {
        /// A caller.
        Manual = "manual",
        /// A schedule.
        Scheduled = "scheduled",
        /// The autopilot.
        Autopilot = "autopilot",
    }
}

impl AuditStatus {
    /// It came to results.
    pub const fn has_results(self) -> bool {
        matches!(self, Self::Completed | Self::Partial)
    }

    /// Still has work to do.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Crawling | Self::Analyzing)
    }
}

operation! {
    /// Starts an audit of the project's website.
    ///
    /// While one is active it answers that one with `alreadyRunning: true` and starts nothing. Poll
    /// `audits.current`, not this. Where the operator has set a time between two audits, a call before it has passed answers
    /// `429 rate_limit_exceeded` with `Retry-After`.
    StartAudit {
        project;
        /// Most pages to fetch; 10,000 unless given.
        #[schemars(range(min = 1, max = 1_000_000), example = 500)]
        max_pages: Option<u32>,
        /// Most clicks from the start page to follow; 20 unless given.
        #[schemars(range(min = 0, max = 100))]
        max_depth: Option<u16>,
        /// Only URLs whose path and query match one of these patterns (`*` is any text).
        #[schemars(length(max = 50), inner(length(min = 1, max = 500)))]
        include: Option<Vec<String>>,
        /// No URLs whose path and query match one of these patterns.
        #[schemars(length(max = 50), inner(length(min = 1, max = 500)))]
        exclude: Option<Vec<String>>,
        /// Whether subdomains of the project's domain other than `www.` belong to the site too, each with a robots.txt of
        /// its own; false unless given.
        include_subdomains: Option<bool>,
    }
}

operation! {
    /// Lists the audits of a project, newest first: the history of its health, each with what is different from the one before.
    ListAudits {
        project;
        /// Only audits of this status.
        status: Option<AuditStatus>,
        paging;
    }
}

operation! {
    /// Returns the newest audit: its progress while it runs, its results after.
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
        /// The audit.
        #[schemars(example = &"01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21")]
        audit_id: String,
    }
}

operation! {
    /// Stops an audit, which ends without a result: what the audit before found stays, and what it began to change of that is told.
    ///
    /// An audit that has ended answers `409 invalid_state`.
    CancelAudit {
        project;
        /// The audit.
        #[schemars(example = &"01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21")]
        audit_id: String,
    }
}

/// The answer to starting an audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditStarted {
    /// The job that does it.
    pub job: Job,
    /// The audit.
    pub audit: Audit,
    /// It had been started before.
    pub already_running: bool,
}

/// One crawl of the website and what it found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21")]
    pub id: String,
    /// The project.
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub project_id: String,
    /// The job that does it.
    #[schemars(example = &"01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a")]
    pub job_id: String,
    /// Where it stands.
    pub status: AuditStatus,
    /// What started it.
    pub trigger: AuditTrigger,
    /// Where the crawl began.
    #[schemars(example = &"https://example.com/")]
    pub start_url: String,
    /// Limits it ran with.
    pub config: AuditConfig,
    /// Version of the checks (semver); results of different versions are not comparable.
    #[schemars(example = &"1.0.0")]
    pub ruleset_version: String,
    /// Version of the rules that say when two URLs are the same page. Identifiers of pages of different versions are not the
    /// same.
    #[schemars(example = 1)]
    pub normalization_version: u32,
    /// When it was asked for.
    pub requested_at: Instant,
    /// When a worker took it.
    pub started_at: Option<Instant>,
    /// When it ended.
    pub finished_at: Option<Instant>,
    /// URLs by what became of them.
    pub progress: AuditProgress,
    /// Why the crawl ended: `complete`, `max_pages`, `max_depth`, `max_query_variants`, `max_duration`, `max_bytes`, `blocked` (the
    /// site refused most of its pages: 401, 403, 429, 451, or a firewall's challenge), `host_unavailable` (most of them gave no answer
    /// or 5xx, or ten in a row did not), `cancelled`, `robots_unreachable`.
    #[schemars(example = &"complete")]
    pub termination: Option<String>,
    /// Health, 0 (worst) to 100; `null` while it runs and when no page could be scored.
    #[schemars(example = 87)]
    pub health_score: Option<u8>,
    /// Why it is `null`: `not_measured` while the audit runs and when it came to no results, `not_applicable` when no page of it
    /// counts.
    pub health_score_status: Option<MissingReason>,
    /// `excellent` from 91, `good` from 71, `fair` from 31, else `weak`.
    #[schemars(example = &"good")]
    pub band: Option<String>,
    /// Share of pages without an error, percent.
    #[schemars(example = 94.5)]
    pub error_free_pages_pct: Option<f64>,
    /// Pages the score is computed from.
    #[schemars(example = 120)]
    pub pages_scored: Option<u32>,
    /// The score leaves out pages that a limit cut.
    pub score_is_partial: bool,
    /// Health of each category, 0 to 100: the formula of `healthScore` over the checks of the category alone. Members are the
    /// categories of issues; `null` while it runs, when no page could be scored, and of audits of before there were such scores.
    #[schemars(example = &serde_json::json!({ "titles": 82, "links": 100 }))]
    pub category_scores: Option<BTreeMap<String, u8>>,
    /// Occurrences and issues by severity; `null` until there are results, and of an audit that came to none.
    pub totals: Option<AuditTotals>,
    /// The audit before this one.
    pub previous_audit_id: Option<String>,
    /// What is different from the audit before this one, once both have results. Whether they compare like with like says
    /// `audits.diff`.
    pub since_previous: Option<AuditTrend>,
    /// Occurrences by how they changed since the audit before this one, as `audits.diff` counts them; `null` while it runs and
    /// where there is nothing to compare it with.
    pub changes: Option<ChangeCounts>,
    /// Why it failed.
    pub error: Option<AuditError>,
    /// Counts changes; part of the `ETag`.
    #[schemars(example = 3)]
    pub version: i64,
    /// What the caller may do with it now.
    pub allowed_actions: AllowedActions,
}

/// Limits of an audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditConfig {
    /// Most pages to fetch.
    #[schemars(example = 10_000)]
    pub max_pages: u32,
    /// Most clicks from the start page.
    #[schemars(example = 20)]
    pub max_depth: u16,
    /// Only these URLs.
    #[serde(default)]
    pub include: Vec<String>,
    /// Not these URLs.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Subdomains belong to the site.
    #[serde(default)]
    pub include_subdomains: bool,
}

/// URLs of an audit by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditProgress {
    /// Known.
    pub discovered: u64,
    /// Answered.
    pub fetched: u64,
    /// Waiting.
    pub queued: u64,
    /// Gave no answer.
    pub failed: u64,
    /// Disallowed by robots.txt.
    pub blocked: u64,
}

/// Counts of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditTotals {
    /// Occurrences of errors.
    pub errors: u64,
    /// Occurrences of warnings.
    pub warnings: u64,
    /// Occurrences of notices.
    pub notices: u64,
    /// Distinct issues.
    pub issues: u64,
}

/// Figures of an audit less those of the audit before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditTrend {
    /// Health, in points; `null` when either has none.
    #[schemars(example = 4)]
    pub health_score: Option<i16>,
    /// Share of pages without an error, in percentage points; `null` when either has none.
    #[schemars(example = 2.5)]
    pub error_free_pages_pct: Option<f64>,
    /// Pages the score is computed from; `null` when either has none.
    #[schemars(example = 3)]
    pub pages_scored: Option<i64>,
    /// Occurrences of errors.
    #[schemars(example = -7)]
    pub errors: i64,
    /// Occurrences of warnings.
    #[schemars(example = 0)]
    pub warnings: i64,
    /// Occurrences of notices.
    #[schemars(example = 12)]
    pub notices: i64,
    /// Distinct issues.
    #[schemars(example = -1)]
    pub issues: i64,
}

/// Why an audit failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditError {
    /// Stable word, such as `robots_unreachable`, `host_unavailable`, `interrupted`.
    #[schemars(example = &"robots_unreachable")]
    pub code: String,
    /// For people.
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
            ..Head::default()
        }
    }
}

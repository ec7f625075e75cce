//! Following work to its end, with a bar on a terminal and in silence elsewhere.

use std::{io::IsTerminal as _, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};
use searchwright_client::Client;
use searchwright_contract::{
    Operation,
    audits::{Audit, GetAudit},
    jobs::{GetJob, Job},
};

use crate::{
    exit::{CliError, Exit},
    output::plain,
};

/// Interval at which the state of a running job is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Waits until an audit has ended. Ctrl-C ends the waiting with this error.
pub async fn audit(
    client: &Client,
    audit: Audit,
    interrupted: impl Fn() -> CliError,
) -> Result<Audit, CliError> {
    let query = GetAudit {
        project_id: audit.project_id.to_string(),
        audit_id: audit.id.to_string(),
    };
    let told = |audit: &Audit| {
        let progress = &audit.progress;
        format!(
            "{}: {} of {} URLs fetched, {} without response",
            audit.status.as_str(),
            progress.fetched,
            progress.discovered,
            progress.failed
        )
    };
    let is_over = |audit: &Audit| !audit.status.is_active();
    let ended = until(client, &query, audit, is_over, told);
    unless_interrupted(ended, interrupted).await
}

/// Waits until a job has ended. Ctrl-C ends the waiting with this error.
pub async fn job(
    client: &Client,
    project: &str,
    job: Job,
    interrupted: impl Fn() -> CliError,
) -> Result<Job, CliError> {
    let query = GetJob {
        project_id: project.to_owned(),
        job_id: job.id.to_string(),
    };
    let told = |job: &Job| {
        let (kind, status) = (job.kind.replace('_', " "), job.status.as_str());
        let step = job
            .progress
            .as_ref()
            .and_then(|progress| progress["step"].as_str());
        match (job.run_after, step) {
            (Some(at), _) if job.attempt > 0 => format!("{kind}: {status}, next attempt at {at}"),
            (None, Some(step)) => format!("{kind}: {status}, {}", plain(step)),
            _ => format!("{kind}: {status}"),
        }
    };
    let is_over = |job: &Job| !job.status.is_active();
    let ended = until(client, &query, job, is_over, told);
    unless_interrupted(ended, interrupted).await
}

/// Carries out work until Ctrl-C.
async fn unless_interrupted<T>(
    work: impl Future<Output = Result<T, CliError>>,
    interrupted: impl Fn() -> CliError,
) -> Result<T, CliError> {
    tokio::select! {
        // The handler of the signal is there before the work shows its first line.
        biased;
        // Without a handler the system ends the program.
        Ok(()) = tokio::signal::ctrl_c() => Err(interrupted()),
        ended = work => ended,
    }
}

/// Polls until the answer says that the work has ended.
async fn until<O: Operation>(
    client: &Client,
    query: &O,
    first: O::Answer,
    is_over: impl Fn(&O::Answer) -> bool,
    told: impl Fn(&O::Answer) -> String,
) -> Result<O::Answer, CliError> {
    let bar = if std::io::stderr().is_terminal() {
        ProgressBar::no_length()
    } else {
        ProgressBar::hidden()
    };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    let bar = Cleared(bar);
    let mut answer = first;
    while !is_over(&answer) {
        bar.0.set_message(told(&answer));
        tokio::time::sleep(POLL_INTERVAL).await;
        answer = client.call(query).await?;
    }
    Ok(answer)
}

/// Bar that leaves nothing behind, however the waiting ends.
struct Cleared(ProgressBar);

impl Drop for Cleared {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Threshold of `--fail-on`: `error`, `warning`, or `score<N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// Any error.
    Errors,
    /// Any error or warning.
    Warnings,
    /// A health score below this, or none.
    ScoreBelow(u8),
}

impl std::str::FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "error" => Ok(Self::Errors),
            "warning" => Ok(Self::Warnings),
            other => other
                .strip_prefix("score<")
                .and_then(|n| n.parse().ok())
                .filter(|n| *n <= 100)
                .map(Self::ScoreBelow)
                .ok_or_else(|| "is not one of error, warning, score<N (N from 0 to 100)".to_owned()),
        }
    }
}

/// Returns the reason for which an audit with results saw hardly anything of its site; `None` if it saw it.
pub(crate) fn unseen(audit: &Audit) -> Option<&str> {
    let why = audit.termination.as_deref()?;
    matches!(why, "blocked" | "host_unavailable").then_some(why)
}

impl FailOn {
    /// Returns the exit code after an audit with results; an error if it saw too little of the site to be passed.
    pub fn exit(self, audit: &Audit) -> Result<Exit, CliError> {
        match unseen(audit) {
            _ if self.is_crossed(audit) => Ok(Exit::Threshold),
            Some(why) => Err(CliError::new(
                Exit::Failed,
                format!("most of the site could not be crawled ({why}): --fail-on cannot be evaluated"),
            )),
            None => Ok(Exit::Done),
        }
    }

    /// Returns whether an audit that has ended crosses the threshold. A missing score crosses it.
    fn is_crossed(self, audit: &Audit) -> bool {
        let totals = audit.totals.unwrap_or_default();
        match self {
            Self::Errors => totals.errors > 0,
            Self::Warnings => totals.errors + totals.warnings > 0,
            Self::ScoreBelow(least) => audit.health_score.is_none_or(|s| s < least),
        }
    }
}

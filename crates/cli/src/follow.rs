//! Following work to its end, with a bar on a terminal and lines elsewhere.

use std::{io::IsTerminal as _, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};
use searchwright_client::Client;
use searchwright_contract::audits::{Audit, GetAudit};

use crate::exit::CliError;

/// How often a running audit is asked about.
const POLL: Duration = Duration::from_millis(500);

/// Waits until an audit has ended.
pub async fn audit(client: &Client, audit: Audit) -> Result<Audit, CliError> {
    let bar = if std::io::stderr().is_terminal() {
        ProgressBar::no_length()
    } else {
        ProgressBar::hidden()
    };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    let query = GetAudit {
        project_id: audit.project_id.clone(),
        audit_id: audit.id.clone(),
    };
    let mut audit = audit;
    while audit.status.is_active() {
        let progress = audit.progress;
        bar.set_message(format!(
            "{}: {} of {} URLs, {} without an answer",
            audit.status.as_str(),
            progress.fetched,
            progress.discovered,
            progress.failed
        ));
        tokio::time::sleep(POLL).await;
        audit = client.call(&query).await?;
    }
    bar.finish_and_clear();
    Ok(audit)
}

/// What `--fail-on` says: `error`, `warning`, or `score<N`.
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
                .ok_or_else(|| "is none of error, warning, score<N with N from 0 to 100".to_owned()),
        }
    }
}

impl FailOn {
    /// Whether an audit that has ended crosses the threshold.
    pub fn is_crossed(self, audit: &Audit) -> bool {
        match self {
            Self::Errors => audit.totals.errors > 0,
            Self::Warnings => audit.totals.errors + audit.totals.warnings > 0,
            Self::ScoreBelow(least) => audit.health_score.is_none_or(|s| s < least),
        }
    }
}

//! `searchwright admin checks …`: thresholds and severities of a project's checks.

use std::fmt::Write as _;

use clap::Subcommand;
use searchwright_cli::{CliError, Exit};
use searchwright_server::{admin::checks::ChecksSet, config::Flags};

use super::{open, project, refused, show};

/// Checks.
#[derive(Clone, Debug, Subcommand)]
pub enum ChecksCommand {
    /// Set thresholds and severities, from the next audit on.
    Set {
        /// Project id.
        #[arg(long)]
        project: String,
        /// Setting, such as title-min=20; or severity.CHECK_ID=error, warning, notice or off.
        #[arg(value_name = "NAME=VALUE", required = true)]
        said: Vec<String>,
        #[command(flatten)]
        flags: Flags,
    },
    /// Show all thresholds, and the severities that were changed.
    Show {
        /// Project id.
        #[arg(long)]
        project: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Restore the default thresholds and severities, from the next audit on.
    Reset {
        /// Project id.
        #[arg(long)]
        project: String,
        /// title-min, or severity.CHECK_ID; all of them by default.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Runs the command.
pub async fn run(command: ChecksCommand, json: bool) -> Result<Exit, CliError> {
    let (id, flags) = match &command {
        ChecksCommand::Set { project, flags, .. }
        | ChecksCommand::Show { project, flags }
        | ChecksCommand::Reset { project, flags, .. } => (project, flags),
    };
    let id = project(id)?;
    let installation = open(flags).await?;
    let engine = &installation.engine;
    let (set, all) = match &command {
        ChecksCommand::Set { said, .. } => (engine.set_checks(id, said).await, false),
        ChecksCommand::Show { .. } => (engine.checks(id).await, true),
        ChecksCommand::Reset { names, .. } => (engine.reset_checks(id, names).await, false),
    };
    engine.db.close().await;
    let set = set.map_err(refused)?;
    show(json, &serde_json::json!(set), text(&set, all).trim_end())
}

/// Formats the settings that are set, or all of them.
fn text(set: &ChecksSet, all: bool) -> String {
    let mut text = String::new();
    for threshold in set.thresholds.iter().filter(|threshold| all || threshold.set) {
        let default = if threshold.set {
            format!(" (default {})", threshold.default)
        } else {
            String::new()
        };
        let (name, value, unit) = (&threshold.name, threshold.value, threshold.unit);
        let _ = writeln!(text, "{name:<28} {value} {unit}{default}");
    }
    for severity in &set.severities {
        let name = format!("severity.{}", severity.check_id);
        let _ = writeln!(
            text,
            "{name:<28} {} (default {})",
            severity.value, severity.default
        );
    }
    if text.is_empty() {
        text.push_str("all thresholds and severities are the defaults");
    }
    text
}

//! The results of the newest audit as a file: a table, JSON, a page for people, or SARIF for build pipelines.

mod html;
mod rows;
mod sarif;

use std::{io::Write, path::PathBuf};

use searchwright_contract::{
    audits::{Audit, ListAudits},
    ids::{IssueId, ProjectId},
    issues::{Issue, IssueStatus, ListIssues, ListOccurrences, Occurrence},
};
use serde::Serialize;

use crate::{
    Client,
    exit::{CliError, Exit},
    profile::Connection,
    verbs::project_of,
};

/// Rows of one request.
const PAGE: u8 = 100;
/// Label before the text on how a fix is verified.
const VERIFY: &str = "How to verify:";

/// Format of an exported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One row per affected page and issue, for spreadsheets.
    Csv,
    /// The audit with all its issues in one document.
    Json,
    /// A self-contained report with charts.
    Html,
    /// SARIF 2.1.0, for code scanning and build pipelines.
    Sarif,
}

/// Destination of the results.
#[derive(Clone, Debug, clap::Args)]
pub struct Target {
    /// Format of the report. It lists the active issues with their pages, not those resolved or ignored: CSV, JSON and SARIF list
    /// every page, HTML at most 50 pages per issue.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    pub format: Format,
    /// File to write, overwritten if it exists; standard output by default.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `audits export`: the results of the newest audit that has finished.
#[derive(Clone, Debug, clap::Args)]
pub struct ExportAudit {
    /// Id of the project; defaults to the project of the key.
    #[arg(long = "project", env = "SEARCHWRIGHT_PROJECT")]
    project: Option<String>,
    #[command(flatten)]
    target: Target,
}

/// An issue with all its pages.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// The issue.
    #[serde(flatten)]
    pub issue: Issue,
    /// Its active occurrences, by the URL of their pages.
    pub occurrences: Vec<Occurrence>,
}

/// The results of an audit.
#[derive(Debug, Serialize)]
pub struct Results {
    /// The audit.
    pub audit: Audit,
    /// Active issues, highest impact first; those of the same impact by check.
    pub issues: Vec<Found>,
}

/// Reads everything that an audit left open.
pub async fn gather(client: &Client, audit: Audit) -> Result<Results, CliError> {
    let mut query = ListIssues {
        project_id: audit.project_id.to_string(),
        status: Some(IssueStatus::Active),
        severity: None,
        category: None,
        limit: Some(PAGE),
        cursor: None,
    };
    let mut issues = Vec::new();
    loop {
        let page = client.call(&query).await?;
        for issue in page.data {
            let occurrences = occurrences(client, audit.project_id, issue.id).await?;
            issues.push(Found { issue, occurrences });
        }
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            arrange(&mut issues);
            return Ok(Results { audit, issues });
        }
    }
}

/// Sorts issues and occurrences, so that equal content of two audits is at the same place in their files. Lists of the API fall
/// back to ids, which differ in every project, and so in every `audits run`.
fn arrange(issues: &mut [Found]) {
    for Found { occurrences, .. } in &mut *issues {
        occurrences.sort_by(|a, b| a.url.cmp(&b.url));
    }
    issues.sort_by(|a, b| {
        let by_impact = b.issue.impact.total_cmp(&a.issue.impact);
        by_impact.then_with(|| a.issue.check_id.cmp(&b.issue.check_id))
    });
}

async fn occurrences(
    client: &Client,
    project: ProjectId,
    issue: IssueId,
) -> Result<Vec<Occurrence>, CliError> {
    let mut query = ListOccurrences {
        project_id: project.to_string(),
        issue_id: issue.to_string(),
        state: None,
        limit: Some(PAGE),
        cursor: None,
    };
    let mut all = Vec::new();
    loop {
        let page = client.call(&query).await?;
        all.extend(page.data);
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            return Ok(all);
        }
    }
}

impl Target {
    /// Writes the results. A file is replaced atomically.
    pub fn write(&self, results: &Results) -> Result<(), CliError> {
        let Some(path) = &self.output else {
            return write(results, self.format, &mut std::io::stdout().lock());
        };
        let unwritable =
            |e: std::io::Error| CliError::new(Exit::Failed, format!("cannot write {}: {e}", path.display()));
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let mut file = std::io::BufWriter::new(std::fs::File::create(&part).map_err(unwritable)?);
        write(results, self.format, &mut file)?;
        file.into_inner()
            .map_err(|e| unwritable(e.into_error()))?
            .sync_all()
            .map_err(unwritable)?;
        std::fs::rename(&part, path).map_err(unwritable)
    }
}

/// Replaces a character that would reverse the direction of the text around it, or that controls a terminal.
fn shown(c: char) -> char {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let commands = c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    if turns || commands {
        char::REPLACEMENT_CHARACTER
    } else {
        c
    }
}

fn write(results: &Results, format: Format, out: &mut dyn Write) -> Result<(), CliError> {
    match format {
        Format::Csv => rows::write(results, out)?,
        Format::Json => {
            crate::json_text::write_json(out, results)?;
        }
        Format::Html => out.write_all(html::page(results).as_bytes())?,
        Format::Sarif => {
            crate::json_text::write_json(out, &sarif::log(results))?;
        }
    }
    out.flush()?;
    Ok(())
}

async fn newest_finished(client: &Client, project_id: String) -> Result<Audit, CliError> {
    let mut query = ListAudits {
        project_id,
        status: None,
        limit: Some(PAGE),
        cursor: None,
    };
    loop {
        let page = client.call(&query).await?;
        let mut all = page.data.into_iter();
        if let Some(audit) = all.find(|a| a.status.has_results()) {
            return Ok(audit);
        }
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            return Err(
                CliError::new(Exit::Refused, "no audit of this project has finished yet")
                    .hint("start one: searchwright audits start --wait"),
            );
        }
    }
}

/// Carries `audits export` out.
pub async fn run(export: ExportAudit, connection: &Connection) -> Result<Exit, CliError> {
    let client = connection.client().await?;
    let project_id = match export.project {
        Some(project) => project,
        None => project_of(&client).await?.to_string(),
    };
    let audit = newest_finished(&client, project_id).await?;
    export.target.write(&gather(&client, audit).await?)?;
    Ok(Exit::Done)
}

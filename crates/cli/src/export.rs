//! The results of the newest audit as a file: a table, JSON, a page for people, or SARIF for build pipelines.

mod document;
mod html;
mod rows;
mod sarif;

use std::{
    io::{self, Read as _, Seek as _, SeekFrom, Write},
    path::PathBuf,
};

use searchwright_contract::{
    audits::{Audit, ListAudits},
    ids::{IssueId, ProjectId},
    issues::{Issue, IssueStatus, ListIssues, ListOccurrences, Occurrence},
};

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
#[derive(Clone, Debug)]
pub struct Target {
    /// Format of the report.
    pub format: Format,
    /// File to write, overwritten if it exists; standard output by default.
    pub output: Option<PathBuf>,
}

/// `audits export`: the results of the newest audit that has finished.
#[derive(Clone, Debug, clap::Args)]
pub struct ExportAudit {
    /// Id of the project; defaults to the project of the key.
    #[arg(long = "project", env = "SEARCHWRIGHT_PROJECT")]
    project: Option<String>,
    /// Format of the report; default csv, or json with --json. It lists the active issues with their pages, not those resolved or
    /// ignored: CSV, JSON and SARIF list every page, HTML at most 50 pages per issue.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File to write, overwritten if it exists; standard output by default.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ExportAudit {
    /// Returns the format that is named, or that of `--json`.
    fn choose_format(&self, json: bool) -> Result<Format, CliError> {
        match (self.format, json) {
            (Some(format), true) if format != Format::Json => {
                Err(CliError::new(Exit::Usage, "a report has one format")
                    .hint("give only one of --json and --format"))
            }
            (Some(format), _) => Ok(format),
            (None, true) => Ok(Format::Json),
            (None, false) => Ok(Format::Csv),
        }
    }
}

/// Form of a file whose rows are written one by one.
trait Layout {
    /// Writes what comes before the first issue.
    fn begin(&self, audit: &Audit, issues: &[Issue], out: &mut dyn Write) -> io::Result<()>;
    /// Writes what comes before the occurrences of an issue.
    fn begin_issue(&self, at: usize, issue: &Issue, out: &mut dyn Write) -> io::Result<()>;
    /// Returns an occurrence as it is written.
    fn row(&self, at: usize, issue: &Issue, occurrence: &Occurrence) -> io::Result<Vec<u8>>;
    /// Text before a row that is not the first of the file.
    fn separator(&self, is_first_of_issue: bool) -> &'static str;
    /// Writes what comes after the occurrences of an issue.
    fn end_issue(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Writes what comes after the last issue.
    fn end(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Returns the active issues, highest impact first; those of the same impact by check. Lists of the API fall back to ids, which
/// differ in every project, and so in every `audits run`.
async fn issues(client: &Client, project: ProjectId) -> Result<Vec<Issue>, CliError> {
    let mut query = ListIssues {
        project_id: project.to_string(),
        status: Some(IssueStatus::Active),
        severity: None,
        category: None,
        sort: None,
        limit: Some(PAGE),
        cursor: None,
    };
    let mut issues = Vec::new();
    loop {
        let page = client.call(&query).await?;
        issues.extend(page.data);
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            break;
        }
    }
    issues.sort_by(|a: &Issue, b| {
        let by_impact = b.impact.total_cmp(&a.impact);
        by_impact.then_with(|| a.check_id.cmp(&b.check_id))
    });
    Ok(issues)
}

/// Passes on the active occurrences of an issue, in the order of the API. A page is handled while the next one is on its way.
async fn each_occurrence(
    client: &Client,
    project: ProjectId,
    issue: IssueId,
    mut handle: impl FnMut(Occurrence) -> io::Result<()>,
) -> Result<(), CliError> {
    let mut query = ListOccurrences {
        project_id: project.to_string(),
        issue_id: issue.to_string(),
        state: None,
        limit: Some(PAGE),
        cursor: None,
    };
    let mut page = client.call(&query).await?;
    loop {
        query.cursor = page.next_cursor.take();
        let rows = page.data;
        let handling = async { rows.into_iter().try_for_each(&mut handle) };
        if query.cursor.is_none() {
            return Ok(handling.await?);
        }
        let (next, handled) = tokio::join!(client.call(&query), handling);
        handled?;
        page = next?;
    }
}

/// Rows of an issue, kept on disk until all are read: files are in the order of URLs, which lists of the API are not.
struct Rows {
    file: io::BufWriter<std::fs::File>,
    /// URL, place and length of each row.
    index: Vec<(Box<str>, u64, usize)>,
    written: u64,
}

impl Rows {
    fn new() -> io::Result<Self> {
        Ok(Self {
            file: io::BufWriter::new(tempfile::tempfile()?),
            index: Vec::new(),
            written: 0,
        })
    }

    fn push(&mut self, url: String, row: &[u8]) -> io::Result<()> {
        self.file.write_all(row)?;
        self.index.push((url.into(), self.written, row.len()));
        self.written += row.len() as u64;
        Ok(())
    }

    /// Passes on all rows, by URL, and forgets them.
    fn drain(&mut self, mut handle: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.file.flush()?;
        let mut index = std::mem::take(&mut self.index);
        index.sort();
        let file = self.file.get_mut();
        let mut row = Vec::new();
        for (_, at, length) in index {
            row.resize(length, 0);
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut row)?;
            handle(&row)?;
        }
        file.set_len(0)?;
        file.rewind()?;
        self.written = 0;
        Ok(())
    }
}

async fn write_rows(
    client: &Client,
    audit: &Audit,
    layout: &dyn Layout,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let issues = issues(client, audit.project_id).await?;
    layout.begin(audit, &issues, out)?;
    let (mut rows, mut is_first) = (Rows::new()?, true);
    for (at, issue) in issues.iter().enumerate() {
        layout.begin_issue(at, issue, out)?;
        each_occurrence(client, audit.project_id, issue.id, |occurrence| {
            let row = layout.row(at, issue, &occurrence)?;
            rows.push(occurrence.url, &row)
        })
        .await?;
        let mut is_first_of_issue = true;
        rows.drain(|row| {
            if !is_first {
                out.write_all(layout.separator(is_first_of_issue).as_bytes())?;
            }
            (is_first, is_first_of_issue) = (false, false);
            out.write_all(row)
        })?;
        layout.end_issue(out)?;
    }
    Ok(layout.end(out)?)
}

impl Target {
    /// Reads the results of an audit and writes them as they come. A file is replaced as a whole.
    pub async fn write(&self, client: &Client, audit: &Audit) -> Result<(), CliError> {
        let Some(path) = &self.output else {
            let mut out = io::BufWriter::new(io::stdout());
            write(client, audit, self.format, &mut out).await?;
            return Ok(out.flush()?);
        };
        let unwritable =
            |e: io::Error| CliError::new(Exit::Failed, format!("cannot write {}: {e}", path.display()));
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let mut file = io::BufWriter::new(std::fs::File::create(&part).map_err(unwritable)?);
        write(client, audit, self.format, &mut file).await?;
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

async fn write(client: &Client, audit: &Audit, format: Format, out: &mut dyn Write) -> Result<(), CliError> {
    match format {
        Format::Csv => write_rows(client, audit, &rows::Table, out).await,
        Format::Json => write_rows(client, audit, &document::Document, out).await,
        Format::Sarif => write_rows(client, audit, &sarif::Log, out).await,
        Format::Html => {
            let mut found = Vec::new();
            for issue in issues(client, audit.project_id).await? {
                let (project, id) = (audit.project_id, issue.id);
                let mut one = html::Found::new(issue);
                each_occurrence(client, project, id, |occurrence| {
                    one.add(occurrence);
                    Ok(())
                })
                .await?;
                found.push(one);
            }
            Ok(out.write_all(html::page(audit, &found).as_bytes())?)
        }
    }
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
pub async fn run(export: ExportAudit, connection: &Connection, json: bool) -> Result<Exit, CliError> {
    let format = export.choose_format(json)?;
    let client = connection.client().await?;
    let project_id = match export.project {
        Some(project) => project,
        None => project_of(&client).await?.to_string(),
    };
    let audit = newest_finished(&client, project_id).await?;
    let target = Target {
        format,
        output: export.output,
    };
    target.write(&client, &audit).await?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn rows_come_by_url_and_are_forgotten() {
        let mut rows = Rows::new().unwrap();
        for round in 0..2 {
            for n in [7, 3, 11, 3, 0] {
                rows.push(format!("/{n:02}"), format!("{round}-{n};").as_bytes())
                    .unwrap();
            }
            let mut text = Vec::new();
            rows.drain(|row| {
                text.extend_from_slice(row);
                Ok(())
            })
            .unwrap();
            let expected = "R-0;R-3;R-3;R-7;R-11;".replace('R', &round.to_string());
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }
}

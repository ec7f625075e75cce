//! `searchwright logs import`: visits of agents and referrals from assistants in access logs.
//!
//! Logs are read as streams and reduced to sums by day. Addresses of visitors are compared with the ranges of vendors here, and
//! leave this machine in no form: what is sent is a number by day, agent and page.

mod summary;

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use flate2::read::MultiGzDecoder;
use searchwright_contract::reports::{ImportReport, ReportFormat};
use searchwright_visibility::{
    access_logs::{AgentRanges, LogCounter, LogReport, parse_networks},
    agents::agents,
    reports::log_rows,
};
use serde::Serialize;

use crate::{
    exit::{CliError, Exit},
    profile::Connection,
    verbs::project_of,
};

/// Bytes read at a time.
const CHUNK_BYTES: usize = 256 << 10;
/// Largest file of address ranges in bytes.
const MAX_RANGES_BYTES: u64 = 8 << 20;
/// Rows of one request.
const ROWS_PER_REQUEST: usize = 50_000;
/// Bytes of one request.
const BYTES_PER_REQUEST: usize = 4 << 20;

/// Access logs of the web server.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum LogsCommand {
    /// Count visits of AI agents and search engines, and referrals from AI assistants, in access logs.
    Import(ImportLogs),
}

/// `logs import`: counts logs, and sends the daily sums to a project if one is named.
#[derive(Clone, Debug, clap::Args)]
#[command(
    long_about = "Count visits of AI agents and search engines, and referrals from AI assistants, in access logs.\n\nFormats: combined and common (Apache, nginx, with or without a virtual host before), and JSON lines; gzip is recognised by content. \
    With --project or --profile the daily sums are sent to that project; otherwise they are only printed. A sum replaces the stored one of the same day, agent and page, so that a log may be imported twice; import all files of a day in one command, because a part of a day would replace the whole. \
    Addresses of visitors stay on this machine."
)]
pub struct ImportLogs {
    /// Log files, plain or gzip; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Address ranges that an agent's vendor publishes, to verify its visits: JSON with `prefixes`, or one network a line. Once per
    /// agent.
    #[arg(long, value_name = "AGENT=FILE")]
    ranges: Vec<String>,
    /// Id of the project to which the daily sums are sent.
    #[arg(long, env = "SEARCHWRIGHT_PROJECT")]
    project: Option<String>,
    /// Only print, whatever project is named.
    #[arg(long)]
    dry_run: bool,
    /// Rows of each table of pages.
    #[arg(long, default_value_t = 20)]
    top: usize,
}

/// Outcome of sending the sums.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SentSums {
    project_id: String,
    rows: u64,
    added: u64,
    replaced: u64,
    unchanged: u64,
    skipped: u64,
}

impl LogsCommand {
    /// Runs the command.
    pub async fn run(self, connection: &Connection, json: bool) -> Result<Exit, CliError> {
        let Self::Import(import) = self;
        import.run(connection, json).await
    }
}

impl ImportLogs {
    async fn run(self, connection: &Connection, json: bool) -> Result<Exit, CliError> {
        let mut counter = LogCounter::new(read_ranges(&self.ranges)?);
        for file in &self.files {
            let read = if file == Path::new("-") {
                count(&mut counter, io::stdin().lock())
            } else {
                File::open(file).and_then(|opened| count(&mut counter, opened))
            };
            read.map_err(|e| CliError::new(Exit::Failed, format!("cannot read {}: {e}", file.display())))?;
        }
        let report = counter.finish();
        if report.lines > 0 && report.unparsed + report.too_long == report.lines {
            return Err(CliError::new(
                Exit::Failed,
                format!("none of the {} lines is in a known format", report.lines),
            )
            .hint("known are the combined and common formats of Apache and nginx, and JSON lines with a time, a path and a user agent"));
        }
        let is_named = self.project.as_deref().is_some_and(|id| !id.is_empty());
        let is_sent = !self.dry_run && (is_named || connection.profile.is_some());
        let sent = if is_sent {
            Some(self.send(connection, &report).await?)
        } else {
            None
        };
        summary::print(&report, self.top, sent, json)?;
        Ok(Exit::Done)
    }

    async fn send(&self, connection: &Connection, report: &LogReport) -> Result<SentSums, CliError> {
        let client = connection.client().await?;
        let project = match self.project.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => id.to_owned(),
            None => project_of(&client).await?.to_string(),
        };
        let mut sent = SentSums {
            project_id: project.clone(),
            ..SentSums::default()
        };
        for file in files(&log_rows::log_lines(report)) {
            let import = ImportReport {
                project_id: project.clone(),
                file,
                format: Some(ReportFormat::AccessLog),
                from: None,
                to: None,
            };
            let imported = client.call(&import).await?;
            sent.rows += imported.rows;
            sent.added += imported.added;
            sent.replaced += imported.replaced;
            sent.unchanged += imported.unchanged;
            sent.skipped += imported.skipped;
            for row in &imported.skipped_rows {
                eprintln!("skipped: {} ({})", row.detail, row.code);
            }
        }
        Ok(sent)
    }
}

/// Counts a log, plain or gzip.
fn count(counter: &mut LogCounter, mut source: impl Read) -> io::Result<()> {
    let mut head = Vec::with_capacity(2);
    source.by_ref().take(2).read_to_end(&mut head)?;
    let is_gzip = head == [0x1f, 0x8b];
    let whole = io::Cursor::new(head).chain(source);
    if is_gzip {
        add_all(counter, MultiGzDecoder::new(whole))
    } else {
        add_all(counter, whole)
    }
}

fn add_all(counter: &mut LogCounter, mut source: impl Read) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => counter.add(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // the last line of a file may have no end
    counter.add(b"\n");
    Ok(())
}

/// Reads the address ranges of agents.
fn read_ranges(arguments: &[String]) -> Result<AgentRanges, CliError> {
    let mut ranges = AgentRanges::default();
    for argument in arguments {
        let usage = |message: String| CliError::new(Exit::Usage, format!("--ranges {argument}: {message}"));
        let (agent, path) = argument
            .split_once('=')
            .ok_or_else(|| usage("is not AGENT=FILE".to_owned()))?;
        let mut text = String::new();
        File::open(path)
            .and_then(|file| file.take(MAX_RANGES_BYTES + 1).read_to_string(&mut text))
            .map_err(|e| usage(e.to_string()))?;
        if text.len() as u64 > MAX_RANGES_BYTES {
            return Err(usage("has more than 8 MiB".to_owned()));
        }
        let networks = parse_networks(&text).map_err(usage)?;
        if !ranges.insert(agent, &networks) {
            let known: Vec<&str> = agents().iter().map(|agent| agent.name).collect();
            return Err(
                usage(format!("there is no agent {agent}")).hint(format!("known are {}", known.join(", ")))
            );
        }
    }
    Ok(ranges)
}

/// Splits rows into files that one request can carry.
fn files(rows: &[String]) -> Vec<String> {
    let mut files = Vec::new();
    let mut file = String::new();
    let mut count = 0;
    for row in rows {
        if count == ROWS_PER_REQUEST || file.len() + row.len() > BYTES_PER_REQUEST {
            files.push(std::mem::take(&mut file));
            count = 0;
        }
        if count == 0 {
            file.push_str(log_rows::HEADER);
            file.push('\n');
        }
        file.push_str(row);
        file.push('\n');
        count += 1;
    }
    if count > 0 {
        files.push(file);
    }
    files
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    #[test]
    fn a_log_may_be_gzip_and_may_end_without_a_line_end() {
        let line = "1.1.1.1 - - [01/Dec/2026:00:00:00 +0000] \"GET /a HTTP/2\" 200 1 \"-\" \"GPTBot/1.2\"";
        let mut zipped = Vec::new();
        // two members, as rotated logs that were joined
        for _ in 0..2 {
            let mut encoder = GzEncoder::new(&mut zipped, Compression::fast());
            encoder.write_all(format!("{line}\n").as_bytes()).unwrap();
            encoder.finish().unwrap();
        }
        let mut counter = LogCounter::default();
        count(&mut counter, zipped.as_slice()).unwrap();
        count(&mut counter, line.as_bytes()).unwrap();
        count(&mut counter, b"".as_slice()).unwrap();
        count(&mut counter, line.as_bytes()).unwrap();
        let report = counter.finish();
        assert_eq!(report.visits.values().map(|count| count.visits).sum::<u64>(), 4);
        let cut = &zipped[..zipped.len() - 4];
        assert!(count(&mut LogCounter::default(), cut).is_err());
    }

    #[test]
    fn rows_are_sent_in_portions() {
        assert!(files(&[]).is_empty());
        let rows = vec!["x".repeat(100); ROWS_PER_REQUEST + 1];
        let files = files(&rows);
        assert!(files.len() >= 2);
        let sent: usize = files.iter().map(|file| file.lines().count() - 1).sum();
        assert_eq!(sent, rows.len());
        for file in files {
            assert!(file.starts_with(log_rows::HEADER));
            assert!(file.len() <= BYTES_PER_REQUEST + log_rows::HEADER.len() + 2);
        }
    }
}

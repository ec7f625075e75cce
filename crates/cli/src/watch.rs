//! `searchwright watch`: the events of a project as they happen.

use std::{
    io::{IsTerminal as _, Write as _},
    time::Duration,
};

use searchwright_client::ClientError;
use searchwright_contract::{
    List,
    events::{Event, EventType, ListEvents},
};

use crate::{
    exit::{CliError, Exit},
    json_text::write_json,
    output::{plain, write_note},
    profile::Connection,
    verbs::project_of,
};

/// Events of one request.
const PAGE: u8 = 100;
/// Time between two requests while nothing happens.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Time before the next request after one without an answer.
const RETRY_INTERVAL: Duration = Duration::from_secs(3);

/// Follow the events of a project until Ctrl-C.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  searchwright watch\n  searchwright watch --types post.published,audit.completed --jsonl"
)]
pub struct WatchEvents {
    /// Kinds of events, separated by commas; all unless named.
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    types: Vec<EventType>,
    /// Begin with the events of the last 30 days.
    #[arg(long)]
    all: bool,
    /// Print one event on each line, as JSON.
    #[arg(long)]
    jsonl: bool,
    /// Id of the project; defaults to the project of the key.
    #[arg(long = "project", env = "SEARCHWRIGHT_PROJECT")]
    project: Option<String>,
}

impl WatchEvents {
    /// Prints events until Ctrl-C.
    pub async fn run(&self, connection: &Connection, json: bool) -> Result<Exit, CliError> {
        tokio::select! {
            // The handler of the signal is there before anything is printed.
            biased;
            Ok(()) = tokio::signal::ctrl_c() => Ok(Exit::Done),
            ended = self.follow(connection, json || self.jsonl) => ended,
        }
    }

    async fn follow(&self, connection: &Connection, json: bool) -> Result<Exit, CliError> {
        let mut client = connection.client().await?;
        let project_id = match &self.project {
            Some(project) => project.clone(),
            None => project_of(&client).await?.to_string(),
        };
        let event = match self.types.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let mut query = ListEvents {
            project_id,
            event,
            limit: Some(PAGE),
            cursor: None,
        };
        let mut is_shown = self.all;
        let mut is_silent = false;
        // The first answer decides whether there is anything to watch.
        let mut page = client.call(&query).await?;
        loop {
            if is_shown {
                self.print(&page, json)?;
            }
            let is_last = page.data.is_empty();
            if let Some(cursor) = page.next_cursor.take() {
                query.cursor = Some(cursor);
            }
            if is_last {
                if !is_shown {
                    write_note("watching; Ctrl-C ends it");
                }
                is_shown = true;
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            page = loop {
                match client.call(&query).await {
                    Ok(page) => break page,
                    Err(ClientError::Problem(problem)) if problem.status == 401 => {
                        // An access token lives for an hour; a profile has the next one.
                        client = connection.client().await?;
                        break client.call(&query).await?;
                    }
                    Err(ClientError::Problem(problem)) if !problem.retryable => {
                        return Err(ClientError::Problem(problem).into());
                    }
                    Err(error) => {
                        if !std::mem::replace(&mut is_silent, true) {
                            eprintln!("{}; trying again", plain(&error.to_string()));
                        }
                        tokio::time::sleep(RETRY_INTERVAL).await;
                    }
                }
            };
            is_silent = false;
        }
    }

    fn print(&self, page: &List<Event>, json: bool) -> Result<(), CliError> {
        let mut out = std::io::stdout().lock();
        let is_terminal = std::io::stdout().is_terminal();
        for event in &page.data {
            if !self.types.is_empty() && !self.types.contains(&event.kind) {
                continue;
            }
            if json {
                write_json(&mut out, event)?;
            } else {
                let data = event.data.to_string();
                let kind = event.kind.as_str();
                let width = if is_terminal { 26 } else { 0 };
                writeln!(out, "{} {kind:width$} {}", event.timestamp, plain(&data))?;
            }
        }
        out.flush()?;
        Ok(())
    }
}

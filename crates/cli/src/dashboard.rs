//! `searchwright open`: pages of the dashboard.

use std::io::{IsTerminal as _, Write as _};

use searchwright_client::Client;
use serde_json::json;

use crate::{
    exit::{CliError, Exit},
    json_text::write_json,
    profile::Connection,
    verbs::project_of,
};

/// Words of pages with their paths below the project; the last member says whether a record has a page of its own.
const PAGES: &[(&str, &str, bool)] = &[
    ("overview", "", false),
    ("audits", "/audits", true),
    ("issues", "/issues", true),
    ("pages", "/pages", true),
    ("keywords", "/keywords", false),
    ("posts", "/posts", true),
    ("calendar", "/calendar", false),
    ("approvals", "/approvals", true),
    ("visibility", "/visibility", false),
    ("prompts", "/visibility/prompts", true),
    ("brand", "/brand", false),
    ("integrations", "/integrations", false),
    ("webhooks", "/webhooks", true),
    ("activity", "/activity", false),
    ("settings", "/settings", false),
    ("keys", "/settings/keys", false),
    ("members", "/settings/members", false),
    ("autonomy", "/settings/autonomy", false),
    ("providers", "/settings/providers", false),
    ("autopilot", "/settings/autopilot", false),
    ("schedules", "/settings/schedules", false),
    ("checks", "/settings/checks", false),
    ("notices", "/settings/notices", false),
    ("connect", "/settings/connect", false),
];
/// Words of pages that belong to no project.
const GENERAL: &[&str] = &["projects", "account"];

/// Open a page of the dashboard in a browser.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  searchwright open\n  searchwright open posts ID\n  searchwright open issues --print"
)]
pub struct OpenPage {
    /// The page: overview, audits, issues, pages, keywords, posts, calendar, approvals, visibility, prompts, brand, integrations,
    /// webhooks, activity, settings, keys, members, autonomy, providers, autopilot, schedules, checks, notices, connect, projects or
    /// account.
    #[arg(default_value = "overview", value_parser = clap::builder::PossibleValuesParser::new(words()), hide_possible_values = true)]
    page: String,
    /// Id of a record with a page of its own.
    id: Option<String>,
    /// Id of the project; defaults to the project of the key.
    #[arg(long = "project", env = "SEARCHWRIGHT_PROJECT")]
    project: Option<String>,
    /// Print the address, and open no browser.
    #[arg(long)]
    print: bool,
}

fn words() -> impl Iterator<Item = &'static str> {
    PAGES
        .iter()
        .map(|(word, ..)| *word)
        .chain(GENERAL.iter().copied())
}

impl OpenPage {
    /// Opens the page, or prints its address where there is no browser to open.
    pub async fn run(&self, connection: &Connection, json: bool) -> Result<Exit, CliError> {
        let url = self.url(connection).await?;
        // A script wants the address; so does a person on another machine, whose browser is not here.
        let is_at_a_screen = std::io::stdout().is_terminal() && std::env::var_os("SSH_CONNECTION").is_none();
        let is_printed = self.print || !is_at_a_screen || webbrowser::open(&url).is_err();
        let mut out = std::io::stdout().lock();
        if json {
            write_json(&mut out, &json!({ "url": url }))?;
        } else if is_printed {
            writeln!(out, "{url}")?;
        }
        Ok(Exit::Done)
    }

    async fn url(&self, connection: &Connection) -> Result<String, CliError> {
        let root = connection.server_url()?;
        let root = root.trim_end_matches('/').trim_end_matches("/v1").to_owned();
        let page = PAGES.iter().find(|(word, ..)| *word == self.page);
        let tail = match (page, &self.id) {
            (None, None) => return Ok(format!("{root}/{}", self.page)),
            (Some((_, path, _)), None) => (*path).to_owned(),
            (Some((_, path, true)), Some(id)) => {
                let is_id = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
                if !is_id {
                    return Err(CliError::new(Exit::Usage, format!("{id:?} is not an id"))
                        .hint(format!("`searchwright {} list` shows the ids", self.page)));
                }
                format!("{path}/{id}")
            }
            (_, Some(_)) => {
                let own = PAGES.iter().filter(|(.., has_records)| *has_records);
                let own: Vec<&str> = own.map(|(word, ..)| *word).collect();
                return Err(CliError::new(
                    Exit::Usage,
                    format!("{} has no pages of single records", self.page),
                )
                .hint(format!("records of these have one: {}", own.join(", "))));
            }
        };
        let project = match &self.project {
            Some(project) => project.clone(),
            None => project_of(&self.client(connection).await?).await?.to_string(),
        };
        Ok(format!("{root}/projects/{project}{tail}"))
    }

    async fn client(&self, connection: &Connection) -> Result<Client, CliError> {
        connection.client().await.map_err(|error| {
            let hint = error.hint.clone().unwrap_or_default();
            error.hint(format!("{hint}; or name the project with --project"))
        })
    }
}

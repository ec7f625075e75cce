//! `searchwright mcp install`: makes this server known to an MCP client of this user.
//!
//! The client's own command is preferred to its file, whose form is the vendor's to change. The file is read in both
//! cases: it says whether there is anything to do.

mod config_edit;
mod machine;

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use searchwright_client::Client;
use searchwright_contract::mcp_clients::{
    ClientSetup, CommandLine, ConfigEntry, DEFAULT_NAME, McpClient, McpServer,
};
use serde::Serialize;

use crate::{
    exit::{CliError, Exit},
    login::no_mcp_url,
    profile::Connection,
};

use config_edit::{Existing, find_existing, set_entry};
use machine::Machine;

/// Everything but the unreserved characters of RFC 3986.
const WORD: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Make this server known to an MCP client of this user.
#[derive(Clone, Debug, clap::Args)]
pub struct InstallMcp {
    /// The client.
    #[arg(value_parser = PossibleValuesParser::new(McpClient::ALL.iter().map(|c| c.as_str())).try_map(|word| word.parse::<McpClient>()))]
    client: McpClient,
    /// Name of the server in the client.
    #[arg(long, default_value = DEFAULT_NAME)]
    name: String,
    /// URL of MCP; by default the server is asked.
    #[arg(long, value_name = "URL")]
    mcp_url: Option<String>,
    /// Sets of tools to offer, separated by commas; the usual ones unless named.
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    toolsets: Vec<String>,
    /// Let the client start `searchwright mcp` instead of connecting to the URL: for servers that only this computer reaches, and
    /// with the credential of this program.
    #[arg(long)]
    stdio: bool,
    /// Print what would be done, and change nothing.
    #[arg(long)]
    print: bool,
}

impl InstallMcp {
    /// Runs the command.
    pub async fn run(&self, connection: &Connection, json: bool) -> Result<Exit, CliError> {
        let url = match &self.mcp_url {
            Some(url) => url.clone(),
            None => find_mcp_url(&connection.server_url()?).await?,
        };
        let url = with_toolsets(url, &self.toolsets);
        let server = McpServer::new(&self.name, &url).map_err(|e| {
            CliError::new(Exit::Usage, e.to_string())
                .hint("name the server with --name, and its URL with --mcp-url")
        })?;
        let setup = if self.stdio {
            let words = self.words(connection)?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            self.client.setup_program(&server, &words).ok_or_else(|| {
                let label = self.client.label();
                CliError::new(
                    Exit::Usage,
                    format!("{label} runs in the cloud and starts no program here"),
                )
                .hint("install it without --stdio, with a public URL of the server")
            })?
        } else {
            self.client.setup(&server)
        };
        let installer = Installer {
            machine: Machine::current(),
            setup,
            server,
            is_dry_run: self.print,
        };
        let report = installer.run().await?;
        if json {
            let mut out = io::stdout().lock();
            crate::json_text::write_json(&mut out, &report)?;
        } else {
            let (data, words) = (report.data(), report.words());
            io::stdout().lock().write_all(data.as_bytes())?;
            io::stderr().lock().write_all(words.as_bytes())?;
        }
        Ok(report.exit())
    }
}

impl InstallMcp {
    /// Returns this program with the arguments that a client gives it.
    fn words(&self, connection: &Connection) -> Result<Vec<String>, CliError> {
        let program = std::env::current_exe()?;
        let program = program.to_str().ok_or_else(|| {
            CliError::new(
                Exit::Failed,
                format!(
                    "{} has a path that no file of a client can hold",
                    program.display()
                ),
            )
            .hint("install the program below a path of ordinary characters")
        })?;
        let mut words = vec![program.to_owned(), "mcp".to_owned()];
        // By = in one word: some commands of clients take what begins with -- for their own.
        let named = [
            ("profile", connection.profile.clone()),
            ("url", connection.url.clone()),
            ("mcp-url", self.mcp_url.clone()),
        ];
        let toolsets = (!self.toolsets.is_empty()).then(|| self.toolsets.join(","));
        for (name, value) in named.into_iter().chain([("toolsets", toolsets)]) {
            if let Some(value) = value {
                words.push(format!("--{name}={value}"));
            }
        }
        Ok(words)
    }
}

/// Asks a server at which URL it serves MCP.
pub(crate) async fn find_mcp_url(server: &str) -> Result<String, CliError> {
    let found = Client::new(server, "")?.mcp_url().await?;
    found.ok_or_else(|| no_mcp_url(server))
}

/// Returns a URL of MCP with the sets of tools that it is to offer.
pub(crate) fn with_toolsets(url: String, toolsets: &[String]) -> String {
    if toolsets.is_empty() {
        return url;
    }
    let joint = if url.contains('?') { '&' } else { '?' };
    let words: Vec<String> = toolsets
        .iter()
        .map(|word| utf8_percent_encode(word.trim(), WORD).to_string())
        .collect();
    format!("{url}{joint}toolsets={}", words.join(","))
}

/// Outcome of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Status {
    /// The client did not know the server.
    Installed,
    /// The client knew another URL under this name.
    Replaced,
    /// There was nothing to do.
    AlreadyInstalled,
    /// `--print`: it would be installed or replaced.
    Planned,
    /// A person has to go through the steps.
    Steps,
    /// The file cannot be edited safely.
    NotEditable,
}

/// Report of an installation; as JSON, the output of the command.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    client: McpClient,
    name: String,
    mcp_url: String,
    status: Status,
    /// URL that was or would be replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_url: Option<String>,
    /// Commands of the client that were or would be run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<CommandLine>,
    /// Configuration file that was or would be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    /// Entry for the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<String>,
    sign_in: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sign_in_command: Option<CommandLine>,
    /// Something that went wrong or will.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl Report {
    fn exit(&self) -> Exit {
        match self.status {
            Status::NotEditable => Exit::Failed,
            _ => Exit::Done,
        }
    }

    /// Text for stdout: whatever is to be copied or followed.
    fn data(&self) -> String {
        let mut text = String::new();
        match self.status {
            Status::Planned if !self.commands.is_empty() => {
                for command in &self.commands {
                    let _ = writeln!(text, "{command}");
                }
            }
            Status::Planned | Status::NotEditable => {
                text.push_str(self.snippet.as_deref().unwrap_or_default())
            }
            Status::Steps => {
                for (at, step) in self.steps.iter().enumerate() {
                    let _ = writeln!(text, "{}. {step}", at + 1);
                }
            }
            Status::Installed | Status::Replaced | Status::AlreadyInstalled => {}
        }
        text
    }

    /// Text for stderr: the outcome and the next step.
    fn words(&self) -> String {
        let (client, name) = (self.client.label(), &self.name);
        let file = self
            .file
            .as_deref()
            .map(|f| f.display().to_string())
            .unwrap_or_default();
        let place = if self.commands.is_empty() {
            format!(" in {file}")
        } else {
            String::new()
        };
        let mut text = match (self.status, &self.previous_url) {
            (Status::Replaced, Some(old)) => {
                format!(
                    "{client} knew {name} at {old}; that is replaced by {}{place}",
                    self.mcp_url
                )
            }
            (Status::Installed | Status::Replaced, _) => {
                format!("{name} is installed in {client}{place}")
            }
            (Status::AlreadyInstalled, _) => format!("{name} is already installed in {client}"),
            (Status::Planned, old) => {
                let what = if self.commands.is_empty() {
                    format!("this would be written to {file}")
                } else {
                    "these commands would be run".to_owned()
                };
                match old {
                    Some(old) => format!("{what}; {name} at {old} would be replaced"),
                    None => what,
                }
            }
            (Status::Steps, _) => format!("{client} is set up on its web page, in these steps"),
            (Status::NotEditable, _) => format!("{file} is not touched; add this by hand"),
        };
        text.push('\n');
        if let Some(warning) = &self.warning {
            let _ = writeln!(text, "warning: {warning}");
        }
        if let Some(link) = &self.link
            && matches!(self.status, Status::Planned | Status::Steps | Status::NotEditable)
        {
            let _ = writeln!(text, "Or open this link: {link}");
        }
        if self.status != Status::Steps {
            let _ = writeln!(text, "{}", self.sign_in);
        }
        text
    }
}

/// One installation.
struct Installer {
    machine: Machine,
    setup: ClientSetup,
    server: McpServer,
    is_dry_run: bool,
}

impl Installer {
    async fn run(&self) -> Result<Report, CliError> {
        let Some(entry) = &self.setup.config else {
            let warning = self.setup.notice.clone();
            return Ok(Report {
                steps: self.setup.steps.clone(),
                warning,
                ..self.report(Status::Steps)
            });
        };
        let command = self.setup.command.as_ref();
        let program = command.and_then(|c| Some((self.machine.find_program(c.program())?, c)));
        let path = self.machine.locate(&entry.path(self.machine.os()));
        match program {
            Some((program, command)) => self.by_command(&program, command, path.ok(), entry).await,
            None => self.by_file(path?, entry),
        }
    }

    fn report(&self, status: Status) -> Report {
        let sign_in = self.setup.sign_in.clone();
        Report {
            client: self.setup.client,
            name: self.server.name().to_owned(),
            mcp_url: self.server.url().to_owned(),
            status,
            previous_url: None,
            commands: Vec::new(),
            file: None,
            snippet: None,
            link: self.setup.link.clone(),
            steps: Vec::new(),
            sign_in: sign_in.text,
            sign_in_command: sign_in.command,
            warning: None,
        }
    }

    /// Installs with the command of the client.
    async fn by_command(
        &self,
        program: &Path,
        command: &CommandLine,
        path: Option<PathBuf>,
        entry: &ConfigEntry,
    ) -> Result<Report, CliError> {
        // The client reads more forms of its file than this program does; what cannot be read is left to the command.
        let find = || {
            let text = machine::read(path.as_deref()?).ok()?;
            find_existing(&text, entry).ok()
        };
        let previous_url = match find() {
            Some(Existing::SameUrl) => return Ok(self.report(Status::AlreadyInstalled)),
            Some(Existing::OtherKind) => return Err(self.taken()),
            Some(Existing::OtherUrl(url)) => Some(url),
            Some(Existing::Absent) | None => None,
        };
        let removal = self.setup.removal.iter().filter(|_| previous_url.is_some());
        let commands: Vec<CommandLine> = removal.chain([command]).cloned().collect();
        let status = match (self.is_dry_run, &previous_url) {
            (true, _) => Status::Planned,
            (false, Some(_)) => Status::Replaced,
            (false, None) => Status::Installed,
        };
        let mut warning = None;
        if !self.is_dry_run {
            for line in &commands {
                if let Err(error) = self.machine.run(program, line).await {
                    // Codex adds the server first and then waits for a browser, which need not exist here.
                    if find() != Some(Existing::SameUrl) {
                        return Err(error);
                    }
                    warning = Some(error.message);
                }
            }
        }
        Ok(Report {
            previous_url,
            commands,
            warning,
            ..self.report(status)
        })
    }

    /// Installs by an edit of the client's configuration file.
    fn by_file(&self, path: PathBuf, entry: &ConfigEntry) -> Result<Report, CliError> {
        let old = machine::read(&path)?;
        let with_file = |status| Report {
            file: Some(path.clone()),
            snippet: Some(entry.snippet()),
            ..self.report(status)
        };
        let edit = find_existing(&old, entry).and_then(|existing| {
            let new = match existing {
                Existing::SameUrl | Existing::OtherKind => String::new(),
                Existing::Absent | Existing::OtherUrl(_) => set_entry(&old, entry)?,
            };
            Ok((existing, new))
        });
        let (existing, new) = match edit {
            Ok(edit) => edit,
            Err(why) => {
                return Ok(Report {
                    warning: Some(why.to_string()),
                    ..with_file(Status::NotEditable)
                });
            }
        };
        let previous_url = match existing {
            Existing::SameUrl => return Ok(with_file(Status::AlreadyInstalled)),
            Existing::OtherKind => return Err(self.taken()),
            Existing::OtherUrl(url) => Some(url),
            Existing::Absent => None,
        };
        let status = match (self.is_dry_run, &previous_url) {
            (true, _) => Status::Planned,
            (false, Some(_)) => Status::Replaced,
            (false, None) => Status::Installed,
        };
        if !self.is_dry_run {
            machine::replace(&path, &old, &new)?;
        }
        Ok(Report {
            previous_url,
            ..with_file(status)
        })
    }

    /// Error for a name that belongs to a server without a URL.
    fn taken(&self) -> CliError {
        let (client, name) = (self.setup.client.label(), self.server.name());
        CliError::new(
            Exit::Refused,
            format!("{client} has another kind of server under the name {name}"),
        )
        .hint("choose another name with --name, or remove that server")
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;

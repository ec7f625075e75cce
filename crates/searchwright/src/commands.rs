//! The commands that are not operations of the table.

use std::{ffi::OsString, io::Write as _, path::PathBuf};

use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use sd_notify::NotifyState;
use searchwright_cli::{
    CliError, Exit,
    dashboard::OpenPage,
    export::{self, ExportAudit},
    json_text::write_json,
    login::{self, LoginCommand},
    logs::LogsCommand,
    mcp_install::InstallMcp,
    profile::{Connection, ProfileCommand},
    stdio::ServeStdio,
    verbs,
    watch::WatchEvents,
};
use searchwright_server::{
    Settings,
    config::Flags,
    doctor,
    open::{self, OpenError},
    serve,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    admin,
    backup::{self, MakeBackup, RestoreBackup},
    help,
    run_audit::{self, RunAudit},
    settings::settings,
    take_along::{self, ExportProject, ImportProject, MoveInstallation},
    try_it,
};

/// Options of every command.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "searchwright",
    version,
    about = "Audits a website and proves each fix, finds keywords, drafts and publishes posts",
    after_help = help::EXIT_CODES
)]
pub struct Cli {
    /// Server and credential of calls.
    #[command(flatten)]
    pub connection: Connection,
    /// Print JSON, one document, on stdout.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Commands of the server's side and of the program itself.
#[derive(Clone, Debug, Subcommand)]
pub enum ServerCommand {
    /// Audit a website now: start everything in ./searchwright-data and keep serving.
    Try {
        /// URL of the website; default a small sample site with real faults.
        target: Option<String>,
        /// Maximum number of pages to fetch.
        #[arg(long, default_value_t = 500)]
        max_pages: u32,
        /// Exit after the report instead of serving on.
        #[arg(long)]
        once: bool,
        #[command(flatten)]
        flags: Flags,
    },
    /// Serve the API, MCP, and jobs.
    Serve {
        #[command(flatten)]
        flags: Flags,
    },
    /// Run jobs only, next to any number of servers on the same PostgreSQL; or alone on an embedded database, with its backups.
    Worker {
        #[command(flatten)]
        flags: Flags,
    },
    /// Bring the database's schema up to date.
    Migrate {
        #[command(flatten)]
        flags: Flags,
    },
    /// Check configuration, database, clock and disk, and report problems.
    Doctor {
        #[command(flatten)]
        flags: Flags,
    },
    /// Back up the embedded database and the published files, beside a running server or without one.
    ///
    /// The backup is a folder with a manifest. It is read again and checked before it gets its name. The sealing key is not in it.
    Backup(Box<MakeBackup>),
    /// Put a backup back into a data folder. The server must be stopped.
    Restore(Box<RestoreBackup>),
    /// Write a project into a file: everything that a person would miss, without secrets and accounts.
    ///
    /// The file is read by `searchwright import`, into the embedded database or PostgreSQL. It is JSON, one value a line, and compressed if
    /// its name ends with .gz.
    Export(Box<ExportProject>),
    /// Read the file of a project.
    ///
    /// The project has the same ids. Nothing happens by itself before a person wants it: schedules are off, scheduled posts are drafts,
    /// connections and webhooks wait for their secrets. An import that was cut short goes on when it is repeated; of another file it begins
    /// anew, and --discard removes what it wrote.
    Import(Box<ImportProject>),
    /// Copy everything from the embedded database into an empty PostgreSQL database. The server must be stopped.
    Move(Box<MoveInstallation>),
    /// Show the configuration.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Administration on the server itself: projects, keys, accounts, limits.
    Admin {
        #[command(subcommand)]
        command: admin::AdminCommand,
    },
    /// Sign in with a browser, and keep the tokens in a profile.
    Login(LoginCommand),
    /// Give the tokens of a profile back, and remove it.
    Logout,
    /// Show the credential in use, and the projects that it can access.
    Whoami,
    /// Open a page of the dashboard in a browser, or print its address.
    Open(OpenPage),
    /// Follow the events of a project until Ctrl-C.
    Watch(WatchEvents),
    /// Access logs of the web server: visits of AI agents, referrals from AI assistants.
    Logs {
        #[command(subcommand)]
        command: LogsCommand,
    },
    /// MCP on standard input and output, and installation in the clients of this user.
    ///
    /// Without a command it speaks MCP on standard input and output, for clients that start a program: each message is sent to the
    /// server, with the key of SEARCHWRIGHT_KEY or the profile, or the sign-in of `searchwright login --mcp`.
    #[command(args_conflicts_with_subcommands = true)]
    Mcp {
        #[command(flatten)]
        stdio: ServeStdio,
        #[command(subcommand)]
        command: Option<McpCommand>,
    },
    /// Saved servers and credentials of this user.
    Profile {
        #[command(subcommand)]
        command: ProfileCommand,
    },
    /// Write a shell's completions to stdout.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the man pages into a folder.
    Man {
        /// The folder, created if it does not exist.
        folder: PathBuf,
    },
    /// Write the manual into a folder, as a website. The server has the same at /docs.
    Manual {
        /// The folder, created if it does not exist.
        folder: PathBuf,
        /// URL at which the folder will be published; adds canonical links, sitemap.xml and robots.txt.
        #[arg(long = "site-url", value_name = "URL")]
        site_url: Option<url::Url>,
    },
}

/// Showing the configuration.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the settings in force as TOML.
    Print {
        #[command(flatten)]
        flags: Flags,
        /// Print the commented default file instead.
        #[arg(long)]
        default: bool,
    },
}

/// Commands on MCP.
#[derive(Clone, Debug, Subcommand)]
pub enum McpCommand {
    /// Make this server known to an MCP client: with the client's own command, in its configuration file, or in steps.
    Install(InstallMcp),
}

/// Audits of the website: start, follow, compare, export.
#[derive(Clone, Debug, Subcommand)]
pub enum AuditCommand {
    /// Audit a website without a server and without leaving data behind, for build pipelines.
    Run(Box<RunAudit>),
    /// Write the results of the newest audit to a file: CSV, JSON, HTML or SARIF.
    Export(ExportAudit),
}

impl AuditCommand {
    /// Parses the command; `None` if it is not one of these.
    pub fn parse(name: &str, matches: &ArgMatches) -> Result<Option<Self>, CliError> {
        if name != "audits" || !matches!(matches.subcommand_name(), Some("run" | "export")) {
            return Ok(None);
        }
        let command =
            Self::from_arg_matches(matches).map_err(|e| CliError::new(Exit::Usage, e.to_string()))?;
        Ok(Some(command))
    }

    /// Runs the command.
    pub async fn run(self, cli: &Cli) -> Result<Exit, CliError> {
        match self {
            Self::Run(run) => run_audit::run(*run, cli.json).await,
            Self::Export(export) => export::run(export, &cli.connection, cli.json).await,
        }
    }
}

/// The whole command line: these commands and those of the table.
pub fn command() -> Command {
    assemble(verbs::commands(None))
}

/// The part of the command line that these arguments need. Building all of it takes longer than a call.
pub fn command_for(arguments: &[OsString]) -> Command {
    let name = first_word(arguments);
    let is_whole = matches!(name, None | Some("help" | "completions" | "man"));
    let is_own = |name| {
        ServerCommand::augment_subcommands(Command::new(""))
            .find_subcommand(name)
            .is_some()
    };
    match name {
        Some(name) if !is_whole && is_own(name) => assemble(Vec::new()),
        Some(name) if !is_whole => {
            let resource = verbs::commands(Some(name));
            // Of a word that is none, the nearest is suggested.
            if resource.is_empty() {
                command()
            } else {
                assemble(resource)
            }
        }
        _ => command(),
    }
}

/// Returns the first argument that is neither an option nor the value of one.
fn first_word(arguments: &[OsString]) -> Option<&str> {
    let mut words = arguments.iter().skip(1);
    loop {
        let word = words.next()?.to_str()?;
        match word {
            "--url" | "--profile" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            word => return Some(word),
        }
    }
}

fn assemble(resources: Vec<Command>) -> Command {
    let program = Cli::command();
    // Adding commands would put the words of their enum in the program's place.
    let about = program.get_about().cloned().unwrap_or_default();
    let has_audits = resources.iter().any(|resource| resource.get_name() == "audits");
    let mut program = ServerCommand::augment_subcommands(program)
        .about(about)
        .subcommands(resources)
        .mut_subcommand("admin", help::without_server_options)
        .mut_subcommand("backup", help::without_server_options)
        .mut_subcommand("restore", help::without_server_options)
        .mut_subcommand("export", help::without_server_options)
        .mut_subcommand("import", help::without_server_options)
        .mut_subcommand("move", help::without_server_options)
        .override_help(help::OVERVIEW)
        .subcommand_required(true)
        .arg_required_else_help(true);
    if has_audits {
        program = program.mut_subcommand("audits", AuditCommand::augment_subcommands);
    }
    help::without_connection(program)
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::new(Exit::Failed, error.to_string())
}

/// Runs a command.
pub async fn run(command: ServerCommand, cli: &Cli) -> Result<Exit, CliError> {
    match command {
        ServerCommand::Try {
            target,
            max_pages,
            once,
            flags,
        } => try_it::run(target.as_deref(), max_pages, once, cli.json, flags).await,
        ServerCommand::Serve { flags } => {
            let ended = serve::signalled();
            let server = serve::start(settings(&flags)?).await.map_err(failed)?;
            match server.app.people.create_setup_link().await {
                Ok(Some(link)) => eprintln!(
                    "There is no account yet. Set up the first one, the owner, in a browser (the link works once, within a day):\n\n  {}/setup/{link}\n",
                    server.app.settings.public_url
                ),
                Ok(None) => {}
                // A full disk is no reason not to serve what can be read.
                Err(error) => eprintln!(
                    "There is no account yet, and no link to set up the first one could be made: {error}"
                ),
            }
            tell_service_manager(NotifyState::Ready);
            let ended = async {
                ended.await;
                tell_service_manager(NotifyState::Stopping);
            };
            server.run_until(ended).await.map_err(failed)?;
            Ok(Exit::Done)
        }
        ServerCommand::Worker { flags } => {
            let stop = CancellationToken::new();
            let (stopping, ended) = (stop.clone(), serve::signalled());
            tokio::spawn(async move {
                ended.await;
                stopping.cancel();
            });
            serve::work(settings(&flags)?, stop).await.map_err(|error| match error {
                OpenError::InUse(_) => failed(error).hint(
                    "an embedded database has one process, and `serve` works as well; workers beside servers need PostgreSQL",
                ),
                error => failed(error),
            })?;
            Ok(Exit::Done)
        }
        ServerCommand::Migrate { flags } => {
            let mut settings = settings(&flags)?;
            settings.auto_migrate = true;
            let installation = open::open(&settings).await.map_err(failed)?;
            let database = installation.engine.db.name();
            if cli.json {
                print_json(&json!({ "database": database, "schema": "up to date" }))?;
            } else {
                eprintln!("the schema of the {database} database is up to date");
            }
            installation.engine.db.close().await;
            Ok(Exit::Done)
        }
        ServerCommand::Backup(command) => backup::back_up(*command, cli.json).await,
        ServerCommand::Restore(command) => backup::restore(*command, cli.json).await,
        ServerCommand::Export(command) => take_along::export(*command, cli.json).await,
        ServerCommand::Import(command) => take_along::import(*command, cli.json).await,
        ServerCommand::Move(command) => take_along::move_to_postgres(*command, cli.json).await,
        ServerCommand::Doctor { flags } => diagnose(&settings(&flags)?, cli.json).await,
        ServerCommand::Config {
            command: ConfigCommand::Print { flags, default },
        } if cli.json => {
            let shown = match default {
                true => Settings::defaults_to_json(),
                false => settings(&flags)?.to_json(),
            };
            print_json(&shown.map_err(failed)?)
        }
        ServerCommand::Config {
            command: ConfigCommand::Print { flags, default },
        } => {
            let text = if default {
                searchwright_server::config::DEFAULT.to_owned()
            } else {
                settings(&flags)?.to_toml().map_err(failed)?
            };
            std::io::stdout().write_all(text.as_bytes())?;
            Ok(Exit::Done)
        }
        ServerCommand::Admin { command } => admin::run(command, cli.json).await,
        ServerCommand::Login(command) => command.run(&cli.connection).await,
        ServerCommand::Logout => login::logout(&cli.connection).await,
        ServerCommand::Whoami => login::whoami(&cli.connection, cli.json).await,
        ServerCommand::Open(page) => page.run(&cli.connection, cli.json).await,
        ServerCommand::Watch(watch) => watch.run(&cli.connection, cli.json).await,
        ServerCommand::Logs { command } => command.run(&cli.connection, cli.json).await,
        ServerCommand::Mcp {
            command: Some(McpCommand::Install(install)),
            ..
        } => install.run(&cli.connection, cli.json).await,
        ServerCommand::Mcp { stdio, command: None } => stdio.run(&cli.connection).await,
        ServerCommand::Profile { command } => command.run(&cli.connection, cli.json).map(|()| Exit::Done),
        ServerCommand::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut self::command(), "searchwright", &mut script);
            std::io::stdout().write_all(&script)?;
            Ok(Exit::Done)
        }
        ServerCommand::Manual { folder, site_url } => {
            let pages =
                searchwright_server::manual::write_files(&folder, site_url.as_ref().map(url::Url::as_str))?;
            if cli.json {
                return print_json(&json!({ "pages": pages, "folder": folder }));
            }
            eprintln!("{pages} pages are in {}", folder.display());
            Ok(Exit::Done)
        }
        ServerCommand::Man { .. } if cli.json => Err(CliError::new(
            Exit::Usage,
            "man writes pages of the manual, and has no answer as JSON",
        )
        .hint("leave --json out")),
        ServerCommand::Man { folder } => {
            std::fs::create_dir_all(&folder)?;
            clap_mangen::generate_to(self::command(), &folder)?;
            eprintln!("man pages are in {}", folder.display());
            Ok(Exit::Done)
        }
    }
}

fn print_json(answer: &Value) -> Result<Exit, CliError> {
    write_json(&mut std::io::stdout().lock(), answer)?;
    Ok(Exit::Done)
}

/// Tells systemd, if it started this process and waits to be told (`Type=notify`).
fn tell_service_manager(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        eprintln!("the service manager could not be told: {error}");
    }
}

async fn diagnose(settings: &Settings, json: bool) -> Result<Exit, CliError> {
    let findings = doctor::examine(settings).await;
    let mut out = std::io::stdout().lock();
    if json {
        write_json(&mut out, &findings)?;
    } else {
        for finding in &findings {
            writeln!(
                out,
                "{} {:<14} {}",
                match (finding.ok, finding.warning) {
                    (false, _) => "FAIL",
                    (true, true) => "WARN",
                    (true, false) => "ok  ",
                },
                finding.check,
                finding.detail
            )?;
            if let Some(fix) = &finding.fix {
                writeln!(out, "     {:<14} {fix}", "")?;
            }
        }
    }
    Ok(if findings.iter().all(|f| f.ok) {
        Exit::Done
    } else {
        Exit::Failed
    })
}

#[cfg(test)]
mod tests {
    use super::command_for;

    /// Names of the commands that are built for a command line.
    fn built(line: &str) -> Vec<String> {
        let words: Vec<_> = line.split(' ').map(Into::into).collect();
        let command = command_for(&words);
        command
            .get_subcommands()
            .map(|c| c.get_name().to_owned())
            .collect()
    }

    #[test]
    fn only_what_a_call_needs_is_built() {
        let own = built("searchwright serve").len();
        assert_eq!(built("searchwright --url u --json keywords list").len(), own + 1);
        assert!(built("searchwright audits run u").contains(&"audits".to_owned()));
        for line in [
            "searchwright",
            "searchwright keyword list",
            "searchwright --help",
            "searchwright help keywords",
        ] {
            assert!(built(line).len() > own + 20, "{line}");
        }
    }

    #[test]
    fn every_command_is_well_formed() {
        super::command().debug_assert();
    }
}

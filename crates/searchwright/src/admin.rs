//! `searchwright admin …`: administration on the data folder or database, also while the server runs.

mod checks;
mod integrations;
mod limits;
mod lists;
mod oauth_apps;
mod oauth_clients;
pub(crate) mod people;
mod providers;
mod sealing_key;

use std::io::Write as _;

use clap::{Args, Subcommand};
use searchwright_cli::{CliError, Exit};
use searchwright_contract::{Problem, ids::CredentialId};
use searchwright_server::{
    Settings,
    admin::{CreatedKey, Grant},
    config::Flags,
    open,
};

use self::{
    checks::ChecksCommand,
    integrations::IntegrationCommand,
    limits::{BudgetCommand, QuotaCommand},
    oauth_apps::OauthAppCommand,
    oauth_clients::OauthClientCommand,
    people::{AutonomyCommand, MemberCommand, UserCommand, WorkspaceCommand},
    providers::ProviderCommand,
    sealing_key::SealingKeyCommand,
};
use crate::settings::settings;

const DAY_MILLIS: i64 = 86_400_000;

/// Commands of the operator.
#[derive(Clone, Debug, Subcommand)]
pub enum AdminCommand {
    /// Projects: one website each.
    Project {
        #[command(subcommand)]
        command: ProjectCommand,
    },
    /// Workspaces: projects with their members.
    Workspace {
        #[command(subcommand)]
        command: WorkspaceCommand,
    },
    /// People who sign in.
    User {
        #[command(subcommand)]
        command: UserCommand,
    },
    /// Members of workspaces, with their roles.
    Member {
        #[command(subcommand)]
        command: MemberCommand,
    },
    /// Agent Autonomy: actions that agents may perform without a person's confirmation.
    Autonomy {
        #[command(subcommand)]
        command: AutonomyCommand,
    },
    /// API keys.
    Key {
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// Accounts with language models and sources of keyword data.
    Provider {
        #[command(subcommand)]
        command: ProviderCommand,
    },
    /// Publishing providers.
    Integration {
        #[command(subcommand)]
        command: IntegrationCommand,
    },
    /// OAuth applications registered with publishing providers.
    OauthApp {
        #[command(subcommand)]
        command: OauthAppCommand,
    },
    /// Programs that connect to this server with a secret.
    OauthClient {
        #[command(subcommand)]
        command: OauthClientCommand,
    },
    /// Keys that encrypt stored secrets.
    SealingKey {
        #[command(subcommand)]
        command: SealingKeyCommand,
    },
    /// Quotas: monthly usage limits of a project.
    Quota {
        #[command(subcommand)]
        command: QuotaCommand,
    },
    /// Budgets: spending limits of a project, monthly at a provider or daily at all.
    Budget {
        #[command(subcommand)]
        command: BudgetCommand,
    },
    /// Checks: thresholds and severities of a project.
    Checks {
        #[command(subcommand)]
        command: ChecksCommand,
    },
}

/// Projects.
#[derive(Clone, Debug, Subcommand)]
pub enum ProjectCommand {
    /// Create a project and print its id.
    Create {
        /// Name.
        #[arg(long)]
        name: String,
        /// The website: a host, or scheme, host and port.
        #[arg(long)]
        domain: String,
        /// Workspace id; default the first workspace.
        #[arg(long)]
        workspace: Option<String>,
        #[command(flatten)]
        flags: Flags,
    },
    /// List the projects of all workspaces with their ids, oldest first, at most 10,000.
    List {
        #[command(flatten)]
        flags: Flags,
    },
}

/// Keys.
#[derive(Clone, Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a key for a project. It is shown only once.
    Create {
        /// Project id.
        #[arg(long)]
        project: String,
        /// Label.
        #[arg(long)]
        name: String,
        /// Scopes, separated by commas; default all.
        #[arg(long, value_delimiter = ',')]
        scopes: Vec<String>,
        /// Refuse every call that changes something.
        #[arg(long)]
        read_only: bool,
        #[command(flatten)]
        lifetime: Lifetime,
        #[command(flatten)]
        flags: Flags,
    },
    /// List the keys of a project with their ids, newest first, also those that have ended.
    List {
        /// Project id.
        #[arg(long)]
        project: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Revoke a key at once.
    Revoke {
        /// Key id.
        id: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Replace a key by a new one with the same scopes; the old one keeps working for a while.
    Rotate {
        /// Key id.
        id: String,
        /// Time for which the old key keeps working, 0 to 7 days.
        #[arg(long, default_value = "24h", value_parser = duration)]
        overlap: Span,
        #[command(flatten)]
        lifetime: Lifetime,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Lifetime of a key.
#[derive(Clone, Debug, Args)]
pub struct Lifetime {
    /// Lifetime of the key: 90d, 12h, or never.
    #[arg(long, default_value = "365d", value_parser = duration)]
    expires: Span,
}

/// Milliseconds; `None` for no end. A separate type, because clap reads `Option` as "may be left out".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(Option<i64>);

/// Milliseconds of `90d`, `12h`, `30m`; `None` for `never`.
fn duration(text: &str) -> Result<Span, String> {
    if text == "never" {
        return Ok(Span(None));
    }
    let bad = || "is not a time like 90d, 12h, 30m or never".to_owned();
    let (number, unit) = text
        .split_at_checked(text.len().saturating_sub(1))
        .ok_or_else(bad)?;
    let number: i64 = number
        .parse()
        .ok()
        .filter(|n| (0..=36_500).contains(n))
        .ok_or_else(bad)?;
    match unit {
        "d" => Ok(Span(Some(number * DAY_MILLIS))),
        "h" => Ok(Span(Some(number * 3_600_000))),
        "m" => Ok(Span(Some(number * 60_000))),
        _ => Err(bad()),
    }
}

/// Runs the command.
pub async fn run(command: AdminCommand, json: bool) -> Result<Exit, CliError> {
    match command {
        AdminCommand::Workspace { command } => people::run_workspace(command, json).await,
        AdminCommand::User { command } => people::run_user(command, json).await,
        AdminCommand::Member { command } => people::run_member(command, json).await,
        AdminCommand::Autonomy { command } => people::run_autonomy(command, json).await,
        AdminCommand::Provider { command } => providers::run(command, json).await,
        AdminCommand::Integration { command } => integrations::run(command, json).await,
        AdminCommand::OauthApp { command } => oauth_apps::run(command, json).await,
        AdminCommand::OauthClient { command } => oauth_clients::run(command, json).await,
        AdminCommand::SealingKey { command } => sealing_key::run(command, json).await,
        AdminCommand::Quota { command } => limits::quota(command, json).await,
        AdminCommand::Budget { command } => limits::budget(command, json).await,
        AdminCommand::Checks { command } => checks::run(command, json).await,
        AdminCommand::Project { command } => run_project(command, json).await,
        AdminCommand::Key { command } => run_key(command, json).await,
    }
}

async fn run_project(command: ProjectCommand, json: bool) -> Result<Exit, CliError> {
    match command {
        ProjectCommand::List { flags } => lists::list_projects(&flags, json).await,
        ProjectCommand::Create {
            name,
            domain,
            workspace,
            flags,
        } => {
            let workspace = workspace.as_deref().map(people::workspace).transpose()?;
            let installation = open_or_create(&flags).await?;
            let created = installation
                .engine
                .create_project_in(workspace, &name, &domain)
                .await
                .map_err(refused)?;
            installation.engine.db.close().await;
            show(
                json,
                &serde_json::json!(created),
                &format!("project {} for {}", created.id, created.domain),
            )
        }
    }
}

async fn run_key(command: KeyCommand, json: bool) -> Result<Exit, CliError> {
    match command {
        KeyCommand::List { project, flags } => lists::list_keys(&project, &flags, json).await,
        KeyCommand::Create {
            project,
            name,
            scopes,
            read_only,
            lifetime,
            flags,
        } => {
            let installation = open(&flags).await?;
            let grant = Grant {
                scopes,
                read_only,
                lifetime_millis: lifetime.expires.0,
            };
            let created = installation
                .engine
                .create_key(self::project(&project)?, &name, grant)
                .await
                .map_err(refused)?;
            installation.engine.db.close().await;
            show_key(json, &created)
        }
        KeyCommand::Revoke { id, flags } => {
            let installation = open(&flags).await?;
            let id = key(&id)?;
            let now = installation.engine.revoke_key(id).await.map_err(refused)?;
            installation.engine.db.close().await;
            let text = if now {
                "revoked"
            } else {
                "it had been revoked before"
            };
            show(
                json,
                &serde_json::json!({ "id": id, "revoked": true, "changed": now }),
                text,
            )
        }
        KeyCommand::Rotate {
            id,
            overlap,
            lifetime,
            flags,
        } => {
            let overlap = overlap
                .0
                .filter(|o| *o <= 7 * DAY_MILLIS)
                .ok_or_else(|| CliError::new(Exit::Usage, "--overlap: 0 to 7 days"))?;
            let installation = open(&flags).await?;
            let created = installation
                .engine
                .rotate_key(key(&id)?, overlap, lifetime.expires.0)
                .await
                .map_err(refused)?;
            installation.engine.db.close().await;
            show_key(json, &created)
        }
    }
}

/// Shows a key, the only time.
fn show_key(json: bool, created: &CreatedKey) -> Result<Exit, CliError> {
    let text = format!(
        "{}\n\nkept nowhere: copy it now (key id {})",
        created.key, created.id
    );
    show(json, &serde_json::json!(created), &text)
}

/// Parses a key's id; `not_found` if it is not a UUID.
fn key(id: &str) -> Result<CredentialId, CliError> {
    id.parse().map_err(|_| refused(Problem::not_found("live key")))
}

/// Parses a project's id; `not_found` if it is not a UUID.
fn project<Id: std::str::FromStr>(id: &str) -> Result<Id, CliError> {
    id.parse().map_err(|_| refused(Problem::not_found("project")))
}

/// `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("is not NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Opens the installation; refuses where there is none, as in a wrong folder a command would make one that nobody wants.
pub(crate) async fn open(flags: &Flags) -> Result<open::Installation, CliError> {
    let settings = settings(flags)?;
    require_database(&settings)?;
    open_with(&settings).await
}

/// Opens the installation, which is made if there is none, and says so.
pub(crate) async fn open_or_create(flags: &Flags) -> Result<open::Installation, CliError> {
    let settings = settings(flags)?;
    let is_new = !has_database(&settings);
    let installation = open_with(&settings).await?;
    if is_new {
        eprintln!("made a new installation in {}", folder(&settings));
    }
    Ok(installation)
}

async fn open_with(settings: &Settings) -> Result<open::Installation, CliError> {
    open::open(settings)
        .await
        .map_err(|e| CliError::new(Exit::Failed, e.to_string()))
}

/// Refuses a data folder without a database.
pub(crate) fn require_database(settings: &Settings) -> Result<(), CliError> {
    if has_database(settings) {
        return Ok(());
    }
    let text = format!("there is no database in {}", folder(settings));
    Err(CliError::new(Exit::Usage, text).hint(
        "name the data folder with --data-dir; `searchwright serve` or `searchwright admin project create` make a new one",
    ))
}

/// Returns whether there is a database. A restore that was cut short has moved it, and the next command that opens it completes that.
fn has_database(settings: &Settings) -> bool {
    !settings.database_url.is_empty()
        || settings.sqlite_path().exists()
        || searchwright_backups::is_restoring(&settings.data_dir)
}

/// Returns the data folder with its whole path: who is in the wrong folder sees it.
fn folder(settings: &Settings) -> String {
    let path = std::path::absolute(&settings.data_dir).unwrap_or_else(|_| settings.data_dir.clone());
    path.display().to_string()
}

/// Returns the advice for a record that is not there: the command that lists such records.
fn list_of(resource: &str) -> Option<&'static str> {
    Some(match resource {
        "project" => "`searchwright admin project list` shows the ids",
        "workspace" => "`searchwright admin workspace list` shows the ids",
        "person" => "`searchwright admin user list` shows ids, email addresses and memberships",
        "key" | "live key" => "`searchwright admin key list --project PROJECT` shows the ids",
        "application" => "`searchwright admin oauth-app list` shows them",
        _ => return None,
    })
}

/// As [`refused`], for commands whose `not_found` does not say of which kind the record is.
fn refused_for<P: Into<Problem>>(resource: &'static str) -> impl Fn(P) -> CliError {
    move |problem| {
        let problem = problem.into();
        let is_named = problem.status != 404 || problem.extra.contains_key("resource");
        refused(if is_named {
            problem
        } else {
            problem.with("resource", resource)
        })
    }
}

/// Converts a problem to the failure of a command, with the way out.
pub(crate) fn refused(problem: impl Into<Problem>) -> CliError {
    let mut problem = problem.into();
    if problem.status == 404 && problem.hint.is_none() {
        let resource = problem.extra.get("resource").and_then(serde_json::Value::as_str);
        problem.hint = resource.and_then(list_of).map(str::to_owned);
    }
    let exit = match problem.status {
        404 | 409 => Exit::Refused,
        422 => Exit::Usage,
        _ => Exit::Failed,
    };
    let mut detail = problem.detail;
    if problem.errors.len() > 1 {
        for fault in &problem.errors {
            detail += &format!("\n  {}: {}", fault.pointer, fault.detail);
        }
    }
    let said = problem.extra.get("providerMessage");
    if let Some(said) = said.and_then(serde_json::Value::as_str) {
        // Data, which may hold anything: as one line, and nothing that a terminal would obey.
        let plain: String = said
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        detail += &format!("\n  it said: {plain}");
    }
    let error = CliError::new(exit, detail);
    match problem.hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

pub(crate) fn show(json: bool, value: &serde_json::Value, text: &str) -> Result<Exit, CliError> {
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{value}")?
    } else {
        writeln!(out, "{text}")?
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::{Span, duration};

    #[test]
    fn lifetimes() {
        assert_eq!(duration("90d"), Ok(Span(Some(90 * 86_400_000))));
        assert_eq!(duration("12h"), Ok(Span(Some(12 * 3_600_000))));
        assert_eq!(duration("never"), Ok(Span(None)));
        for bad in ["", "d", "90", "-1d", "1w", "99999d", "é"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}

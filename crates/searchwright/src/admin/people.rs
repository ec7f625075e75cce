//! `admin workspace | user | member | autonomy`: people, and what agents may do without them.

use std::io::Read as _;

use clap::Subcommand;
use searchwright_cli::{CliError, Exit};
use searchwright_contract::{
    Code, Problem,
    ids::WorkspaceId,
    people::{AutonomyAction, Role},
};
use searchwright_server::{config::Flags, open as server_open, people::operator::NewUser};
use serde_json::json;

use super::{Span, duration, lists, open, open_or_create, project, refused, refused_for, show};

/// Workspaces.
#[derive(Clone, Debug, Subcommand)]
pub enum WorkspaceCommand {
    /// Create a workspace: projects with their members.
    Create {
        /// Name.
        #[arg(long)]
        name: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// List the workspaces with their ids, oldest first, at most 10,000.
    List {
        #[command(flatten)]
        flags: Flags,
    },
}

/// People.
#[derive(Clone, Debug, Subcommand)]
pub enum UserCommand {
    /// Create a person who can sign in, as a member of a workspace.
    Create {
        /// Email address, with which the person signs in.
        #[arg(long)]
        email: String,
        /// Name.
        #[arg(long)]
        name: String,
        /// Role: owner, admin, editor or viewer; default owner in a workspace without one, else editor.
        #[arg(long)]
        role: Option<Role>,
        /// Workspace id; default the first workspace.
        #[arg(long)]
        workspace: Option<String>,
        /// Read the password from stdin, 15 to 128 characters. Without it, the person signs in by a link.
        #[arg(long)]
        password_stdin: bool,
        #[command(flatten)]
        flags: Flags,
    },
    /// List people with their ids, memberships and roles, oldest first, at most 10,000 memberships.
    List {
        #[command(flatten)]
        flags: Flags,
    },
    /// Disable an account: its sessions, links and applications end at once.
    Disable {
        /// Id or email address of the person.
        user: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Let a disabled account sign in again.
    Enable {
        /// Id or email address of the person.
        user: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Remove the second factor of a person who lost it.
    RemoveSecondFactor {
        /// Id or email address of the person.
        user: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Print a link that signs a person in once, within a day: for a forgotten password, or for the first sign-in.
    SignInLink {
        /// Id or email address of the person.
        user: String,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Members of workspaces.
#[derive(Clone, Debug, Subcommand)]
pub enum MemberCommand {
    /// Add a person to a workspace, or change their role.
    Add {
        /// Id or email address of the person.
        #[arg(long)]
        user: String,
        /// Workspace id.
        #[arg(long)]
        workspace: String,
        /// Role: owner, admin, editor or viewer.
        #[arg(long)]
        role: Role,
        #[command(flatten)]
        flags: Flags,
    },
    /// Print a link with which somebody joins a workspace, once, within 7 days.
    Invite {
        /// Workspace id.
        #[arg(long)]
        workspace: String,
        /// Role: owner, admin, editor or viewer.
        #[arg(long)]
        role: Role,
        /// Email address of the only account that may accept; default whoever has the link.
        #[arg(long)]
        email: Option<String>,
        #[command(flatten)]
        flags: Flags,
    },
    /// Remove a person from a workspace. Their tokens reach its projects no longer.
    Remove {
        /// Id or email address of the person.
        #[arg(long)]
        user: String,
        /// Workspace id.
        #[arg(long)]
        workspace: String,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Agent Autonomy.
#[derive(Clone, Debug, Subcommand)]
pub enum AutonomyCommand {
    /// Turn Agent Autonomy for an action on or off. It concerns OAuth and MCP clients; API keys act within their scopes.
    Set {
        /// Project id.
        #[arg(long)]
        project: String,
        /// Action: publish, track or autopilot.
        #[arg(long)]
        action: AutonomyAction,
        /// Allow the action without a person's confirmation.
        #[arg(long, conflicts_with = "off", required_unless_present = "off")]
        on: bool,
        /// Refuse the action.
        #[arg(long)]
        off: bool,
        /// Times a day (UTC), at most.
        #[arg(long, requires = "on")]
        daily_cap: Option<u32>,
        /// Time after which it is off again: 30d, 12h, or never.
        #[arg(long, default_value = "never", value_parser = duration)]
        expires: Span,
        #[command(flatten)]
        flags: Flags,
    },
}

pub(crate) fn workspace(id: &str) -> Result<WorkspaceId, CliError> {
    id.parse().map_err(|_| missing_workspace(format_args!("{id:?}")))
}

/// Returns the failure of a command that names a workspace which is not there.
pub(crate) fn missing_workspace(id: impl std::fmt::Display) -> CliError {
    let problem = Problem::new(Code::NotFound, format!("there is no workspace {id}"));
    refused(problem.with("resource", "workspace"))
}

/// Reads a password from stdin: the first line.
fn read_password() -> Result<String, CliError> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

pub(super) async fn run_workspace(command: WorkspaceCommand, json: bool) -> Result<Exit, CliError> {
    let (name, flags) = match command {
        WorkspaceCommand::Create { name, flags } => (name, flags),
        WorkspaceCommand::List { flags } => return lists::list_workspaces(&flags, json).await,
    };
    let installation = open_or_create(&flags).await?;
    let created = installation
        .people
        .create_workspace(&name)
        .await
        .map_err(refused)?;
    installation.engine.db.close().await;
    let text = format!("workspace {} {}", created.id, created.name);
    show(json, &json!(created), &text)
}

pub(super) async fn run_user(command: UserCommand, json: bool) -> Result<Exit, CliError> {
    match command {
        UserCommand::Create {
            email,
            name,
            role,
            workspace: named,
            password_stdin,
            flags,
        } => {
            let workspace = named.as_deref().map(workspace).transpose()?;
            let password = password_stdin.then(read_password).transpose()?;
            let has_password = password.is_some();
            let installation = open_or_create(&flags).await?;
            let new = NewUser {
                email,
                name,
                password,
                role,
                workspace,
            };
            let created = installation.people.create_user(new).await;
            let created = created.map_err(refused_for("workspace"))?;
            installation.engine.db.close().await;
            let mut text = format!("{} {} is {}", created.id, created.email, created.role);
            if !has_password {
                text += "\n\nlet them sign in with: searchwright admin user sign-in-link ";
                text += &created.email;
            }
            show(json, &json!(created), &text)
        }
        UserCommand::List { flags } => lists::list_users(&flags, json).await,
        UserCommand::Disable { user, flags } => set_disabled(&user, true, &flags, json).await,
        UserCommand::Enable { user, flags } => set_disabled(&user, false, &flags, json).await,
        UserCommand::RemoveSecondFactor { user, flags } => {
            let installation = open(&flags).await?;
            let people = &installation.people;
            let id = people.find_user(&user).await.map_err(refused_for("person"))?;
            people
                .remove_second_factor_as_operator(id)
                .await
                .map_err(refused)?;
            people.db.close().await;
            let text = format!("{user} signs in without a second factor");
            show(json, &json!({ "userId": id }), &text)
        }
        UserCommand::SignInLink { user, flags } => {
            let installation = open(&flags).await?;
            let people = &installation.people;
            let user = people.find_user(&user).await.map_err(refused_for("person"))?;
            let token = people.create_sign_in_link(user).await.map_err(refused)?;
            people.db.close().await;
            let url = format!("{}/login/{token}", public_url(&flags)?);
            let text =
                format!("{url}\n\nworks once, within a day; earlier links of this person no longer work");
            show(json, &json!({ "url": url }), &text)
        }
    }
}

/// Returns the origin for a link: of the server that runs beside this command, else as configured.
fn public_url(flags: &Flags) -> Result<String, CliError> {
    Ok(server_open::public_url(&crate::settings::settings(flags)?))
}

async fn set_disabled(user: &str, is_disabled: bool, flags: &Flags, json: bool) -> Result<Exit, CliError> {
    let installation = open(flags).await?;
    let people = &installation.people;
    let id = people.find_user(user).await.map_err(refused_for("person"))?;
    people.set_user_disabled(id, is_disabled).await.map_err(refused)?;
    people.db.close().await;
    let state = if is_disabled { "is disabled" } else { "may sign in" };
    let value = json!({ "userId": id, "disabled": is_disabled });
    show(json, &value, &format!("{user} {state}"))
}

async fn invite(
    named: &str,
    role: Role,
    email: Option<&str>,
    flags: &Flags,
    json: bool,
) -> Result<Exit, CliError> {
    let workspace = workspace(named)?;
    let installation = open(flags).await?;
    let invited = installation
        .people
        .invite_as_operator(workspace, role, email)
        .await;
    let token = invited.map_err(refused_for("workspace"))?;
    installation.engine.db.close().await;
    let url = format!("{}/invitations/{token}", public_url(flags)?);
    let value = json!({ "url": url, "workspaceId": workspace, "role": role });
    show(json, &value, &format!("{url}\n\nworks once, within 7 days"))
}

pub(super) async fn run_member(command: MemberCommand, json: bool) -> Result<Exit, CliError> {
    let (flags, user, named, role) = match command {
        MemberCommand::Invite {
            workspace,
            role,
            email,
            flags,
        } => return invite(&workspace, role, email.as_deref(), &flags, json).await,
        MemberCommand::Add {
            user,
            workspace,
            role,
            flags,
        } => (flags, user, workspace, Some(role)),
        MemberCommand::Remove {
            user,
            workspace,
            flags,
        } => (flags, user, workspace, None),
    };
    let workspace = workspace(&named)?;
    let installation = open(&flags).await?;
    let people = &installation.people;
    let user = people.find_user(&user).await.map_err(refused_for("person"))?;
    let changed = match role {
        Some(role) => people.set_member(workspace, user, role).await,
        None => people.remove_member(workspace, user).await,
    };
    // Who is no member is found in the list of people, a workspace in its own.
    changed.map_err(refused_for(if role.is_some() { "workspace" } else { "person" }))?;
    people.db.close().await;
    let text = match role {
        Some(role) => format!("{user} is {role}"),
        None => format!("{user} is no longer a member"),
    };
    let value = json!({ "userId": user, "workspaceId": workspace, "role": role });
    show(json, &value, &text)
}

pub(super) async fn run_autonomy(command: AutonomyCommand, json: bool) -> Result<Exit, CliError> {
    let AutonomyCommand::Set {
        project: id,
        action,
        on,
        off: _,
        daily_cap,
        expires,
        flags,
    } = command;
    let installation = open(&flags).await?;
    let set = installation
        .people
        .set_autonomy(project(&id)?, action, on, daily_cap, expires.0)
        .await
        .map_err(refused)?;
    installation.engine.db.close().await;
    let text = match (set.enabled, set.expires_at) {
        (false, _) => format!("Agent Autonomy for {action} is off"),
        (true, None) => format!("Agent Autonomy for {action} is on"),
        (true, Some(at)) => format!("Agent Autonomy for {action} is on until {at}"),
    };
    show(json, &json!({ "action": action, "autonomy": set }), &text)
}

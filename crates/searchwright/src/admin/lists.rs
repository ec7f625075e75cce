//! `admin project | workspace | user | key list`: everything with its ids, which the other commands ask for.

use searchwright_cli::{CliError, Exit, output::plain};
use searchwright_contract::{Instant, Scope};
use searchwright_server::config::Flags;
use searchwright_store::{
    access::ListedKey,
    admin::{OperatorList, OperatorProject, OperatorUser, OperatorWorkspace},
};
use serde_json::{Value, json};

use super::{open, project, refused, show};

/// Maximum length of a list.
const MAX_LISTED: u32 = 10_000;

/// Lists all projects.
pub(super) async fn list_projects(flags: &Flags, json: bool) -> Result<Exit, CliError> {
    let installation = open(flags).await?;
    let listed = installation.people.list_all_projects(MAX_LISTED).await;
    installation.engine.db.close().await;
    let projects = listed.map_err(refused)?;
    let width = width_of(projects.entries.iter().map(|project| &project.domain));
    let to_line = |project: &OperatorProject| {
        let OperatorProject {
            id,
            name,
            domain,
            workspace_id,
        } = project;
        format!(
            "{id}  {:<width$}  workspace {workspace_id}  {}",
            plain(domain),
            plain(name)
        )
    };
    let to_value = |project: &OperatorProject| json!({ "id": project.id, "name": project.name, "domain": project.domain, "workspaceId": project.workspace_id });
    show_list(json, &projects, to_line, to_value, "there is no project")
}

/// Lists all workspaces.
pub(super) async fn list_workspaces(flags: &Flags, json: bool) -> Result<Exit, CliError> {
    let installation = open(flags).await?;
    let listed = installation.people.list_all_workspaces(MAX_LISTED).await;
    installation.engine.db.close().await;
    let workspaces = listed.map_err(refused)?;
    let to_line = |workspace: &OperatorWorkspace| format!("{}  {}", workspace.id, plain(&workspace.name));
    let to_value = |workspace: &OperatorWorkspace| json!({ "id": workspace.id, "name": workspace.name });
    show_list(json, &workspaces, to_line, to_value, "there is no workspace")
}

/// Lists all people with their memberships.
pub(super) async fn list_users(flags: &Flags, json: bool) -> Result<Exit, CliError> {
    let installation = open(flags).await?;
    let listed = installation.people.list_all_users(MAX_LISTED).await;
    installation.engine.db.close().await;
    let users = listed.map_err(refused)?;
    let width = width_of(users.entries.iter().map(|user| &user.email));
    let to_line = |user: &OperatorUser| {
        let memberships: Vec<String> = user
            .memberships
            .iter()
            .map(|membership| format!("{} of workspace {}", membership.role, membership.workspace_id))
            .collect();
        let memberships = match memberships.is_empty() {
            true => "in no workspace".to_owned(),
            false => memberships.join(", "),
        };
        let state = if user.disabled_at.is_some() {
            "disabled, "
        } else {
            ""
        };
        let (email, name) = (plain(&user.email), plain(&user.name));
        format!("{}  {email:<width$}  {name}: {state}{memberships}", user.id)
    };
    let to_value = |user: &OperatorUser| {
        let memberships: Vec<Value> = user
            .memberships
            .iter()
            .map(|membership| json!({ "workspaceId": membership.workspace_id, "role": membership.role }))
            .collect();
        json!({
            "id": user.id,
            "email": user.email,
            "name": user.name,
            "disabled": user.disabled_at.is_some(),
            "memberships": memberships,
        })
    };
    show_list(json, &users, to_line, to_value, "there is no person")
}

/// Lists the keys of a project.
pub(super) async fn list_keys(project_id: &str, flags: &Flags, json: bool) -> Result<Exit, CliError> {
    let id = project(project_id)?;
    let installation = open(flags).await?;
    let listed = installation.people.list_keys_of_project(id, MAX_LISTED).await;
    installation.engine.db.close().await;
    let keys = listed.map_err(refused)?;
    let to_value = |listed: &ListedKey| {
        let key = &listed.key;
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        json!({
            "id": key.id,
            "name": key.name,
            "prefix": key.prefix,
            "scopes": scopes,
            "readOnly": key.read_only,
            "createdAt": listed.created_at,
            "expiresAt": key.expires_at,
            "revokedAt": key.revoked_at,
            "lastUsedAt": key.last_used_at,
        })
    };
    show_list(json, &keys, describe_key, to_value, "the project has no key")
}

fn describe_key(listed: &ListedKey) -> String {
    let key = &listed.key;
    let scopes = if Scope::ALL.iter().all(|scope| key.scopes.contains(scope)) {
        "all scopes".to_owned()
    } else {
        let names: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        names.join(",")
    };
    let read_only = if key.read_only { ", read only" } else { "" };
    let end = match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) => format!("expires {at}"),
        (None, None) => "never expires".to_owned(),
    };
    let used = key
        .last_used_at
        .map_or_else(|| "not used".to_owned(), |at: Instant| format!("last used {at}"));
    let (id, prefix, name, created) = (key.id, &key.prefix, plain(&key.name), listed.created_at);
    format!("{id}  {prefix}  {name}: {scopes}{read_only}, created {created}, {end}, {used}")
}

/// Returns the width of a column.
fn width_of<'a>(texts: impl Iterator<Item = &'a String>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or_default()
}

fn show_list<T>(
    json: bool,
    list: &OperatorList<T>,
    to_line: impl Fn(&T) -> String,
    to_value: impl Fn(&T) -> Value,
    none: &str,
) -> Result<Exit, CliError> {
    if list.is_cut {
        eprintln!("there are more: these are the first {}", list.entries.len());
    }
    if json {
        return show(json, &list.entries.iter().map(to_value).collect(), "");
    }
    let lines: Vec<String> = list.entries.iter().map(to_line).collect();
    let text = if lines.is_empty() {
        none.to_owned()
    } else {
        lines.join("\n")
    };
    show(json, &Value::Null, &text)
}

//! Operations of the operator on the server itself: projects and keys, and lists of everything with its ids. Not reachable through the API.

use searchwright_contract::{
    Instant,
    ids::{CredentialId, ProjectId, UserId, WorkspaceId},
    people::Role,
};
use uuid::Uuid;

use crate::{
    Error, Result, Tx,
    access::{self, ListedKey, ProjectScope},
    sql,
    transfer::imports::{self, UNDER_WAY_ID},
};

/// A project to be created.
#[derive(Clone, Debug)]
pub struct NewProject {
    /// Identifier.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// Host, or URL of scheme, host and port.
    pub domain: String,
}

/// A key to be created.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Identifier.
    pub id: CredentialId,
    /// Project it gives access to.
    pub project: Uuid,
    /// Label.
    pub name: String,
    /// First characters of the key, shown in lists.
    pub prefix: String,
    /// SHA-256 of the key.
    pub digest: [u8; 32],
    /// Scopes, separated by spaces.
    pub scopes: String,
    /// Forbids all changes.
    pub read_only: bool,
    /// Time of expiry; never if `None`.
    pub expires_at: Option<Instant>,
}

/// Creates a project in a workspace; [`Error::Dangling`] if there is no such workspace.
pub async fn create_project(
    tx: &mut Tx,
    project: NewProject,
    workspace: WorkspaceId,
    now: Instant,
) -> Result<()> {
    sql("INSERT INTO projects (id, workspace_id, name, domain, language, country, timezone, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, 'en', '', 'UTC', 1, $5, $5)")
    .bind(project.id)
    .bind(workspace)
    .bind(project.name)
    .bind(project.domain)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the first project of a domain whose import, if it has one, has ended.
pub async fn find_project_by_domain(tx: &mut Tx, domain: &str) -> Result<Option<Uuid>> {
    sql("SELECT id FROM projects WHERE domain = $1 AND workspace_id <> $2 ORDER BY id LIMIT 1")
        .bind(domain)
        .bind(UNDER_WAY_ID)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Returns the scope of a project, for the operator; [`Error::Missing`] if there is no such project, or its import has not ended.
pub async fn get_scope(tx: &mut Tx, project: Uuid) -> Result<ProjectScope> {
    sql("SELECT id FROM projects WHERE id = $1 AND workspace_id <> $2")
        .bind(project)
        .bind(UNDER_WAY_ID)
        .fetch_one(tx, |c| Ok(ProjectScope::from_row(c.take()?)))
        .await
}

/// Counts the keys of a project that are neither revoked nor expired. Other transactions that do wait until this one ends.
pub async fn count_live_keys(tx: &mut Tx, project: Uuid, now: Instant) -> Result<u64> {
    tx.lock_row("SELECT 1 FROM projects WHERE id = $1 FOR NO KEY UPDATE", project)
        .await?;
    sql("SELECT count(*) FROM api_keys WHERE project_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)")
        .bind(project)
        .bind(now)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Creates a key; [`Error::Dangling`] if there is no such project, or its import has not ended.
pub async fn create_key(tx: &mut Tx, key: NewKey, now: Instant) -> Result<()> {
    if imports::is_unfinished(tx, key.project).await? {
        return Err(Error::Dangling);
    }
    sql("INSERT INTO api_keys (id, project_id, name, prefix, digest, scopes, read_only, expires_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)")
    .bind(key.id)
    .bind(key.project)
    .bind(key.name)
    .bind(key.prefix)
    .bind(&key.digest)
    .bind(key.scopes)
    .bind(key.read_only)
    .bind(key.expires_at)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Revokes a key; [`Error::Missing`] if there is none, `false` if it was revoked before.
pub async fn revoke_key(tx: &mut Tx, id: CredentialId, now: Instant) -> Result<bool> {
    let known: Option<bool> = sql("SELECT revoked_at IS NOT NULL FROM api_keys WHERE id = $1")
        .bind(id)
        .fetch_optional(tx, |c| c.take())
        .await?;
    if known.ok_or(Error::Missing)? {
        return Ok(false);
    }
    sql("UPDATE api_keys SET revoked_at = $2 WHERE id = $1")
        .bind(id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(true)
}

/// Revokes all keys of this name and returns their number.
pub async fn revoke_keys_by_name(tx: &mut Tx, project: Uuid, name: &str, now: Instant) -> Result<u64> {
    sql("UPDATE api_keys SET revoked_at = $3 WHERE project_id = $1 AND name = $2 AND revoked_at IS NULL")
        .bind(project)
        .bind(name)
        .bind(now)
        .execute(tx)
        .await
}

/// Fields that the successor of a rotated key inherits.
#[derive(Clone, Debug)]
pub struct RetiredKey {
    /// Project of the key.
    pub project: Uuid,
    /// Label.
    pub name: String,
    /// Scopes, separated by spaces.
    pub scopes: String,
    /// Forbids all changes.
    pub read_only: bool,
}

/// Makes a live key expire at `until` or earlier, and returns the fields that its successor inherits.
pub async fn retire_key(tx: &mut Tx, id: CredentialId, until: Instant, now: Instant) -> Result<RetiredKey> {
    let old = sql("SELECT project_id, name, scopes, read_only FROM api_keys WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)")
        .bind(id)
        .bind(now)
        .fetch_one(tx, |c| Ok(RetiredKey { project: c.take()?, name: c.take()?, scopes: c.take()?, read_only: c.take()? }))
        .await?;
    sql("UPDATE api_keys SET expires_at = $2 WHERE id = $1 AND (expires_at IS NULL OR expires_at > $2)")
        .bind(id)
        .bind(until)
        .execute(tx)
        .await?;
    Ok(old)
}

/// The beginning of a list of the operator.
#[derive(Clone, Debug)]
pub struct OperatorList<T> {
    /// Entries.
    pub entries: Vec<T>,
    /// Whether there are more entries than these.
    pub is_cut: bool,
}

impl<T> OperatorList<T> {
    /// Keeps `limit` entries of what was read, which is one more if the list goes on.
    fn new(mut entries: Vec<T>, limit: u32) -> Self {
        let limit = limit as usize;
        let is_cut = entries.len() > limit;
        entries.truncate(limit);
        Self { entries, is_cut }
    }
}

/// A project in the list of the operator.
#[derive(Clone, Debug)]
pub struct OperatorProject {
    /// Identifier.
    pub id: ProjectId,
    /// Name.
    pub name: String,
    /// Host, or URL of scheme, host and port.
    pub domain: String,
    /// Workspace.
    pub workspace_id: WorkspaceId,
}

/// A workspace in the list of the operator.
#[derive(Clone, Debug)]
pub struct OperatorWorkspace {
    /// Identifier.
    pub id: WorkspaceId,
    /// Name.
    pub name: String,
}

/// A person in the list of the operator.
#[derive(Clone, Debug)]
pub struct OperatorUser {
    /// Identifier.
    pub id: UserId,
    /// Email address.
    pub email: String,
    /// Name.
    pub name: String,
    /// Time from which the person may not sign in.
    pub disabled_at: Option<Instant>,
    /// Memberships, of the oldest workspace first.
    pub memberships: Vec<OperatorMembership>,
}

/// A membership of a person in the list of the operator.
#[derive(Clone, Copy, Debug)]
pub struct OperatorMembership {
    /// Workspace.
    pub workspace_id: WorkspaceId,
    /// Role in it.
    pub role: Role,
}

/// Returns at most `limit` projects, oldest first, without those whose import has not ended.
pub async fn list_projects(tx: &mut Tx, limit: u32) -> Result<OperatorList<OperatorProject>> {
    let found = sql(
        "SELECT id, name, domain, workspace_id FROM projects WHERE workspace_id <> $1 ORDER BY id LIMIT $2",
    )
    .bind(UNDER_WAY_ID)
    .bind(limit.saturating_add(1))
    .fetch_all(tx, |c| {
        Ok(OperatorProject {
            id: c.take()?,
            name: c.take()?,
            domain: c.take()?,
            workspace_id: c.take()?,
        })
    })
    .await?;
    Ok(OperatorList::new(found, limit))
}

/// Returns at most `limit` workspaces, oldest first, without that of projects whose import has not ended.
pub async fn list_workspaces(tx: &mut Tx, limit: u32) -> Result<OperatorList<OperatorWorkspace>> {
    let found = sql("SELECT id, name FROM workspaces WHERE id <> $1 ORDER BY id LIMIT $2")
        .bind(UNDER_WAY_ID)
        .bind(limit.saturating_add(1))
        .fetch_all(tx, |c| {
            Ok(OperatorWorkspace {
                id: c.take()?,
                name: c.take()?,
            })
        })
        .await?;
    Ok(OperatorList::new(found, limit))
}

/// Returns whether there is a workspace with this id.
pub async fn has_workspace(tx: &mut Tx, id: WorkspaceId) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM workspaces WHERE id = $1 AND id <> $2)")
        .bind(id)
        .bind(UNDER_WAY_ID)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Returns people with their memberships, oldest first. `limit` bounds the people, and also the memberships of all of them.
pub async fn list_users(tx: &mut Tx, limit: u32) -> Result<OperatorList<OperatorUser>> {
    let rows = sql(
        "SELECT u.id, u.email, u.name, u.disabled_at, m.workspace_id, m.role
         FROM users u LEFT JOIN memberships m ON m.user_id = u.id ORDER BY u.id, m.workspace_id LIMIT $1",
    )
    .bind(limit.saturating_add(1))
    .fetch_all(tx, |c| {
        let user = OperatorUser {
            id: c.take()?,
            email: c.take()?,
            name: c.take()?,
            disabled_at: c.take()?,
            memberships: Vec::new(),
        };
        let (workspace, role): (Option<WorkspaceId>, Option<Role>) = (c.take()?, c.parse_optional()?);
        let membership = workspace
            .zip(role)
            .map(|(workspace_id, role)| OperatorMembership { workspace_id, role });
        Ok((user, membership))
    })
    .await?;
    let OperatorList {
        entries: rows,
        is_cut,
    } = OperatorList::new(rows, limit);
    let mut entries: Vec<OperatorUser> = Vec::new();
    for (user, membership) in rows {
        // The rows of one person follow each other.
        match entries.last_mut().filter(|last| last.id == user.id) {
            Some(last) => last.memberships.extend(membership),
            None => entries.push(OperatorUser {
                memberships: membership.into_iter().collect(),
                ..user
            }),
        }
    }
    Ok(OperatorList { entries, is_cut })
}

/// Returns at most `limit` keys of a project, ended ones included, newest first.
pub async fn list_keys(tx: &mut Tx, scope: ProjectScope, limit: u32) -> Result<OperatorList<ListedKey>> {
    let found = access::list_keys(tx, scope, limit.saturating_add(1)).await?;
    Ok(OperatorList::new(found, limit))
}

/// Returns a value of the installation, such as the canary of the sealing keys.
pub async fn get_meta(tx: &mut Tx, name: &str) -> Result<Option<Vec<u8>>> {
    sql("SELECT value FROM meta WHERE name = $1")
        .bind(name)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Inserts a value of the installation unless there is one, and returns the stored value.
pub async fn insert_meta(tx: &mut Tx, name: &str, value: Vec<u8>) -> Result<Vec<u8>> {
    sql("INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING")
        .bind(name)
        .bind(value)
        .execute(tx)
        .await?;
    get_meta(tx, name).await?.ok_or(Error::Missing)
}

#[cfg(test)]
mod tests {
    use super::OperatorList;

    #[test]
    fn list_says_whether_it_is_cut() {
        for (read, kept, is_cut) in [(vec![1, 2], vec![1, 2], false), (vec![1, 2, 3], vec![1, 2], true)] {
            let list = OperatorList::new(read, 2);
            assert_eq!((list.entries, list.is_cut), (kept, is_cut));
        }
    }
}

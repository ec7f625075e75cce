//! Workspaces and their members.

use searchwright_contract::{
    Instant,
    ids::{ProjectId, UserId, WorkspaceId},
    people::Role,
};

use crate::{Error, Result, Tx, sql};

/// Name of the workspace that is created with the first project or person.
const DEFAULT_NAME: &str = "Default";

/// Creates a workspace.
pub async fn create(tx: &mut Tx, id: WorkspaceId, name: &str, now: Instant) -> Result<()> {
    sql("INSERT INTO workspaces (id, name, created_at) VALUES ($1, $2, $3)")
        .bind(id)
        .bind(name)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns the oldest workspace, which is created with the id `new` if there is none.
pub async fn find_or_create_first(tx: &mut Tx, new: WorkspaceId, now: Instant) -> Result<WorkspaceId> {
    let existing = sql("SELECT id FROM workspaces ORDER BY id LIMIT 1")
        .fetch_optional(tx, |c| c.take())
        .await?;
    match existing {
        Some(id) => Ok(id),
        None => {
            create(tx, new, DEFAULT_NAME, now).await?;
            Ok(new)
        }
    }
}

/// Locks a workspace until the transaction ends: other changes of its members wait.
pub async fn lock(tx: &mut Tx, id: WorkspaceId) -> Result<()> {
    tx.lock_row("SELECT 1 FROM workspaces WHERE id = $1 FOR NO KEY UPDATE", id)
        .await
}

/// Sets the role of a member, who is added if needed; [`Error::Dangling`] if there is no such workspace or person.
pub async fn set_member(
    tx: &mut Tx,
    workspace: WorkspaceId,
    user: UserId,
    role: Role,
    now: Instant,
) -> Result<()> {
    sql(
        "INSERT INTO memberships (user_id, workspace_id, role, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (user_id, workspace_id) DO UPDATE SET role = $3",
    )
    .bind(user)
    .bind(workspace)
    .bind(role.as_str())
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Removes a member; [`Error::Missing`] if the person is none.
pub async fn remove_member(tx: &mut Tx, workspace: WorkspaceId, user: UserId) -> Result<()> {
    let removed = sql("DELETE FROM memberships WHERE user_id = $1 AND workspace_id = $2")
        .bind(user)
        .bind(workspace)
        .execute(tx)
        .await?;
    if removed == 0 { Err(Error::Missing) } else { Ok(()) }
}

/// Returns the role of a member.
pub async fn find_role(tx: &mut Tx, workspace: WorkspaceId, user: UserId) -> Result<Option<Role>> {
    sql("SELECT role FROM memberships WHERE user_id = $1 AND workspace_id = $2")
        .bind(user)
        .bind(workspace)
        .fetch_optional(tx, |c| c.parse())
        .await
}

/// Counts the owners of a workspace.
pub async fn count_owners(tx: &mut Tx, workspace: WorkspaceId) -> Result<u64> {
    sql("SELECT count(*) FROM memberships WHERE workspace_id = $1 AND role = 'owner'")
        .bind(workspace)
        .fetch_one(tx, |c| c.take())
        .await
}

/// A workspace of a person.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkspaceOfUser {
    /// Identifier.
    pub id: WorkspaceId,
    /// Name.
    pub name: String,
    /// Role of the person.
    pub role: Role,
}

/// Returns the workspaces that a person is a member of, oldest first.
pub async fn list_of_user(tx: &mut Tx, user: UserId) -> Result<Vec<WorkspaceOfUser>> {
    sql(
        "SELECT w.id, w.name, m.role FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
         WHERE m.user_id = $1 ORDER BY w.id",
    )
    .bind(user)
    .fetch_all(tx, |c| {
        Ok(WorkspaceOfUser {
            id: c.take()?,
            name: c.take()?,
            role: c.parse()?,
        })
    })
    .await
}

/// A member of a workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Identifier.
    pub id: UserId,
    /// Name.
    pub name: String,
    /// Email address.
    pub email: String,
    /// Role.
    pub role: Role,
    /// Whether the person has a second factor.
    pub has_second_factor: bool,
}

/// Returns the members of a workspace in the order in which they were added to the installation.
pub async fn list_members(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Member>> {
    sql("SELECT u.id, u.name, u.email, m.role,
           EXISTS (SELECT 1 FROM totp_secrets t WHERE t.user_id = u.id AND t.confirmed_at IS NOT NULL)
           OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id)
         FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1 ORDER BY u.id")
    .bind(workspace)
    .fetch_all(tx, |c| {
        Ok(Member {
            id: c.take()?,
            name: c.take()?,
            email: c.take()?,
            role: c.parse()?,
            has_second_factor: c.take()?,
        })
    })
    .await
}

/// Returns the workspace of a project that a person is a member of.
pub async fn find_of_project(
    tx: &mut Tx,
    user: UserId,
    project: ProjectId,
) -> Result<Option<WorkspaceOfUser>> {
    sql(
        "SELECT w.id, w.name, m.role FROM projects p JOIN workspaces w ON w.id = p.workspace_id
         JOIN memberships m ON m.workspace_id = w.id WHERE p.id = $1 AND m.user_id = $2",
    )
    .bind(project)
    .bind(user)
    .fetch_optional(tx, |c| {
        Ok(WorkspaceOfUser {
            id: c.take()?,
            name: c.take()?,
            role: c.parse()?,
        })
    })
    .await
}

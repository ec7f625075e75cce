//! Invitations to a workspace.

use searchwright_contract::{
    Instant,
    ids::{InvitationId, UserId, WorkspaceId},
    people::Role,
};

use crate::{Result, Tx, sql};

/// An invitation to be created.
#[derive(Clone, Debug)]
pub struct NewInvitation {
    /// Identifier.
    pub id: InvitationId,
    /// SHA-256 of the token in its link.
    pub digest: [u8; 32],
    /// Workspace.
    pub workspace: WorkspaceId,
    /// Role that it gives.
    pub role: Role,
    /// Address of the only account that may accept it; `None` for whoever has the link.
    pub email: Option<String>,
    /// Person who invites; `None` for the operator.
    pub invited_by: Option<UserId>,
    /// Time of expiry.
    pub expires_at: Instant,
}

/// An invitation, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Invitation {
    /// Identifier.
    pub id: InvitationId,
    /// Workspace.
    pub workspace: WorkspaceId,
    /// Name of the workspace.
    pub workspace_name: String,
    /// Role that it gives.
    pub role: Role,
    /// Address of the only account that may accept it; `None` for whoever has the link.
    pub email: Option<String>,
    /// Person who invites; `None` for the operator.
    pub invited_by: Option<UserId>,
    /// Name of the person who invites.
    pub inviter: Option<String>,
    /// Time of expiry.
    pub expires_at: Instant,
}

/// Creates an invitation.
pub async fn create(tx: &mut Tx, new: &NewInvitation, now: Instant) -> Result<()> {
    sql(
        "INSERT INTO invitations (id, digest, workspace_id, role, email, invited_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(new.id)
    .bind(&new.digest)
    .bind(new.workspace)
    .bind(new.role.as_str())
    .bind(new.email.clone())
    .bind(new.invited_by)
    .bind(now)
    .bind(new.expires_at)
    .execute(tx)
    .await?;
    Ok(())
}

fn invitation(c: &mut crate::Cells<'_>) -> Result<Invitation> {
    Ok(Invitation {
        id: c.take()?,
        workspace: c.take()?,
        workspace_name: c.take()?,
        role: c.parse()?,
        email: c.take()?,
        invited_by: c.take()?,
        inviter: c.take()?,
        expires_at: c.take()?,
    })
}

/// Returns an invitation that is still valid, by the digest of its token.
pub async fn find(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<Option<Invitation>> {
    sql(
        "SELECT i.id, i.workspace_id, w.name, i.role, i.email, i.invited_by, u.name, i.expires_at
         FROM invitations i JOIN workspaces w ON w.id = i.workspace_id LEFT JOIN users u ON u.id = i.invited_by
         WHERE i.digest = $1 AND i.expires_at > $2",
    )
    .bind(digest)
    .bind(now)
    .fetch_optional(tx, invitation)
    .await
}

/// Returns the valid invitations of a workspace, oldest first.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, now: Instant) -> Result<Vec<Invitation>> {
    sql(
        "SELECT i.id, i.workspace_id, w.name, i.role, i.email, i.invited_by, u.name, i.expires_at
         FROM invitations i JOIN workspaces w ON w.id = i.workspace_id LEFT JOIN users u ON u.id = i.invited_by
         WHERE i.workspace_id = $1 AND i.expires_at > $2 ORDER BY i.id",
    )
    .bind(workspace)
    .bind(now)
    .fetch_all(tx, invitation)
    .await
}

/// Deletes an invitation of a workspace. Returns `false` if there is no such invitation any more.
pub async fn delete(tx: &mut Tx, workspace: WorkspaceId, id: InvitationId) -> Result<bool> {
    let deleted = sql("DELETE FROM invitations WHERE workspace_id = $1 AND id = $2")
        .bind(workspace)
        .bind(id)
        .execute(tx)
        .await?;
    Ok(deleted > 0)
}

/// Deletes invitations whose time is over.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<()> {
    sql("DELETE FROM invitations WHERE expires_at <= $1")
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

//! Steps of programs that connect, from the first refusal to the first call with a token.

use searchwright_contract::{
    Instant,
    ids::{ActivityId, UserId, WorkspaceId},
};
use uuid::Uuid;

use crate::{Result, Tx, sql};

/// Days for which steps are kept.
pub const RETENTION_DAYS: i64 = 7;

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionStep {
    /// Identifier, UUIDv7 of its time.
    pub id: ActivityId,
    /// Name of the step.
    pub step: String,
    /// Network address of the caller.
    pub address: String,
    /// `User-Agent` of the caller.
    pub user_agent: String,
    /// OAuth client, if it said which it is.
    pub client: Option<String>,
    /// Person concerned.
    pub user: Option<UserId>,
    /// Reason or further detail.
    pub detail: Option<String>,
    /// Time.
    pub created_at: Instant,
}

/// A step with what is known of its client and its person.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownStep {
    /// The step.
    pub step: ConnectionStep,
    /// Name that the client gives itself.
    pub client_name: Option<String>,
    /// Name of the person.
    pub user_name: Option<String>,
    /// Whether the person is a member of the workspace for which is asked.
    pub is_member: bool,
}

/// Stores steps.
pub async fn insert(tx: &mut Tx, steps: Vec<ConnectionStep>) -> Result<()> {
    let rows = steps
        .into_iter()
        .map(|step| {
            vec![
                step.id.into(),
                step.step.into(),
                step.address.into(),
                step.user_agent.into(),
                step.client.into(),
                step.user.into(),
                step.detail.into(),
                step.created_at.into(),
            ]
        })
        .collect();
    sql(
        "INSERT INTO connection_steps (id, step, address, user_agent, client_id, user_id, detail, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .execute_each(tx, rows)
    .await?;
    Ok(())
}

/// Returns the newest steps, newest first.
pub async fn list(tx: &mut Tx, workspace: WorkspaceId, limit: u32) -> Result<Vec<KnownStep>> {
    sql(
        "SELECT s.id, s.step, s.address, s.user_agent, s.client_id, s.user_id, s.detail, s.created_at, c.name, u.name,
           EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = s.user_id AND m.workspace_id = $1)
         FROM connection_steps s LEFT JOIN oauth_clients c ON c.id = s.client_id LEFT JOIN users u ON u.id = s.user_id
         ORDER BY s.id DESC LIMIT $2",
    )
    .bind(workspace)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(KnownStep {
            step: ConnectionStep {
                id: c.take()?,
                step: c.take()?,
                address: c.take()?,
                user_agent: c.take()?,
                client: c.take()?,
                user: c.take()?,
                detail: c.take()?,
                created_at: c.take()?,
            },
            client_name: c.take()?,
            user_name: c.take()?,
            is_member: c.take()?,
        })
    })
    .await
}

/// Deletes steps older than [`RETENTION_DAYS`].
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<()> {
    let oldest = now.plus_millis(-RETENTION_DAYS * 86_400_000).millis();
    // An id begins with its time in milliseconds: the primary key finds older entries.
    let oldest = Uuid::from_u128(u128::try_from(oldest).unwrap_or_default() << 80);
    sql("DELETE FROM connection_steps WHERE id < $1")
        .bind(oldest)
        .execute(tx)
        .await?;
    Ok(())
}

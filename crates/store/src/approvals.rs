//! Approvals of posts.

use searchwright_contract::{
    Instant,
    approvals::ApprovalStatus,
    ids::{ApprovalId, AutopilotRunId, ConnectionId, PostId, UserId},
    integrations::Provider,
    people::UserRef,
};

use crate::{Cells, Json, Result, Tx, access::ProjectScope, sql};

/// An approval as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRecord {
    /// Identifier, UUIDv7 of the request.
    pub id: ApprovalId,
    /// The post.
    pub post: PostId,
    /// Run of the autopilot that made it.
    pub run: Option<AutopilotRunId>,
    /// Status.
    pub status: ApprovalStatus,
    /// Reasons why a person is asked.
    pub reasons: Vec<String>,
    /// SHA-256 of what would be sent, and where.
    pub content_hash: Vec<u8>,
    /// Connection through which it would be published.
    pub connection: Option<ConnectionId>,
    /// Its provider.
    pub provider: Option<Provider>,
    /// Time at which it is to be published.
    pub publish_at: Option<Instant>,
    /// Name of who asked.
    pub requested_by: String,
    /// Time of the request.
    pub requested_at: Instant,
    /// Time at which it is published unless a person stops it.
    pub expires_at: Option<Instant>,
    /// Person who decided.
    pub decided_by: Option<UserRef>,
    /// Time of the decision.
    pub decided_at: Option<Instant>,
    /// Reason that the person gave.
    pub reason: Option<String>,
}

macro_rules! columns {
    () => {
        "id, post_id, run_id, status, reasons, content_hash, connection_id, provider, publish_at, requested_by, requested_at, expires_at,
         decided_by, decided_by_name, decided_at, reason"
    };
}

fn read_approval(c: &mut Cells<'_>) -> Result<ApprovalRecord> {
    Ok(ApprovalRecord {
        id: c.take()?,
        post: c.take()?,
        run: c.take()?,
        status: c.parse()?,
        reasons: c.take_json()?,
        content_hash: c.take()?,
        connection: c.take()?,
        provider: c.parse_optional()?,
        publish_at: c.take()?,
        requested_by: c.take()?,
        requested_at: c.take()?,
        expires_at: c.take()?,
        decided_by: {
            let (id, name): (Option<UserId>, Option<String>) = (c.take()?, c.take()?);
            id.zip(name).map(|(id, name)| UserRef { id, name })
        },
        decided_at: c.take()?,
        reason: c.take()?,
    })
}

/// Stores a request.
pub async fn insert(tx: &mut Tx, scope: ProjectScope, new: &ApprovalRecord) -> Result<()> {
    sql(concat!(
        "INSERT INTO approvals (project_id, ",
        columns!(),
        ", number) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, coalesce(max(number), 0) + 1
          FROM approvals WHERE project_id = $1 AND post_id = $3"
    ))
    .bind(scope.project())
    .bind(new.id)
    .bind(new.post)
    .bind(new.run)
    .bind(new.status.as_str())
    .bind(Json::encode(&new.reasons)?)
    .bind(new.content_hash.clone())
    .bind(new.connection)
    .bind(new.provider.map(Provider::as_str))
    .bind(new.publish_at)
    .bind(&new.requested_by)
    .bind(new.requested_at)
    .bind(new.expires_at)
    .bind(new.decided_by.as_ref().map(|by| by.id))
    .bind(new.decided_by.as_ref().map(|by| by.name.clone()))
    .bind(new.decided_at)
    .bind(new.reason.clone())
    .execute(tx)
    .await?;
    Ok(())
}

/// Writes status, time of publication and decision.
pub async fn update(tx: &mut Tx, scope: ProjectScope, changed: &ApprovalRecord) -> Result<()> {
    sql("UPDATE approvals SET status = $3, publish_at = $4, expires_at = $5, decided_by = $6, decided_by_name = $7, decided_at = $8,
           reason = $9 WHERE project_id = $1 AND id = $2")
    .bind(scope.project())
    .bind(changed.id)
    .bind(changed.status.as_str())
    .bind(changed.publish_at)
    .bind(changed.expires_at)
    .bind(changed.decided_by.as_ref().map(|by| by.id))
    .bind(changed.decided_by.as_ref().map(|by| by.name.clone()))
    .bind(changed.decided_at)
    .bind(changed.reason.clone())
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns an approval.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: ApprovalId) -> Result<ApprovalRecord> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM approvals WHERE project_id = $1 AND id = $2"
    ))
    .bind(scope.project())
    .bind(id)
    .fetch_one(tx, read_approval)
    .await
}

/// Returns the newest approval of a post.
pub async fn find_newest_of_post(
    tx: &mut Tx,
    scope: ProjectScope,
    post: PostId,
) -> Result<Option<ApprovalRecord>> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM approvals WHERE project_id = $1 AND post_id = $2 ORDER BY number DESC LIMIT 1"
    ))
    .bind(scope.project())
    .bind(post)
    .fetch_optional(tx, read_approval)
    .await
}

/// Lists approvals, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    status: Option<ApprovalStatus>,
    before: Option<ApprovalId>,
    limit: u32,
) -> Result<Vec<ApprovalRecord>> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM approvals WHERE project_id = $1 AND id < $2 AND (CAST($3 AS TEXT) IS NULL OR status = $3) ORDER BY id DESC LIMIT $4"
    ))
    .bind(scope.project())
    .bind(before.unwrap_or(ApprovalId::MAX))
    .bind(status.map(ApprovalStatus::as_str))
    .bind(limit)
    .fetch_all(tx, read_approval)
    .await
}

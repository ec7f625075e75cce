//! Messages of notices: the queue from which they are sent, and what became of them.
//!
//! A message is leased for longer than an attempt may take. A process that dies leaves it to the next one, which sends it again
//! with the same `Message-ID`.

use searchwright_contract::{Instant, ids::UserId};
use serde_json::json;
use uuid::Uuid;

use crate::{Cells, Json, Result, Tx, access::ProjectScope, jobs::LeaseTime, sql};

/// Milliseconds of a lease: more than twice as long as an attempt may take.
const LEASE_MILLIS: i64 = 60_000;

/// A message to be sent.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Identifier, made of the batch and the recipient.
    pub id: Uuid,
    /// Notices of one batch were told together.
    pub batch: Uuid,
    /// Purpose: `notices`, `digest` or `last`.
    pub purpose: &'static str,
    /// Person that it is mailed to; `None` for the chat.
    pub user: Option<UserId>,
    /// Ids of the notices in it.
    pub notices: Vec<Uuid>,
    /// Subject.
    pub subject: String,
    /// Text.
    pub text: String,
}

const fn channel(user: Option<UserId>) -> &'static str {
    match user {
        Some(_) => "mail",
        None => "chat",
    }
}

/// Inserts a message, unless it is there.
pub async fn insert(tx: &mut Tx, scope: ProjectScope, new: NewMessage, now: Instant) -> Result<()> {
    sql("INSERT INTO notice_messages (project_id, id, batch, channel, purpose, user_id, notices, subject, text, status, attempts, next_at,
           fence, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', 0, $10, 0, $10) ON CONFLICT DO NOTHING")
    .bind(scope.project())
    .bind(new.id)
    .bind(new.batch)
    .bind(channel(new.user))
    .bind(new.purpose)
    .bind(new.user)
    .bind(Json(json!(new.notices)))
    .bind(new.subject)
    .bind(new.text)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Counts the messages with notices that were made for a recipient since a time.
pub async fn count_since(
    tx: &mut Tx,
    scope: ProjectScope,
    user: Option<UserId>,
    since: Instant,
) -> Result<u64> {
    sql(
        "SELECT count(*) FROM notice_messages WHERE project_id = $1 AND channel = $2 AND created_at >= $3
           AND (user_id = $4 OR CAST($4 AS UUID) IS NULL) AND purpose <> 'digest'",
    )
    .bind(scope.project())
    .bind(channel(user))
    .bind(since)
    .bind(user)
    .fetch_one(tx, |c| c.take())
    .await
}

/// Returns whether a digest was made for a recipient since a time.
pub async fn has_digest_since(
    tx: &mut Tx,
    scope: ProjectScope,
    user: Option<UserId>,
    since: Instant,
) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM notice_messages WHERE project_id = $1 AND channel = $2 AND created_at > $3
           AND (user_id = $4 OR CAST($4 AS UUID) IS NULL) AND purpose = 'digest')")
    .bind(scope.project())
    .bind(channel(user))
    .bind(since)
    .bind(user)
    .fetch_one(tx, |c| c.take())
    .await
}

/// A message that this process holds a lease on.
#[derive(Clone, Debug)]
pub struct LeasedMessage {
    /// Project.
    pub scope: ProjectScope,
    /// Identifier.
    pub id: Uuid,
    /// Number of the lease.
    pub fence: i64,
    /// Person that it is mailed to; `None` for the chat.
    pub user: Option<UserId>,
    /// Subject.
    pub subject: String,
    /// Text.
    pub text: String,
    /// Attempts before.
    pub attempts: u32,
    /// Time at which it was made.
    pub created_at: Instant,
}

/// Returns whether any message is due.
pub async fn has_due(tx: &mut Tx, now: Instant, at: LeaseTime) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM notice_messages WHERE next_at <= $1 AND (lease_until IS NULL OR lease_until < $2))")
        .bind(now)
        .bind(at.0)
        .fetch_one(tx, |c| c.take())
        .await
}

fn read_leased(c: &mut Cells<'_>) -> Result<LeasedMessage> {
    Ok(LeasedMessage {
        scope: ProjectScope::from_row(c.take()?),
        id: c.take()?,
        fence: c.take()?,
        user: c.take()?,
        subject: c.take()?,
        text: c.take()?,
        attempts: c.take()?,
        created_at: c.take()?,
    })
}

/// Leases at most `limit` messages that are due, those that wait longest first.
pub async fn lease(tx: &mut Tx, now: Instant, at: LeaseTime, limit: u32) -> Result<Vec<LeasedMessage>> {
    macro_rules! text {
        ($lock:literal) => {
            concat!(
                "UPDATE notice_messages SET fence = fence + 1, attempts = attempts + 1, lease_until = $3 WHERE (project_id, id) IN (
                   SELECT project_id, id FROM notice_messages WHERE next_at <= $1 AND (lease_until IS NULL OR lease_until < $2)
                   ORDER BY next_at LIMIT $4",
                $lock,
                ") RETURNING project_id, id, fence, user_id, subject, text, attempts, created_at"
            )
        };
    }
    let text = if tx.is_postgres() {
        text!(" FOR UPDATE SKIP LOCKED")
    } else {
        text!("")
    };
    sql(text)
        .bind(now)
        .bind(at.0)
        .bind(at.0.plus_millis(LEASE_MILLIS))
        .bind(limit)
        .fetch_all(tx, read_leased)
        .await
}

/// Outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageOutcome {
    /// It was taken.
    Sent,
    /// It is tried again at a time.
    Again(Instant, String),
    /// It is given up.
    Failed(String),
}

/// Records the outcome of an attempt; `false` if the lease was lost, or the message was given up meanwhile.
pub async fn record(
    tx: &mut Tx,
    message: &LeasedMessage,
    outcome: MessageOutcome,
    now: Instant,
) -> Result<bool> {
    let (status, next_at, reason, sent_at) = match outcome {
        MessageOutcome::Sent => ("sent", None, None, Some(now)),
        MessageOutcome::Again(at, reason) => ("pending", Some(at), Some(reason), None),
        MessageOutcome::Failed(reason) => ("failed", None, Some(reason), None),
    };
    let written = sql(
        "UPDATE notice_messages SET status = $4, next_at = $5, reason = $6, sent_at = $7, lease_until = NULL
         WHERE project_id = $1 AND id = $2 AND fence = $3 AND (next_at IS NOT NULL OR $4 = 'sent')",
    )
    .bind(message.scope.project())
    .bind(message.id)
    .bind(message.fence)
    .bind(status)
    .bind(next_at)
    .bind(reason)
    .bind(sent_at)
    .execute(tx)
    .await?;
    Ok(written > 0)
}

/// Releases all leases. For the start of the only process of an installation.
pub async fn release_all(tx: &mut Tx) -> Result<()> {
    sql(
        "UPDATE notice_messages SET lease_until = NULL WHERE next_at IS NOT NULL AND lease_until IS NOT NULL",
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Address of a person, if they may still be sent mail of a project: they are a member who can sign in.
pub async fn find_address(tx: &mut Tx, scope: ProjectScope, user: UserId) -> Result<Option<String>> {
    sql("SELECT u.email FROM projects p JOIN memberships m ON m.workspace_id = p.workspace_id JOIN users u ON u.id = m.user_id
         WHERE p.id = $1 AND m.user_id = $2 AND u.disabled_at IS NULL")
    .bind(scope.project())
    .bind(user)
    .fetch_optional(tx, |c| c.take())
    .await
}

/// A message as the page shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageState {
    /// Notices of one batch were told together.
    pub batch: Uuid,
    /// Whether it is mail; the chat otherwise.
    pub is_mail: bool,
    /// Purpose.
    pub purpose: String,
    /// Ids of the notices in it.
    pub notices: Vec<Uuid>,
    /// `pending`, `sent` or `failed`.
    pub status: String,
    /// Attempts.
    pub attempts: u32,
    /// Time of the next attempt.
    pub next_at: Option<Instant>,
    /// Reason of the last failure.
    pub reason: Option<String>,
    /// Time at which it was made.
    pub created_at: Instant,
    /// Time at which it was taken.
    pub sent_at: Option<Instant>,
}

/// Returns the newest messages to a person, or to the chat of a project.
pub async fn list_newest(
    tx: &mut Tx,
    scope: ProjectScope,
    user: Option<UserId>,
    limit: u32,
) -> Result<Vec<MessageState>> {
    sql("SELECT batch, channel, purpose, notices, status, attempts, next_at, reason, created_at, sent_at FROM notice_messages
         WHERE project_id = $1 AND channel = $2 AND (user_id = $3 OR CAST($3 AS UUID) IS NULL) ORDER BY created_at DESC, id LIMIT $4")
    .bind(scope.project())
    .bind(channel(user))
    .bind(user)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(MessageState {
            batch: c.take()?,
            is_mail: c.take::<String>()? == "mail",
            purpose: c.take()?,
            notices: c.take_json()?,
            status: c.take()?,
            attempts: c.take()?,
            next_at: c.take()?,
            reason: c.take()?,
            created_at: c.take()?,
            sent_at: c.take()?,
        })
    })
    .await
}

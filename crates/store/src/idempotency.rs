//! Answers that are given again: one row per Idempotency-Key, written with the effect it answers for.

use searchwright_contract::Instant;
use uuid::Uuid;

use crate::{Json, Result, Tx, access::ProjectScope, sql};

/// Which request a key belongs to.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Owner of the credential.
    pub owner: Uuid,
    /// Operation name.
    pub route: &'static str,
    /// The key as sent.
    pub key: String,
}

/// What was answered the first time.
#[derive(Clone, Debug)]
pub struct Stored {
    /// SHA-256 of what was asked.
    pub fingerprint: Vec<u8>,
    /// HTTP status.
    pub status: u16,
    /// Header values.
    pub head: serde_json::Value,
    /// Body, byte for byte.
    pub body: Vec<u8>,
}

/// The first answer, if it has not expired.
pub async fn find(tx: &mut Tx, scope: ProjectScope, slot: &Slot, now: Instant) -> Result<Option<Stored>> {
    sql("SELECT fingerprint, status, head, body FROM idempotency
         WHERE project_id = $1 AND owner = $2 AND route = $3 AND key = $4 AND expires_at > $5")
    .bind(scope.project())
    .bind(slot.owner)
    .bind(slot.route)
    .bind(&slot.key)
    .bind(now)
    .fetch_optional(tx, |c| {
        Ok(Stored {
            fingerprint: c.take()?,
            status: c.take()?,
            head: c.take::<Json>()?.0,
            body: c.take()?,
        })
    })
    .await
}

/// Keeps an answer until `expires_at`. On PostgreSQL a second transaction with the same key waits here
/// for the first and then finds its row.
pub async fn keep(
    tx: &mut Tx,
    scope: ProjectScope,
    slot: &Slot,
    stored: Stored,
    now: Instant,
    expires_at: Instant,
) -> Result<bool> {
    let kept = sql("INSERT INTO idempotency (project_id, owner, route, key, fingerprint, status, head, body, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (project_id, owner, route, key) DO UPDATE SET fingerprint = $5, status = $6, head = $7, body = $8, expires_at = $9
         WHERE idempotency.expires_at <= $10")
    .bind(scope.project())
    .bind(slot.owner)
    .bind(slot.route)
    .bind(&slot.key)
    .bind(stored.fingerprint)
    .bind(stored.status)
    .bind(Json(stored.head))
    .bind(stored.body)
    .bind(expires_at)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(kept == 1)
}

/// Forgets what has expired; how many rows.
pub async fn sweep(tx: &mut Tx, now: Instant) -> Result<u64> {
    sql("DELETE FROM idempotency WHERE expires_at <= $1")
        .bind(now)
        .execute(tx)
        .await
}

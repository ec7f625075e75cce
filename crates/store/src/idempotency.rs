//! Stored responses, one per Idempotency-Key, written in the transaction of their effect.

use searchwright_contract::{Instant, ids::CredentialId};

use crate::{Json, Result, Tx, access::ProjectScope, sql};

/// Key of a stored response.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// Owner of the credential.
    pub owner: CredentialId,
    /// Operation name.
    pub route: &'static str,
    /// Value of the Idempotency-Key header.
    pub key: String,
}

/// The first response.
#[derive(Clone, Debug)]
pub struct StoredResponse {
    /// SHA-256 of the request.
    pub fingerprint: Vec<u8>,
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub head: serde_json::Value,
    /// Body, byte for byte.
    pub body: Vec<u8>,
}

/// Returns the stored response, unless it is expired.
pub async fn find(
    tx: &mut Tx,
    scope: ProjectScope,
    key: &IdempotencyKey,
    now: Instant,
) -> Result<Option<StoredResponse>> {
    sql("SELECT fingerprint, status, head, body FROM idempotency
         WHERE project_id = $1 AND owner = $2 AND route = $3 AND key = $4 AND expires_at > $5")
    .bind(scope.project())
    .bind(key.owner)
    .bind(key.route)
    .bind(&key.key)
    .bind(now)
    .fetch_optional(tx, |c| {
        Ok(StoredResponse {
            fingerprint: c.take()?,
            status: c.take()?,
            head: c.take::<Json>()?.0,
            body: c.take()?,
        })
    })
    .await
}

/// Inserts a response that expires at `expires_at`; `false` if there is one. On PostgreSQL a second transaction
/// with the same key waits here for the first and then finds its row.
pub async fn insert(
    tx: &mut Tx,
    scope: ProjectScope,
    key: &IdempotencyKey,
    response: StoredResponse,
    now: Instant,
    expires_at: Instant,
) -> Result<bool> {
    let inserted = sql("INSERT INTO idempotency (project_id, owner, route, key, fingerprint, status, head, body, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (project_id, owner, route, key) DO UPDATE SET fingerprint = $5, status = $6, head = $7, body = $8, expires_at = $9
         WHERE idempotency.expires_at <= $10")
    .bind(scope.project())
    .bind(key.owner)
    .bind(key.route)
    .bind(&key.key)
    .bind(response.fingerprint)
    .bind(response.status)
    .bind(Json(response.head))
    .bind(response.body)
    .bind(expires_at)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(inserted == 1)
}

/// Deletes expired responses and returns their number.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<u64> {
    sql("DELETE FROM idempotency WHERE expires_at <= $1")
        .bind(now)
        .execute(tx)
        .await
}

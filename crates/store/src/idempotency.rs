//! Stored responses, one per Idempotency-Key, written in the transaction of their effect.

use searchwright_contract::{Instant, ids::CredentialId};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{Error, Json, Result, Tx, access::ProjectScope, sql};

/// Bits below the time of expiry in the id of a response.
const CHANCE_BITS: u32 = 20;

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

impl IdempotencyKey {
    /// Returns the hash by which the response is found: the index of it is a third of one of the values.
    fn slot(&self, scope: ProjectScope) -> Uuid {
        let mut hash = Sha256::new();
        hash.update(scope.project());
        hash.update(self.owner.uuid());
        // No name of an operation is the beginning of another with a NUL.
        hash.update(self.route);
        hash.update([0]);
        hash.update(&self.key);
        let mut slot = [0; 16];
        slot.copy_from_slice(&hash.finalize()[..16]);
        Uuid::from_bytes(slot)
    }
}

/// Returns the SHA-256 of an operation and its arguments. Members are sorted first, as in RFC 8785, because their order has no
/// meaning.
pub fn fingerprint(route: &str, arguments: &Value) -> Vec<u8> {
    let mut canonical = arguments.clone();
    canonical.sort_all_objects();
    Sha256::digest(format!("{route}{canonical}")).to_vec()
}

/// The first response.
#[derive(Clone, Debug)]
pub struct StoredResponse {
    /// SHA-256 of the request.
    pub fingerprint: Vec<u8>,
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub head: Value,
    /// Body, byte for byte.
    pub body: Vec<u8>,
}

/// Returns the first id of the responses that expire after an instant.
fn first_id_after(at: Instant) -> i64 {
    (at.millis() + 1) << CHANCE_BITS
}

/// Returns the stored response, unless it is expired.
pub async fn find(
    tx: &mut Tx,
    scope: ProjectScope,
    key: &IdempotencyKey,
    now: Instant,
) -> Result<Option<StoredResponse>> {
    sql("SELECT fingerprint, status, head, body FROM idempotency WHERE project_id = $1 AND slot = $2 AND id >= $3")
        .bind(scope.project())
        .bind(key.slot(scope))
        .bind(first_id_after(now))
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

/// Inserts a response that expires at `expires_at`, together with COMMIT. If there is one for this key, expired ones included,
/// the transaction fails with an error that [`is_taken`]. On PostgreSQL a second transaction with the same key waits for the
/// first. `chance` is random at its end.
pub async fn insert(
    tx: &mut Tx,
    scope: ProjectScope,
    key: &IdempotencyKey,
    response: StoredResponse,
    expires_at: Instant,
    chance: Uuid,
) -> Result<()> {
    let chance = (chance.as_u128() as i64) & ((1 << CHANCE_BITS) - 1);
    sql(
        "INSERT INTO idempotency (id, slot, project_id, owner, route, fingerprint, status, head, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind((expires_at.millis() << CHANCE_BITS) | chance)
    .bind(key.slot(scope))
    .bind(scope.project())
    .bind(key.owner)
    .bind(key.route)
    .bind(response.fingerprint)
    .bind(response.status)
    .bind(Json(response.head))
    .bind(response.body)
    .execute_at_commit(tx)
    .await
}

/// Returns whether a transaction failed because its key, or by chance its id, has a response.
pub fn is_taken(error: &Error) -> bool {
    matches!(error, Error::Duplicate(what) if what.contains("idempotency"))
}

/// Deletes the response of a key if it is expired.
pub async fn delete_if_expired(
    tx: &mut Tx,
    scope: ProjectScope,
    key: &IdempotencyKey,
    now: Instant,
) -> Result<()> {
    sql("DELETE FROM idempotency WHERE project_id = $1 AND slot = $2 AND id < $3")
        .bind(scope.project())
        .bind(key.slot(scope))
        .bind(first_id_after(now))
        .execute(tx)
        .await
        .map(drop)
}

/// Deletes expired responses and returns their number.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<u64> {
    sql("DELETE FROM idempotency WHERE id < $1")
        .bind(first_id_after(now))
        .execute(tx)
        .await
}

//! Passkeys of people, and the challenges that they answer.

use searchwright_contract::{
    Instant,
    ids::{PasskeyId, UserId},
};

use crate::{Result, Tx, sql};

/// A passkey.
#[derive(Clone, Debug, PartialEq)]
pub struct Passkey {
    /// Identifier.
    pub id: PasskeyId,
    /// Person who signs in with it.
    pub user: UserId,
    /// Name by which the person knows it.
    pub name: String,
    /// Id that the authenticator gave.
    pub credential: Vec<u8>,
    /// SubjectPublicKeyInfo.
    pub public_key: Vec<u8>,
    /// COSE algorithm.
    pub algorithm: i64,
    /// Number of signatures, if the authenticator counts.
    pub sign_count: u32,
    /// Time of its creation.
    pub created_at: Instant,
    /// Last use.
    pub last_used_at: Option<Instant>,
}

/// Creates a passkey; [`Error::Duplicate`](crate::Error::Duplicate) if its credential is known.
pub async fn create(tx: &mut Tx, new: &Passkey) -> Result<()> {
    sql(
        "INSERT INTO passkeys (id, user_id, name, credential, public_key, algorithm, sign_count, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(new.id)
    .bind(new.user)
    .bind(&new.name)
    .bind(new.credential.clone())
    .bind(new.public_key.clone())
    .bind(new.algorithm)
    .bind(new.sign_count)
    .bind(new.created_at)
    .execute(tx)
    .await?;
    Ok(())
}

fn passkey(c: &mut crate::Cells<'_>) -> Result<Passkey> {
    Ok(Passkey {
        id: c.take()?,
        user: c.take()?,
        name: c.take()?,
        credential: c.take()?,
        public_key: c.take()?,
        algorithm: c.take()?,
        sign_count: c.take::<i64>()?.try_into().unwrap_or(u32::MAX),
        created_at: c.take()?,
        last_used_at: c.take()?,
    })
}

/// Returns the passkeys of a person, oldest first.
pub async fn list_of_user(tx: &mut Tx, user: UserId) -> Result<Vec<Passkey>> {
    sql(
        "SELECT id, user_id, name, credential, public_key, algorithm, sign_count, created_at, last_used_at
         FROM passkeys WHERE user_id = $1 ORDER BY id",
    )
    .bind(user)
    .fetch_all(tx, passkey)
    .await
}

/// Returns the passkey with this credential, if its person may sign in.
pub async fn find_by_credential(tx: &mut Tx, credential: &[u8]) -> Result<Option<Passkey>> {
    sql(
        "SELECT p.id, p.user_id, p.name, p.credential, p.public_key, p.algorithm, p.sign_count, p.created_at, p.last_used_at
         FROM passkeys p JOIN users u ON u.id = p.user_id WHERE p.credential = $1 AND u.disabled_at IS NULL",
    )
    .bind(credential.to_vec())
    .fetch_optional(tx, passkey)
    .await
}

/// Records a use.
pub async fn record_use(tx: &mut Tx, id: PasskeyId, sign_count: u32, now: Instant) -> Result<bool> {
    let updated = sql("UPDATE passkeys SET sign_count = $2, last_used_at = $3 WHERE id = $1")
        .bind(id)
        .bind(sign_count)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(updated > 0)
}

/// Deletes a passkey of a person. Returns `false` if there is no such passkey.
pub async fn delete(tx: &mut Tx, user: UserId, id: PasskeyId) -> Result<bool> {
    let deleted = sql("DELETE FROM passkeys WHERE user_id = $1 AND id = $2")
        .bind(user)
        .bind(id)
        .execute(tx)
        .await?;
    Ok(deleted > 0)
}

/// Stores a challenge: for a new passkey of `user`, or to sign in.
pub async fn create_challenge(
    tx: &mut Tx,
    digest: &[u8; 32],
    user: Option<UserId>,
    expires_at: Instant,
) -> Result<()> {
    sql("INSERT INTO passkey_challenges (digest, user_id, expires_at) VALUES ($1, $2, $3)")
        .bind(digest)
        .bind(user)
        .bind(expires_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Uses up a challenge for this purpose. Returns `false` if it was answered before, or its time is over.
pub async fn use_challenge(
    tx: &mut Tx,
    digest: &[u8; 32],
    user: Option<UserId>,
    now: Instant,
) -> Result<bool> {
    let used = match user {
        Some(user) => {
            sql("DELETE FROM passkey_challenges WHERE digest = $1 AND expires_at > $2 AND user_id = $3")
                .bind(digest)
                .bind(now)
                .bind(user)
        }
        None => {
            sql("DELETE FROM passkey_challenges WHERE digest = $1 AND expires_at > $2 AND user_id IS NULL")
                .bind(digest)
                .bind(now)
        }
    };
    Ok(used.execute(tx).await? > 0)
}

/// Deletes challenges whose time is over.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<()> {
    sql("DELETE FROM passkey_challenges WHERE expires_at <= $1")
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

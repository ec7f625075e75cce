//! One-time codes and recovery codes of people, and sign-ins that wait for one.

use searchwright_contract::{Instant, ids::UserId};
use uuid::Uuid;

use crate::{
    Result, Tx,
    seal::{Keyring, SealContext},
    sql,
};

/// Secret of a person's one-time codes.
pub struct TotpSecret {
    /// The secret.
    pub secret: Vec<u8>,
    /// Time of the first code; `None` before it, when the secret does not count yet.
    pub confirmed_at: Option<Instant>,
    /// Time step of the last code that was accepted.
    pub used_step: u64,
}

impl std::fmt::Debug for TotpSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TotpSecret")
    }
}

fn seal_context(user: UserId) -> SealContext<'static> {
    SealContext {
        table: "totp_secrets",
        column: "secret",
        row: user.uuid(),
        project: Uuid::nil(),
    }
}

/// Sets a new secret, which does not count before it is confirmed.
pub async fn set_totp(
    tx: &mut Tx,
    keyring: &Keyring,
    user: UserId,
    secret: &[u8],
    now: Instant,
) -> Result<()> {
    sql(
        "INSERT INTO totp_secrets (user_id, secret, used_step, created_at) VALUES ($1, $2, 0, $3)
         ON CONFLICT (user_id) DO UPDATE SET secret = $2, confirmed_at = NULL, used_step = 0, created_at = $3",
    )
    .bind(user)
    .bind(keyring.seal(seal_context(user), secret)?)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the secret of a person.
pub async fn find_totp(tx: &mut Tx, keyring: &Keyring, user: UserId) -> Result<Option<TotpSecret>> {
    let found = sql("SELECT secret, confirmed_at, used_step FROM totp_secrets WHERE user_id = $1")
        .bind(user)
        .fetch_optional(tx, |c| {
            Ok(TotpSecret {
                secret: c.take()?,
                confirmed_at: c.take()?,
                used_step: c.take::<i64>()?.unsigned_abs(),
            })
        })
        .await?;
    found
        .map(|found| {
            Ok(TotpSecret {
                secret: keyring.open(seal_context(user), &found.secret)?,
                ..found
            })
        })
        .transpose()
}

/// Records the time step of a code. Returns `false` if this or a later one was accepted before.
pub async fn use_step(tx: &mut Tx, user: UserId, step: u64, now: Instant) -> Result<bool> {
    let used = sql(
        "UPDATE totp_secrets SET used_step = $2, confirmed_at = coalesce(confirmed_at, $3)
         WHERE user_id = $1 AND used_step < $2",
    )
    .bind(user)
    .bind(i64::try_from(step).unwrap_or(i64::MAX))
    .bind(now)
    .execute(tx)
    .await?;
    Ok(used > 0)
}

/// Returns whether a person has a second factor by one-time codes.
pub async fn has_totp(tx: &mut Tx, user: UserId) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM totp_secrets WHERE user_id = $1 AND confirmed_at IS NOT NULL)")
        .bind(user)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Removes the second factor of a person with its recovery codes. Returns `false` if there was none.
pub async fn remove(tx: &mut Tx, user: UserId) -> Result<bool> {
    sql("DELETE FROM recovery_codes WHERE user_id = $1")
        .bind(user)
        .execute(tx)
        .await?;
    let removed = sql("DELETE FROM totp_secrets WHERE user_id = $1")
        .bind(user)
        .execute(tx)
        .await?;
    Ok(removed > 0)
}

/// Replaces the recovery codes of a person, by their digests.
pub async fn set_recovery_codes(tx: &mut Tx, user: UserId, digests: &[[u8; 32]]) -> Result<()> {
    sql("DELETE FROM recovery_codes WHERE user_id = $1")
        .bind(user)
        .execute(tx)
        .await?;
    let rows = digests
        .iter()
        .map(|digest| vec![user.into(), digest.into()])
        .collect();
    sql("INSERT INTO recovery_codes (user_id, digest) VALUES ($1, $2)")
        .execute_each(tx, rows)
        .await?;
    Ok(())
}

/// Uses up a recovery code. Returns `false` if there is no such code any more.
pub async fn use_recovery_code(tx: &mut Tx, user: UserId, digest: &[u8; 32]) -> Result<bool> {
    let used = sql("DELETE FROM recovery_codes WHERE user_id = $1 AND digest = $2")
        .bind(user)
        .bind(digest)
        .execute(tx)
        .await?;
    Ok(used > 0)
}

/// Counts the recovery codes that a person has left.
pub async fn count_recovery_codes(tx: &mut Tx, user: UserId) -> Result<u64> {
    sql("SELECT count(*) FROM recovery_codes WHERE user_id = $1")
        .bind(user)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Stores a sign-in that waits for a code.
pub async fn create_pending(tx: &mut Tx, digest: &[u8; 32], user: UserId, expires_at: Instant) -> Result<()> {
    sql("INSERT INTO pending_sign_ins (digest, user_id, expires_at) VALUES ($1, $2, $3)")
        .bind(digest)
        .bind(user)
        .bind(expires_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns the person of a sign-in that waits for a code.
pub async fn find_pending(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<Option<UserId>> {
    sql("SELECT user_id FROM pending_sign_ins WHERE digest = $1 AND expires_at > $2")
        .bind(digest)
        .bind(now)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Deletes a sign-in that waits for a code. Returns `false` if it was completed before.
pub async fn use_pending(tx: &mut Tx, digest: &[u8; 32]) -> Result<bool> {
    let used = sql("DELETE FROM pending_sign_ins WHERE digest = $1")
        .bind(digest)
        .execute(tx)
        .await?;
    Ok(used > 0)
}

/// Deletes the sign-ins of a person that wait for a code.
pub async fn delete_pending_of_user(tx: &mut Tx, user: UserId) -> Result<()> {
    sql("DELETE FROM pending_sign_ins WHERE user_id = $1")
        .bind(user)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes sign-ins whose time is over.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<()> {
    sql("DELETE FROM pending_sign_ins WHERE expires_at <= $1")
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

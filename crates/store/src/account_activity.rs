//! The log of sign-ins, grants, tokens and changes of members, each entry written in the transaction of its change.

use searchwright_contract::{
    Instant,
    ids::{ActivityId, UserId},
};
use uuid::Uuid;

use crate::{Result, Tx, activity::RETENTION_DAYS, sql};

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountActivity {
    /// Identifier, UUIDv7 of now: the order of ids is the order of entries.
    pub id: ActivityId,
    /// Name of what happened, such as `session.created`.
    pub action: String,
    /// Person concerned.
    pub user: Option<UserId>,
    /// OAuth client concerned.
    pub client: Option<String>,
    /// Network address of the caller.
    pub address: Option<String>,
    /// Reason or further detail, in a few words.
    pub detail: Option<String>,
    /// Time of the entry.
    pub created_at: Instant,
}

/// Inserts an entry.
pub async fn insert(tx: &mut Tx, new: AccountActivity) -> Result<()> {
    sql(
        "INSERT INTO account_activity (id, action, user_id, client_id, address, detail, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(new.id)
    .bind(new.action)
    .bind(new.user)
    .bind(new.client)
    .bind(new.address)
    .bind(new.detail)
    .bind(new.created_at)
    .execute_at_commit(tx)
    .await
}

/// Returns the newest entries of a person, newest first; a client by its name where it is still known.
pub async fn list_of_user(tx: &mut Tx, user: UserId, limit: u32) -> Result<Vec<AccountActivity>> {
    sql(
        "SELECT a.id, a.action, a.user_id, coalesce(c.name, a.client_id), a.address, a.detail, a.created_at
         FROM account_activity a LEFT JOIN oauth_clients c ON c.id = a.client_id
         WHERE a.user_id = $1 ORDER BY a.id DESC LIMIT $2",
    )
    .bind(user)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(AccountActivity {
            id: c.take()?,
            action: c.take()?,
            user: c.take()?,
            client: c.take()?,
            address: c.take()?,
            detail: c.take()?,
            created_at: c.take()?,
        })
    })
    .await
}

/// Deletes entries older than [`RETENTION_DAYS`] and returns their number.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<u64> {
    let oldest = now.plus_millis(-RETENTION_DAYS * 86_400_000).millis();
    // An id begins with its time in milliseconds: the primary key finds older entries.
    let oldest = Uuid::from_u128(u128::try_from(oldest).unwrap_or_default() << 80);
    sql("DELETE FROM account_activity WHERE id < $1")
        .bind(oldest)
        .execute(tx)
        .await
}

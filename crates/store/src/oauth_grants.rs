//! Grants of people to OAuth clients, and the authorization codes with which clients collect them.
//!
//! A grant is the family of all its tokens: revoking it ends them.

use searchwright_contract::{
    Instant,
    ids::{CredentialId, UserId},
};

use crate::{Result, Tx, sql};

/// A grant.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Identifier.
    pub id: CredentialId,
    /// Person who granted it.
    pub user: UserId,
    /// The client.
    pub client: String,
    /// Audience of its tokens.
    pub resource: String,
    /// Scopes, separated by spaces.
    pub scopes: String,
    /// Absolute end.
    pub expires_at: Instant,
    /// Time of revocation.
    pub revoked_at: Option<Instant>,
}

/// Creates a grant.
pub async fn create(tx: &mut Tx, new: &Grant, now: Instant) -> Result<()> {
    sql(
        "INSERT INTO oauth_grants (id, user_id, client_id, resource, scopes, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(new.id)
    .bind(new.user)
    .bind(&new.client)
    .bind(&new.resource)
    .bind(&new.scopes)
    .bind(now)
    .bind(new.expires_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns a grant, and locks it until the transaction ends: its tokens change one transaction after another.
pub async fn lock(tx: &mut Tx, id: CredentialId) -> Result<Option<Grant>> {
    let text = if tx.is_postgres() {
        "SELECT id, user_id, client_id, resource, scopes, expires_at, revoked_at FROM oauth_grants WHERE id = $1 FOR UPDATE"
    } else {
        "SELECT id, user_id, client_id, resource, scopes, expires_at, revoked_at FROM oauth_grants WHERE id = $1"
    };
    sql(text)
        .bind(id)
        .fetch_optional(tx, |c| {
            Ok(Grant {
                id: c.take()?,
                user: c.take()?,
                client: c.take()?,
                resource: c.take()?,
                scopes: c.take()?,
                expires_at: c.take()?,
                revoked_at: c.take()?,
            })
        })
        .await
}

/// Revokes a grant with all its tokens. Returns `false` if it was revoked before.
pub async fn revoke(tx: &mut Tx, id: CredentialId, because: &str, now: Instant) -> Result<bool> {
    let revoked = sql(
        "UPDATE oauth_grants SET revoked_at = $2, revoked_because = $3 WHERE id = $1 AND revoked_at IS NULL",
    )
    .bind(id)
    .bind(now)
    .bind(because)
    .execute(tx)
    .await?;
    Ok(revoked > 0)
}

/// Revokes the grants of a person and returns their number.
pub async fn revoke_of_user(tx: &mut Tx, user: UserId, because: &str, now: Instant) -> Result<u64> {
    sql("UPDATE oauth_grants SET revoked_at = $2, revoked_because = $3 WHERE user_id = $1 AND revoked_at IS NULL")
        .bind(user)
        .bind(now)
        .bind(because)
        .execute(tx)
        .await
}

/// A grant in force, as its person sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantOfUser {
    /// Identifier.
    pub id: CredentialId,
    /// The client.
    pub client: String,
    /// Name that the client gives itself.
    pub client_name: String,
    /// Audience of its tokens.
    pub resource: String,
    /// Scopes, separated by spaces.
    pub scopes: String,
    /// Time of consent.
    pub created_at: Instant,
    /// Last use, to the minute.
    pub last_used_at: Option<Instant>,
}

/// Returns the grants of a person that are in force, newest first.
pub async fn list_of_user(tx: &mut Tx, user: UserId, now: Instant) -> Result<Vec<GrantOfUser>> {
    sql(
        "SELECT g.id, g.client_id, c.name, g.resource, g.scopes, g.created_at, g.last_used_at
         FROM oauth_grants g JOIN oauth_clients c ON c.id = g.client_id
         WHERE g.user_id = $1 AND g.revoked_at IS NULL AND g.expires_at > $2 ORDER BY g.id DESC",
    )
    .bind(user)
    .bind(now)
    .fetch_all(tx, |c| {
        Ok(GrantOfUser {
            id: c.take()?,
            client: c.take()?,
            client_name: c.take()?,
            resource: c.take()?,
            scopes: c.take()?,
            created_at: c.take()?,
            last_used_at: c.take()?,
        })
    })
    .await
}

/// Records the last use of grants. An older time never replaces a newer one.
pub async fn record_uses(tx: &mut Tx, uses: Vec<(CredentialId, Instant)>) -> Result<()> {
    let rows = uses
        .into_iter()
        .map(|(id, at)| vec![id.into(), at.into()])
        .collect();
    sql("UPDATE oauth_grants SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)")
        .execute_each(tx, rows)
        .await?;
    Ok(())
}

/// Deletes grants that ended before `oldest`, with their codes and tokens.
pub async fn delete_ended(tx: &mut Tx, oldest: Instant) -> Result<u64> {
    sql("DELETE FROM oauth_grants WHERE revoked_at < $1 OR expires_at < $1")
        .bind(oldest)
        .execute(tx)
        .await
}

/// An authorization code.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// Grant that it collects.
    pub grant: CredentialId,
    /// Redirect URI to which it was sent.
    pub redirect_uri: String,
    /// PKCE challenge (S256).
    pub code_challenge: String,
    /// Time of expiry.
    pub expires_at: Instant,
    /// Time of the first valid use.
    pub used_at: Option<Instant>,
}

/// Stores a code.
pub async fn create_code(tx: &mut Tx, digest: &[u8; 32], code: &Code) -> Result<()> {
    sql("INSERT INTO oauth_codes (digest, grant_id, redirect_uri, code_challenge, expires_at) VALUES ($1, $2, $3, $4, $5)")
        .bind(digest)
        .bind(code.grant)
        .bind(&code.redirect_uri)
        .bind(&code.code_challenge)
        .bind(code.expires_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes the codes of a grant that were not used. Returns `false` if one was used: the client has come for its tokens.
pub async fn withdraw_codes(tx: &mut Tx, grant: CredentialId) -> Result<bool> {
    sql("DELETE FROM oauth_codes WHERE grant_id = $1 AND used_at IS NULL")
        .bind(grant)
        .execute(tx)
        .await?;
    let used: bool = sql("SELECT EXISTS (SELECT 1 FROM oauth_codes WHERE grant_id = $1)")
        .bind(grant)
        .fetch_one(tx, |c| c.take())
        .await?;
    Ok(!used)
}

/// Returns a code, used ones included.
pub async fn find_code(tx: &mut Tx, digest: &[u8; 32]) -> Result<Option<Code>> {
    sql("SELECT grant_id, redirect_uri, code_challenge, expires_at, used_at FROM oauth_codes WHERE digest = $1")
        .bind(digest)
        .fetch_optional(tx, |c| {
            Ok(Code {
                grant: c.take()?,
                redirect_uri: c.take()?,
                code_challenge: c.take()?,
                expires_at: c.take()?,
                used_at: c.take()?,
            })
        })
        .await
}

/// Marks a code as used.
pub async fn use_code(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<()> {
    sql("UPDATE oauth_codes SET used_at = $2 WHERE digest = $1")
        .bind(digest)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

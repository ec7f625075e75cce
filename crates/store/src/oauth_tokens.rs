//! Access and refresh tokens, by their digests.

use searchwright_contract::{
    Instant, Scope,
    ids::{CredentialId, UserId},
};

use crate::{Result, Tx, sql};

/// A valid access token.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenAccess {
    /// Grant of the token.
    pub grant: CredentialId,
    /// Person who granted it.
    pub user: UserId,
    /// Name of the person.
    pub user_name: String,
    /// The client.
    pub client: String,
    /// Name that the client gives itself.
    pub client_name: String,
    /// Audience.
    pub resource: String,
    /// Scopes.
    pub scopes: Vec<Scope>,
    /// Time of expiry.
    pub expires_at: Instant,
}

/// Returns an access token whose grant is in force and whose person may sign in; expired ones too.
pub async fn find_access(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<Option<TokenAccess>> {
    sql(
        "SELECT g.id, u.id, u.name, c.id, c.name, g.resource, t.scopes, t.expires_at
         FROM oauth_access_tokens t JOIN oauth_grants g ON g.id = t.grant_id
           JOIN users u ON u.id = g.user_id JOIN oauth_clients c ON c.id = g.client_id
         WHERE t.digest = $1 AND g.revoked_at IS NULL AND g.expires_at > $2 AND u.disabled_at IS NULL",
    )
    .bind(digest)
    .bind(now)
    .fetch_optional(tx, |c| {
        Ok(TokenAccess {
            grant: c.take()?,
            user: c.take()?,
            user_name: c.take()?,
            client: c.take()?,
            client_name: c.take()?,
            resource: c.take()?,
            scopes: c.take::<String>()?.split(' ').filter_map(Scope::parse).collect(),
            expires_at: c.take()?,
        })
    })
    .await
}

/// Stores an access token.
pub async fn create_access(
    tx: &mut Tx,
    digest: &[u8; 32],
    grant: CredentialId,
    scopes: &str,
    expires_at: Instant,
) -> Result<()> {
    sql("INSERT INTO oauth_access_tokens (digest, grant_id, scopes, expires_at) VALUES ($1, $2, $3, $4)")
        .bind(digest)
        .bind(grant)
        .bind(scopes)
        .bind(expires_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns the grant and the client of an access token.
pub async fn find_grant_of_access(tx: &mut Tx, digest: &[u8; 32]) -> Result<Option<(CredentialId, String)>> {
    sql("SELECT g.id, g.client_id FROM oauth_access_tokens t JOIN oauth_grants g ON g.id = t.grant_id WHERE t.digest = $1")
        .bind(digest)
        .fetch_optional(tx, |c| Ok((c.take()?, c.take()?)))
        .await
}

/// Deletes an access token.
pub async fn delete_access(tx: &mut Tx, digest: &[u8; 32]) -> Result<()> {
    sql("DELETE FROM oauth_access_tokens WHERE digest = $1")
        .bind(digest)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes access tokens that have expired.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<u64> {
    sql("DELETE FROM oauth_access_tokens WHERE expires_at <= $1")
        .bind(now)
        .execute(tx)
        .await
}

/// A refresh token.
#[derive(Clone, Debug, PartialEq)]
pub struct RefreshToken {
    /// Its grant.
    pub grant: CredentialId,
    /// Digest of the token that it replaced.
    pub parent: Option<[u8; 32]>,
    /// Time of expiry when it is not used.
    pub expires_at: Instant,
    /// Time of its use.
    pub used_at: Option<Instant>,
}

/// Stores a refresh token.
pub async fn create_refresh(tx: &mut Tx, digest: &[u8; 32], token: &RefreshToken) -> Result<()> {
    sql("INSERT INTO oauth_refresh_tokens (digest, grant_id, parent, expires_at) VALUES ($1, $2, $3, $4)")
        .bind(digest)
        .bind(token.grant)
        .bind(token.parent.as_ref().map(<[u8; 32]>::as_slice))
        .bind(token.expires_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns a refresh token, used ones included.
pub async fn find_refresh(tx: &mut Tx, digest: &[u8; 32]) -> Result<Option<RefreshToken>> {
    sql("SELECT grant_id, parent, expires_at, used_at FROM oauth_refresh_tokens WHERE digest = $1")
        .bind(digest)
        .fetch_optional(tx, |c| {
            Ok(RefreshToken {
                grant: c.take()?,
                parent: c.take::<Option<Vec<u8>>>()?.and_then(|d| d.try_into().ok()),
                expires_at: c.take()?,
                used_at: c.take()?,
            })
        })
        .await
}

/// Marks a refresh token as used.
pub async fn use_refresh(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<()> {
    sql("UPDATE oauth_refresh_tokens SET used_at = $2 WHERE digest = $1")
        .bind(digest)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes the successors of a refresh token that were never used. Returns `false` if one was used.
pub async fn delete_unused_successors(tx: &mut Tx, grant: CredentialId, parent: &[u8; 32]) -> Result<bool> {
    let used: u64 = sql("SELECT count(*) FROM oauth_refresh_tokens WHERE grant_id = $1 AND parent = $2 AND used_at IS NOT NULL")
        .bind(grant)
        .bind(parent)
        .fetch_one(tx, |c| c.take())
        .await?;
    if used > 0 {
        return Ok(false);
    }
    sql("DELETE FROM oauth_refresh_tokens WHERE grant_id = $1 AND parent = $2")
        .bind(grant)
        .bind(parent)
        .execute(tx)
        .await?;
    Ok(true)
}

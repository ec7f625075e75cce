//! Authorization requests that wait for the decision of a person, by the digest of the token in the consent form.

use searchwright_contract::{Instant, ids::SessionId};

use crate::{Result, Tx, sql};

/// A request whose parameters have been checked.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingRequest {
    /// Session of the person who is asked.
    pub session: SessionId,
    /// The client.
    pub client: String,
    /// Redirect URI, as it was requested.
    pub redirect_uri: String,
    /// `state`, given back as it came.
    pub state: Option<String>,
    /// PKCE challenge (S256).
    pub code_challenge: String,
    /// Audience of the tokens.
    pub resource: String,
    /// Scopes, separated by spaces.
    pub scopes: String,
}

/// Stores a request.
pub async fn create(
    tx: &mut Tx,
    digest: &[u8; 32],
    request: &PendingRequest,
    expires_at: Instant,
) -> Result<()> {
    sql("INSERT INTO oauth_requests (digest, session_id, client_id, redirect_uri, state, code_challenge, resource, scopes, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)")
    .bind(digest)
    .bind(request.session)
    .bind(&request.client)
    .bind(&request.redirect_uri)
    .bind(request.state.clone())
    .bind(&request.code_challenge)
    .bind(&request.resource)
    .bind(&request.scopes)
    .bind(expires_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Takes a request of a session, which can be decided once.
pub async fn take(
    tx: &mut Tx,
    digest: &[u8; 32],
    session: SessionId,
    now: Instant,
) -> Result<Option<PendingRequest>> {
    let found = sql("SELECT session_id, client_id, redirect_uri, state, code_challenge, resource, scopes FROM oauth_requests
         WHERE digest = $1 AND session_id = $2 AND expires_at > $3")
    .bind(digest)
    .bind(session)
    .bind(now)
    .fetch_optional(tx, |c| {
        Ok(PendingRequest {
            session: c.take()?,
            client: c.take()?,
            redirect_uri: c.take()?,
            state: c.take()?,
            code_challenge: c.take()?,
            resource: c.take()?,
            scopes: c.take()?,
        })
    })
    .await?;
    // Of two transactions that found it, the one that deletes it has it.
    let deleted = sql("DELETE FROM oauth_requests WHERE digest = $1")
        .bind(digest)
        .execute(tx)
        .await?;
    Ok(found.filter(|_| deleted > 0))
}

/// Deletes expired requests.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<u64> {
    sql("DELETE FROM oauth_requests WHERE expires_at <= $1")
        .bind(now)
        .execute(tx)
        .await
}

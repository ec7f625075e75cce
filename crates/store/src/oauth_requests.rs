//! Authorization requests that wait for the decision of a person, by the digest of the token in the consent form.

use searchwright_contract::{
    Instant,
    ids::{CredentialId, SessionId},
};

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

/// ConsentDecision of a person on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsentDecision {
    /// None yet.
    Open,
    /// Declined.
    Declined,
    /// Allowed, with this grant.
    Allowed(CredentialId),
}

/// Returns a request of a session with the decision on it, and locks it until the transaction ends.
pub async fn lock(
    tx: &mut Tx,
    digest: &[u8; 32],
    session: SessionId,
    now: Instant,
) -> Result<Option<(PendingRequest, ConsentDecision)>> {
    let text = if tx.is_postgres() {
        "SELECT session_id, client_id, redirect_uri, state, code_challenge, resource, scopes, decided_at, grant_id
         FROM oauth_requests WHERE digest = $1 AND session_id = $2 AND expires_at > $3 FOR UPDATE"
    } else {
        "SELECT session_id, client_id, redirect_uri, state, code_challenge, resource, scopes, decided_at, grant_id
         FROM oauth_requests WHERE digest = $1 AND session_id = $2 AND expires_at > $3"
    };
    sql(text)
        .bind(digest)
        .bind(session)
        .bind(now)
        .fetch_optional(tx, |c| {
            let request = PendingRequest {
                session: c.take()?,
                client: c.take()?,
                redirect_uri: c.take()?,
                state: c.take()?,
                code_challenge: c.take()?,
                resource: c.take()?,
                scopes: c.take()?,
            };
            let decided_at: Option<Instant> = c.take()?;
            let grant: Option<CredentialId> = c.take()?;
            Ok((
                request,
                match (decided_at, grant) {
                    (None, _) => ConsentDecision::Open,
                    (Some(_), None) => ConsentDecision::Declined,
                    (Some(_), Some(grant)) => ConsentDecision::Allowed(grant),
                },
            ))
        })
        .await
}

/// Records the decision on a request: the grant, or none if it was declined.
pub async fn record_decision(
    tx: &mut Tx,
    digest: &[u8; 32],
    grant: Option<CredentialId>,
    now: Instant,
) -> Result<()> {
    sql("UPDATE oauth_requests SET decided_at = $2, grant_id = $3 WHERE digest = $1")
        .bind(digest)
        .bind(now)
        .bind(grant)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes expired requests.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<u64> {
    sql("DELETE FROM oauth_requests WHERE expires_at <= $1")
        .bind(now)
        .execute(tx)
        .await
}

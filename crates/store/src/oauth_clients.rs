//! OAuth clients of this server: built in, created by the operator, registered (RFC 7591), or described by a document at the URL
//! that is their id.

use searchwright_contract::Instant;

use crate::{Cells, Json, Result, Tx, sql};

/// Origin of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientKind {
    /// Part of this program, such as the command line.
    BuiltIn,
    /// Created by the operator; it has a secret.
    Created,
    /// Registered itself.
    Registered,
    /// Publishes a metadata document.
    Document,
}

impl ClientKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built_in",
            Self::Created => "created",
            Self::Registered => "registered",
            Self::Document => "document",
        }
    }
}

impl std::str::FromStr for ClientKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::BuiltIn, Self::Created, Self::Registered, Self::Document]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| format!("{text} is no kind of client"))
    }
}

/// A client.
#[derive(Clone, Debug, PartialEq)]
pub struct OauthClient {
    /// `client_id`.
    pub id: String,
    /// Origin.
    pub kind: ClientKind,
    /// Name that it gives itself.
    pub name: String,
    /// Redirect URIs.
    pub redirect_uris: Vec<String>,
    /// It may be given refresh tokens without asking for `offline_access`.
    pub may_refresh: bool,
    /// SHA-256 of the secret of a confidential client.
    pub secret_digest: Option<[u8; 32]>,
    /// Time from which the metadata document is to be fetched again.
    pub fresh_until: Option<Instant>,
    /// First consent of a person.
    pub consented_at: Option<Instant>,
    /// Time of creation.
    pub created_at: Instant,
}

/// Returns a client.
pub async fn find(tx: &mut Tx, id: &str) -> Result<Option<OauthClient>> {
    sql("SELECT id, kind, name, redirect_uris, may_refresh, secret_digest, fresh_until, consented_at, created_at
         FROM oauth_clients WHERE id = $1")
    .bind(id)
    .fetch_optional(tx, client)
    .await
}

fn client(c: &mut Cells<'_>) -> Result<OauthClient> {
    Ok(OauthClient {
        id: c.take()?,
        kind: c.parse()?,
        name: c.take()?,
        redirect_uris: c.take_json()?,
        may_refresh: c.take()?,
        secret_digest: c.take::<Option<Vec<u8>>>()?.and_then(|d| d.try_into().ok()),
        fresh_until: c.take()?,
        consented_at: c.take()?,
        created_at: c.take()?,
    })
}

/// Inserts a client, or replaces what its document said before.
pub async fn save(tx: &mut Tx, client: &OauthClient) -> Result<()> {
    sql("INSERT INTO oauth_clients (id, kind, name, redirect_uris, may_refresh, secret_digest, fresh_until, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (id) DO UPDATE SET name = $3, redirect_uris = $4, may_refresh = $5, fresh_until = $7")
    .bind(&client.id)
    .bind(client.kind.as_str())
    .bind(&client.name)
    .bind(Json::encode(&client.redirect_uris)?)
    .bind(client.may_refresh)
    .bind(client.secret_digest.as_ref().map(<[u8; 32]>::as_slice))
    .bind(client.fresh_until)
    .bind(client.created_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Registers a client, and returns the one that registered identically before if there is one.
pub async fn register(tx: &mut Tx, client: &OauthClient, fingerprint: &[u8; 32]) -> Result<OauthClient> {
    sql(
        "INSERT INTO oauth_clients (id, kind, name, redirect_uris, may_refresh, fingerprint, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (fingerprint) DO NOTHING",
    )
    .bind(&client.id)
    .bind(client.kind.as_str())
    .bind(&client.name)
    .bind(Json::encode(&client.redirect_uris)?)
    .bind(client.may_refresh)
    .bind(fingerprint)
    .bind(client.created_at)
    .execute(tx)
    .await?;
    sql("SELECT id, kind, name, redirect_uris, may_refresh, secret_digest, fresh_until, consented_at, created_at
         FROM oauth_clients WHERE fingerprint = $1")
    .bind(fingerprint)
    .fetch_one(tx, self::client)
    .await
}

/// Counts the clients that registered themselves.
pub async fn count_registered(tx: &mut Tx) -> Result<u64> {
    sql("SELECT count(*) FROM oauth_clients WHERE kind = 'registered'")
        .fetch_one(tx, |c| c.take())
        .await
}

/// Returns the clients that the operator created, oldest first.
pub async fn list_created(tx: &mut Tx) -> Result<Vec<OauthClient>> {
    sql("SELECT id, kind, name, redirect_uris, may_refresh, secret_digest, fresh_until, consented_at, created_at
         FROM oauth_clients WHERE kind = 'created' ORDER BY created_at, id")
    .fetch_all(tx, client)
    .await
}

/// Deletes a client that the operator created, with its grants. Returns `false` if there is no such client.
pub async fn delete_created(tx: &mut Tx, id: &str) -> Result<bool> {
    sql("DELETE FROM oauth_grants WHERE client_id IN (SELECT id FROM oauth_clients WHERE id = $1 AND kind = 'created')")
        .bind(id)
        .execute(tx)
        .await?;
    let deleted = sql("DELETE FROM oauth_clients WHERE id = $1 AND kind = 'created'")
        .bind(id)
        .execute(tx)
        .await?;
    Ok(deleted > 0)
}

/// Records that a person consented.
pub async fn mark_consented(tx: &mut Tx, id: &str, now: Instant) -> Result<()> {
    sql("UPDATE oauth_clients SET consented_at = $2 WHERE id = $1 AND consented_at IS NULL")
        .bind(id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes clients that were created before `oldest` and never got a consent, except those built in or created by the operator.
pub async fn delete_unused(tx: &mut Tx, oldest: Instant) -> Result<u64> {
    sql("DELETE FROM oauth_clients WHERE consented_at IS NULL AND kind IN ('registered', 'document') AND created_at < $1")
        .bind(oldest)
        .execute(tx)
        .await
}

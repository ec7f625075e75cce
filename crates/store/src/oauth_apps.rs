//! OAuth 2.0 applications of this installation at providers. They belong to no project.

use std::collections::BTreeMap;

use searchwright_contract::{Instant, integrations::Provider};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use crate::{
    Cells, Result, Tx,
    seal::{Keyring, SealContext},
    sql,
};

/// An application without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OauthApp {
    /// The provider.
    pub provider: Provider,
    /// OAuth client id.
    pub client_id: String,
    /// URLs that differ from the provider's usual ones.
    pub settings: BTreeMap<String, String>,
}

fn seal_context(row: Uuid) -> SealContext<'static> {
    SealContext {
        table: "oauth_apps",
        column: "secret",
        row,
        project: Uuid::nil(),
    }
}

fn read_app(c: &mut Cells<'_>) -> Result<OauthApp> {
    Ok(OauthApp {
        provider: c.parse()?,
        client_id: c.take()?,
        settings: c.take_json()?,
    })
}

/// Creates the application at a provider, or replaces it.
pub async fn set(
    tx: &mut Tx,
    keyring: &Keyring,
    id: Uuid,
    app: &OauthApp,
    secret: &SecretString,
    now: Instant,
) -> Result<()> {
    let sealed = keyring.seal(seal_context(id), secret.expose_secret().as_bytes())?;
    let settings = serde_json::json!(app.settings);
    sql("INSERT INTO oauth_apps (provider, id, client_id, settings, secret, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (provider) DO UPDATE SET id = $2, client_id = $3, settings = $4, secret = $5, updated_at = $6")
    .bind(app.provider.as_str())
    .bind(id)
    .bind(&app.client_id)
    .bind(&settings)
    .bind(sealed)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the application at a provider.
pub async fn find(tx: &mut Tx, provider: Provider) -> Result<Option<OauthApp>> {
    sql("SELECT provider, client_id, settings FROM oauth_apps WHERE provider = $1")
        .bind(provider.as_str())
        .fetch_optional(tx, read_app)
        .await
}

/// Returns all applications.
pub async fn list(tx: &mut Tx) -> Result<Vec<OauthApp>> {
    sql("SELECT provider, client_id, settings FROM oauth_apps ORDER BY provider")
        .fetch_all(tx, read_app)
        .await
}

/// Returns the secret of the application at a provider.
pub async fn find_secret(tx: &mut Tx, keyring: &Keyring, provider: Provider) -> Result<Option<SecretString>> {
    let found: Option<(Uuid, Vec<u8>)> = sql("SELECT id, secret FROM oauth_apps WHERE provider = $1")
        .bind(provider.as_str())
        .fetch_optional(tx, |c| Ok((c.take()?, c.take()?)))
        .await?;
    found
        .map(|(id, sealed)| keyring.open_text(seal_context(id), &sealed))
        .transpose()
}

/// Deletes the application at a provider; `false` if there was none.
pub async fn remove(tx: &mut Tx, provider: Provider) -> Result<bool> {
    let gone = sql("DELETE FROM oauth_apps WHERE provider = $1")
        .bind(provider.as_str())
        .execute(tx)
        .await?;
    Ok(gone > 0)
}

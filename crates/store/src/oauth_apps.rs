//! Applications of this installation with providers that let people in on a page of their own (OAuth 2.0). They belong to no project.

use std::collections::BTreeMap;

use searchwright_contract::{Instant, integrations::Provider};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use crate::{
    Cells, Error, Json, Result, Tx,
    seal::{Keyring, Place},
    sql,
};

/// An application without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// The provider.
    pub provider: Provider,
    /// By which the provider knows it.
    pub client_id: String,
    /// Addresses that are not the provider's usual ones.
    pub settings: BTreeMap<String, String>,
}

fn place(row: Uuid) -> Place<'static> {
    Place {
        table: "oauth_apps",
        column: "secret",
        row,
        project: Uuid::nil(),
    }
}

fn app(c: &mut Cells<'_>) -> Result<App> {
    Ok(App {
        provider: c.parse()?,
        client_id: c.take()?,
        settings: {
            let Json(value) = c.take()?;
            serde_json::from_value(value).map_err(|e| Error::Defect(e.to_string()))?
        },
    })
}

/// Sets the application with a provider, over the one there was.
pub async fn set(
    tx: &mut Tx,
    keyring: &Keyring,
    id: Uuid,
    app: &App,
    secret: &SecretString,
    now: Instant,
) -> Result<()> {
    let sealed = keyring.seal(place(id), secret.expose_secret().as_bytes())?;
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

/// The application with a provider.
pub async fn get(tx: &mut Tx, provider: Provider) -> Result<Option<App>> {
    sql("SELECT provider, client_id, settings FROM oauth_apps WHERE provider = $1")
        .bind(provider.as_str())
        .fetch_optional(tx, app)
        .await
}

/// All applications.
pub async fn list(tx: &mut Tx) -> Result<Vec<App>> {
    sql("SELECT provider, client_id, settings FROM oauth_apps ORDER BY provider")
        .fetch_all(tx, app)
        .await
}

/// The secret of the application with a provider.
pub async fn secret(tx: &mut Tx, keyring: &Keyring, provider: Provider) -> Result<Option<SecretString>> {
    let found: Option<(Uuid, Vec<u8>)> = sql("SELECT id, secret FROM oauth_apps WHERE provider = $1")
        .bind(provider.as_str())
        .fetch_optional(tx, |c| Ok((c.take()?, c.take()?)))
        .await?;
    let open = |(id, sealed): (Uuid, Vec<u8>)| {
        let text = String::from_utf8(keyring.open(place(id), &sealed)?);
        Ok(SecretString::from(
            text.map_err(|_| Error::Seal("a sealed value is not text"))?,
        ))
    };
    found.map(open).transpose()
}

/// Forgets the application with a provider; `false` if there was none.
pub async fn remove(tx: &mut Tx, provider: Provider) -> Result<bool> {
    let gone = sql("DELETE FROM oauth_apps WHERE provider = $1")
        .bind(provider.as_str())
        .execute(tx)
        .await?;
    Ok(gone > 0)
}

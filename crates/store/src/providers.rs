//! Accounts at providers of language models and keyword data. Settings are plain, the secret is sealed.

use std::collections::BTreeMap;

use searchwright_contract::Instant;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use crate::{
    Cells, Result, Tx,
    access::ProjectScope,
    seal::{Keyring, SealContext},
    sql,
};

/// An account to be written.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// Identifier of the row, if there is none; the secret is bound to it.
    pub id: Uuid,
    /// Name of the provider.
    pub name: String,
    /// Settings, such as URL and model; nothing secret.
    pub settings: BTreeMap<String, String>,
    /// API key; the stored one stays if `None`.
    pub secret: Option<SecretString>,
}

/// An account without its secret.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Name of the provider.
    pub name: String,
    /// Settings, such as URL and model.
    pub settings: BTreeMap<String, String>,
    /// Whether a secret is stored.
    pub has_secret: bool,
    /// Time of creation.
    pub created_at: Instant,
    /// Time of the last change.
    pub updated_at: Instant,
}

/// An account with its secret.
#[derive(Clone, Debug)]
pub struct OpenedAccount {
    /// Settings, such as URL and model.
    pub settings: BTreeMap<String, String>,
    /// API key.
    pub secret: Option<SecretString>,
}

fn seal_context(scope: ProjectScope, row: Uuid) -> SealContext<'static> {
    SealContext {
        table: "providers",
        column: "secret",
        row,
        project: scope.project(),
    }
}

/// Creates the account of a provider, or replaces it.
pub async fn set(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    new: NewAccount,
    now: Instant,
) -> Result<Account> {
    let known: Option<Uuid> = sql("SELECT id FROM providers WHERE project_id = $1 AND name = $2")
        .bind(scope.project())
        .bind(&new.name)
        .fetch_optional(tx, |c| c.take())
        .await?;
    let id = known.unwrap_or(new.id);
    let sealed = new
        .secret
        .map(|secret| keyring.seal(seal_context(scope, id), secret.expose_secret().as_bytes()))
        .transpose()?;
    let values = serde_json::json!(new.settings);
    // The secret is bound to the id. If another process has inserted a row meanwhile, that row keeps its id,
    // no row is returned, and the caller gets an error.
    sql(
        "INSERT INTO providers (project_id, name, id, settings, secret, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $6)
         ON CONFLICT (project_id, name) DO UPDATE SET settings = excluded.settings,
            secret = coalesce(excluded.secret, providers.secret), updated_at = excluded.updated_at
         WHERE providers.id = excluded.id
         RETURNING name, settings, secret IS NOT NULL, created_at, updated_at",
    )
    .bind(scope.project())
    .bind(new.name)
    .bind(id)
    .bind(&values)
    .bind(sealed)
    .bind(now)
    .fetch_one(tx, read_account)
    .await
}

fn read_account(c: &mut Cells<'_>) -> Result<Account> {
    Ok(Account {
        name: c.take()?,
        settings: c.take_json()?,
        has_secret: c.take()?,
        created_at: c.take()?,
        updated_at: c.take()?,
    })
}

/// Returns all accounts of a project, by name.
pub async fn list(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<Account>> {
    sql(
        "SELECT name, settings, secret IS NOT NULL, created_at, updated_at FROM providers
         WHERE project_id = $1 ORDER BY name",
    )
    .bind(scope.project())
    .fetch_all(tx, read_account)
    .await
}

/// Returns an account with its secret, if it is set.
pub async fn open(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    name: &str,
) -> Result<Option<OpenedAccount>> {
    let found = sql("SELECT id, settings, secret FROM providers WHERE project_id = $1 AND name = $2")
        .bind(scope.project())
        .bind(name)
        .fetch_optional(tx, |c| {
            Ok((c.take::<Uuid>()?, c.take_json()?, c.take::<Option<Vec<u8>>>()?))
        })
        .await?;
    let Some((id, settings, sealed)) = found else {
        return Ok(None);
    };
    let open = |sealed: Vec<u8>| keyring.open_text(seal_context(scope, id), &sealed);
    let secret = sealed.map(open).transpose()?;
    Ok(Some(OpenedAccount { settings, secret }))
}

/// Deletes an account; `false` if there was none.
pub async fn remove(tx: &mut Tx, scope: ProjectScope, name: &str) -> Result<bool> {
    let gone = sql("DELETE FROM providers WHERE project_id = $1 AND name = $2")
        .bind(scope.project())
        .bind(name)
        .execute(tx)
        .await?;
    Ok(gone > 0)
}

//! Accounts with providers: language models and keyword data. Settings are plain, the secret is sealed.

use std::collections::BTreeMap;

use searchwright_contract::Instant;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use crate::{
    Cells, Error, Json, Result, Tx,
    access::ProjectScope,
    seal::{Keyring, Place},
    sql,
};

/// An account to be written.
#[derive(Clone, Debug)]
pub struct New {
    /// Identifier of the row, if there is none yet; the secret is bound to it.
    pub id: Uuid,
    /// The provider's word.
    pub name: String,
    /// Address, model and the like; nothing secret.
    pub settings: BTreeMap<String, String>,
    /// What the provider knows us by; the stored one stays if `None`.
    pub secret: Option<SecretString>,
}

/// An account without its secret.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// The provider's word.
    pub name: String,
    /// Address, model and the like.
    pub settings: BTreeMap<String, String>,
    /// Whether a secret is stored.
    pub has_secret: bool,
    /// When it was first set.
    pub created_at: Instant,
    /// When it was last set.
    pub updated_at: Instant,
}

/// An account, ready to be used.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Address, model and the like.
    pub settings: BTreeMap<String, String>,
    /// What the provider knows us by.
    pub secret: Option<SecretString>,
}

fn settings(c: &mut Cells<'_>) -> Result<BTreeMap<String, String>> {
    let Json(value) = c.take()?;
    serde_json::from_value(value).map_err(|e| Error::Column(0, e.to_string()))
}

fn place(scope: ProjectScope, row: Uuid) -> Place<'static> {
    Place {
        table: "providers",
        column: "secret",
        row,
        project: scope.project(),
    }
}

/// Writes an account, over the one of the same name.
pub async fn set(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    new: New,
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
        .map(|secret| keyring.seal(place(scope, id), secret.expose_secret().as_bytes()))
        .transpose()?;
    let values = serde_json::json!(new.settings);
    // The id decides under which name the secret opens: should another process have put a row there in
    // between, its id stays, the row is not found, and the caller hears of it.
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
    .fetch_one(tx, account)
    .await
}

fn account(c: &mut Cells<'_>) -> Result<Account> {
    Ok(Account {
        name: c.take()?,
        settings: settings(c)?,
        has_secret: c.take()?,
        created_at: c.take()?,
        updated_at: c.take()?,
    })
}

/// All accounts of a project, by name.
pub async fn list(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<Account>> {
    sql(
        "SELECT name, settings, secret IS NOT NULL, created_at, updated_at FROM providers
         WHERE project_id = $1 ORDER BY name",
    )
    .bind(scope.project())
    .fetch_all(tx, account)
    .await
}

/// One account with its secret, if it is set.
pub async fn open(tx: &mut Tx, scope: ProjectScope, keyring: &Keyring, name: &str) -> Result<Option<Opened>> {
    let found = sql("SELECT id, settings, secret FROM providers WHERE project_id = $1 AND name = $2")
        .bind(scope.project())
        .bind(name)
        .fetch_optional(tx, |c| {
            Ok((c.take::<Uuid>()?, settings(c)?, c.take::<Option<Vec<u8>>>()?))
        })
        .await?;
    let Some((id, settings, sealed)) = found else {
        return Ok(None);
    };
    let secret = match sealed {
        Some(sealed) => {
            let text = String::from_utf8(keyring.open(place(scope, id), &sealed)?)
                .map_err(|_| Error::Seal("a sealed value is not text"))?;
            Some(SecretString::from(text))
        }
        None => None,
    };
    Ok(Some(Opened { settings, secret }))
}

/// Forgets an account; `false` if there was none.
pub async fn remove(tx: &mut Tx, scope: ProjectScope, name: &str) -> Result<bool> {
    let gone = sql("DELETE FROM providers WHERE project_id = $1 AND name = $2")
        .bind(scope.project())
        .bind(name)
        .execute(tx)
        .await?;
    Ok(gone > 0)
}

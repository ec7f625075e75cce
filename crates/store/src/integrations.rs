//! Connections to places to publish. Settings are plain, the secrets are sealed as one text.
//!
//! A connection that was ended keeps its row, for what was published through it, and is none until it is made again.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    integrations::{IntegrationError, Provider, Readiness},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{
    Cells, Error, Json, Result, Tx,
    access::ProjectScope,
    seal::{Keyring, Place},
    sql,
};

/// A connection without its secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Identifier.
    pub id: Uuid,
    /// The provider.
    pub provider: Provider,
    /// `Ready` where nothing is known against it; what is missing still counts.
    pub status: Readiness,
    /// Address, account and the like.
    pub settings: BTreeMap<String, String>,
    /// Name of the account at the provider.
    pub account: Option<String>,
    /// What only one site has.
    pub site_key: String,
    /// The site at the provider.
    pub site_id: Option<String>,
    /// The collection at the provider.
    pub collection_id: Option<String>,
    /// From fields of a post to fields of the provider.
    pub field_map: BTreeMap<String, String>,
    /// What the mapping lacks.
    pub missing: Vec<String>,
    /// Why the last request failed.
    pub last_error: Option<IntegrationError>,
    /// When the provider was last asked.
    pub last_checked_at: Option<Instant>,
    /// When a post was last published there.
    pub last_publish_at: Option<Instant>,
    /// Counts changes.
    pub version: i64,
    /// When it was connected.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

/// A connection to be made.
#[derive(Clone, Debug)]
pub struct New {
    /// Identifier of the row, if there is none of this site yet; the secrets are bound to it.
    pub id: Uuid,
    /// The provider.
    pub provider: Provider,
    /// Address, account and the like.
    pub settings: BTreeMap<String, String>,
    /// The secrets as one text; `None` where there are none.
    pub secret: Option<SecretString>,
    /// Name of the account at the provider.
    pub account: Option<String>,
    /// What only one site has.
    pub site_key: String,
}

/// Where posts go, and into which fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// The site at the provider.
    pub site_id: Option<String>,
    /// The collection at the provider.
    pub collection_id: Option<String>,
    /// From fields of a post to fields of the provider.
    pub field_map: BTreeMap<String, String>,
    /// What it lacks.
    pub missing: Vec<String>,
}

/// What a mapping of nothing lacks.
const UNMAPPED: [&str; 2] = ["fieldMap.title", "fieldMap.content"];

macro_rules! columns {
    ($rest:literal) => {
        concat!(
            "SELECT id, provider, status, settings, account, site_key, site_id, collection_id, field_map, missing, last_error,
               last_checked_at, last_publish_at, version, created_at, updated_at FROM integrations WHERE project_id = $1 AND status <> 'not_connected' ",
            $rest
        )
    };
}

pub(crate) fn read<T: DeserializeOwned>(Json(value): Json) -> Result<T> {
    serde_json::from_value(value).map_err(|e| Error::Defect(e.to_string()))
}

pub(crate) fn json(value: &impl Serialize) -> Result<Json> {
    serde_json::to_value(value)
        .map(Json)
        .map_err(|e| Error::Defect(e.to_string()))
}

fn record(c: &mut Cells<'_>) -> Result<Record> {
    Ok(Record {
        id: c.take()?,
        provider: c.parse()?,
        status: c.parse()?,
        settings: read(c.take()?)?,
        account: c.take()?,
        site_key: c.take()?,
        site_id: c.take()?,
        collection_id: c.take()?,
        field_map: read(c.take()?)?,
        missing: read(c.take()?)?,
        last_error: c.take::<Option<Json>>()?.map(read).transpose()?,
        last_checked_at: c.take()?,
        last_publish_at: c.take()?,
        version: c.take()?,
        created_at: c.take()?,
        updated_at: c.take()?,
    })
}

fn place(scope: ProjectScope, row: Uuid) -> Place<'static> {
    Place {
        table: "integrations",
        column: "secret",
        row,
        project: scope.project(),
    }
}

/// All connections of a project.
pub async fn list(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<Record>> {
    sql(columns!("ORDER BY provider"))
        .bind(scope.project())
        .fetch_all(tx, record)
        .await
}

/// The connection to a provider.
pub async fn of(tx: &mut Tx, scope: ProjectScope, provider: Provider) -> Result<Option<Record>> {
    sql(columns!("AND provider = $2"))
        .bind(scope.project())
        .bind(provider.as_str())
        .fetch_optional(tx, record)
        .await
}

/// A connection by its id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<Option<Record>> {
    sql(columns!("AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_optional(tx, record)
        .await
}

/// Connects a provider, over the connection there was: with new secrets to the same site it stays the same connection with
/// its mapping; to a site that was connected before it is that connection again; else it is another.
pub async fn connect(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    new: New,
    now: Instant,
) -> Result<Uuid> {
    let known = of(tx, scope, new.provider).await?;
    if let Some(other) = known.as_ref().filter(|known| known.site_key != new.site_key) {
        remove(tx, scope, other.id, now).await?;
    }
    let same: Option<Uuid> =
        sql("SELECT id FROM integrations WHERE project_id = $1 AND provider = $2 AND site_key = $3")
            .bind(scope.project())
            .bind(new.provider.as_str())
            .bind(new.site_key.as_str())
            .fetch_optional(tx, |c| c.take())
            .await?;
    let id = same.unwrap_or(new.id);
    let seal = |secret: SecretString| keyring.seal(place(scope, id), secret.expose_secret().as_bytes());
    let sealed = new.secret.map(seal).transpose()?;
    if same.is_some() {
        sql("UPDATE integrations SET status = 'ready', settings = $3, secret = $4, account = $5, last_error = NULL, last_checked_at = $6,
               created_at = CASE WHEN status = 'not_connected' THEN $6 ELSE created_at END, version = version + 1, updated_at = $6
             WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(json(&new.settings)?)
        .bind(sealed)
        .bind(new.account)
        .bind(now)
        .execute(tx)
        .await?;
        return Ok(id);
    }
    sql("INSERT INTO integrations (project_id, id, provider, status, settings, secret, account, site_key, field_map, missing, last_checked_at,
           version, created_at, updated_at)
         VALUES ($1, $2, $3, 'ready', $4, $5, $6, $7, $8, $9, $10, 1, $10, $10)")
    .bind(scope.project())
    .bind(id)
    .bind(new.provider.as_str())
    .bind(json(&new.settings)?)
    .bind(sealed)
    .bind(new.account)
    .bind(new.site_key)
    .bind(json(&BTreeMap::<String, String>::new())?)
    .bind(json(&UNMAPPED)?)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(id)
}

/// The secrets of a connection.
pub async fn secret(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    id: Uuid,
) -> Result<Option<SecretString>> {
    let sealed: Option<Option<Vec<u8>>> =
        sql("SELECT secret FROM integrations WHERE project_id = $1 AND id = $2")
            .bind(scope.project())
            .bind(id)
            .fetch_optional(tx, |c| c.take())
            .await?;
    let open = |sealed: Vec<u8>| {
        let text = String::from_utf8(keyring.open(place(scope, id), &sealed)?);
        Ok(SecretString::from(
            text.map_err(|_| Error::Seal("a sealed value is not text"))?,
        ))
    };
    sealed.flatten().map(open).transpose()
}

/// Writes other secrets of a connection, such as a token that was renewed.
pub async fn renew(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    id: Uuid,
    secret: SecretString,
) -> Result<()> {
    let sealed = keyring.seal(place(scope, id), secret.expose_secret().as_bytes())?;
    sql(
        "UPDATE integrations SET secret = $3 WHERE project_id = $1 AND id = $2 AND status <> 'not_connected'",
    )
    .bind(scope.project())
    .bind(id)
    .bind(sealed)
    .execute(tx)
    .await?;
    Ok(())
}

/// Saves a mapping.
pub async fn map(tx: &mut Tx, scope: ProjectScope, id: Uuid, mapping: &Mapping, now: Instant) -> Result<()> {
    sql("UPDATE integrations SET site_id = $3, collection_id = $4, field_map = $5, missing = $6, version = version + 1, updated_at = $7,
           status = CASE WHEN status = 'error' THEN 'ready' ELSE status END, last_error = CASE WHEN status = 'error' THEN NULL ELSE last_error END
         WHERE project_id = $1 AND id = $2 AND status <> 'not_connected'")
    .bind(scope.project())
    .bind(id)
    .bind(mapping.site_id.as_deref())
    .bind(mapping.collection_id.as_deref())
    .bind(json(&mapping.field_map)?)
    .bind(json(&mapping.missing)?)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Notes what a request to the provider came to: `None` is well. Whether that is new.
pub async fn note(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
    trouble: Option<(Readiness, IntegrationError)>,
    now: Instant,
) -> Result<bool> {
    let (status, error) = trouble.map_or((Readiness::Ready, None), |(status, error)| (status, Some(error)));
    let changed = sql("UPDATE integrations SET version = version + 1, updated_at = $4 WHERE project_id = $1 AND id = $2 AND status NOT IN ('not_connected', $3)")
        .bind(scope.project())
        .bind(id)
        .bind(status.as_str())
        .bind(now)
        .execute(tx)
        .await?;
    sql("UPDATE integrations SET status = $3, last_error = $4, last_checked_at = $5 WHERE project_id = $1 AND id = $2 AND status <> 'not_connected'")
        .bind(scope.project())
        .bind(id)
        .bind(status.as_str())
        .bind(error.as_ref().map(json).transpose()?)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(changed > 0)
}

/// Notes that a mapping is no longer that of the provider's fields.
pub async fn miss(
    tx: &mut Tx,
    scope: ProjectScope,
    id: Uuid,
    missing: &[String],
    now: Instant,
) -> Result<()> {
    sql("UPDATE integrations SET missing = $3, version = version + 1, updated_at = $4 WHERE project_id = $1 AND id = $2 AND status <> 'not_connected'")
        .bind(scope.project())
        .bind(id)
        .bind(json(&missing)?)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Notes that a post was published there.
pub async fn published(tx: &mut Tx, scope: ProjectScope, id: Uuid, now: Instant) -> Result<()> {
    sql("UPDATE integrations SET last_publish_at = $3 WHERE project_id = $1 AND id = $2 AND status <> 'not_connected'")
        .bind(scope.project())
        .bind(id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Ends a connection: its secrets, settings and mapping are forgotten. Whether there was one.
pub async fn remove(tx: &mut Tx, scope: ProjectScope, id: Uuid, now: Instant) -> Result<bool> {
    let none = json(&BTreeMap::<String, String>::new())?;
    let gone = sql("UPDATE integrations SET status = 'not_connected', settings = $3, field_map = $3, missing = $4, secret = NULL, account = NULL,
           site_id = NULL, collection_id = NULL, last_error = NULL, version = version + 1, updated_at = $5
         WHERE project_id = $1 AND id = $2 AND status <> 'not_connected'")
    .bind(scope.project())
    .bind(id)
    .bind(none)
    .bind(json(&UNMAPPED)?)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(gone > 0)
}

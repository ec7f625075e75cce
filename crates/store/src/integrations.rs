//! Connections to publishing providers. Settings are plain, the secrets are sealed as one text.
//!
//! A removed connection keeps its row for the posts that were published through it. It is hidden until it is connected again.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    ids::ConnectionId,
    integrations::{IntegrationError, Provider, Readiness},
};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    Cells, Json, Result, Tx,
    access::ProjectScope,
    autopilot_runs, projects,
    seal::{Keyring, SealContext},
    sql,
};

/// A connection without its secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegrationRecord {
    /// Identifier.
    pub id: ConnectionId,
    /// The provider.
    pub provider: Provider,
    /// `Ready` unless the last request failed. A connection whose mapping is incomplete is `Ready` too.
    pub status: Readiness,
    /// Settings, such as URL and account.
    pub settings: BTreeMap<String, String>,
    /// Name of the account at the provider.
    pub account: Option<String>,
    /// Key that identifies the site.
    pub site_key: String,
    /// Id of the site at the provider.
    pub site_id: Option<String>,
    /// Id of the collection at the provider.
    pub collection_id: Option<String>,
    /// Fields of the provider by fields of a post.
    pub field_map: BTreeMap<String, String>,
    /// Required entries that the mapping lacks.
    pub missing: Vec<String>,
    /// Error of the last request.
    pub last_error: Option<IntegrationError>,
    /// Time of the last request.
    pub last_checked_at: Option<Instant>,
    /// Time of the last publication.
    pub last_publish_at: Option<Instant>,
    /// Number of changes.
    pub version: i64,
    /// Time of the connection.
    pub created_at: Instant,
    /// Time of the last change.
    pub updated_at: Instant,
}

/// A connection to be created.
#[derive(Clone, Debug)]
pub struct NewIntegration {
    /// Identifier of the row, if there is none for this site; the secrets are bound to it.
    pub id: ConnectionId,
    /// The provider.
    pub provider: Provider,
    /// Settings, such as URL and account.
    pub settings: BTreeMap<String, String>,
    /// Secrets as one text.
    pub secret: Option<SecretString>,
    /// Name of the account at the provider.
    pub account: Option<String>,
    /// Key that identifies the site.
    pub site_key: String,
}

/// Target of posts and of their fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMapping {
    /// Id of the site at the provider.
    pub site_id: Option<String>,
    /// Id of the collection at the provider.
    pub collection_id: Option<String>,
    /// Fields of the provider by fields of a post.
    pub field_map: BTreeMap<String, String>,
    /// Required entries that it lacks.
    pub missing: Vec<String>,
}

/// Entries that an empty mapping lacks.
const REQUIRED_FIELDS: [&str; 2] = ["fieldMap.title", "fieldMap.content"];

macro_rules! columns {
    ($rest:literal) => {
        concat!(
            "SELECT id, provider, status, settings, account, site_key, site_id, collection_id, field_map, missing, last_error,
               last_checked_at, last_publish_at, version, created_at, updated_at FROM integrations WHERE project_id = $1 AND status <> 'not_connected' ",
            $rest
        )
    };
}

fn read_record(c: &mut Cells<'_>) -> Result<IntegrationRecord> {
    Ok(IntegrationRecord {
        id: c.take()?,
        provider: c.parse()?,
        status: c.parse()?,
        settings: c.take_json()?,
        account: c.take()?,
        site_key: c.take()?,
        site_id: c.take()?,
        collection_id: c.take()?,
        field_map: c.take_json()?,
        missing: c.take_json()?,
        last_error: c.take_json_optional()?,
        last_checked_at: c.take()?,
        last_publish_at: c.take()?,
        version: c.take()?,
        created_at: c.take()?,
        updated_at: c.take()?,
    })
}

fn seal_context(scope: ProjectScope, id: ConnectionId) -> SealContext<'static> {
    SealContext {
        table: "integrations",
        column: "secret",
        row: id.uuid(),
        project: scope.project(),
    }
}

/// Returns all connections of a project.
pub async fn list(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<IntegrationRecord>> {
    sql(columns!("ORDER BY provider"))
        .bind(scope.project())
        .fetch_all(tx, read_record)
        .await
}

/// Returns the connection to a provider.
pub async fn find_by_provider(
    tx: &mut Tx,
    scope: ProjectScope,
    provider: Provider,
) -> Result<Option<IntegrationRecord>> {
    sql(columns!("AND provider = $2"))
        .bind(scope.project())
        .bind(provider.as_str())
        .fetch_optional(tx, read_record)
        .await
}

/// Returns a connection by its id.
pub async fn find(tx: &mut Tx, scope: ProjectScope, id: ConnectionId) -> Result<Option<IntegrationRecord>> {
    sql(columns!("AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_optional(tx, read_record)
        .await
}

/// Connects a provider, and returns the id of the connection. A connection to a site that is or was connected is the same
/// connection with new secrets; a current one keeps its mapping. A connection to another site replaces the current one.
pub async fn connect(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    new: NewIntegration,
    now: Instant,
) -> Result<ConnectionId> {
    autopilot_runs::look_again(tx, scope).await?;
    let current = find_by_provider(tx, scope, new.provider).await?;
    // One connection per provider: one to another site is removed.
    if let Some(other) = current
        .as_ref()
        .filter(|current| current.site_key != new.site_key)
    {
        remove(tx, scope, other.id, now).await?;
    }
    // The row of an earlier connection to this site, removed or not.
    let same: Option<ConnectionId> =
        sql("SELECT id FROM integrations WHERE project_id = $1 AND provider = $2 AND site_key = $3")
            .bind(scope.project())
            .bind(new.provider.as_str())
            .bind(new.site_key.as_str())
            .fetch_optional(tx, |c| c.take())
            .await?;
    let id = same.unwrap_or(new.id);
    let seal =
        |secret: SecretString| keyring.seal(seal_context(scope, id), secret.expose_secret().as_bytes());
    let sealed = new.secret.map(seal).transpose()?;
    if same.is_some() {
        sql("UPDATE integrations SET status = 'ready', settings = $3, secret = $4, account = $5, last_error = NULL, last_checked_at = $6,
               created_at = CASE WHEN status = 'not_connected' THEN $6 ELSE created_at END, version = version + 1, updated_at = $6
             WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(Json::encode(&new.settings)?)
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
    .bind(Json::encode(&new.settings)?)
    .bind(sealed)
    .bind(new.account)
    .bind(new.site_key)
    .bind(Json::encode(&BTreeMap::<String, String>::new())?)
    .bind(Json::encode(&REQUIRED_FIELDS)?)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(id)
}

/// Returns the secrets of a connection.
pub async fn find_secret(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    id: ConnectionId,
) -> Result<Option<SecretString>> {
    let sealed: Option<Option<Vec<u8>>> =
        sql("SELECT secret FROM integrations WHERE project_id = $1 AND id = $2")
            .bind(scope.project())
            .bind(id)
            .fetch_optional(tx, |c| c.take())
            .await?;
    let open = |sealed: Vec<u8>| keyring.open_text(seal_context(scope, id), &sealed);
    sealed.flatten().map(open).transpose()
}

/// Replaces the mapping of a connection, and clears an error of its status.
pub async fn update_mapping(
    tx: &mut Tx,
    scope: ProjectScope,
    id: ConnectionId,
    mapping: &FieldMapping,
    now: Instant,
) -> Result<()> {
    autopilot_runs::look_again(tx, scope).await?;
    sql("UPDATE integrations SET site_id = $3, collection_id = $4, field_map = $5, missing = $6, version = version + 1, updated_at = $7,
           status = CASE WHEN status = 'error' THEN 'ready' ELSE status END, last_error = CASE WHEN status = 'error' THEN NULL ELSE last_error END
         WHERE project_id = $1 AND id = $2 AND status <> 'not_connected'")
    .bind(scope.project())
    .bind(id)
    .bind(mapping.site_id.as_deref())
    .bind(mapping.collection_id.as_deref())
    .bind(Json::encode(&mapping.field_map)?)
    .bind(Json::encode(&mapping.missing)?)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Records the outcome of a request to the provider; `None` is success. Returns whether the status changed.
pub async fn record_outcome(
    tx: &mut Tx,
    scope: ProjectScope,
    id: ConnectionId,
    failure: Option<(Readiness, IntegrationError)>,
    now: Instant,
) -> Result<bool> {
    autopilot_runs::look_again(tx, scope).await?;
    let (status, error) = failure.map_or((Readiness::Ready, None), |(status, error)| (status, Some(error)));
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
        .bind(error.as_ref().map(Json::encode).transpose()?)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(changed > 0)
}

/// Records entries that the mapping lacks since the fields of the provider changed, unless the mapping is another one than was `seen`.
pub async fn update_missing(
    tx: &mut Tx,
    scope: ProjectScope,
    seen: &IntegrationRecord,
    missing: &[String],
    now: Instant,
) -> Result<()> {
    projects::lock(tx, scope).await?;
    let id = seen.id;
    let mapping = |record: &IntegrationRecord| {
        let IntegrationRecord {
            site_id,
            collection_id,
            field_map,
            ..
        } = record;
        (site_id.clone(), collection_id.clone(), field_map.clone())
    };
    let current = find(tx, scope, id).await?;
    if current.is_none_or(|current| mapping(&current) != mapping(seen)) {
        return Ok(());
    }
    autopilot_runs::look_again(tx, scope).await?;
    sql("UPDATE integrations SET missing = $3, version = version + 1, updated_at = $4 WHERE project_id = $1 AND id = $2 AND status <> 'not_connected'")
        .bind(scope.project())
        .bind(id)
        .bind(Json::encode(&missing)?)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Records the time of a publication.
pub async fn record_publication(
    tx: &mut Tx,
    scope: ProjectScope,
    id: ConnectionId,
    now: Instant,
) -> Result<()> {
    sql("UPDATE integrations SET last_publish_at = $3 WHERE project_id = $1 AND id = $2 AND status <> 'not_connected'")
        .bind(scope.project())
        .bind(id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Removes a connection: deletes its secrets, settings and mapping. Returns whether there was one.
pub async fn remove(tx: &mut Tx, scope: ProjectScope, id: ConnectionId, now: Instant) -> Result<bool> {
    autopilot_runs::look_again(tx, scope).await?;
    let none = Json::encode(&BTreeMap::<String, String>::new())?;
    let gone = sql("UPDATE integrations SET status = 'not_connected', settings = $3, field_map = $3, missing = $4, secret = NULL, account = NULL,
           site_id = NULL, collection_id = NULL, last_error = NULL, version = version + 1, updated_at = $5
         WHERE project_id = $1 AND id = $2 AND status <> 'not_connected'")
    .bind(scope.project())
    .bind(id)
    .bind(none)
    .bind(Json::encode(&REQUIRED_FIELDS)?)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(gone > 0)
}

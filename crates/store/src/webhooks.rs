//! Webhooks and their sealed signing secrets.

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    ids::WebhookId,
    webhooks::{Subscription, Webhook},
};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use crate::{
    Cells, Error, Result, Tx,
    access::ProjectScope,
    seal::{Keyring, SealContext},
    sql,
};

/// Hours for which a rotated secret signs beside its successor.
const OVERLAP_HOURS: i64 = 24;
/// Number of secrets that stay when another is added.
const MAX_OLD_SECRETS: i64 = 2;

/// A webhook to be created.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    /// Identifier.
    pub id: WebhookId,
    /// URL that events are POSTed to.
    pub target_url: String,
    /// Events that it receives.
    pub event: Subscription,
}

/// A secret to be added.
#[derive(Clone, Debug)]
pub struct NewSecret {
    /// Identifier of its row.
    pub id: Uuid,
    /// Secret, `whsec_` and base64.
    pub secret: SecretString,
}

macro_rules! columns {
    ($where:literal) => {
        concat!(
            "SELECT id, target_url, event, status, disabled_reason, disabled_at, failing_since, last_attempt_at, last_success_at, created_at, version
             FROM webhooks WHERE project_id = $1 ",
            $where
        )
    };
}

fn read_webhook(c: &mut Cells<'_>) -> Result<Webhook> {
    Ok(Webhook {
        id: c.take()?,
        target_url: c.take()?,
        event: c.parse()?,
        status: c.parse()?,
        disabled_reason: c.parse_optional()?,
        disabled_at: c.take()?,
        failing_since: c.take()?,
        last_attempt_at: c.take()?,
        last_success_at: c.take()?,
        secret: None,
        created_at: c.take()?,
        version: c.take()?,
        allowed_actions: AllowedActions::default(),
    })
}

fn seal_context(scope: ProjectScope, row: Uuid) -> SealContext<'static> {
    SealContext {
        table: "webhook_secrets",
        column: "secret",
        row,
        project: scope.project(),
    }
}

/// Creates a webhook.
pub async fn create(tx: &mut Tx, scope: ProjectScope, new: NewWebhook, now: Instant) -> Result<()> {
    sql("INSERT INTO webhooks (project_id, id, target_url, event, status, created_at, version) VALUES ($1, $2, $3, $4, 'active', $5, 1)")
        .bind(scope.project())
        .bind(new.id)
        .bind(new.target_url)
        .bind(new.event.as_str())
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Adds a secret to a webhook. The current one signs for another day, and of older ones at most one.
pub async fn add_secret(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    webhook: WebhookId,
    new: NewSecret,
    now: Instant,
) -> Result<()> {
    sql("UPDATE webhook_secrets SET retires_at = $3 WHERE project_id = $1 AND webhook_id = $2 AND retires_at IS NULL")
        .bind(scope.project())
        .bind(webhook)
        .bind(now.plus_millis(OVERLAP_HOURS * 3_600_000))
        .execute(tx)
        .await?;
    // Expired secrets, and those beyond the newest, go.
    sql("DELETE FROM webhook_secrets WHERE project_id = $1 AND webhook_id = $2 AND (retires_at <= $3 OR id NOT IN
           (SELECT id FROM webhook_secrets WHERE project_id = $1 AND webhook_id = $2 ORDER BY id DESC LIMIT $4))")
    .bind(scope.project())
    .bind(webhook)
    .bind(now)
    .bind(MAX_OLD_SECRETS)
    .execute(tx)
    .await?;
    let sealed = keyring.seal(seal_context(scope, new.id), new.secret.expose_secret().as_bytes())?;
    sql("INSERT INTO webhook_secrets (project_id, webhook_id, id, secret) VALUES ($1, $2, $3, $4)")
        .bind(scope.project())
        .bind(webhook)
        .bind(new.id)
        .bind(sealed)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns the secrets that sign now, newest first.
pub async fn list_secrets(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    webhook: WebhookId,
    now: Instant,
) -> Result<Vec<SecretString>> {
    let sealed: Vec<(Uuid, Vec<u8>)> = sql("SELECT id, secret FROM webhook_secrets
         WHERE project_id = $1 AND webhook_id = $2 AND (retires_at IS NULL OR retires_at > $3) ORDER BY id DESC")
    .bind(scope.project())
    .bind(webhook)
    .bind(now)
    .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
    .await?;
    sealed
        .into_iter()
        .map(|(id, sealed)| keyring.open_text(seal_context(scope, id), &sealed))
        .collect()
}

/// Returns at most `limit` webhooks older than `before`, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    before: Option<WebhookId>,
    limit: u32,
) -> Result<Vec<Webhook>> {
    sql(columns!("AND id < $2 ORDER BY id DESC LIMIT $3"))
        .bind(scope.project())
        .bind(before.unwrap_or(WebhookId::MAX))
        .bind(limit)
        .fetch_all(tx, read_webhook)
        .await
}

/// Returns a webhook; [`Error::Missing`] if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: WebhookId) -> Result<Webhook> {
    sql(columns!("AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, read_webhook)
        .await
}

/// Increments the version of a webhook; [`Error::Missing`] if the project has none of this id and version.
pub async fn increment_version(tx: &mut Tx, scope: ProjectScope, id: WebhookId, version: i64) -> Result<()> {
    let changed =
        sql("UPDATE webhooks SET version = version + 1 WHERE project_id = $1 AND id = $2 AND version = $3")
            .bind(scope.project())
            .bind(id)
            .bind(version)
            .execute(tx)
            .await?;
    if changed == 0 { Err(Error::Missing) } else { Ok(()) }
}

/// Deletes a webhook with its secrets. Its deliveries are deleted when they expire: there may be many, and deleting them here
/// would make other writers wait. [`Error::Missing`] if the project has none of this id and version.
pub async fn delete(tx: &mut Tx, scope: ProjectScope, id: WebhookId, version: i64) -> Result<()> {
    // first, because two changes of one webhook have to wait for each other at the same row
    increment_version(tx, scope, id, version).await?;
    for text in [
        "DELETE FROM webhook_secrets WHERE project_id = $1 AND webhook_id = $2",
        "DELETE FROM webhooks WHERE project_id = $1 AND id = $2",
    ] {
        sql(text).bind(scope.project()).bind(id).execute(tx).await?;
    }
    Ok(())
}

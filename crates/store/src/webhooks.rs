//! Webhooks and their secrets, sealed.

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    webhooks::{Subscription, Webhook},
};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use crate::{
    Cells, Error, Result, Tx,
    access::ProjectScope,
    seal::{Keyring, Place},
    sql,
};

/// Hours that an old secret signs beside its successor.
const OVERLAP_HOURS: i64 = 24;
/// Old secrets that sign, at most.
const MOST_OLD: i64 = 2;

/// A webhook to be made.
#[derive(Clone, Debug)]
pub struct New {
    /// Identifier.
    pub id: Uuid,
    /// Where events are POSTed to.
    pub target_url: String,
    /// What it is told of.
    pub event: Subscription,
}

/// A secret to be kept.
#[derive(Clone, Debug)]
pub struct NewSecret {
    /// Identifier of its row.
    pub id: Uuid,
    /// `whsec_` and base64.
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

fn webhook(c: &mut Cells<'_>) -> Result<Webhook> {
    Ok(Webhook {
        id: c.take::<Uuid>()?.to_string(),
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

fn place(scope: ProjectScope, row: Uuid) -> Place<'static> {
    Place {
        table: "webhook_secrets",
        column: "secret",
        row,
        project: scope.project(),
    }
}

/// Makes a webhook.
pub async fn create(tx: &mut Tx, scope: ProjectScope, new: New, now: Instant) -> Result<()> {
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

/// Gives a webhook a secret; the one before signs for another day, and of older ones no more than one.
pub async fn add_secret(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    webhook: Uuid,
    new: NewSecret,
    now: Instant,
) -> Result<()> {
    sql("UPDATE webhook_secrets SET retires_at = $3 WHERE project_id = $1 AND webhook_id = $2 AND retires_at IS NULL")
        .bind(scope.project())
        .bind(webhook)
        .bind(now.plus_millis(OVERLAP_HOURS * 3_600_000))
        .execute(tx)
        .await?;
    sql("DELETE FROM webhook_secrets WHERE project_id = $1 AND webhook_id = $2 AND (retires_at <= $3 OR id NOT IN
           (SELECT id FROM webhook_secrets WHERE project_id = $1 AND webhook_id = $2 ORDER BY id DESC LIMIT $4))")
    .bind(scope.project())
    .bind(webhook)
    .bind(now)
    .bind(MOST_OLD)
    .execute(tx)
    .await?;
    let sealed = keyring.seal(place(scope, new.id), new.secret.expose_secret().as_bytes())?;
    sql("INSERT INTO webhook_secrets (project_id, webhook_id, id, secret) VALUES ($1, $2, $3, $4)")
        .bind(scope.project())
        .bind(webhook)
        .bind(new.id)
        .bind(sealed)
        .execute(tx)
        .await?;
    Ok(())
}

/// What signs now, the newest first.
pub async fn secrets(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    webhook: Uuid,
    now: Instant,
) -> Result<Vec<SecretString>> {
    let sealed: Vec<(Uuid, Vec<u8>)> = sql("SELECT id, secret FROM webhook_secrets
         WHERE project_id = $1 AND webhook_id = $2 AND (retires_at IS NULL OR retires_at > $3) ORDER BY id DESC")
    .bind(scope.project())
    .bind(webhook)
    .bind(now)
    .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
    .await?;
    let open = |(id, sealed): (Uuid, Vec<u8>)| {
        let text = String::from_utf8(keyring.open(place(scope, id), &sealed)?);
        Ok(SecretString::from(
            text.map_err(|_| Error::Seal("a sealed value is not text"))?,
        ))
    };
    sealed.into_iter().map(open).collect()
}

/// One page, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Webhook>> {
    sql(columns!("AND id < $2 ORDER BY id DESC LIMIT $3"))
        .bind(scope.project())
        .bind(before.unwrap_or(Uuid::max()))
        .bind(limit)
        .fetch_all(tx, webhook)
        .await
}

/// One webhook.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<Webhook> {
    sql(columns!("AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, webhook)
        .await
}

/// Notes that it changed.
pub async fn touch(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<()> {
    sql("UPDATE webhooks SET version = version + 1 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes a webhook with its secrets. What was to be sent to it has nowhere to go and is forgotten with other deliveries of
/// its age: there may be many, and others would wait.
pub async fn delete(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<()> {
    for text in [
        "DELETE FROM webhook_secrets WHERE project_id = $1 AND webhook_id = $2",
        "DELETE FROM webhooks WHERE project_id = $1 AND id = $2",
    ] {
        sql(text).bind(scope.project()).bind(id).execute(tx).await?;
    }
    Ok(())
}

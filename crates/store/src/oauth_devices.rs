//! Devices without a browser that wait for a person to enter their code (RFC 8628).

use searchwright_contract::{Instant, ids::CredentialId};

use crate::{Cells, Result, Tx, sql};

/// A device that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Code that the person enters, eight letters without a hyphen.
    pub user_code: String,
    /// The client.
    pub client: String,
    /// Audience of the tokens.
    pub resource: String,
    /// Scopes, separated by spaces.
    pub scopes: String,
    /// Network address of the device.
    pub address: String,
    /// Seconds that it has to wait between two polls.
    pub interval_seconds: u32,
    /// Time of the last poll.
    pub polled_at: Option<Instant>,
    /// Grant, once a person has agreed.
    pub grant: Option<CredentialId>,
    /// Time at which a person declined.
    pub denied_at: Option<Instant>,
    /// Time of the request.
    pub created_at: Instant,
    /// Time of expiry.
    pub expires_at: Instant,
}

/// Stores a device; [`Error::Duplicate`](crate::Error::Duplicate) if its user code is taken.
pub async fn create(tx: &mut Tx, digest: &[u8; 32], device: &Device) -> Result<()> {
    sql("INSERT INTO oauth_devices (digest, user_code, client_id, resource, scopes, address, interval_seconds, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)")
    .bind(digest)
    .bind(&device.user_code)
    .bind(&device.client)
    .bind(&device.resource)
    .bind(&device.scopes)
    .bind(&device.address)
    .bind(device.interval_seconds)
    .bind(device.created_at)
    .bind(device.expires_at)
    .execute(tx)
    .await?;
    Ok(())
}

const SELECT_BY_DIGEST: &str = "SELECT user_code, client_id, resource, scopes, address, interval_seconds, polled_at, grant_id, denied_at, created_at, expires_at
     FROM oauth_devices WHERE digest = $1";
const SELECT_BY_USER_CODE: &str = "SELECT user_code, client_id, resource, scopes, address, interval_seconds, polled_at, grant_id, denied_at, created_at, expires_at
     FROM oauth_devices WHERE user_code = $1";

fn device(c: &mut Cells<'_>) -> Result<Device> {
    Ok(Device {
        user_code: c.take()?,
        client: c.take()?,
        resource: c.take()?,
        scopes: c.take()?,
        address: c.take()?,
        interval_seconds: c.take::<i64>()?.try_into().unwrap_or(u32::MAX),
        polled_at: c.take()?,
        grant: c.take()?,
        denied_at: c.take()?,
        created_at: c.take()?,
        expires_at: c.take()?,
    })
}

/// Returns a device by the digest of its device code.
pub async fn find(tx: &mut Tx, digest: &[u8; 32]) -> Result<Option<Device>> {
    sql(SELECT_BY_DIGEST)
        .bind(digest)
        .fetch_optional(tx, device)
        .await
}

/// Returns a device by its user code.
pub async fn find_by_user_code(tx: &mut Tx, user_code: &str) -> Result<Option<Device>> {
    sql(SELECT_BY_USER_CODE)
        .bind(user_code)
        .fetch_optional(tx, device)
        .await
}

/// Records a poll and the interval for the next one.
pub async fn record_poll(tx: &mut Tx, digest: &[u8; 32], interval_seconds: u32, now: Instant) -> Result<()> {
    sql("UPDATE oauth_devices SET polled_at = $2, interval_seconds = $3 WHERE digest = $1")
        .bind(digest)
        .bind(now)
        .bind(interval_seconds)
        .execute(tx)
        .await?;
    Ok(())
}

/// Records the consent of a person, who granted `grant`. Returns `false` if it was decided before.
pub async fn approve(tx: &mut Tx, user_code: &str, grant: CredentialId) -> Result<bool> {
    let changed = sql("UPDATE oauth_devices SET grant_id = $2 WHERE user_code = $1 AND grant_id IS NULL AND denied_at IS NULL")
        .bind(user_code)
        .bind(grant)
        .execute(tx)
        .await?;
    Ok(changed > 0)
}

/// Records that a person declined. Returns `false` if it was decided before.
pub async fn deny(tx: &mut Tx, user_code: &str, now: Instant) -> Result<bool> {
    let changed = sql("UPDATE oauth_devices SET denied_at = $2 WHERE user_code = $1 AND grant_id IS NULL AND denied_at IS NULL")
        .bind(user_code)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(changed > 0)
}

/// Deletes a device, whose tokens have been handed out. Returns `false` if they were before.
pub async fn delete(tx: &mut Tx, digest: &[u8; 32]) -> Result<bool> {
    let deleted = sql("DELETE FROM oauth_devices WHERE digest = $1")
        .bind(digest)
        .execute(tx)
        .await?;
    Ok(deleted > 0)
}

/// Deletes expired devices.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<u64> {
    sql("DELETE FROM oauth_devices WHERE expires_at <= $1")
        .bind(now)
        .execute(tx)
        .await
}

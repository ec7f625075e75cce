//! Links to pages on which a person connects a publishing provider, by the digest of the token in the URL. A link
//! works once.

use std::collections::BTreeMap;

use searchwright_contract::{Instant, integrations::Provider};

use crate::{Json, Result, Tx, access::ProjectScope, sql};

/// A link for one provider.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectLink {
    /// Scope of its project.
    pub scope: ProjectScope,
    /// The provider.
    pub provider: Provider,
    /// Settings that are known already, such as the URL of the site.
    pub settings: BTreeMap<String, String>,
}

/// Creates a link by the digest of its token, and deletes earlier ones of the provider.
pub async fn create(
    tx: &mut Tx,
    digest: &[u8; 32],
    link: &ConnectLink,
    now: Instant,
    expires_at: Instant,
) -> Result<()> {
    sql("DELETE FROM connect_links WHERE project_id = $1 AND provider = $2")
        .bind(link.scope.project())
        .bind(link.provider.as_str())
        .execute(tx)
        .await?;
    sql("INSERT INTO connect_links (digest, project_id, provider, settings, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(digest)
        .bind(link.scope.project())
        .bind(link.provider.as_str())
        .bind(Json::encode(&link.settings)?)
        .bind(now)
        .bind(expires_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns the link of a token, unless it is used or expired.
pub async fn find(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<Option<ConnectLink>> {
    sql("SELECT project_id, provider, settings FROM connect_links WHERE digest = $1 AND used_at IS NULL AND expires_at > $2")
        .bind(digest)
        .bind(now)
        .fetch_optional(tx, |c| {
            Ok(ConnectLink {
                scope: ProjectScope::from_row(c.take()?),
                provider: c.parse()?,
                settings: c.take_json()?,
            })
        })
        .await
}

/// Marks a link as used. Returns `false` if it was used before, or is expired.
pub async fn mark_used(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<bool> {
    let used = sql(
        "UPDATE connect_links SET used_at = $2 WHERE digest = $1 AND used_at IS NULL AND expires_at > $2",
    )
    .bind(digest)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(used > 0)
}

/// Returns the providers of a project for which a link is open.
pub async fn list_open_providers(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Vec<Provider>> {
    sql("SELECT provider FROM connect_links WHERE project_id = $1 AND used_at IS NULL AND expires_at > $2")
        .bind(scope.project())
        .bind(now)
        .fetch_all(tx, |c| c.parse())
        .await
}

/// Deletes expired links and returns their number.
pub async fn delete_expired(tx: &mut Tx, now: Instant) -> Result<u64> {
    sql("DELETE FROM connect_links WHERE expires_at < $1")
        .bind(now)
        .execute(tx)
        .await
}

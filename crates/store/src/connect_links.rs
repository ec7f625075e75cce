//! Pages on which a person connects a provider, by the digest of the token in their address. They work once.

use std::collections::BTreeMap;

use searchwright_contract::{Instant, integrations::Provider};

use crate::{
    Result, Tx,
    access::ProjectScope,
    integrations::{json, read},
    sql,
};

/// A page on which a person connects a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Proof for its project.
    pub scope: ProjectScope,
    /// The provider.
    pub provider: Provider,
    /// What is known already, such as the address of the site.
    pub settings: BTreeMap<String, String>,
}

/// Makes a page by the digest of its token; earlier ones of the provider stop working.
pub async fn invite(
    tx: &mut Tx,
    digest: &[u8; 32],
    link: &Link,
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
        .bind(json(&link.settings)?)
        .bind(now)
        .bind(expires_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// The page of a token, while it works.
pub async fn find(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<Option<Link>> {
    sql("SELECT project_id, provider, settings FROM connect_links WHERE digest = $1 AND used_at IS NULL AND expires_at > $2")
        .bind(digest)
        .bind(now)
        .fetch_optional(tx, |c| {
            Ok(Link {
                scope: ProjectScope::proven(c.take()?),
                provider: c.parse()?,
                settings: read(c.take()?)?,
            })
        })
        .await
}

/// Notes that a page was used; `false` if it was already.
pub async fn spend(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<bool> {
    let used = sql(
        "UPDATE connect_links SET used_at = $2 WHERE digest = $1 AND used_at IS NULL AND expires_at > $2",
    )
    .bind(digest)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(used > 0)
}

/// The providers of a project that wait for a person.
pub async fn invited(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Vec<Provider>> {
    sql("SELECT provider FROM connect_links WHERE project_id = $1 AND used_at IS NULL AND expires_at > $2")
        .bind(scope.project())
        .bind(now)
        .fetch_all(tx, |c| c.parse())
        .await
}

/// Forgets pages that no longer work.
pub async fn forget(tx: &mut Tx, now: Instant) -> Result<u64> {
    sql("DELETE FROM connect_links WHERE expires_at < $1")
        .bind(now)
        .execute(tx)
        .await
}

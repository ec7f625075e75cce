//! Connections of a project to places to publish, as far as posts need them.

use searchwright_contract::{integrations::Readiness, posts::PostSummary};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    integrations::{self, IntegrationRecord},
    publications,
};

use crate::failure::Result;

/// Lists the connections through which posts can be published now.
pub(crate) async fn list_ready(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<IntegrationRecord>> {
    let mut all = integrations::list(tx, scope).await?;
    all.retain(is_ready);
    Ok(all)
}

/// Returns whether posts can be published through a connection. One whose last request failed is tried all the same.
pub(crate) fn is_ready(record: &IntegrationRecord) -> bool {
    matches!(record.status, Readiness::Ready | Readiness::Error) && record.missing.is_empty()
}

/// Returns the connection of a scheduled post: where it, or the post that it replaces, was published before, else the only one that is ready.
pub(crate) async fn connection_for_schedule(
    tx: &mut Tx,
    scope: ProjectScope,
    post: &PostSummary,
) -> Result<std::result::Result<IntegrationRecord, &'static str>> {
    let mut ready = list_ready(tx, scope).await?;
    let published = post.replaces_post_id.unwrap_or(post.id);
    for before in publications::list_of_post(tx, scope, published).await? {
        if let Some(at) = ready.iter().position(|c| c.id == before.connection_id) {
            return Ok(Ok(ready.swap_remove(at)));
        }
    }
    connection_for_new_post(tx, scope).await
}

/// Returns the connection of a post that was never published: the only one that is ready.
pub(crate) async fn connection_for_new_post(
    tx: &mut Tx,
    scope: ProjectScope,
) -> Result<std::result::Result<IntegrationRecord, &'static str>> {
    let mut ready = list_ready(tx, scope).await?;
    Ok(match ready.len() {
        1 => Ok(ready.remove(0)),
        0 => Err("no integration is ready to publish with; connect and map one"),
        _ => Err(SEVERAL_READY),
    })
}

/// Reason for which a post that was not published yet cannot be scheduled.
const SEVERAL_READY: &str = "several integrations are ready, and the schedule does not name one; publish the post once through one of them, or disconnect the others";

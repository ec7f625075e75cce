//! Connections of a project to places to publish, as far as posts need them.

use searchwright_contract::integrations::Readiness;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    integrations::{self, IntegrationRecord},
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

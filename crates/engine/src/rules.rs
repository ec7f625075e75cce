//! The catalogue of checks as a project wants it. An audit keeps what it was made with, and everything that is said of its
//! findings goes by that: what is set meanwhile counts from the next audit on.

use searchwright_site::checks::{Rules, Settings};
use searchwright_store::{Tx, access::ProjectScope, audit_settings};
use serde_json::Value;
use uuid::Uuid;

use crate::failure::{Result, defect};

/// Settings as they are kept.
pub(crate) fn settings(kept: Option<Value>) -> Result<Settings> {
    kept.map_or_else(
        || Ok(Settings::default()),
        |kept| serde_json::from_value(kept).map_err(|e| defect("audit settings", e)),
    )
}

/// What an audit was made with.
pub(crate) async fn of(tx: &mut Tx, scope: ProjectScope, audit: Uuid) -> Result<Rules> {
    let (kept, version) = audit_settings::find_for_audit(tx, scope, audit)
        .await?
        .unwrap_or_default();
    Ok(settings(kept)?.rules().of_version(&version))
}

/// What the newest audit with results was made with.
pub(crate) async fn of_newest(tx: &mut Tx, scope: ProjectScope) -> Result<Rules> {
    Ok(settings(audit_settings::find_for_newest_audit(tx, scope).await?)?.rules())
}

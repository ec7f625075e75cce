//! Check rules of a project. An audit stores the rules that it was made with, and everything about its findings follows them:
//! settings that change meanwhile apply from the next audit on.

use searchwright_contract::ids::AuditId;
use searchwright_site::checks::{Rules, Settings};
use searchwright_store::{Tx, access::ProjectScope, audit_settings};
use serde_json::Value;

use crate::failure::{Result, defect};

/// Parses stored settings.
pub(crate) fn settings(kept: Option<Value>) -> Result<Settings> {
    kept.map_or_else(
        || Ok(Settings::default()),
        |kept| serde_json::from_value(kept).map_err(|e| defect("audit settings", e)),
    )
}

/// Loads the rules that an audit was made with, of its version of the ruleset.
pub(crate) async fn load(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<Rules> {
    let (kept, version) = audit_settings::find_for_audit(tx, scope, audit)
        .await?
        .unwrap_or_default();
    Ok(settings(kept)?.rules().of_version(&version))
}

/// Loads the rules that the newest audit with results was made with.
pub(crate) async fn of_newest(tx: &mut Tx, scope: ProjectScope) -> Result<Rules> {
    Ok(settings(audit_settings::find_for_newest_audit(tx, scope).await?)?.rules())
}

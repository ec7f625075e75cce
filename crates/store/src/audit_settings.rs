//! Settings for the audits of a project, and those that each audit was started with.

use searchwright_contract::ids::AuditId;
use serde_json::Value;
use uuid::Uuid;

use crate::{Error, Json, Result, Tx, access::ProjectScope, sql};

fn into_value(found: Option<Option<Json>>) -> Option<Value> {
    found.flatten().map(|json| json.0)
}

/// Returns the settings of a project, locked until the transaction ends; `None` if there are none.
/// [`Error::Dangling`] if there is no such project.
pub async fn get_for_update(tx: &mut Tx, project: Uuid) -> Result<Option<Value>> {
    tx.lock_row("SELECT 1 FROM projects WHERE id = $1 FOR UPDATE", project)
        .await?;
    find(tx, project).await
}

/// Returns the settings of a project; `None` if there are none. [`Error::Dangling`] if there is no such project.
pub async fn find(tx: &mut Tx, project: Uuid) -> Result<Option<Value>> {
    let known = sql("SELECT 1 FROM projects WHERE id = $1")
        .bind(project)
        .fetch_optional(tx, |_| Ok(()))
        .await?;
    known.ok_or(Error::Dangling)?;
    let found = sql("SELECT settings FROM audit_settings WHERE project_id = $1")
        .bind(project)
        .fetch_optional(tx, |c| c.take())
        .await?;
    Ok(into_value(found.map(Some)))
}

/// Sets or, with `None`, deletes the settings for audits that are started from now on.
pub async fn set(tx: &mut Tx, project: Uuid, settings: Option<Value>) -> Result<()> {
    match settings {
        Some(settings) => sql("INSERT INTO audit_settings (project_id, settings) VALUES ($1, $2)
             ON CONFLICT (project_id) DO UPDATE SET settings = $2")
        .bind(project)
        .bind(Json(settings)),
        None => sql("DELETE FROM audit_settings WHERE project_id = $1").bind(project),
    }
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the settings that an audit was started with, and the version of its ruleset.
pub async fn find_for_audit(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
) -> Result<Option<(Option<Value>, String)>> {
    sql("SELECT settings, ruleset_version FROM audits WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(audit)
        .fetch_optional(tx, |c| Ok((into_value(Some(c.take()?)), c.take()?)))
        .await
}

/// Returns the settings that the newest audit with results was started with.
pub async fn find_for_newest_audit(tx: &mut Tx, scope: ProjectScope) -> Result<Option<Value>> {
    let found = sql("SELECT settings FROM audits WHERE project_id = $1 AND status IN ('completed', 'partial') ORDER BY id DESC LIMIT 1")
        .bind(scope.project())
        .fetch_optional(tx, |c| c.take())
        .await?;
    Ok(into_value(found))
}

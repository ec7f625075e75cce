//! What a project has set about its audits, and what each audit was made with.

use serde_json::Value;
use uuid::Uuid;

use crate::{Error, Json, Result, Tx, access::ProjectScope, sql};

fn json(found: Option<Option<Json>>) -> Option<Value> {
    found.flatten().map(|json| json.0)
}

/// What a project has set; `None` for nothing. Nobody else can change it until the transaction ends.
pub async fn held(tx: &mut Tx, project: Uuid) -> Result<Option<Value>> {
    let text = if tx.is_postgres() {
        "SELECT 1 FROM projects WHERE id = $1 FOR UPDATE"
    } else {
        "SELECT 1 FROM projects WHERE id = $1"
    };
    let known = sql(text).bind(project).fetch_optional(tx, |_| Ok(())).await?;
    known.ok_or(Error::Dangling)?;
    let found = sql("SELECT settings FROM audit_settings WHERE project_id = $1")
        .bind(project)
        .fetch_optional(tx, |c| c.take())
        .await?;
    Ok(json(found.map(Some)))
}

/// Sets it for the audits that are started from now on; `None` for nothing.
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

/// What an audit was made with, and the version of the ruleset.
pub async fn of(tx: &mut Tx, scope: ProjectScope, audit: Uuid) -> Result<Option<(Option<Value>, String)>> {
    sql("SELECT settings, ruleset_version FROM audits WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(audit)
        .fetch_optional(tx, |c| Ok((json(Some(c.take()?)), c.take()?)))
        .await
}

/// What the newest audit with results was made with.
pub async fn of_newest(tx: &mut Tx, scope: ProjectScope) -> Result<Option<Value>> {
    let found = sql("SELECT settings FROM audits WHERE project_id = $1 AND status IN ('completed', 'partial') ORDER BY id DESC LIMIT 1")
        .bind(scope.project())
        .fetch_optional(tx, |c| c.take())
        .await?;
    Ok(json(found))
}

//! How bad issues are and what they weigh, by all that was found of them.

use searchwright_contract::Instant;
use uuid::Uuid;

use crate::{Json, Result, Tx, access::ProjectScope, sql};

/// An issue as an audit leaves it.
#[derive(Clone, Debug)]
pub struct Summary {
    /// UUIDv5 of project and check.
    pub id: Uuid,
    /// The check.
    pub check_id: &'static str,
    /// Its category.
    pub category: String,
    /// Its severity.
    pub severity: String,
    /// Sort key.
    pub impact: f64,
}

/// What an issue weighs by its occurrences.
#[derive(Clone, Debug)]
pub struct Weight {
    /// The issue.
    pub issue: Uuid,
    /// Of the worst.
    pub severity: String,
    /// Sort key; where it cannot be told the one it has stays.
    pub impact: Option<f64>,
}

/// Writes what issues weigh now.
pub async fn weigh(tx: &mut Tx, scope: ProjectScope, weights: Vec<Weight>) -> Result<()> {
    let rows = weights.into_iter();
    let rows = rows.map(|of| vec![of.issue.into(), of.impact.into(), of.severity.into()]);
    sql("UPDATE issues SET impact = coalesce(CAST($3 AS DOUBLE PRECISION), impact), severity = $4 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .execute_each(tx, rows.collect())
        .await?;
    Ok(())
}

/// Writes the issues of an audit; [`recount`](super::recount) counts them.
pub async fn announce(tx: &mut Tx, scope: ProjectScope, found: Vec<Summary>, now: Instant) -> Result<()> {
    let rows = found
        .into_iter()
        .map(|s| {
            vec![
                s.id.into(),
                s.check_id.into(),
                s.category.into(),
                s.severity.into(),
                s.impact.into(),
            ]
        })
        .collect();
    sql("INSERT INTO issues (project_id, active, counts, first_seen_at, last_seen_at, id, check_id, category, severity, impact)
         VALUES ($1, 0, $2, $3, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (project_id, id) DO UPDATE SET category = $6, severity = $7, impact = $8, last_seen_at = $3")
    .bind(scope.project())
    .bind(Json(serde_json::json!({})))
    .bind(now)
    .execute_each(tx, rows)
    .await?;
    Ok(())
}

/// Notes that issues were seen now: a recheck does, which has not looked at all that [`announce`] writes of them.
pub async fn seen(tx: &mut Tx, scope: ProjectScope, issues: &[Uuid], now: Instant) -> Result<()> {
    let rows = issues.iter().map(|issue| vec![(*issue).into()]);
    sql("UPDATE issues SET last_seen_at = $2 WHERE project_id = $1 AND id = $3 AND last_seen_at < $2")
        .bind(scope.project())
        .bind(now)
        .execute_each(tx, rows.collect())
        .await?;
    Ok(())
}

/// Notes how bad issues are that an audit did not find.
pub async fn grade(tx: &mut Tx, scope: ProjectScope, severities: Vec<(Uuid, String)>) -> Result<()> {
    let rows = severities
        .into_iter()
        .map(|(issue, severity)| vec![issue.into(), severity.into()])
        .collect();
    sql("UPDATE issues SET severity = $3 WHERE project_id = $1 AND id = $2 AND severity <> $3")
        .bind(scope.project())
        .execute_each(tx, rows)
        .await?;
    Ok(())
}

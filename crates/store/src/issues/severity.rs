//! Severity and impact of issues.

use searchwright_contract::{Instant, ids::IssueId};

use crate::{Json, Result, Tx, access::ProjectScope, sql};

/// An issue as an audit found it.
#[derive(Clone, Debug)]
pub struct IssueSummary {
    /// UUIDv5 of project and check.
    pub id: IssueId,
    /// Id of the check.
    pub check_id: &'static str,
    /// Category of the check.
    pub category: String,
    /// Severity of the issue.
    pub severity: String,
    /// Impact, by which issues are sorted.
    pub impact: f64,
}

/// Severity and impact of an issue by its occurrences.
#[derive(Clone, Debug)]
pub struct IssueWeight {
    /// Id of the issue.
    pub issue: IssueId,
    /// Severity of the worst occurrence.
    pub severity: String,
    /// Impact; `None` leaves it unchanged.
    pub impact: Option<f64>,
}

/// Updates severity and impact of issues.
pub async fn update_weights(tx: &mut Tx, scope: ProjectScope, weights: Vec<IssueWeight>) -> Result<()> {
    let rows = weights.into_iter();
    let rows = rows.map(|w| vec![w.issue.into(), w.impact.into(), w.severity.into()]);
    sql("UPDATE issues SET impact = coalesce(CAST($3 AS DOUBLE PRECISION), impact), severity = $4 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .execute_each(tx, rows.collect())
        .await?;
    Ok(())
}

/// Inserts or updates the issues of an audit, without their counts; for those see [`recount`](super::recount).
pub async fn upsert(tx: &mut Tx, scope: ProjectScope, found: Vec<IssueSummary>, now: Instant) -> Result<()> {
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

/// Updates the time of the last finding. For rechecks, which do not know the other columns that [`upsert`] writes.
pub async fn update_last_seen(
    tx: &mut Tx,
    scope: ProjectScope,
    issues: &[IssueId],
    now: Instant,
) -> Result<()> {
    let rows = issues.iter().map(|issue| vec![(*issue).into()]);
    sql("UPDATE issues SET last_seen_at = $2 WHERE project_id = $1 AND id = $3 AND last_seen_at < $2")
        .bind(scope.project())
        .bind(now)
        .execute_each(tx, rows.collect())
        .await?;
    Ok(())
}

/// Updates the severity of issues that an audit did not find.
pub async fn update_severities(
    tx: &mut Tx,
    scope: ProjectScope,
    severities: Vec<(IssueId, String)>,
) -> Result<()> {
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

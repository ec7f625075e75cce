//! Issues and their occurrences. Their texts are the registry's; what is kept is what was seen.

use std::collections::BTreeMap;

use searchwright_contract::{Instant, issues::Severity};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Cells, Error, Json, Param, Result, Tx, access::ProjectScope, sql};

/// An issue as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct IssueRow {
    /// UUIDv5 of project and check.
    pub id: Uuid,
    /// The check.
    pub check_id: String,
    /// As the newest audit had it.
    pub severity: Severity,
    /// Sort key.
    pub impact: f64,
    /// Active occurrences.
    pub active: u64,
    /// Occurrences by state.
    pub counts: BTreeMap<String, u64>,
    /// First seen.
    pub first_seen_at: Instant,
    /// Last seen.
    pub last_seen_at: Instant,
}

/// Whether an occurrence that is seen again is open again.
macro_rules! reopens {
    () => {
        "(occurrences.state = 'resolved' OR occurrences.state IN ('done', 'recheck_pending') AND (occurrences.done_at IS NULL OR occurrences.done_at <= $5))"
    };
}

/// Filters and place of a list of issues.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Only with (`true`) or without active occurrences.
    pub active: Option<bool>,
    /// Only this severity.
    pub severity: Option<Severity>,
    /// Only this category.
    pub category: Option<String>,
    /// Last row of the page before: impact and id.
    pub after: Option<(f64, Uuid)>,
    /// Rows, at most.
    pub limit: u32,
}

/// What occurs nowhere matters to nobody now; as soon as it occurs again, as much as before.
macro_rules! columns {
    ($where:literal) => {
        concat!(
            "SELECT id, check_id, severity, CASE WHEN active > 0 THEN impact ELSE 0.0 END, active, counts, first_seen_at, last_seen_at FROM issues WHERE ",
            $where
        )
    };
}

fn issue(c: &mut Cells<'_>) -> Result<IssueRow> {
    Ok(IssueRow {
        id: c.take()?,
        check_id: c.take()?,
        severity: c.word()?,
        impact: c.take()?,
        active: c.take()?,
        counts: serde_json::from_value(c.take::<Json>()?.0).map_err(|e| Error::Defect(e.to_string()))?,
        first_seen_at: c.take()?,
        last_seen_at: c.take()?,
    })
}

/// One page, highest impact first.
pub async fn list(tx: &mut Tx, scope: ProjectScope, query: Query) -> Result<Vec<IssueRow>> {
    let (impact, id) = query.after.unwrap_or((f64::MAX, Uuid::max()));
    sql(columns!("project_id = $1 AND (CASE WHEN active > 0 THEN impact ELSE 0.0 END, id) < ($2, $3)
           AND (CAST($5 AS BOOLEAN) IS NULL OR (active > 0) = $5) AND (CAST($6 AS TEXT) IS NULL OR severity = $6) AND (CAST($7 AS TEXT) IS NULL OR category = $7)
         ORDER BY CASE WHEN active > 0 THEN impact ELSE 0.0 END DESC, id DESC LIMIT $4"))
    .bind(scope.project())
    .bind(impact)
    .bind(id)
    .bind(query.limit)
    .bind(query.active)
    .bind(query.severity.map(Severity::as_str))
    .bind(query.category)
    .all(tx, issue)
    .await
}

/// One issue.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: Uuid) -> Result<IssueRow> {
    sql(columns!("project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .one(tx, issue)
        .await
}

/// One finding of an audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The issue.
    pub issue: Uuid,
    /// The page.
    pub page: Uuid,
    /// What was seen, JSON text.
    pub evidence: String,
}

/// What was settled after these instants stays as it is: it rests on something newer than what was found.
#[derive(Clone, Copy, Debug)]
pub struct Newest {
    /// Of claims that something is done.
    pub claim: Instant,
    /// Of proofs that it is.
    pub proof: Instant,
}

impl Newest {
    /// What is found rests on what was seen since then.
    pub fn before(began: Instant) -> Self {
        Self {
            claim: began,
            proof: began,
        }
    }
}

/// Records what an audit found. An occurrence that was resolved reopens, and so does one that was marked as done before
/// the audit began: what was seen may be older than a later mark.
pub async fn record(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    findings: Vec<Finding>,
    newest: Newest,
    now: Instant,
) -> Result<()> {
    let rows = findings
        .into_iter()
        .map(|f| vec![f.issue.into(), f.page.into(), Param::Json(f.evidence)])
        .collect();
    sql(concat!(
        "INSERT INTO occurrences (project_id, state, first_seen_audit_id, last_seen_audit_id, checked_at, reopen_count, stale, issue_id, page_id, evidence)
         VALUES ($1, 'open', $2, $2, $3, 0, $4, $7, $8, $9)
         ON CONFLICT (project_id, issue_id, page_id) DO UPDATE SET
           state = CASE WHEN ", reopens!(), " THEN 'reopened' ELSE occurrences.state END,
           reopen_reason = CASE WHEN occurrences.state = 'resolved' THEN 'recurred' WHEN ", reopens!(), " THEN 'still_present' ELSE occurrences.reopen_reason END,
           reopen_count = occurrences.reopen_count + CASE WHEN occurrences.state = 'resolved' THEN 1 ELSE 0 END,
           was = CASE WHEN ", reopens!(), " THEN occurrences.state ELSE occurrences.was END,
           changed_at = CASE WHEN ", reopens!(), " THEN $3 ELSE occurrences.changed_at END,
           resolved_at = NULL, resolution = NULL, evidence = excluded.evidence, checked_at = $3, stale = $4,
           last_seen_audit_id = CASE WHEN occurrences.last_seen_audit_id > $2 THEN occurrences.last_seen_audit_id ELSE $2 END
         WHERE occurrences.state <> 'resolved' OR occurrences.resolved_at IS NULL OR occurrences.resolved_at <= $6"
    ))
    .bind(scope.project())
    .bind(audit)
    .bind(now)
    .bind(false)
    .bind(newest.claim)
    .bind(newest.proof)
    .run_each_in_order(tx, rows)
    .await?;
    Ok(())
}

/// Every issue of the project.
pub async fn ids(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<Uuid>> {
    sql("SELECT id FROM issues WHERE project_id = $1 ORDER BY id")
        .bind(scope.project())
        .all(tx, |c| c.take())
        .await
}

/// An open occurrence that an audit did not find again.
#[derive(Clone, Debug, PartialEq)]
pub struct Unseen {
    /// Where it was.
    pub page: Uuid,
    /// What was seen then, JSON text.
    pub evidence: String,
    /// The audit has fetched the page, or tried to.
    pub visited: bool,
    /// When it was looked at last.
    pub checked_at: Instant,
}

/// Open occurrences of an issue that an audit did not find again, by page id.
pub async fn unseen(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    issue: Uuid,
    after: Option<Uuid>,
    limit: usize,
) -> Result<Vec<Unseen>> {
    sql(
        "SELECT o.page_id, o.evidence, EXISTS (SELECT 1 FROM pages p WHERE p.project_id = $1 AND p.id = o.page_id AND p.audit_id = $4), o.checked_at
         FROM occurrences o WHERE o.project_id = $1 AND o.issue_id = $2 AND o.page_id > $3
           AND o.last_seen_audit_id <> $4 AND o.state NOT IN ('resolved', 'ignored')
         ORDER BY o.page_id LIMIT $5",
    )
    .bind(scope.project())
    .bind(issue)
    .bind(after.unwrap_or(Uuid::nil()))
    .bind(audit)
    .bind(limit as i64)
    .all(tx, |c| {
        Ok(Unseen {
            page: c.take()?,
            evidence: c.take::<Json>()?.0.to_string(),
            visited: c.take()?,
            checked_at: c.take()?,
        })
    })
    .await
}

/// What becomes of occurrences that an audit did not find again.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Pages where they are over, and why.
    pub resolved: Vec<(Uuid, &'static str)>,
    /// Pages where nothing could be told.
    pub stale: Vec<Uuid>,
    /// Pages where something newer than the audit has seen them.
    pub newer: Vec<Uuid>,
}

/// Settles what an audit did not find again.
pub async fn settle(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: Uuid,
    issue: Uuid,
    settled: Settled,
    now: Instant,
) -> Result<()> {
    let rows = settled
        .resolved
        .into_iter()
        .map(|(page, why)| vec![page.into(), why.into()])
        .collect();
    sql("UPDATE occurrences SET was = state, changed_at = $4, state = 'resolved', resolved_at = $4, checked_at = $4, stale = $5, resolution = $7
         WHERE project_id = $1 AND issue_id = $2 AND page_id = $6 AND last_seen_audit_id <> $3 AND state NOT IN ('resolved', 'ignored')")
    .bind(scope.project())
    .bind(issue)
    .bind(audit)
    .bind(now)
    .bind(false)
    .run_each(tx, rows)
    .await?;
    let pages = |pages: Vec<Uuid>| pages.into_iter().map(|page| vec![page.into()]).collect();
    sql("UPDATE occurrences SET stale = $4
         WHERE project_id = $1 AND issue_id = $2 AND page_id = $5 AND last_seen_audit_id <> $3 AND state NOT IN ('resolved', 'ignored')")
    .bind(scope.project())
    .bind(issue)
    .bind(audit)
    .bind(true)
    .run_each(tx, pages(settled.stale))
    .await?;
    sql("UPDATE occurrences SET last_seen_audit_id = $3
         WHERE project_id = $1 AND issue_id = $2 AND page_id = $4 AND last_seen_audit_id < $3 AND state NOT IN ('resolved', 'ignored')")
    .bind(scope.project())
    .bind(issue)
    .bind(audit)
    .run_each(tx, pages(settled.newer))
    .await?;
    Ok(())
}

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

/// Writes the issues of an audit; [`recount`] counts them.
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
    .run_each(tx, rows)
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
        .run_each(tx, rows)
        .await?;
    Ok(())
}

/// Counts the occurrences of an issue. How it turned, if it did.
pub async fn recount(tx: &mut Tx, scope: ProjectScope, issue: Uuid) -> Result<Option<Turned>> {
    let before = get(tx, scope, issue).await?;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    sql("SELECT state, count(*) FROM occurrences WHERE project_id = $1 AND issue_id = $2 GROUP BY state")
        .bind(scope.project())
        .bind(issue)
        .each(tx, |c| {
            counts.insert(c.take()?, c.take()?);
            Ok(())
        })
        .await?;
    let active: u64 = counts
        .iter()
        .filter(|(state, _)| !matches!(state.as_str(), "resolved" | "ignored"))
        .map(|(_, n)| n)
        .sum();
    let json = serde_json::to_value(&counts).map_err(|e| Error::Defect(e.to_string()))?;
    sql("UPDATE issues SET active = $3, counts = $4 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(issue)
        .bind(active)
        .bind(Json(json))
        .run(tx)
        .await?;
    let turned = Turned {
        issue,
        active: active > 0,
        new: before.counts.is_empty(),
    };
    Ok((turned.active != (before.active > 0)).then_some(turned))
}

/// How an audit left an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turned {
    /// The issue.
    pub issue: Uuid,
    /// It occurs now.
    pub active: bool,
    /// It had never been counted before.
    pub new: bool,
}

//! Audits.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    audits::{Audit, AuditConfig, AuditError, AuditProgress, AuditStatus, AuditTotals, AuditTrigger},
    diffs::ChangeCounts,
    ids::{AuditId, JobId},
    missing::MissingReason,
};

use crate::{Cells, Json, Result, Tx, access::ProjectScope, sql};

/// An audit to be created.
#[derive(Clone, Debug)]
pub struct NewAudit {
    /// Identifier, UUIDv7 of now.
    pub id: AuditId,
    /// Job that runs it.
    pub job_id: JobId,
    /// Trigger.
    pub trigger: AuditTrigger,
    /// First URL of the crawl.
    pub start_url: String,
    /// Limits of the crawl.
    pub config: AuditConfig,
    /// Version of the ruleset.
    pub ruleset_version: &'static str,
    /// Version of the rules that identify pages by URL.
    pub normalization_version: u32,
}

macro_rules! columns {
    ($before:literal $after:literal) => {
        concat!(
            $before,
            " id, project_id, job_id, status, started_by, start_url, config, ruleset_version, normalization_version, requested_at, started_at, finished_at, discovered, fetched, queued,
              failed, blocked, termination, health_score, error_free_pages_pct, pages_scored, score_is_partial, category_scores,
              errors, warnings, notices, issues, previous_audit_id, changes, error_code, error_message, version ",
            $after
        )
    };
}

fn audit(c: &mut Cells<'_>) -> Result<Audit> {
    let mut audit = Audit {
        id: c.take()?,
        project_id: c.take()?,
        job_id: c.take()?,
        status: c.parse()?,
        trigger: c.parse()?,
        start_url: c.take()?,
        config: c.take_json()?,
        ruleset_version: c.take()?,
        normalization_version: c.take()?,
        requested_at: c.take()?,
        started_at: c.take()?,
        finished_at: c.take()?,
        progress: AuditProgress {
            discovered: c.take()?,
            fetched: c.take()?,
            queued: c.take()?,
            failed: c.take()?,
            blocked: c.take()?,
        },
        termination: c.take()?,
        health_score: c.take()?,
        health_score_status: None,
        band: None,
        error_free_pages_pct: c.take()?,
        pages_scored: c.take()?,
        score_is_partial: c.take()?,
        category_scores: c.take_json_optional()?,
        totals: Some(AuditTotals {
            errors: c.take()?,
            warnings: c.take()?,
            notices: c.take()?,
            issues: c.take()?,
        }),
        previous_audit_id: c.take()?,
        since_previous: None,
        changes: c.take_json_optional()?,
        error: None,
        version: 0,
        allowed_actions: AllowedActions::default(),
    };
    let (code, message): (Option<String>, Option<String>) = (c.take()?, c.take()?);
    audit.error = code.map(|code| AuditError {
        code,
        message: message.unwrap_or_default(),
    });
    audit.version = c.take()?;
    // The columns are 0 as long as there are no results.
    audit.totals = audit.totals.filter(|_| audit.status.has_results());
    audit.health_score_status = match (audit.health_score, audit.status.has_results()) {
        (Some(_), _) => None,
        (None, true) => Some(MissingReason::NotApplicable),
        (None, false) => Some(MissingReason::NotMeasured),
    };
    Ok(audit)
}

/// Creates an audit with the current settings of the project.
pub async fn create(tx: &mut Tx, scope: ProjectScope, new: NewAudit, now: Instant) -> Result<Audit> {
    let previous = find_newest_finished(tx, scope).await?;
    let config = Json::encode(&new.config)?;
    sql(columns!("INSERT INTO audits (project_id, id, job_id, status, started_by, start_url, config, ruleset_version, requested_at, discovered, fetched, queued,
            failed, blocked, score_is_partial, errors, warnings, notices, issues, previous_audit_id, version, normalization_version, settings)
         VALUES ($1, $2, $3, 'queued', $11, $4, $5, $6, $7, 0, 0, 0, 0, 0, $8, 0, 0, 0, 0, $9, 1, $10, (SELECT s.settings FROM audit_settings s WHERE s.project_id = $1)) RETURNING" ""))
    .bind(scope.project())
    .bind(new.id)
    .bind(new.job_id)
    .bind(new.start_url)
    .bind(config)
    .bind(new.ruleset_version)
    .bind(now)
    .bind(false)
    .bind(previous)
    .bind(new.normalization_version)
    .bind(new.trigger.as_str())
    .fetch_one(tx, audit)
    .await
}

/// Returns the newest audit with results.
pub async fn find_newest_finished(tx: &mut Tx, scope: ProjectScope) -> Result<Option<AuditId>> {
    sql("SELECT id FROM audits WHERE project_id = $1 AND status IN ('completed', 'partial') ORDER BY id DESC LIMIT 1")
        .bind(scope.project())
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Returns the number of pages that count in the score of the newest audit with results; 0 if it is not known.
pub async fn count_scored_pages(tx: &mut Tx, scope: ProjectScope) -> Result<u32> {
    let pages: Option<Option<u32>> = sql("SELECT pages_scored FROM audits WHERE project_id = $1 AND status IN ('completed', 'partial') ORDER BY id DESC LIMIT 1")
        .bind(scope.project())
        .fetch_optional(tx, |c| c.take())
        .await?;
    Ok(pages.flatten().unwrap_or(0))
}

/// Returns the time of the last audit that a caller requested.
pub async fn find_last_manual(tx: &mut Tx, scope: ProjectScope) -> Result<Option<Instant>> {
    sql("SELECT requested_at FROM audits WHERE project_id = $1 AND started_by = 'manual' ORDER BY id DESC LIMIT 1")
        .bind(scope.project())
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Returns the unfinished audit, if there is one.
pub async fn find_active(tx: &mut Tx, scope: ProjectScope) -> Result<Option<Audit>> {
    sql(columns!("SELECT" "FROM audits WHERE project_id = $1 AND status IN ('queued', 'crawling', 'analyzing')"))
        .bind(scope.project())
        .fetch_optional(tx, audit)
        .await
}

/// Returns at most `limit` audits older than `before`, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    status: Option<AuditStatus>,
    before: Option<AuditId>,
    limit: u32,
) -> Result<Vec<Audit>> {
    sql(columns!("SELECT" "FROM audits WHERE project_id = $1 AND id < $2 AND (CAST($4 AS TEXT) IS NULL OR status = $4) ORDER BY id DESC LIMIT $3"))
        .bind(scope.project())
        .bind(before.unwrap_or(AuditId::MAX))
        .bind(limit)
        .bind(status.map(AuditStatus::as_str))
        .fetch_all(tx, audit)
        .await
}

/// Returns an audit; [`Error::Missing`](crate::Error::Missing) if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: AuditId) -> Result<Audit> {
    sql(columns!("SELECT" "FROM audits WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, audit)
        .await
}

/// Returns audits in the order of `ids`.
pub async fn get_each(tx: &mut Tx, scope: ProjectScope, ids: &[AuditId]) -> Result<Vec<Option<Audit>>> {
    sql(columns!("SELECT" "FROM audits WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .fetch_optional_each(tx, ids.iter().map(|id| vec![(*id).into()]).collect(), audit)
        .await
}

/// Sets the status of an unfinished audit when a worker begins to crawl or to analyse.
pub async fn set_status(
    tx: &mut Tx,
    scope: ProjectScope,
    id: AuditId,
    status: AuditStatus,
    now: Instant,
) -> Result<()> {
    sql(
        "UPDATE audits SET status = $3, started_at = coalesce(started_at, $4), version = version + 1
         WHERE project_id = $1 AND id = $2 AND status IN ('queued', 'crawling', 'analyzing')",
    )
    .bind(scope.project())
    .bind(id)
    .bind(status.as_str())
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Sets the progress of the crawl.
pub async fn set_progress(
    tx: &mut Tx,
    scope: ProjectScope,
    id: AuditId,
    progress: AuditProgress,
) -> Result<()> {
    sql("UPDATE audits SET discovered = $3, fetched = $4, queued = $5, failed = $6, blocked = $7, version = version + 1 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(progress.discovered)
        .bind(progress.fetched)
        .bind(progress.queued)
        .bind(progress.failed)
        .bind(progress.blocked)
        .execute(tx)
        .await?;
    Ok(())
}

/// Outcome of an audit.
#[derive(Clone, Debug, Default)]
pub struct AuditOutcome {
    /// Reason why the crawl ended.
    pub termination: Option<String>,
    /// Health score, 0 to 100.
    pub health_score: Option<u8>,
    /// Percentage of pages without an error.
    pub error_free_pages_pct: Option<f64>,
    /// Number of pages that count in the score.
    pub pages_scored: Option<u32>,
    /// Health score of each category by name.
    pub category_scores: Option<BTreeMap<String, u8>>,
    /// A limit excluded pages from the crawl.
    pub score_is_partial: bool,
    /// Number of findings by severity.
    pub totals: AuditTotals,
    /// Number of changed occurrences since the previous audit.
    pub changes: Option<ChangeCounts>,
    /// Failure.
    pub error: Option<AuditError>,
}

/// Finishes an audit. Returns `false`, and writes nothing, if it was finished before.
pub async fn finish(
    tx: &mut Tx,
    scope: ProjectScope,
    id: AuditId,
    status: AuditStatus,
    outcome: AuditOutcome,
    now: Instant,
) -> Result<bool> {
    let (code, message) = outcome
        .error
        .map_or((None, None), |e| (Some(e.code), Some(e.message)));
    let touched = sql("UPDATE audits SET status = $3, termination = $4, health_score = $5, error_free_pages_pct = $6, pages_scored = $7, score_is_partial = $8,
            errors = $9, warnings = $10, notices = $11, issues = $12, error_code = $13, error_message = $14, finished_at = $15, category_scores = $16, changes = $17, queued = 0, version = version + 1
         WHERE project_id = $1 AND id = $2 AND status IN ('queued', 'crawling', 'analyzing')")
    .bind(scope.project())
    .bind(id)
    .bind(status.as_str())
    .bind(outcome.termination)
    .bind(outcome.health_score)
    .bind(outcome.error_free_pages_pct)
    .bind(outcome.pages_scored)
    .bind(outcome.score_is_partial)
    .bind(outcome.totals.errors)
    .bind(outcome.totals.warnings)
    .bind(outcome.totals.notices)
    .bind(outcome.totals.issues)
    .bind(code)
    .bind(message)
    .bind(now)
    .bind(outcome.category_scores.as_ref().map(Json::encode).transpose()?)
    .bind(outcome.changes.as_ref().map(Json::encode).transpose()?)
    .execute(tx)
    .await?;
    Ok(touched == 1)
}

/// Updates score and totals of a finished audit, after occurrences were resolved by a recheck or ignored.
pub async fn rescore(
    tx: &mut Tx,
    scope: ProjectScope,
    id: AuditId,
    score: Option<u8>,
    error_free_pages_pct: Option<f64>,
    category_scores: Option<BTreeMap<String, u8>>,
    totals: AuditTotals,
) -> Result<()> {
    sql("UPDATE audits SET version = version + 1, health_score = $3, error_free_pages_pct = $4, errors = $5, warnings = $6, notices = $7, issues = $8, category_scores = $9
         WHERE project_id = $1 AND id = $2 AND status IN ('completed', 'partial')")
    .bind(scope.project())
    .bind(id)
    .bind(score)
    .bind(error_free_pages_pct)
    .bind(totals.errors)
    .bind(totals.warnings)
    .bind(totals.notices)
    .bind(totals.issues)
    .bind(category_scores.as_ref().map(Json::encode).transpose()?)
    .execute(tx)
    .await?;
    Ok(())
}

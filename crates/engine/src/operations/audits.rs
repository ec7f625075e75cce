//! Audits: starting them, following them, stopping them. The work itself is `audits/audit.rs`.

use std::collections::HashMap;

use searchwright_contract::{
    Code, List, Problem, Scope,
    actions::{AllowedActions, Permission},
    audits::{
        Audit, AuditConfig, AuditStarted, AuditTrend, AuditTrigger, CancelAudit, GetAudit, GetCurrentAudit,
        ListAudits, StartAudit,
    },
    ids::AuditId,
};
use searchwright_site::score;
use searchwright_store::{
    Tx,
    access::{ProjectScope, RecordKind},
    audits, jobs, projects,
};

use super::jobs::with_actions as job_with_actions;
use crate::{
    Engine,
    call::{Call, fault, limit},
    endpoint::Handle,
    failure::{Result, defect},
    starts::{AuditOrder, DEFAULT_MAX_DEPTH, DEFAULT_MAX_PAGES, QueuedAudit, start_audit},
};

fn with_actions(call: &Call, mut audit: Audit) -> Audit {
    audit.band = audit.health_score.map(|s| score::band(s).to_owned());
    let cancel = if audit.status.is_active() {
        call.permission(Scope::AuditsWrite)
    } else {
        Permission::no("invalid_state", "the audit has ended")
    };
    audit.allowed_actions = AllowedActions::default().with("cancel", cancel);
    audit
}

/// Adds to each audit its differences from the previous one. Previous audits that are among these are not loaded again.
async fn with_trends(tx: &mut Tx, scope: ProjectScope, mut audits: Vec<Audit>) -> Result<Vec<Audit>> {
    let before = |audit: &Audit| audit.previous_audit_id.filter(|_| audit.status.has_results());
    let mut known: HashMap<AuditId, Audit> = audits.iter().map(|a| (a.id, a.clone())).collect();
    let missing: Vec<AuditId> = audits
        .iter()
        .filter_map(before)
        .filter(|id| !known.contains_key(id))
        .collect();
    let found = audits::get_each(tx, scope, &missing).await?;
    known.extend(found.into_iter().flatten().map(|a| (a.id, a)));
    for audit in &mut audits {
        let before = before(audit).and_then(|id| known.get(&id));
        audit.since_previous = before
            .filter(|a| a.status.has_results())
            .map(|before| trend(before, audit));
    }
    Ok(audits)
}

fn trend(before: &Audit, now: &Audit) -> AuditTrend {
    let less = |now: u64, before: u64| now as i64 - before as i64;
    let (is, was) = (now.totals.unwrap_or_default(), before.totals.unwrap_or_default());
    AuditTrend {
        health_score: now
            .health_score
            .zip(before.health_score)
            .map(|(now, before)| i16::from(now) - i16::from(before)),
        error_free_pages_pct: now
            .error_free_pages_pct
            .zip(before.error_free_pages_pct)
            .map(|(now, before)| ((now - before) * 10.0).round() / 10.0),
        pages_scored: now
            .pages_scored
            .zip(before.pages_scored)
            .map(|(now, before)| less(now.into(), before.into())),
        errors: less(is.errors, was.errors),
        warnings: less(is.warnings, was.warnings),
        notices: less(is.notices, was.notices),
        issues: less(is.issues, was.issues),
    }
}

/// One audit as it is answered.
async fn answer(call: &Call, tx: &mut Tx, audit: Audit) -> Result<Audit> {
    let mut audits = with_trends(tx, call.scope()?, vec![audit]).await?;
    let audit = audits.pop().ok_or_else(|| defect("audit", "none"))?;
    Ok(with_actions(call, audit))
}

/// Refuses to start an audit before the time has passed that the operator set between two that callers ask for. It counts
/// from the request, whatever became of it: one that failed has asked the site as well.
async fn keep_distance(call: &Call, tx: &mut Tx, scope: ProjectScope) -> Result<()> {
    let minutes = call.engine.minutes_between_audits;
    if minutes == 0 {
        return Ok(());
    }
    let Some(last) = audits::find_last_manual(tx, scope).await? else {
        return Ok(());
    };
    let due = last.plus_millis(i64::from(minutes) * 60_000);
    let wait = due.millis() - call.now.millis();
    if wait <= 0 {
        return Ok(());
    }
    let detail =
        format!("the operator has set a minimum of {minutes} minutes between two audits of a project");
    let seconds = u32::try_from(wait.unsigned_abs().div_ceil(1000)).unwrap_or(u32::MAX);
    Err(Problem::new(Code::RateLimitExceeded, detail)
        .hint("wait for Retry-After seconds; until then audits/current has the last one")
        .with("resetsAt", due.to_string())
        .after(seconds)
        .into())
}

impl Handle<StartAudit> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: StartAudit) -> Result<AuditStarted> {
        let scope = call.scope()?;
        for (name, patterns) in [("include", &operation.include), ("exclude", &operation.exclude)] {
            let patterns = patterns.as_deref().unwrap_or_default();
            if let Some(at) = patterns.iter().position(|p| !p.starts_with(['/', '*', '?'])) {
                return Err(fault(
                    &format!("/{name}/{at}"),
                    "not_a_path_pattern",
                    "has to begin with /, * or ?",
                ));
            }
        }
        projects::lock(tx, scope).await?;
        if let Some(audit) = audits::find_active(tx, scope).await? {
            let job = jobs::get(tx, scope, audit.job_id).await?;
            return Ok(AuditStarted {
                job: job_with_actions(call, job),
                audit: with_actions(call, audit),
                already_running: true,
            });
        }
        keep_distance(call, tx, scope).await?;
        let order = AuditOrder {
            domain: &call.project()?.project.domain,
            trigger: AuditTrigger::Manual,
            config: AuditConfig {
                max_pages: operation.max_pages.unwrap_or(DEFAULT_MAX_PAGES),
                max_depth: operation.max_depth.unwrap_or(DEFAULT_MAX_DEPTH),
                include: operation.include.unwrap_or_default(),
                exclude: operation.exclude.unwrap_or_default(),
                include_subdomains: operation.include_subdomains.unwrap_or_default(),
            },
        };
        let QueuedAudit { audit, job } = start_audit(&call.engine, tx, scope, order, call.now).await?;
        Ok(AuditStarted {
            job: job_with_actions(call, job),
            audit: with_actions(call, audit),
            already_running: false,
        })
    }
}

impl Handle<ListAudits> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListAudits) -> Result<List<Audit>> {
        let limit = limit(operation.limit);
        let before: Option<AuditId> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = audits::list(tx, call.scope()?, operation.status, before, limit + 1).await?;
        let rows = with_trends(tx, call.scope()?, rows).await?;
        let rows = rows.into_iter().map(|a| with_actions(call, a)).collect();
        call.page(&operation, limit, rows, |last: &Audit| last.id)
    }
}

impl Handle<GetCurrentAudit> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: GetCurrentAudit) -> Result<Audit> {
        let newest = audits::list(tx, call.scope()?, None, None, 1).await?.pop();
        let none = || {
            Problem::new(Code::NotFound, "this project has not been audited yet")
                .hint("start an audit with audits.start")
                .with("resource", "audit")
        };
        answer(call, tx, newest.ok_or_else(none)?).await
    }
}

impl Handle<GetAudit> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetAudit) -> Result<Audit> {
        let id = call.child(RecordKind::Audit, &operation.audit_id)?;
        let found = audits::get(tx, call.scope()?, id).await;
        let audit = call.or_missing(tx, RecordKind::Audit, id, found).await?;
        answer(call, tx, audit).await
    }
}

impl Handle<CancelAudit> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: CancelAudit) -> Result<Audit> {
        let id = call.child(RecordKind::Audit, &operation.audit_id)?;
        let scope = call.scope()?;
        let found = audits::get(tx, scope, id).await;
        let audit = call.or_missing(tx, RecordKind::Audit, id, found).await?;
        if !audit.status.is_active() {
            return Err(Problem::invalid_state(audit.status.as_str(), "cancelled", &[]).into());
        }
        super::jobs::cancel(call, tx, audit.job_id).await?;
        Ok(with_actions(call, audits::get(tx, scope, id).await?))
    }
}

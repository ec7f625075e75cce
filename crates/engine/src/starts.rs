//! Starts of work that callers and schedules ask for in the same way, each in the transaction of who asks.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    audits::{Audit, AuditConfig, AuditTrigger},
    ids::{AuditId, JobId, RunId},
    jobs::Job as JobRecord,
    runs::Run,
    usage::Metric,
};
use searchwright_site::{checks, url_key::NORMALIZATION_VERSION};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answer_runs::{self, NewRun},
    audits, usage,
};
use searchwright_visibility::domains::start_url;

use crate::{Engine, failure::Result, jobs::Job};

/// Pages fetched unless the caller names another limit.
pub(crate) const DEFAULT_MAX_PAGES: u32 = 10_000;
/// Clicks followed unless the caller names another limit.
pub(crate) const DEFAULT_MAX_DEPTH: u16 = 20;

/// An audit to be started.
#[derive(Debug)]
pub(crate) struct AuditOrder<'a> {
    /// Domain of the project.
    pub domain: &'a str,
    /// Trigger.
    pub trigger: AuditTrigger,
    /// Limits of the crawl.
    pub config: AuditConfig,
}

/// An audit and the job that runs it.
#[derive(Debug)]
pub(crate) struct QueuedAudit {
    /// The audit.
    pub audit: Audit,
    /// The job.
    pub job: JobRecord,
}

/// Starts an audit, which counts against the quota. The caller has made sure that none is active.
pub(crate) async fn start_audit(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    order: AuditOrder<'_>,
    now: Instant,
) -> Result<QueuedAudit> {
    usage::consume(tx, scope, Metric::Audits, 1, now).await??;
    let (audit_id, job_id): (AuditId, JobId) = (engine.clock.id(), engine.clock.id());
    let new = audits::NewAudit {
        id: audit_id,
        job_id,
        trigger: order.trigger,
        start_url: start_url(order.domain),
        config: order.config,
        ruleset_version: checks::RULESET_VERSION,
        normalization_version: NORMALIZATION_VERSION,
    };
    let audit = audits::create(tx, scope, new, now).await?;
    let links = BTreeMap::from([(
        "audit".to_owned(),
        format!("/projects/{}/audits/{audit_id}", scope.project()),
    )]);
    let job = Job::Audit { audit_id }
        .enqueue(tx, scope, job_id, links, now)
        .await?;
    Ok(QueuedAudit { audit, job })
}

/// A run and the job that carries it out.
#[derive(Debug)]
pub(crate) struct QueuedRun {
    /// The run.
    pub run: Run,
    /// The job.
    pub job: JobRecord,
}

/// Starts a run that asks for so many answers, which count against the quota.
pub(crate) async fn start_run(
    tx: &mut Tx,
    scope: ProjectScope,
    new: NewRun,
    answers: u32,
    now: Instant,
) -> Result<QueuedRun> {
    let run: RunId = new.id;
    let work = Job::TrackPrompts { run_id: run, answers };
    work.count(tx, scope, now).await?;
    let links = BTreeMap::from([(
        "run".to_owned(),
        format!("/projects/{}/visibility/runs/{run}", scope.project()),
    )]);
    let job = work.enqueue(tx, scope, new.job, links, now).await?;
    let run = answer_runs::create(tx, scope, new, now).await?.run;
    Ok(QueuedRun { run, job })
}

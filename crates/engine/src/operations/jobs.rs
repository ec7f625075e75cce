//! Jobs.

use searchwright_contract::{
    List, Problem, Scope,
    actions::{AllowedActions, Permission},
    ids::JobId,
    jobs::{CancelJob, GetJob, Job, JobStatus, ListJobs},
};
use searchwright_store::{Tx, access::RecordKind, audits, jobs, projects};

use super::items::changed_since_read;
use crate::{
    Engine,
    call::{Call, limit},
    endpoint::Handle,
    failure::Result,
    jobs as work,
};

/// Returns the scope needed to cancel a job: the same as to start it.
fn scope_of(kind: &str) -> Scope {
    match kind {
        "audit" | "recheck" | "rescore" => Scope::AuditsWrite,
        "cluster_keywords" => Scope::KeywordsWrite,
        "publish_post" | "verify_publication" => Scope::ContentPublish,
        _ => Scope::ContentGenerate,
    }
}

pub(super) fn with_actions(call: &Call, mut job: Job) -> Job {
    let cancel = if job.status.is_active() {
        call.permission(scope_of(&job.kind))
    } else {
        Permission::no("invalid_state", "the job has ended")
    };
    job.allowed_actions = AllowedActions::default().with("cancel", cancel);
    job
}

impl Handle<ListJobs> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListJobs) -> Result<List<Job>> {
        let limit = limit(operation.limit);
        let before: Option<JobId> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = jobs::list(tx, call.scope()?, operation.status, before, limit + 1).await?;
        let rows = rows.into_iter().map(|j| with_actions(call, j)).collect();
        call.page(&operation, limit, rows, |last: &Job| last.id)
    }
}

impl Handle<GetJob> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetJob) -> Result<Job> {
        let id = call.child(RecordKind::Job, &operation.job_id)?;
        let found = jobs::get(tx, call.scope()?, id).await;
        Ok(with_actions(
            call,
            call.or_missing(tx, RecordKind::Job, id, found).await?,
        ))
    }
}

impl Handle<CancelJob> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: CancelJob) -> Result<Job> {
        let id = call.child(RecordKind::Job, &operation.job_id)?;
        let found = jobs::get(tx, call.scope()?, id).await;
        let needed = scope_of(&call.or_missing(tx, RecordKind::Job, id, found).await?.kind);
        if let Some(problem) = call.refusal(needed) {
            return Err(problem.into());
        }
        cancel(call, tx, id).await
    }
}

/// Stops a job and what it works on.
pub(super) async fn cancel(call: &Call, tx: &mut Tx, id: JobId) -> Result<Job> {
    let scope = call.scope()?;
    // Before the job, as all others do: what it works on changes with it.
    projects::lock(tx, scope).await?;
    let before = stop(call, tx, id).await?;
    if !before.is_active() {
        return Err(Problem::invalid_state(before.as_str(), "canceled", &[]).into());
    }
    if before == JobStatus::Running
        && let work::Job::Audit { audit_id } = work::Job::read(jobs::get_payload(tx, scope, id).await?)?
    {
        // the transaction that ends it may be what this one waited for
        let status = audits::get(tx, scope, audit_id).await?.status;
        if !status.is_active() {
            return Err(Problem::invalid_state(status.as_str(), "cancelled", &[]).into());
        }
    }
    if before == JobStatus::Queued {
        work::withdraw(&call.engine, tx, scope, id, call.now)
            .await
            .map_err(changed_since_read)?;
    }
    Ok(with_actions(call, jobs::get(tx, scope, id).await?))
}

/// Stops a job; what it was before. One that no worker holds ends here, and gives back what it has not used.
pub(super) async fn stop(call: &Call, tx: &mut Tx, id: JobId) -> Result<JobStatus> {
    let scope = call.scope()?;
    let found = jobs::cancel(tx, scope, id, call.now).await;
    let before = call.or_missing(tx, RecordKind::Job, id, found).await?;
    if before == JobStatus::Queued {
        let (record, payload) = (
            jobs::get(tx, scope, id).await?,
            jobs::get_payload(tx, scope, id).await?,
        );
        work::Job::read(payload)?
            .give_back(tx, &record, scope, false)
            .await?;
    }
    Ok(before)
}

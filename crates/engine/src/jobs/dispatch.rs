//! Sends each kind of job to the code that runs it, cleans up after it, and withdraws it.

use searchwright_contract::{Instant, ids::JobId};
use searchwright_store::{
    Result, Tx,
    access::ProjectScope,
    jobs::{self, JobEnd, LeasedJob},
    rechecks,
};

use super::{
    Job, JobContext, JobError, answer_analysis, generate_post, keyword_clusters, keyword_generation,
    keyword_metrics, publish, track_prompts, verify_publication,
};
use crate::{
    Engine,
    audits::{AuditFailure, audit, recheck, rescore},
};

/// Runs a leased job to its result.
pub(super) async fn run(job: JobContext) -> Result<serde_json::Value, JobError> {
    tracing::info!(job = %job.leased.id, attempt = job.leased.attempt, "job started");
    match Job::read(job.leased.payload.clone()).map_err(JobError::give_up)? {
        Job::Audit { audit_id } => audit::run(job, audit_id).await,
        Job::GenerateKeywords { wanted } => keyword_generation::run(job, wanted).await,
        Job::KeywordMetrics { wanted } => keyword_metrics::run(job, wanted).await,
        Job::ClusterKeywords { language } => keyword_clusters::run(job, language).await,
        Job::Recheck { recheck_id } => recheck::run(job, recheck_id).await,
        Job::Rescore => rescore::run(job).await,
        Job::TrackPrompts { run_id, .. } => track_prompts::run(job, run_id).await,
        Job::AnalyzeAnswers => answer_analysis::run(job).await,
        Job::GeneratePost { order } => generate_post::run(job, order).await,
        Job::PublishPost {
            attempt_id,
            is_scheduled,
            ..
        } => publish::run(job, attempt_id, is_scheduled).await,
        Job::VerifyPublication {
            post_id,
            connection_id,
        } => verify_publication::run(job, post_id, connection_id).await,
    }
}

/// Cleans up after a job that ended for good, in the transaction that ends it. `failure` is the reason if an audit failed.
pub(super) async fn clean_up(
    engine: &Engine,
    tx: &mut Tx,
    leased: &LeasedJob,
    job: &Job,
    end: &JobEnd,
    failure: AuditFailure,
    now: Instant,
) -> Result<()> {
    let succeeded = matches!(end, JobEnd::Succeeded(_));
    let event = engine.clock.id();
    match job {
        Job::Audit { .. } if !succeeded => audit::abort(engine, tx, leased, end, failure, now).await?,
        Job::Recheck { recheck_id } if !succeeded => {
            let why = match end {
                JobEnd::Failed(problem) => problem.detail.as_str(),
                _ => "canceled",
            };
            rechecks::abandon(tx, leased.scope, *recheck_id, why, now).await?;
        }
        Job::TrackPrompts { run_id, .. } if !succeeded => {
            track_prompts::abort(tx, &engine.clock, leased, *run_id, end).await?;
        }
        Job::GeneratePost { order } if !succeeded => {
            generate_post::abort(tx, leased, order, end, event, now).await?;
        }
        Job::PublishPost { attempt_id, .. } if !succeeded => {
            publish::abort(tx, leased, *attempt_id, end, event, now).await?;
        }
        _ => {}
    }
    let record = jobs::get(tx, leased.scope, leased.id).await?;
    job.give_back(tx, &record, leased.scope, succeeded).await
}

/// Ends the work of a job that was canceled before a worker took it, in the transaction that cancels the job.
pub(crate) async fn withdraw(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    job: JobId,
    now: Instant,
) -> Result<()> {
    audit::withdraw(engine, tx, scope, job, now).await?;
    generate_post::withdraw(engine, tx, scope, job, now).await?;
    publish::withdraw(engine, tx, scope, job, now).await?;
    track_prompts::withdraw(tx, scope, job, now).await?;
    if let Some(recheck) = rechecks::find_active(tx, scope).await?
        && recheck.job_id == job
    {
        rechecks::abandon(tx, scope, recheck.id, "canceled", now).await?;
    }
    Ok(())
}

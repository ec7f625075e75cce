//! Ends the generation of a post whose job failed for good or was canceled.

use searchwright_contract::{
    Instant,
    events::EventType,
    ids::{EventId, JobId},
    posts::{PostFailure, PostStatus},
};
use searchwright_store::{
    Result, Tx,
    access::ProjectScope,
    jobs::{JobEnd, LeasedJob},
    posts, projects,
};
use searchwright_writing::transitions::{Actor, Facts};

use super::{Order, refused};
use crate::{
    Engine,
    posts::{advance, announce, facts, follow},
};

/// Marks the post of a job that failed for good as failed. It keeps the text that it had.
pub(in crate::jobs) async fn abort(
    tx: &mut Tx,
    leased: &LeasedJob,
    order: &Order,
    end: &JobEnd,
    event: EventId,
    now: Instant,
) -> Result<()> {
    if order.dry_run {
        return Ok(());
    }
    let scope = leased.scope;
    projects::lock(tx, scope).await?;
    let mut record = posts::get(tx, scope, order.post_id).await?;
    let old = record.post.summary.clone();
    let status = old.status;
    if record.job != Some(leased.id) || !matches!(status, PostStatus::Queued | PostStatus::Generating) {
        return Ok(());
    }
    let facts = Facts {
        is_out_of_attempts: true,
        ..facts(&record.post.summary, &[], now)
    };
    advance(&mut record, PostStatus::Failed, Actor::Worker, &facts, now).map_err(refused)?;
    let (code, detail) = match end {
        JobEnd::Failed(problem) => (problem.code.as_str().to_owned(), problem.detail.clone()),
        _ => ("canceled".to_owned(), "it was cancelled".to_owned()),
    };
    record.post.summary.failure = Some(PostFailure {
        stage: "generate".to_owned(),
        code,
        detail,
    });
    if let Some(generation) = &mut record.post.generation {
        generation.finished_at = Some(now);
    }
    let done = posts::update(tx, scope, &record, now).await?;
    follow(tx, scope, Some(&old), &done.post.summary, now).await?;
    announce(
        tx,
        scope,
        event,
        EventType::PostGenerationFailed,
        &done.post.summary,
        now,
    )
    .await
}

/// Makes the post of a job that was canceled before a worker took it a draft again.
pub(in crate::jobs) async fn withdraw(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    job: JobId,
    now: Instant,
) -> Result<()> {
    let Some(id) = posts::find_queued_for_job(tx, scope, job).await? else {
        return Ok(());
    };
    let mut record = posts::get(tx, scope, id).await?;
    let old = record.post.summary.clone();
    let facts = facts(&old, &record.post.findings.warnings, now);
    advance(&mut record, PostStatus::Draft, Actor::Patch, &facts, now).map_err(refused)?;
    let written = posts::update(tx, scope, &record, now).await?;
    follow(tx, scope, Some(&old), &written.post.summary, now).await?;
    let event = engine.clock.id();
    announce(
        tx,
        scope,
        event,
        EventType::PostUpdated,
        &written.post.summary,
        now,
    )
    .await
}

//! Ends an attempt whose job failed for good or was canceled.

use searchwright_contract::{
    Instant,
    ids::{AttemptId, EventId, JobId},
    integrations::IntegrationError,
    posts::PublicationState,
};
use searchwright_store::{
    Error, Tx,
    access::ProjectScope,
    jobs::{JobEnd, LeasedJob},
    publications::{self, PublicationAttempt},
};

use super::outcome::fail;
use crate::Engine;

/// Ends the attempt of a job that failed for good, unless it has an outcome.
pub(in crate::jobs) async fn abort(
    tx: &mut Tx,
    leased: &LeasedJob,
    attempt_id: AttemptId,
    end: &JobEnd,
    event: EventId,
    now: Instant,
) -> Result<(), Error> {
    let attempt = publications::get_attempt(tx, leased.scope, attempt_id).await?;
    if attempt.finished_at.is_some() || attempt.job != leased.id {
        return Ok(());
    }
    let (code, detail) = match end {
        JobEnd::Failed(problem) => (problem.code.as_str(), problem.detail.as_str()),
        _ => CANCELED,
    };
    end_attempt(tx, leased.scope, attempt, (code, detail), event, now).await
}

const CANCELED: (&str, &str) = ("canceled", "it was cancelled before anything was sent");

/// Marks an attempt that sent nothing as failed, and one that sent something as uncertain.
async fn end_attempt(
    tx: &mut Tx,
    scope: ProjectScope,
    mut attempt: PublicationAttempt,
    (code, detail): (&str, &str),
    event: EventId,
    now: Instant,
) -> Result<(), Error> {
    let Some(mut published) = publications::find(tx, scope, attempt.post, attempt.connection).await? else {
        return Ok(());
    };
    if attempt.sent.is_some() {
        (attempt.state, attempt.next_check_at) = (PublicationState::Uncertain, None);
        published.state = PublicationState::Uncertain;
        publications::update_attempt(tx, scope, &attempt).await?;
        return publications::upsert(tx, scope, &published, now).await;
    }
    let why = IntegrationError {
        code: code.to_owned(),
        detail: detail.to_owned(),
        provider_message: None,
        at: now,
    };
    fail(tx, scope, attempt, published, why, event, now).await
}

/// Ends the attempt of a job that was canceled before a worker took it.
pub(in crate::jobs) async fn withdraw(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    job: JobId,
    now: Instant,
) -> Result<(), Error> {
    let Some(attempt) = publications::find_open_attempt_of_job(tx, scope, job).await? else {
        return Ok(());
    };
    end_attempt(tx, scope, attempt, CANCELED, engine.clock.id(), now).await
}

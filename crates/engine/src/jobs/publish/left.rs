//! What is left of an attempt whose job will not be run again, and of a post whose time came.

use searchwright_contract::{
    Instant,
    events::EventType,
    integrations::IntegrationError,
    posts::{Post, PostFailure, PostStatus, PublicationState},
};
use searchwright_store::{
    Error, Tx,
    access::ProjectScope,
    jobs::{End, Leased},
    posts,
    publications::{self, Attempt},
};
use uuid::Uuid;

use super::outcome::fail;
use crate::{
    Engine,
    posts::{PUBLISH, announce, follow},
};

/// A job that will not be run again, while its attempt has no outcome.
pub(in crate::jobs) async fn over(
    tx: &mut Tx,
    leased: &Leased,
    attempt_id: Uuid,
    end: &End,
    event: Uuid,
    now: Instant,
) -> Result<(), Error> {
    let attempt = publications::attempt_of(tx, leased.scope, attempt_id).await?;
    if attempt.finished_at.is_some() || attempt.job != leased.id {
        return Ok(());
    }
    let (code, detail) = match end {
        End::Failed(problem) => (problem.code.as_str(), problem.detail.as_str()),
        _ => CANCELED,
    };
    leave(tx, leased.scope, attempt, (code, detail), event, now).await
}

const CANCELED: (&str, &str) = ("canceled", "somebody stopped it before anything was sent");

/// What was never sent has failed; what was sent stays uncertain.
async fn leave(
    tx: &mut Tx,
    scope: ProjectScope,
    mut attempt: Attempt,
    (code, detail): (&str, &str),
    event: Uuid,
    now: Instant,
) -> Result<(), Error> {
    let Some(mut published) = publications::get(tx, scope, attempt.post, attempt.connection).await? else {
        return Ok(());
    };
    if attempt.sent.is_some() {
        (attempt.state, attempt.next_check_at) = (PublicationState::Uncertain, None);
        published.state = PublicationState::Uncertain;
        publications::save_attempt(tx, scope, &attempt).await?;
        return publications::save(tx, scope, &published, now).await;
    }
    let why = IntegrationError {
        code: code.to_owned(),
        detail: detail.to_owned(),
        provider_message: None,
        at: now,
    };
    fail(tx, scope, attempt, published, why, event, now).await
}

/// A scheduled post whose time has come: on its way, or failed with the reason.
pub(crate) async fn scheduled(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    mut record: posts::Record,
    old: &Post,
    why: Option<(&str, String)>,
    now: Instant,
) -> crate::Result<()> {
    let kind = match why {
        None => EventType::PostUpdated,
        Some((code, detail)) => {
            let summary = &mut record.post.summary;
            summary.status = PostStatus::Failed;
            summary.scheduled_at = None;
            summary.failure = Some(PostFailure {
                stage: PUBLISH.to_owned(),
                code: code.to_owned(),
                detail,
            });
            EventType::PostPublishFailed
        }
    };
    let written = posts::update(tx, scope, &record, now).await?;
    follow(tx, scope, Some(&old.summary), &written.post.summary, now).await?;
    announce(tx, scope, engine.clock.id(), kind, &written.post.summary, now).await?;
    Ok(())
}

/// A job that was stopped before a worker took it.
pub(crate) async fn withdraw(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    job: Uuid,
    now: Instant,
) -> Result<(), Error> {
    let Some(attempt) = publications::open_of_job(tx, scope, job).await? else {
        return Ok(());
    };
    leave(tx, scope, attempt, CANCELED, engine.clock.id(), now).await
}

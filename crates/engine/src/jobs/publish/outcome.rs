//! Outcome of an attempt, written in one transaction with the post, the publication, the event and the follow-up job.

use searchwright_contract::{
    Instant,
    events::EventType,
    ids::EventId,
    integrations::IntegrationError,
    posts::{Post, PostFailure, PostStatus, PublicationState},
};
use searchwright_publishing::{Aim, Reason, Remote, Trouble, Visible};
use searchwright_store::{
    Error, Tx,
    access::ProjectScope,
    integrations, posts, projects,
    publications::{self, PublicationAttempt, PublicationRecord as Published},
};
use searchwright_writing::transitions::{Actor, Facts};
use serde_json::Value;

use super::{
    super::{Job, JobContext, JobError},
    View, error, held, problem, result,
};
use crate::{
    Failure,
    posts::{PUBLISH, advance, announce, attempts::GONE, facts, follow},
};

/// State of the post at the provider at the end of an attempt.
enum What {
    /// The provider has it as given.
    There(Remote),
    /// The provider had it already, and nothing was sent.
    Unchanged,
    /// The provider does not have it, as intended.
    Nothing,
}

/// Ends an attempt whose request was carried out. What readers see is what the provider says, whatever was asked of it.
pub(super) async fn done(job: &JobContext, mut view: View, remote: &Remote) -> Result<Value, JobError> {
    let is_live = remote.visible == Visible::Live;
    match view.aim() {
        Aim::Live if !is_live => return held::held(job, view, remote).await,
        Aim::Gone if is_live => {
            view.attempt.sent = None;
            let why = IntegrationError {
                code: "still_live".to_owned(),
                detail: "the provider took the request and answers that readers still see the post: take it back there"
                    .to_owned(),
                provider_message: None,
                at: job.engine.clock.now(),
            };
            return failed(job, view, why).await;
        }
        _ => {}
    }
    settle(job, view, What::There(remote.clone())).await
}

pub(super) async fn unchanged(job: &JobContext, view: View) -> Result<Value, JobError> {
    settle(job, view, What::Unchanged).await
}

pub(super) async fn absent(job: &JobContext, view: View) -> Result<Value, JobError> {
    settle(job, view, What::Nothing).await
}

/// Converts a transition that the table refuses to a worker to an internal error.
pub(super) fn defect(failure: Failure) -> Error {
    Error::Defect(failure.to_string())
}

async fn settle(job: &JobContext, view: View, what: What) -> Result<Value, JobError> {
    let (now, event, check) = (
        job.engine.clock.now(),
        job.engine.clock.id(),
        job.engine.clock.id(),
    );
    let View {
        mut attempt,
        mut published,
        connection,
        ..
    } = view;
    let id = attempt.id;
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            projects::lock(tx, scope).await?;
            let was_live = posts::get(tx, scope, attempt.post).await?.post.summary.is_live;
            record(&mut attempt, &mut published, &what, now);
            publications::update_attempt(tx, scope, &attempt).await?;
            publications::upsert(tx, scope, &published, now).await?;
            if let Some(connection) = connection.filter(|_| !matches!(what, What::Unchanged)) {
                integrations::record_outcome(tx, scope, connection.id, None, now).await?;
                integrations::record_publication(tx, scope, connection.id, now).await?;
            }
            let post = arrive(tx, scope, &attempt, &published, now).await?;
            // Of a post that is live at several providers, the first makes it public and the last takes it back.
            let kind = match (was_live, post.summary.is_live) {
                (false, true) => EventType::PostPublished,
                (_, false) if attempt.aim == GONE => EventType::PostUnpublished,
                _ => EventType::PostUpdated,
            };
            if !matches!(what, What::Unchanged) {
                announce(tx, scope, event, kind, &post.summary, now).await?;
                if published.is_live && published.external_url.is_some() {
                    let look = Job::VerifyPublication {
                        post_id: attempt.post,
                        connection_id: attempt.connection,
                    };
                    look.enqueue_now(tx, scope, check, now).await?;
                }
            }
            Ok(())
        })
    })
    .await?;
    job.engine.happened.notify_one();
    job.engine.wake.notify_one();
    Ok(result(&super::load(job, id).await?))
}

/// Records the outcome in the attempt and the publication.
fn record(attempt: &mut PublicationAttempt, published: &mut Published, what: &What, now: Instant) {
    let is_live = match what {
        What::There(remote) => remote.visible == Visible::Live,
        What::Unchanged => published.is_live,
        What::Nothing => false,
    };
    let state = match (is_live, attempt.aim.as_str()) {
        (true, _) => PublicationState::Published,
        (false, GONE) => PublicationState::Unpublished,
        (false, _) => PublicationState::Draft,
    };
    let word = match what {
        What::Unchanged => "unchanged",
        What::Nothing => "gone",
        What::There(_) => state.as_str(),
    };
    let detail = match what {
        What::There(remote) => Some(
            format!("{} {}", remote.id, remote.url.as_deref().unwrap_or_default())
                .trim()
                .to_owned(),
        ),
        _ => None,
    };
    attempt.add_evidence(word, detail, now);
    (attempt.state, published.state) = (state, state);
    (attempt.sent, attempt.next_check_at, attempt.finished_at) = (None, None, Some(now));
    published.last_error = None;
    match what {
        What::There(remote) => {
            published.external_id = Some(remote.id.clone());
            published.external_url = remote.url.clone().or(published.external_url.take());
            published.external_version = Some(remote.version.clone());
            published.verification = None;
            if attempt.aim != GONE {
                published.content_hash = Some(attempt.content_hash.clone());
                published.post_version = Some(attempt.post_version);
            }
        }
        What::Nothing => {
            (
                published.external_id,
                published.external_url,
                published.external_version,
            ) = (None, None, None);
            (published.content_hash, published.verification) = (None, None);
        }
        What::Unchanged => {}
    }
    published.is_live = is_live;
    if is_live {
        published.published_at = published.published_at.or(Some(now));
    }
}

/// Moves the post to the status that follows from its attempt.
async fn arrive(
    tx: &mut Tx,
    scope: ProjectScope,
    attempt: &PublicationAttempt,
    published: &Published,
    now: Instant,
) -> Result<Post, Error> {
    let mut record = posts::get(tx, scope, attempt.post).await?;
    let old = record.post.summary.clone();
    if old.status != PostStatus::Publishing || record.job != Some(attempt.job) {
        return Ok(record.post);
    }
    let facts = Facts {
        has_external_id: published.external_id.is_some(),
        is_out_of_attempts: true,
        ..facts(&old, &[], now)
    };
    let to = if old.is_live {
        PostStatus::Published
    } else {
        back(attempt.from_status)
    };
    advance(&mut record, to, Actor::Worker, &facts, now).map_err(defect)?;
    let mut elsewhere = None;
    if attempt.aim == GONE && old.is_live {
        let all = publications::list_of_post(tx, scope, attempt.post).await?;
        elsewhere = all.into_iter().find(|other| other.is_live).map(|other| other.url);
    }
    let summary = &mut record.post.summary;
    summary.failure = None;
    if published.is_live {
        summary.published_at = summary.published_at.or(Some(now));
        summary.published_url = published.external_url.clone().or(summary.published_url.take());
        record.published_hash = Some(attempt.content_hash.clone());
    } else if !old.is_live {
        summary.published_url = None;
        record.published_hash = None;
    } else if let Some(other) = elsewhere {
        summary.published_url = other;
    }
    let written = posts::update(tx, scope, &record, now).await?;
    follow(tx, scope, Some(&old), &written.post.summary, now).await?;
    Ok(written.post)
}

/// The status a post goes back to when nothing of it is live.
const fn back(from: PostStatus) -> PostStatus {
    match from {
        PostStatus::Review => PostStatus::Review,
        _ => PostStatus::Draft,
    }
}

/// Ends an attempt that the provider refused.
pub(super) async fn refused(job: &JobContext, view: View, trouble: &Trouble) -> Result<Value, JobError> {
    let now = job.engine.clock.now();
    failed(job, view, error(trouble, now)).await
}

/// Ends an attempt that must not be carried out in the state found at the provider.
pub(super) async fn stopped(job: &JobContext, view: View, reason: Reason) -> Result<Value, JobError> {
    let why = IntegrationError {
        code: reason.word().to_owned(),
        detail: reason.text().to_owned(),
        provider_message: None,
        at: job.engine.clock.now(),
    };
    failed(job, view, why).await
}

pub(super) async fn failed(job: &JobContext, view: View, why: IntegrationError) -> Result<Value, JobError> {
    let (now, event) = (job.engine.clock.now(), job.engine.clock.id());
    let View {
        attempt, published, ..
    } = view;
    let told = problem(&why.code, &why.detail);
    job.write_fenced(move |tx, scope| {
        Box::pin(async move { fail(tx, scope, attempt, published, why, event, now).await })
    })
    .await?;
    job.engine.happened.notify_one();
    Err(JobError::GiveUp(told))
}

pub(super) async fn fail(
    tx: &mut Tx,
    scope: ProjectScope,
    mut attempt: PublicationAttempt,
    mut published: Published,
    why: IntegrationError,
    event: EventId,
    now: Instant,
) -> Result<(), Error> {
    projects::lock(tx, scope).await?;
    attempt.add_evidence("failed", format!("{}: {}", why.code, why.detail), now);
    attempt.state = PublicationState::Failed;
    (attempt.next_check_at, attempt.finished_at) = (None, Some(now));
    published.state = match why.code.as_str() {
        _ if published.is_live => PublicationState::Published,
        held::HELD => PublicationState::Draft,
        _ => PublicationState::Failed,
    };
    published.last_error = Some(why.clone());
    publications::update_attempt(tx, scope, &attempt).await?;
    publications::upsert(tx, scope, &published, now).await?;
    let mut record = posts::get(tx, scope, attempt.post).await?;
    let old = record.post.summary.clone();
    if old.status != PostStatus::Publishing || record.job != Some(attempt.job) {
        return Ok(());
    }
    let facts = Facts {
        is_out_of_attempts: true,
        ..facts(&old, &[], now)
    };
    let to = if old.is_live {
        PostStatus::Published
    } else {
        PostStatus::Failed
    };
    advance(&mut record, to, Actor::Worker, &facts, now).map_err(defect)?;
    if !old.is_live {
        (record.post.summary.published_url, record.published_hash) = (None, None);
    }
    record.post.summary.failure = Some(PostFailure {
        stage: PUBLISH.to_owned(),
        code: why.code,
        detail: why.detail,
    });
    let written = posts::update(tx, scope, &record, now).await?;
    follow(tx, scope, Some(&old), &written.post.summary, now).await?;
    announce(
        tx,
        scope,
        event,
        EventType::PostPublishFailed,
        &written.post.summary,
        now,
    )
    .await
}

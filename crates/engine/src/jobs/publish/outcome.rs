//! What came of an attempt, written in one transaction with the post, the publication, the event and what follows.

use std::time::Duration;

use searchwright_contract::{
    Instant,
    events::EventType,
    integrations::IntegrationError,
    posts::{Post, PostFailure, PostStatus, PublicationState},
};
use searchwright_store::{
    Error, Tx,
    access::ProjectScope,
    integrations, posts, projects,
    publications::{self, Attempt, Record as Published},
};
use serde_json::Value;
use uuid::Uuid;

use super::{
    super::{
        Job, JobError,
        audit::fenced,
        worker::{Run, backoff},
    },
    DRAFT, GONE, LIVE, LOOKS, MISSED_FOR, MISSES, MOST_ATTEMPTS, PATIENCE, View, error, note, problem,
    result, save,
};
use crate::{
    Failure,
    posts::{PUBLISH, advance, announce, facts, follow},
    publishing::{Reason, Remote, Trouble, Why, vendors},
    writing::transitions::{Actor, Facts},
};

/// Longest pause that a provider may ask for at once.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);
/// Milliseconds for which a provider may ask for patience altogether.
const LONGEST_PATIENCE: i64 = 24 * 3_600_000;

/// What is known at the end.
enum What {
    /// It is there like that.
    There(Remote),
    /// It was there like that before, and nothing was sent.
    Unchanged,
    /// There is nothing, as it was to be.
    Nothing,
}

pub(super) async fn done(run: &Run, view: View, remote: &Remote) -> Result<Value, JobError> {
    settle(run, view, What::There(remote.clone())).await
}

pub(super) async fn unchanged(run: &Run, view: View) -> Result<Value, JobError> {
    settle(run, view, What::Unchanged).await
}

pub(super) async fn absent(run: &Run, view: View) -> Result<Value, JobError> {
    settle(run, view, What::Nothing).await
}

/// A transition that the table refuses a worker is a defect of ours.
fn defect(failure: Failure) -> Error {
    Error::Defect(failure.to_string())
}

async fn settle(run: &Run, view: View, what: What) -> Result<Value, JobError> {
    let (now, event, check) = (
        run.engine.clock.now(),
        run.engine.clock.id(),
        run.engine.clock.id(),
    );
    let View {
        mut attempt,
        mut published,
        connection,
        ..
    } = view;
    let id = attempt.id;
    fenced(&run.engine.db, run.leased.clone(), move |tx, scope| {
        Box::pin(async move {
            projects::lock(tx, scope).await?;
            let was_live = published.is_live;
            record(&mut attempt, &mut published, &what, now);
            publications::save_attempt(tx, scope, &attempt).await?;
            publications::save(tx, scope, &published, now).await?;
            if let Some(connection) = connection.filter(|_| !matches!(what, What::Unchanged)) {
                integrations::note(tx, scope, connection.id, None, now).await?;
                integrations::published(tx, scope, connection.id, now).await?;
            }
            let post = arrive(tx, scope, &attempt, &published, now).await?;
            let kind = match attempt.aim.as_str() {
                LIVE if !was_live => EventType::PostPublished,
                GONE => EventType::PostUnpublished,
                _ => EventType::PostUpdated,
            };
            if !matches!(what, What::Unchanged) {
                announce(tx, scope, event, kind, &post.summary, now).await?;
                if published.is_live && published.external_url.is_some() {
                    let look = Job::VerifyPublication {
                        post_id: attempt.post,
                        connection_id: attempt.connection,
                    };
                    look.enqueue_once(tx, scope, check, now).await?;
                }
            }
            Ok(())
        })
    })
    .await?;
    run.engine.happened.notify_one();
    run.engine.wake.notify_one();
    Ok(result(&super::load(run, id).await?))
}

/// Writes what is known into the attempt and the publication.
fn record(attempt: &mut Attempt, published: &mut Published, what: &What, now: Instant) {
    let state = match attempt.aim.as_str() {
        LIVE => PublicationState::Published,
        DRAFT => PublicationState::Draft,
        _ => PublicationState::Unpublished,
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
    attempt.note(word, detail, now);
    (attempt.state, published.state) = (state, state);
    (attempt.sent, attempt.next_check_at, attempt.finished_at) = (None, None, Some(now));
    published.last_error = None;
    match what {
        What::There(remote) => {
            published.external_id = Some(remote.id.clone());
            published.external_url = remote.url.clone().or(published.external_url.take());
            published.external_version = Some(remote.version.clone());
            published.is_live = attempt.aim == LIVE;
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
            (published.content_hash, published.is_live, published.verification) = (None, false, None);
        }
        What::Unchanged => {}
    }
    if published.is_live {
        published.published_at = published.published_at.or(Some(now));
    }
}

/// Takes the post where its attempt has brought it.
async fn arrive(
    tx: &mut Tx,
    scope: ProjectScope,
    attempt: &Attempt,
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
        let all = publications::shown(tx, scope, attempt.post).await?;
        elsewhere = all.into_iter().find(|other| other.is_live).map(|other| other.url);
    }
    let summary = &mut record.post.summary;
    summary.failure = None;
    if attempt.aim == LIVE {
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

/// A request failed: whether it may have been carried out decides what is next.
pub(super) async fn troubled(
    run: &Run,
    mut view: View,
    connection: &integrations::Record,
    trouble: &Trouble,
) -> Result<Value, JobError> {
    note(&run.engine, run.leased.scope, connection, Some(trouble))
        .await
        .map_err(JobError::from)?;
    let now = run.engine.clock.now();
    if let Trouble::Refused { why: Why::Schema, .. } = trouble {
        // What exactly is missing is found out when somebody asks for the fields.
        let (id, missing) = (connection.id, ["fieldMap".to_owned()]);
        fenced(&run.engine.db, run.leased.clone(), move |tx, scope| {
            Box::pin(async move { integrations::miss(tx, scope, id, &missing, now).await })
        })
        .await?;
    }
    view.published.last_error = Some(error(trouble, now));
    let detail = match trouble {
        Trouble::Refused { said: Some(said), .. } => format!("{trouble}: {said}"),
        _ => trouble.to_string(),
    };
    let is_open = view.attempt.sent.is_some();
    let word = match trouble {
        Trouble::Unclear { .. } => "unclear",
        Trouble::NotNow { .. } => "not_now",
        Trouble::Refused { .. } => "refused",
    };
    view.attempt.note(word, detail, now);
    match trouble {
        Trouble::Unclear { .. } => uncertain(run, view, 0).await,
        // Nothing is concluded from a provider that does not let us look.
        Trouble::NotNow { after, .. } if is_open => uncertain(run, view, after.map_or(0, asked)).await,
        Trouble::Refused { .. } if is_open && view.attempt.sent.as_deref() == Some(super::CREATE) => {
            uncertain(run, view, 0).await
        }
        Trouble::NotNow { after, .. } => {
            let waited = now.millis() - view.attempt.created_at.millis();
            if run.leased.attempt >= MOST_ATTEMPTS || waited > LONGEST_PATIENCE {
                return refused(run, view, trouble).await;
            }
            let wait = after.map_or_else(|| backoff(run.leased.attempt, PATIENCE), asked);
            view.attempt.state = PublicationState::Pending;
            view.attempt.next_check_at = Some(now.plus_millis(wait));
            save(run, &view).await?;
            Err(match after {
                Some(_) => JobError::Wait(wait),
                None => JobError::Retry(PATIENCE),
            })
        }
        Trouble::Refused { .. } => refused(run, view, trouble).await,
    }
}

/// Milliseconds that a provider asked for, as far as we go along with it: a post is not put off for days by one header.
fn asked(after: Duration) -> i64 {
    after.min(LONGEST_PAUSE).as_millis() as i64
}

/// Nobody knows: it is looked for again after a while, and in the end left to a person.
async fn uncertain(run: &Run, mut view: View, at_least: i64) -> Result<Value, JobError> {
    let now = run.engine.clock.now();
    view.attempt.state = PublicationState::Uncertain;
    let wait = LOOKS
        .get(view.attempt.checks as usize)
        .copied()
        .map(|wait| wait.max(at_least));
    view.attempt.checks += 1;
    view.attempt.next_check_at = wait.map(|wait| now.plus_millis(wait));
    save(run, &view).await?;
    Err(match wait {
        Some(wait) => JobError::Wait(wait),
        None => JobError::Uncertain(problem(
            "uncertain",
            "whether the post is at the provider could not be found out; look there, then publish again, which looks again",
        )),
    })
}

/// What was sent is not there.
pub(super) async fn missed(run: &Run, mut view: View) -> Result<Value, JobError> {
    let now = run.engine.clock.now();
    let attempt = &mut view.attempt;
    attempt.misses += 1;
    let first = *attempt.first_missed_at.get_or_insert(now);
    let can_look = vendors::of(view.published.provider).is_some_and(|vendor| vendor.capabilities.lookup);
    if can_look && attempt.misses >= MISSES && now.millis() - first.millis() >= MISSED_FOR {
        let why = IntegrationError {
            code: "not_carried_out".to_owned(),
            detail: "the answer was lost, and it is not there: it was looked for several times over more than ten minutes; publish it again".to_owned(),
            provider_message: None,
            at: now,
        };
        return failed(run, view, why).await;
    }
    uncertain(run, view, 0).await
}

/// It will not be carried out.
pub(super) async fn refused(run: &Run, view: View, trouble: &Trouble) -> Result<Value, JobError> {
    let now = run.engine.clock.now();
    failed(run, view, error(trouble, now)).await
}

/// Its connection was ended meanwhile: what was never sent has failed, and what was sent nobody can look for.
pub(super) async fn disconnected(run: &Run, mut view: View) -> Result<Value, JobError> {
    let gone = Trouble::because(Why::Credential, "the provider was disconnected meanwhile");
    if view.attempt.sent.is_none() {
        return refused(run, view, &gone).await;
    }
    let now = run.engine.clock.now();
    view.published.last_error = Some(error(&gone, now));
    view.attempt.note(
        "disconnected",
        "the provider was disconnected meanwhile".to_owned(),
        now,
    );
    (view.attempt.state, view.attempt.next_check_at) = (PublicationState::Uncertain, None);
    save(run, &view).await?;
    Err(JobError::Uncertain(problem(
        "uncertain",
        "whether the post is at the provider cannot be found out while it is not connected; connect it again, then publish again, which looks again",
    )))
}

/// It is not to be carried out as things stand at the provider.
pub(super) async fn stopped(run: &Run, view: View, reason: Reason) -> Result<Value, JobError> {
    let why = IntegrationError {
        code: reason.word().to_owned(),
        detail: reason.text().to_owned(),
        provider_message: None,
        at: run.engine.clock.now(),
    };
    failed(run, view, why).await
}

async fn failed(run: &Run, view: View, why: IntegrationError) -> Result<Value, JobError> {
    let (now, event) = (run.engine.clock.now(), run.engine.clock.id());
    let View {
        attempt, published, ..
    } = view;
    let told = problem(&why.code, &why.detail);
    fenced(&run.engine.db, run.leased.clone(), move |tx, scope| {
        Box::pin(async move { fail(tx, scope, attempt, published, why, event, now).await })
    })
    .await?;
    run.engine.happened.notify_one();
    Err(JobError::GiveUp(told))
}

pub(super) async fn fail(
    tx: &mut Tx,
    scope: ProjectScope,
    mut attempt: Attempt,
    mut published: Published,
    why: IntegrationError,
    event: Uuid,
    now: Instant,
) -> Result<(), Error> {
    projects::lock(tx, scope).await?;
    attempt.note("failed", format!("{}: {}", why.code, why.detail), now);
    attempt.state = PublicationState::Failed;
    (attempt.next_check_at, attempt.finished_at) = (None, Some(now));
    published.state = if published.is_live {
        PublicationState::Published
    } else {
        PublicationState::Failed
    };
    published.last_error = Some(why.clone());
    publications::save_attempt(tx, scope, &attempt).await?;
    publications::save(tx, scope, &published, now).await?;
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

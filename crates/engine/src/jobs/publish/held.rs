//! Posts that a provider took and keeps from readers: there they wait for their date, or for somebody's consent. The attempt has
//! failed, with the reason, and the provider is asked now and then whether readers see the post by now.

use searchwright_contract::{
    events::EventType,
    integrations::IntegrationError,
    posts::{Post, PostStatus, PublicationState},
    usage::Metric,
};
use searchwright_publishing::{Marker, Remote, Trouble, Visible, Wanted, vendors};
use searchwright_store::{
    integrations, jobs, posts, projects,
    publications::{self, PublicationRecord as Published},
    usage,
};
use searchwright_writing::transitions::{Actor, Facts};
use serde_json::{Value, json};

use super::{
    super::{Job, JobContext, JobError},
    View, opened,
    outcome::{defect, fail},
    problem,
};
use crate::posts::{advance, announce, facts, follow};

/// Code of the failure.
pub(super) const HELD: &str = "held_by_provider";
/// Shortest and longest time from one look at the provider to the next, in milliseconds: each is as long as all before it.
const LOOKUP_WAITS: (i64, i64) = (60_000, 86_400_000);
/// Milliseconds after which nobody looks any more: publishing again looks too.
const PATIENCE: i64 = 30 * 86_400_000;
/// Posts of a project that are looked for, so that they leave room in its queue.
const MAX_LOOKS: i64 = 20;

/// Ends an attempt whose post the provider took and does not show to readers.
pub(super) async fn held(job: &JobContext, view: View, remote: &Remote) -> Result<Value, JobError> {
    let clock = &job.engine.clock;
    let (now, failed, taken, look) = (clock.now(), clock.id(), clock.id(), clock.id());
    let View {
        mut attempt,
        mut published,
        connection,
        ..
    } = view;
    let vendor = vendors::find(published.provider);
    let name = vendor.map_or(published.provider.as_str(), |vendor| vendor.name);
    let reason = remote.reason.clone();
    let why = IntegrationError {
        code: HELD.to_owned(),
        detail: reason
            .unwrap_or_else(|| format!("{name} took the post and keeps it from readers: publish it there")),
        provider_message: None,
        at: now,
    };
    let told = problem(&why.code, &why.detail);
    attempt.sent = None;
    published.is_live = false;
    (published.external_id, published.external_url) = (Some(remote.id.clone()), None);
    (published.external_version, published.verification) = (Some(remote.version.clone()), None);
    published.content_hash = Some(attempt.content_hash.clone());
    published.post_version = Some(attempt.post_version);
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            projects::lock(tx, scope).await?;
            let (post, at) = (attempt.post, attempt.connection);
            let was_live = posts::get(tx, scope, post).await?.post.summary.is_live;
            fail(tx, scope, attempt, published, why, failed, now).await?;
            if let Some(connection) = connection {
                integrations::record_outcome(tx, scope, connection.id, None, now).await?;
            }
            let summary = posts::get(tx, scope, post).await?.post.summary;
            if was_live && !summary.is_live {
                announce(tx, scope, taken, EventType::PostUnpublished, &summary, now).await?;
            }
            let later = Job::VerifyPublication {
                post_id: post,
                connection_id: at,
            };
            if vendor.is_some_and(|vendor| vendor.capabilities.lookup)
                && jobs::count_queued(tx, scope, later.kind()).await? < MAX_LOOKS
            {
                later.enqueue_now(tx, scope, look, now).await?;
            }
            Ok(())
        })
    })
    .await?;
    job.engine.happened.notify_one();
    job.engine.wake.notify_one();
    Err(JobError::GiveUp(told))
}

/// Returns whether the provider took a post and did not show it when it was last asked.
pub(in crate::jobs) fn is_held(published: &Published) -> bool {
    published.state == PublicationState::Draft
        && published
            .last_error
            .as_ref()
            .is_some_and(|error| error.code == HELD)
}

/// Looks at the provider whether readers see a post by now that was held there.
pub(in crate::jobs) async fn look(
    job: &JobContext,
    post: &Post,
    published: Published,
) -> Result<Value, JobError> {
    let now = job.engine.clock.now();
    let since = published.last_error.as_ref().map_or(now, |error| error.at);
    let waited = now.millis() - since.millis();
    let (shortest, longest) = LOOKUP_WAITS;
    if waited < shortest {
        return Err(JobError::Wait(shortest - waited));
    }
    let told = json!({ "postId": post.summary.id, "state": published.state });
    match find(job, post, &published).await? {
        Ok(Some(remote)) if remote.visible == Visible::Live => {
            show(job, published, remote).await?;
            // Its page is looked at next.
            Err(JobError::Wait(0))
        }
        Ok(None) => Ok(told),
        _ if waited >= PATIENCE => Ok(told),
        _ => Err(JobError::Wait(waited.min(longest))),
    }
}

/// Finds the post at the provider by the id that it has there; `None` if it is gone, or the connection is.
async fn find(
    job: &JobContext,
    post: &Post,
    published: &Published,
) -> Result<Result<Option<Remote>, Trouble>, JobError> {
    let scope = job.leased.scope;
    let connection = {
        let mut tx = job.engine.db.read().await?;
        integrations::find(&mut tx, scope, published.connection).await?
    };
    let Some(connection) = connection else {
        return Ok(Ok(None));
    };
    let publisher = match opened(&job.engine, scope, &connection, job.engine.clock.id()).await? {
        Ok(publisher) => publisher,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let hash = published.content_hash.as_deref().unwrap_or_default();
    let marker = Marker::new(published.post.uuid(), hash);
    let wanted = Wanted {
        id: published.external_id.as_deref(),
        marker: &marker,
        slug: &post.summary.slug,
    };
    let found = publisher.find(&wanted).await;
    let is_it = |remote: &Remote| Some(&remote.id) == published.external_id.as_ref();
    Ok(found.map(|found| found.into_iter().find(is_it)))
}

/// Records that readers see a post that was held. What was changed of it there is noticed by the next publication.
async fn show(job: &JobContext, seen: Published, remote: Remote) -> Result<(), JobError> {
    let (now, event) = (job.engine.clock.now(), job.engine.clock.id());
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            projects::lock(tx, scope).await?;
            let current = publications::find(tx, scope, seen.post, seen.connection).await?;
            let mut record = posts::get(tx, scope, seen.post).await?;
            let old = record.post.summary.clone();
            let Some(mut current) = current.filter(is_held).filter(|current| {
                // An attempt that is under way looks by itself.
                current.external_id == seen.external_id && old.status != PostStatus::Publishing
            }) else {
                return Ok(());
            };
            (current.state, current.is_live) = (PublicationState::Published, true);
            (current.external_url, current.last_error) = (remote.url, None);
            current.published_at = current.published_at.or(Some(now));
            publications::upsert(tx, scope, &current, now).await?;
            if matches!(
                old.status,
                PostStatus::Draft | PostStatus::Review | PostStatus::Failed
            ) {
                let facts = Facts {
                    has_external_id: true,
                    ..facts(&old, &[], now)
                };
                advance(&mut record, PostStatus::Published, Actor::Worker, &facts, now).map_err(defect)?;
                record.published_hash.clone_from(&current.content_hash);
            }
            let summary = &mut record.post.summary;
            summary.failure = None;
            summary.published_at = summary.published_at.or(Some(now));
            summary.published_url = current.external_url.or(summary.published_url.take());
            let written = posts::update(tx, scope, &record, now).await?;
            follow(tx, scope, Some(&old), &written.post.summary, now).await?;
            let kind = if old.is_live {
                EventType::PostUpdated
            } else {
                // it is public already, so that a quota that is used up cannot refuse it
                let counted = usage::consume(tx, scope, Metric::PostsPublished, 1, now).await?;
                if let Err(over) = counted {
                    tracing::warn!(?over, post = %seen.post, "a held post became public beyond the quota");
                }
                EventType::PostPublished
            };
            announce(tx, scope, event, kind, &written.post.summary, now).await
        })
    })
    .await?;
    job.engine.happened.notify_one();
    Ok(())
}

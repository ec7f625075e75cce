//! Scheduled posts: each is published when its time comes, or fails with the reason.

use std::sync::Arc;

use searchwright_contract::{
    Code, Instant,
    events::EventType,
    ids::PostId,
    posts::{Post, PostFailure, PostStatus},
};
use searchwright_store::{Tx, access::ProjectScope, posts, projects, publications};
use searchwright_writing::transitions::{Actor, Facts};

use super::{
    PUBLISH, advance, announce,
    attempts::{AttemptOrder, LIVE, begin_attempt},
    facts, follow,
    settling::Settled,
};
use crate::{
    Engine,
    autopilot::{
        clearance::{Clearance, clear},
        refresh,
    },
    connections::connection_for_schedule,
    failure::Result,
};

/// Scheduled posts that are published at a time, those of many projects before many of one.
const MAX_DUE: u32 = 100;

/// Publishes the posts whose time has come, each in a transaction of its own. Replicas that find the same post at the same
/// time publish it once: its status changes with the job.
pub(crate) async fn publish_all_due(engine: &Arc<Engine>) -> Result<()> {
    let now = engine.clock.now();
    let due = publications::list_due(&mut engine.db.read().await?, now, MAX_DUE).await?;
    if due.is_empty() {
        return Ok(());
    }
    for (scope, post) in due {
        if let Err(error) = publish_one(engine, scope, post, now).await {
            // the other posts do not wait for it, and it is tried again at the next tick
            tracing::error!(%error, %post, "a scheduled post was not published; trying again");
        }
    }
    engine.happened.notify_one();
    Ok(())
}

async fn publish_one(engine: &Arc<Engine>, scope: ProjectScope, post: PostId, now: Instant) -> Result<()> {
    let live = refresh::settle_live(engine, scope, post, now).await?;
    let shared = engine.clone();
    let write = engine
        .db
        .write(move |tx| Box::pin(async move { publish_due(&shared, tx, scope, post, live, now).await }));
    write.await
}

/// Publishes a post that is due by its schedule, unless it is no longer. `live` is the published post with its text, if it
/// replaces one.
async fn publish_due(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    id: PostId,
    live: Option<Settled>,
    now: Instant,
) -> Result<()> {
    projects::lock(tx, scope).await?;
    let mut record = posts::get(tx, scope, id).await?;
    let summary = &record.post.summary;
    if summary.status != PostStatus::Scheduled || summary.scheduled_at.is_none_or(|at| at > now) {
        return Ok(());
    }
    let connection = connection_for_schedule(tx, scope, summary).await?;
    let old = record.post.clone();
    let clearance = clear(engine, tx, scope, &record, connection.as_ref().ok(), now).await?;
    let aim = match clearance {
        None => LIVE,
        Some(Clearance::Go(aim)) => aim,
        Some(Clearance::Back(_)) => {
            let known = facts(&old.summary, &old.findings.warnings, now);
            advance(&mut record, PostStatus::Review, Actor::Patch, &known, now)?;
            return finish_scheduled(engine, tx, scope, record, &old, None, now).await;
        }
        Some(Clearance::Later(at)) => {
            record.post.summary.scheduled_at = Some(at);
            return finish_scheduled(engine, tx, scope, record, &old, None, now).await;
        }
    };
    if let Some(live) = &live
        && let Ok(connection) = &connection
    {
        return refresh::publish(engine, tx, scope, record, live, connection, now).await;
    }
    let facts = Facts {
        is_integration_ready: connection.is_ok(),
        ..facts(&old.summary, &old.findings.warnings, now)
    };
    let moved = advance(&mut record, PostStatus::Publishing, Actor::Scheduler, &facts, now);
    let why = match (moved, connection) {
        (Ok(_), Ok(connection)) => {
            let order = AttemptOrder {
                aim,
                force: false,
                recreate: false,
                at: (connection.id, connection.provider),
                from: if clearance.is_some() {
                    PostStatus::Review
                } else {
                    PostStatus::Draft
                },
                is_scheduled: true,
            };
            match begin_attempt(engine, tx, scope, &mut record, &order, now).await {
                Ok(_) => {
                    record.post.summary.scheduled_at = None;
                    None
                }
                Err(failure) if failure.0.code == Code::QuotaExceeded => {
                    Some((Code::QuotaExceeded.as_str(), failure.0.detail))
                }
                Err(failure) => return Err(failure),
            }
        }
        (_, Err(why)) => Some(("integration_not_ready", why.to_owned())),
        (Err(failure), _) => Some(("publish_blocked", failure.0.detail)),
    };
    finish_scheduled(engine, tx, scope, record, &old, why, now).await
}

/// Stores a post whose time has come: publishing, or failed with the reason.
async fn finish_scheduled(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    mut record: posts::PostRecord,
    old: &Post,
    why: Option<(&str, String)>,
    now: Instant,
) -> Result<()> {
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

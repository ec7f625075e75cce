//! Beginning an attempt to publish a post or to take it back. The job that carries it out is `jobs/publish.rs`.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    ids::ConnectionId,
    integrations::Provider,
    jobs::Job as JobRecord,
    posts::{PostStatus, PublicationState},
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    posts,
    publications::{self, PublicationAttempt, PublicationRecord as Published},
};

use crate::{Engine, failure::Result, jobs::Job};

/// Aim of an attempt: the post is live at the provider.
pub(crate) const LIVE: &str = "live";
/// Aim of an attempt: the post is a draft at the provider.
pub(crate) const DRAFT: &str = "draft";
/// Aim of an attempt: the post is gone from the provider.
pub(crate) const GONE: &str = "gone";

/// An attempt as it is asked for.
pub(crate) struct AttemptOrder {
    pub aim: &'static str,
    pub force: bool,
    pub recreate: bool,
    /// Id and provider of the connection.
    pub at: (ConnectionId, Provider),
    /// The status the post goes back to where nothing becomes live.
    pub from: PostStatus,
    /// A schedule begins it, and nobody waits for its outcome.
    pub is_scheduled: bool,
}

/// Begins an attempt: the post, the publication and the attempt change, and the job is queued, in one transaction.
pub(crate) async fn begin_attempt(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    record: &mut posts::PostRecord,
    order: &AttemptOrder,
    now: Instant,
) -> Result<JobRecord> {
    let post = record.post.summary.id;
    let (attempt_id, job_id) = (engine.clock.id(), engine.clock.id());
    let links = BTreeMap::from([(
        "post".to_owned(),
        format!("/projects/{}/posts/{post}", scope.project()),
    )]);
    let job = Job::PublishPost {
        attempt_id,
        is_scheduled: order.is_scheduled,
        makes_public: order.aim == LIVE && !record.post.summary.is_live,
    };
    job.count(tx, scope, now).await?;
    let job = job.enqueue(tx, scope, job_id, links, now).await?;
    let mut attempt = PublicationAttempt {
        id: attempt_id,
        post,
        connection: order.at.0,
        job: job_id,
        aim: order.aim.to_owned(),
        force: order.force,
        recreate: order.recreate,
        post_version: record.post.summary.version,
        content_hash: record.content_hash.clone(),
        from_status: order.from,
        state: PublicationState::Pending,
        sent: None,
        was_absent: false,
        checks: 0,
        misses: 0,
        first_missed_at: None,
        next_check_at: None,
        evidence: Vec::new(),
        created_at: now,
        finished_at: None,
    };
    attempt.add_evidence("queued", format!("{} at {}", order.aim, order.at.1), now);
    publications::insert_attempt(tx, scope, &attempt).await?;
    let known = publications::find(tx, scope, post, order.at.0).await?;
    let mut publication = known.unwrap_or_else(|| Published::new(post, order.at.0, order.at.1));
    publication.state = PublicationState::Pending;
    publications::upsert(tx, scope, &publication, now).await?;
    record.job = Some(job_id);
    record.post.summary.failure = None;
    Ok(job)
}

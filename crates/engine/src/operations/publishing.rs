//! Having posts published and taken back. The work itself is `jobs/publish.rs`.

use searchwright_contract::{
    Code, Problem,
    integrations::Provider,
    jobs::JobStatus,
    posts::{
        Post, PostStarted, PostStatus, Publication, PublicationState, PublishMode, PublishPost, UnpublishPost,
    },
};
use searchwright_publishing::vendors;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    integrations::{self, IntegrationRecord as Connection},
    jobs, posts, projects,
    publications::{self},
};
use searchwright_writing::transitions::{Actor, Facts};

use super::{
    jobs::with_actions as job_with_actions,
    posts::record::{find, shown, write},
};
use crate::{
    Engine,
    autopilot::approvals::refuse_unapproved,
    call::{Call, fault},
    connections::is_ready,
    endpoint::Handle,
    failure::Result,
    jobs::Job,
    posts::{
        advance,
        attempts::{AttemptOrder, DRAFT, GONE, LIVE, begin_attempt},
        facts,
    },
};

fn provider(word: &str) -> Result<Provider> {
    word.parse()
        .map_err(|why: String| fault("/provider", "unknown_value", why))
}

/// Returns the connection for a request: the one that is named, else the only one that is ready.
async fn choose(
    tx: &mut Tx,
    scope: ProjectScope,
    named: Option<&str>,
    id: Option<&str>,
) -> Result<Connection> {
    let all = integrations::list(tx, scope).await?;
    let named = named.map(provider).transpose()?;
    let is_meant = |connection: &&Connection| {
        named.is_none_or(|named| named == connection.provider)
            && id.is_none_or(|id| id == connection.id.to_string())
    };
    let refusal = |detail: String| {
        Problem::new(Code::ProviderNotConfigured, detail).hint(
            "look at integrations.list: connect a provider with integrations.connect and save its mapping",
        )
    };
    if named.is_some() || id.is_some() {
        let Some(connection) = all.iter().find(is_meant) else {
            let what = named.map_or("this connection", Provider::as_str);
            return Err(refusal(format!("{what} is not connected")).into());
        };
        if !is_ready(connection) {
            return Err(refusal(format!("{} is not ready", connection.provider))
                .with("provider", connection.provider.as_str())
                .with("readiness", connection.status.as_str())
                .with("missing", connection.missing.clone())
                .into());
        }
        return Ok(connection.clone());
    }
    let mut ready = all.into_iter().filter(is_ready);
    match (ready.next(), ready.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(refusal("no integration is ready to publish with".to_owned()).into()),
        (Some(a), Some(b)) => {
            let words: Vec<&str> = [a.provider, b.provider]
                .into_iter()
                .chain(ready.map(|more| more.provider))
                .map(Provider::as_str)
                .collect();
            let why = format!("several integrations are ready: {}; name one", words.join(", "));
            Err(fault("/provider", "required", why))
        }
    }
}

impl Handle<PublishPost> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: PublishPost) -> Result<PostStarted> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let mut record = find(call, tx, &operation.post_id).await?;
        call.check_match(record.post.summary.id, record.post.summary.version)?;
        let old = record.post.clone();
        let live = operation.mode != Some(PublishMode::Draft);
        let (force, recreate) = (
            operation.force == Some(true),
            operation.recreate_missing == Some(true),
        );
        if old.summary.status == PostStatus::Publishing {
            return look_again(call, tx, record, force).await;
        }
        refuse_unapproved(&call.engine, tx, scope, &record).await?;
        let connection = choose(
            tx,
            scope,
            operation.provider.as_deref(),
            operation.connection_id.as_deref(),
        )
        .await;
        let facts = Facts {
            is_integration_ready: true,
            ..facts(&old.summary, &old.findings.warnings, call.now)
        };
        // Faults of the post itself are reported first.
        advance(
            &mut record,
            PostStatus::Publishing,
            Actor::Publish,
            &facts,
            call.now,
        )?;
        let connection = connection?;
        if old.summary.title.is_none() {
            return Err(fault("/title", "required", "the post has no title; set one"));
        }
        let known = publications::find(tx, scope, old.summary.id, connection.id).await?;
        if !live && known.is_some_and(|known| known.is_live) {
            return Err(Problem::new(
                Code::InvalidState,
                "the post is live there, and a draft would hide it from readers",
            )
            .hint("unpublish it first")
            .with("from", old.summary.status.as_str())
            .into());
        }
        let order = AttemptOrder {
            aim: if live { LIVE } else { DRAFT },
            force,
            recreate,
            at: (connection.id, connection.provider),
            from: old.summary.status,
            is_scheduled: false,
        };
        let job = begin_attempt(&call.engine, tx, scope, &mut record, &order, call.now).await?;
        let post = write(call, tx, record, &old).await?;
        let job = job_with_actions(call, job);
        Ok(PostStarted { job, post })
    }
}

/// Starts a look-up now of a post whose outcome is unknown. It is sent again only if the caller forces it.
async fn look_again(
    call: &Call,
    tx: &mut Tx,
    mut record: posts::PostRecord,
    force: bool,
) -> Result<PostStarted> {
    let scope = call.scope()?;
    let old = record.post.clone();
    let busy = || {
        Problem::invalid_state("publishing", "publishing", &[]).hint("it is being published; follow its job")
    };
    let open = publications::find_open_attempt(tx, scope, old.summary.id).await?;
    let Some(mut attempt) = open.filter(|open| open.state == PublicationState::Uncertain) else {
        return Err(busy().into());
    };
    let job = jobs::get(tx, scope, attempt.job).await?;
    if job.status == JobStatus::Running {
        // A look-up is running at this moment, and the worker's result is newer than what was read here.
        if force {
            return Err(busy().into());
        }
        // It may have seen its answer already: the next look-up then follows at once.
        jobs::run_now(tx, scope, attempt.job, call.now).await?;
        let post = shown(call, tx, record).await?;
        let job = job_with_actions(call, job);
        return Ok(PostStarted { job, post });
    }
    attempt.force = attempt.force || force;
    if force {
        attempt.sent = None;
        attempt.add_evidence("forced", "it was sent again on request".to_owned(), call.now);
    }
    let job = if job.status == JobStatus::Queued {
        jobs::run_now(tx, scope, attempt.job, call.now).await?;
        jobs::get(tx, scope, attempt.job).await?
    } else {
        attempt.job = call.engine.clock.id();
        attempt.checks = 0;
        record.job = Some(attempt.job);
        let again = Job::PublishPost {
            attempt_id: attempt.id,
            is_scheduled: false,
            // counted when the attempt began, and given back when it turns out to have failed
            makes_public: attempt.aim == LIVE && !old.summary.is_live,
        };
        again.enqueue(tx, scope, attempt.job, job.links, call.now).await?
    };
    publications::update_attempt(tx, scope, &attempt).await?;
    let post = write(call, tx, record, &old).await?;
    let job = job_with_actions(call, job);
    Ok(PostStarted { job, post })
}

impl Handle<UnpublishPost> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: UnpublishPost) -> Result<PostStarted> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let record = find(call, tx, &operation.post_id).await?;
        call.check_match(record.post.summary.id, record.post.summary.version)?;
        unpublish(call, tx, record, operation.provider.as_deref()).await
    }
}

/// Begins to unpublish a post.
pub(super) async fn unpublish(
    call: &Call,
    tx: &mut Tx,
    mut record: posts::PostRecord,
    named: Option<&str>,
) -> Result<PostStarted> {
    let scope = call.scope()?;
    let old = record.post.clone();
    let named = named.map(provider).transpose()?;
    let all = publications::list_of_post(tx, scope, old.summary.id).await?;
    let mut live = all
        .iter()
        .filter(|publication| publication.is_live && named.is_none_or(|named| named == publication.provider));
    let found: Option<&Publication> = live.next();
    if named.is_none() && found.is_some() && live.next().is_some() {
        return Err(fault(
            "/provider",
            "required",
            "the post is live at several providers; name one",
        ));
    }
    let can = found.is_some_and(|found| {
        vendors::find(found.provider).is_some_and(|vendor| vendor.capabilities.unpublish)
    });
    if let Some(found) = found.filter(|_| !can) {
        return Err(Problem::new(
            Code::UnpublishUnsupported,
            format!(
                "{} does not support unpublishing; unpublish the post there",
                found.provider
            ),
        )
        .into());
    }
    let facts = Facts {
        can_unpublish: can,
        ..facts(&old.summary, &old.findings.warnings, call.now)
    };
    advance(
        &mut record,
        PostStatus::Publishing,
        Actor::Unpublish,
        &facts,
        call.now,
    )?;
    let connection = match found {
        Some(found) => integrations::find(tx, scope, found.connection_id).await?,
        None => None,
    };
    let Some(connection) = connection else {
        return Err(Problem::new(
            Code::ProviderNotConfigured,
            "the provider it is published at is no longer connected",
        )
        .hint("connect it again, or unpublish the post at the provider")
        .into());
    };
    let order = AttemptOrder {
        aim: GONE,
        force: false,
        recreate: false,
        at: (connection.id, connection.provider),
        from: PostStatus::Draft,
        is_scheduled: false,
    };
    let job = begin_attempt(&call.engine, tx, scope, &mut record, &order, call.now).await?;
    let post: Post = write(call, tx, record, &old).await?;
    Ok(PostStarted {
        job: job_with_actions(call, job),
        post,
    })
}

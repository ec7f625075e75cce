//! Having posts written. The work itself is `jobs/generate_post.rs`.

use std::collections::BTreeMap;

use searchwright_contract::posts::{GenerateMode, GeneratePost, Generation, PostStarted, PostStatus};
use searchwright_store::{Tx, access::ProjectScope, posts, projects};
use uuid::Uuid;

use super::{
    jobs::with_actions as job_with_actions,
    posts::{find, shown, uuid, write},
};
use crate::{
    Engine,
    call::Call,
    endpoint::Handle,
    failure::Result,
    jobs::{Job, generate_post::Order},
    posts::{advance, facts},
    writing::transitions::Actor,
};

impl Handle<GeneratePost> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GeneratePost) -> Result<PostStarted> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let mut record = find(call, tx, &operation.post_id).await?;
        call.check_match(&record.post.summary.id, record.post.summary.version)?;
        let old = record.post.clone();
        let facts = facts(&old.summary, &old.findings.warnings, call.now);
        advance(&mut record, PostStatus::Queued, Actor::Generate, &facts, call.now)?;
        let (post_id, job_id) = (uuid(&old.summary.id), call.engine.clock.id());
        let order = Order {
            post_id,
            mode: operation.mode.unwrap_or(GenerateMode::Fill),
            instructions: operation.instructions,
            dry_run: operation.dry_run.unwrap_or(false),
        };
        let dry_run = order.dry_run;
        let links = BTreeMap::from([(
            "post".to_owned(),
            format!("/projects/{}/posts/{post_id}", scope.project()),
        )]);
        let work = Job::GeneratePost { order };
        work.count(tx, scope, call.now).await?;
        let job = work.enqueue(tx, scope, job_id, links, call.now).await?;
        let job = job_with_actions(call, job);
        if dry_run {
            let post = shown(call, find(call, tx, &operation.post_id).await?);
            return Ok(PostStarted { job, post });
        }
        record.job = Some(job_id);
        record.post.failure = None;
        record.post.generation = Some(Generation {
            job_id: job_id.to_string(),
            method: None,
            provider: None,
            model: None,
            cost_micros_usd: None,
            requested_at: call.now,
            finished_at: None,
        });
        let post = write(call, tx, record, &old).await?;
        Ok(PostStarted { job, post })
    }
}

/// A post that waited for a job that will not be done is a draft again.
pub(super) async fn withdraw(call: &Call, tx: &mut Tx, scope: ProjectScope, job: Uuid) -> Result<()> {
    let Some(id) = posts::waiting_for(tx, scope, job).await? else {
        return Ok(());
    };
    let mut record = posts::get(tx, scope, id).await?;
    let old = record.post.clone();
    let facts = facts(&old.summary, &old.findings.warnings, call.now);
    advance(&mut record, PostStatus::Draft, Actor::Patch, &facts, call.now)?;
    write(call, tx, record, &old).await?;
    Ok(())
}

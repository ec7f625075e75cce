//! Having posts written. The work itself is `jobs/generate_post.rs`.

use searchwright_contract::posts::{GenerateMode, GeneratePost, PostStarted, PostStatus};
use searchwright_store::{Tx, projects};
use searchwright_writing::transitions::Actor;

use super::{
    items::refuse,
    jobs::with_actions as job_with_actions,
    posts::record::{find, shown, write},
};
use crate::{
    Engine,
    brand::Check,
    call::Call,
    endpoint::Handle,
    failure::Result,
    jobs::generate_post::Order,
    posts::{
        advance, facts,
        generation::{begin_generation, find_duplicate},
    },
};

impl Handle<GeneratePost> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GeneratePost) -> Result<PostStarted> {
        let scope = call.scope()?;
        let mut faults = Vec::new();
        let mut check = Check::new(String::new(), &mut faults);
        for (at, source) in operation.sources.iter().flatten().enumerate() {
            check.url_if_any(&format!("sources/{at}"), Some(source));
        }
        refuse(faults)?;
        projects::lock(tx, scope).await?;
        let mut record = find(call, tx, &operation.post_id).await?;
        call.check_match(record.post.summary.id, record.post.summary.version)?;
        let old = record.post.clone();
        let facts = facts(&old.summary, &old.findings.warnings, call.now);
        advance(&mut record, PostStatus::Queued, Actor::Generate, &facts, call.now)?;
        if operation.allow_duplicate != Some(true)
            && let Some(problem) = find_duplicate(tx, scope, &old).await?
        {
            return Err(problem.into());
        }
        let order = Order {
            post_id: old.summary.id,
            mode: operation.mode.unwrap_or(GenerateMode::Fill),
            instructions: operation.instructions,
            sources: operation.sources.unwrap_or_default(),
            dry_run: operation.dry_run.unwrap_or(false),
        };
        let dry_run = order.dry_run;
        let job = begin_generation(&call.engine, tx, scope, &mut record, order, call.now).await?;
        let job = job_with_actions(call, job);
        if dry_run {
            let found = find(call, tx, &operation.post_id).await?;
            let post = shown(call, tx, found).await?;
            return Ok(PostStarted { job, post });
        }
        let post = write(call, tx, record, &old).await?;
        Ok(PostStarted { job, post })
    }
}

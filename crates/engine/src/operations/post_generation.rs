//! Having posts written. The work itself is `jobs/generate_post.rs`.

use std::collections::BTreeMap;

use searchwright_contract::{
    Code, Problem,
    posts::{GenerateMode, GeneratePost, Generation, Post, PostStarted, PostStatus},
};
use searchwright_keywords::cannibalisation::name_key;
use searchwright_store::{Tx, access::ProjectScope, audits, page_names, posts, projects};
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
    jobs::{Job, generate_post::Order},
    posts::{advance, facts},
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
        if operation.allow_duplicate != Some(true) {
            refuse_duplicate(tx, scope, &old).await?;
        }
        let (post_id, job_id) = (old.summary.id, call.engine.clock.id());
        let order = Order {
            post_id,
            mode: operation.mode.unwrap_or(GenerateMode::Fill),
            instructions: operation.instructions,
            sources: operation.sources.unwrap_or_default(),
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
            let found = find(call, tx, &operation.post_id).await?;
            let post = shown(call, tx, found).await?;
            return Ok(PostStarted { job, post });
        }
        record.job = Some(job_id);
        record.post.summary.failure = None;
        record.post.generation = Some(Generation {
            job_id,
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

/// `409 already_exists` if another post, or a page of the last audit, aims at the keyword of the post.
async fn refuse_duplicate(tx: &mut Tx, scope: ProjectScope, post: &Post) -> Result<()> {
    let summary = &post.summary;
    let (Some(keyword_id), Some(keyword)) = (summary.keyword_id, &summary.keyword) else {
        return Ok(());
    };
    let refusal = |detail: &str, member: &str, value: String| {
        Problem::new(Code::AlreadyExists, detail)
            .hint("change the existing text, choose another keyword, or send allowDuplicate: true")
            .with(member, value)
    };
    if let Some(other) = posts::find_other_with_keyword(tx, scope, keyword_id, summary.id).await? {
        let detail = "another post already targets the keyword of this one";
        return Err(refusal(detail, "existingId", other.to_string()).into());
    }
    let (Some(audit), Some(key)) = (audits::find_newest_finished(tx, scope).await?, name_key(keyword)) else {
        return Ok(());
    };
    // Its own page does not compete with it.
    let own = [&summary.published_url, &post.details.canonical_url];
    let is_own = |url: &String| {
        own.into_iter()
            .flatten()
            .any(|own| own.trim_end_matches('/') == url.trim_end_matches('/'))
    };
    let pages = page_names::find_urls(tx, scope, audit, key).await?;
    if let Some(page) = pages.into_iter().find(|url| !is_own(url)) {
        let detail = "a page of the site has the keyword of this post as its title or heading";
        return Err(refusal(detail, "existingUrl", page).into());
    }
    Ok(())
}

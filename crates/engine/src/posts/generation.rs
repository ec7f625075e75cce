//! Beginning to have a post written. The job that writes it is `jobs/generate_post.rs`.

use std::collections::BTreeMap;

use searchwright_contract::{
    Code, Instant, Problem,
    jobs::Job as JobRecord,
    posts::{Generation, Post},
};
use searchwright_keywords::cannibalisation::name_key;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    audits, page_names,
    posts::{self, PostRecord},
};

use crate::{
    Engine,
    failure::Result,
    jobs::{Job, generate_post::Order},
};

/// Counts and queues the job, and notes it in the post unless it is a dry run. The status is changed by the caller.
pub(crate) async fn begin_generation(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    record: &mut PostRecord,
    order: Order,
    now: Instant,
) -> Result<JobRecord> {
    let (job_id, dry_run) = (engine.clock.id(), order.dry_run);
    let links = BTreeMap::from([(
        "post".to_owned(),
        format!("/projects/{}/posts/{}", scope.project(), order.post_id),
    )]);
    let work = Job::GeneratePost { order };
    work.count(tx, scope, now).await?;
    let job = work.enqueue(tx, scope, job_id, links, now).await?;
    if !dry_run {
        record.job = Some(job_id);
        record.post.summary.failure = None;
        record.post.generation = Some(Generation {
            job_id,
            method: None,
            provider: None,
            model: None,
            cost_micros_usd: None,
            requested_at: now,
            finished_at: None,
        });
    }
    Ok(job)
}

/// Returns the refusal `409 already_exists` if another post, or a page of the last audit, aims at the keyword of the post.
pub(crate) async fn find_duplicate(tx: &mut Tx, scope: ProjectScope, post: &Post) -> Result<Option<Problem>> {
    let summary = &post.summary;
    let (Some(keyword_id), Some(keyword)) = (summary.keyword_id, &summary.keyword) else {
        return Ok(None);
    };
    let refusal = |detail: &str, member: &str, value: String| {
        Problem::new(Code::AlreadyExists, detail)
            .hint("change the existing text, choose another keyword, or send allowDuplicate: true")
            .with(member, value)
    };
    if let Some(other) = posts::find_other_with_keyword(tx, scope, keyword_id, summary.id).await? {
        let detail = "another post already targets the keyword of this one";
        return Ok(Some(refusal(detail, "existingId", other.to_string())));
    }
    let (Some(audit), Some(key)) = (audits::find_newest_finished(tx, scope).await?, name_key(keyword)) else {
        return Ok(None);
    };
    // Its own page does not compete with it.
    let own = [&summary.published_url, &post.details.canonical_url];
    let is_own = |url: &String| {
        own.into_iter()
            .flatten()
            .any(|own| own.trim_end_matches('/') == url.trim_end_matches('/'))
    };
    let pages = page_names::find_urls(tx, scope, audit, key).await?;
    let page = pages.into_iter().find(|url| !is_own(url));
    Ok(page.map(|page| {
        let detail = "a page of the site has the keyword of this post as its title or heading";
        refusal(detail, "existingUrl", page)
    }))
}

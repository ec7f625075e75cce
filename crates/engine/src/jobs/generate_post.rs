//! Writes a post in steps, each of which is kept as soon as it is done, so that a job that was cut goes on
//! where it was. Until the last step the post holds the text it had.

mod abort;
mod article;
mod candidates;
mod material;
mod sources;

pub(super) use abort::{abort, withdraw};
use article::Writer;
use searchwright_contract::{
    Code, Instant, Problem,
    events::EventType,
    ids::PostId,
    posts::{GenerateMode, GenerationMethod, Post, PostStatus, PostWarning},
};
use searchwright_providers::ProviderError;
use searchwright_store::{
    posts::{self, PostRecord},
    projects,
};
use searchwright_writing::{
    assessment::sources::{SourceText, Sources},
    brief::{Brief, brief},
    document::Document,
    transitions::{Actor, Facts},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    JobContext, JobError,
    checkpoints::{POST, Steps},
};
use crate::{
    failure::{changed_meanwhile, defect, is_change_meanwhile},
    posts::{
        BRIEF_ONLY, advance, announce, facts, follow,
        settling::{Settled, settle_ahead},
        site_of, sources as stored_sources,
    },
};

/// Attempts after which a post has failed.
const MAX_ATTEMPTS: i64 = 3;
/// Times that a text is assessed because others change its post meanwhile.
const MAX_ASSESSMENTS: usize = 4;
/// Characters of a summary and of a description for search results.
const EXCERPT: usize = 300;
const DESCRIPTION: usize = 155;

/// Request of a caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The post.
    pub post_id: PostId,
    /// Treatment of an existing text.
    pub mode: GenerateMode,
    /// Instructions for the text beyond its keyword.
    pub instructions: Option<String>,
    /// Pages of others to take facts from.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Change nothing.
    pub dry_run: bool,
}

/// Generated parts of a post.
#[derive(Clone, Debug, Default)]
struct Written {
    /// Title, if the post has none.
    title: Option<String>,
    content: Option<String>,
    excerpt: Option<String>,
    meta_description: Option<String>,
    warnings: Vec<PostWarning>,
    /// Sources that the new text is checked against.
    sources: Sources,
    /// Cost in millionths of a US dollar; `None` if unknown.
    cost: Option<i64>,
    /// Provider and model; `None` for a brief.
    by: Option<(String, String)>,
}

/// Runs the job, or resumes it.
pub(super) async fn run(job: JobContext, order: Order) -> Result<Value, JobError> {
    let interrupted = job.clone();
    let done = tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = carry_out(&job, &order) => done,
    };
    match done {
        Err(JobError::Retry(_)) if job.leased.attempt >= MAX_ATTEMPTS => {
            let problem = Problem::new(
                Code::InternalError,
                "the post could not be written in three attempts",
            );
            Err(JobError::GiveUp(Box::new(problem)))
        }
        other => other,
    }
}

async fn carry_out(job: &JobContext, order: &Order) -> Result<Value, JobError> {
    let db = &job.engine.db;
    let scope = job.leased.scope;
    let mut record = posts::get(&mut db.read().await?, scope, order.post_id).await?;
    if !order.dry_run {
        let is_ours = record.job == Some(job.leased.id)
            && matches!(
                record.post.summary.status,
                PostStatus::Queued | PostStatus::Generating
            );
        if !is_ours {
            // Written before, and only the job's own end was lost; or taken back by somebody.
            return Ok(result(&record.post));
        }
        begin(job, order).await?;
        // From here on nobody else changes its text; until then somebody may have.
        record = posts::get(&mut db.read().await?, scope, order.post_id).await?;
    }
    let post = record.post;
    let steps = Steps { job, of: POST };
    let brief = make_brief(&steps, order, &post).await?;
    if order.dry_run {
        let markdown = brief.to_markdown();
        return Ok(
            json!({ "postId": order.post_id, "method": GenerationMethod::Brief, "brief": brief, "content": markdown }),
        );
    }
    let (read, unread) = if keeps_text(order, &post) {
        Default::default()
    } else {
        sources::read(&steps, order, &brief).await?
    };
    let model = job.accounts.language_model(&mut db.read().await?, scope).await?;
    let model = match model {
        Ok(model) => model,
        Err(ProviderError::NotConfigured(_)) => {
            let mut written = write_over(order, &post, &brief, &read);
            written.warnings.extend(unread);
            return finish(job, order, GenerationMethod::Brief, written).await;
        }
        Err(error) => return Err(error.into()),
    };
    let project = projects::get(&mut db.read().await?, scope).await?;
    let replaced = replaced_text(&steps, &post).await?;
    let writer = Writer {
        steps: &steps,
        model: &*model,
        order,
        post: &post,
        brief: &brief,
        read: &read,
        replaced: replaced.as_ref(),
        site: &site_of(&project.name, &project.domain),
    };
    let mut written = if keeps_text(order, &post) {
        writer.surroundings().await?
    } else {
        writer.article().await?
    };
    written.warnings.extend(unread);
    written.by = Some((model.provider().to_owned(), model.model().to_owned()));
    finish(job, order, GenerationMethod::Model, written).await
}

/// Returns the published text that a post replaces, kept as it was when the job began.
async fn replaced_text(steps: &Steps<'_>, post: &Post) -> Result<Option<SourceText>, JobError> {
    let Some(replaced) = post.summary.replaces_post_id else {
        return Ok(None);
    };
    let input = json!(replaced);
    if let Some(known) = steps.done("published text", &input).await? {
        return Ok(Some(known));
    }
    let (db, scope) = (&steps.job.engine.db, steps.job.leased.scope);
    let found = posts::get(&mut db.read().await?, scope, replaced).await?.post;
    let known = SourceText {
        name: found
            .summary
            .published_url
            .unwrap_or_else(|| format!("posts/{replaced}")),
        title: found.summary.title,
        text: Document::of_html(&found.content_html).plain_text(),
        checked_at: None,
    };
    steps.save("published text", &input, &known).await?;
    Ok(Some(known))
}

fn result(post: &Post) -> Value {
    let generation = post.generation.as_ref();
    json!({
        "postId": post.summary.id,
        "version": post.summary.version,
        "status": post.summary.status,
        "method": generation.and_then(|generation| generation.method),
        "warnings": post.findings.warnings,
    })
}

async fn make_brief(steps: &Steps<'_>, order: &Order, post: &Post) -> Result<Brief, JobError> {
    let summary = &post.summary;
    let input = json!([
        summary.title,
        summary.keyword,
        summary.language,
        post.details.secondary_keywords,
        order.instructions
    ]);
    if let Some(brief) = steps.done("brief", &input).await? {
        return Ok(brief);
    }
    let material = material::gather(steps.job, post).await?;
    // Comparing every page of a large site takes a while, which the threads that wait for sockets do not have.
    let brief = tokio::task::spawn_blocking(move || brief(&material))
        .await
        .map_err(|e| defect("brief", e))?;
    if !order.dry_run {
        steps.save("brief", &input, &brief).await?;
    }
    Ok(brief)
}

/// Fills a post from a brief: an existing text stays unless it is to be replaced, and missing parts are taken from the
/// brief.
fn write_over(order: &Order, post: &Post, brief: &Brief, read: &[SourceText]) -> Written {
    let title = Some(brief.title.clone()).filter(|title| !title.is_empty());
    if !keeps_text(order, post) {
        return Written {
            title,
            cost: Some(0),
            content: Some(brief.to_markdown() + &sources::section(read)),
            sources: Sources {
                traces: false,
                known: read.to_vec(),
            },
            warnings: vec![PostWarning {
                code: BRIEF_ONLY.to_owned(),
                detail: "the text is a brief, not an article; replace it with the article".to_owned(),
                blocks_publishing: true,
                ..PostWarning::default()
            }],
            ..Written::default()
        };
    }
    let document = Document::of_html(&post.content_html);
    let of_text = |most| Some(document.excerpt(&post.summary.language, most)).filter(|text| !text.is_empty());
    Written {
        title,
        excerpt: of_text(EXCERPT),
        meta_description: of_text(DESCRIPTION),
        cost: Some(0),
        ..Written::default()
    }
}

/// Returns whether the post has a text that is to stay.
fn keeps_text(order: &Order, post: &Post) -> bool {
    order.mode == GenerateMode::Fill && !post.content.trim().is_empty()
}

/// Says that the worker writes.
async fn begin(job: &JobContext, order: &Order) -> Result<(), JobError> {
    let (id, now) = (order.post_id, job.engine.clock.now());
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            let mut record = posts::get(tx, scope, id).await?;
            if record.post.summary.status == PostStatus::Queued {
                let facts = facts(&record.post.summary, &[], now);
                advance(&mut record, PostStatus::Generating, Actor::Worker, &facts, now).map_err(refused)?;
                posts::update(tx, scope, &record, now).await?;
            }
            Ok(())
        })
    })
    .await
}

/// A transition that the table refuses a worker is a defect of ours.
fn refused(failure: crate::Failure) -> searchwright_store::Error {
    searchwright_store::Error::Defect(failure.to_string())
}

/// Stores the generated parts in the post. They are assessed first, again if others change the post meanwhile.
async fn finish(
    job: &JobContext,
    order: &Order,
    method: GenerationMethod,
    written: Written,
) -> Result<Value, JobError> {
    let (db, scope, now) = (&job.engine.db, job.leased.scope, job.engine.clock.now());
    for _ in 0..MAX_ASSESSMENTS {
        let mut record = posts::get(&mut db.read().await?, scope, order.post_id).await?;
        let project = projects::get(&mut db.read().await?, scope).await?;
        let sources = written.content.is_some().then(|| written.sources.clone());
        fill(&mut record, order.mode, method, written.clone(), now);
        let site = site_of(&project.name, &project.domain);
        let settled = settle_ahead(&job.engine, scope, record, site, sources, now).await?;
        if store(job, order, method, written.clone(), settled, now).await? {
            let done = posts::get(&mut db.read().await?, scope, order.post_id).await?;
            return Ok(result(&done.post));
        }
    }
    Err(changed_meanwhile().into())
}

/// Stores the generated parts as they were assessed, in one transaction with the revision and the event of the post; returns
/// whether the post still was the one that was assessed.
async fn store(
    job: &JobContext,
    order: &Order,
    method: GenerationMethod,
    written: Written,
    settled: Settled,
    now: Instant,
) -> Result<bool, JobError> {
    let (id, mode, event) = (order.post_id, order.mode, job.engine.clock.id());
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            // Another post of its keyword may be changing.
            projects::lock(tx, scope).await?;
            let mut record = posts::get(tx, scope, id).await?;
            if record.post.summary.status != PostStatus::Generating {
                return Ok(true);
            }
            let old = record.post.clone();
            let sources = written.content.is_some().then(|| written.sources.clone());
            fill(&mut record, mode, method, written, now);
            let is_new_text = record.post.content != old.content;
            match settled.apply(tx, scope, &mut record, is_new_text).await {
                Err(failure) if is_change_meanwhile(&failure) => return Ok(false),
                applied => applied.map_err(refused)?,
            }
            if let Some(sources) = sources {
                let saved = stored_sources::save(tx, scope, id, &sources).await;
                saved.map_err(refused)?;
            }
            let facts = Facts {
                has_checks: true,
                ..facts(&record.post.summary, &record.post.findings.warnings, now)
            };
            advance(&mut record, PostStatus::Review, Actor::Worker, &facts, now).map_err(refused)?;
            if is_new_text && !old.content.is_empty() {
                posts::insert_revision(tx, scope, &old, now).await?;
            }
            let done = posts::update(tx, scope, &record, now).await?;
            follow(tx, scope, Some(&old.summary), &done.post.summary, now).await?;
            let kind = EventType::PostGenerated;
            announce(tx, scope, event, kind, &done.post.summary, now).await?;
            Ok(true)
        })
    })
    .await
}

/// Copies the generated parts to a post. Existing parts stay unless the mode is to overwrite.
fn fill(
    record: &mut PostRecord,
    mode: GenerateMode,
    method: GenerationMethod,
    written: Written,
    now: Instant,
) {
    let post = &mut record.post;
    let replaces = mode == GenerateMode::Overwrite;
    let put = |there: &mut Option<String>, new: Option<String>| {
        if new.is_some() && (replaces || there.is_none()) {
            *there = new;
        }
    };
    put(&mut post.details.excerpt, written.excerpt);
    put(&mut post.details.meta_description, written.meta_description);
    post.summary.title = post.summary.title.take().or(written.title);
    match written.content {
        Some(content) => {
            post.content = content;
            post.findings.warnings = written.warnings;
        }
        None => post.findings.warnings.extend(written.warnings),
    }
    if let Some(generation) = &mut post.generation {
        generation.method = Some(method);
        generation.cost_micros_usd = written.cost;
        (generation.provider, generation.model) = written.by.unzip();
        generation.finished_at = Some(now);
    }
}

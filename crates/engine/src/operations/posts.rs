//! Posts as people and agents write them. What follows from a text is `posts.rs`, generation `post_generation.rs`.

mod edit;
pub(super) mod record;
mod revisions;

use searchwright_contract::{
    Code, Fault, List, Patch, Problem, Scope,
    events::EventType,
    ids::{KeywordId, PostId},
    posts::{
        CreatePost, GetPost, ListPosts, Post, PostOrigin, PostSort, PostStatus, PostSummary, UpdatePost,
    },
};
use searchwright_keywords::normalize;
use searchwright_store::{
    Tx,
    posts::{self, PostOrder, PostQuery, PostRecord},
    projects,
};
use searchwright_writing::{
    assessment::sources::{UNVERIFIED, accept},
    transitions::{Actor, Effect, Facts, transition},
};

use self::{
    edit::{Edit, edit, given},
    record::{find, keep, shown, write},
};
use crate::{
    Engine, autonomy,
    autopilot::approvals::refuse_unapproved,
    call::{Call, Credential, Prepared, fault, limit},
    connections::{connection_for_schedule, list_ready},
    endpoint::Handle,
    failure::{Result, changed_meanwhile},
    posts::{
        actions, advance, announce,
        draft::{new_draft, set_free_slug},
        facts, follow,
        settling::{Settled, settle_ahead},
        site_of,
    },
};

/// Assesses a post before its transaction. A refusal is left to the transaction, which knows whether the request is a
/// repeated one.
async fn assess_ahead(call: &Call, edited: Result<Option<PostRecord>>) -> Result<Prepared> {
    let Ok(Some(record)) = edited else {
        return Ok(Prepared::Nothing);
    };
    let project = &call.project()?.project;
    let site = site_of(&project.name, &project.domain);
    let settled = settle_ahead(&call.engine, call.scope()?, record, site, None, call.now).await?;
    Ok(Prepared::Post(Box::new(settled)))
}

/// Returns the post that was assessed before the transaction.
fn assessed(call: &Call) -> Result<&Settled> {
    match &call.prepared {
        Prepared::Post(settled) => Ok(settled),
        _ => Err(changed_meanwhile()),
    }
}

/// Lets sentences stand that no source bears out.
fn accept_claims(record: &mut PostRecord, claims: &[String]) -> Result<()> {
    let warnings = &mut record.post.findings.warnings;
    for (at, claim) in claims.iter().enumerate() {
        let mut unverified = warnings.iter_mut().filter(|warning| warning.code == UNVERIFIED);
        match unverified.find(|warning| warning.text.as_ref() == Some(claim)) {
            Some(warning) => accept(warning),
            None => {
                return Err(fault(
                    &format!("/acceptClaims/{at}"),
                    "no_such_claim",
                    "is not a sentence with the warning unverified_claims; copy it verbatim from warnings",
                ));
            }
        }
    }
    Ok(())
}

/// `409 already_exists` if another post has the slug.
async fn refuse_taken(call: &Call, tx: &mut Tx, slug: &str, own: PostId) -> Result<()> {
    match posts::find_by_slug(tx, call.scope()?, slug).await? {
        Some(existing) if existing != own => {
            let fault = Fault {
                pointer: "/slug".to_owned(),
                code: "already_exists".to_owned(),
                detail: format!("is already used by {existing}"),
            };
            let problem = Problem::new(Code::AlreadyExists, "another post has this slug")
                .hint("choose another slug, or leave it out when creating a post")
                .with("existingId", existing)
                .with_faults(vec![fault]);
            Err(problem.into())
        }
        _ => Ok(()),
    }
}

/// Refuses a change to a text that is not the one the caller read, or of which the caller does not say.
fn check_version(call: &Call, post: &Post, named: Option<i64>, changes_text: bool) -> Result<()> {
    call.check_match(post.summary.id, post.summary.version)?;
    match named {
        Some(version) if version != post.summary.version => Err(Problem::new(
            Code::PreconditionFailed,
            "the record has changed since it was read",
        )
        .hint("read it again, look at what changed, and repeat with its version")
        .with("currentVersion", post.summary.version)
        .into()),
        None if changes_text && call.if_match.is_none() => Err(Problem::new(
            Code::PreconditionRequired,
            "a change of the text needs the version that was read",
        )
        .hint("read the post, and repeat with its ETag as If-Match or its version as ifVersion")
        .into()),
        _ => Ok(()),
    }
}

fn refuse_unless_editable(status: PostStatus) -> Result<()> {
    if status.is_editable() {
        return Ok(());
    }
    Err(Problem::new(
        Code::InvalidState,
        format!("the post is {status}: a job works on its text"),
    )
    .hint("wait until the job has ended, or cancel it")
    .with("from", status.as_str())
    .with("allowed", Vec::<String>::new())
    .into())
}

/// Removes warnings about a generated text as a whole, because people have changed the text.
fn forget_generated(record: &mut PostRecord) {
    let warnings = &mut record.post.findings.warnings;
    warnings.retain(|warning| warning.text.is_some());
}

impl Handle<ListPosts> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListPosts) -> Result<List<PostSummary>> {
        let limit = limit(operation.limit);
        let keyword = match operation.keyword_id.as_deref().map(KeywordId::parse) {
            Some(Err(_)) => return Err(fault("/keywordId", "not_an_id", "is not the id of a keyword")),
            Some(Ok(id)) => Some(id),
            None => None,
        };
        let query = PostQuery {
            status: operation.status,
            keyword,
            contains: operation.q.as_deref().map(normalize).filter(|q| !q.is_empty()),
            before: None,
            limit: limit + 1,
        };
        let cursor = operation.cursor.as_deref();
        let sort = operation.sort.unwrap_or(PostSort::Created);
        let order = match sort {
            PostSort::Created => None,
            PostSort::Title => Some(PostOrder::Title(call.after(&operation, cursor)?)),
            PostSort::Score => Some(PostOrder::Score(call.after(&operation, cursor)?)),
            PostSort::Date => Some(PostOrder::Date(call.after(&operation, cursor)?)),
        };
        let mut rows = match order {
            Some(order) => posts::list_by(tx, call.scope()?, &query, order).await?,
            None => {
                let before = call.after(&operation, cursor)?;
                posts::list(tx, call.scope()?, PostQuery { before, ..query }).await?
            }
        };
        let ready = !list_ready(tx, call.scope()?).await?.is_empty();
        for row in &mut rows {
            let facts = Facts {
                is_integration_ready: ready,
                ..facts(row, &[], call.now)
            };
            row.allowed_actions = actions(call, row, &facts);
        }
        match sort {
            PostSort::Created => call.page(&operation, limit, rows, |last| last.id),
            PostSort::Title => call.page(&operation, limit, rows, |last| {
                (normalize(last.title.as_deref().unwrap_or_default()), last.id)
            }),
            PostSort::Score => call.page(&operation, limit, rows, |last| {
                (last.seo_score.map(i64::from), last.id)
            }),
            PostSort::Date => call.page(&operation, limit, rows, |last| {
                (last.published_at.or(last.scheduled_at), last.id)
            }),
        }
    }
}

/// Returns a new post, without its derived fields.
async fn drafted(call: &Call, tx: &mut Tx, operation: CreatePost, id: PostId) -> Result<PostRecord> {
    if operation.title.is_none() && operation.keyword_id.is_none() {
        return Err(fault("/title", "required", "a post needs a title or a keyword"));
    }
    let edit = edit!(operation, given);
    let origin = match call.credential {
        Credential::Session(_) => PostOrigin::Manual,
        Credential::Key(_) | Credential::Token(_) => PostOrigin::Api,
    };
    let mut record = new_draft(id, &call.project()?.language, origin, call.now);
    edit.apply(call, tx, &mut record).await?;
    if record.post.summary.slug.is_empty() {
        set_free_slug(tx, call.scope()?, &mut record).await?;
    } else {
        refuse_taken(call, tx, &record.post.summary.slug, id).await?;
    }
    Ok(record)
}

impl Handle<CreatePost> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &CreatePost) -> Result<Prepared> {
        let (id, operation) = (call.engine.clock.id(), operation.clone());
        let drafted = drafted(call, &mut call.engine.db.read().await?, operation, id).await;
        assess_ahead(call, drafted.map(Some)).await
    }

    async fn handle(call: &Call, tx: &mut Tx, operation: CreatePost) -> Result<Post> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let id = assessed(call).map_or_else(|_| call.engine.clock.id(), Settled::id);
        let mut record = drafted(call, tx, operation, id).await?;
        assessed(call)?.apply(tx, scope, &mut record, true).await?;
        let created = posts::create(tx, scope, &record, call.now).await?;
        follow(tx, scope, None, &created.post.summary, call.now).await?;
        let (id, kind) = (call.engine.clock.id(), EventType::PostCreated);
        announce(tx, scope, id, kind, &created.post.summary, call.now).await?;
        shown(call, tx, created).await
    }
}

impl Handle<GetPost> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetPost) -> Result<Post> {
        let found = find(call, tx, &operation.post_id).await?;
        shown(call, tx, found).await
    }
}

/// A post as a request changes it.
struct Edited {
    before: PostRecord,
    /// Without its derived fields.
    after: PostRecord,
    /// Whether the request sets no member of the text.
    is_empty: bool,
    /// Whether the request changes nothing at all.
    is_unchanged: bool,
}

async fn edited(call: &Call, tx: &mut Tx, operation: UpdatePost) -> Result<Edited> {
    let mut record = find(call, tx, &operation.post_id).await?;
    let before = record.clone();
    let old = &before.post;
    check_version(call, old, operation.if_version, operation.content.is_some())?;
    let UpdatePost {
        status,
        ref scheduled_at,
        allow_empty_content,
        accept_claims: ref accepted,
        ..
    } = operation;
    let (accepted, scheduled_at) = (accepted.clone().unwrap_or_default(), scheduled_at.clone());
    let edit = edit!(operation, std::convert::identity);
    let is_empty = edit.is_empty();
    if !is_empty {
        refuse_unless_editable(old.summary.status)?;
        edit.apply(call, tx, &mut record).await?;
    }
    let is_blank = |text: &str| text.trim().is_empty();
    if is_blank(&record.post.content) && !is_blank(&old.content) && allow_empty_content != Some(true) {
        return Err(fault(
            "/content",
            "would_erase_content",
            "would erase the text; send allowEmptyContent: true if that is intended",
        ));
    }
    if record.post.summary.slug != old.summary.slug {
        refuse_taken(call, tx, &record.post.summary.slug, old.summary.id).await?;
    }
    if let Patch::Value(at) = scheduled_at
        && at <= call.now
    {
        return Err(fault(
            "/scheduledAt",
            "not_in_the_future",
            "has to be in the future",
        ));
    }
    record.post.summary.scheduled_at = scheduled_at.apply(record.post.summary.scheduled_at);
    let can_be_set = |to: PostStatus| transition(to, to, Actor::Patch, &Facts::default()).is_ok();
    let keeps_status = status.is_none_or(|to| to == old.summary.status && can_be_set(to));
    let mut accepting = record.clone();
    let accepts = accept_claims(&mut accepting, &accepted).is_ok();
    let is_unchanged = keeps_status && accepts && accepting == before;
    if record.post.content != old.content {
        forget_generated(&mut record);
    }
    Ok(Edited {
        before,
        after: record,
        is_empty,
        is_unchanged,
    })
}

/// Refuses what is on the schedule to callers who may not publish: it publishes by itself, and what the text is at its time.
async fn refuse_unless_publisher(call: &Call, tx: &mut Tx, record: &PostRecord) -> Result<()> {
    if record.post.summary.status != PostStatus::Scheduled {
        return Ok(());
    }
    if let Some(problem) = call.refusal(Scope::ContentPublish) {
        let hint = "the schedule publishes this post as it is then: set its status to draft to change it";
        return Err(problem.hint(hint).into());
    }
    autonomy::consume(call, tx, call.project()?, Scope::ContentPublish).await
}

impl Handle<UpdatePost> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &UpdatePost) -> Result<Prepared> {
        let edited = edited(call, &mut call.engine.db.read().await?, operation.clone()).await;
        assess_ahead(
            call,
            edited.map(|edited| (!edited.is_unchanged).then_some(edited.after)),
        )
        .await
    }

    async fn handle(call: &Call, tx: &mut Tx, operation: UpdatePost) -> Result<Post> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let (status, unpublish) = (operation.status, operation.unpublish);
        let accepted = operation.accept_claims.clone().unwrap_or_default();
        let edited = edited(call, tx, operation).await?;
        if edited.is_unchanged {
            return shown(call, tx, edited.before).await;
        }
        let (mut record, old) = (edited.after, edited.before.post);
        let is_new_text = record.post.content != old.content;
        assessed(call)?.apply(tx, scope, &mut record, is_new_text).await?;
        accept_claims(&mut record, &accepted)?;
        if status == Some(PostStatus::Draft)
            && unpublish == Some(true)
            && old.summary.status == PostStatus::Published
        {
            // What else the request changes is changed with it; the draft comes once the provider has it back.
            let record = if edited.is_empty {
                record
            } else {
                keep(call, tx, record, &old).await?
            };
            return Ok(super::publishing::unpublish(call, tx, record, None).await?.post);
        }
        if let Some(to) = status {
            let ready = list_ready(tx, scope).await?;
            let facts = Facts {
                unpublish: unpublish == Some(true),
                is_integration_ready: !ready.is_empty(),
                ..facts(&record.post.summary, &record.post.findings.warnings, call.now)
            };
            let effects = advance(&mut record, to, Actor::Patch, &facts, call.now)?;
            if to == PostStatus::Scheduled
                && let Err(why) = connection_for_schedule(tx, scope, &old.summary).await?
            {
                // Said now, not at its time, when nobody looks.
                return Err(fault("/status", "provider_required", why));
            }
            if effects.contains(&Effect::CancelJob)
                && let Some(job) = record.job
            {
                super::jobs::stop(call, tx, job).await?;
            }
        }
        let is_planned = record.post.summary.status == PostStatus::Scheduled
            && (old.summary.status, old.summary.scheduled_at)
                != (PostStatus::Scheduled, record.post.summary.scheduled_at);
        if is_planned || !edited.is_empty {
            refuse_unless_publisher(call, tx, &record).await?;
        }
        if is_planned {
            refuse_unapproved(&call.engine, tx, scope, &record).await?;
        }
        if record.post.summary.status == PostStatus::Scheduled && record.post.summary.scheduled_at.is_none() {
            return Err(fault(
                "/scheduledAt",
                "required",
                "a scheduled post needs a time; set its status to draft to take it off the schedule",
            ));
        }
        write(call, tx, record, &old).await
    }
}

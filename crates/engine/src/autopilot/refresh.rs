//! Slots that bring a published post up to date: a draft with a new text, which a person approves, and which then takes the
//! place of the text at the same URL.

use searchwright_autopilot::choice::is_refresh_slot;
use searchwright_contract::{
    Instant,
    autopilot::{AutopilotOutcome, AutopilotRun, PostRefresh},
    events::EventType,
    ids::{AuditId, PostId},
    issues::Severity,
    posts::{Post, PostDetails, PostOrigin, PostStatus, PostSummary},
};
use searchwright_crawls::ids::{page_id, url_key_of};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    autopilot_runs,
    integrations::IntegrationRecord,
    occurrences,
    posts::{self, LivePost, PostRecord},
    projects,
};
use searchwright_tracking::OwnCitations;
use searchwright_writing::transitions::{Actor, Facts};

use super::{
    AutopilotState,
    approvals::{unschedule, write_post},
};
use crate::{
    Engine,
    failure::Result,
    posts::{
        advance, announce,
        attempts::{AttemptOrder, LIVE, begin_attempt},
        draft::{new_draft, set_free_slug},
        facts, follow,
        settling::{Settled, settle_ahead, settle_without_text},
        site_of, sources,
    },
};

/// Published posts that are looked at.
const MAX_POSTS: u32 = 200;
/// Milliseconds for which a post is left alone once a new text was begun for it: nobody is asked the same again at every slot.
const REST_MILLIS: i64 = 90 * 24 * 3_600_000;
/// Wish of the editor for a new text.
const INSTRUCTIONS: &str = "The text in \"published text\" is on the website now, and this article takes its place. Keep what it says and what still holds, in a better order where that helps; leave out what the material contradicts, and add what it lacks.";
/// Reason for which a person is asked.
pub(super) const REASON: &str = "it replaces the text of a published post";

/// Returns the wish of the editor for the text of a post.
pub(super) fn instructions(post: &PostSummary) -> Option<String> {
    post.replaces_post_id.map(|_| INSTRUCTIONS.to_owned())
}

/// Returns the published post that the planned slot brings up to date; `None` for a slot with a new post, and where no post
/// has a reason.
pub(super) async fn find(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Option<PostRefresh>> {
    let settings = AutopilotState::load(tx, scope).await?.settings;
    // a page that is live cannot become a draft at the provider
    if settings.refresh_share == 0 || settings.draft_only {
        return Ok(None);
    }
    let earlier = autopilot_runs::count_with_post(tx, scope).await?;
    if !is_refresh_slot(earlier, settings.refresh_share) {
        return Ok(None);
    }
    let live = posts::list_live(tx, scope, now.plus_millis(-REST_MILLIS), MAX_POSTS).await?;
    if live.is_empty() {
        return Ok(None);
    }
    let citations = OwnCitations::load(tx, scope, now).await?;
    let mut found = None;
    let mut candidates = 0;
    for post in live {
        let new_problems = count_new_problems(tx, scope, &post).await?;
        let fall = citations.fall(&post.url);
        if new_problems == 0 && fall.is_none() {
            continue;
        }
        candidates += 1;
        // the oldest comes first
        found.get_or_insert(PostRefresh {
            post_id: post.id,
            url: post.url,
            published_at: post.published_at,
            new_problems,
            citations: fall.map(|cited| cited.now),
            citations_before: fall.map(|cited| cited.before),
            candidates: 0,
        });
    }
    Ok(found.map(|found| PostRefresh { candidates, ..found }))
}

/// Counts the errors and warnings of the page of a post that audits found first after its publication.
async fn count_new_problems(tx: &mut Tx, scope: ProjectScope, post: &LivePost) -> Result<u32> {
    let Some(key) = url_key_of(&post.url) else {
        return Ok(0);
    };
    let found = occurrences::list_of_page(tx, scope, page_id(scope.project(), &key)).await?;
    let new = found
        .iter()
        .filter(|found| found.severity != Severity::Notice && begun_at(found.first_seen) > post.published_at);
    Ok(u32::try_from(new.count()).unwrap_or(u32::MAX))
}

/// Time of an audit, from the first 48 bits of its id (UUIDv7, RFC 9562).
fn begun_at(audit: AuditId) -> Instant {
    Instant::from_millis((audit.uuid().as_u128() >> 80) as i64)
}

/// Returns the draft of a new text for a published post; `None` if that is no longer live as it was. It is not stored yet.
pub(super) async fn draft(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    refresh: &PostRefresh,
    now: Instant,
) -> Result<Option<PostRecord>> {
    let replaced = posts::get(tx, scope, refresh.post_id).await?;
    let summary = &replaced.post.summary;
    if summary.status != PostStatus::Published || summary.has_unpublished_changes {
        return Ok(None);
    }
    let project = projects::get(tx, scope).await?;
    let mut record = new_draft(engine.clock.id(), &summary.language, PostOrigin::Autopilot, now);
    record.replaces_hash = Some(replaced.content_hash);
    let new = &mut record.post.summary;
    new.replaces_post_id = Some(summary.id);
    (new.title, new.keyword_id, new.keyword) =
        (summary.title.clone(), summary.keyword_id, summary.keyword.clone());
    record.post.details = replaced.post.details;
    let details = &mut record.post.details;
    (details.excerpt, details.meta_description) = (None, None);
    details.canonical_url.get_or_insert_with(|| refresh.url.clone());
    set_free_slug(tx, scope, &mut record).await?;
    let site = site_of(&project.name, &project.domain);
    settle_without_text(tx, scope, &mut record, &site, now).await?;
    Ok(Some(record))
}

/// Returns the reason for which a new text cannot take the place of the published one any more.
pub(super) async fn refusal(
    tx: &mut Tx,
    scope: ProjectScope,
    record: &PostRecord,
) -> Result<Option<&'static str>> {
    let Some(replaced) = record.post.summary.replaces_post_id else {
        return Ok(None);
    };
    let replaced = posts::get(tx, scope, replaced).await?;
    let summary = &replaced.post.summary;
    Ok(if summary.status != PostStatus::Published || !summary.is_live {
        Some("the post that it replaces is not published any more: archive it")
    } else if record.replaces_hash.as_ref() != Some(&replaced.content_hash) {
        Some(
            "the post that it replaces was changed after this text was begun: copy what is new into that post, and archive it",
        )
    } else {
        None
    })
}

/// Puts the text of a draft into the published post that it replaces.
fn replace_text(live: &mut PostRecord, new: Post) {
    let post = &mut live.post;
    post.summary.title = new.summary.title;
    post.content = new.content;
    post.findings.warnings = new.findings.warnings;
    post.generation = new.generation;
    let canonical_url = post.details.canonical_url.take();
    post.details = PostDetails {
        canonical_url,
        ..new.details
    };
}

/// Assesses the text of a draft in the published post that it replaces, before the transaction that publishes it; `None` for
/// a draft that replaces none.
pub(crate) async fn settle_live(
    engine: &Engine,
    scope: ProjectScope,
    draft: PostId,
    now: Instant,
) -> Result<Option<Settled>> {
    let mut tx = engine.db.read().await?;
    let new = posts::get(&mut tx, scope, draft).await?.post;
    let Some(replaced) = new.summary.replaces_post_id else {
        return Ok(None);
    };
    let mut live = posts::get(&mut tx, scope, replaced).await?;
    let project = projects::get(&mut tx, scope).await?;
    let written_from = sources::load(&mut tx, scope, draft).await?;
    drop(tx);
    replace_text(&mut live, new);
    let site = site_of(&project.name, &project.domain);
    settle_ahead(engine, scope, live, site, Some(written_from), now)
        .await
        .map(Some)
}

/// Puts an approved text in the place of the published one, as it was assessed, and publishes it there. The draft is archived.
pub(crate) async fn publish(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    mut record: PostRecord,
    settled: &Settled,
    connection: &IntegrationRecord,
    now: Instant,
) -> Result<()> {
    let (draft, old_draft) = (record.post.summary.id, record.post.summary.clone());
    let Some(replaced) = old_draft.replaces_post_id else {
        return Ok(());
    };
    let mut live = posts::get(tx, scope, replaced).await?;
    let old = live.post.clone();
    replace_text(&mut live, record.post.clone());
    settled.apply(tx, scope, &mut live, true).await?;
    let written_from = sources::load(tx, scope, draft).await?;
    sources::save(tx, scope, replaced, &written_from).await?;
    let known = Facts {
        is_integration_ready: true,
        ..facts(&live.post.summary, &live.post.findings.warnings, now)
    };
    let run = autopilot_runs::find_open_of_post(tx, scope, draft).await?;
    if let Err(failure) = advance(&mut live, PostStatus::Publishing, Actor::Scheduler, &known, now) {
        return give_back(engine, tx, scope, record, run, failure.0.detail, now).await;
    }
    posts::insert_revision(tx, scope, &old, now).await?;
    let order = AttemptOrder {
        aim: LIVE,
        force: false,
        recreate: false,
        at: (connection.id, connection.provider),
        from: PostStatus::Published,
        is_scheduled: true,
    };
    begin_attempt(engine, tx, scope, &mut live, &order, now).await?;
    let written = posts::update(tx, scope, &live, now).await?;
    follow(tx, scope, Some(&old.summary), &written.post.summary, now).await?;
    let event = engine.clock.id();
    announce(
        tx,
        scope,
        event,
        EventType::PostUpdated,
        &written.post.summary,
        now,
    )
    .await?;
    let known = facts(&old_draft, &record.post.findings.warnings, now);
    advance(&mut record, PostStatus::Archived, Actor::Patch, &known, now)?;
    write_post(tx, scope, engine.clock.id(), &record, &old_draft, now).await?;
    if let Some(mut run) = run {
        run.post_id = Some(replaced);
        (run.outcome, run.detail, run.updated_at) = (AutopilotOutcome::Publishing, None, now);
        autopilot_runs::update(tx, scope, &run).await?;
    }
    Ok(())
}

/// Takes a draft that cannot be published off the schedule, with the reason.
async fn give_back(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    mut record: PostRecord,
    run: Option<AutopilotRun>,
    why: String,
    now: Instant,
) -> Result<()> {
    let old = record.post.summary.clone();
    unschedule(&mut record, now)?;
    write_post(tx, scope, engine.clock.id(), &record, &old, now).await?;
    if let Some(mut run) = run {
        (run.outcome, run.detail, run.updated_at) = (AutopilotOutcome::AwaitingReview, Some(why), now);
        autopilot_runs::update(tx, scope, &run).await?;
    }
    Ok(())
}

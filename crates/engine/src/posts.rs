//! Rules of posts between an edit by people or jobs and the store: fields derived from a text, warnings, and allowed
//! actions.

pub(crate) mod attempts;
pub(crate) mod draft;
pub(crate) mod generation;
pub(crate) mod hashes;
pub(crate) mod own_pages;
pub(crate) mod places;
pub(crate) mod schedule;
pub(crate) mod settling;
pub(crate) mod sources;

use searchwright_contract::{
    Instant, Problem, Scope,
    actions::{AllowedActions, Permission},
    events::EventType,
    ids::{EventId, PostId},
    posts::{PostStatus, PostSummary, PostWarning, PublicationState},
};
use searchwright_store::{Tx, access::ProjectScope, events, keywords, posts::PostRecord};
use searchwright_visibility::domains::start_url;
use searchwright_writing::{
    assessment::Site,
    transitions::{Action, Actor, Effect, Facts, Stage, allowed_actions, transition},
};
use serde::Serialize;
use serde_json::json;

use crate::{call::Call, failure::Result};

/// `failure.stage` of a post that could not be published.
pub(crate) const PUBLISH: &str = "publish";
/// Codes of warnings: the text is a brief and no article, a section has no text, a step has no answer.
pub(crate) const BRIEF_ONLY: &str = "brief_only";
pub(crate) const MISSING_SECTION: &str = "missing_section";
pub(crate) const STEP_LOST: &str = "step_lost";
/// Makes the site of a project with this name and domain.
pub(crate) fn site_of(name: &str, domain: &str) -> Site {
    Site {
        name: name.to_owned(),
        home: start_url(domain),
    }
}

/// Returns the facts about a post that its transitions depend on. Whether an integration is ready is set by the caller.
pub(crate) fn facts(summary: &PostSummary, warnings: &[PostWarning], now: Instant) -> Facts {
    Facts {
        has_title: summary.title.is_some(),
        has_keyword: summary.keyword_id.is_some(),
        has_content: summary.seo_score.is_some(),
        has_active_job: matches!(
            summary.status,
            PostStatus::Queued | PostStatus::Generating | PostStatus::Publishing
        ),
        is_time_ahead: summary.scheduled_at.is_some_and(|at| at > now),
        is_blocked: warnings.iter().any(|warning| warning.blocks_publishing),
        was_live: summary.is_live,
        can_unpublish: summary.is_live,
        is_uncertain: summary.publication_state == Some(PublicationState::Uncertain),
        failed_at: summary
            .failure
            .as_ref()
            .map(|failure| match failure.stage.as_str() {
                PUBLISH => Stage::Publish,
                _ => Stage::Generate,
            }),
        ..Facts::default()
    }
}

/// Moves a post to another status, or refuses with what would have been possible.
pub(crate) fn advance(
    record: &mut PostRecord,
    to: PostStatus,
    by: Actor,
    facts: &Facts,
    now: Instant,
) -> Result<&'static [Effect]> {
    let summary = &mut record.post.summary;
    let effects = transition(summary.status, to, by, facts).map_err(|refusal| {
        let allowed: Vec<&str> = refusal.allowed.iter().map(|status| status.as_str()).collect();
        let mut problem = Problem::invalid_state(summary.status.as_str(), to.as_str(), &allowed)
            .with("reason", refusal.code)
            .hint(refusal.reason);
        problem.detail = format!("{}: {}", problem.detail, refusal.reason);
        problem
    })?;
    if effects.contains(&Effect::ClearSchedule) {
        summary.scheduled_at = None;
    }
    summary.archived_at = match to {
        PostStatus::Archived => summary.archived_at.or(Some(now)),
        _ => None,
    };
    summary.status = to;
    Ok(effects)
}

/// Returns the actions of the caller on a post: every transition of the table that the caller could cause, and `update`.
pub(crate) fn actions(call: &Call, summary: &PostSummary, facts: &Facts) -> AllowedActions {
    let write = call.permission(Scope::PostsWrite);
    let update = match &write {
        Permission::Yes(_) if !summary.status.is_editable() => {
            Permission::no("invalid_state", "a job for this post is under way")
        }
        _ => write.clone(),
    };
    let mut actions = AllowedActions::default().with("update", update);
    for Action {
        by,
        to,
        allowed,
        reason,
        ..
    } in allowed_actions(summary.status, facts)
    {
        let (name, permission) = match (by, to) {
            (Actor::Patch, PostStatus::Draft) => ("draft", write.clone()),
            (Actor::Patch, PostStatus::Review) => ("review", write.clone()),
            (Actor::Patch, PostStatus::Scheduled) => {
                let publish = call.permission(Scope::ContentPublish);
                let is_granted = matches!(publish, Permission::Yes(_));
                ("schedule", if is_granted { write.clone() } else { publish })
            }
            (Actor::Patch, PostStatus::Archived) => ("archive", write.clone()),
            (Actor::Generate, _) => ("generate", call.permission(Scope::ContentGenerate)),
            (Actor::Publish, _) => ("publish", call.permission(Scope::ContentPublish)),
            (Actor::Unpublish, _) => ("unpublish", call.permission(Scope::ContentPublish)),
            _ => continue,
        };
        let permission = match permission {
            Permission::Yes(_) if !allowed => Permission::no("invalid_state", reason.unwrap_or_default()),
            other => other,
        };
        actions = actions.with(name, permission);
    }
    actions
}

/// Lets the keywords follow a post that was written: the one it aims at, and the one it aimed at before.
pub(crate) async fn follow(
    tx: &mut Tx,
    scope: ProjectScope,
    old: Option<&PostSummary>,
    new: &PostSummary,
    now: Instant,
) -> searchwright_store::Result<()> {
    let aim = |summary: &PostSummary| {
        let keyword = summary.keyword_id?;
        let (has_text, was_live) = (summary.seo_score.is_some(), summary.published_at.is_some());
        Some((
            keyword,
            keywords::status_from_post(summary.status, has_text, was_live),
        ))
    };
    let (old, new) = (old.and_then(aim), aim(new));
    if old == new {
        return Ok(());
    }
    if let Some((keyword, _)) = new {
        keywords::update_from_posts(tx, scope, keyword, now).await?;
    }
    match old {
        Some((keyword, _)) if new.is_none_or(|(now_at, _)| now_at != keyword) => {
            keywords::update_from_posts(tx, scope, keyword, now).await
        }
        _ => Ok(()),
    }
}

/// Writes an event about a post. Thin: whoever wants more reads the post.
pub(crate) async fn announce(
    tx: &mut Tx,
    scope: ProjectScope,
    id: EventId,
    kind: EventType,
    summary: &PostSummary,
    now: Instant,
) -> searchwright_store::Result<()> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'a> {
        post_id: PostId,
        version: i64,
        status: PostStatus,
        title: Option<&'a str>,
        url: Option<&'a str>,
    }
    let data = json!(Data {
        post_id: summary.id,
        version: summary.version,
        status: summary.status,
        title: summary.title.as_deref(),
        url: summary.published_url.as_deref(),
    });
    events::insert(tx, scope, id, kind, &data, now).await
}

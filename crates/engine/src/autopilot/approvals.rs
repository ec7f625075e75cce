//! Approvals: requests to a person, bound to the bytes that would be sent and to their destination.

use searchwright_contract::{
    Code, Instant, Problem,
    approvals::{Approval, ApprovalStatus},
    autopilot::{AutopilotMode, AutopilotOutcome, AutopilotRun},
    events::{ApprovalData, EventType},
    ids::{ApprovalId, EventId, PostId, ProjectId},
    posts::{PostStatus, PostSummary},
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    approvals::{self, ApprovalRecord},
    autopilot_runs, events,
    integrations::IntegrationRecord,
    posts::{self, PostRecord},
};
use searchwright_writing::transitions::{Actor, Facts};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::AutopilotState;
use crate::{
    Engine,
    connections::connection_for_schedule,
    failure::{Result, defect},
    posts::{advance, announce, facts, follow, hashes::digest},
};

/// Returns the digest of what would be sent, and where.
pub(super) fn hash_to_send(
    record: &PostRecord,
    connection: Option<&IntegrationRecord>,
    draft_only: bool,
) -> Vec<u8> {
    let place = connection.map(|at| json!([at.id, at.site_id, at.collection_id, at.field_map]));
    let mut hash = Sha256::new();
    hash.update(&record.content_hash);
    hash.update(digest(&json!([place, draft_only])));
    hash.finalize().to_vec()
}

/// A request for a decision.
pub(super) struct ApprovalRequest<'a> {
    /// Run that made the post.
    pub(super) run: &'a AutopilotRun,
    /// The post.
    pub(super) record: &'a PostRecord,
    /// Connection through which it would be published.
    pub(super) connection: Option<&'a IntegrationRecord>,
    /// Whether it would become a draft there.
    pub(super) draft_only: bool,
    /// Reasons why a person is asked.
    pub(super) reasons: Vec<String>,
    /// Time at which it is published unless a person stops it.
    pub(super) expires_at: Option<Instant>,
}

/// Asks a person.
pub(super) async fn request(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    request: ApprovalRequest<'_>,
    now: Instant,
) -> Result<()> {
    let connection = request.connection.map(|connection| connection.id);
    let new = ApprovalRecord {
        id: engine.clock.id(),
        post: request.record.post.summary.id,
        run: Some(request.run.id),
        status: ApprovalStatus::Pending,
        reasons: request.reasons,
        content_hash: hash_to_send(request.record, request.connection, request.draft_only),
        connection,
        provider: request.connection.map(|connection| connection.provider),
        publish_at: request.expires_at,
        requested_by: "autopilot".to_owned(),
        requested_at: now,
        expires_at: request.expires_at,
        decided_by: None,
        decided_at: None,
        reason: None,
    };
    approvals::insert(tx, scope, &new).await?;
    let title = request.record.post.summary.title.clone();
    announce_approval(engine, tx, scope, EventType::ApprovalRequested, &new, title, now).await
}

async fn announce_approval(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    kind: EventType,
    approval: &ApprovalRecord,
    title: Option<String>,
    now: Instant,
) -> Result<()> {
    let data = ApprovalData {
        approval_id: approval.id,
        post_id: approval.post,
        title,
        status: approval.status,
        expires_at: approval.expires_at,
        url: page_url(engine, scope.project().into(), approval.id),
    };
    let data = serde_json::to_value(data).map_err(|e| defect("event", e))?;
    events::insert(tx, scope, engine.clock.id(), kind, &data, now).await?;
    Ok(())
}

/// Returns the address of the page on which people decide.
pub(crate) fn page_url(engine: &Engine, project: ProjectId, approval: ApprovalId) -> String {
    let origin = engine.publishing().map(|settings| settings.origin.as_str());
    format!(
        "{}/projects/{project}/approvals/{approval}",
        origin.unwrap_or_default()
    )
}

/// Returns an approval as it is shown, with its post.
pub(crate) fn shown(
    engine: &Engine,
    project: ProjectId,
    record: ApprovalRecord,
    post: &PostSummary,
) -> Approval {
    Approval {
        url: page_url(engine, project, record.id),
        id: record.id,
        post_id: record.post,
        title: post.title.clone(),
        replaces_post_id: post.replaces_post_id,
        run_id: record.run,
        status: record.status,
        reasons: record.reasons,
        content_hash: record
            .content_hash
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
        connection_id: record.connection,
        provider: record.provider,
        publish_at: record.publish_at,
        requested_by: record.requested_by,
        requested_at: record.requested_at,
        expires_at: record.expires_at,
        decided_by: record.decided_by,
        decided_at: record.decided_at,
        reason: record.reason,
    }
}

/// Makes the newest approval of a post void, if it could still let the post through.
pub(crate) async fn make_void(tx: &mut Tx, scope: ProjectScope, post: PostId) -> Result<()> {
    use ApprovalStatus::{Approved, Held, Pending};
    if let Some(mut newest) = approvals::find_newest_of_post(tx, scope, post).await?
        && matches!(newest.status, Pending | Approved | Held)
    {
        newest.status = ApprovalStatus::Void;
        approvals::update(tx, scope, &newest).await?;
    }
    Ok(())
}

/// Makes a request for a post void that nobody has decided.
pub(super) async fn void_waiting(tx: &mut Tx, scope: ProjectScope, post: PostId) -> Result<()> {
    use ApprovalStatus::{Held, Pending};
    if let Some(mut newest) = approvals::find_newest_of_post(tx, scope, post).await?
        && matches!(newest.status, Pending | Held)
    {
        newest.status = ApprovalStatus::Void;
        approvals::update(tx, scope, &newest).await?;
    }
    Ok(())
}

/// Refuses a caller that would schedule or publish a post which waits for a person, or which a person rejected.
pub(crate) async fn refuse_unapproved(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    record: &PostRecord,
) -> Result<()> {
    let post = record.post.summary.id;
    let is_replacement = record.post.summary.replaces_post_id.is_some();
    let run = autopilot_runs::find_open_of_post(tx, scope, post).await?;
    // the new text of a published post was approved under another id
    let run = run.filter(|run| run.refresh.is_none() || is_replacement);
    let newest = approvals::find_newest_of_post(tx, scope, post).await?;
    let state = AutopilotState::load(tx, scope).await?;
    let connection = connection_for_schedule(tx, scope, &record.post.summary)
        .await?
        .ok();
    let hash = hash_to_send(record, connection.as_ref(), state.settings.draft_only);
    let refusal = |detail: &str| {
        Problem::new(Code::InvalidState, detail).with("from", record.post.summary.status.as_str())
    };
    if is_replacement {
        let refusal =
            refusal("the text replaces that of a published post, which takes the approval of a person");
        let (hint, url) = match newest.filter(|_| run.is_some()) {
            Some(newest) => {
                let url = page_url(engine, scope.project().into(), newest.id);
                (format!("a person decides at {url}"), Some(url))
            }
            None => (
                "copy what is new into the published post and publish that".to_owned(),
                None,
            ),
        };
        return Err(refusal.hint(hint).with("approvalUrl", url).into());
    }
    let Some(newest) = newest else {
        let is_waiting = run.is_some_and(|run| {
            state.settings.mode == AutopilotMode::Review || run.outcome == AutopilotOutcome::Preparing
        });
        if is_waiting {
            let refusal = refusal("the autopilot is preparing the post, and a person will be asked");
            return Err(refusal.hint("see approvals.list in a minute").into());
        }
        return Ok(());
    };
    let is_same = newest.content_hash == hash;
    let is_refused = match newest.status {
        ApprovalStatus::Approved => !is_same && run.is_some(),
        // what was rejected stays rejected, until it is changed
        ApprovalStatus::Rejected => is_same,
        ApprovalStatus::Pending | ApprovalStatus::Held => run.is_some(),
        ApprovalStatus::Void => run.is_some() && state.settings.mode != AutopilotMode::Propose,
        ApprovalStatus::Lapsed => false,
    };
    if !is_refused {
        return Ok(());
    }
    let url = page_url(engine, scope.project().into(), newest.id);
    let (detail, hint) = match newest.status {
        ApprovalStatus::Rejected => (
            "a person rejected the post as it is",
            "change it first".to_owned(),
        ),
        _ => (
            "the post waits for the approval of a person",
            format!("a person decides at {url}"),
        ),
    };
    Err(refusal(detail).hint(hint).with("approvalUrl", url).into())
}

/// Puts a post on the schedule, as the autopilot does.
pub(super) async fn schedule_post(
    tx: &mut Tx,
    scope: ProjectScope,
    record: &mut PostRecord,
    at: Instant,
    now: Instant,
) -> Result<()> {
    let is_ready = connection_for_schedule(tx, scope, &record.post.summary)
        .await?
        .is_ok();
    record.post.summary.scheduled_at = Some(at);
    let facts = Facts {
        is_integration_ready: is_ready,
        ..facts(&record.post.summary, &record.post.findings.warnings, now)
    };
    advance(record, PostStatus::Scheduled, Actor::Autopilot, &facts, now)?;
    Ok(())
}

/// Takes a post off the schedule.
pub(crate) fn unschedule(record: &mut PostRecord, now: Instant) -> Result<()> {
    if record.post.summary.status == PostStatus::Scheduled {
        let facts = facts(&record.post.summary, &record.post.findings.warnings, now);
        advance(record, PostStatus::Review, Actor::Patch, &facts, now)?;
    }
    Ok(())
}

/// Writes a post that the autopilot changed, with its event.
pub(crate) async fn write_post(
    tx: &mut Tx,
    scope: ProjectScope,
    event: EventId,
    record: &PostRecord,
    old: &PostSummary,
    now: Instant,
) -> Result<PostRecord> {
    let written = posts::update(tx, scope, record, now).await?;
    follow(tx, scope, Some(old), &written.post.summary, now).await?;
    announce(
        tx,
        scope,
        event,
        EventType::PostUpdated,
        &written.post.summary,
        now,
    )
    .await?;
    Ok(written)
}

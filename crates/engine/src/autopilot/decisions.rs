//! Decisions of people about posts that wait: the list and the page that they see, and what approving, holding and rejecting do.

use searchwright_autopilot::slots::Slot;
use searchwright_contract::{
    Code, Instant, Problem, Scope,
    approvals::{Approval, ApprovalStatus},
    autopilot::{AutopilotOutcome, AutopilotRun},
    events::{ApprovalData, EventType},
    ids::{ActivityId, ApprovalId, EventId, PostId, ProjectId},
    people::UserRef,
    posts::{Post, PostStatus, PostSummary},
};
use searchwright_store::{
    Tx,
    access::{self, ProjectAccess, ProjectScope},
    activity,
    approvals::{self, ApprovalRecord},
    autopilot_runs, events,
    posts::{self, PostRecord},
    projects, workspaces,
};

use super::{
    AutopilotState,
    approvals::{hash_to_send, page_url, schedule_post, shown, unschedule, write_post},
    finish, refresh,
};
use crate::{
    Engine,
    connections::connection_for_schedule,
    failure::{Result, defect},
};

/// Characters of the reason of a decision.
const MAX_REASON: usize = 500;

/// Decision of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The post is published at its slot.
    Approve,
    /// The post waits until somebody approves it.
    Hold,
    /// The post is not published by the autopilot.
    Reject,
}

/// Approvals of a project.
#[derive(Clone, Debug)]
pub struct ListedApprovals {
    /// Those that wait for a person, newest first.
    pub waiting: Vec<Approval>,
    /// Those that were decided, newest first.
    pub decided: Vec<Approval>,
    /// Time zone of the schedule.
    pub timezone: String,
}

/// A request with the post that it is about.
#[derive(Clone, Debug)]
pub struct ApprovalPage {
    /// The request.
    pub approval: Approval,
    /// The post as it is now.
    pub post: Post,
    /// The published post whose text it would replace.
    pub replaced: Option<Post>,
    /// Reason for which this person cannot approve it; `None` if the person can.
    pub refusal: Option<String>,
    /// Reason for which it cannot be decided any more; `None` while it can.
    pub closed: Option<String>,
    /// Time at which it would be published if it were approved now.
    pub next_at: Option<Instant>,
    /// Time zone of the schedule.
    pub timezone: String,
}

/// Person who decides about posts of a project.
struct Reviewer {
    access: ProjectAccess,
    user: UserRef,
}

async fn reviewer(tx: &mut Tx, user: &UserRef, project: ProjectId) -> Result<Option<Reviewer>> {
    let found = access::find_project_of_user(tx, user.id, project).await?;
    Ok(found.map(|access| Reviewer {
        access,
        user: user.clone(),
    }))
}

/// Returns the reason for which a person cannot approve a post.
async fn refusal(
    tx: &mut Tx,
    reviewer: &Reviewer,
    state: &AutopilotState,
    post: PostId,
) -> Result<Option<String>> {
    if !may_approve(reviewer.access.role) {
        let why = "your role may not publish: an editor, an admin or the owner can decide";
        return Ok(Some(why.to_owned()));
    }
    if !state.settings.reviewer_other_than_author {
        return Ok(None);
    }
    let scope = reviewer.access.scope();
    if activity::find_last_author(tx, scope, post).await? != Some(reviewer.user.id) {
        return Ok(None);
    }
    let Some(workspace) = workspaces::find_of_project(tx, reviewer.user.id, scope.project().into()).await?
    else {
        return Ok(None);
    };
    let members = workspaces::list_members(tx, workspace.id).await?;
    let others = members
        .iter()
        .filter(|member| member.id != reviewer.user.id && may_approve(Some(member.role)));
    if others.count() == 0 {
        return Ok(None);
    }
    Ok(Some(
        "you changed this post last, so another member has to approve it".to_owned(),
    ))
}

pub(super) fn may_approve(role: Option<searchwright_contract::people::Role>) -> bool {
    role.is_some_and(|role| role.permits(Scope::ContentPublish))
}

impl Engine {
    /// Lists the approvals of a project for a person, newest first; `None` if the person has no access to it.
    pub async fn approvals_for(
        &self,
        user: &UserRef,
        project: ProjectId,
        limit: u32,
    ) -> Result<Option<ListedApprovals>> {
        let mut tx = self.db.read().await?;
        let Some(reviewer) = reviewer(&mut tx, user, project).await? else {
            return Ok(None);
        };
        let scope = reviewer.access.scope();
        let mut listed = ListedApprovals {
            waiting: Vec::new(),
            decided: Vec::new(),
            timezone: AutopilotState::load(&mut tx, scope).await?.zone,
        };
        for status in ApprovalStatus::ALL {
            if *status == ApprovalStatus::Void {
                continue;
            }
            for row in approvals::list(&mut tx, scope, Some(*status), None, limit).await? {
                let post = posts::get(&mut tx, scope, row.post).await?.post.summary;
                let approval = shown(self, project, row, &post);
                match approval.status {
                    ApprovalStatus::Pending | ApprovalStatus::Held => listed.waiting.push(approval),
                    _ => listed.decided.push(approval),
                }
            }
        }
        listed
            .waiting
            .sort_by_key(|approval| std::cmp::Reverse(approval.id));
        listed
            .decided
            .sort_by_key(|approval| std::cmp::Reverse(approval.id));
        listed.decided.truncate(limit as usize);
        Ok(Some(listed))
    }

    /// Returns an approval with its post for a person; `None` if there is none that the person may see.
    pub async fn approval_for(
        &self,
        user: &UserRef,
        project: ProjectId,
        id: ApprovalId,
    ) -> Result<Option<ApprovalPage>> {
        let now = self.clock.now();
        let mut tx = self.db.read().await?;
        let Some(reviewer) = reviewer(&mut tx, user, project).await? else {
            return Ok(None);
        };
        let scope = reviewer.access.scope();
        let found = match approvals::get(&mut tx, scope, id).await {
            Ok(found) => found,
            Err(searchwright_store::Error::Missing) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let state = AutopilotState::load(&mut tx, scope).await?;
        let record = posts::get(&mut tx, scope, found.post).await?;
        let closed = closed(&mut tx, scope, &state, &found, &record).await?;
        let refusal = refusal(&mut tx, &reviewer, &state, found.post).await?;
        let slot = match found.run {
            Some(run) => {
                let run = autopilot_runs::get(&mut tx, scope, run).await?;
                slot_of(&mut tx, scope, &state, &run, now).await?
            }
            None => None,
        };
        let replaced = match record.post.summary.replaces_post_id {
            Some(replaced) => Some(posts::get(&mut tx, scope, replaced).await?.post),
            None => None,
        };
        Ok(Some(ApprovalPage {
            approval: shown(self, project, found, &record.post.summary),
            replaced,
            post: record.post,
            refusal,
            closed,
            next_at: slot.map(|slot| slot.at),
            timezone: state.zone,
        }))
    }

    /// Carries out the decision of a person.
    pub async fn decide_approval(
        &self,
        user: &UserRef,
        project: ProjectId,
        id: ApprovalId,
        decision: Decision,
        reason: Option<String>,
    ) -> Result<Approval> {
        let now = self.clock.now();
        let reason = reason.map(|text| text.trim().chars().take(MAX_REASON).collect::<String>());
        let reason = reason.filter(|text| !text.is_empty());
        let decided = ApprovalDecision {
            user: user.clone(),
            project,
            id,
            decision,
            reason,
            post_event: self.clock.id(),
            decision_event: self.clock.id(),
            entry: self.clock.id(),
        };
        let url_of = page_url(self, project, id);
        let done = self
            .db
            .write(move |tx| Box::pin(async move { decide(tx, decided, &url_of, now).await }))
            .await?;
        self.happened.notify_one();
        self.wake.notify_one();
        let (record, post) = done;
        Ok(shown(self, project, record, &post))
    }
}

struct ApprovalDecision {
    user: UserRef,
    project: ProjectId,
    id: ApprovalId,
    decision: Decision,
    reason: Option<String>,
    post_event: EventId,
    decision_event: EventId,
    entry: ActivityId,
}

fn conflict(detail: impl Into<String>) -> Problem {
    Problem::new(Code::InvalidState, detail).hint("load the page again to see what holds now")
}

/// Returns the reason for which a request cannot be decided any more.
async fn closed(
    tx: &mut Tx,
    scope: ProjectScope,
    state: &AutopilotState,
    approval: &ApprovalRecord,
    record: &PostRecord,
) -> Result<Option<String>> {
    match approval.status {
        ApprovalStatus::Pending | ApprovalStatus::Held => {}
        ApprovalStatus::Void => return Ok(Some("The post was changed after this request. A new request was made, or the post is no longer to be published.".to_owned())),
        other => return Ok(Some(format!("It was decided: {other}."))),
    }
    if !matches!(
        record.post.summary.status,
        PostStatus::Draft | PostStatus::Review | PostStatus::Scheduled
    ) {
        return Ok(Some(format!(
            "The post is {} in the meantime.",
            record.post.summary.status
        )));
    }
    let connection = connection_for_schedule(tx, scope, &record.post.summary)
        .await?
        .ok();
    if approval.content_hash != hash_to_send(record, connection.as_ref(), state.settings.draft_only) {
        return Ok(Some(
            "What would be published has changed since this request. A new request follows within a minute."
                .to_owned(),
        ));
    }
    Ok(refresh::refusal(tx, scope, record).await?.map(str::to_owned))
}

/// Returns the slot at which a run would publish from now on: its own while that lies ahead, else the next free one.
pub(super) async fn slot_of(
    tx: &mut Tx,
    scope: ProjectScope,
    state: &AutopilotState,
    run: &AutopilotRun,
    now: Instant,
) -> Result<Option<Slot>> {
    if run.slot_at > now
        && state
            .settings
            .paused_until
            .is_none_or(|until| until <= run.slot_at)
        && let Ok(date) = run.slot_date.parse()
    {
        return Ok(Some(Slot {
            date,
            time: state.rule.time,
            at: run.slot_at,
        }));
    }
    state.next_slot(tx, scope, Some(run.id), now, now).await
}

async fn decide(
    tx: &mut Tx,
    decided: ApprovalDecision,
    url: &str,
    now: Instant,
) -> Result<(ApprovalRecord, PostSummary)> {
    let unknown = || Problem::new(Code::NotFound, "there is no such approval");
    let Some(reviewer) = reviewer(tx, &decided.user, decided.project).await? else {
        return Err(unknown().into());
    };
    let scope = reviewer.access.scope();
    projects::lock(tx, scope).await?;
    let mut approval = match approvals::get(tx, scope, decided.id).await {
        Ok(found) => found,
        Err(searchwright_store::Error::Missing) => return Err(unknown().into()),
        Err(error) => return Err(error.into()),
    };
    let state = AutopilotState::load(tx, scope).await?;
    let mut record = posts::get(tx, scope, approval.post).await?;
    if let Some(why) = closed(tx, scope, &state, &approval, &record).await? {
        return Err(conflict(why).into());
    }
    if decided.decision == Decision::Approve
        && let Some(why) = refusal(tx, &reviewer, &state, approval.post).await?
    {
        return Err(Problem::new(Code::InsufficientScope, why).into());
    }
    if !may_approve(reviewer.access.role) {
        return Err(Problem::new(Code::InsufficientScope, "your role may not decide about posts").into());
    }
    let Some(run) = approval.run else {
        return Err(conflict("the run of this post is gone").into());
    };
    let mut run = autopilot_runs::get(tx, scope, run).await?;
    if run.outcome.is_final() {
        return Err(conflict("the run of this post has ended").into());
    }
    let old = record.post.clone();
    match decided.decision {
        Decision::Approve => {
            if record
                .post
                .findings
                .warnings
                .iter()
                .any(|warning| warning.blocks_publishing)
            {
                let why = "a warning blocks publishing: edit the post, or accept the claim in question; a new request follows";
                return Err(conflict(why).into());
            }
            if !state.schedule.enabled {
                return Err(conflict("the autopilot is off: turn it on, or publish the post by hand").into());
            }
            if record.post.summary.status != PostStatus::Scheduled {
                let Some(slot) = slot_of(tx, scope, &state, &run, now).await? else {
                    return Err(conflict("no slot is free").into());
                };
                schedule_post(tx, scope, &mut record, slot.at, now).await?;
                (run.slot_date, run.slot_at) = (slot.date.to_string(), slot.at);
            }
            approval.status = ApprovalStatus::Approved;
            approval.publish_at = record.post.summary.scheduled_at;
            approval.expires_at = None;
            (run.outcome, run.detail) = (AutopilotOutcome::Scheduled, None);
        }
        Decision::Hold => {
            unschedule(&mut record, now)?;
            approval.status = ApprovalStatus::Held;
            (approval.publish_at, approval.expires_at) = (None, None);
            run.outcome = AutopilotOutcome::AwaitingReview;
            run.detail = Some(format!(
                "{} holds it: it waits for an approval",
                decided.user.name
            ));
        }
        Decision::Reject => {
            unschedule(&mut record, now)?;
            approval.status = ApprovalStatus::Rejected;
            (approval.publish_at, approval.expires_at) = (None, None);
            let why = decided.reason.as_deref().unwrap_or("no reason was given");
            let detail = format!(
                "{} rejected it: {why}. The post stays as a draft",
                decided.user.name
            );
            finish(&mut run, AutopilotOutcome::Rejected, Some(detail), now);
        }
    }
    approval.decided_by = Some(decided.user.clone());
    approval.decided_at = Some(now);
    approval.reason = decided.reason;
    approvals::update(tx, scope, &approval).await?;
    run.updated_at = now;
    autopilot_runs::update(tx, scope, &run).await?;
    if record.post.summary != old.summary {
        write_post(tx, scope, decided.post_event, &record, &old.summary, now).await?;
    }
    let data = ApprovalData {
        approval_id: approval.id,
        post_id: approval.post,
        title: record.post.summary.title.clone(),
        status: approval.status,
        expires_at: None,
        url: url.to_owned(),
    };
    let data = serde_json::to_value(data).map_err(|e| defect("event", e))?;
    events::insert(
        tx,
        scope,
        decided.decision_event,
        EventType::ApprovalDecided,
        &data,
        now,
    )
    .await?;
    let entry = activity::NewActivity::of_person(
        decided.entry,
        "approvals.decide",
        approval.id.to_string(),
        decided.user,
    );
    activity::insert(tx, scope, entry, now).await?;
    // a rejected slot, or one that was taken, lets the next one move
    let state = AutopilotState::load(tx, scope).await?;
    state.replan(tx, scope, state.plan_from(now), now).await?;
    Ok((approval, record.post.summary))
}

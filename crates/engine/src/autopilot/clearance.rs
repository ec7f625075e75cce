//! The last look at a post of the autopilot before it is published: everything may have changed since it was scheduled.

use searchwright_autopilot::slots::MAX_LATE_MILLIS;
use searchwright_contract::{
    Instant,
    approvals::ApprovalStatus,
    autopilot::{AutopilotMode, AutopilotOutcome, AutopilotRun, PauseReason},
};
use searchwright_store::{
    Tx, access::ProjectScope, approvals, autopilot_runs, integrations::IntegrationRecord, posts::PostRecord,
};

use super::{AutopilotState, approvals::hash_to_send, count_month, pause, refresh};
use crate::{
    Engine,
    failure::Result,
    posts::attempts::{DRAFT, LIVE},
};

/// Decision about a post whose time has come.
#[derive(Clone, Debug)]
pub(crate) enum Clearance {
    /// It is published, with this aim.
    Go(&'static str),
    /// It goes back to review, with the reason.
    Back(String),
    /// It is published later.
    Later(Instant),
}

/// Decides about a post whose time has come; `None` if it is not of the autopilot. Writes the run.
pub(crate) async fn clear(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    record: &PostRecord,
    connection: Option<&IntegrationRecord>,
    now: Instant,
) -> Result<Option<Clearance>> {
    let post = record.post.summary.id;
    let Some(mut run) = autopilot_runs::find_open_of_post(tx, scope, post).await? else {
        return Ok(None);
    };
    let state = AutopilotState::load(tx, scope).await?;
    let due = DuePost {
        record,
        connection,
        now,
    };
    let cleared = due.judge(engine, tx, scope, &state, &mut run).await?;
    match &cleared {
        Clearance::Go(_) => (run.outcome, run.detail) = (AutopilotOutcome::Publishing, None),
        Clearance::Back(why) => {
            (run.outcome, run.detail) = (AutopilotOutcome::AwaitingReview, Some(why.clone()));
        }
        Clearance::Later(_) => {}
    }
    run.updated_at = now;
    autopilot_runs::update(tx, scope, &run).await?;
    Ok(Some(cleared))
}

/// A post whose time has come.
struct DuePost<'a> {
    record: &'a PostRecord,
    /// Connection through which it would be published; `None` if none is ready.
    connection: Option<&'a IntegrationRecord>,
    now: Instant,
}

impl DuePost<'_> {
    async fn judge(
        &self,
        engine: &Engine,
        tx: &mut Tx,
        scope: ProjectScope,
        state: &AutopilotState,
        run: &mut AutopilotRun,
    ) -> Result<Clearance> {
        let Self {
            record,
            connection,
            now,
        } = *self;
        let back = |why: &str| Ok(Clearance::Back(why.to_owned()));
        if !state.schedule.enabled {
            return back("the autopilot was turned off before its slot");
        }
        if !state.may_publish(now) {
            return back("its slot passed while the autopilot was paused: approve it to use the next slot");
        }
        let wanted_at = record.post.summary.scheduled_at.unwrap_or(now);
        if now.millis() - wanted_at.millis() >= MAX_LATE_MILLIS {
            return back(
                "its slot passed a day or more before the server could use it: approve it to use the next slot",
            );
        }
        let Some(connection) = connection else {
            pause::pause(engine, tx, scope, PauseReason::Integration, now).await?;
            return back(pause::NOT_READY);
        };
        if let Some(why) = self.unapproved(tx, scope, state, connection).await? {
            return back(why);
        }
        if let Some(why) = refresh::refusal(tx, scope, self.record).await? {
            return back(why);
        }
        let today = state.rule.local_date(now);
        let day = state.rule.day(today).unwrap_or(now..now);
        let limit = u64::from(state.monthly_limit(tx, scope, now).await?);
        let (after, why) = if count_month(tx, scope, today).await?.published >= limit {
            pause::pause(engine, tx, scope, PauseReason::MonthlyCap, now).await?;
            let end = state.end_of_month(today).unwrap_or(now);
            (
                end,
                "the posts of the month are used up: it is published in the next one",
            )
        } else if autopilot_runs::has_publication_on(tx, scope, today, day, run.id).await? {
            (
                now,
                "another post was published on this day: it is published at the next slot",
            )
        } else {
            let aim = if state.settings.draft_only { DRAFT } else { LIVE };
            return Ok(Clearance::Go(aim));
        };
        let Some(slot) = state.next_slot(tx, scope, Some(run.id), after, now).await? else {
            return back("no slot is free");
        };
        (run.slot_date, run.slot_at) = (slot.date.to_string(), slot.at);
        run.detail = Some(why.to_owned());
        Ok(Clearance::Later(slot.at))
    }

    /// Returns the reason for which the post may not be published by its mode and its approval.
    async fn unapproved(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
        state: &AutopilotState,
        connection: &IntegrationRecord,
    ) -> Result<Option<&'static str>> {
        let mode = state.mode_for(&self.record.post.summary);
        let newest = approvals::find_newest_of_post(tx, scope, self.record.post.summary.id).await?;
        let Some(mut approval) = newest else {
            // in mode propose a person has scheduled it, in mode auto there was no hold
            return Ok((mode == AutopilotMode::Review).then_some("it waits for the approval of a person"));
        };
        let hash = hash_to_send(self.record, Some(connection), state.settings.draft_only);
        if approval.content_hash != hash && mode != AutopilotMode::Propose {
            return Ok(Some(
                "what would be published has changed since the request to approve it",
            ));
        }
        let is_auto = mode == AutopilotMode::Auto;
        Ok(match approval.status {
            ApprovalStatus::Approved => None,
            ApprovalStatus::Lapsed if is_auto => None,
            ApprovalStatus::Pending if is_auto && approval.expires_at.is_some_and(|at| at <= self.now) => {
                approval.status = ApprovalStatus::Lapsed;
                approvals::update(tx, scope, &approval).await?;
                None
            }
            ApprovalStatus::Void if mode == AutopilotMode::Propose => None,
            ApprovalStatus::Pending | ApprovalStatus::Lapsed => Some("it waits for the approval of a person"),
            ApprovalStatus::Held => Some("a person holds it"),
            ApprovalStatus::Rejected => Some("a person rejected it"),
            ApprovalStatus::Void => Some("its approval is void, because it was changed"),
        })
    }
}

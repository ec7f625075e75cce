//! The last look at a post of the autopilot before it is published: everything may have changed since it was scheduled.

use searchwright_autopilot::slots::MAX_LATE_MILLIS;
use searchwright_contract::{
    Instant,
    approvals::ApprovalStatus,
    autopilot::{AutopilotOutcome, AutopilotRun, PauseReason},
};
use searchwright_store::{
    Tx, access::ProjectScope, approvals, autopilot_runs, integrations::IntegrationRecord, posts::PostRecord,
};

use super::{AutopilotState, approvals::hash_to_send, count_month, pause};
use crate::{
    Engine,
    failure::Result,
    posts::attempts::{DRAFT, LIVE},
};

/// What happens to a post whose time has come.
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
    /// Where it would be published; `None` if nothing is ready.
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
        if !state.runs(now) {
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
        if let Some(mut approval) = approvals::find_newest_of_post(tx, scope, record.post.summary.id).await? {
            let hash = hash_to_send(record, Some(connection.id), state.settings.draft_only);
            if approval.content_hash != hash {
                return back("what would be published has changed since the request to approve it");
            }
            match approval.status {
                ApprovalStatus::Approved | ApprovalStatus::Lapsed => {}
                ApprovalStatus::Pending if approval.expires_at.is_some_and(|at| at <= now) => {
                    approval.status = ApprovalStatus::Lapsed;
                    approvals::update(tx, scope, &approval).await?;
                }
                ApprovalStatus::Pending => return back("it waits for the approval of a person"),
                ApprovalStatus::Held => return back("a person holds it"),
                ApprovalStatus::Rejected => return back("a person rejected it"),
                ApprovalStatus::Void => return back("its approval is void, because it was changed"),
            }
        }
        if let Ok(date) = run.slot_date.parse() {
            let limit = state.monthly_limit(tx, scope, now).await?;
            if count_month(tx, scope, date).await?.published >= u64::from(limit) {
                pause::pause(engine, tx, scope, PauseReason::MonthlyCap, now).await?;
                let next_month = state.rule.local_date(now).last_of_month();
                let end = next_month
                    .tomorrow()
                    .ok()
                    .and_then(|first| state.rule.slot_on(first));
                let after = end.map_or(now, |slot| slot.at.plus_millis(-1));
                if let Some(slot) = state.next_slot(tx, scope, after, now).await? {
                    (run.slot_date, run.slot_at) = (slot.date.to_string(), slot.at);
                    run.detail = Some(
                        "the posts of the month are used up: it is published in the next one".to_owned(),
                    );
                    return Ok(Clearance::Later(slot.at));
                }
            }
        }
        Ok(Clearance::Go(if state.settings.draft_only {
            DRAFT
        } else {
            LIVE
        }))
    }
}

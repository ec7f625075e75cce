//! Pauses that the autopilot makes itself. It says why once, and goes on when a person says so or when the cause is gone.

use std::sync::Arc;

use searchwright_autopilot::limits;
use searchwright_contract::{
    Instant,
    autopilot::PauseReason,
    events::{EventType, PauseData},
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    autopilot::{self, AutopilotPause},
    autopilot_runs, events, projects,
};

use super::{AutopilotState, count_month};
use crate::{
    Engine,
    connections::connection_for_new_post,
    failure::{Result, defect},
};

/// Runs that are looked at for failures in a row.
const MAX_ENDED: u32 = 50;

/// Detail of a run and of a pause for want of an integration.
pub(crate) const NOT_READY: &str = "it is not clear where to publish: exactly one integration has to be ready; connect it, or authorize it again, and map its fields";

fn detail(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::Failures => {
            "three runs in a row failed: see the detail of each run, mend the cause, and set enabled to true"
        }
        PauseReason::Integration => NOT_READY,
        PauseReason::MonthlyCap => "the posts of this month are used up: it goes on with the next month",
        PauseReason::Unverified => {
            "two posts in a row were not found at their address: look at the website, and set enabled to true"
        }
        PauseReason::ReviewBacklog => {
            "five posts wait for review: it goes on when some of them are approved or rejected"
        }
    }
}

/// Pauses and says so, unless it is paused.
pub(crate) async fn pause(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    reason: PauseReason,
    now: Instant,
) -> Result<()> {
    let mut settings = autopilot::get(tx, scope).await?;
    if settings.pause.is_some() {
        return Ok(());
    }
    let detail = detail(reason).to_owned();
    settings.pause = Some(AutopilotPause {
        reason,
        detail: detail.clone(),
        since: now,
    });
    autopilot::set(tx, scope, &settings).await?;
    let data = serde_json::to_value(PauseData { reason, detail }).map_err(|e| defect("event", e))?;
    events::insert(
        tx,
        scope,
        engine.clock.id(),
        EventType::AutopilotPaused,
        &data,
        now,
    )
    .await?;
    AutopilotState::load(tx, scope)
        .await?
        .replan(tx, scope, now, now)
        .await
}

/// Pauses after the end of a run where its limits are reached; returns the state after it.
pub(crate) async fn pause_if_needed(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    state: AutopilotState,
    now: Instant,
) -> Result<AutopilotState> {
    let ended = autopilot_runs::list_ended(tx, scope, state.settings.resumed_at, MAX_ENDED).await?;
    let waiting = autopilot_runs::count_waiting(tx, scope).await?;
    if let Some(reason) = limits::pause_reason(&ended, waiting) {
        pause(engine, tx, scope, reason, now).await?;
    }
    AutopilotState::load(tx, scope).await
}

/// Returns the number of failed runs since the last one that did not fail.
pub(crate) async fn consecutive_failures(
    tx: &mut Tx,
    scope: ProjectScope,
    since: Option<Instant>,
) -> Result<u32> {
    let ended = autopilot_runs::list_ended(tx, scope, since, MAX_ENDED).await?;
    Ok(u32::try_from(limits::consecutive_failures(&ended)).unwrap_or(u32::MAX))
}

/// Ends the pauses whose cause is gone.
pub(crate) async fn resume_all(engine: &Arc<Engine>) -> Result<()> {
    let now = engine.clock.now();
    let paused = autopilot::list_paused(&mut engine.db.read().await?).await?;
    for scope in paused {
        let write = engine
            .db
            .write(move |tx| Box::pin(async move { resume_if_mended(tx, scope, now).await }));
        if let Err(error) = write.await {
            tracing::error!(%error, project = %scope.project(), "a pause was not looked at; trying again");
        }
    }
    Ok(())
}

async fn resume_if_mended(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<()> {
    projects::lock(tx, scope).await?;
    let mut state = AutopilotState::load(tx, scope).await?;
    let Some(pause) = &state.settings.pause else {
        return Ok(());
    };
    let is_mended = match pause.reason {
        PauseReason::Failures | PauseReason::Unverified => false,
        PauseReason::Integration => connection_for_new_post(tx, scope).await?.is_ok(),
        PauseReason::ReviewBacklog => autopilot_runs::count_waiting(tx, scope).await? < limits::MAX_WAITING,
        PauseReason::MonthlyCap => {
            let today = state.rule.local_date(now);
            let limit = state.monthly_limit(tx, scope, now).await?;
            count_month(tx, scope, today).await?.published < u64::from(limit)
        }
    };
    if is_mended {
        if pause.reason == PauseReason::Integration {
            state.settings.resumed_at = Some(now);
        }
        state.settings.pause = None;
        autopilot::set(tx, scope, &state.settings).await?;
        state.replan(tx, scope, now, now).await?;
    }
    Ok(())
}

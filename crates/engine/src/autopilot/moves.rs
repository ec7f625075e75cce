//! Prepared posts after a change of the times: those whose slot the schedule no longer has take one that it has.

use jiff::tz::TimeZone;
use searchwright_autopilot::slots::SlotRule;
use searchwright_contract::{
    Instant,
    approvals::ApprovalStatus,
    autopilot::{AutopilotOutcome, AutopilotRun},
    posts::PostStatus,
    schedules::ScheduleKind,
};
use searchwright_store::{Tx, access::ProjectScope, approvals, autopilot_runs, posts, schedules};

use super::{AutopilotState, approvals::write_post};
use crate::{Engine, failure::Result};

const HOUR_MILLIS: i64 = 3_600_000;

/// Moves them if the project has another time zone than their slots were planned for: they keep their local time.
pub(super) async fn move_to_new_zone(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    state: &AutopilotState,
    now: Instant,
) -> Result<()> {
    let planned = schedules::find_planned_zone(tx, scope, ScheduleKind::Posts).await?;
    match planned.and_then(|name| TimeZone::get(&name).ok()) {
        Some(zone) if zone != state.rule.zone => {
            let before = SlotRule {
                zone,
                ..state.rule.clone()
            };
            move_prepared(engine, tx, scope, state, &before, now).await
        }
        _ => Ok(()),
    }
}

/// Moves the runs whose slot lies ahead to the slots of the changed schedule, earliest first. A post that a caller has put on
/// another time stays there, and people keep the hours in which they may stop a post.
pub(crate) async fn move_prepared(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    state: &AutopilotState,
    before: &SlotRule,
    now: Instant,
) -> Result<()> {
    let mut prepared = autopilot_runs::list_open(tx, scope).await?;
    prepared.retain(|run| run.slot_at > now && run.outcome != AutopilotOutcome::Publishing);
    prepared.retain(|run| {
        let slot = run.slot_date.parse().ok().and_then(|date| before.slot_on(date));
        slot.is_some_and(|slot| slot.at == run.slot_at)
    });
    prepared.sort_by_key(|run| run.slot_at);
    for run in prepared {
        move_run(engine, tx, scope, state, run, now).await?;
    }
    Ok(())
}

async fn move_run(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    state: &AutopilotState,
    mut run: AutopilotRun,
    now: Instant,
) -> Result<()> {
    let Some(post) = run.post_id else { return Ok(()) };
    let mut record = posts::get(tx, scope, post).await?;
    let is_scheduled = record.post.summary.status == PostStatus::Scheduled;
    if is_scheduled && record.post.summary.scheduled_at != Some(run.slot_at) {
        return Ok(());
    }
    let approval = approvals::find_newest_of_post(tx, scope, post).await?;
    let held = approval
        .as_ref()
        .filter(|newest| newest.status == ApprovalStatus::Pending && newest.expires_at.is_some());
    let hold = i64::from(state.settings.hold_hours) * HOUR_MILLIS;
    let earliest = held.map_or(now, |held| now.max(held.requested_at.plus_millis(hold)));
    let mut used = autopilot_runs::list_dates(tx, scope, Some(run.id), now).await?;
    used.retain(|used| used.date.to_string() != run.slot_date);
    let others = used.iter().filter(|used| used.counts).map(|used| used.date);
    let same_day = run
        .slot_date
        .parse()
        .ok()
        .and_then(|date| state.rule.slot_beside(date, others));
    let slot = match same_day.filter(|slot| slot.at > earliest) {
        Some(slot) => Some(slot),
        None => state.first_free(&used, earliest, now),
    };
    let Some(slot) = slot.filter(|slot| slot.at != run.slot_at) else {
        return Ok(());
    };
    if let Some(mut approval) = approval {
        let moved = |at: Option<Instant>| at.map(|at| if at == run.slot_at { slot.at } else { at });
        (approval.publish_at, approval.expires_at) = (moved(approval.publish_at), moved(approval.expires_at));
        approvals::update(tx, scope, &approval).await?;
    }
    if is_scheduled {
        let old = record.post.summary.clone();
        record.post.summary.scheduled_at = Some(slot.at);
        write_post(tx, scope, engine.clock.id(), &record, &old, now).await?;
    }
    (run.slot_date, run.slot_at, run.updated_at) = (slot.date.to_string(), slot.at, now);
    Ok(autopilot_runs::update(tx, scope, &run).await?)
}

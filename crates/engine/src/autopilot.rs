//! The autopilot: a post for each slot, from the keyword to the published page.
//!
//! A run begins some days before its slot (`begin`) and goes on whenever its post has changed (`advance`). What a person has to
//! decide is an approval ([`approvals`]), bound to the bytes that would be sent. At its time the post passes `clearance` once
//! more, because everything may have changed since. Every step is one transaction under the lock of the project, so that any
//! replica may take it.

mod advance;
pub mod approvals;
mod begin;
pub mod cap;
pub(crate) mod clearance;
pub mod decisions;
mod moves;
pub(crate) mod pause;
pub(crate) mod refresh;

use jiff::{Span, civil::Date};
use searchwright_autopilot::{
    limits,
    slots::{Slot, SlotRule},
};
pub use searchwright_autopilot::{
    months::{CalendarDay, CalendarMonth},
    slots::{from_local, local_clock, local_day, local_minute, local_time, zone_name, zone_names},
};
use searchwright_contract::{
    Instant,
    autopilot::{AutopilotMode, AutopilotOutcome, AutopilotRun, PauseReason},
    ids::AutopilotRunId,
    posts::PostSummary,
    schedules::ScheduleKind,
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    autopilot::{self, AutopilotSettings},
    autopilot_runs::{self, RunCounts},
    projects,
    schedules::{self, PlannedSlot, ScheduleRecord, SlotDate},
};

pub(crate) use advance::advance_all;
pub(crate) use begin::begin;
pub(crate) use moves::move_prepared;

use crate::{
    failure::Result,
    schedules::{next_slot, plan, slot_rule},
};

/// Milliseconds by which the date of a run may lie ahead: more than the longest interval, lead and month together.
const HORIZON_MILLIS: i64 = 200 * 24 * 3_600_000;
/// Months of publications to which the volume is compared.
const HISTORY_MONTHS: i32 = 6;

/// Settings and times of the autopilot of a project.
#[derive(Clone, Debug)]
pub(crate) struct AutopilotState {
    /// Settings beyond the times.
    pub(crate) settings: AutopilotSettings,
    /// Its schedule.
    pub(crate) schedule: ScheduleRecord,
    /// Rule of its slots.
    pub(crate) rule: SlotRule,
    /// Name of the time zone.
    pub(crate) zone: String,
}

impl AutopilotState {
    /// Loads the state.
    pub(crate) async fn load(tx: &mut Tx, scope: ProjectScope) -> Result<Self> {
        let schedule = schedules::get(tx, scope, ScheduleKind::Posts).await?;
        let settings = autopilot::get(tx, scope).await?;
        let project = projects::get(tx, scope).await?;
        Ok(Self {
            rule: slot_rule(&schedule.times, &project.timezone)?,
            zone: schedule.times.timezone.clone().unwrap_or(project.timezone),
            settings,
            schedule,
        })
    }

    /// Returns the treatment of a post. A new text for a published post always needs an approval.
    pub(crate) fn mode_for(&self, post: &PostSummary) -> AutopilotMode {
        match post.replaces_post_id {
            Some(_) => AutopilotMode::Review,
            None => self.settings.mode,
        }
    }

    /// Returns whether posts may be published now. The cap of a month is counted for each of them, and a backlog of reviews only
    /// keeps further ones from being begun: a post that a person has approved is published.
    pub(crate) fn may_publish(&self, now: Instant) -> bool {
        let settings = &self.settings;
        let is_paused = settings.pause.as_ref().is_some_and(|pause| {
            !matches!(pause.reason, PauseReason::MonthlyCap | PauseReason::ReviewBacklog)
        });
        self.schedule.enabled && !is_paused && settings.paused_until.is_none_or(|until| until <= now)
    }

    /// Returns the first free slot after a time, and after the pause that a person set. The interval does not count from the run
    /// that is `moved`.
    pub(crate) async fn next_slot(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
        moved: Option<AutopilotRunId>,
        after: Instant,
        now: Instant,
    ) -> Result<Option<Slot>> {
        let used = autopilot_runs::list_dates(tx, scope, moved, now).await?;
        Ok(self.first_free(&used, after, now))
    }

    /// Returns the first slot after a time, and after the pause that a person set, on a date that is not used.
    pub(crate) fn first_free(&self, used: &[SlotDate], after: Instant, now: Instant) -> Option<Slot> {
        let after = self.settings.paused_until.map_or(after, |until| after.max(until));
        // runs begin days before their slots, so that dates beyond tomorrow count
        let horizon = now.plus_millis(HORIZON_MILLIS);
        next_slot(&self.rule, used, after, horizon)
    }

    /// Returns the plan for the first free slot after a time; `None` while it is off or has paused itself.
    pub(crate) async fn plan(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
        after: Instant,
        now: Instant,
    ) -> Result<Option<PlannedSlot>> {
        if !self.schedule.enabled || self.settings.pause.is_some() {
            return Ok(None);
        }
        let slot = self.next_slot(tx, scope, None, after, now).await?;
        Ok(slot.map(|slot| plan(&self.rule, &slot, self.lead_days(), now)))
    }

    /// Returns the days before a slot on which work for it begins: enough for the hold.
    fn lead_days(&self) -> u8 {
        let settings = &self.settings;
        match settings.mode {
            AutopilotMode::Auto => settings.lead_days.max(settings.hold_hours.div_ceil(24) + 1),
            AutopilotMode::Propose | AutopilotMode::Review => settings.lead_days,
        }
    }

    /// Returns a time just before the month after that of a date.
    pub(crate) fn end_of_month(&self, date: Date) -> Option<Instant> {
        let first = date.last_of_month().tomorrow().ok()?;
        self.rule.slot_on(first).map(|slot| slot.at.plus_millis(-1))
    }

    /// Returns the time from which slots are planned anew: now, unless the planned slot has come and was not used yet.
    pub(crate) fn plan_from(&self, now: Instant) -> Instant {
        match self.schedule.plan {
            Some(plan) if plan.planned_from <= now && plan.at <= now => plan.at.plus_millis(-1),
            _ => now,
        }
    }

    /// Plans the first free slot after a time.
    pub(crate) async fn replan(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
        after: Instant,
        now: Instant,
    ) -> Result<()> {
        let plan = self.plan(tx, scope, after, now).await?;
        schedules::set_plan(tx, scope, ScheduleKind::Posts, plan).await?;
        Ok(())
    }

    /// Returns the highest cap that the settings may have: by what the site published before, or by what a person allowed.
    pub(crate) async fn cap_limit(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
        now: Instant,
    ) -> Result<Option<u32>> {
        let known = volume_limit(tx, scope, &self.rule, now).await?;
        let allowed = u32::from(self.settings.allowed_cap.unwrap_or_default());
        Ok(known.map(|limit| limit.max(allowed)))
    }

    /// Returns the posts that may be published in a month, by the settings and by what the site published before.
    pub(crate) async fn monthly_limit(&self, tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<u32> {
        let own = u32::from(self.settings.monthly_cap);
        Ok(self
            .cap_limit(tx, scope, now)
            .await?
            .map_or(own, |limit| own.min(limit)))
    }
}

/// Returns the posts per month to which the site's own publications of the last months limit the autopilot, if any are known.
pub(crate) async fn volume_limit(
    tx: &mut Tx,
    scope: ProjectScope,
    rule: &SlotRule,
    now: Instant,
) -> Result<Option<u32>> {
    let this_month = rule.local_date(now).first_of_month();
    let first = this_month
        .checked_sub(Span::new().months(HISTORY_MONTHS))
        .unwrap_or(this_month);
    let at = |date| rule.slot_on(date).map_or(now, |slot| slot.at);
    let published = autopilot_runs::list_own_publications(tx, scope, at(first), at(this_month)).await?;
    Ok(limits::volume_limit(
        published.into_iter().map(|at| rule.local_date(at)),
    ))
}

/// Counts the runs with dates in the month of a date.
pub(crate) async fn count_month(tx: &mut Tx, scope: ProjectScope, date: Date) -> Result<RunCounts> {
    let (first, last) = (date.first_of_month(), date.last_of_month());
    Ok(autopilot_runs::count(tx, scope, first, last).await?)
}

/// Ends a run.
fn finish(run: &mut AutopilotRun, outcome: AutopilotOutcome, detail: Option<String>, now: Instant) {
    run.outcome = outcome;
    run.detail = detail;
    run.finished_at = Some(now);
}

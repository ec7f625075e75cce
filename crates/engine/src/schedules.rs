//! Schedules: their rules, and the slot that comes next.

mod start;
mod tick;
mod times;

use jiff::tz::TimeZone;
use searchwright_autopilot::{
    slots::{Slot, SlotRule},
    ticks::{self, UsedDate},
};
use searchwright_contract::Instant;
use searchwright_store::schedules::{PlannedSlot, ScheduleTimes, SlotDate};

use crate::failure::{Result, defect};

pub use tick::tick;
pub(crate) use tick::{TICK, TickLog, run};
pub(crate) use times::TimesEdit;

/// Returns the rule of a schedule in a project with this time zone.
pub(crate) fn slot_rule(times: &ScheduleTimes, zone_of_project: &str) -> Result<SlotRule> {
    let zone = times.timezone.as_deref().unwrap_or(zone_of_project);
    Ok(SlotRule {
        interval_days: times.interval_days.into(),
        weekdays: times.weekdays.clone(),
        time: times.time,
        zone: TimeZone::get(zone).map_err(|e| defect("time zone", e))?,
    })
}

/// Returns the first slot after a time, on a date that had none.
pub(crate) fn next_slot(rule: &SlotRule, used: &[SlotDate], after: Instant, now: Instant) -> Option<Slot> {
    let used: Vec<UsedDate> = used
        .iter()
        .map(|used| UsedDate {
            date: used.date,
            at: used.at,
            counts: used.counts,
        })
        .collect();
    ticks::next_slot(rule, &used, after, now)
}

/// Returns the plan for a slot whose work begins so many days before it.
pub(crate) fn plan(rule: &SlotRule, slot: &Slot, lead_days: u8, now: Instant) -> PlannedSlot {
    PlannedSlot {
        date: slot.date,
        at: slot.at,
        due_at: rule.days_before(slot, lead_days),
        planned_from: now,
    }
}

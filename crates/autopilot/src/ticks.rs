//! Ticks of a schedule: its plan and the time go in, what is to be done comes out.
//!
//! Everything that a tick needs to know is stored, so that any process may make the next one, after any downtime, and two at
//! the same time decide the same.

use jiff::civil::Date;
use searchwright_contract::Instant;

use crate::slots::{MAX_LATE_MILLIS, Slot, SlotRule, SlotStatus};

/// A date that had a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedDate {
    /// Local date.
    pub date: Date,
    /// Point in time of the slot.
    pub at: Instant,
    /// Whether its work was started, so that the interval counts from it.
    pub counts: bool,
}

/// The slot that a schedule waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwaitedSlot {
    /// Local date.
    pub date: Date,
    /// Point in time, as it was when it was planned.
    pub at: Instant,
    /// Time at which it was planned.
    pub planned_from: Instant,
}

/// Action of a tick on a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Its slot is ahead: nothing.
    Wait,
    /// Its plan does not hold any more: a slot is planned from now on.
    Plan,
    /// The time of its slot has come: its work is started, and the next slot is planned.
    Start(Slot),
    /// Its slot is a day or more late: it is skipped, and the next slot is planned.
    Skip(Slot),
}

impl Decision {
    /// Returns the time after which the next slot is looked for; `None` if the plan stays.
    pub fn after(&self, now: Instant) -> Option<Instant> {
        match self {
            Self::Wait => None,
            Self::Plan => Some(now),
            Self::Start(slot) => Some(slot.at),
            // of all that were missed, the newest that is less than a day late still runs
            Self::Skip(_) => Some(now.plus_millis(-MAX_LATE_MILLIS)),
        }
    }
}

/// Decides what a tick does about a schedule with this rule.
pub fn decide(rule: &SlotRule, awaited: &AwaitedSlot, now: Instant) -> Decision {
    if awaited.planned_from > now {
        // the clock was ahead when it was planned
        return Decision::Plan;
    }
    // by the rule as it is now: the time zone, or what is known of it, may have changed
    let Some(slot) = rule.slot_on(awaited.date) else {
        return Decision::Plan;
    };
    let has_moved = slot.at != awaited.at;
    if has_moved && awaited.at > now {
        return Decision::Plan;
    }
    match slot.status(now) {
        SlotStatus::Ahead if has_moved => Decision::Plan,
        SlotStatus::Ahead => Decision::Wait,
        SlotStatus::Due => Decision::Start(slot),
        SlotStatus::Missed => Decision::Skip(slot),
    }
}

/// Returns the first slot after a time, on a date that had none.
pub fn next_slot(rule: &SlotRule, used: &[UsedDate], after: Instant, now: Instant) -> Option<Slot> {
    // what is a day or more ahead was used while the clock was wrong; no interval counts from it
    let latest = now.plus_millis(MAX_LATE_MILLIS);
    let counted = used.iter().filter(|used| used.counts && used.at < latest);
    let last = counted.map(|used| used.date).max();
    rule.next(after, last, |date| used.iter().any(|used| used.date == date))
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

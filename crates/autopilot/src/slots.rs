//! Slots of a schedule: local dates at a time of day in a time zone (RFC 5545, section 3.3.5).
//!
//! A slot is known by its local date, so that no date has two, whatever happens to the clock or the zone. Distances are
//! counted in calendar days, never in multiples of 24 hours.

use std::{ops::Range, sync::LazyLock};

use jiff::{
    Span, Timestamp,
    civil::{Date, Time},
    tz::TimeZone,
};
use searchwright_contract::{Instant, autopilot::Weekday};

/// Days that are searched for a slot. The greatest interval, a week, and dates that are taken lie well within.
const MAX_SEARCH_DAYS: u32 = 1_000;
/// Milliseconds after which a missed slot is skipped.
pub const MAX_LATE_MILLIS: i64 = 24 * 3_600_000;

/// Rule of a schedule.
#[derive(Clone, Debug)]
pub struct SlotRule {
    /// Minimum number of calendar days from one slot to the next.
    pub interval_days: u16,
    /// Weekdays with slots; `None` for every day.
    pub weekdays: Option<Vec<Weekday>>,
    /// Local time of day.
    pub time: Time,
    /// Time zone.
    pub zone: TimeZone,
}

/// One slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Local date that it is known by.
    pub date: Date,
    /// Local time of day at which it falls: that of the rule, or later where the clocks are put forward over it.
    pub time: Time,
    /// Point in time.
    pub at: Instant,
}

/// State of a planned slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotStatus {
    /// Its time has not come.
    Ahead,
    /// It is due.
    Due,
    /// It is a day or more late: it is skipped, so that a downtime is not followed by a burst.
    Missed,
}

impl Slot {
    /// Returns its state now.
    pub fn status(&self, now: Instant) -> SlotStatus {
        match now.millis() - self.at.millis() {
            late if late < 0 => SlotStatus::Ahead,
            late if late < MAX_LATE_MILLIS => SlotStatus::Due,
            _ => SlotStatus::Missed,
        }
    }
}

impl SlotRule {
    /// Returns the slot of a date; `None` for a date that the zone leaves out.
    pub fn slot_on(&self, date: Date) -> Option<Slot> {
        // the day that a zone leaves out begins on the next one
        let begins = date.to_zoned(self.zone.clone()).ok()?;
        if begins.date() != date {
            return None;
        }
        // "compatible": a time in a gap moves forward by it, and of a time that comes twice the first is meant
        let at = date.to_datetime(self.time).to_zoned(self.zone.clone()).ok()?;
        Some(Slot {
            date,
            time: at.time(),
            at: Instant::from_millis(at.timestamp().as_millisecond()),
        })
    }

    /// Returns the first slot that is later than `after`, at least the interval after the date of the last one, on a date that is
    /// not taken. `None` if there is none within the years that dates can express.
    pub fn next(&self, after: Instant, last: Option<Date>, is_taken: impl Fn(Date) -> bool) -> Option<Slot> {
        let mut date = self.local_date(after);
        if let Some(last) = last {
            let least = last.checked_add(Span::new().days(self.interval_days)).ok()?;
            date = date.max(least);
        }
        for _ in 0..MAX_SEARCH_DAYS {
            if self.is_on(date)
                && !is_taken(date)
                && let Some(slot) = self.slot_on(date)
                && slot.at > after
            {
                return Some(slot);
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    /// Returns the slot of a date if its weekday is allowed and the interval to all other dates is kept.
    pub fn slot_beside(&self, date: Date, others: impl IntoIterator<Item = Date>) -> Option<Slot> {
        let days_to = |other: Date| date.since(other).map_or(i32::MAX, |span| span.get_days().abs());
        let is_apart = |other: Date| days_to(other) >= i32::from(self.interval_days);
        let fits = self.is_on(date) && others.into_iter().all(is_apart);
        if fits { self.slot_on(date) } else { None }
    }

    /// Returns the first slots that are later than `after`, if each is used.
    pub fn preview(&self, after: Instant, last: Option<Date>, count: usize) -> Vec<Slot> {
        let mut slots: Vec<Slot> = Vec::with_capacity(count);
        while slots.len() < count {
            let last = slots.last().map(|slot| slot.date).or(last);
            // the interval is at least a day, so that the last slot is never found again
            match self.next(after, last, |_| false) {
                Some(slot) => slots.push(slot),
                None => break,
            }
        }
        slots
    }

    /// Returns the time of day of the rule, so many calendar days before a slot.
    pub fn days_before(&self, slot: &Slot, days: u8) -> Instant {
        let before = slot.date.checked_sub(Span::new().days(days));
        let at = before.and_then(|date| date.to_datetime(self.time).to_zoned(self.zone.clone()));
        at.map_or(slot.at, |at| {
            Instant::from_millis(at.timestamp().as_millisecond())
        })
    }

    /// Returns the times from the beginning of a local date to its end.
    pub fn day(&self, date: Date) -> Option<Range<Instant>> {
        let begin = |date: Date| {
            let zoned = date.to_zoned(self.zone.clone()).ok()?;
            Some(Instant::from_millis(zoned.timestamp().as_millisecond()))
        };
        Some(begin(date)?..begin(date.tomorrow().ok()?)?)
    }

    /// Returns the local date of a point in time.
    pub fn local_date(&self, at: Instant) -> Date {
        let at = Timestamp::from_millisecond(at.millis()).unwrap_or(Timestamp::UNIX_EPOCH);
        at.to_zoned(self.zone.clone()).date()
    }

    fn is_on(&self, date: Date) -> bool {
        let Some(weekdays) = &self.weekdays else {
            return true;
        };
        let number = date.weekday().to_sunday_zero_offset();
        weekdays
            .iter()
            .any(|day| i64::from(day.number()) == i64::from(number))
    }
}

/// Returns a time as people read it, in a time zone by its name, with its offset: `Mon 9 Nov 2026, 09:00 +01:00`.
pub fn local_time(at: Instant, zone: &str) -> String {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let at = Timestamp::from_millisecond(at.millis()).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(zone).strftime("%a %-d %b %Y, %H:%M %:z").to_string()
}

/// Returns a time in a time zone to the minute, such as `28 Nov 2026, 09:00`, for lists whose zone is said once.
pub fn local_minute(at: Instant, zone: &str) -> String {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let at = Timestamp::from_millisecond(at.millis()).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(zone).strftime("%-d %b %Y, %H:%M").to_string()
}

/// Returns the name of a time zone as its database writes it; `None` if it knows no such zone.
pub fn zone_name(name: &str) -> Option<String> {
    let zone = TimeZone::get(name).ok().filter(|zone| !zone.is_unknown())?;
    zone.iana_name().map(str::to_owned)
}

/// Returns the names of the time zones that are known, in alphabetical order. They are read once.
pub fn zone_names() -> &'static [String] {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let names = jiff::tz::db().available();
        let mut names: Vec<String> = names.map(|name| name.to_string()).collect();
        // Old names without a region, and copies in other forms, are left out.
        let is_usual = |name: &str| {
            let is_copy = name.starts_with("posix/") || name.starts_with("right/");
            name.contains('/') && !is_copy && zone_name(name).is_some()
        };
        names.retain(|name| is_usual(name));
        names.sort_unstable();
        names.dedup();
        names
    });
    &NAMES
}

/// Returns the day of a time in a time zone, such as `2026-11-28`.
pub fn local_day(at: Instant, zone: &str) -> String {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let at = Timestamp::from_millisecond(at.millis()).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(zone).date().to_string()
}

/// Returns the time of day of a point in time in a time zone, such as `09:00`, as forms have it.
pub fn local_clock(at: Instant, zone: &str) -> String {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let at = Timestamp::from_millisecond(at.millis()).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(zone).strftime("%H:%M").to_string()
}

/// Returns the point in time of a day and a time of day in a time zone, as forms have them: `2026-11-28` and `09:00`. A time in a gap
/// moves forward by it, and of a time that comes twice the first is meant.
pub fn from_local(day: &str, time: &str, zone: &str) -> Option<Instant> {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let (day, time): (Date, Time) = (day.parse().ok()?, time.parse().ok()?);
    let at = day.to_datetime(time).to_zoned(zone).ok()?;
    Some(Instant::from_millis(at.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests;

//! Times: how long is collected, when is tried again, and when a digest is due. The time is passed in.

use jiff::{Span, civil::Time, tz::TimeZone};
use searchwright_autopilot::slots::{SlotRule, SlotStatus};
use searchwright_contract::Instant;

use crate::digest::DigestDays;

/// Milliseconds from the first event of a notice to its message.
pub const COLLECT_MILLIS: i64 = 60_000;
/// Milliseconds that a notice waits for the end of its audit, at most.
pub const HOLD_MILLIS: i64 = 24 * 3_600_000;
/// Milliseconds after which a cause that still brings events is told again.
pub const RETELL_MILLIS: i64 = 7 * 24 * 3_600_000;
/// Milliseconds after which an event is too old to be told.
pub const OLD_MILLIS: i64 = 24 * 3_600_000;
/// Messages that a recipient gets of a project in a day; the last one says that the others are on the page.
pub const MESSAGES_PER_DAY: u64 = 20;
/// Milliseconds between two digests to one recipient, at least: a week, less a day for a changed weekday or clock.
pub const DIGEST_APART_MILLIS: i64 = 6 * 24 * 3_600_000;
/// Milliseconds for which a message is tried.
const TRIED_MILLIS: i64 = 24 * 3_600_000;
/// Seconds from each failed attempt to the next.
const STEPS: [i64; 8] = [60, 300, 900, 3_600, 7_200, 14_400, 28_800, 28_800];

/// Attempts at a message.
pub const MAX_ATTEMPTS: u32 = STEPS.len() as u32 + 1;

/// Returns the time of the next attempt at a message that was created then; `None` if it is given up. What the receiver asked for
/// counts if it is later.
pub fn next_attempt(
    attempts: u32,
    asked_seconds: Option<u64>,
    created: Instant,
    now: Instant,
) -> Option<Instant> {
    let step = STEPS.get(attempts.checked_sub(1)? as usize)?;
    let most = TRIED_MILLIS / 1_000;
    let asked = asked_seconds.map_or(0, |seconds| i64::try_from(seconds).unwrap_or(most).min(most));
    let seconds = (*step).max(asked);
    let next = now.plus_millis(seconds * 1_000);
    (next.millis() - created.millis() <= TRIED_MILLIS).then_some(next)
}

/// A digest whose time has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDigest {
    /// Local date that it is known by.
    pub date: String,
    /// Point in time.
    pub at: Instant,
    /// Days that it is about: the seven before its date.
    pub days: DigestDays,
}

/// Returns the digest that is due now: the weekday (0 for Sunday) at the hour in a time zone by its name, up to a day late.
pub fn due_digest(weekday: u8, hour: u8, zone: &str, now: Instant) -> Option<DueDigest> {
    let rule = SlotRule {
        interval_days: 7,
        weekdays: None,
        time: Time::new(i8::try_from(hour).ok()?, 0, 0, 0).ok()?,
        zone: TimeZone::get(zone).unwrap_or(TimeZone::UTC),
    };
    let today = rule.local_date(now);
    // a slot that is a day late is skipped, and by then it may be the day after the next: zones change
    (0..=2).find_map(|days| {
        let date = today.checked_sub(Span::new().days(days)).ok()?;
        let is_day = i64::from(date.weekday().to_sunday_zero_offset()) == i64::from(weekday);
        let slot = rule.slot_on(date).filter(|_| is_day)?;
        let day = |back: i64| Some(date.checked_sub(Span::new().days(back)).ok()?.to_string());
        let days = DigestDays {
            from: day(7)?,
            to: day(1)?,
        };
        (slot.status(now) == SlotStatus::Due).then(|| DueDigest {
            date: date.to_string(),
            at: slot.at,
            days,
        })
    })
}

/// Returns the beginning of the local day of a point in time.
pub fn day_begins(zone: &str, now: Instant) -> Instant {
    let rule = SlotRule {
        interval_days: 1,
        weekdays: None,
        time: Time::midnight(),
        zone: TimeZone::get(zone).unwrap_or(TimeZone::UTC),
    };
    let day = rule.day(rule.local_date(now));
    day.map_or(now, |day| day.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        Instant::from_text(text).unwrap()
    }

    #[test]
    fn a_message_is_tried_for_a_day() {
        let created = at("2026-11-20T00:00:00.000Z");
        let mut now = created;
        let mut attempts = 1;
        while let Some(next) = next_attempt(attempts, None, created, now) {
            assert!(next > now);
            now = next;
            attempts += 1;
        }
        assert_eq!(attempts, 9);
        let hours = (now.millis() - created.millis()) as f64 / 3_600_000.0;
        assert!((23.0..24.0).contains(&hours), "{hours}");
        assert_eq!(
            next_attempt(1, Some(600), created, created),
            Some(created.plus_millis(600_000))
        );
        assert_eq!(
            next_attempt(1, Some(u64::MAX), created, created),
            Some(created.plus_millis(TRIED_MILLIS))
        );
        assert_eq!(
            next_attempt(1, Some(90_000), created, created.plus_millis(1)),
            None
        );
    }

    #[test]
    fn a_digest_is_due_for_a_day_from_its_local_hour() {
        let date = |now: &str, zone: &str| due_digest(1, 8, zone, at(now)).map(|digest| digest.date);
        // A Monday in winter: 8 o'clock in Berlin is 7 in UTC.
        assert_eq!(date("2026-11-30T06:59:59.999Z", "Europe/Berlin"), None);
        assert_eq!(
            date("2026-11-30T07:00:00.000Z", "Europe/Berlin").as_deref(),
            Some("2026-11-30")
        );
        assert_eq!(
            date("2026-12-01T06:59:59.999Z", "Europe/Berlin").as_deref(),
            Some("2026-11-30")
        );
        assert_eq!(date("2026-12-01T07:00:00.000Z", "Europe/Berlin"), None);
        // And in summer.
        assert_eq!(
            date("2026-07-06T06:00:00.000Z", "Europe/Berlin").as_deref(),
            Some("2026-07-06")
        );
        assert_eq!(date("2026-07-06T05:59:00.000Z", "Europe/Berlin"), None);
        // An hour that the change of the clocks leaves out comes an hour later, and one that comes twice counts once.
        let sunday = |now: &str, hour| due_digest(0, hour, "Europe/Berlin", at(now)).map(|digest| digest.at);
        assert_eq!(sunday("2026-03-29T00:59:00.000Z", 2), None);
        assert_eq!(
            sunday("2026-03-29T01:00:00.000Z", 2),
            Some(at("2026-03-29T01:00:00.000Z"))
        );
        assert_eq!(
            sunday("2026-10-25T01:30:00.000Z", 2),
            Some(at("2026-10-25T00:00:00.000Z"))
        );
        assert_eq!(
            sunday("2026-10-25T00:30:00.000Z", 2),
            Some(at("2026-10-25T00:00:00.000Z"))
        );
        assert_eq!(due_digest(1, 24, "UTC", at("2026-11-30T07:00:00.000Z")), None);
    }

    #[test]
    fn a_digest_is_about_the_seven_days_before() {
        let days = due_digest(1, 8, "UTC", at("2026-11-30T09:00:00.000Z"))
            .unwrap()
            .days;
        assert_eq!(
            (days.from.as_str(), days.to.as_str()),
            ("2026-11-23", "2026-11-29")
        );
    }

    #[test]
    fn days_begin_at_local_midnight() {
        let begins = day_begins("Europe/Berlin", at("2026-11-30T23:30:00.000Z"));
        assert_eq!(begins, at("2026-11-30T23:00:00.000Z"));
    }
}

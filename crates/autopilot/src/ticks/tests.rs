use jiff::tz::TimeZone;

use super::*;

fn rule(zone: &str) -> SlotRule {
    SlotRule {
        interval_days: 1,
        weekdays: None,
        time: "09:00".parse().unwrap(),
        zone: TimeZone::get(zone).unwrap(),
    }
}

fn instant(text: &str) -> Instant {
    Instant::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

/// A plan for 2 November 2026 at 09:00 UTC.
fn awaited() -> AwaitedSlot {
    AwaitedSlot {
        date: "2026-11-02".parse().unwrap(),
        at: instant("2026-11-02T09:00:00Z"),
        planned_from: instant("2026-11-01T09:00:00Z"),
    }
}

fn decided(zone: &str, now: &str) -> Decision {
    decide(&rule(zone), &awaited(), instant(now))
}

#[test]
fn a_slot_waits_runs_and_is_skipped() {
    let slot = rule("UTC").slot_on(awaited().date).unwrap();
    assert_eq!(decided("UTC", "2026-11-02T08:59:59Z"), Decision::Wait);
    assert_eq!(decided("UTC", "2026-11-02T09:00:00Z"), Decision::Start(slot));
    assert_eq!(decided("UTC", "2026-11-03T08:59:59Z"), Decision::Start(slot));
    assert_eq!(decided("UTC", "2026-11-03T09:00:00Z"), Decision::Skip(slot));
}

#[test]
fn a_plan_from_the_future_is_made_again() {
    assert_eq!(decided("UTC", "2026-11-01T08:59:59Z"), Decision::Plan);
    assert_eq!(decided("UTC", "2026-11-01T09:00:00Z"), Decision::Wait);
}

#[test]
fn another_time_zone_makes_another_plan_unless_both_times_have_come() {
    // 08:00 UTC in Berlin: passed, although the plan was for later
    assert_eq!(decided("Europe/Berlin", "2026-11-02T08:30:00Z"), Decision::Plan);
    // 14:00 UTC in New York: ahead, although the plan is due
    assert_eq!(
        decided("America/New_York", "2026-11-02T10:00:00Z"),
        Decision::Plan
    );
    let Decision::Start(slot) = decided("America/New_York", "2026-11-02T15:00:00Z") else {
        panic!("it is due by both");
    };
    assert_eq!(slot.at, instant("2026-11-02T14:00:00Z"));
}

#[test]
fn no_interval_counts_from_a_date_of_a_wrong_clock() {
    let weekly = SlotRule {
        interval_days: 7,
        ..rule("UTC")
    };
    let used =
        [("2026-11-02", true), ("2026-11-03", false), ("2027-05-01", true)].map(|(date, counts)| UsedDate {
            date: date.parse().unwrap(),
            at: rule("UTC").slot_on(date.parse().unwrap()).unwrap().at,
            counts,
        });
    let now = instant("2026-11-03T10:00:00Z");
    let next = next_slot(&weekly, &used, now, now).unwrap();
    assert_eq!(next.date.to_string(), "2026-11-09");
}

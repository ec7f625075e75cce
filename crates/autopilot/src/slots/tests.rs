use proptest::prelude::*;

use super::*;

fn rule(zone: &str, interval_days: u16, weekdays: Option<&[u8]>, time: &str) -> SlotRule {
    SlotRule {
        interval_days,
        weekdays: weekdays.map(|days| {
            let day = |day: &u8| Weekday::from_number(i64::from(*day)).unwrap();
            days.iter().map(day).collect()
        }),
        time: time.parse().unwrap(),
        zone: TimeZone::get(zone).unwrap(),
    }
}

fn instant(text: &str) -> Instant {
    Instant::from_millis(text.parse::<Timestamp>().unwrap().as_millisecond())
}

fn shown(slots: &[Slot]) -> Vec<String> {
    let show = |slot: &Slot| format!("{} {} {}", slot.date, slot.time.strftime("%H:%M"), slot.at);
    slots.iter().map(show).collect()
}

#[test]
fn a_time_in_a_gap_moves_forward_by_it() {
    let slots = rule("Europe/Berlin", 1, None, "02:30").preview(instant("2026-03-28T12:00:00Z"), None, 2);
    let expected = [
        "2026-03-29 03:30 2026-03-29T01:30:00.000Z",
        "2026-03-30 02:30 2026-03-30T00:30:00.000Z",
    ];
    assert_eq!(shown(&slots), expected);
}

#[test]
fn of_a_time_that_comes_twice_the_first_is_meant() {
    let slots = rule("America/New_York", 1, None, "01:30").preview(instant("2026-10-31T12:00:00Z"), None, 1);
    assert_eq!(shown(&slots), ["2026-11-01 01:30 2026-11-01T05:30:00.000Z"]);
}

#[test]
fn a_day_that_the_zone_leaves_out_has_no_slot() {
    let slots = rule("Pacific/Apia", 1, None, "12:00").preview(instant("2011-12-29T00:00:00Z"), None, 2);
    let dates: Vec<String> = slots.iter().map(|slot| slot.date.to_string()).collect();
    assert_eq!(dates, ["2011-12-29", "2011-12-31"]);
}

#[test]
fn the_interval_is_a_minimum_and_the_weekdays_hold() {
    let last = Some("2026-11-02".parse().unwrap());
    let slots = rule("UTC", 7, Some(&[1, 4]), "09:00").preview(instant("2026-11-02T10:00:00Z"), last, 3);
    let dates: Vec<String> = slots.iter().map(|slot| slot.date.to_string()).collect();
    assert_eq!(dates, ["2026-11-09", "2026-11-16", "2026-11-23"]);
    // 10 days after a Monday is a Thursday, and no Thursday is allowed
    let slots = rule("UTC", 10, Some(&[1]), "09:00").preview(instant("2026-11-02T10:00:00Z"), last, 2);
    let dates: Vec<String> = slots.iter().map(|slot| slot.date.to_string()).collect();
    assert_eq!(dates, ["2026-11-16", "2026-11-30"]);
}

#[test]
fn a_slot_is_due_for_a_day_and_missed_after_it() {
    let slot = rule("UTC", 1, None, "09:00")
        .slot_on("2026-11-02".parse().unwrap())
        .unwrap();
    let status = |at: &str| slot.status(instant(at));
    assert_eq!(status("2026-11-02T08:59:59.999Z"), SlotStatus::Ahead);
    assert_eq!(status("2026-11-02T09:00:00Z"), SlotStatus::Due);
    assert_eq!(status("2026-11-03T08:59:59.999Z"), SlotStatus::Due);
    assert_eq!(status("2026-11-03T09:00:00Z"), SlotStatus::Missed);
}

#[test]
fn days_before_a_slot_are_calendar_days() {
    let rule = rule("Europe/Berlin", 1, None, "09:00");
    let slot = rule.slot_on("2026-03-30".parse().unwrap()).unwrap();
    // 47 hours before, because the night between is an hour short
    assert_eq!(rule.days_before(&slot, 2), instant("2026-03-28T08:00:00Z"));
}

#[test]
fn times_are_shown_with_their_offset() {
    let at = instant("2026-11-09T08:00:00Z");
    assert_eq!(local_time(at, "Europe/Berlin"), "Mon 9 Nov 2026, 09:00 +01:00");
    assert_eq!(local_time(at, "UTC"), "Mon 9 Nov 2026, 08:00 +00:00");
}

proptest! {
    #[test]
    fn slots_keep_the_interval_and_the_weekdays(
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca"]),
        interval in 1u16..=90,
        days in prop::collection::btree_set(0u8..7, 0..7),
        minute in 0i8..60, hour in 0i8..24,
        after in 0i64..4_000_000_000_000,
    ) {
        let days: Vec<u8> = days.into_iter().collect();
        let weekdays = (!days.is_empty()).then_some(days.as_slice());
        let rule = rule(zone, interval, weekdays, &format!("{hour:02}:{minute:02}"));
        let after = Instant::from_millis(after);
        let slots = rule.preview(after, None, 12);
        prop_assert_eq!(slots.len(), 12);
        for slot in &slots {
            prop_assert!(slot.at > after);
            let number = slot.date.weekday().to_sunday_zero_offset();
            prop_assert!(weekdays.is_none_or(|days| days.contains(&(number as u8))));
        }
        for pair in slots.windows(2) {
            prop_assert!(pair[0].at < pair[1].at);
            let distance = (pair[1].date - pair[0].date).get_days();
            prop_assert!(distance >= i32::from(interval) && distance <= i32::from(interval) + 8, "{}", distance);
        }
    }
}

#[test]
fn forms_have_local_days_and_times() {
    let at = from_local("2026-11-09", "09:00", "Europe/Berlin").unwrap();
    assert_eq!(local_time(at, "UTC"), "Mon 9 Nov 2026, 08:00 +00:00");
    assert_eq!(
        (local_day(at, "Europe/Berlin"), local_clock(at, "Europe/Berlin")),
        ("2026-11-09".to_owned(), "09:00".to_owned())
    );
    let in_a_gap = from_local("2027-03-28", "02:30", "Europe/Berlin").unwrap();
    assert_eq!(local_clock(in_a_gap, "Europe/Berlin"), "03:30");
    for (day, time) in [
        ("", "09:00"),
        ("2026-11-09", ""),
        ("2026-02-30", "09:00"),
        ("2026-11-09", "25:00"),
    ] {
        assert_eq!(from_local(day, time, "UTC"), None, "{day} {time}");
    }
}

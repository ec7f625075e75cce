//! Ten years of a schedule in any time zone, with changes of its settings and of the zone, downtimes, steps of the clock and ticks
//! of several processes at once, against a model.
//!
//! The model shares no code with what it checks: it goes from date to date instead of from tick to tick, and finds the time of a
//! date by trying the offsets around it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{
    Timestamp, ToSpan as _,
    civil::{Date, Time},
    tz::{Offset, TimeZone},
};
use proptest::prelude::*;
use searchwright_contract::autopilot::Weekday;

use super::*;

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;
/// Length of a simulation.
const SPAN: i64 = 3_653 * DAY;
/// Dates of used slots that a tick is given.
const DATES: usize = 400;
/// Variable with the number of simulations of every zone; without it, only some zones are simulated.
const VARIABLE: &str = "SEARCHWRIGHT_SIMULATIONS";

/// Chance from a seed (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: i64) -> i64 {
        (self.next() % n.unsigned_abs()) as i64
    }

    fn one_in(&mut self, n: i64) -> bool {
        self.below(n) == 0
    }

    fn rule(&mut self, zone: TimeZone) -> SlotRule {
        let days = self.below(128) as u8;
        let weekdays: Vec<Weekday> = Weekday::ALL
            .iter()
            .copied()
            .filter(|day| days & (1 << day.number()) != 0)
            .collect();
        let greatest = if self.one_in(2) { 3 } else { 90 };
        let hour = if self.one_in(2) {
            self.below(4)
        } else {
            self.below(24)
        };
        SlotRule {
            interval_days: 1 + self.below(greatest) as u16,
            weekdays: Some(weekdays).filter(|weekdays| !weekdays.is_empty()),
            time: Time::new(hour as i8, self.below(60) as i8, 0, 0).unwrap(),
            zone,
        }
    }
}

/// An event at a time of the clock.
#[derive(Debug)]
enum Event {
    /// A tick.
    Tick,
    /// A caller changes the settings, and the next slot is planned anew.
    Settings(Box<SlotRule>),
    /// The time zone of the project changes, which the next tick notices.
    Zone(TimeZone),
}

/// A line of the log of a simulation.
#[derive(Debug)]
struct Line {
    now: i64,
    event: Event,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Became {
    Started,
    Refused,
    Skipped,
}

/// A slot that was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    line: usize,
    date: Date,
    at: i64,
    became: Became,
}

/// The use of a date.
#[derive(Clone, Copy, Debug)]
struct Use {
    at: i64,
    is_started: bool,
}

/// Returns whether the start of a date is refused, as by a quota.
fn is_refused(date: Date) -> bool {
    date.day_of_year() % 9 == 4
}

/// State of the database.
struct Stored {
    rule: SlotRule,
    used: BTreeMap<Date, Use>,
    plan: Option<AwaitedSlot>,
    history: Vec<Entry>,
}

impl Stored {
    fn plan_after(&mut self, after: Instant, now: Instant) {
        let newest = self.used.iter().rev().take(DATES);
        let used: Vec<UsedDate> = newest
            .map(|(date, one)| UsedDate {
                date: *date,
                at: Instant::from_millis(one.at),
                counts: one.is_started,
            })
            .collect();
        self.plan = next_slot(&self.rule, &used, after, now).map(|slot| AwaitedSlot {
            date: slot.date,
            at: slot.at,
            planned_from: now,
        });
    }

    fn apply(&mut self, line: usize, now: i64, event: &Event) {
        let now = Instant::from_millis(now);
        match event {
            Event::Settings(rule) => {
                self.rule = (**rule).clone();
                self.plan_after(now, now);
            }
            Event::Zone(zone) => self.rule.zone = zone.clone(),
            Event::Tick => self.tick(line, now),
        }
    }

    fn tick(&mut self, line: usize, now: Instant) {
        let Some(awaited) = self.plan else { return };
        let decision = decide(&self.rule, &awaited, now);
        let became = match decision {
            Decision::Wait => return,
            Decision::Plan => None,
            Decision::Skip(slot) => Some((slot, Became::Skipped)),
            Decision::Start(slot) if is_refused(slot.date) => Some((slot, Became::Refused)),
            Decision::Start(slot) => Some((slot, Became::Started)),
        };
        if let Some((slot, became)) = became
            && !self.used.contains_key(&slot.date)
        {
            let (at, is_started) = (slot.at.millis(), became == Became::Started);
            self.used.insert(slot.date, Use { at, is_started });
            self.history.push(Entry {
                line,
                date: slot.date,
                at: slot.at.millis(),
                became,
            });
        }
        if let Some(after) = decision.after(now) {
            self.plan_after(after, now);
        }
    }
}

/// Disturbances of a simulation.
#[derive(Clone, Copy, Debug)]
struct Course {
    downtimes: bool,
    steps_back: bool,
    changes: bool,
}

/// Runs a schedule for ten years; its log and the slots that it used.
fn simulate(
    chance: &mut Chance,
    course: Course,
    zones: &[TimeZone],
    first: &TimeZone,
) -> (Vec<Line>, Vec<Entry>) {
    // from 2006 on, so that the day that Samoa left out is among them
    let start = 1_136_073_600_000 + chance.below(15 * 365) * DAY + chance.below(DAY);
    let mut stored = Stored {
        rule: chance.rule(first.clone()),
        used: BTreeMap::new(),
        plan: None,
        history: Vec::new(),
    };
    let mut log = Vec::new();
    let mut happen = |stored: &mut Stored, now: i64, event: Event| {
        stored.apply(log.len(), now, &event);
        log.push(Line { now, event });
    };
    let rule = Box::new(stored.rule.clone());
    happen(&mut stored, start, Event::Settings(rule));
    let mut now = start;
    while now < start + SPAN {
        let due = stored.plan.map_or(i64::MAX, |plan| plan.at.millis());
        match chance.below(200) {
            0..=3 if course.changes => {
                now += chance.below(HOUR);
                let zone = stored.rule.zone.clone();
                let rule = Box::new(chance.rule(zone));
                happen(&mut stored, now, Event::Settings(rule));
                continue;
            }
            4..=5 if course.changes => {
                now += chance.below(HOUR);
                let zone = zones[chance.below(zones.len() as i64) as usize].clone();
                happen(&mut stored, now, Event::Zone(zone));
            }
            6..=8 if course.downtimes => now += chance.below(5 * DAY),
            9 if course.downtimes => now += chance.below(100 * DAY),
            10 if course.steps_back => now -= chance.below(3 * DAY),
            11..=12 if course.steps_back => now -= chance.below(HOUR),
            // the time until the next slot passes with ticks that do nothing; a few are made
            13..=40 => {
                now = (now + chance.below(12 * HOUR))
                    .min(due.saturating_add(15 * SECOND))
                    .max(now + 1)
            }
            _ if due < i64::MAX => now = due.max(now) + chance.below(18 * SECOND),
            _ => now += DAY,
        }
        happen(&mut stored, now, Event::Tick);
        if chance.one_in(3) {
            // another process, at the same time
            happen(&mut stored, now, Event::Tick);
        }
    }
    (log, stored.history)
}

/// Offset of a zone at a time, in milliseconds.
fn offset(zone: &TimeZone, at: i64) -> i64 {
    let at = Timestamp::from_millisecond(at).unwrap();
    i64::from(zone.to_offset(at).seconds()) * SECOND
}

/// Local date at a time.
fn date_at(zone: &TimeZone, at: i64) -> Date {
    let shifted = Timestamp::from_millisecond(at + offset(zone, at)).unwrap();
    Offset::UTC.to_datetime(shifted).date()
}

/// Time of a slot by trial: of the times that show the wanted local time the first, else the wanted time by the offset before the
/// gap. `None` for a date that never is.
fn time_of(rule: &SlotRule, date: Date) -> Option<i64> {
    let zone = &rule.zone;
    let wanted = date.to_datetime(rule.time);
    let wanted = Offset::UTC.to_timestamp(wanted).unwrap().as_millisecond();
    let around = (-5..=5).map(|step| wanted + step * 6 * HOUR);
    let offsets: BTreeSet<i64> = around.map(|at| offset(zone, at)).collect();
    let shown = offsets.iter().map(|offset| wanted - offset);
    let shown = shown.filter(|at| at + offset(zone, *at) == wanted).min();
    if shown.is_some() {
        return shown;
    }
    let (mut before, mut after) = (wanted - 30 * HOUR, wanted + 30 * HOUR);
    while after - before > SECOND {
        let middle = before + (after - before) / 2;
        let is_before = middle + offset(zone, middle) < wanted;
        *(if is_before { &mut before } else { &mut after }) = middle;
    }
    let exists = (-40..=40).any(|step| date_at(zone, wanted + step * HOUR) == date);
    exists.then(|| wanted - offset(zone, before))
}

/// The model.
struct Model<'a> {
    rule: SlotRule,
    used: BTreeMap<Date, Use>,
    log: &'a [Line],
    expected: Vec<Entry>,
}

impl Model<'_> {
    fn is_allowed(&self, date: Date) -> bool {
        let number = date.weekday().to_sunday_zero_offset();
        let is_on = |day: &Weekday| i64::from(day.number()) == i64::from(number);
        self.rule
            .weekdays
            .as_ref()
            .is_none_or(|days| days.iter().any(is_on))
    }

    /// Returns the next date with a slot, and its time.
    fn candidate(&self, after: i64, now: i64) -> Option<(Date, i64)> {
        let mut started = self
            .used
            .iter()
            .filter(|(_, one)| one.is_started && one.at - now < DAY);
        let last = started.next_back().map(|(date, _)| *date);
        let mut date = date_at(&self.rule.zone, after).yesterday().unwrap();
        for _ in 0..1_000 {
            date = date.tomorrow().unwrap();
            let distance = last.map(|last| (date - last).get_days());
            if distance.is_some_and(|days| days < i32::from(self.rule.interval_days)) {
                continue;
            }
            if !self.is_allowed(date) || self.used.contains_key(&date) {
                continue;
            }
            if let Some(at) = time_of(&self.rule, date)
                && at > after
            {
                return Some((date, at));
            }
        }
        None
    }

    /// Goes from one slot to the next: each is used at the first tick after its time.
    fn run(&mut self) {
        let (mut line, mut after, mut planned) = (0, self.log[0].now, self.log[0].now);
        'slots: loop {
            let slot = self.candidate(after, planned);
            let mut has_moved = false;
            loop {
                line += 1;
                let Some(Line { now, event }) = self.log.get(line) else {
                    return;
                };
                let now = *now;
                match event {
                    Event::Zone(zone) => {
                        self.rule.zone = zone.clone();
                        has_moved = true;
                        continue;
                    }
                    Event::Settings(rule) => {
                        self.rule = (**rule).clone();
                        (after, planned) = (now, now);
                        continue 'slots;
                    }
                    Event::Tick => {}
                }
                let Some((date, at)) = slot else { continue };
                let moved = if has_moved {
                    time_of(&self.rule, date)
                } else {
                    Some(at)
                };
                let is_due = now >= at && moved.is_some_and(|moved| now >= moved);
                if now < planned || !is_due && moved != Some(at) {
                    (after, planned) = (now, now);
                    continue 'slots;
                }
                let Some(at) = moved.filter(|_| is_due) else {
                    continue;
                };
                let is_late = now - at >= DAY;
                let became = match is_late {
                    true => Became::Skipped,
                    false if is_refused(date) => Became::Refused,
                    false => Became::Started,
                };
                let is_started = became == Became::Started;
                self.used.insert(date, Use { at, is_started });
                self.expected.push(Entry {
                    line,
                    date,
                    at,
                    became,
                });
                after = if is_late { now - DAY } else { at };
                planned = now;
                continue 'slots;
            }
        }
    }
}

/// Says by itself what has to hold, whatever the model says.
fn check_invariants(course: Course, log: &[Line], history: &[Entry]) {
    let dates: BTreeSet<Date> = history.iter().map(|entry| entry.date).collect();
    assert_eq!(dates.len(), history.len(), "a date has one slot");
    let mut rule: Option<&SlotRule> = None;
    let mut entries = history.iter().peekable();
    let mut last: Option<Date> = None;
    for (number, Line { now, event }) in log.iter().enumerate() {
        if let Event::Settings(settings) = event {
            rule = Some(settings);
        }
        let Some(entry) = entries.next_if(|entry| entry.line == number) else {
            continue;
        };
        let rule = rule.unwrap();
        let number = entry.date.weekday().to_sunday_zero_offset();
        let day = Weekday::from_number(number.into()).unwrap();
        assert!(
            rule.weekdays.as_ref().is_none_or(|days| days.contains(&day)),
            "{entry:?}: {day}"
        );
        let late = now - entry.at;
        assert!(
            late >= 0 && (late < DAY) == (entry.became != Became::Skipped),
            "{entry:?}: {late}"
        );
        if course.steps_back {
            continue;
        }
        if let Some(last) = last {
            let least = last.checked_add(i64::from(rule.interval_days).days()).unwrap();
            assert!(entry.date >= least, "{entry:?} after {last}");
            // undisturbed, nothing that was due is left out
            let mut between = least;
            let calm = !course.downtimes && !course.changes && entry.became == Became::Started;
            while calm && between < entry.date {
                let number = between.weekday().to_sunday_zero_offset();
                let day = Weekday::from_number(number.into()).unwrap();
                let is_on = rule.weekdays.as_ref().is_none_or(|days| days.contains(&day));
                let was_there = dates.contains(&between) || time_of(rule, between).is_none();
                assert!(!is_on || was_there, "{between} is lost before {entry:?}");
                between = between.tomorrow().unwrap();
            }
        }
        if entry.became == Became::Started {
            last = Some(entry.date);
        }
    }
    assert!(entries.next().is_none(), "every slot was used by an event");
}

fn check(seed: u64, zones: &[TimeZone], zone: &TimeZone) -> usize {
    let mut chance = Chance(seed);
    let course = Course {
        downtimes: chance.one_in(2),
        steps_back: chance.one_in(2),
        changes: chance.one_in(2),
    };
    let (log, history) = simulate(&mut chance, course, zones, zone);
    let Event::Settings(rule) = &log[0].event else {
        panic!("a schedule begins with its settings");
    };
    let mut model = Model {
        rule: (**rule).clone(),
        used: BTreeMap::new(),
        log: &log,
        expected: Vec::new(),
    };
    model.run();
    for (found, expected) in history.iter().zip(&model.expected) {
        assert_eq!(found, expected, "seed {seed}, {:?}, {course:?}", zone.iana_name());
    }
    assert_eq!(
        history.len(),
        model.expected.len(),
        "seed {seed}, {:?}",
        zone.iana_name()
    );
    check_invariants(course, &log, &history);
    history.len()
}

/// Every zone of the database.
fn zones() -> Vec<TimeZone> {
    let names = jiff::tz::db().available();
    let zones: Vec<TimeZone> = names
        .filter_map(|name| TimeZone::get(name.as_str()).ok())
        .collect();
    assert!(zones.len() > 300, "{} zones", zones.len());
    zones
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn ten_years_are_as_the_model_says(seed in any::<u64>()) {
        static ZONES: std::sync::LazyLock<Vec<TimeZone>> = std::sync::LazyLock::new(zones);
        let zone = &ZONES[(seed % ZONES.len() as u64) as usize];
        check(seed, &ZONES, zone);
    }
}

#[test]
fn all_zones_are_as_the_model_says() {
    let Some(often) = std::env::var(VARIABLE)
        .ok()
        .and_then(|often| often.parse::<u64>().ok())
    else {
        return;
    };
    let zones = zones();
    let mut slots = 0;
    for (number, zone) in zones.iter().enumerate() {
        for time in 0..often {
            slots += check(number as u64 + (time << 32), &zones, zone);
        }
    }
    assert!(slots > zones.len(), "{slots} slots in {} zones", zones.len());
}

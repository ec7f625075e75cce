//! Times of a schedule as callers set them: checked, and written into the stored ones.

use jiff::civil::Time;
use searchwright_autopilot::slots::zone_name;
use searchwright_contract::{Fault, Patch, autopilot::WeekdayInputs};
use searchwright_store::schedules::ScheduleTimes;

/// Times of a request; absent ones stay as they are.
pub(crate) struct TimesEdit {
    /// Minimum number of calendar days from one slot to the next.
    pub(crate) interval_days: Option<u8>,
    /// Weekdays; `Null` for every day.
    pub(crate) weekdays: Patch<WeekdayInputs>,
    /// Local time, `HH:MM`.
    pub(crate) time: Option<String>,
    /// Time zone; `Null` for that of the project.
    pub(crate) timezone: Patch<String>,
    /// Start of the names of weekdays and time in the request.
    pub(crate) prefix: &'static str,
}

impl TimesEdit {
    /// Writes the times that are valid, and returns the fault of every one that is not.
    pub(crate) fn apply(self, times: &mut ScheduleTimes) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut fault = |pointer: String, code: &str, detail: &str| {
            faults.push(Fault {
                pointer,
                code: code.to_owned(),
                detail: detail.to_owned(),
            });
        };
        let prefix = self.prefix;
        if let Some(text) = self.time {
            match read_time(&text) {
                Some(time) => times.time = time,
                None => fault(
                    format!("/{prefix}time"),
                    "not_a_time",
                    "is not HH:MM, 00:00 to 23:59",
                ),
            }
        }
        match self.timezone {
            Patch::Absent => {}
            Patch::Null => times.timezone = None,
            Patch::Value(name) => match zone_name(&name) {
                Some(zone) => times.timezone = Some(zone),
                None => fault(
                    "/timezone".to_owned(),
                    "unknown_time_zone",
                    "is not the name of a time zone, such as Europe/Berlin",
                ),
            },
        }
        times.interval_days = self.interval_days.unwrap_or(times.interval_days);
        match self.weekdays {
            Patch::Absent => {}
            Patch::Null => times.weekdays = None,
            Patch::Value(inputs) => match inputs.weekdays(&format!("/{prefix}weekdays")) {
                Ok(weekdays) => times.weekdays = Some(weekdays),
                Err(more) => faults.extend(more),
            },
        }
        faults
    }
}

fn read_time(text: &str) -> Option<Time> {
    let digits = |text: &str| -> Option<i8> {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_number)
    };
    let (hour, minute) = text.split_once(':')?;
    Time::new(digits(hour)?, digits(minute)?, 0, 0).ok()
}

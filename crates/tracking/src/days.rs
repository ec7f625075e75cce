//! Days in the time zone of a project, as numbers since 1970-01-01.

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use searchwright_contract::Instant;

use searchwright_failure::{Result, defect, fault};

const EPOCH: Date = Date::constant(1970, 1, 1);

/// Calendar of a project.
#[derive(Clone, Debug)]
pub struct ProjectDays {
    zone: TimeZone,
    /// Name of the time zone.
    pub name: String,
}

impl ProjectDays {
    /// Creates the calendar of a time zone by its name.
    pub fn new(name: &str) -> Result<Self> {
        Ok(Self {
            zone: TimeZone::get(name).map_err(|e| defect("time zone", e))?,
            name: name.to_owned(),
        })
    }

    /// Returns the day of a time.
    pub fn day(&self, at: Instant) -> i32 {
        let at = Timestamp::from_millisecond(at.millis()).unwrap_or(Timestamp::UNIX_EPOCH);
        number(at.to_zoned(self.zone.clone()).date())
    }
}

fn number(date: Date) -> i32 {
    i32::try_from(date.duration_since(EPOCH).as_hours() / 24).unwrap_or_default()
}

/// Returns a day as `YYYY-MM-DD`.
pub fn format_day(day: i32) -> String {
    let date = EPOCH.checked_add(jiff::Span::new().days(day));
    date.map_or_else(|_| String::new(), |date| date.to_string())
}

/// Parses `YYYY-MM-DD`.
pub fn parse_day(member: &str, text: &str) -> Result<i32> {
    let parsed = text.parse::<Date>().ok().filter(|date| date.to_string() == text);
    let wrong = || {
        fault(
            &format!("/{member}"),
            "not_a_day",
            "is not a day such as 2026-11-28",
        )
    };
    parsed.map(number).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_zone() {
        let day = |zone: &str, at: &str| {
            let at = Instant::from_millis(at.parse::<Timestamp>().unwrap().as_millisecond());
            format_day(ProjectDays::new(zone).unwrap().day(at))
        };
        assert_eq!(day("UTC", "2026-11-28T23:59:59Z"), "2026-11-28");
        assert_eq!(day("Asia/Tokyo", "2026-11-28T15:00:00Z"), "2026-11-29");
        assert_eq!(day("America/New_York", "2026-11-01T03:59:59Z"), "2026-10-31");
        assert_eq!(day("UTC", "1969-12-31T12:00:00Z"), "1969-12-31");
        assert!(ProjectDays::new("Mars/Olympus").is_err());
        assert_eq!(parse_day("from", "1970-01-02").unwrap(), 1);
        for bad in ["2026-11-31", "2026-1-1", "20261101", "2026-11-01T00:00", ""] {
            assert!(parse_day("from", bad).is_err(), "{bad}");
        }
    }
}

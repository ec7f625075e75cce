//! Dates in pages and sitemaps.

mod w3c;

pub use w3c::w3c_datetime_ms;

/// Milliseconds per day.
pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Milliseconds per mean month (30.44 days), precise enough for "older than two years".
pub(crate) const MONTH_MS: i64 = 2_629_746_000;

/// Parses an ISO 8601 date or time to milliseconds since the Unix epoch; without a zone it is UTC.
pub(crate) fn iso_ms(text: &str) -> Option<i64> {
    let text = text.trim();
    if !text.is_ascii() {
        return None;
    }
    let mut text = match text.as_bytes().get(10) {
        Some(b' ' | b't') => format!("{}T{}", text.get(..10)?, text.get(11..)?),
        _ => text.to_owned(),
    };
    if let Some(time) = text.get(11..) {
        let zone = time.find(['+', '-']).map(|at| at + 11);
        match zone {
            None if time.ends_with('z') => text = text.to_ascii_uppercase(),
            None if !time.ends_with('Z') => text.push('Z'),
            // +0200 for +02:00
            Some(at) if text.len() == at + 5 => text.insert(at + 3, ':'),
            Some(at) if text.len() == at + 3 => text.push_str(":00"),
            _ => {}
        }
    }
    w3c_datetime_ms(&text)
}

/// Earliest and latest moment that a date may mean, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateSpan {
    earliest: i64,
    latest: i64,
    /// Whether the date has a zone; else it means the local time of an unknown place.
    has_zone: bool,
}

/// Greatest differences of local times from UTC: 14 hours in Kiribati, 12 hours behind on the other side of the date
/// line.
const AHEAD_MS: i64 = 14 * 60 * 60 * 1000;
const BEHIND_MS: i64 = 12 * 60 * 60 * 1000;

impl DateSpan {
    /// Parses a date or time in ISO 8601: a day lasts a day, a minute a minute.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let earliest = iso_ms(text)?;
        let (has_time, time) = (text.len() > 10, text.get(11..).unwrap_or_default());
        let length = match text.len() {
            // 366 days of a year, 31 of a month: too long never makes a date wrong
            4 => 366 * DAY_MS,
            7 => 31 * DAY_MS,
            10 => DAY_MS,
            _ if time.matches(':').count() < 2
                || !time.get(5..).is_some_and(|rest| rest.starts_with(':')) =>
            {
                60 * 1000
            }
            _ => 1000,
        };
        let has_zone = has_time && time.contains(['Z', 'z', '+', '-']);
        Some(Self {
            earliest,
            latest: earliest + length - 1,
            has_zone,
        })
    }

    /// Whether this date is certainly before another one. Two dates without a zone are of the same place.
    pub(crate) fn is_before(self, other: Self) -> bool {
        let doubt = match (self.has_zone, other.has_zone) {
            (true, true) | (false, false) => 0,
            // a place ahead of UTC has its days earlier
            (true, false) => AHEAD_MS,
            (false, true) => BEHIND_MS,
        };
        self.latest + doubt < other.earliest
    }
}

/// Returns the day of a time in UTC, such as `2026-06-01`.
pub(crate) fn day(ms: i64) -> String {
    // Hinnant, chrono-Compatible Low-Level Date Algorithms, civil_from_days: years begin in March, so that a leap day is the last
    let days = ms.div_euclid(DAY_MS).clamp(0, 1_000_000) + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let years = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = era * 400 + years + i64::from(month <= 2);
    // some sites have it in evidence of nearly every page, and the formatter took a quarter of the check's time
    let digit = |number: i64, place: i64| char::from(b'0' + (number / place % 10) as u8);
    let year = [1000, 100, 10, 1].map(|place| digit(year, place));
    let [month, day] = [month, day].map(|number| ['-', digit(number, 10), digit(number, 1)]);
    year.into_iter().chain(month).chain(day).collect()
}

/// Parses a date in any form allowed for `unavailable_after`: ISO 8601, or those of e-mail and HTTP, of which only the
/// day is used.
pub(crate) fn any_ms(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    if let Some(ms) = iso_ms(text) {
        return Some(ms);
    }
    let (mut day, mut month, mut year) = (None, None, None);
    for part in text.split([' ', ',', '-']).filter(|part| !part.is_empty()) {
        let name = part.get(..3).map(str::to_ascii_lowercase);
        if let Some(at) = MONTHS.iter().position(|m| Some(*m) == name.as_deref()) {
            month = month.or(Some(at + 1));
        } else if part.bytes().all(|b| b.is_ascii_digit()) && part.len() <= 4 {
            let number: u32 = part.parse().ok()?;
            if day.is_none() && part.len() <= 2 {
                day = Some(number);
            } else if year.is_none() {
                // two digits are a year of this century
                year = Some(if part.len() == 2 { 2_000 + number } else { number });
            }
        }
    }
    w3c_datetime_ms(&format!("{:04}-{:02}-{:02}", year?, month?, day?))
}

#[cfg(test)]
mod tests {
    use super::{DateSpan, any_ms, day, iso_ms};

    #[test]
    fn days_are_those_of_the_calendar() {
        for date in [
            "1970-01-01",
            "2000-02-29",
            "2024-12-31",
            "2026-06-01",
            "2100-03-01",
        ] {
            assert_eq!(day(iso_ms(date).unwrap()), date);
        }
        assert_eq!(day(-1), "1970-01-01");
        // every day of two centuries
        let all = (0..80_000).map(|days| days * 24 * 60 * 60 * 1000 + 1);
        assert!(all.clone().all(|ms| iso_ms(&day(ms)) == Some(ms - 1)));
    }

    #[test]
    fn a_date_is_before_another_only_if_it_certainly_is() {
        let before = |a: &str, b: &str| DateSpan::parse(a).unwrap().is_before(DateSpan::parse(b).unwrap());
        for (earlier, later) in [
            ("2024-05-30", "2024-05-31"),
            ("2024-05-31T08:00:00Z", "2024-05-31T09:00:00Z"),
            ("2024-05-31T08:00:00+02:00", "2024-05-31T07:00:00Z"),
            ("2024-05-31T08:00", "2024-05-31T08:01"),
            ("2024-05-29", "2024-05-31T08:00:00Z"),
            ("2024-05-31T08:00:00Z", "2024-06-02"),
            ("2023", "2024-01-02"),
        ] {
            assert!(
                before(earlier, later) && !before(later, earlier),
                "{earlier} {later}"
            );
        }
        for (one, other) in [
            ("2024-05-31", "2024-05-31T23:00:00Z"),
            ("2024-05-31", "2024-06-01T08:00:00+09:00"),
            ("2024-05-31T20:00:00Z", "2024-06-01"),
            ("2024-05-31T08:00", "2024-05-31T08:00:59"),
            ("2024-05-31T08:00:00", "2024-05-31T12:00:00Z"),
            ("2024", "2024-05-31"),
            ("2024-05", "2024-05-31T08:00:00+02:00"),
            ("2024-05-31T08:00:00Z", "2024-05-31T08:00:00.500Z"),
        ] {
            assert!(!before(one, other) && !before(other, one), "{one} {other}");
        }
    }

    #[test]
    fn dates_of_many_hands() {
        let noon = iso_ms("2024-05-31T12:00:00Z");
        assert_eq!(noon, Some(1_717_156_800_000));
        for same in [
            "2024-05-31 12:00",
            "2024-05-31T14:00:00+0200",
            "2024-05-31T14:00+02",
            "2024-05-31t12:00:00z",
            "2024-05-31T12:00:00.000",
        ] {
            assert_eq!(iso_ms(same), noon, "{same}");
        }
        for wrong in [
            "31.05.2024",
            "2024-13-01",
            "May 2024",
            "2024-02-30",
            "",
            "2024-05-31T25:00Z",
            "２０２４",
            "2024-05-31T12:00+0é0",
        ] {
            assert_eq!(iso_ms(wrong), None, "{wrong}");
        }
        let day = iso_ms("2010-06-25");
        for same in [
            "Friday, 25-Jun-10 15:00:00 GMT",
            "25 Jun 2010 15:00:00 PST",
            "Fri, 25 Jun 2010 15:00:00 +0000",
            "2010-06-25",
        ] {
            assert_eq!(any_ms(same), day, "{same}");
        }
        assert_eq!(any_ms("never"), None);
    }
}

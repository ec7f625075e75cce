//! Months of a calendar, in whole weeks that begin on Monday.

use jiff::{
    Span, Timestamp,
    civil::{Date, Weekday},
    tz::TimeZone,
};
use searchwright_contract::Instant;

/// A month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalendarMonth {
    first: Date,
}

/// A day in the weeks of a month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarDay {
    /// The day, such as `2026-11-28`.
    pub text: String,
    /// Its number in its month.
    pub number: i8,
    /// Whether it is in the month, and not in a week that the month only begins or ends in.
    pub is_inside: bool,
}

impl CalendarMonth {
    /// Parses a month such as `2026-11`.
    pub fn parse(text: &str) -> Option<Self> {
        let is_month = text.len() == 7 && text.as_bytes().get(4) == Some(&b'-');
        let first: Date = format!("{text}-01").parse().ok().filter(|_| is_month)?;
        // The weeks around it, and the months before and after, have to be dates as well.
        (1..9999).contains(&first.year()).then_some(Self { first })
    }

    /// Returns the month of a point in time in a time zone.
    pub fn from_time(at: Instant, zone: &str) -> Self {
        let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
        let at = Timestamp::from_millisecond(at.millis()).unwrap_or(Timestamp::UNIX_EPOCH);
        Self {
            first: at.to_zoned(zone).date().first_of_month(),
        }
    }

    /// Returns the month before.
    #[must_use]
    pub fn previous(self) -> Self {
        let before = self.first.checked_sub(Span::new().months(1));
        Self {
            first: before.unwrap_or(self.first),
        }
    }

    /// Returns the month after.
    #[must_use]
    pub fn next(self) -> Self {
        let after = self.first.checked_add(Span::new().months(1));
        Self {
            first: after.unwrap_or(self.first),
        }
    }

    /// Returns it as addresses have it, such as `2026-11`.
    pub fn text(self) -> String {
        self.first.strftime("%Y-%m").to_string()
    }

    /// Returns it as people read it, such as `November 2026`.
    pub fn name(self) -> String {
        self.first.strftime("%B %Y").to_string()
    }

    /// Returns its weeks, from the one with its first day to the one with its last.
    pub fn weeks(self) -> Vec<Vec<CalendarDay>> {
        let back = self.first.weekday().since(Weekday::Monday);
        let Ok(mut date) = self.first.checked_sub(Span::new().days(i64::from(back))) else {
            return Vec::new();
        };
        let last = self.first.last_of_month();
        let mut weeks = Vec::with_capacity(6);
        while date <= last {
            let mut week = Vec::with_capacity(7);
            for _ in 0..7 {
                week.push(CalendarDay {
                    text: date.to_string(),
                    number: date.day(),
                    is_inside: date.first_of_month() == self.first,
                });
                let Ok(tomorrow) = date.tomorrow() else {
                    return weeks;
                };
                date = tomorrow;
            }
            weeks.push(week);
        }
        weeks
    }
}

#[cfg(test)]
mod tests {
    use super::CalendarMonth;

    #[test]
    fn months_are_whole_weeks_from_monday() {
        let month = CalendarMonth::parse("2026-11").unwrap();
        assert_eq!(
            (month.text(), month.name()),
            ("2026-11".to_owned(), "November 2026".to_owned())
        );
        let weeks = month.weeks();
        assert_eq!(weeks.len(), 6, "1 November 2026 is a Sunday");
        assert!(weeks.iter().all(|week| week.len() == 7));
        assert_eq!(weeks[0][0].text, "2026-10-26");
        assert_eq!((weeks[0][6].number, weeks[0][6].is_inside), (1, true));
        assert!(!weeks[0][5].is_inside && !weeks[5][6].is_inside);
        let february = CalendarMonth::parse("2027-02").unwrap().weeks();
        assert_eq!((february.len(), february[3][6].text.as_str()), (4, "2027-02-28"));
        assert_eq!(month.next().next().text(), "2027-01");
        assert_eq!(month.previous().text(), "2026-10");
    }

    #[test]
    fn a_month_is_that_of_the_zone() {
        let at = "2026-10-31T23:30:00.000Z".parse().unwrap();
        assert_eq!(CalendarMonth::from_time(at, "UTC").text(), "2026-10");
        assert_eq!(CalendarMonth::from_time(at, "Europe/Berlin").text(), "2026-11");
    }

    #[test]
    fn what_is_no_month_is_none() {
        for text in [
            "",
            "2026",
            "2026-13",
            "2026-1",
            "9999-12",
            "0000-01",
            "-001-01",
            "2026/11",
            "\u{e9}26-01",
        ] {
            assert_eq!(CalendarMonth::parse(text), None, "{text}");
        }
    }
}

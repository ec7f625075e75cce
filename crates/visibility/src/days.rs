//! Days by their number since the Unix epoch.

/// A date of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CivilDate {
    pub(crate) year: i64,
    pub(crate) month: u32,
    pub(crate) day: u32,
}

/// Returns the date of a day (Howard Hinnant's algorithm).
pub(crate) fn civil_date(day: i64) -> CivilDate {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    CivilDate {
        year: year_of_era + era * 400 + i64::from(month <= 2),
        month: month as u32,
        day: (of_year - (153 * from_march + 2) / 5 + 1) as u32,
    }
}

/// Returns the day of a date since the Unix epoch; `None` if there is no such date, or if its year has not four digits.
pub(crate) fn day_number(date: CivilDate) -> Option<i32> {
    let is_leap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0);
    let days = match date.month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days).contains(&date.day) || !(1_000..=9_999).contains(&date.year) {
        return None;
    }
    let year = date.year - i64::from(date.month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let from_march = i64::from((date.month + 9) % 12);
    let of_year = (153 * from_march + 2) / 5 + i64::from(date.day) - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    i32::try_from(era * 146_097 + of_era - 719_468).ok()
}

/// Returns a day as `YYYY-MM-DD`.
pub(crate) fn iso_date(day: i32) -> String {
    let date = civil_date(i64::from(day));
    format!("{:04}-{:02}-{:02}", date.year, date.month, date.day)
}

#[cfg(test)]
mod tests {
    use super::{CivilDate, civil_date, day_number, iso_date};

    #[test]
    fn dates_of_days() {
        for (day, date) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (20_785, "2026-11-28"),
            (19_782, "2024-02-29"),
        ] {
            assert_eq!(iso_date(day), date);
        }
    }

    #[test]
    fn days_of_dates() {
        for day in -100_000..100_000 {
            assert_eq!(day_number(civil_date(i64::from(day))), Some(day));
        }
        for (year, month, day) in [
            (2026, 2, 29),
            (1900, 2, 29),
            (2026, 13, 1),
            (2026, 0, 1),
            (2026, 4, 31),
            (2026, 1, 0),
            (999, 1, 1),
        ] {
            assert_eq!(day_number(CivilDate { year, month, day }), None);
        }
    }
}

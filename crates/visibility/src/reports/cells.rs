//! Numbers and dates of cells.

use crate::days::{CivilDate, day_number};

/// Largest count of a cell.
const MAX_COUNT: i64 = 1_000_000_000_000;

/// Order of the numbers of a date such as `3/11/2026`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateOrder {
    /// The month first.
    MonthFirst,
    /// The day first.
    DayFirst,
}

/// Parses a whole number with or without thousands separators: comma, point, apostrophe, or any kind of space.
pub(super) fn parse_count(text: &str) -> Option<i64> {
    let text = text.trim();
    let mut digits = String::with_capacity(text.len());
    let mut separator = None;
    // digits since the last separator, and whether there was one
    let mut group = 0;
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            group += 1;
            continue;
        }
        let is_separator = matches!(
            c,
            ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}'
        );
        let is_regular = match separator {
            None => (1..=3).contains(&group),
            Some(known) => known == c && group == 3,
        };
        if !is_separator || !is_regular {
            return None;
        }
        separator = Some(c);
        group = 0;
    }
    if digits.len() > 15 || separator.is_some() && group != 3 {
        return None;
    }
    digits.parse().ok().filter(|count| *count <= MAX_COUNT)
}

/// Parses a day: `2026-11-28`, with or without a time behind it, `2026/11/28`, `Nov 28, 2026`, `28 Nov 2026`, and with a known
/// order `11/28/2026`. The month's name is English.
pub(super) fn parse_date(text: &str, order: Option<DateOrder>) -> Option<i32> {
    let text = text.trim();
    if text.len() > 40 || !text.is_ascii() {
        return None;
    }
    let date = iso(text).or_else(|| named(text)).or_else(|| {
        let [first, second, year] = slashed(text)?;
        let (month, day) = match order? {
            DateOrder::MonthFirst => (first, second),
            DateOrder::DayFirst => (second, first),
        };
        Some(CivilDate {
            year: i64::from(year),
            month,
            day,
        })
    })?;
    day_number(date)
}

/// Returns the order of the numbers of dates, as far as one of them shows it: a number above 12 is a day. `None` if none
/// shows it, or if they disagree.
pub(super) fn date_order<'t>(dates: impl Iterator<Item = &'t str>) -> Option<DateOrder> {
    let (mut month_first, mut day_first) = (false, false);
    for [first, second, _] in dates.filter_map(slashed) {
        month_first |= second > 12;
        day_first |= first > 12;
    }
    match (month_first, day_first) {
        (true, false) => Some(DateOrder::MonthFirst),
        (false, true) => Some(DateOrder::DayFirst),
        _ => None,
    }
}

/// Parses digits alone.
fn number(text: &str) -> Option<u32> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

fn iso(text: &str) -> Option<CivilDate> {
    let date = text.split(['T', ' ']).next()?;
    let mut parts = date.split(['-', '/']);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if year.len() != 4 || parts.next().is_some() {
        return None;
    }
    Some(CivilDate {
        year: i64::from(number(year)?),
        month: number(month)?,
        day: number(day)?,
    })
}

fn named(text: &str) -> Option<CivilDate> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let month = |word: &str| {
        let word = word.to_ascii_lowercase();
        let found = MONTHS
            .iter()
            .position(|name| word.len() >= 3 && name.starts_with(&*word));
        found.map(|at| at as u32 + 1)
    };
    let mut words = text.split([' ', ',', '-']).filter(|word| !word.is_empty());
    let (first, second, year) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || year.len() != 4 {
        return None;
    }
    let (month, day) = match month(first) {
        Some(month) => (month, number(second)?),
        None => (month(second)?, number(first)?),
    };
    Some(CivilDate {
        year: i64::from(number(year)?),
        month,
        day,
    })
}

/// Returns the three numbers of `11/28/2026`, which may have a time behind it.
fn slashed(text: &str) -> Option<[u32; 3]> {
    let date = text.trim().split(' ').next()?;
    let mut parts = date.split('/');
    let (first, second, year) = (parts.next()?, parts.next()?, parts.next()?);
    if year.len() != 4 || first.len() > 2 || second.len() > 2 || parts.next().is_some() {
        return None;
    }
    Some([number(first)?, number(second)?, number(year)?])
}

//! W3C datetimes, the format of sitemaps.

/// Parses a W3C datetime (`2024`, `2024-05`, `2024-05-31`, `2024-05-31T10:00Z`, `…T10:00:00.5+02:00`) to milliseconds
/// since the Unix epoch; missing parts are the earliest possible. `None` if it is invalid.
pub fn w3c_datetime_ms(text: &str) -> Option<i64> {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |m| number(m, 2))?;
    let day = parts.next().map_or(Some(1), |d| number(d, 2))?;
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    let midnight = days_since_epoch(year, month, day) * 86_400_000;
    match time {
        None => Some(midnight),
        // a time needs a full date before it
        Some(_) if date.len() != 10 => None,
        Some(time) => Some(midnight + time_of_day_ms(time)?),
    }
}

fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days from 1970-01-01 in the proleptic Gregorian calendar, counting years from March.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

fn time_of_day_ms(text: &str) -> Option<i64> {
    let zone_at = text.find(['Z', '+', '-'])?;
    let (clock, zone) = text.split_at(zone_at);
    let offset = match zone {
        "Z" => 0,
        _ => {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let minutes = number(hours, 2)? * 60 + number(minutes, 2)?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    let mut parts = clock.split(':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(seconds) => {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
            let known = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
            let thousandths = format!("{fraction:0<3}");
            (
                number(whole, 2)?,
                known.then(|| thousandths.get(..3)?.parse::<i64>().ok())??,
            )
        }
    };
    let valid =
        hour <= 23 && minute <= 59 && second <= 60 && offset.abs() <= 24 * 60 && parts.next().is_none();
    valid.then_some(((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction)
}

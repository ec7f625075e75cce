//! Points in time. The API writes them in one form of RFC 3339, UTC with milliseconds and `Z`, 24 characters, so that the
//! order of texts is the order of times; it reads every form.

use std::{borrow::Cow, fmt, str::FromStr};

use jiff::{Timestamp, civil::DateTime, tz::Offset};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Milliseconds since the Unix epoch, years 0000 to 9999.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

/// Error for a text that is not an instant of RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a date and time with an offset (RFC 3339), such as 2026-11-21T10:00:00Z or 2026-11-21T12:00:00+02:00"
)]
pub struct NotAnInstant;

const MIN: i64 = -62_167_219_200_000;
const MAX: i64 = 253_402_207_199_999; // within what jiff holds

impl Instant {
    /// Creates an instant from milliseconds since the Unix epoch, clamped to the years 0000 to 9999.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(MIN, MAX))
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Returns the instant so many milliseconds later.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// Returns the 24 characters of the text form.
    pub fn to_text(self) -> [u8; 24] {
        let at = Timestamp::from_millisecond(self.0).map_or(DateTime::ZERO, |t| Offset::UTC.to_datetime(t));
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut put = |at: usize, width: usize, mut value: i16| {
            for i in (at..at + width).rev() {
                text[i] = b'0' + value.rem_euclid(10) as u8;
                value /= 10;
            }
        };
        put(0, 4, at.year());
        put(5, 2, at.month().into());
        put(8, 2, at.day().into());
        put(11, 2, at.hour().into());
        put(14, 2, at.minute().into());
        put(17, 2, at.second().into());
        put(20, 3, at.millisecond());
        text
    }

    /// Parses any form of RFC 3339: `T` and `Z` in either case or a space for the `T`, an offset, a fraction of any length,
    /// which is cut to milliseconds, and a leap second, which is the end of the second before. A `+` that was not encoded
    /// in a query has become a space, and is read.
    pub fn from_text(text: &str) -> Result<Self, NotAnInstant> {
        let b = text.as_bytes();
        let is = |at: usize, wanted: &[u8]| b.get(at).is_some_and(|byte| wanted.contains(byte));
        if !(is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":")) {
            return Err(NotAnInstant);
        }
        let number = |from: usize, width: usize| digits(b.get(from..from + width));
        let small = |from: usize| number(from, 2).map(|n| n as i8);
        let mut at = 19;
        let mut millis = 0;
        if is(at, b".") {
            let length = b[at + 1..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            if length == 0 {
                return Err(NotAnInstant);
            }
            let places = b[at + 1..].iter().take(length).chain(b"000").take(3);
            millis = places.fold(0, |sum, digit| sum * 10 + i32::from(digit - b'0'));
            at += 1 + length;
        }
        let offset = offset(&b[at.min(b.len())..])?;
        let mut second = small(17)?;
        // a leap second ends an hour in UTC, and so it does in most places
        if second == 60 && small(14)? % 15 == 14 {
            (second, millis) = (59, 999);
        }
        let local = DateTime::new(
            number(0, 4)?,
            small(5)?,
            small(8)?,
            small(11)?,
            small(14)?,
            second,
            millis * 1_000_000,
        );
        local
            .and_then(|at| Offset::UTC.to_timestamp(at))
            .ok()
            .map(|at| at.as_millisecond() - i64::from(offset) * 60_000)
            // jiff makes an instant of a date up to a second later than of milliseconds
            .filter(|millis| (MIN..=MAX).contains(millis))
            .map(Self)
            .ok_or(NotAnInstant)
    }
}

fn digits(bytes: Option<&[u8]>) -> Result<i16, NotAnInstant> {
    bytes
        .ok_or(NotAnInstant)?
        .iter()
        .try_fold(0i16, |sum, digit| match digit {
            b'0'..=b'9' => Ok(sum * 10 + i16::from(digit - b'0')),
            _ => Err(NotAnInstant),
        })
}

/// Minutes that a local time is ahead of UTC.
fn offset(text: &[u8]) -> Result<i16, NotAnInstant> {
    match text {
        b"Z" | b"z" => Ok(0),
        [sign @ (b'+' | b'-' | b' '), hour @ .., b':', tens, ones] if hour.len() == 2 => {
            let (hours, minutes) = (digits(Some(hour))?, digits(Some(&[*tens, *ones]))?);
            if hours > 23 || minutes > 59 {
                return Err(NotAnInstant);
            }
            let ahead = hours * 60 + minutes;
            Ok(if *sign == b'-' { -ahead } else { ahead })
        }
        _ => Err(NotAnInstant),
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(&self.to_text()).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Instant {
    type Err = NotAnInstant;

    fn from_str(text: &str) -> Result<Self, NotAnInstant> {
        Self::from_text(text)
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Self::from_text(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Instant {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Instant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time", "examples": ["2026-11-21T10:00:00.000Z"] })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, proptest};

    use super::{Instant, MAX, MIN};

    #[test]
    fn known_instants() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (MIN, "0000-01-01T00:00:00.000Z"),
            (MAX, "9999-12-30T21:59:59.999Z"),
        ] {
            assert_eq!(Instant::from_millis(millis).to_string(), text);
            assert_eq!(Instant::from_text(text), Ok(Instant::from_millis(millis)));
        }
        for bad in [
            "2026-02-30T00:00:00.000Z",
            "2026-11-21T24:00:00.000Z",
            "9999-12-30T22:00:00.999Z",
            "0000-01-01T00:30:00+01:00",
            "2026-11-21T10:00:00",
            "2026-11-21T10:00:00.Z",
            "2026-11-21T10:00:00+2:00",
            "2026-11-21T10:00:00+0200",
            "2026-11-21T10:00:00+24:00",
            "2026-11-21T10:00:00+02:00Z",
            "2026-11-21T10:00Z",
            "2026-11-21T10:30:60Z",
            "2026-11-21",
            "20261121T100000Z",
            "\u{ff12}026-11-21T10:00:00Z",
            "",
        ] {
            assert!(Instant::from_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn forms_of_rfc_3339() {
        for (text, utc) in [
            ("2027-03-01T09:00:00Z", "2027-03-01T09:00:00.000Z"),
            ("2027-03-01t09:00:00z", "2027-03-01T09:00:00.000Z"),
            ("2027-03-01 09:00:00Z", "2027-03-01T09:00:00.000Z"),
            ("2027-03-01T09:00:00+02:00", "2027-03-01T07:00:00.000Z"),
            ("2027-03-01T09:00:00 02:00", "2027-03-01T07:00:00.000Z"),
            ("2027-03-01T00:30:00.5-09:30", "2027-03-01T10:00:00.500Z"),
            ("2027-03-01T09:00:00-00:00", "2027-03-01T09:00:00.000Z"),
            ("2027-03-01T09:00:00.123456789Z", "2027-03-01T09:00:00.123Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999Z"),
            ("0000-01-01T00:30:00-01:00", "0000-01-01T01:30:00.000Z"),
        ] {
            assert_eq!(
                Instant::from_text(text).map(|at| at.to_string()),
                Ok(utc.to_owned()),
                "{text}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn text_order_is_time_order(a in MIN..=MAX, b in MIN..=MAX) {
            let (a, b) = (Instant::from_millis(a), Instant::from_millis(b));
            assert_eq!(Instant::from_text(&a.to_string()), Ok(a));
            assert_eq!(a.cmp(&b), a.to_text().cmp(&b.to_text()));
        }
    }
}

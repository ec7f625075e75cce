//! Lines of access logs.

use memchr::{memchr, memchr2};

use super::json_line;

/// Fields of a line that are counted. Texts are as they stand in the line, with their escapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogRecord<'l> {
    /// Address of the visitor.
    pub address: &'l [u8],
    /// Day as `YYYYMMDD`, in the time zone of the log.
    pub day: u32,
    /// Path with query.
    pub path: &'l [u8],
    /// Status; 0 if it is missing.
    pub status: u16,
    /// Referrer; empty if it is missing.
    pub referrer: &'l [u8],
    /// Agent; empty if it is missing.
    pub user_agent: &'l [u8],
}

/// Parses a line; `None` if it is in no known format.
pub fn parse_line(line: &[u8]) -> Option<LogRecord<'_>> {
    if line.first() == Some(&b'{') {
        return json_line::parse(line);
    }
    // [vhost[:port] ]address ident user [time] "request" status bytes ["referrer" "agent"]
    let open = memchr(b'[', line)?;
    let close = open + memchr(b']', &line[open..])?;
    let day = parse_day(&line[open + 1..close])?;
    let mut rest = Fields {
        rest: &line[close + 1..],
    };
    let request = rest.quoted()?;
    let status = rest.word().and_then(parse_status)?;
    rest.word();
    Some(LogRecord {
        address: address(&line[..open])?,
        day,
        path: request_path(request)?,
        status,
        referrer: rest.quoted().filter(|text| *text != b"-").unwrap_or_default(),
        user_agent: rest.quoted().unwrap_or_default(),
    })
}

/// Returns the address: the third word before the time.
fn address(head: &[u8]) -> Option<&[u8]> {
    let mut words = head.split(|b| *b == b' ').filter(|word| !word.is_empty());
    let first = words.next()?;
    match [words.next(), words.next(), words.next()] {
        // a virtual host comes before
        [Some(second), Some(_), Some(_)] => Some(second),
        _ => Some(first),
    }
}

/// Parses the beginning of `28/Nov/2026:12:00:00 +0000`.
pub(super) fn parse_day(time: &[u8]) -> Option<u32> {
    let (day, month, year) = (time.get(..2)?, time.get(3..6)?, time.get(7..11)?);
    if time.get(2) != Some(&b'/') || time.get(6) != Some(&b'/') {
        return None;
    }
    let months = [
        b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
    ];
    let month = months.iter().position(|name| name.as_slice() == month)? as u32 + 1;
    Some(number(year)? * 10_000 + month * 100 + number(day)?)
}

/// Returns the number that digits stand for.
pub(super) fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    digits.iter().try_fold(0, |sum, b| {
        b.is_ascii_digit().then(|| sum * 10 + u32::from(b - b'0'))
    })
}

pub(super) fn parse_status(word: &[u8]) -> Option<u16> {
    number(word)
        .filter(|status| (100..1000).contains(status))
        .map(|status| status as u16)
}

/// Returns the path of `GET /path HTTP/1.1`.
pub(super) fn request_path(request: &[u8]) -> Option<&[u8]> {
    let start = memchr(b' ', request)? + 1;
    let rest = &request[start..];
    let path = &rest[..memchr(b' ', rest).unwrap_or(rest.len())];
    (!path.is_empty()).then_some(path)
}

/// Fields that are still to be read.
struct Fields<'l> {
    rest: &'l [u8],
}

impl<'l> Fields<'l> {
    fn skip_spaces(&mut self) {
        let spaces = self.rest.iter().take_while(|b| **b == b' ').count();
        self.rest = &self.rest[spaces..];
    }

    fn word(&mut self) -> Option<&'l [u8]> {
        self.skip_spaces();
        let end = memchr(b' ', self.rest).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// Returns a text in quotes; a backslash escapes a quote.
    fn quoted(&mut self) -> Option<&'l [u8]> {
        self.skip_spaces();
        let inner = self.rest.strip_prefix(b"\"")?;
        let mut at = 0;
        loop {
            at += memchr2(b'"', b'\\', inner.get(at..)?)?;
            if inner[at] == b'"' {
                break;
            }
            at += 2;
        }
        self.rest = &inner[at + 1..];
        Some(&inner[..at])
    }
}

//! Lines of JSON: objects of texts and numbers, whose names differ from server to server. Nested objects are read as if
//! their fields were the line's own.

use memchr::{memchr, memchr2};

use crate::days::civil_date;

use super::parse::{LogRecord, number, parse_day, parse_status, request_path};

/// Parses a line; `None` if it holds no path or no time.
pub(super) fn parse(line: &[u8]) -> Option<LogRecord<'_>> {
    let mut record = LogRecord::default();
    let mut at = 1;
    while let Some(name) = next_text(line, &mut at) {
        let Some(value) = value(line, &mut at) else {
            continue;
        };
        set(&mut record, name, value);
    }
    (record.day > 0 && !record.path.is_empty()).then_some(record)
}

fn set<'l>(record: &mut LogRecord<'l>, name: &[u8], value: &'l [u8]) {
    match name {
        b"remote_addr" | b"remote_ip" | b"client_ip" | b"ClientIP" | b"ip" | b"clientip" | b"ClientHost" => {
            record.address = value;
        }
        b"time_local"
        | b"time"
        | b"timestamp"
        | b"@timestamp"
        | b"ts"
        | b"time_iso8601"
        | b"date"
        | b"EdgeStartTimestamp"
        | b"StartUTC" => record.day = day(value).unwrap_or(record.day),
        b"request_uri" | b"uri" | b"path" | b"url" | b"ClientRequestURI" | b"RequestPath" => {
            record.path = path(value);
        }
        b"request" if record.path.is_empty() => record.path = request_path(value).unwrap_or_default(),
        b"status" | b"status_code" | b"EdgeResponseStatus" | b"DownstreamStatus" => {
            record.status = parse_status(value).unwrap_or(0);
        }
        b"http_referer"
        | b"referer"
        | b"referrer"
        | b"Referer"
        | b"ClientRequestReferer"
        | b"request_Referer" => {
            record.referrer = value;
        }
        b"http_user_agent"
        | b"user_agent"
        | b"userAgent"
        | b"User-Agent"
        | b"agent"
        | b"ClientRequestUserAgent"
        | b"request_User-Agent" => record.user_agent = value,
        _ => {}
    }
}

/// Returns the path of a URL or of a path.
fn path(value: &[u8]) -> &[u8] {
    let Some(scheme) = memchr::memmem::find(value, b"://").filter(|at| *at <= 5) else {
        return value;
    };
    let rest = &value[scheme + 3..];
    memchr(b'/', rest).map_or(b"/", |slash| &rest[slash..])
}

/// Returns the day of a time as text, or in seconds, milliseconds or nanoseconds since the Unix epoch.
fn day(value: &[u8]) -> Option<u32> {
    if value.get(4) == Some(&b'-') {
        return Some(
            number(value.get(..4)?)? * 10_000 + number(value.get(5..7)?)? * 100 + number(value.get(8..10)?)?,
        );
    }
    if value.get(2) == Some(&b'/') {
        return parse_day(value);
    }
    let digits = value.iter().take_while(|b| b.is_ascii_digit()).count();
    // ten digits are seconds until the year 2286; what is behind them are fractions
    let seconds = (digits >= 10).then(|| number(&value[..9]))??;
    let date = civil_date(i64::from(seconds) * 10 / 86_400);
    Some(date.year as u32 * 10_000 + date.month * 100 + date.day)
}

/// Returns the next text in quotes, and moves behind it.
fn next_text<'l>(line: &'l [u8], at: &mut usize) -> Option<&'l [u8]> {
    let start = *at + memchr(b'"', line.get(*at..)?)? + 1;
    let mut end = start;
    loop {
        end += memchr2(b'"', b'\\', line.get(end..)?)?;
        if line[end] == b'"' {
            break;
        }
        end += 2;
    }
    *at = end + 1;
    Some(&line[start..end])
}

/// Returns the value behind a name: a text, or what stands before the next separator. `None` for an object or a list,
/// whose inside is read next.
fn value<'l>(line: &'l [u8], at: &mut usize) -> Option<&'l [u8]> {
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t' | b':' | b'[');
    while line.get(*at).is_some_and(is_blank) {
        *at += 1;
    }
    match line.get(*at)? {
        b'"' => next_text(line, at),
        b'{' => None,
        _ => {
            let rest = &line[*at..];
            let end = rest
                .iter()
                .position(|b| matches!(b, b',' | b'}' | b']' | b' '))
                .unwrap_or(rest.len());
            *at += end;
            Some(&rest[..end])
        }
    }
}

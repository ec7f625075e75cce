//! Fields of a line.

use std::borrow::Cow;

/// Splits a line into its trimmed fields; `None` if a quote is not closed. A quote within a field that does not begin with
/// one is an ordinary character.
pub(super) fn split(line: &str, separator: u8) -> Option<Vec<Cow<'_, str>>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let inner = rest.trim_start_matches(' ').strip_prefix('"');
        let (field, behind) = match inner {
            Some(inner) => quoted(inner, separator)?,
            None => {
                let end = memchr::memchr(separator, rest.as_bytes());
                let field = &rest[..end.unwrap_or(rest.len())];
                (Cow::Borrowed(field.trim()), end.map(|end| &rest[end + 1..]))
            }
        };
        fields.push(field);
        match behind {
            Some(behind) => rest = behind,
            None => return Some(fields),
        }
    }
}

/// Reads a field behind its opening quote; returns it and what comes behind the next separator.
fn quoted(inner: &str, separator: u8) -> Option<(Cow<'_, str>, Option<&str>)> {
    let mut at = 0;
    let mut has_doubled = false;
    let end = loop {
        at += memchr::memchr(b'"', &inner.as_bytes()[at..])?;
        if inner.as_bytes().get(at + 1) != Some(&b'"') {
            break at;
        }
        has_doubled = true;
        at += 2;
    };
    let text = inner[..end].trim();
    let field = if has_doubled {
        Cow::Owned(text.replace("\"\"", "\""))
    } else {
        Cow::Borrowed(text)
    };
    let behind = &inner[end + 1..];
    let next = memchr::memchr(separator, behind.as_bytes());
    Some((field, next.map(|next| &behind[next + 1..])))
}

/// Appends a field to a line, in quotes where it needs them.
pub(super) fn push(line: &mut String, field: &str) {
    if field.contains([',', '"', ';', '\t']) || field.trim() != field {
        line.push('"');
        line.push_str(&field.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(field);
    }
}

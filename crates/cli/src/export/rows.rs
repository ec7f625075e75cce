//! One row per occurrence.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use searchwright_contract::{
    audits::Audit,
    evidence::in_words,
    issues::{Issue, Occurrence},
};

use super::{Layout, shown};

/// Text that no spreadsheet takes for a formula (OWASP ASVS 1.2.10), and no terminal for a control sequence.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !is_formula && text.chars().all(|c| shown(c) == c) {
        return Cow::Borrowed(text);
    }
    let text: String = text.chars().map(shown).collect();
    Cow::Owned(if is_formula { format!("'{text}") } else { text })
}

/// Layout of the table.
pub(super) struct Table;

fn record<'a>(fields: impl IntoIterator<Item = &'a str>) -> io::Result<Vec<u8>> {
    let mut table = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let other = |error: csv::Error| io::Error::other(error.to_string());
    table
        .write_record(fields.into_iter().map(|text| harmless(text).into_owned()))
        .map_err(other)?;
    table
        .into_inner()
        .map_err(|error| io::Error::other(error.to_string()))
}

impl Layout for Table {
    fn begin(&self, _: &Audit, _: &[Issue], out: &mut dyn Write) -> io::Result<()> {
        // without it a spreadsheet takes the letters for those of an older encoding
        out.write_all("\u{feff}".as_bytes())?;
        out.write_all(&record([
            "severity",
            "check",
            "title",
            "category",
            "url",
            "state",
            "evidence",
            "recommendation",
            "last_checked_at",
            "issue_id",
            "page_id",
        ])?)
    }

    fn begin_issue(&self, _: usize, _: &Issue, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn row(&self, _: usize, issue: &Issue, occurrence: &Occurrence) -> io::Result<Vec<u8>> {
        record([
            occurrence.severity.as_str(),
            &issue.check_id,
            &issue.title,
            &issue.category,
            &occurrence.url,
            occurrence.state.as_str(),
            &in_words(&occurrence.evidence),
            &issue.recommendation,
            &occurrence.last_checked_at.to_string(),
            &issue.id.to_string(),
            &occurrence.page_id.to_string(),
        ])
    }

    fn separator(&self, _: bool) -> &'static str {
        ""
    }

    fn end_issue(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn end(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn nothing_is_a_formula() {
        for text in ["=1+1", "+1", "-1", "@x", "\tx", "\rx"] {
            assert_eq!(harmless(text), format!("'{text}"));
        }
        for text in ["", "a=1", "https://example.com/?a=-1", "'=1"] {
            assert_eq!(harmless(text), text);
        }
        // an override of the direction, and the beginning of a command to a terminal
        assert_eq!(
            harmless("a\u{202e}b\u{9b}31m\u{7f}"),
            "a\u{fffd}b\u{fffd}31m\u{fffd}"
        );
    }
}

//! One row per occurrence.

use std::{borrow::Cow, io::Write};

use super::{Results, shown};
use crate::evidence::in_words;

/// Text that no spreadsheet takes for a formula (OWASP ASVS 1.2.10), and no terminal for a control sequence.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !is_formula && text.chars().all(|c| shown(c) == c) {
        return Cow::Borrowed(text);
    }
    let text: String = text.chars().map(shown).collect();
    Cow::Owned(if is_formula { format!("'{text}") } else { text })
}

pub(super) fn write(results: &Results, out: &mut dyn Write) -> std::io::Result<()> {
    // without it a spreadsheet takes the letters for those of an older encoding
    out.write_all("\u{feff}".as_bytes())?;
    let mut table = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    let io = |error: csv::Error| match error.into_kind() {
        // a closed pipe is told by its kind
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    };
    let head = [
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
    ];
    table.write_record(head).map_err(io)?;
    for found in &results.issues {
        let issue = &found.issue;
        for occurrence in &found.occurrences {
            let (evidence, checked) = (
                in_words(&occurrence.evidence),
                occurrence.last_checked_at.to_string(),
            );
            let (issue_id, page_id) = (issue.id.to_string(), occurrence.page_id.to_string());
            let row = [
                occurrence.severity.as_str(),
                &issue.check_id,
                &issue.title,
                &issue.category,
                &occurrence.url,
                occurrence.state.as_str(),
                &evidence,
                &issue.recommendation,
                &checked,
                &issue_id,
                &page_id,
            ];
            table
                .write_record(row.map(|text| harmless(text).into_owned()))
                .map_err(io)?;
        }
    }
    table.flush()
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

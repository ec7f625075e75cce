//! One JSON document: the audit, and its issues with their occurrences.

use std::io::{self, Write};

use searchwright_contract::{
    audits::Audit,
    issues::{Issue, Occurrence},
};

use super::Layout;
use crate::json_text::to_json;

/// Layout of the document.
pub(super) struct Document;

impl Layout for Document {
    fn begin(&self, audit: &Audit, _: &[Issue], out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{\"audit\":")?;
        out.write_all(&to_json(audit)?)?;
        out.write_all(b",\"issues\":[")
    }

    fn begin_issue(&self, at: usize, issue: &Issue, out: &mut dyn Write) -> io::Result<()> {
        let issue = to_json(issue)?;
        // the occurrences are one more member of the object
        let open = issue.strip_suffix(b"}").unwrap_or(&issue);
        out.write_all(if at == 0 { b"" } else { b"," })?;
        out.write_all(open)?;
        out.write_all(b",\"occurrences\":[")
    }

    fn row(&self, _: usize, _: &Issue, occurrence: &Occurrence) -> io::Result<Vec<u8>> {
        to_json(occurrence)
    }

    fn separator(&self, is_first_of_issue: bool) -> &'static str {
        if is_first_of_issue { "" } else { "," }
    }

    fn end_issue(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"]}")
    }

    fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"]}\n")
    }
}

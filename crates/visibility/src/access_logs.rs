//! Visits of agents and referrals from assistants in access logs: the combined and common formats, both with or without
//! a virtual host before, and lines of JSON.
//!
//! Lines are read as bytes without regular expressions. Everything is bounded: the length of a line, the length of a
//! page and the number of counters. An agent is believed by its name only, unless address ranges of its vendor are given.

mod json_line;
mod lines;
mod parse;
mod ranges;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use self::{
    lines::{LineBuffer, MAX_LINE_BYTES},
    parse::{LogRecord, parse_line},
    ranges::{AgentRanges, parse_networks},
};
use crate::agents::find_agent;

/// Maximum length of a page in bytes; the rest is left out.
pub const MAX_PAGE_BYTES: usize = 512;
/// Maximum number of counters of visits, and of referrals; further ones are only totalled.
pub const MAX_COUNTERS: usize = 200_000;

/// Verification of a visit by the vendor's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    /// The address belongs to the vendor.
    Verified,
    /// The address does not belong to the vendor: the name is forged.
    Forged,
    /// No addresses of the vendor are given.
    Unknown,
}

/// Visits of an agent to a page on a day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitKey {
    /// Place in [`crate::agents::agents`].
    pub agent: u16,
    /// Day as `YYYYMMDD`.
    pub day: u32,
    /// Verification.
    pub verification: Verification,
    /// Path, without query.
    pub page: Box<str>,
}

/// Referrals from an assistant to a page on a day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReferralKey {
    /// Assistant.
    pub assistant: &'static str,
    /// Day as `YYYYMMDD`.
    pub day: u32,
    /// Path, without query.
    pub page: Box<str>,
}

/// Number of visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitCount {
    /// All visits.
    pub visits: u64,
    /// Visits answered with a status of 400 or more.
    pub errors: u64,
}

/// Counts of a log.
#[derive(Clone, Debug, Default)]
pub struct LogReport {
    /// Visits of agents.
    pub visits: HashMap<VisitKey, VisitCount>,
    /// Referrals from assistants: a floor, because most assistants send no referrer.
    pub referrals: HashMap<ReferralKey, u64>,
    /// Number of lines.
    pub lines: u64,
    /// Number of lines in no known format.
    pub unparsed: u64,
    /// Number of lines that were too long.
    pub too_long: u64,
    /// Number of visits and referrals without a counter of their own, because there were too many.
    pub uncounted: u64,
}

/// Counts the lines of a log.
#[derive(Clone, Debug, Default)]
pub struct LogCounter {
    report: LogReport,
    ranges: AgentRanges,
    buffer: LineBuffer,
}

impl LogCounter {
    /// Creates a counter that verifies agents by address ranges.
    pub fn new(ranges: AgentRanges) -> Self {
        Self {
            ranges,
            ..Self::default()
        }
    }

    /// Adds the next bytes of a log, which may end inside a line.
    pub fn add(&mut self, bytes: &[u8]) {
        let Self {
            report,
            ranges,
            buffer,
        } = self;
        buffer.add(bytes, |line| add_line(report, ranges, line));
    }

    /// Adds the last line, if it has no end, and returns the counts.
    pub fn finish(mut self) -> LogReport {
        let Self {
            report,
            ranges,
            buffer,
        } = &mut self;
        buffer.finish(|line| add_line(report, ranges, line));
        self.report
    }
}

/// Adds a line; `None` is one that was too long.
fn add_line(report: &mut LogReport, ranges: &AgentRanges, line: Option<&[u8]>) {
    report.lines += 1;
    let Some(line) = line else {
        report.too_long += 1;
        return;
    };
    let Some(record) = parse_line(line) else {
        report.unparsed += 1;
        return;
    };
    if let Some(agent) = find_agent(record.user_agent) {
        add_visit(report, ranges, &record, agent);
    } else if let Some(assistant) = assistant(&record) {
        add_referral(report, &record, assistant);
    }
}

fn add_visit(report: &mut LogReport, ranges: &AgentRanges, record: &LogRecord<'_>, agent: usize) {
    let key = VisitKey {
        agent: agent as u16,
        day: record.day,
        verification: ranges.verify(agent, record.address),
        page: page(record.path),
    };
    let is_full = report.visits.len() >= MAX_COUNTERS;
    if is_full && !report.visits.contains_key(&key) {
        report.uncounted += 1;
        return;
    }
    let count = report.visits.entry(key).or_default();
    count.visits += 1;
    count.errors += u64::from(record.status >= 400);
}

fn add_referral(report: &mut LogReport, record: &LogRecord<'_>, assistant: &'static str) {
    let key = ReferralKey {
        assistant,
        day: record.day,
        page: page(record.path),
    };
    if report.referrals.len() >= MAX_COUNTERS && !report.referrals.contains_key(&key) {
        report.uncounted += 1;
        return;
    }
    *report.referrals.entry(key).or_default() += 1;
}

/// Returns the path of a request without query, safe to show: control characters are replaced.
fn page(path: &[u8]) -> Box<str> {
    let end = memchr::memchr2(b'?', b'#', path)
        .unwrap_or(path.len())
        .min(MAX_PAGE_BYTES);
    let text = String::from_utf8_lossy(&path[..end]);
    if text.contains(char::is_control) {
        return text.replace(char::is_control, "\u{fffd}").into();
    }
    text.into()
}

/// Hosts of assistants, and the names under which they are counted.
const ASSISTANTS: [(&str, &str); 12] = [
    ("chatgpt.com", "chatgpt"),
    ("chat.openai.com", "chatgpt"),
    ("perplexity.ai", "perplexity"),
    ("claude.ai", "claude"),
    ("gemini.google.com", "gemini"),
    ("bard.google.com", "gemini"),
    ("copilot.microsoft.com", "copilot"),
    ("grok.com", "grok"),
    ("chat.mistral.ai", "mistral"),
    ("chat.deepseek.com", "deepseek"),
    ("meta.ai", "meta_ai"),
    ("openai", "chatgpt"),
];

/// Returns whether referrals are counted under this name.
pub(crate) fn is_assistant(name: &str) -> bool {
    ASSISTANTS.iter().any(|(_, assistant)| *assistant == name)
}

/// Returns the assistant that a visitor came from: by referrer, or by `utm_source` in the request.
fn assistant(record: &LogRecord<'_>) -> Option<&'static str> {
    let rest = record
        .referrer
        .strip_prefix(b"https://")
        .or_else(|| record.referrer.strip_prefix(b"http://"));
    let by_host = rest.and_then(|rest| {
        let end = rest
            .iter()
            .position(|b| matches!(b, b'/' | b'?' | b'#' | b':'))
            .unwrap_or(rest.len());
        find_assistant(&rest[..end])
    });
    by_host.or_else(|| {
        let query = &record.path[memchr::memchr(b'?', record.path)? + 1..];
        let source = query
            .split(|b| *b == b'&')
            .find_map(|pair| pair.strip_prefix(b"utm_source="))?;
        find_assistant(source)
    })
}

fn find_assistant(host: &[u8]) -> Option<&'static str> {
    let host = host.strip_prefix(b"www.").unwrap_or(host);
    let found = ASSISTANTS
        .iter()
        .find(|(name, _)| host.eq_ignore_ascii_case(name.as_bytes()));
    found.map(|(_, assistant)| *assistant)
}

#[cfg(test)]
mod tests;

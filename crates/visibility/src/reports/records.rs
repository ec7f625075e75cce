//! Rows of reports, and the circumstances of an import.

use std::fmt;

use crate::overview::DayRange;

/// Maximum number of rows of a file.
pub const MAX_ROWS: usize = 100_000;
/// Maximum length of a page, query, country or device in bytes.
pub const MAX_ITEM_BYTES: usize = 1_024;
/// Maximum number of skipped rows that are listed one by one.
pub const MAX_SKIPPED: usize = 100;

/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReportFormat {
    /// AI Performance of Bing Webmaster Tools.
    BingAiPerformance,
    /// Generative AI report of Google Search Console.
    SearchConsoleAi,
    /// Daily sums of an access log.
    AccessLog,
}

impl ReportFormat {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BingAiPerformance => "bing_ai_performance",
            Self::SearchConsoleAi => "search_console_ai",
            Self::AccessLog => "access_log",
        }
    }
}

/// Subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// The whole website on a day.
    Day,
    /// A page.
    Page,
    /// A grounding query.
    Query,
    /// A country.
    Country,
    /// A kind of device.
    Device,
    /// Visits of an agent to a page.
    Visit,
    /// Referrals from an assistant to a page.
    Referral,
}

impl Dimension {
    /// Every value.
    pub const ALL: [Self; 7] = [
        Self::Day,
        Self::Page,
        Self::Query,
        Self::Country,
        Self::Device,
        Self::Visit,
        Self::Referral,
    ];

    /// Name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Page => "page",
            Self::Query => "query",
            Self::Country => "country",
            Self::Device => "device",
            Self::Visit => "visit",
            Self::Referral => "referral",
        }
    }
}

/// A row of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// Subject.
    pub dimension: Dimension,
    /// Days that it is about.
    pub days: DayRange,
    /// Agent or assistant; empty in reports of vendors.
    pub actor: String,
    /// Page, query, country or device; empty for the whole website.
    pub item: String,
    /// Citations, impressions, visits or referrals.
    pub amount: i64,
    /// Pages that were cited on the day.
    pub cited_pages: Option<i64>,
    /// Visits answered with an error.
    pub errors: Option<i64>,
    /// Visits from addresses of the agent's vendor.
    pub verified: Option<i64>,
    /// Visits from other addresses under the agent's name.
    pub forged: Option<i64>,
}

/// Reason for which a row was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The row has fewer fields than the header.
    MissingField,
    /// A quote is not closed.
    UnclosedQuote,
    /// A count is missing or is no whole number.
    InvalidNumber,
    /// A day is none, or its day and month could be swapped.
    InvalidDate,
    /// A day lies in the future or before the year 2000.
    OutOfRange,
    /// A page is no URL, or no path in an access log.
    NotAPage,
    /// A page belongs to another website.
    OtherDomain,
    /// A text is empty.
    Empty,
    /// A text is too long.
    TooLong,
    /// An agent or an assistant is unknown.
    UnknownName,
    /// An earlier row is about the same.
    Duplicate,
}

impl SkipReason {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingField => "missing_field",
            Self::UnclosedQuote => "unclosed_quote",
            Self::InvalidNumber => "invalid_number",
            Self::InvalidDate => "invalid_date",
            Self::OutOfRange => "out_of_range",
            Self::NotAPage => "not_a_page",
            Self::OtherDomain => "other_domain",
            Self::Empty => "empty",
            Self::TooLong => "too_long",
            Self::UnknownName => "unknown_name",
            Self::Duplicate => "duplicate",
        }
    }
}

/// A row that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// Reason.
    pub reason: SkipReason,
    /// Header of the column.
    pub column: Option<String>,
    /// Explanation.
    pub detail: String,
}

/// Rows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedReport {
    /// Format.
    pub format: ReportFormat,
    /// Rows without the header and without blank lines.
    pub read: u64,
    /// Rows that are complete.
    pub rows: Vec<ReportRow>,
    /// Number of skipped rows.
    pub skipped: u64,
    /// The first of them, at most [`MAX_SKIPPED`].
    pub skipped_rows: Vec<SkippedRow>,
}

/// Circumstances of an import.
pub struct ReportContext<'a> {
    /// Format, if the caller says it.
    pub format: Option<ReportFormat>,
    /// Period of rows without a date.
    pub period: Option<DayRange>,
    /// Last day that a row may be about.
    pub last_day: i32,
    /// Tells whether a host belongs to the project.
    pub owns_host: &'a dyn Fn(&str) -> bool,
}

impl fmt::Debug for ReportContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReportContext")
            .field("format", &self.format)
            .field("period", &self.period)
            .finish_non_exhaustive()
    }
}

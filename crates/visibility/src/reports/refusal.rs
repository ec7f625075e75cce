//! Files that are refused as a whole, with the way out.

use std::fmt;

use super::records::{MAX_ROWS, ReportFormat};

/// Known headers, as people are told.
const KNOWN_HEADERS: &str = "of Bing: Date, Citations, Cited Pages | Page or URL, Citations | Grounding Query, Citations, each with or without Date; of Search Console: Date, Impressions | Top pages or Page, Impressions | Country, Impressions | Device, Impressions; of an access log: date,kind,name,page,count,errors,verified,forged";

/// A file that is refused as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportRefusal {
    /// An archive or a workbook.
    Archive,
    /// Not UTF-8 and not UTF-16.
    NotText,
    /// No known header. Holds the first line.
    UnknownHeader(String),
    /// The report of web search, with clicks.
    WebSearchReport,
    /// The list of filters of an export.
    Filters,
    /// The header is that of another format than was said.
    OtherFormat(ReportFormat),
    /// Rows without a date, and no period was given.
    NoPeriod,
    /// Rows with dates, and a period was given.
    UnneededPeriod,
    /// Too many rows.
    TooManyRows,
}

impl ReportRefusal {
    /// Name on the wire.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Archive | Self::NotText => "not_text",
            Self::UnknownHeader(_) | Self::Filters => "unknown_format",
            Self::WebSearchReport => "web_search_report",
            Self::OtherFormat(_) => "other_format",
            Self::NoPeriod => "required",
            Self::UnneededPeriod => "conflict",
            Self::TooManyRows => "too_many_rows",
        }
    }
}

impl fmt::Display for ReportRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archive => f.write_str("is an archive or a workbook: unpack it, and import its CSV files one by one"),
            Self::NotText => f.write_str("is neither UTF-8 nor UTF-16: save it as \"CSV UTF-8\", and import that"),
            Self::UnknownHeader(first) => write!(
                f,
                "has no known header; known are {}. Set the language of the vendor's pages to English before the export. The file begins with: {first}",
                KNOWN_HEADERS
            ),
            Self::WebSearchReport => f.write_str(
                "has clicks or positions, so it is the report of web search: the generative AI report has impressions only. Import keywords of web search with keywords/import",
            ),
            Self::Filters => f.write_str(
                "lists the filters of an export: its dates are what from and to take with the other files of the archive",
            ),
            Self::OtherFormat(found) => write!(f, "is not the format of this header, which is {}", found.as_str()),
            Self::NoPeriod => f.write_str(
                "is needed with to: the rows of this table have no date; give the first and last day that were selected in the report",
            ),
            Self::UnneededPeriod => f.write_str("is not needed: the rows have dates of their own; leave from and to out"),
            Self::TooManyRows => write!(f, "has more than {MAX_ROWS} rows; split it"),
        }
    }
}

//! Keyword files of other tools: Semrush, Ahrefs, Google Keyword Planner and Search Console; and lists made by hand.
//!
//! Encoding, delimiter, header and format are found from the file itself; each row then gives a [`Row`] or a [`RowFault`],
//! and a broken row costs itself only. A file is refused as a whole when it is not text, or is a table without a header
//! that is known.

mod archive;
mod encoding;
mod formats;
mod languages;
mod numbers;
mod open;
mod records;
mod rows;
#[cfg(test)]
mod tests;

use std::{fmt, io};

pub use formats::Format;
pub use open::Import;
use searchwright_contract::keywords::Intent;
use serde::{Deserialize, Serialize};

/// Longest keyword, in characters.
pub const MAX_KEYWORD: usize = 200;
/// Largest number of searches per month.
pub const MAX_VOLUME: i64 = 1_000_000_000;
/// Rows from the beginning among which the header is looked for.
pub const HEADER_ROWS: usize = 40;

/// Data of one row about a keyword. Missing data is `None`, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Line of the file on which the row begins, from 1.
    pub line: u64,
    /// The text, trimmed.
    pub keyword: String,
    /// Searches per month.
    pub search_volume: Option<i64>,
    /// Searches per month where the tool gives a bucket only.
    pub volume_range: Option<VolumeRange>,
    /// Difficulty on the scale of the tool, 0 (easy) to 100.
    pub difficulty: Option<i64>,
    /// Price of a click on an ad.
    pub cpc: Option<f64>,
    /// Lowest usual bid for the top of the page.
    pub bid_low: Option<f64>,
    /// Highest usual bid for the top of the page.
    pub bid_high: Option<f64>,
    /// Currency of prices, ISO 4217.
    pub currency: Option<String>,
    /// Competition for ads, 0 to 1.
    pub competition: Option<f64>,
    /// Competition for ads in words.
    pub competition_level: Option<Level>,
    /// Trend of searches over time.
    pub trend: Option<Trend>,
    /// Search intents, the main one first.
    pub intents: Vec<Intent>,
    /// Country, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// Language, BCP 47.
    #[serde(default)]
    pub language: Option<String>,
    /// Broader keyword this one belongs to.
    pub parent_topic: Option<String>,
    /// Other elements on the page of results.
    pub serp_features: Vec<String>,
    /// Position of the site among the results, from 1.
    pub position: Option<f64>,
    /// Page of the site that ranks.
    pub ranking_url: Option<String>,
    /// Pages of the site that are shown for it in turn, so that they compete; the most shown first.
    #[serde(default)]
    pub competing: Vec<String>,
    /// Clicks to the site.
    pub clicks: Option<i64>,
    /// Number of times the site was shown. Not a search volume.
    pub impressions: Option<i64>,
    /// Clicks per impression, 0 to 1.
    pub ctr: Option<f64>,
}

impl Row {
    /// Rank of the row's knowledge of searches, 0 to 3; of two rows for one keyword the higher stays.
    /// Exact volume beats a bucket beats impressions beats nothing.
    pub fn volume_quality(&self) -> u8 {
        match (self.search_volume, self.volume_range, self.impressions) {
            (Some(_), ..) => 3,
            (None, Some(_), _) => 2,
            (None, None, Some(_)) => 1,
            (None, None, None) => 0,
        }
    }
}

/// Bounds of a number of searches per month, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeRange {
    /// Lower bound.
    pub min: i64,
    /// Upper bound.
    pub max: i64,
}

/// Competition for ads in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    /// Few advertisers.
    Low,
    /// Some.
    Medium,
    /// Many.
    High,
}

impl Level {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Searches over time, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Trend {
    /// Twelve months that the tool does not name, each as a share of the best one.
    Relative([f64; 12]),
    /// Searches of named months; unknown ones are left out.
    Months(Vec<Month>),
}

/// Searches in one month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Month {
    /// `YYYY-MM`.
    pub month: String,
    /// Searches.
    pub value: i64,
}

/// Reason why a row gave no keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault {
    /// Line of the file on which the row begins, from 1.
    pub line: u64,
    /// Header of the column, when one is to blame.
    pub column: Option<String>,
    /// Kind of fault.
    pub code: FaultCode,
    /// Text that was found, cut to a readable length.
    pub detail: String,
}

/// Kind of fault of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCode {
    /// More or fewer columns than the header.
    ColumnCount,
    /// A quote is opened and not closed.
    UnclosedQuote,
    /// The row is longer than any sound one.
    RowTooLong,
    /// Bytes that are no characters of the file's encoding, or control characters.
    NotText,
    /// The keyword is empty.
    Blank,
    /// The keyword is longer than [`MAX_KEYWORD`].
    KeywordTooLong,
    /// A number was expected.
    NotANumber,
    /// The number is outside its range.
    OutOfRange,
    /// The value is none of those known.
    UnknownValue,
    /// The file could not be read further.
    Unreadable,
}

impl FaultCode {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ColumnCount => "column_count",
            Self::UnclosedQuote => "unclosed_quote",
            Self::RowTooLong => "row_too_long",
            Self::NotText => "not_text",
            Self::Blank => "blank",
            Self::KeywordTooLong => "keyword_too_long",
            Self::NotANumber => "not_a_number",
            Self::OutOfRange => "out_of_range",
            Self::UnknownValue => "unknown_value",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Reason why a whole file was refused.
#[derive(Debug)]
pub enum Refused {
    /// The file is not text.
    NotText,
    /// None of its first rows is a known header.
    NoHeader,
    /// The file could not be read.
    Unreadable(io::Error),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotText => f.write_str("the file is not text; export it as CSV, not as a workbook"),
            Self::NoHeader => {
                write!(f, "no known header in the first {HEADER_ROWS} rows; expected ")?;
                formats::describe(f)
            }
            Self::Unreadable(error) => write!(f, "the file cannot be read: {error}"),
        }
    }
}

impl std::error::Error for Refused {}

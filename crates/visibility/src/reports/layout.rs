//! Headers of files.

use super::{
    fields, log_rows,
    records::{Dimension, ReportFormat},
    refusal::ReportRefusal,
};

/// Lines from the beginning among which the header is looked for.
const HEADER_LINES: usize = 10;
/// Characters of the first line that are shown when it is not understood.
const SHOWN_CHARS: usize = 80;

/// Meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Date,
    Page,
    Query,
    Country,
    Device,
    Citations,
    CitedPages,
    Impressions,
    /// Only in reports of web search.
    Clicks,
}

/// Places of the columns of a file.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub format: ReportFormat,
    pub dimension: Dimension,
    pub date: Option<usize>,
    pub item: Option<usize>,
    pub amount: usize,
    pub cited_pages: Option<usize>,
    /// The header's fields.
    pub headers: Vec<String>,
}

impl Layout {
    /// Whether rows have dates of their own.
    pub fn has_dates(&self) -> bool {
        self.date.is_some() || self.format == ReportFormat::AccessLog
    }
}

/// A file whose header is known.
#[derive(Debug)]
pub(super) struct Table<'t> {
    pub layout: Layout,
    pub separator: u8,
    /// Number of the first line behind the header, from 1.
    pub first_line: u64,
    /// Text behind the header.
    pub body: &'t str,
}

/// Finds the header of a file.
pub(super) fn find_table(text: &str) -> Result<Table<'_>, ReportRefusal> {
    let mut body = text;
    for number in 1..=HEADER_LINES {
        if body.is_empty() {
            break;
        }
        let (line, rest) = next_line(body);
        body = rest;
        for separator in *b",;\t" {
            let Some(fields) = fields::split(line, separator) else {
                continue;
            };
            if let Some(layout) = read_header(&fields)? {
                return Ok(Table {
                    layout,
                    separator,
                    first_line: number as u64 + 1,
                    body,
                });
            }
        }
    }
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let shown: String = first
        .chars()
        .filter(|c| !c.is_control())
        .take(SHOWN_CHARS)
        .collect();
    Err(ReportRefusal::UnknownHeader(shown))
}

/// Returns the first line, without its end, and the rest.
pub(super) fn next_line(text: &str) -> (&str, &str) {
    let end = memchr::memchr2(b'\n', b'\r', text.as_bytes()).unwrap_or(text.len());
    let rest = &text[end..];
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.get(1..));
    (&text[..end], rest.unwrap_or_default())
}

/// Reads a header; `None` if it is none that is known.
fn read_header<F: AsRef<str>>(fields: &[F]) -> Result<Option<Layout>, ReportRefusal> {
    let names: Vec<String> = fields.iter().map(|field| plain_name(field.as_ref())).collect();
    let headers = || fields.iter().map(|field| field.as_ref().to_owned()).collect();
    if names == ["filter", "value"] {
        return Err(ReportRefusal::Filters);
    }
    if names.iter().eq(log_rows::HEADER.split(',')) {
        return Ok(Some(Layout {
            format: ReportFormat::AccessLog,
            dimension: Dimension::Visit,
            date: Some(0),
            item: None,
            amount: 4,
            cited_pages: None,
            headers: headers(),
        }));
    }
    let place = |column: Column| names.iter().position(|name| column_of(name) == Some(column));
    let (format, amount) = match (place(Column::Citations), place(Column::Impressions)) {
        (Some(citations), None) => (ReportFormat::BingAiPerformance, citations),
        (None, Some(impressions)) => (ReportFormat::SearchConsoleAi, impressions),
        _ => return Ok(None),
    };
    let subjects = [
        (Dimension::Page, place(Column::Page)),
        (Dimension::Query, place(Column::Query)),
        (Dimension::Country, place(Column::Country)),
        (Dimension::Device, place(Column::Device)),
    ];
    if format == ReportFormat::SearchConsoleAi
        && (place(Column::Clicks).is_some() || place(Column::Query).is_some())
    {
        return Err(ReportRefusal::WebSearchReport);
    }
    let date = place(Column::Date);
    let mut found = subjects
        .into_iter()
        .filter_map(|(dimension, place)| Some((dimension, place?)));
    let layout = match (found.next(), found.next(), date) {
        (Some((dimension, item)), None, _) => (dimension, Some(item)),
        (None, _, Some(_)) => (Dimension::Day, None),
        // a table by two subjects counts the same citation in several rows
        _ => return Ok(None),
    };
    let (dimension, item) = layout;
    let is_known = format == ReportFormat::SearchConsoleAi
        || matches!(dimension, Dimension::Day | Dimension::Page | Dimension::Query);
    Ok(is_known.then(|| Layout {
        format,
        dimension,
        date,
        item,
        amount,
        cited_pages: place(Column::CitedPages).filter(|_| dimension == Dimension::Day),
        headers: headers(),
    }))
}

/// Returns a header in lower case, with letters and single spaces only.
fn plain_name(header: &str) -> String {
    let lower = header.trim().to_lowercase().replace(['_', '-'], " ");
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn column_of(name: &str) -> Option<Column> {
    Some(match name {
        "date" | "day" => Column::Date,
        "page" | "pages" | "top pages" | "url" | "page url" | "cited page" => Column::Page,
        "grounding query" | "grounding queries" | "query" | "queries" | "top queries" => Column::Query,
        "country" | "countries" => Column::Country,
        "device" | "devices" => Column::Device,
        "citations" | "total citations" => Column::Citations,
        "cited pages" => Column::CitedPages,
        "impressions" => Column::Impressions,
        "clicks" | "ctr" | "position" => Column::Clicks,
        _ => return None,
    })
}

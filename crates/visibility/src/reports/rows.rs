//! Rows of a file whose header is known.

use std::{borrow::Cow, collections::HashSet};

use url::Url;

use crate::overview::DayRange;

use super::{
    cells::{DateOrder, date_order, parse_count, parse_date},
    fields,
    layout::{Table, next_line},
    log_rows,
    records::{
        Dimension, MAX_ITEM_BYTES, MAX_ROWS, MAX_SKIPPED, ParsedReport, ReportContext, ReportFormat,
        ReportRow, SkipReason, SkippedRow,
    },
    refusal::ReportRefusal,
};

/// First day that a row may be about: 2000-01-01.
const FIRST_DAY: i32 = 10_957;

/// A fault of a row: the reason, the place of the column, and the explanation.
pub(super) struct RowFault {
    pub reason: SkipReason,
    pub column: Option<usize>,
    pub detail: &'static str,
}

impl RowFault {
    pub fn new(reason: SkipReason, column: usize, detail: &'static str) -> Self {
        Self {
            reason,
            column: Some(column),
            detail,
        }
    }
}

/// Fields of a row.
pub(super) type RowFields<'f, 't> = &'f [Cow<'t, str>];

/// Circumstances of every row.
pub(super) struct RowContext<'a> {
    pub import: &'a ReportContext<'a>,
    order: Option<DateOrder>,
}

impl RowContext<'_> {
    /// Parses the day of a column.
    pub fn day(&self, fields: RowFields<'_, '_>, column: usize) -> Result<i32, RowFault> {
        let day = parse_date(field(fields, column)?, self.order).ok_or(RowFault::new(
            SkipReason::InvalidDate,
            column,
            "is no day such as 2026-11-28, or its month and day could be swapped",
        ))?;
        if (FIRST_DAY..=self.import.last_day).contains(&day) {
            return Ok(day);
        }
        let detail = "lies in the future or before 2000";
        Err(RowFault::new(SkipReason::OutOfRange, column, detail))
    }
}

/// Reads the rows behind a header.
pub(super) fn read_rows(
    table: &Table<'_>,
    context: &ReportContext<'_>,
) -> Result<ParsedReport, ReportRefusal> {
    let mut parsed = ParsedReport {
        format: table.layout.format,
        read: 0,
        rows: Vec::new(),
        skipped: 0,
        skipped_rows: Vec::new(),
    };
    let context = RowContext {
        import: context,
        order: order(table),
    };
    let mut known = HashSet::new();
    let (mut number, mut rest) = (table.first_line, table.body);
    while !rest.is_empty() {
        let (line, behind) = next_line(rest);
        rest = behind;
        let at = number;
        number += 1;
        if line.trim().is_empty() {
            continue;
        }
        parsed.read += 1;
        if parsed.read > MAX_ROWS as u64 {
            return Err(ReportRefusal::TooManyRows);
        }
        let row = read_row(table, &context, line).and_then(|row| {
            let key = (row.dimension, row.days.from, row.actor.clone(), row.item.clone());
            if known.insert(key) {
                return Ok(row);
            }
            Err(RowFault {
                reason: SkipReason::Duplicate,
                column: None,
                detail: "an earlier row is about the same",
            })
        });
        match row {
            Ok(row) => parsed.rows.push(ReportRow { line: at, ..row }),
            Err(fault) => skip(&mut parsed, table, at, &fault),
        }
    }
    Ok(parsed)
}

fn skip(parsed: &mut ParsedReport, table: &Table<'_>, line: u64, fault: &RowFault) {
    parsed.skipped += 1;
    if parsed.skipped_rows.len() < MAX_SKIPPED {
        parsed.skipped_rows.push(SkippedRow {
            line,
            reason: fault.reason,
            column: fault
                .column
                .and_then(|column| table.layout.headers.get(column).cloned()),
            detail: fault.detail.to_owned(),
        });
    }
}

/// Returns the order of the dates of a file.
fn order(table: &Table<'_>) -> Option<DateOrder> {
    let column = table.layout.date?;
    let mut rest = table.body;
    let lines = std::iter::from_fn(|| {
        (!rest.is_empty()).then(|| {
            let (line, behind) = next_line(rest);
            rest = behind;
            line
        })
    });
    // only a date with slashes needs an order
    let dates: Vec<Cow<'_, str>> = lines
        .filter(|line| line.contains('/'))
        .take(MAX_ROWS)
        .filter_map(|line| fields::split(line, table.separator)?.into_iter().nth(column))
        .collect();
    date_order(dates.iter().map(|date| &**date))
}

fn read_row(table: &Table<'_>, context: &RowContext<'_>, line: &str) -> Result<ReportRow, RowFault> {
    let fields = fields::split(line, table.separator).ok_or(RowFault {
        reason: SkipReason::UnclosedQuote,
        column: None,
        detail: "a quote is not closed",
    })?;
    let layout = &table.layout;
    if layout.format == ReportFormat::AccessLog {
        return log_rows::read_row(&fields, context);
    }
    let days = match (layout.date, context.import.period) {
        (Some(column), _) => {
            let day = context.day(&fields, column)?;
            DayRange { from: day, to: day }
        }
        (None, Some(period)) => period,
        // a file without dates is read with a period only
        (None, None) => DayRange { from: 0, to: 0 },
    };
    let item = match layout.item {
        None => String::new(),
        Some(column) => {
            let text = item_text(&fields, column)?;
            if layout.dimension == Dimension::Page {
                check_page(&text, column, context.import)?;
            }
            text
        }
    };
    let cited_pages = match layout.cited_pages {
        Some(column) => optional_count(&fields, column)?,
        None => None,
    };
    Ok(ReportRow {
        line: 0,
        dimension: layout.dimension,
        days,
        actor: String::new(),
        item,
        amount: count(&fields, layout.amount)?,
        cited_pages,
        errors: None,
        verified: None,
        forged: None,
    })
}

/// Returns a field.
pub(super) fn field<'f>(fields: RowFields<'f, '_>, column: usize) -> Result<&'f str, RowFault> {
    let found = fields.get(column).map(|field| &**field);
    found.ok_or(RowFault::new(SkipReason::MissingField, column, "is missing"))
}

/// Returns a text of a column, without control characters.
pub(super) fn item_text(fields: RowFields<'_, '_>, column: usize) -> Result<String, RowFault> {
    let text = field(fields, column)?;
    if text.len() > MAX_ITEM_BYTES {
        return Err(RowFault::new(
            SkipReason::TooLong,
            column,
            "has more than 1,024 bytes",
        ));
    }
    let clean: String = text.chars().filter(|c| !c.is_control()).collect();
    if clean.is_empty() {
        return Err(RowFault::new(SkipReason::Empty, column, "is empty"));
    }
    Ok(clean)
}

/// Returns a count of a column.
pub(super) fn count(fields: RowFields<'_, '_>, column: usize) -> Result<i64, RowFault> {
    parse_count(field(fields, column)?).ok_or(RowFault::new(
        SkipReason::InvalidNumber,
        column,
        "is no whole number such as 1,234",
    ))
}

/// Returns a count of a column, which may be empty or missing.
pub(super) fn optional_count(fields: RowFields<'_, '_>, column: usize) -> Result<Option<i64>, RowFault> {
    match fields.get(column) {
        Some(text) if !text.is_empty() => count(fields, column).map(Some),
        _ => Ok(None),
    }
}

fn check_page(text: &str, column: usize, context: &ReportContext<'_>) -> Result<(), RowFault> {
    let url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"));
    let host = url.as_ref().and_then(Url::host_str).ok_or(RowFault::new(
        SkipReason::NotAPage,
        column,
        "is no URL that begins with http:// or https://",
    ))?;
    if (context.owns_host)(host.strip_suffix('.').unwrap_or(host)) {
        return Ok(());
    }
    let detail = "belongs to another website than the project; add its domain to the brand if it is yours";
    Err(RowFault::new(SkipReason::OtherDomain, column, detail))
}

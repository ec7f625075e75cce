//! Reports of vendors about the own pages in their assistants' answers, and daily sums of access logs: files of rows, each a
//! number for a day or a period and a page, query, country or device.
//!
//! A file is recognised by its header alone, because exports carry no mark of their origin. A line is a row: the fields of
//! these reports hold no line breaks, and a broken quote costs its line only. Which headers are known, and where they come
//! from, is in `docs/visibility.md`.

mod cells;
mod encoding;
mod fields;
mod layout;
pub mod log_rows;
mod periods;
mod records;
mod refusal;
mod rows;
#[cfg(test)]
mod tests;

pub use self::{
    periods::choose_periods,
    records::{
        Dimension, MAX_ITEM_BYTES, MAX_ROWS, MAX_SKIPPED, ParsedReport, ReportContext, ReportFormat,
        ReportRow, SkipReason, SkippedRow,
    },
    refusal::ReportRefusal,
};

/// Parses a file.
pub fn parse_report(bytes: &[u8], context: &ReportContext<'_>) -> Result<ParsedReport, ReportRefusal> {
    let text = encoding::decode(bytes)?;
    let table = layout::find_table(&text)?;
    if context.format.is_some_and(|wanted| wanted != table.layout.format) {
        return Err(ReportRefusal::OtherFormat(table.layout.format));
    }
    match (table.layout.has_dates(), context.period) {
        (false, None) => return Err(ReportRefusal::NoPeriod),
        (true, Some(_)) => return Err(ReportRefusal::UnneededPeriod),
        _ => {}
    }
    rows::read_rows(&table, context)
}

//! Finds out what a file is.

use std::io::{Cursor, Read};

use super::{
    FaultCode, Format, HEADER_ROWS, Refused, Row, RowFault, archive, encoding,
    formats::Layout,
    records::{Records, Step},
    rows,
};

/// Signatures of files that people mistake for CSV: old workbooks, gzip, PDF.
const NO_TEXT: [&[u8]; 3] = [b"\xd0\xcf\x11\xe0", b"\x1f\x8b", b"%PDF"];

/// A file of keywords, read row by row.
pub struct Import {
    records: Records<Cursor<Vec<u8>>>,
    layout: Layout,
    /// The comma of a number is a decimal comma: it cannot be a delimiter, or the language writes it so.
    comma_decimal: bool,
    ended: bool,
}

impl std::fmt::Debug for Import {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Import")
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

impl Import {
    /// Finds encoding, delimiter and header of a file; of a ZIP archive, those of the first table of keywords in it.
    pub fn open(mut source: impl Read) -> Result<Self, Refused> {
        let mut file = Vec::new();
        source.read_to_end(&mut file).map_err(Refused::Unreadable)?;
        if !archive::is_archive(&file) {
            return Self::open_text(file, true);
        }
        let mut refused = Refused::NotText;
        for table in archive::tables(&file) {
            match Self::open_text(table, false) {
                Ok(import) => return Ok(import),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    fn open_text(file: Vec<u8>, may_be_list: bool) -> Result<Self, Refused> {
        if NO_TEXT.iter().any(|magic| file.starts_with(magic)) {
            return Err(Refused::NotText);
        }
        let text = encoding::to_utf8(file);
        let (delimiter, rows, layout) = match header(&text) {
            Some(found) => found,
            None if is_noise(&text) => return Err(Refused::NotText),
            None if may_be_list && is_list(&text) => (b',', 0, Layout::without_header()),
            None => return Err(Refused::NoHeader),
        };
        let mut records = Records::new(Cursor::new(text), delimiter);
        for _ in 0..rows {
            records.step().map_err(Refused::Unreadable)?;
        }
        records.expect_columns(layout.width);
        Ok(Self {
            records,
            comma_decimal: delimiter != b',' || layout.decimal_comma,
            layout,
            ended: false,
        })
    }

    /// Format of the file.
    pub fn format(&self) -> Format {
        self.layout.format
    }

    fn fault(&self, code: FaultCode, detail: &str) -> RowFault {
        RowFault {
            line: self.records.line(),
            column: None,
            code,
            detail: detail.to_owned(),
        }
    }
}

impl Iterator for Import {
    type Item = Result<Row, RowFault>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.records.step() {
                Ok(Step::Row) if self.records.bytes().is_empty() => {}
                Ok(Step::Row) => return Some(rows::read(&self.records, &self.layout, self.comma_decimal)),
                Ok(Step::UnclosedQuote) => {
                    return Some(Err(self.fault(FaultCode::UnclosedQuote, "a quote is not closed")));
                }
                Ok(Step::TooLong) => {
                    return Some(Err(
                        self.fault(FaultCode::RowTooLong, "the row has more than 64 KiB")
                    ));
                }
                Ok(Step::End) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(self.fault(FaultCode::Unreadable, &error.to_string())));
                }
            }
        }
        None
    }
}

const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// Delimiter, number of rows up to and with the header, and layout.
fn header(text: &[u8]) -> Option<(u8, usize, Layout)> {
    let found = DELIMITERS.into_iter().filter_map(|delimiter| {
        let mut records = Records::new(text, delimiter);
        for row in 1..=HEADER_ROWS {
            let fields: Option<Vec<&str>> = match records.step() {
                Ok(Step::Row) => (0..records.len()).map(|i| records.field(i)).collect(),
                Ok(Step::End) | Err(_) => return None,
                Ok(Step::UnclosedQuote | Step::TooLong) => continue,
            };
            if let Some(layout) = fields.and_then(|fields| Layout::from_headers(&fields)) {
                return Some((delimiter, row, layout));
            }
        }
        None
    });
    found.min_by_key(|(_, row, layout)| (*row, std::cmp::Reverse(layout.fields.len())))
}

/// Returns whether a text has no table in it: one field in each row, however it is parted. Data and documents in other
/// languages begin with a bracket.
fn is_list(text: &[u8]) -> bool {
    if matches!(text.trim_ascii_start().first(), Some(b'{' | b'[' | b'<')) {
        return false;
    }
    DELIMITERS.into_iter().all(|delimiter| {
        let mut records = Records::new(text, delimiter);
        for row in 0..HEADER_ROWS {
            match records.step() {
                Ok(Step::Row) if (1..records.len()).all(|i| records.field(i) == Some("")) => {}
                Ok(Step::End) => return row > 0,
                _ => return false,
            }
        }
        true
    })
}

/// Returns whether a text is none: many of its characters are broken or control something.
fn is_noise(text: &[u8]) -> bool {
    let lossy = String::from_utf8_lossy(text);
    let odd = lossy
        .chars()
        .filter(|c| *c == '\u{fffd}' || (c.is_control() && !matches!(c, '\t' | '\r' | '\n')));
    odd.count() * 10 > lossy.chars().count()
}

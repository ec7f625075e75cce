//! Finds out what a file is.

use std::io::{Cursor, Read};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

use super::{
    FaultCode, Format, HEADER_ROWS, Refused, Row, RowFault,
    formats::Layout,
    records::{Records, Step},
    rows,
};

/// Bytes from the beginning by which a file is known.
const HEAD: usize = 64 * 1024;

/// Signatures of files that people mistake for CSV: ZIP (workbooks), old workbooks, gzip, PDF.
const NO_TEXT: [&[u8]; 4] = [b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b", b"%PDF"];

/// The beginning of the source, then the rest of it.
type Whole<R> = std::io::Chain<Cursor<Vec<u8>>, R>;

/// A file of keywords, read row by row.
pub struct Import<R: Read> {
    records: Records<DecodeReaderBytes<Whole<R>, Vec<u8>>>,
    layout: Layout,
    /// The file's comma cannot be a delimiter, so it is a decimal comma.
    comma_decimal: bool,
    ended: bool,
}

impl<R: Read> std::fmt::Debug for Import<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Import")
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

impl<R: Read> Import<R> {
    /// Finds encoding, delimiter and header of a file.
    pub fn open(mut source: R) -> Result<Self, Refused> {
        let mut head = Vec::new();
        let mut start = source.by_ref().take(HEAD as u64);
        start.read_to_end(&mut head).map_err(Refused::Unreadable)?;
        if NO_TEXT.iter().any(|magic| head.starts_with(magic)) {
            return Err(Refused::NotText);
        }
        let encoding = encoding(&head);
        let (delimiter, rows, layout) = header(&head, encoding)?;
        let decoded = decode(Cursor::new(head).chain(source), encoding);
        let mut records = Records::new(decoded, delimiter);
        for _ in 0..rows {
            records.step().map_err(Refused::Unreadable)?;
        }
        records.expect_columns(layout.width);
        Ok(Self {
            records,
            layout,
            comma_decimal: delimiter != b',',
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

impl<R: Read> Iterator for Import<R> {
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

/// The encoding of a text by its byte order mark, else by where its zero bytes are: nearly every
/// character of these files is ASCII, so one half of UTF-16 is zero.
fn encoding(head: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(head) {
        return encoding;
    }
    let (pairs, _) = head.as_chunks::<2>();
    let zeros = |i: usize| pairs.iter().filter(|pair| pair[i] == 0).count();
    if zeros(1) * 2 > pairs.len() && zeros(0) * 8 < pairs.len() {
        UTF_16LE
    } else if zeros(0) * 2 > pairs.len() && zeros(1) * 8 < pairs.len() {
        UTF_16BE
    } else {
        UTF_8
    }
}

fn decode<R: Read>(source: R, encoding: &'static Encoding) -> DecodeReaderBytes<R, Vec<u8>> {
    DecodeReaderBytesBuilder::new()
        .encoding(Some(encoding))
        .strip_bom(true)
        .build(source)
}

/// Delimiter, number of rows up to and with the header, and layout.
fn header(head: &[u8], encoding: &'static Encoding) -> Result<(u8, usize, Layout), Refused> {
    let mut text = Vec::new();
    decode(head, encoding)
        .read_to_end(&mut text)
        .map_err(Refused::Unreadable)?;
    let found = b",;\t".iter().filter_map(|delimiter| {
        let mut records = Records::new(text.as_slice(), *delimiter);
        for row in 1..=HEADER_ROWS {
            let fields: Option<Vec<&str>> = match records.step() {
                Ok(Step::Row) => (0..records.len()).map(|i| records.field(i)).collect(),
                Ok(Step::End) | Err(_) => return None,
                Ok(Step::UnclosedQuote | Step::TooLong) => continue,
            };
            if let Some(layout) = fields.and_then(|fields| Layout::from_headers(&fields)) {
                return Some((*delimiter, row, layout));
            }
        }
        None
    });
    found.min_by_key(|(_, row, _)| *row).ok_or_else(|| {
        let lossy = String::from_utf8_lossy(&text);
        let odd = lossy
            .chars()
            .filter(|c| *c == '\u{fffd}' || (c.is_control() && !matches!(c, '\t' | '\r' | '\n')));
        if odd.count() * 10 > lossy.chars().count() {
            Refused::NotText
        } else {
            Refused::NoHeader
        }
    })
}

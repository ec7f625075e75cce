//! Rows of fields from a stream, resistant to broken rows.
//!
//! `csv_core` splits fields; which lines belong to one row is decided here. A quote that is never closed
//! would make the rest of the file one field, so a row may span [`MAX_LINES`] lines at most, and one that
//! goes wrong costs its first line only.

use std::io::{self, Read};

use csv_core::{ReadRecordResult, Reader};
use memchr::memchr2;

/// Longest row, in bytes.
const MAX_ROW: usize = 64 * 1024;
/// Most lines of one row, by quoted line breaks.
const MAX_LINES: usize = 32;
/// Most columns of a row.
const MAX_COLUMNS: usize = 1024;
/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// Next step in a file.
#[derive(Debug)]
pub(super) enum Step {
    /// A row; its fields are in the reader.
    Row,
    /// A quote is not closed.
    UnclosedQuote,
    /// The row is too long, or has too many columns.
    TooLong,
    /// No more rows.
    End,
}

/// Rows of UTF-8 text.
pub(super) struct Records<R> {
    source: R,
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
    next_line: u64,
    line: u64,
    columns: Option<usize>,
    delimiter: u8,
    csv: Reader,
    fields: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
}

impl<R: Read> Records<R> {
    /// Reads rows whose fields are apart by `delimiter`.
    pub fn new(source: R, delimiter: u8) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            at: 0,
            ended: false,
            next_line: 1,
            line: 0,
            columns: None,
            delimiter,
            csv: csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
            fields: vec![0; MAX_ROW + 1],
            ends: vec![0; MAX_COLUMNS],
            count: 0,
        }
    }

    /// A row of several lines with another number of columns is a quote that was not closed.
    pub fn expect_columns(&mut self, columns: usize) {
        self.columns = Some(columns);
    }

    /// Line on which the last row began, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Number of fields of the last row.
    pub fn len(&self) -> usize {
        self.count
    }

    /// All bytes of the last row's fields.
    pub fn bytes(&self) -> &[u8] {
        let end = self.count.checked_sub(1).map_or(0, |last| self.ends[last]);
        &self.fields[..end]
    }

    /// A field of the last row; empty beyond the last, `None` when it is not UTF-8.
    pub fn field(&self, index: usize) -> Option<&str> {
        if index >= self.count {
            return Some("");
        }
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        std::str::from_utf8(&self.fields[start..self.ends[index]]).ok()
    }

    /// Reads the next row that is not blank.
    pub fn step(&mut self) -> io::Result<Step> {
        loop {
            self.forget_read();
            let Some(end) = self.line_end(self.at)? else {
                return Ok(Step::End);
            };
            self.line = self.next_line;
            let line = &self.buffer[self.at..end];
            if line.iter().all(u8::is_ascii_whitespace) {
                self.pass(end);
                continue;
            }
            if end - self.at > MAX_ROW {
                self.pass_long_line(end)?;
                return Ok(Step::TooLong);
            }
            return self.row(end);
        }
    }

    /// Reads the row whose first line ends at `first`.
    fn row(&mut self, first: usize) -> io::Result<Step> {
        self.csv.reset();
        let (mut written, mut ended) = (0, 0);
        let (mut from, mut to) = (self.at, first);
        for lines in 1..=MAX_LINES {
            let (result, _, bytes, fields) = self.csv.read_record(
                &self.buffer[from..to],
                &mut self.fields[written..],
                &mut self.ends[ended..],
            );
            written += bytes;
            ended += fields;
            match result {
                ReadRecordResult::Record => {
                    self.count = ended;
                    let odd = || self.columns.is_some_and(|columns| columns != ended);
                    if lines > 1 && (odd() || !is_strict(&self.buffer[self.at..to], self.delimiter)) {
                        break;
                    }
                    self.next_line += lines as u64;
                    self.at = to;
                    return Ok(Step::Row);
                }
                ReadRecordResult::InputEmpty => {
                    from = to;
                    match self.line_end(from)? {
                        Some(end) if end - self.at <= MAX_ROW => to = end,
                        _ => break,
                    }
                }
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull | ReadRecordResult::End => {
                    self.pass(first);
                    return Ok(Step::TooLong);
                }
            }
        }
        self.count = 0;
        self.pass(first);
        Ok(Step::UnclosedQuote)
    }

    /// Goes to the next line, which begins at `end`.
    fn pass(&mut self, end: usize) {
        self.at = end;
        self.next_line += 1;
    }

    /// Goes behind a line of which only the part up to `end` is in memory.
    fn pass_long_line(&mut self, mut end: usize) -> io::Result<()> {
        self.count = 0;
        loop {
            let complete = matches!(self.buffer[end - 1], b'\n' | b'\r');
            self.at = end;
            if complete {
                break;
            }
            self.forget_read();
            match self.line_end(self.at)? {
                Some(next) => end = next,
                None => break,
            }
        }
        self.next_line += 1;
        Ok(())
    }

    /// Position behind the line break of the line that begins at `from`. A line longer than any row ends where
    /// it becomes so. `None` if the file ends before a line break.
    fn line_end(&mut self, from: usize) -> io::Result<Option<usize>> {
        let mut searched = from;
        loop {
            match memchr2(b'\n', b'\r', &self.buffer[searched..]) {
                Some(found) => {
                    let at = searched + found;
                    if self.buffer[at] == b'\n' {
                        return Ok(Some(at + 1));
                    }
                    match self.buffer.get(at + 1) {
                        Some(b'\n') => return Ok(Some(at + 2)),
                        Some(_) => return Ok(Some(at + 1)),
                        None if self.ended => return Ok(Some(at + 1)),
                        None => searched = at,
                    }
                }
                None => searched = self.buffer.len(),
            }
            if self.ended {
                return Ok(None);
            }
            if searched - from > MAX_ROW {
                return Ok(Some(searched));
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let old = self.buffer.len();
        self.buffer.resize(old + CHUNK, 0);
        let read = loop {
            match self.source.read(&mut self.buffer[old..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(old + *read.as_ref().unwrap_or(&0));
        if read? == 0 {
            self.ended = true;
            // so that the last line ends like all others
            if !matches!(self.buffer.last(), None | Some(b'\n' | b'\r')) {
                self.buffer.push(b'\n');
            }
        }
        Ok(())
    }

    /// Frees what was read, now and then.
    fn forget_read(&mut self) {
        if self.at >= CHUNK {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
    }
}

/// Whether every quote that closes is followed by the end of its field. One that is not is the beginning
/// of a field of a later row, which an open quote has swallowed.
fn is_strict(row: &[u8], delimiter: u8) -> bool {
    let mut quoted = false;
    let mut starts = true;
    let mut bytes = row.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if quoted => match bytes.peek() {
                Some(b'"') => {
                    bytes.next();
                }
                None | Some(b'\r' | b'\n') => quoted = false,
                Some(next) if *next == delimiter => quoted = false,
                Some(_) => return false,
            },
            b'"' if starts => quoted = true,
            _ => {}
        }
        starts = byte == delimiter;
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{MAX_ROW, Records, Step};

    /// Rows as `line: fields`, faults as `line! kind`.
    fn read(text: &[u8], columns: Option<usize>) -> Vec<String> {
        let mut records = Records::new(text, b',');
        if let Some(columns) = columns {
            records.expect_columns(columns);
        }
        let mut out = Vec::new();
        loop {
            let step = records.step().unwrap();
            let line = records.line();
            match step {
                Step::End => return out,
                Step::Row => {
                    let fields: Vec<&str> = (0..records.len()).map(|i| records.field(i).unwrap()).collect();
                    out.push(format!("{line}: {}", fields.join("|")));
                }
                fault => out.push(format!("{line}! {fault:?}")),
            }
        }
    }

    #[test]
    fn quotes_line_breaks_and_blank_lines() {
        let text = b"a,b\r\n\r\n\"x\ny\",\"say \"\"hi\"\"\"\n  \n5\" pipe,2\rlast,3";
        assert_eq!(
            read(text, None),
            ["1: a|b", "3: x\ny|say \"hi\"", "6: 5\" pipe|2", "7: last|3"]
        );
    }

    #[test]
    fn a_quote_left_open_costs_its_line_only() {
        let text = b"a,1\n\"b,2\nc,3\nd,4\n";
        assert_eq!(
            read(text, None),
            ["1: a|1", "2! UnclosedQuote", "3: c|3", "4: d|4"]
        );
        // closed by the quote that opens a field of the next row
        let text = b"a,1\n\"b,2\n\"c\",3\nd,4\n";
        assert_eq!(read(text, None)[1..], ["2! UnclosedQuote", "3: c|3", "4: d|4"]);
        // closed by the end of a field of the next row, so that columns are missing
        let text = b"a,1,x\n\"b,2,x\nc,y\",3\n";
        let rest = ["2! UnclosedQuote", "3: c|y\"|3"];
        assert_eq!(read(text, Some(3))[1..], rest);
    }

    #[test]
    fn a_line_too_long_costs_itself_only() {
        let mut text = b"a,1\n".to_vec();
        text.extend(vec![b'x'; 3 * MAX_ROW]);
        text.extend(b"\nb,2");
        assert_eq!(read(&text, None), ["1: a|1", "2! TooLong", "3: b|2"]);
    }

    /// A reader that returns three bytes at a time.
    struct Drip<'a>(&'a [u8]);

    impl std::io::Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let n = self.0.len().min(3);
            out[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    proptest! {
        #[test]
        fn the_size_of_chunks_does_not_matter(text in "[ab,\"\r\n]{0,80}") {
            let mut whole = Records::new(text.as_bytes(), b',');
            let mut drip = Records::new(Drip(text.as_bytes()), b',');
            loop {
                let (a, b) = (whole.step().unwrap(), drip.step().unwrap());
                prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
                prop_assert_eq!(whole.line(), drip.line());
                prop_assert_eq!(whole.bytes(), drip.bytes());
                if matches!(a, Step::End) {
                    break;
                }
            }
        }

        #[test]
        fn every_line_is_seen(text in "[ab,\"\n]{0,200}") {
            let mut records = Records::new(text.as_bytes(), b',');
            let mut last = 0;
            while !matches!(records.step().unwrap(), Step::End) {
                prop_assert!(records.line() > last);
                last = records.line();
            }
            prop_assert!(last as usize <= text.lines().count());
        }
    }
}

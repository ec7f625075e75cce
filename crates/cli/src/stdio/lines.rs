//! Lines of standard input and output, each on a thread of its own: neither a client that says nothing nor one that reads
//! nothing holds up the rest, or the end of the program.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};

use tokio::sync::mpsc;

/// Longest line in bytes; the server takes far less.
pub const MAX_BYTES: usize = 16 << 20;

/// A line of the client.
pub enum Line {
    /// Its text, without the line break.
    Text(Vec<u8>),
    /// A line that was too long, and was left out.
    TooLong,
}

/// Begins to read standard input.
pub fn read() -> mpsc::Receiver<Line> {
    let (lines, read) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = BufReader::new(io::stdin().lock());
        while let Ok(Some(line)) = next(&mut input) {
            if lines.blocking_send(line).is_err() {
                break;
            }
        }
    });
    read
}

/// Reads the next line that is not empty; `None` at the end.
fn next(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    loop {
        let mut text = Vec::new();
        let limit = MAX_BYTES as u64 + 1;
        if input.by_ref().take(limit).read_until(b'\n', &mut text)? == 0 {
            return Ok(None);
        }
        if text.len() > MAX_BYTES && text.last() != Some(&b'\n') {
            skip_line(input)?;
            return Ok(Some(Line::TooLong));
        }
        let text = text.trim_ascii();
        if !text.is_empty() {
            return Ok(Some(Line::Text(text.to_vec())));
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let piece = input.fill_buf()?;
        let (end, length) = (piece.iter().position(|b| *b == b'\n'), piece.len());
        input.consume(end.map_or(length, |end| end + 1));
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}

/// Writes lines to standard output until there will be no more.
pub fn write(mut lines: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    while let Some(mut line) = lines.blocking_recv() {
        line.push(b'\n');
        out.write_all(&line)?;
        out.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read as _};

    use super::{Line, MAX_BYTES, next};

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_is_read() {
        let long = std::io::repeat(b'a').take(3 * MAX_BYTES as u64);
        let input = b"\n  {} \r\n".chain(long).chain(&b"\n\n[]"[..]);
        let mut input = BufReader::new(input);
        let mut read = || match next(&mut input).unwrap() {
            Some(Line::Text(text)) => String::from_utf8(text).unwrap(),
            Some(Line::TooLong) => "too long".to_owned(),
            None => "end".to_owned(),
        };
        assert_eq!([read(), read(), read(), read()], ["{}", "too long", "[]", "end"]);
    }
}

//! A file of keywords gives the same rows whether it comes at once or byte by byte.

use std::io::{self, Read};

use searchwright_keywords::import::{Import, MAX_KEYWORD};

struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(3);
        self.0.read(&mut buffer[..most])
    }
}

fn rows(source: impl Read) -> Result<Vec<String>, String> {
    let import = Import::open(source).map_err(|e| e.to_string())?;
    let rows = import.map(|row| {
        if let Ok(row) = &row {
            assert!(!row.keyword.trim().is_empty() && row.keyword.chars().count() <= MAX_KEYWORD);
        }
        format!("{row:?}")
    });
    Ok(rows.collect())
}

/// Reads one input.
pub fn run(data: &[u8]) {
    assert_eq!(rows(data), rows(Trickle(data)));
}

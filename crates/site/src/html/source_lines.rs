//! Line numbers of a source.

use searchwright_text as text;

/// Computes line numbers by counting forward.
pub(crate) struct LineCounter<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> LineCounter<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Self {
            bytes: source.as_bytes(),
            at: 0,
            line: 1,
        }
    }

    /// Returns the 1-based line of a byte; positions must not decrease between calls.
    pub(crate) fn line_at(&mut self, at: usize) -> u32 {
        let passed = self.bytes.get(self.at..at).unwrap_or_default();
        self.line += text::simd::count(passed, |b| b == b'\n') as u32;
        self.at = self.at.max(at);
        self.line
    }
}

//! Lines of a source.

/// Line numbers by counting forward.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            bytes: source.as_bytes(),
            at: 0,
            line: 1,
        }
    }

    /// 1-based line of a byte that lies no further back than the last one asked for.
    pub(super) fn of(&mut self, at: usize) -> u32 {
        let passed = self.bytes.get(self.at..at).unwrap_or_default();
        // in portions whose count fits a byte, of which the compiler makes vector instructions
        let portions = passed.chunks(255).map(|portion| {
            let ends: u8 = portion.iter().map(|b| u8::from(*b == b'\n')).sum();
            u32::from(ends)
        });
        self.line += portions.sum::<u32>();
        self.at = self.at.max(at);
        self.line
    }
}

//! Lines of a stream of bytes, of bounded length.

/// Maximum length of a line in bytes; a longer one is only counted.
pub const MAX_LINE_BYTES: usize = 32 << 10;

/// Part of a line that is not complete yet.
#[derive(Clone, Debug, Default)]
pub struct LineBuffer {
    part: Vec<u8>,
    is_too_long: bool,
}

impl LineBuffer {
    /// Adds bytes and calls `found` with every complete line, without its end; with `None` if it is too long.
    pub fn add(&mut self, bytes: &[u8], mut found: impl FnMut(Option<&[u8]>)) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let line = &bytes[start..end];
            start = end + 1;
            if self.part.is_empty() && !self.is_too_long {
                emit(line, &mut found);
            } else {
                self.keep(line);
                self.finish(&mut found);
            }
        }
        self.keep(&bytes[start..]);
    }

    /// Calls `found` with the last line, if it has no end.
    pub fn finish(&mut self, mut found: impl FnMut(Option<&[u8]>)) {
        if self.is_too_long {
            found(None);
        } else {
            emit(&self.part, &mut found);
        }
        self.part.clear();
        self.is_too_long = false;
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.is_too_long || self.part.len() + bytes.len() > MAX_LINE_BYTES {
            self.is_too_long = true;
            self.part.clear();
        } else {
            self.part.extend_from_slice(bytes);
        }
    }
}

fn emit(line: &[u8], found: &mut impl FnMut(Option<&[u8]>)) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > MAX_LINE_BYTES {
        found(None);
    } else if !line.is_empty() {
        found(Some(line));
    }
}

//! Sitemaps in an encoding other than UTF-8. The protocol forbids it, but their URLs are worth knowing.

use std::io::{self, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::page::xml_encoding;

/// Number of bytes decoded at a time.
const CHUNK: usize = 32 * 1024;

/// Detects the encoding from the beginning of a file; `None` for UTF-8, or if nothing indicates another one.
pub(super) fn detect(start: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(start) {
        return (encoding != UTF_8).then_some(encoding);
    }
    match start {
        [b'<', 0, ..] => return Some(UTF_16LE),
        [0, b'<', ..] => return Some(UTF_16BE),
        _ => {}
    }
    let declared = Encoding::for_label(xml_encoding(start)?.as_bytes())?;
    // a declaration that is readable as ASCII is not in UTF-16
    (![UTF_8, UTF_16LE, UTF_16BE].contains(&declared)).then_some(declared)
}

/// Reader that converts its input to UTF-8.
pub(super) struct Decoded<R> {
    pub inner: R,
    decoder: Decoder,
    raw: Box<[u8]>,
    waiting: std::ops::Range<usize>,
    ended: bool,
    /// Whether there were characters outside ASCII, which nearly all encodings share.
    pub matters: bool,
}

impl<R: Read> Decoded<R> {
    pub fn new(inner: R, encoding: &'static Encoding) -> Self {
        Self {
            inner,
            decoder: encoding.new_decoder_with_bom_removal(),
            raw: vec![0; CHUNK].into(),
            waiting: 0..0,
            ended: false,
            matters: !encoding.is_ascii_compatible(),
        }
    }
}

impl<R: Read> Read for Decoded<R> {
    /// Reads into `buffer`, which must have room for a character, like that of a buffered reader.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.waiting.is_empty() && !self.ended {
                let read = self.inner.read(&mut self.raw)?;
                self.waiting = 0..read;
                self.ended = read == 0;
                self.matters |= !self.raw[..read].is_ascii();
            }
            let waiting = &self.raw[self.waiting.clone()];
            let (result, read, written, _) = self.decoder.decode_to_utf8(waiting, buffer, self.ended);
            self.waiting.start += read;
            let done = self.ended && result == CoderResult::InputEmpty;
            if written > 0 || done {
                if done {
                    // a decoder must not be used again after its end
                    self.decoder = UTF_8.new_decoder_without_bom_handling();
                }
                return Ok(written);
            }
            if result == CoderResult::OutputFull {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
    }
}

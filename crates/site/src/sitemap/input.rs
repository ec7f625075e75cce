//! Input of a sitemap, gzipped or not, up to a limit.

use std::io::{self, Read};

use flate2::bufread::GzDecoder;

/// Decoded bytes per byte of gzip above which a file longer than 1 MiB counts as a decompression bomb.
const RATIO: u64 = 100;

fn plain<'a>(body: &'a [u8], zipped: bool) -> Box<dyn Read + 'a> {
    if zipped {
        Box::new(Members(Some(GzDecoder::new(body))))
    } else {
        Box::new(body)
    }
}

fn cap(body: &[u8], zipped: bool, limit: u64) -> u64 {
    if zipped {
        (body.len() as u64)
            .saturating_mul(RATIO)
            .clamp(1024 * 1024, limit + 1)
    } else {
        limit + 1
    }
}

/// Members of a gzip file, one after the other. Trailing data that is no member, such as padding, is ignored.
struct Members<'a>(Option<GzDecoder<&'a [u8]>>);

impl Read for Members<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let rest = self.0.take().map(GzDecoder::into_inner).unwrap_or_default();
            self.0 = rest.starts_with(&[0x1f]).then(|| GzDecoder::new(rest));
        }
        Ok(0)
    }
}

/// Counts the bytes read, and ends the stream at the cap.
pub(super) struct Counted<'a> {
    pub(super) read: u64,
    pub(super) cap: u64,
    inner: Box<dyn Read + 'a>,
}

impl<'a> Counted<'a> {
    pub(super) fn new(body: &'a [u8], limit: u64) -> Self {
        let zipped = body.starts_with(&[0x1f, 0x8b]);
        Self {
            read: 0,
            cap: cap(body, zipped, limit),
            inner: plain(body, zipped),
        }
    }
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = usize::try_from(self.cap - self.read)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let read = self.inner.read(&mut buffer[..room])?;
        self.read += read as u64;
        Ok(read)
    }
}

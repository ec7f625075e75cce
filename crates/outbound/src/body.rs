//! Reads the body of an answer under limits: undoes one layer of gzip or br while counting on the
//! decoded side, so that a small answer cannot become a large one in memory.

mod gunzip;

use std::io::{self, Write};

use bytes::Bytes;
use searchwright_site::fetch::Cut;

use self::gunzip::Gunzip;

/// Decoded bytes before the ratio is looked at; small bodies may compress well.
const RATIO_FROM: usize = 1024 * 1024;
/// Decoded bytes per byte on the wire beyond which a body is a bomb.
const RATIO: u64 = 100;

/// Bytes that room is made for because a server announced as many.
const MAX_RESERVED: u64 = 64 * 1024;

/// Bytes of a body from which on it stays where it was read into.
const MIN_KEPT: u64 = 4 * 1024;

/// Content codings this client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// No coding.
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 7932.
    Brotli,
}

/// Codings that IANA registers besides `identity`: only the first three were asked for.
const CODINGS: [&[u8]; 12] = [
    b"gzip",
    b"x-gzip",
    b"br",
    b"deflate",
    b"compress",
    b"x-compress",
    b"zstd",
    b"dcb",
    b"dcz",
    b"aes128gcm",
    b"exi",
    b"pack200-gzip",
];

impl Coding {
    /// The coding of `Content-Encoding` values; `None` for one that was not asked for or for layers.
    pub(super) fn from_headers(values: &http::HeaderMap) -> Option<Self> {
        let mut codings = values
            .get_all(http::header::CONTENT_ENCODING)
            .iter()
            .flat_map(|v| v.as_bytes().split(|b| *b == b','))
            .map(<[u8]>::trim_ascii)
            // what is no coding, such as a charset, says nothing of how the bytes are to be read
            .filter(|c| CODINGS.iter().any(|coding| c.eq_ignore_ascii_case(coding)));
        let coding = match codings.next() {
            None => Self::Identity,
            Some(c) if c.eq_ignore_ascii_case(b"gzip") || c.eq_ignore_ascii_case(b"x-gzip") => Self::Gzip,
            Some(c) if c.eq_ignore_ascii_case(b"br") => Self::Brotli,
            Some(_) => return None,
        };
        codings.next().is_none().then_some(coding)
    }
}

/// The coded bytes are not what their coding says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Undecodable;

/// Collects a body piece by piece.
pub(super) struct Body {
    decoder: Decoder,
    wire: u64,
    /// Bytes announced.
    expected: Option<u64>,
    /// All of it, which came at once and needed no decoding, as most pages do.
    whole: Option<Bytes>,
}

enum Decoder {
    Identity(Kept),
    Gzip(Box<Gunzip>),
    Brotli(Box<brotli::DecompressorWriter<Kept>>),
}

/// Buffer for decoded bytes.
struct Kept {
    bytes: Vec<u8>,
    /// Bytes that were handed out before those.
    gone: usize,
    limit: usize,
    /// Bytes on the wire so far, the piece being decoded included.
    wire: u64,
    cut: Option<Cut>,
}

impl Kept {
    fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            gone: 0,
            limit,
            wire: 0,
            cut: None,
        }
    }
}

impl Write for Kept {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let room = self.limit - self.gone - self.bytes.len();
        let fits = piece.len().min(room);
        self.bytes.extend_from_slice(&piece[..fits]);
        let decoded = self.gone + self.bytes.len();
        if decoded > RATIO_FROM && decoded as u64 > self.wire.saturating_mul(RATIO) {
            self.cut = Some(Cut::Ratio);
        } else if fits < piece.len() {
            self.cut = Some(Cut::Size);
        }
        match self.cut {
            // Ends the decoder's loop; the reason is kept beside the bytes.
            Some(_) => Err(io::Error::other("cut")),
            None => Ok(fits),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Body {
    /// `expected` is the announced length, a hint that is not trusted beyond [`MAX_RESERVED`].
    pub(super) fn new(coding: Coding, limit: usize, expected: Option<u64>) -> Self {
        let kept = Kept::new(limit);
        let decoder = match coding {
            Coding::Identity => Decoder::Identity(kept),
            Coding::Gzip => Decoder::Gzip(Box::new(Gunzip::new(kept))),
            Coding::Brotli => Decoder::Brotli(Box::new(brotli::DecompressorWriter::new(kept, 16 * 1024))),
        };
        Self {
            decoder,
            wire: 0,
            expected,
            whole: None,
        }
    }

    /// Takes a piece from the wire. `Ok(false)` when the body was cut and no more is wanted.
    pub(super) fn take(&mut self, piece: Bytes) -> Result<bool, Undecodable> {
        // a client hands out no more than was announced
        debug_assert!(self.whole.is_none());
        let is_first = self.wire == 0;
        self.wire += piece.len() as u64;
        let (wire, expected) = (self.wire, self.expected);
        let is_plain = matches!(self.decoder, Decoder::Identity(_));
        let kept = self.kept();
        let limit = kept.limit as u64;
        kept.wire = wire;
        if is_first {
            // what is small is copied, so that it does not hold on to all that the connection reads into
            if is_plain && (MIN_KEPT..=limit).contains(&wire) && expected == Some(wire) {
                self.whole = Some(piece);
                return Ok(true);
            }
            let hint = expected.unwrap_or(0).min(MAX_RESERVED).min(limit);
            kept.bytes.reserve(usize::try_from(hint).unwrap_or(0));
        }
        let taken = match &mut self.decoder {
            Decoder::Identity(kept) => kept.write_all(&piece),
            Decoder::Gzip(decoder) => decoder.take(&piece),
            Decoder::Brotli(decoder) => decoder.write_all(&piece),
        };
        let kept = self.kept();
        match (taken, kept.cut) {
            (_, Some(_)) => Ok(false),
            (Ok(()), None) if wire > limit => {
                // Coded bytes that decode to less than themselves still cost what they cost.
                kept.cut = Some(Cut::Size);
                Ok(false)
            }
            (Ok(()), None) => Ok(true),
            (Err(_), None) => Err(Undecodable),
        }
    }

    /// Hands out what has been decoded so far.
    pub(super) fn drain(&mut self) -> Bytes {
        let whole = self.whole.take();
        let kept = self.kept();
        let bytes = whole.unwrap_or_else(|| Bytes::from(std::mem::take(&mut kept.bytes)));
        kept.gone += bytes.len();
        bytes
    }

    /// The end of the body was reached: the coded stream has to be whole too.
    pub(super) fn finish(mut self) -> Result<(Bytes, u64, Option<Cut>), Undecodable> {
        let empty = self.wire == 0;
        let ended = match &mut self.decoder {
            Decoder::Identity(_) => Ok(()),
            _ if empty => Ok(()),
            Decoder::Gzip(decoder) => decoder.finish(),
            Decoder::Brotli(decoder) => decoder.close(),
        };
        if ended.is_err() && self.kept().cut.is_none() {
            return Err(Undecodable);
        }
        Ok(self.cut_short(None))
    }

    /// Returns the bytes that came so far, when the rest will not.
    pub(super) fn cut_short(mut self, cut: Option<Cut>) -> (Bytes, u64, Option<Cut>) {
        if cut.is_some() {
            // What the decoder holds back still counts as having come.
            let _ = match &mut self.decoder {
                Decoder::Identity(kept) => kept.flush(),
                Decoder::Gzip(decoder) => decoder.flush(),
                Decoder::Brotli(decoder) => decoder.flush(),
            };
        }
        let wire = self.wire;
        let cut = self.kept().cut.or(cut);
        (self.drain(), wire, cut)
    }

    fn kept(&mut self) -> &mut Kept {
        match &mut self.decoder {
            Decoder::Identity(kept) => kept,
            Decoder::Gzip(decoder) => decoder.kept(),
            Decoder::Brotli(decoder) => decoder.get_mut(),
        }
    }
}

/// Reads a recorded body as a live one is read that comes in these pieces: what it is decoded, up to `limit` bytes, and whether
/// that is all of it. `None` for one that is not what its headers say.
pub fn replay<'p>(
    headers: &http::HeaderMap,
    pieces: impl IntoIterator<Item = &'p [u8]>,
    limit: usize,
) -> Option<(Bytes, Option<Cut>)> {
    let mut body = Body::new(Coding::from_headers(headers)?, limit, None);
    for piece in pieces {
        if !body.take(Bytes::copy_from_slice(piece)).ok()? {
            let (bytes, _, cut) = body.cut_short(None);
            return Some((bytes, cut));
        }
    }
    let (bytes, _, cut) = body.finish().ok()?;
    Some((bytes, cut))
}

#[cfg(test)]
mod pieces;
#[cfg(test)]
mod tests;

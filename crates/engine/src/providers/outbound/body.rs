//! Reads the body of an answer under limits: undoes one layer of gzip or br while counting on the
//! decoded side, so that a small answer cannot become a large one in memory.

use std::io::{self, Write};

use bytes::Bytes;
use searchwright_site::fetch::Cut;

/// Decoded bytes before the ratio is looked at; small bodies may compress well.
const RATIO_FROM: usize = 1024 * 1024;
/// Decoded bytes per byte on the wire beyond which a body is a bomb.
const RATIO: u64 = 100;

/// With which a member of gzip begins (RFC 1952).
const MEMBER: u8 = 0x1f;

/// Bytes that room is made for because a server announced as many.
const MOST_RESERVED: u64 = 64 * 1024;

/// Bytes of a body from which on it stays where it was read into.
const LEAST_KEPT: u64 = 4 * 1024;

/// Content codings this client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// As is.
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 7932.
    Brotli,
}

/// What IANA registers beside `identity`: none but the first three was asked for.
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
    pub(super) fn of(values: &http::HeaderMap) -> Option<Self> {
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

/// Where decoded bytes end up.
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

/// Members of gzip, one behind the other.
struct Gunzip {
    member: flate2::write::GzDecoder<Kept>,
    /// The last of them has ended.
    ended: bool,
}

impl Gunzip {
    fn new(kept: Kept) -> Self {
        Self {
            member: flate2::write::GzDecoder::new(kept),
            ended: false,
        }
    }

    fn take(&mut self, mut piece: &[u8]) -> io::Result<()> {
        while !self.ended && !piece.is_empty() {
            let taken = self.member.write(piece)?;
            piece = &piece[taken..];
            if taken > 0 {
                continue;
            }
            self.member.try_finish()?;
            // what follows and is no member, such as padding, is left alone, as browsers do
            if piece[0] == MEMBER {
                let kept = std::mem::replace(self.member.get_mut(), Kept::new(0));
                self.member = flate2::write::GzDecoder::new(kept);
            } else {
                self.ended = true;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.ended {
            Ok(())
        } else {
            self.member.try_finish()
        }
    }
}

impl Body {
    /// `expected` is the announced length, a hint that is not trusted beyond [`MOST_RESERVED`].
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
            if is_plain && (LEAST_KEPT..=limit).contains(&wire) && expected == Some(wire) {
                self.whole = Some(piece);
                return Ok(true);
            }
            let hint = expected.unwrap_or(0).min(MOST_RESERVED).min(limit);
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

    /// What came so far, when the rest will not.
    pub(super) fn cut_short(mut self, cut: Option<Cut>) -> (Bytes, u64, Option<Cut>) {
        if cut.is_some() {
            // What the decoder holds back still counts as having come.
            let _ = match &mut self.decoder {
                Decoder::Identity(kept) => kept.flush(),
                Decoder::Gzip(decoder) => decoder.member.flush(),
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
            Decoder::Gzip(decoder) => decoder.member.get_mut(),
            Decoder::Brotli(decoder) => decoder.get_mut(),
        }
    }
}

#[cfg(test)]
mod pieces;

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    pub(super) fn br(bytes: &[u8]) -> Vec<u8> {
        let mut coded = Vec::new();
        let mut encoder = brotli::CompressorWriter::new(&mut coded, 4096, 5, 22);
        encoder.write_all(bytes).unwrap();
        drop(encoder);
        coded
    }

    fn read(coding: Coding, wire: &[u8], limit: usize) -> Result<(Bytes, u64, Option<Cut>), Undecodable> {
        let mut body = Body::new(coding, limit, None);
        for piece in wire.chunks(1000) {
            if !body.take(Bytes::copy_from_slice(piece))? {
                return Ok(body.cut_short(None));
            }
        }
        body.finish()
    }

    fn text(length: usize) -> Vec<u8> {
        let mut state = 1_u32;
        (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                b'a' + (state >> 28) as u8
            })
            .collect()
    }

    #[test]
    fn each_coding_is_undone() {
        let text = text(100_000);
        for (coding, wire) in [
            (Coding::Identity, text.clone()),
            (Coding::Gzip, gzip(&text)),
            (Coding::Brotli, br(&text)),
        ] {
            let (body, wire_bytes, cut) = read(coding, &wire, MIB).unwrap();
            assert_eq!(
                (&body[..], wire_bytes, cut),
                (&text[..], wire.len() as u64, None),
                "{coding:?}"
            );
        }
        assert_eq!(read(Coding::Gzip, &[], MIB).unwrap(), (Bytes::new(), 0, None));
    }

    #[test]
    fn what_comes_at_once_is_not_copied() {
        for (length, expected, limit, kept) in [
            (5_000, Some(5_000), 5_000, true),
            (4_000, Some(4_000), MIB, false),
            (5_000, Some(5_001), MIB, false),
            (5_000, None, MIB, false),
            (5_000, Some(5_000), 4_999, false),
        ] {
            let piece = Bytes::from(text(length));
            let mut body = Body::new(Coding::Identity, limit, expected);
            assert_eq!(body.take(piece.clone()), Ok(limit >= length));
            let (bytes, wire, cut) = body.finish().unwrap();
            assert_eq!(&bytes[..], &piece[..limit.min(length)]);
            assert_eq!(wire, length as u64);
            assert_eq!(cut, (limit < length).then_some(Cut::Size));
            assert_eq!(
                bytes.as_ptr() == piece.as_ptr(),
                kept,
                "{length} {expected:?} {limit}"
            );
        }
    }

    #[test]
    fn a_long_body_is_cut_at_the_limit() {
        let text = text(100_000);
        for (coding, wire) in [
            (Coding::Identity, text.clone()),
            (Coding::Gzip, gzip(&text)),
            (Coding::Brotli, br(&text)),
        ] {
            let (body, _, cut) = read(coding, &wire, 5_000).unwrap();
            assert_eq!((&body[..], cut), (&text[..5_000], Some(Cut::Size)), "{coding:?}");
            let (body, _, cut) = read(coding, &wire, 100_000).unwrap();
            assert_eq!((body.len(), cut), (100_000, None), "{coding:?}");
        }
    }

    #[test]
    fn a_bomb_is_cut_after_its_first_mib() {
        let zeros = vec![0; 64 * MIB];
        for (coding, wire) in [(Coding::Gzip, gzip(&zeros)), (Coding::Brotli, br(&zeros))] {
            let (body, _, cut) = read(coding, &wire, 256 * MIB).unwrap();
            assert_eq!(cut, Some(Cut::Ratio), "{coding:?}");
            assert!(body.len() < 2 * MIB, "{coding:?}: {}", body.len());
        }
        let small = vec![0; MIB];
        assert_eq!(read(Coding::Gzip, &gzip(&small), 2 * MIB).unwrap().2, None);
    }

    #[test]
    fn a_broken_stream_is_not_a_body() {
        let text = text(10_000);
        let half = |wire: Vec<u8>| wire[..wire.len() / 2].to_vec();
        assert_eq!(read(Coding::Gzip, &half(gzip(&text)), MIB), Err(Undecodable));
        assert_eq!(read(Coding::Brotli, &half(br(&text)), MIB), Err(Undecodable));
        assert_eq!(
            read(Coding::Gzip, b"<html>not gzip at all, said to be", MIB),
            Err(Undecodable)
        );
    }

    #[test]
    fn gzip_has_members_and_what_follows_them_is_left_alone() {
        let (first, second) = (text(3_000), text(2_000));
        let members = [gzip(&first), gzip(&second)].concat();
        let both = [first.clone(), second].concat();
        for rest in [&b""[..], b"\0\0\0\0", b"<!-- cached -->", &[b'x'; 3_000]] {
            for (wire, expected) in [(&gzip(&first), &first), (&members, &both)] {
                let wire = [&wire[..], rest].concat();
                let (body, length, cut) = read(Coding::Gzip, &wire, MIB).unwrap();
                assert!(body == *expected && cut.is_none(), "{rest:?}");
                assert_eq!(length, wire.len() as u64);
            }
        }
        // one byte at a time, as a slow server sends it
        let mut body = Body::new(Coding::Gzip, MIB, None);
        for byte in [&members[..], b"\0\0"].concat() {
            assert_eq!(body.take(Bytes::copy_from_slice(&[byte])), Ok(true));
        }
        assert_eq!(&body.finish().unwrap().0[..], &both);
        let mut broken = gzip(&first);
        let at = broken.len() - 6;
        broken[at] ^= 1;
        for rest in [&b""[..], b"\0"] {
            assert_eq!(
                read(Coding::Gzip, &[&broken[..], rest].concat(), MIB),
                Err(Undecodable)
            );
        }
        let half = &members[..members.len() - 700];
        assert_eq!(read(Coding::Gzip, half, MIB), Err(Undecodable));
    }

    #[test]
    fn what_came_before_the_time_ran_out_is_kept() {
        let text = text(200_000);
        for (coding, wire) in [
            (Coding::Identity, text.clone()),
            (Coding::Gzip, gzip(&text)),
            (Coding::Brotli, br(&text)),
        ] {
            let mut body = Body::new(coding, MIB, None);
            let half = Bytes::copy_from_slice(&wire[..wire.len() / 2]);
            assert_eq!(body.take(half), Ok(true));
            let (kept, _, cut) = body.cut_short(Some(Cut::Time));
            assert_eq!(cut, Some(Cut::Time));
            assert!(
                kept.len() > 10_000 && text.starts_with(&kept),
                "{coding:?}: {}",
                kept.len()
            );
        }
    }

    #[test]
    fn only_one_layer_of_what_was_asked_for() {
        let coding = |values: &[&'static str]| {
            let mut headers = http::HeaderMap::new();
            for value in values {
                headers.append("content-encoding", http::HeaderValue::from_static(value));
            }
            Coding::of(&headers)
        };
        for (values, expected) in [
            (&[][..], Some(Coding::Identity)),
            (&["identity"], Some(Coding::Identity)),
            (&["GZip"], Some(Coding::Gzip)),
            (&["x-gzip"], Some(Coding::Gzip)),
            (&["br"], Some(Coding::Brotli)),
            (&["gzip, gzip"], None),
            (&["gzip", "br"], None),
            (&["zstd"], None),
            // no coding at all
            (&["utf-8"], Some(Coding::Identity)),
            (&["none, gzip"], Some(Coding::Gzip)),
        ] {
            assert_eq!(coding(values), expected, "{values:?}");
        }
    }
}

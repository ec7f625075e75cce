//! Width and height of an image from its first bytes.

/// Reads the dimensions of a PNG, GIF, JPEG or WebP; `None` for other formats, or if the first bytes do not contain
/// them.
pub fn read(body: &[u8]) -> Option<(u32, u32)> {
    match body {
        [0x89, b'P', b'N', b'G', ..] => Some((big(body, 16, 4)?, big(body, 20, 4)?)),
        [b'G', b'I', b'F', b'8', ..] => Some((little(body, 6, 2)?, little(body, 8, 2)?)),
        [0xff, 0xd8, rest @ ..] => jpeg(rest),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            rest @ ..,
        ] => webp(rest),
        _ => None,
    }
}

fn big(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + count)?;
    Some(bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + count)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u32::from(*byte)),
    )
}

/// Scans JPEG segments up to the start of frame.
fn jpeg(mut rest: &[u8]) -> Option<(u32, u32)> {
    loop {
        let marker = match rest {
            [0xff, 0xff, ..] => {
                rest = &rest[1..];
                continue;
            }
            [0xff, marker, ..] => *marker,
            _ => return None,
        };
        match marker {
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((big(rest, 7, 2)?, big(rest, 5, 2)?));
            }
            0x01 | 0xd0..=0xd7 => rest = &rest[2..],
            _ => rest = rest.get(2 + big(rest, 2, 2)?.max(2) as usize..)?,
        }
    }
}

/// Reads the first chunk, which has the dimensions in each of the three WebP formats.
fn webp(chunk: &[u8]) -> Option<(u32, u32)> {
    let data = chunk.get(8..)?;
    match chunk.get(..4)? {
        b"VP8 " => Some((little(data, 6, 2)? & 0x3fff, little(data, 8, 2)? & 0x3fff)),
        b"VP8L" => {
            let bits = little(data, 1, 4)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(data, 4, 3)? + 1, little(data, 7, 3)? + 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::read;

    #[test]
    fn every_format_tells_its_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\xb0\0\0\x02\x76\x08\x02\0\0\0";
        let gif = b"GIF89a\xb0\x04\x76\x02\xf0\0\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xdb\0\x03x\xff\xc2\0\x11\x08\x02\x76\x04\xb0\x03";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\x30\x01\0\x9d\x01\x2a\xb0\x04\x76\x02";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\xaf\x44\x9d\0";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\xaf\x04\0\x75\x02\0";
        for image in [&png[..], gif, jpeg, lossy, lossless, extended] {
            assert_eq!(read(image), Some((1200, 630)), "{}", image.escape_ascii());
        }
        assert_eq!((read(b"<svg"), read(b""), read(&jpeg[..12])), (None, None, None));
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(kind in 0_usize..6, bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let starts: [&[u8]; 6] = [b"\x89PNG", b"GIF8", b"\xff\xd8", b"RIFF\0\0\0\0WEBPVP8 ", b"RIFF\0\0\0\0WEBPVP8L", b"RIFF\0\0\0\0WEBPVP8X"];
            read(&[starts[kind], &bytes].concat());
        }
    }
}

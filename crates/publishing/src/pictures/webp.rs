//! WebP as it is, less what its pixels do not need: where and with what it was taken, what programs noted in it, and chunks that
//! nobody knows. Writing it anew would lose quality or movement.

use bytes::Bytes;
use image::metadata::Orientation;
use img_parts::{
    ImageEXIF as _,
    riff::RiffContent,
    webp::{CHUNK_ALPH, CHUNK_ANIM, CHUNK_ANMF, CHUNK_ICCP, CHUNK_VP8, CHUNK_VP8L, CHUNK_VP8X, WebP},
};

use super::reencode::Unfit;

/// Chunks that hold pixels.
const PIXELS: [[u8; 4]; 3] = [CHUNK_VP8, CHUNK_VP8L, CHUNK_ANMF];
/// Chunks that say how the pixels are to be shown.
const LOOKS: [[u8; 4]; 4] = [CHUNK_VP8X, CHUNK_ICCP, CHUNK_ALPH, CHUNK_ANIM];
/// The bit in the first byte of `VP8X` that announces XMP.
const XMP: u8 = 4;

/// Returns the picture with only the chunks that are shown, and its orientation.
pub(super) fn bare(bytes: &[u8]) -> Result<Vec<u8>, Unfit> {
    let mut picture = WebP::from_bytes(Bytes::copy_from_slice(bytes)).map_err(|_| Unfit::Broken)?;
    let turned = picture
        .exif()
        .and_then(|exif| Orientation::from_exif_chunk(&exif))
        .filter(|turned| *turned != Orientation::NoTransforms);
    let chunks = picture.chunks_mut();
    chunks.retain(|chunk| PIXELS.contains(&chunk.id()) || LOOKS.contains(&chunk.id()));
    if !chunks.iter().any(|chunk| PIXELS.contains(&chunk.id())) {
        return Err(Unfit::Broken);
    }
    for chunk in chunks.iter_mut().filter(|chunk| chunk.id() == CHUNK_VP8X) {
        if let RiffContent::Data(data) = chunk.content_mut() {
            let mut flags = data.to_vec();
            if let Some(first) = flags.first_mut() {
                *first &= !XMP;
            }
            *data = flags.into();
        }
    }
    picture.set_exif(turned.map(|turned| exif_of(turned).into()));
    Ok(picture.encoder().bytes().to_vec())
}

/// Exif 2.32 with one entry: the orientation, tag 0x0112, one SHORT.
fn exif_of(turned: Orientation) -> Vec<u8> {
    let mut exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    exif.extend([turned.to_exif(), 0, 0, 0]);
    exif.extend([0; 4]);
    exif
}

#[cfg(test)]
mod tests {
    use super::{Orientation, Unfit, bare, exif_of};

    fn chunk(id: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let mut chunk = id.to_vec();
        chunk.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
        chunk.extend(data);
        chunk.extend(vec![0; data.len() % 2]);
        chunk
    }

    fn webp(chunks: &[Vec<u8>]) -> Vec<u8> {
        chunk(b"RIFF", &[b"WEBP".to_vec(), chunks.concat()].concat())
    }

    /// One black pixel without loss.
    fn pixel() -> Vec<u8> {
        chunk(b"VP8L", b"\x2f\0\0\0\0\x07\x10\x11\x11\x88\x88\xfe\x07\0")
    }

    /// A `VP8X` chunk with these flags and a canvas of one by one pixel.
    fn extended(flags: u8) -> Vec<u8> {
        chunk(b"VP8X", &[flags, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    fn exif(turned: Orientation) -> Vec<u8> {
        let mut exif = exif_of(turned);
        exif.extend(b"canary");
        chunk(b"EXIF", &exif)
    }

    #[test]
    fn what_is_not_seen_is_left_out() {
        let given = webp(&[
            extended(0x08 | 0x04 | 0x20),
            chunk(b"ICCP", b"profile"),
            pixel(),
            exif(Orientation::NoTransforms),
            chunk(b"XMP ", b"canary"),
            chunk(b"????", b"canary"),
        ]);
        let expected = webp(&[extended(0x20), chunk(b"ICCP", b"profile"), pixel()]);
        assert_eq!(bare(&given).unwrap(), expected);
        assert_eq!(bare(&expected).unwrap(), expected);
        assert_eq!(
            bare(&[given, b"<?php canary ?>".to_vec()].concat()).unwrap(),
            expected
        );
    }

    #[test]
    fn one_that_lies_on_its_side_stays_turned() {
        let given = webp(&[extended(0x08), pixel(), exif(Orientation::Rotate90)]);
        let only = chunk(b"EXIF", &exif_of(Orientation::Rotate90));
        assert_eq!(bare(&given).unwrap(), webp(&[extended(0x08), pixel(), only]));
    }

    #[test]
    fn a_simple_one_stays_as_it_is() {
        assert_eq!(bare(&webp(&[pixel()])).unwrap(), webp(&[pixel()]));
    }

    #[test]
    fn what_is_broken_is_said() {
        let given = webp(&[pixel()]);
        assert_eq!(bare(&given[..given.len() - 4]), Err(Unfit::Broken));
        assert_eq!(bare(&webp(&[extended(0)])), Err(Unfit::Broken));
        assert_eq!(bare(b"RIFF....WEBP"), Err(Unfit::Broken));
    }
}

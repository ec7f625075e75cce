//! JPEG and PNG encoded again from what is to be seen: without where and with what a photograph was taken, without what is hidden behind
//! the picture, turned as its camera noted, and with its colour profile. WebP keeps its pixels as they are and loses the rest; GIF, AVIF
//! and PNG that moves are left as they are.

use std::{
    io::Cursor,
    sync::{Mutex, PoisonError},
};

use image::{
    DynamicImage, ImageDecoder, ImageEncoder, ImageError, ImageResult, Limits,
    codecs::{
        jpeg::{JpegDecoder, JpegEncoder},
        png::{CompressionType, FilterType, PngDecoder, PngEncoder},
    },
};

use super::webp::bare;

/// Longest side, in pixels.
const MAX_SIDE: u32 = 16_000;
/// Bytes that a picture may take while it is worked on.
const MAX_BYTES: u64 = 256 << 20;
/// Quality of JPEG, of 100: what is lost by writing it once more is not seen.
const QUALITY: u8 = 90;

/// Reason why a picture cannot be encoded again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// The data ends too early, or is no picture.
    Broken,
    /// The picture has too many pixels.
    TooManyPixels,
}

impl From<ImageError> for Unfit {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Limits(_) => Self::TooManyPixels,
            _ => Self::Broken,
        }
    }
}

/// The picture encoded again; `None` for one that is left as it is. Takes memory and time: one at a time, on a thread that may block.
pub(super) fn reencode(bytes: &[u8], media_type: &str) -> Result<Option<Vec<u8>>, Unfit> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(match media_type {
        "image/jpeg" => Some(jpeg(bytes)?),
        "image/png" => png(bytes)?,
        "image/webp" => Some(bare(bytes)?),
        _ => None,
    })
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_BYTES);
    limits
}

/// The pixels, turned as they are to be seen, and the profile of their colours.
fn seen(mut decoder: impl ImageDecoder) -> ImageResult<(DynamicImage, Option<Vec<u8>>)> {
    let mut limits = limits();
    limits.check_dimensions(decoder.dimensions().0, decoder.dimensions().1)?;
    limits.reserve(decoder.total_bytes())?;
    let orientation = decoder.orientation()?;
    let profile = decoder.icc_profile()?;
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(orientation);
    // A profile of inks says nothing of the red, green and blue that were read.
    let space: &[u8] = if picture.color().has_color() {
        b"RGB "
    } else {
        b"GRAY"
    };
    let fits = |profile: &Vec<u8>| profile.get(16..20) == Some(space);
    Ok((picture, profile.filter(fits)))
}

fn jpeg(bytes: &[u8]) -> ImageResult<Vec<u8>> {
    let (picture, profile) = seen(JpegDecoder::new(Cursor::new(bytes))?)?;
    let mut out = Vec::with_capacity(bytes.len());
    write(
        &picture,
        profile,
        JpegEncoder::new_with_quality(&mut out, QUALITY),
    )?;
    Ok(out)
}

/// Encodes a PNG again; `None` for one that moves (APNG).
fn png(bytes: &[u8]) -> ImageResult<Option<Vec<u8>>> {
    let decoder = PngDecoder::with_limits(Cursor::new(bytes), limits())?;
    if decoder.is_apng()? {
        return Ok(None);
    }
    let (picture, profile) = seen(decoder)?;
    let mut out = Vec::with_capacity(bytes.len());
    let (compression, filter) = (CompressionType::Default, FilterType::Adaptive);
    write(
        &picture,
        profile,
        PngEncoder::new_with_quality(&mut out, compression, filter),
    )?;
    Ok(Some(out))
}

fn write(
    picture: &DynamicImage,
    profile: Option<Vec<u8>>,
    mut encoder: impl ImageEncoder,
) -> ImageResult<()> {
    if let Some(profile) = profile {
        // A format that has no place for it leaves it out.
        let _ = encoder.set_icc_profile(profile);
    }
    picture.write_with_encoder(encoder)
}

#[cfg(test)]
mod tests {
    use image::{ExtendedColorType, Rgb, RgbImage};

    use super::*;

    /// Two pixels, red and blue.
    fn photograph() -> DynamicImage {
        let mut picture = RgbImage::new(16, 8);
        for (x, _, pixel) in picture.enumerate_pixels_mut() {
            *pixel = if x < 8 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) };
        }
        picture.into()
    }

    /// Exif that says how it is to be turned (6: by 90 degrees), and a name.
    fn exif() -> Vec<u8> {
        let mut exif = b"II*\0\x08\0\0\0\x02\0".to_vec();
        exif.extend(b"\x12\x01\x03\0\x01\0\0\0\x06\0\0\0");
        exif.extend(b"\x0f\x01\x02\0\x07\0\0\0\x26\0\0\0\0\0\0\0");
        exif.extend(b"canary\0");
        exif
    }

    fn written(profile: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = JpegEncoder::new_with_quality(&mut out, 100);
        encoder.set_icc_profile(profile.to_vec()).unwrap();
        encoder.set_exif_metadata(exif()).unwrap();
        photograph().write_with_encoder(encoder).unwrap();
        out.extend(b"<?php canary ?>");
        out
    }

    fn holds(bytes: &[u8], word: &[u8]) -> bool {
        memchr::memmem::find(bytes, word).is_some()
    }

    fn profile(space: &[u8; 4]) -> Vec<u8> {
        let mut profile = vec![0; 128];
        profile[16..20].copy_from_slice(space);
        profile[36..40].copy_from_slice(b"acsp");
        profile
    }

    #[test]
    fn a_photograph_keeps_what_is_seen_and_nothing_else() {
        let given = written(&profile(b"RGB "));
        assert!(holds(&given, b"canary"));
        let reencoded = reencode(&given, "image/jpeg").unwrap().unwrap();
        assert!(!holds(&reencoded, b"canary") && holds(&reencoded, b"acsp"));
        let seen = image::load_from_memory(&reencoded).unwrap().to_rgb8();
        assert_eq!(seen.dimensions(), (8, 16), "turned");
        let (top, bottom) = (seen.get_pixel(4, 2), seen.get_pixel(4, 13));
        assert!(
            top[0] > 200 && top[2] < 60 && bottom[0] < 60 && bottom[2] > 200,
            "{top:?} {bottom:?}"
        );
        let inks = reencode(&written(&profile(b"CMYK")), "image/jpeg")
            .unwrap()
            .unwrap();
        assert!(!holds(&inks, b"acsp"));
    }

    #[test]
    fn a_drawing_keeps_every_pixel() {
        let mut given = Vec::new();
        PngEncoder::new(&mut given)
            .write_image(&[1, 2, 3, 128, 4, 5, 6, 255], 2, 1, ExtendedColorType::Rgba8)
            .unwrap();
        given.extend(b"<script>canary");
        let reencoded = reencode(&given, "image/png").unwrap().unwrap();
        assert!(!holds(&reencoded, b"canary"));
        let seen = image::load_from_memory(&reencoded).unwrap().to_rgba8();
        assert_eq!(seen.into_raw(), [1, 2, 3, 128, 4, 5, 6, 255]);
    }

    #[test]
    fn what_is_broken_or_too_large_is_said() {
        let mut given = Vec::new();
        PngEncoder::new(&mut given)
            .write_image(&[0; 64], 8, 8, ExtendedColorType::L8)
            .unwrap();
        assert_eq!(
            reencode(&given[..given.len() - 20], "image/png"),
            Err(Unfit::Broken)
        );
        assert_eq!(
            reencode(b"\xff\xd8\xff\xe0rest", "image/jpeg"),
            Err(Unfit::Broken)
        );
        // A header that promises 60,000 by 60,000 pixels.
        given[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        given[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
        let checked = crc32fast::hash(&given[12..29]);
        given[29..33].copy_from_slice(&checked.to_be_bytes());
        assert_eq!(reencode(&given, "image/png"), Err(Unfit::TooManyPixels));
        assert_eq!(reencode(b"RIFF....WEBP", "image/webp"), Err(Unfit::Broken));
        assert_eq!(reencode(b"GIF89a", "image/gif"), Ok(None));
    }
}

//! Images on their way to a provider: fetched through the guard, and what they are is told by their bytes.

mod reencode;
mod webp;

use std::time::Duration;

use bytes::Bytes;
use searchwright_outbound::{Guarded, NotSent, RequestError, retry_after};
use searchwright_site::fetch::Cut;
use sha2::{Digest as _, Sha256};

use self::reencode::{Unfit, reencode};
use super::{
    error::{Cause, Trouble, Why},
    publisher::Picture,
};

/// Largest image that is taken, in bytes.
const MAX_BYTES: usize = 5 << 20;

const DENIED: &str = "its address may not be reached from this server; an operator opens a private one with --allow-outbound publish=HOST:PORT";

/// Media type and extension, by the first bytes.
fn kind(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let at = |from: usize, to: usize| bytes.get(from..to).unwrap_or_default();
    match bytes {
        [0xff, 0xd8, 0xff, ..] => Some(("image/jpeg", "jpg")),
        _ if bytes.starts_with(b"\x89PNG\r\n\x1a\n") => Some(("image/png", "png")),
        _ if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") => Some(("image/gif", "gif")),
        _ if bytes.starts_with(b"RIFF") && at(8, 12) == b"WEBP" => Some(("image/webp", "webp")),
        _ if at(4, 8) == b"ftyp" && matches!(at(8, 12), b"avif" | b"avis") => Some(("image/avif", "avif")),
        _ => None,
    }
}

/// An image as its address gave it.
pub struct Found {
    body: Bytes,
    media_type: &'static str,
    extension: &'static str,
    /// Digest of the bytes, by which an image that the provider already has is recognised.
    pub digest: [u8; 32],
}

fn bad(why: Why, said: &str) -> Trouble {
    Trouble::because(why, format!("featuredImage: {said}"))
}

const fn not_now(after: Option<Duration>) -> Trouble {
    Trouble::NotNow {
        cause: Cause::ImageUnreachable,
        after,
    }
}

/// Fetches an image.
pub async fn fetch(client: &Guarded, url: &str) -> Result<Found, Trouble> {
    let request = http::Request::get(url)
        .header(http::header::ACCEPT, "image/avif,image/webp,image/*")
        .body(Bytes::new())
        .map_err(|_| bad(Why::Invalid, "is no address of an image"))?;
    let answer = client
        .send(request, MAX_BYTES + 1)
        .await
        .map_err(|error| match error.into() {
            RequestError::NotSent(NotSent::Address) => bad(Why::Invalid, DENIED),
            _ => not_now(None),
        })?;
    if answer.status == 429 || answer.status >= 500 {
        return Err(not_now(retry_after(&answer.headers)));
    }
    if answer.status != 200 {
        return Err(bad(
            Why::Invalid,
            &format!("its address answers {}", answer.status),
        ));
    }
    match answer.cut {
        Some(Cut::Time) => return Err(not_now(None)),
        None if answer.body.len() <= MAX_BYTES => {}
        _ => return Err(bad(Why::TooLarge, "has more than 5 MiB")),
    }
    let (media_type, extension) =
        kind(&answer.body).ok_or_else(|| bad(Why::Invalid, "is no JPEG, PNG, GIF, WebP or AVIF"))?;
    Ok(Found {
        digest: Sha256::digest(&answer.body).into(),
        body: answer.body,
        media_type,
        extension,
    })
}

impl Found {
    /// The image as providers are given it.
    pub async fn picture(self, alt: Option<String>) -> Result<Picture, Trouble> {
        let (given, media_type) = (self.body.clone(), self.media_type);
        let reencoded = tokio::task::spawn_blocking(move || reencode(&given, media_type)).await;
        let bytes = match reencoded {
            Ok(Ok(reencoded)) => reencoded.map_or(self.body, Into::into),
            Ok(Err(Unfit::TooManyPixels)) => {
                return Err(bad(Why::TooLarge, "has more pixels than can be worked on"));
            }
            Ok(Err(Unfit::Broken)) => {
                return Err(bad(
                    Why::Invalid,
                    "cannot be read as the image that it says it is",
                ));
            }
            Err(_) => return Err(not_now(None)),
        };
        if bytes.len() > MAX_BYTES {
            return Err(bad(Why::TooLarge, "has more than 5 MiB once it is written anew"));
        }
        let name: String = self.digest[..8].iter().map(|b| format!("{b:02x}")).collect();
        Ok(Picture {
            name: format!("searchwright-{name}.{}", self.extension),
            media_type,
            bytes,
            alt,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn an_image_is_what_its_bytes_say() {
        assert_eq!(kind(b"\xff\xd8\xff\xe0rest"), Some(("image/jpeg", "jpg")));
        assert_eq!(kind(b"\x89PNG\r\n\x1a\nrest"), Some(("image/png", "png")));
        assert_eq!(kind(b"RIFF....WEBPVP8 "), Some(("image/webp", "webp")));
        assert_eq!(kind(b"....ftypavif"), Some(("image/avif", "avif")));
        for other in [
            &b"<svg onload=alert(1)>"[..],
            b"<html>",
            b"",
            b"RIFF....WAVE",
            b"GIF8",
        ] {
            assert_eq!(kind(other), None);
        }
    }
}

//! Resources of pages: images, scripts, styles, and the files that llms.txt names. A crawl fetches some of them once it
//! knows the pages; nothing is reported about the others.

pub mod dimensions;
mod needed;

use std::collections::HashSet;

use http::{HeaderMap, header};
use searchwright_text::hash;
use serde::{Deserialize, Serialize};

use crate::fetch::{FetchError, Fetched};
pub(crate) use needed::needed_by;

/// Purposes of a resource; bits of one byte.
pub mod purpose {
    /// Image of an `<img>`.
    pub const IMAGE: u8 = 1;
    /// Image of an `og:image`.
    pub const CARD: u8 = 2;
    /// A script or a stylesheet.
    pub const FILE: u8 = 4;
    /// File that llms.txt links to.
    pub const LLMS: u8 = 8;
}

/// A fetched resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Absolute URL as pages name it, without fragment.
    pub url: Box<str>,
    /// Bits of [`purpose`].
    pub purposes: u8,
    /// Status at the end of the redirects; `None` without a response.
    pub status: Option<u16>,
    /// Error, if there is no response.
    pub error: Option<FetchError>,
    /// `Content-Type` without parameters, lower case.
    pub content_type: Option<Box<str>>,
    /// Size of the body as sent, in bytes, if the server reports it.
    pub bytes: Option<u64>,
    /// Seconds for which it may be cached without revalidation; 0 if it may not be cached.
    pub max_age: Option<u32>,
    /// Whether it can be revalidated by `ETag` or `Last-Modified`.
    pub validator: bool,
    /// Width and height in pixels, if the first bytes show them.
    pub size: Option<(u32, u32)>,
}

impl Resource {
    pub(crate) fn new(url: &str, purposes: u8, fetched: Fetched) -> Self {
        let mut resource = Self {
            url: url.into(),
            purposes,
            status: None,
            error: None,
            content_type: None,
            bytes: None,
            max_age: None,
            validator: false,
            size: None,
        };
        match fetched {
            Err(error) => resource.error = Some(error),
            Ok(answer) => {
                resource.status = Some(answer.status);
                resource.headers(&answer.headers);
                resource.size = dimensions::read(&answer.body);
            }
        }
        resource
    }

    fn headers(&mut self, headers: &HeaderMap) {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let kind = text(header::CONTENT_TYPE).map(|kind| kind.split(';').next().unwrap_or_default().trim());
        self.content_type = kind.map(|kind| kind.to_ascii_lowercase().into());
        self.bytes = text(header::CONTENT_LENGTH).and_then(|length| length.trim().parse().ok());
        self.validator = headers.contains_key(header::ETAG) || headers.contains_key(header::LAST_MODIFIED);
        let control = text(header::CACHE_CONTROL)
            .unwrap_or_default()
            .to_ascii_lowercase();
        let directives = || control.split(',').map(str::trim);
        self.max_age = directives()
            .find_map(|directive| directive.strip_prefix("max-age="))
            .and_then(|seconds| seconds.trim_matches('"').parse().ok());
        if directives().any(|directive| directive == "no-store") {
            (self.max_age, self.validator) = (Some(0), false);
        } else if self.max_age.is_none() && text(header::EXPIRES).is_some_and(|date| date.contains(':')) {
            // a date, not `0` or `-1`; the exact time until it is not needed
            self.max_age = Some(u32::MAX);
        }
    }

    /// Returns the reason why the response does not show what visitors get: there was none in time, or it is meant for
    /// bots.
    pub fn silence(&self) -> Option<String> {
        match (self.status, &self.error) {
            (Some(status @ (401 | 403 | 405 | 406 | 429 | 451 | 500..)), _) => {
                Some(format!("answered {status}"))
            }
            (None, Some(FetchError::Dns)) | (Some(_), _) => None,
            (None, Some(error)) => Some(error.to_string()),
            (None, None) => Some("was not asked for".to_owned()),
        }
    }

    /// Whether the resource is needed for a purpose.
    pub fn is_for(&self, purpose: u8) -> bool {
        self.purposes & purpose != 0
    }
}

/// All fetched resources.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Fetched resources, sorted by URL.
    asked: Vec<Resource>,
    /// Hashes of the URLs of needed resources that were not fetched, sorted.
    left_out: Vec<u64>,
    /// Whether there were more resources than are counted.
    full: bool,
}

impl Resources {
    /// Creates the collection. `wanted` holds hashes of the URLs of all needed resources; `full` means that there were
    /// more.
    pub(crate) fn new(mut asked: Vec<Resource>, wanted: &[u64], full: bool) -> Self {
        asked.sort_unstable_by(|a, b| a.url.cmp(&b.url));
        let hashes: HashSet<u64> = asked
            .iter()
            .map(|resource| hash(resource.url.as_bytes()))
            .collect();
        let left_out = wanted.iter().filter(|wanted| !hashes.contains(wanted));
        let mut left_out: Vec<u64> = left_out.copied().collect();
        left_out.sort_unstable();
        Self {
            asked,
            left_out,
            full,
        }
    }

    /// Returns the reason why it is unknown what a page gets for a URL; `None` if that is known, or no page needs the
    /// URL any more.
    pub fn silence(&self, url: &str) -> Option<String> {
        match self.get(url) {
            Some(resource) => resource.silence(),
            None if self.full || self.left_out.binary_search(&hash(url.as_bytes())).is_ok() => {
                Some("was not asked for".to_owned())
            }
            None => None,
        }
    }

    /// Whether it is unknown for some resources what pages get.
    pub fn is_lacking(&self) -> bool {
        self.full
            || !self.left_out.is_empty()
            || self.asked.iter().any(|resource| resource.silence().is_some())
    }

    /// Whether no resource was fetched.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Returns a resource by URL.
    pub fn get(&self, url: &str) -> Option<&Resource> {
        self.at(self.find(url)?)
    }

    /// Returns the index of a resource.
    pub(crate) fn find(&self, url: &str) -> Option<usize> {
        self.asked
            .binary_search_by(|resource| (*resource.url).cmp(url))
            .ok()
    }

    pub(crate) fn at(&self, place: usize) -> Option<&Resource> {
        self.asked.get(place)
    }

    /// Returns all resources, by URL.
    pub fn iter(&self) -> impl Iterator<Item = &Resource> {
        self.asked.iter()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn some_answers_tell_nothing() {
        let of = |status, error| {
            let mut resource = Resource::new("https://a.example/x", 1, Err(FetchError::Broken));
            (resource.status, resource.error) = (status, error);
            resource.silence()
        };
        for status in [200, 304, 404, 410] {
            assert_eq!(of(Some(status), None), None, "{status}");
        }
        for status in [403, 429, 503] {
            assert_eq!(of(Some(status), None), Some(format!("answered {status}")));
        }
        assert_eq!(of(None, Some(FetchError::Dns)), None);
        assert_eq!(of(None, Some(FetchError::Timeout)).as_deref(), Some("timed out"));
    }

    #[test]
    fn resources_left_out_are_unknown() {
        let asked = || vec![Resource::new("https://a.example/x", 1, Err(FetchError::Dns))];
        let wanted = ["x", "y"].map(|name| hash(format!("https://a.example/{name}").as_bytes()));
        let known = |full, name| {
            let resources = Resources::new(asked(), &wanted, full);
            resources.silence(&format!("https://a.example/{name}")).is_none()
        };
        assert!(known(false, "x"));
        assert!(!known(false, "y"), "it was wanted and not asked for");
        assert!(known(false, "z"), "no page needs it");
        assert!(!known(true, "z"), "a page may");
    }

    #[test]
    fn max_age_by_cache_headers() {
        for (headers, max_age, validator) in [
            (
                &[("cache-control", "public, Max-Age=604800")][..],
                Some(604_800),
                false,
            ),
            (
                &[("cache-control", "no-store"), ("etag", "\"x\"")],
                Some(0),
                false,
            ),
            (
                &[("expires", "Thu, 01 Dec 2026 16:00:00 GMT")],
                Some(u32::MAX),
                false,
            ),
            (&[("expires", "0"), ("last-modified", "x")], None, true),
            (&[], None, false),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.insert(*name, HeaderValue::from_static(value));
            }
            let mut resource = Resource::new("https://a.example/x", 1, Err(FetchError::Dns));
            resource.headers(&map);
            assert_eq!(
                (resource.max_age, resource.validator),
                (max_age, validator),
                "{headers:?}"
            );
        }
    }
}

//! The addresses that evidence names.

use searchwright_site::url_key::url_key;
use url::Url;

/// An address as crawls know it.
pub(super) fn key(url: &str) -> Option<String> {
    Some(url_key(&Url::parse(url).ok()?).into_owned())
}

//! A URL between queue and response.

use url::Url;

use crate::page::UrlId;

/// A URL that is being fetched.
#[derive(Debug)]
pub(super) struct FetchTask {
    pub(super) id: UrlId,
    pub(super) url: Url,
    /// Index of its host, among the hosts of the site or those of other sites.
    pub(super) host: usize,
    pub(super) attempts: u8,
    /// Number of redirects that led here; for a page of the site, only redirects to other spellings of its URL.
    pub(super) hops: u8,
}

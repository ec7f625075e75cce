//! A URL on its way from the queue to its answer.

use url::Url;

use crate::page::UrlId;

/// A URL on its way.
#[derive(Debug)]
pub(super) struct FetchTask {
    pub(super) id: UrlId,
    pub(super) url: Url,
    /// Index of its host, among those of the site or the foreign ones.
    pub(super) host: usize,
    pub(super) attempts: u8,
    /// Redirects that led here; of a page of the site, those to other spellings of its URL.
    pub(super) hops: u8,
}

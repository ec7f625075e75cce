//! Files that lie at a place known beforehand, such as robots.txt and llms.txt.

use serde::{Deserialize, Serialize};

use crate::fetch::FetchError;

/// A text file at a well-known place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WellKnownFile {
    /// Where, after redirects.
    pub url: Box<str>,
    /// Final status; `None` without an answer.
    pub status: Option<u16>,
    /// Error in place of an answer.
    pub error: Option<FetchError>,
    /// `Content-Type`.
    pub content_type: Option<Box<str>>,
    /// Size in bytes.
    pub bytes: u64,
    /// The first 500 KiB, lossily decoded; empty unless the status is 200. Of a robots.txt that could not be fetched, what
    /// was known of it from before.
    pub text: Box<str>,
}

//! Files at well-known paths, such as robots.txt and llms.txt.

use serde::{Deserialize, Serialize};

use crate::fetch::FetchError;

/// A text file at a well-known path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WellKnownFile {
    /// URL after redirects.
    pub url: Box<str>,
    /// Final status; `None` without a response.
    pub status: Option<u16>,
    /// Error, if there is no response.
    pub error: Option<FetchError>,
    /// `Content-Type`.
    pub content_type: Option<Box<str>>,
    /// Size in bytes.
    pub bytes: u64,
    /// The first 500 KiB, lossily decoded; empty unless the status is 200. For a robots.txt that could not be fetched,
    /// the text of an earlier version.
    pub text: Box<str>,
}

//! Facts about a sitemap file, beside the URLs it lists.

use serde::{Deserialize, Serialize};

/// One sitemap file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sitemap {
    /// Where.
    pub url: Box<str>,
    /// Final status.
    pub status: Option<u16>,
    /// Named in robots.txt (or by an index that is).
    pub declared: bool,
    /// Is a sitemap index.
    pub index: bool,
    /// URLs listed.
    pub urls: u32,
    /// Decoded bytes.
    pub bytes: u64,
    /// Its fault, behind what has to be known of a feed.
    pub error: Option<Box<str>>,
    /// URLs of another host or scheme: the first 20.
    pub foreign: Vec<Box<str>>,
    /// `lastmod` values present, unparsable, in the future.
    pub lastmod: [u32; 3],
    /// All `lastmod` values are equal, and there are several.
    pub lastmod_identical: bool,
}

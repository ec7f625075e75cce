//! Facts about a sitemap file beside the URLs that it lists.

use serde::{Deserialize, Serialize};

/// One sitemap file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sitemap {
    /// URL of the file.
    pub url: Box<str>,
    /// Final status.
    pub status: Option<u16>,
    /// Whether it is named in robots.txt, or by an index that is.
    pub declared: bool,
    /// Whether it is a sitemap index.
    pub index: bool,
    /// Number of URLs listed.
    pub urls: u32,
    /// Number of decoded bytes.
    pub bytes: u64,
    /// Faults separated by `; `, including the note on a feed.
    pub error: Option<Box<str>>,
    /// First 20 URLs of another host or scheme.
    pub foreign: Vec<Box<str>>,
    /// Numbers of `lastmod` values: present, unparsable, in the future.
    pub lastmod: [u32; 3],
    /// Whether there are several `lastmod` values and all are equal.
    pub lastmod_identical: bool,
}

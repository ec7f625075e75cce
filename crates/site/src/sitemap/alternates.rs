//! Language alternates in sitemaps (`xhtml:link`), kept as hashes: they only confirm those that pages name.

use quick_xml::events::BytesStart;
use searchwright_text as text;
use url::Url;

use super::format::attribute;
use crate::url_key::url_key;

/// Maximum number of alternates of all sitemaps that are kept; beyond it, any may be there.
pub(crate) const ALTERNATE_LIMIT: usize = 250_000;
/// Maximum number of alternates of one URL.
const PER_URL: usize = 2_000;

/// Returns the hash of a page, by its key, that names an alternate.
pub(crate) fn named(page: &str, alternate: &str) -> u64 {
    text::hash([page, "\n", alternate].concat().as_bytes())
}

/// Alternates of the entry being read, which may come before its URL.
#[derive(Debug, Default)]
pub(super) struct EntryAlternates {
    hrefs: Vec<Box<str>>,
}

impl EntryAlternates {
    /// Reads a link of an entry.
    pub fn link(&mut self, tag: &BytesStart<'_>) {
        let is_alternate = attribute(tag, "rel")
            .is_some_and(|rel| rel.trim().eq_ignore_ascii_case("alternate"))
            && attribute(tag, "hreflang").is_some();
        let href = attribute(tag, "href").filter(|_| is_alternate && self.hrefs.len() < PER_URL);
        self.hrefs.extend(href.map(|href| href.trim().into()));
    }

    /// Ends the entry of a URL, if it has one.
    pub fn end(&mut self, url: Option<&str>, root: &Url, found: &mut Vec<u64>) {
        let hrefs = std::mem::take(&mut self.hrefs);
        if hrefs.is_empty() || found.len() >= ALTERNATE_LIMIT {
            return;
        }
        let Some(page) = url.and_then(|url| root.join(url).ok()) else {
            return;
        };
        let page = url_key(&page);
        let urls = hrefs.iter().filter_map(|href| root.join(href).ok());
        found.extend(urls.map(|url| named(&page, &url_key(&url))));
        found.truncate(ALTERNATE_LIMIT);
    }
}

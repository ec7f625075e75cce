//! Faults of a sitemap, and their effect on the URLs it lists.

use super::{SIZE_LIMIT, Sitemap};
use crate::fetch::Cut;

/// Error of the first sitemap beyond the maximum number, or beyond a limit of the crawl.
pub(crate) const LEFT_OUT: &str = "not asked for, nor those behind it: a limit was reached";
pub(super) const HTML: &str = "an HTML page, not a sitemap";
/// Prefixes of errors that do not stop the reader.
const READ_ON: [&str; 5] = ["no namespace", "unknown namespace", "encoded in ", LATE, FEED];
/// Note on a feed, which is no fault: older pages may exist that it does not list.
pub(super) const FEED: &str = "a feed, which names only what is newest";
/// XML 1.0, section 2.8: nothing may precede the declaration, not even white space. Search engines reject such a file.
pub(super) const LATE: &str = "something stands before the XML declaration";
/// Requirement of the protocol.
pub(super) const UTF_8_ONLY: &str = "sitemaps have to be encoded in UTF-8";
pub(super) const TOO_LARGE: &str =
    "larger than 50 MiB, the limit of the protocol: cut off after 52,428,800 bytes";

impl Sitemap {
    /// Whether its contents were not read to their end.
    pub(crate) fn is_cut(&self) -> bool {
        let reads_on = |error: &str| READ_ON.iter().any(|start| error.starts_with(start));
        let errors = self.error.as_deref();
        self.bytes > SIZE_LIMIT || errors.is_some_and(|errors| !errors.split("; ").all(reads_on))
    }

    /// Whether it is an RSS or Atom feed.
    pub(crate) fn is_feed(&self) -> bool {
        let errors = self.error.as_deref();
        errors.is_some_and(|errors| errors.split("; ").any(|error| error == FEED))
    }

    /// Returns its faults, without the note on a feed.
    pub(crate) fn fault(&self) -> Option<String> {
        let errors = self.error.as_deref()?.split("; ");
        let wrong: Vec<&str> = errors.filter(|error| *error != FEED).collect();
        (!wrong.is_empty()).then(|| wrong.join("; "))
    }

    /// Whether it stands for sitemaps that were not fetched because of a limit.
    pub(crate) fn is_left_out(&self) -> bool {
        self.error.as_deref() == Some(LEFT_OUT)
    }

    /// Whether it is an HTML page, with which many sites respond to any URL.
    pub(crate) fn is_page(&self) -> bool {
        self.error.as_deref() == Some(HTML)
    }

    /// Records that only the beginning was received.
    pub(crate) fn cut_off(&mut self, cut: Cut) {
        let after = || format!("cut off after {} bytes", self.bytes);
        let why = match cut {
            Cut::Size => TOO_LARGE.to_owned(),
            Cut::Ratio => format!("inflates more than 100:1, as attacks do: {}", after()),
            Cut::Time => format!("took too long: {}", after()),
        };
        // other faults may be caused by the missing part
        self.error = Some(why.into());
    }

    /// Records a fault, once.
    pub(super) fn wrong(&mut self, what: &str) {
        self.error = Some(match &self.error {
            Some(before) if before.contains(what) => return,
            Some(before) => format!("{before}; {what}").into(),
            None => what.into(),
        });
    }
}

//! Faults of a sitemap, and what they mean for what it lists.

use super::{SIZE_LIMIT, Sitemap};
use crate::fetch::Cut;

/// Said of the first of those that are not read for their number, or because the crawl has come to a limit.
pub(crate) const LEFT_OUT: &str = "not asked for, nor those behind it: a limit was reached";
pub(super) const HTML: &str = "an HTML page, not a sitemap";
/// Beginnings of errors that keep nobody from reading on.
const READ_ON: [&str; 5] = ["no namespace", "unknown namespace", "encoded in ", LATE, FEED];
/// Said of a feed, which is nothing wrong with it: what it does not list may be older.
pub(super) const FEED: &str = "a feed, which names only what is newest";
/// XML 1.0, section 2.8: nothing stands before the declaration, no white space either. Search engines refuse such a file.
pub(super) const LATE: &str = "something stands before the XML declaration";
/// Demands of the protocol.
pub(super) const UTF_8_ONLY: &str = "sitemaps have to be encoded in UTF-8";
pub(super) const TOO_LARGE: &str =
    "larger than 50 MiB, the limit of the protocol: cut off after 52,428,800 bytes";

impl Sitemap {
    /// Whether its contents were not counted to their end.
    pub(crate) fn is_cut(&self) -> bool {
        let reads_on = |error: &str| READ_ON.iter().any(|start| error.starts_with(start));
        let errors = self.error.as_deref();
        self.bytes > SIZE_LIMIT || errors.is_some_and(|errors| !errors.split("; ").all(reads_on))
    }

    /// It is a feed of RSS or Atom.
    pub(crate) fn is_feed(&self) -> bool {
        let errors = self.error.as_deref();
        errors.is_some_and(|errors| errors.split("; ").any(|error| error == FEED))
    }

    /// Its fault.
    pub(crate) fn fault(&self) -> Option<String> {
        let errors = self.error.as_deref()?.split("; ");
        let wrong: Vec<&str> = errors.filter(|error| *error != FEED).collect();
        (!wrong.is_empty()).then(|| wrong.join("; "))
    }

    /// It stands for those that were not asked for because of a limit.
    pub(crate) fn is_left_out(&self) -> bool {
        self.error.as_deref() == Some(LEFT_OUT)
    }

    /// It is a page of a website, as many answer whatever they are asked for.
    pub(crate) fn is_page(&self) -> bool {
        self.error.as_deref() == Some(HTML)
    }

    /// Says that only the beginning of it came.
    pub(crate) fn cut_off(&mut self, cut: Cut) {
        let after = || format!("cut off after {} bytes", self.bytes);
        let why = match cut {
            Cut::Size => TOO_LARGE.to_owned(),
            Cut::Ratio => format!("inflates more than 100:1, as attacks do: {}", after()),
            Cut::Time => format!("took too long: {}", after()),
        };
        // whatever else is wrong may be for want of the rest
        self.error = Some(why.into());
    }

    /// Says what is wrong, once.
    pub(super) fn wrong(&mut self, what: &str) {
        self.error = Some(match &self.error {
            Some(before) if before.contains(what) => return,
            Some(before) => format!("{before}; {what}").into(),
            None => what.into(),
        });
    }
}

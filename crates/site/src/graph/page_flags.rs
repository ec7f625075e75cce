//! Flags of a URL.

use bitflags::bitflags;

use crate::page::UrlId;

bitflags! {
    /// Facts about a URL that checks ask for often.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PageFlags: u16 {
        /// On the host being audited.
        const INTERNAL = 1;
        /// 200, HTML, no noindex, not blocked, canonical absent or itself.
        const INDEXABLE = 2;
        /// noindex or none, by meta or header.
        const NOINDEX = 4;
        /// Listed in a sitemap.
        const IN_SITEMAP = 8;
        /// Robots `nofollow` on the page.
        const NOFOLLOW = 16;
        /// Answered 200 with HTML that was read to its end.
        const READ = 32;
        /// Judged a soft 404.
        const SOFT_404 = 64;
        /// Declares a canonical other than itself.
        const CANONICALISED = 128;
        /// Its host name does not resolve.
        const NO_HOST = 256;
        /// Shares its title with another page.
        const SAME_TITLE = 512;
        /// Shares its description with another page.
        const SAME_DESCRIPTION = 1024;
        /// Shares its first h1 with another page.
        const SAME_H1 = 2048;
        /// Shares its text with another page.
        const SAME_TEXT = 4096;
        /// No link of the page leads to another page of the site.
        const DEAD_END = 8192;
        /// Some link of the page may lead to a URL that answered with a redirect or an error.
        const TO_AMISS = 16384;
        /// Some link of the page may lead to a URL of another site that the crawl asked for.
        const TO_ASKED = 32768;
    }
}

impl PageFlags {
    /// The flags of [`Same`](super::Same), in its order.
    pub(super) const SAME: [Self; 4] = [
        Self::SAME_TITLE,
        Self::SAME_DESCRIPTION,
        Self::SAME_H1,
        Self::SAME_TEXT,
    ];
}

/// Whether a flag of a URL is set; of a URL beyond the end none is.
pub(super) fn is_set(flags: &[PageFlags], id: UrlId, flag: PageFlags) -> bool {
    flags.get(id.0 as usize).is_some_and(|flags| flags.contains(flag))
}

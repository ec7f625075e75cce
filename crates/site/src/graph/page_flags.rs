//! Flags of a URL.

use bitflags::bitflags;

use crate::page::UrlId;

bitflags! {
    /// Facts about a URL that checks use often.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PageFlags: u16 {
        /// The URL is on the site being audited.
        const INTERNAL = 1;
        /// Status 200, HTML, no noindex, not blocked, canonical absent or self-referencing.
        const INDEXABLE = 2;
        /// `noindex` or `none`, in a meta element or a header.
        const NOINDEX = 4;
        /// A sitemap lists the URL.
        const IN_SITEMAP = 8;
        /// Robots `nofollow` applies to the page.
        const NOFOLLOW = 16;
        /// Status 200 with HTML that was read to its end.
        const READ = 32;
        /// The page was judged a soft 404.
        const SOFT_404 = 64;
        /// The page declares a canonical other than itself.
        const CANONICALISED = 128;
        /// The host name does not resolve.
        const NO_HOST = 256;
        /// Another page has the same title.
        const SAME_TITLE = 512;
        /// Another page has the same description.
        const SAME_DESCRIPTION = 1024;
        /// Another page has the same first h1.
        const SAME_H1 = 2048;
        /// Another page has the same text.
        const SAME_TEXT = 4096;
        /// No link of the page leads to another page of the site.
        const DEAD_END = 8192;
        /// A link of the page may lead to a URL whose response is a redirect or an error.
        const TO_AMISS = 16384;
        /// A link of the page may lead to a URL of another site that was fetched.
        const TO_ASKED = 32768;
    }
}

impl PageFlags {
    /// Flags of [`Same`](super::Same), in its order.
    pub(super) const SAME: [Self; 4] = [
        Self::SAME_TITLE,
        Self::SAME_DESCRIPTION,
        Self::SAME_H1,
        Self::SAME_TEXT,
    ];
}

/// Whether a flag of a URL is set; false for an id beyond the end.
pub(super) fn is_set(flags: &[PageFlags], id: UrlId, flag: PageFlags) -> bool {
    flags.get(id.0 as usize).is_some_and(|flags| flags.contains(flag))
}

//! Flag bits of a URL.

/// On the host being audited.
pub const INTERNAL: u16 = 1;
/// 200, HTML, no noindex, not blocked, canonical absent or itself.
pub const INDEXABLE: u16 = 2;
/// noindex or none, by meta or header.
pub const NOINDEX: u16 = 4;
/// Listed in a sitemap.
pub const IN_SITEMAP: u16 = 8;
/// Robots `nofollow` on the page.
pub const NOFOLLOW: u16 = 16;
/// Answered 200 with HTML that was read to its end.
pub const READ: u16 = 32;
/// Judged a soft 404.
pub const SOFT_404: u16 = 64;
/// Declares a canonical other than itself.
pub const CANONICALISED: u16 = 128;
/// Its host name does not resolve.
pub const NO_HOST: u16 = 256;
/// Not alone with its title, description, first h1 or text: see [`Same`](super::Same).
pub const SAME: [u16; 4] = [512, 1024, 2048, 4096];
/// No link of the page leads to another page of the site.
pub const DEAD_END: u16 = 8192;
/// Some link of the page may lead to a URL that answered with a redirect or an error.
pub const TO_AMISS: u16 = 16384;
/// Some link of the page may lead to a URL of another site that the crawl asked for.
pub const TO_ASKED: u16 = 32768;

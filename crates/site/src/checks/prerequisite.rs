//! Facts beside a page that a check depends on.

/// A fact beside the page that a check depends on: without it, the absence of a finding proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prerequisite {
    /// The home page, where the start URL ends.
    Home,
    /// robots.txt.
    Robots,
    /// All sitemaps that were fetched.
    Sitemaps,
    /// llms.txt.
    Llms,
    /// A crawl that left nothing out.
    Crawl,
    /// Response of `/favicon.ico`, if the home page names no other icon.
    Favicon,
    /// Responses of the variants of the root URL.
    Variants,
    /// Connection to the root of an https site.
    Connection,
    /// See [`Dependencies::Targets`](super::Dependencies).
    Targets,
    /// Pages that link to the page, and sitemaps that list it, while its own response is as bad as before.
    Inlinks,
    /// Whether there is a sitemap.
    AnySitemap,
    /// Sitemaps that list the page.
    Listed,
    /// Number of pages that link to the page.
    InlinkCount,
    /// Absence of pages that link to the page.
    NoInlink,
    /// Resources that pages need, or links of llms.txt.
    Resources,
    /// Alternates that other pages name; pages of other sites may name theirs in a sitemap, which the crawl does not
    /// read.
    ReturnLinks,
    /// Names in microdata, whatever object they belong to.
    ObjectNames,
    /// Contents of the alternates of the page.
    Alternates,
    /// Extent of microdata objects, whatever syntax the evidence names.
    ObjectEnds,
    /// Extent of the structured data that names the owner of the site.
    Owner,
}

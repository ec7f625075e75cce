//! Facts beside a page that a check depends on.

/// A fact that a check needs beside the page, so that finding nothing is a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prerequisite {
    /// The page that the start URL ends at.
    Home,
    /// robots.txt.
    Robots,
    /// Every sitemap that was asked for.
    Sitemaps,
    /// llms.txt.
    Llms,
    /// A crawl that left nothing out.
    Crawl,
    /// Answer of the favicon's usual address, where the home page names no other.
    Favicon,
    /// Answers of the root spelled in another way.
    Variants,
    /// Connection to the root of a site on https.
    Connection,
    /// See [`Dependencies::Targets`](super::Dependencies).
    Targets,
    /// Pages that link to the page, and sitemaps that list it, while its own answer is what it was.
    Inlinks,
    /// Whether there is a sitemap.
    AnySitemap,
    /// Sitemaps that list the page.
    Listed,
    /// Number of pages that link to the page.
    InlinkCount,
    /// That no page links to the page.
    NoInlink,
    /// Resources that pages need, or links of llms.txt.
    Resources,
    /// What other pages name as their alternates, which those of other sites may do where no crawl of this site looks.
    ReturnLinks,
    /// Names in microdata, whatever object they belong to.
    ObjectNames,
    /// Contents of the alternates of the page.
    Alternates,
    /// Ends of objects of microdata, whatever evidence says of them.
    ObjectEnds,
    /// Extent of the markup that says who runs the site.
    Owner,
}

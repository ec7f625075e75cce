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
    /// What the favicon's usual address answers, where the home page names no other.
    Favicon,
    /// What the root answers where it is spelled in another way.
    Variants,
    /// How the root of a site on https was connected to.
    Connection,
    /// See [`Dependencies::Targets`](super::Dependencies).
    Targets,
    /// Pages that link to the page, and sitemaps that list it, while its own answer is what it was.
    Inlinks,
    /// Whether there is a sitemap.
    AnySitemap,
    /// Sitemaps that list the page.
    Listed,
    /// How many pages link to the page.
    InlinkCount,
    /// What stands in the alternates of the page.
    Alternates,
    /// Where objects of microdata end, whatever evidence says of them.
    ObjectEnds,
    /// What belongs to the markup that says who runs the site.
    Owner,
}

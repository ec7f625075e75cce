//! Consequence of a problem for the site, by which findings are put in order.

use super::{
    Category::{Ai, Content, Crawlability, Indexability, Security, Social, StructuredData},
    Check, Scope, Severity,
};

/// Consequence of a problem, from the least to the gravest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Consequence {
    /// Advice: good practice, without a cost that can be named.
    Advice,
    /// The page is found and works, but shows up worse in results than it could.
    Results,
    /// Something is broken for visitors.
    Visitors,
    /// Pages are kept out of search results or of the answers of assistants.
    Search,
}

/// Checks of problems that keep pages out of search.
const SEARCH: [&str; 24] = [
    "homepage-not-indexable",
    "robots-blocks-all",
    "robots-unavailable",
    "robots-blocked-page",
    "robots-blocked-resource",
    "robots-directive-conflict",
    "robots-nofollow-page",
    "noindex",
    "unavailable-after-past",
    "http-5xx",
    "http-no-response",
    "http-forbidden",
    "tls-invalid",
    "canonical-multiple",
    "canonical-invalid",
    "canonical-header-mismatch",
    "canonical-non-200",
    "canonical-noindex",
    "canonical-blocked",
    "canonical-to-home",
    "html-over-2mb",
    "js-dependent-content",
    "ai-search-bot-blocked",
    "snippet-restricted",
];

/// Checks of problems that visitors meet.
const VISITORS: [&str; 32] = [
    "soft-404",
    "broken-internal-link",
    "broken-external-link",
    "broken-fragment",
    "link-malformed",
    "localhost-link",
    "staging-host-leak",
    "redirect-loop",
    "redirect-to-error",
    "redirect-no-location",
    "redirect-downgrade",
    "image-broken",
    "picture-no-img",
    "plugin-content",
    "template-unrendered",
    "lorem-ipsum",
    "content-type-mismatch",
    "charset-missing",
    "viewport-missing",
    "viewport-fixed",
    "ttfb-slow",
    "cwv-lcp-poor",
    "cwv-inp-poor",
    "cwv-cls-poor",
    "https-missing",
    "http-not-redirected",
    "tls-expiring",
    "mixed-content-active",
    "mixed-content-passive",
    "form-insecure",
    "ai-user-bot-blocked",
    "head-element-in-body",
];

/// Good practice only, or told by another check where it is to be mended; notices of the categories below are too.
const ADVICE: [&str; 20] = [
    "http-4xx",
    "canonical-missing",
    "title-same-as-h1",
    "text-ratio-low",
    "date-missing",
    "many-links",
    "many-resources",
    "dom-large",
    "http1-only",
    "no-cache-header",
    "image-legacy-format",
    "image-lazy-first",
    "external-link-unverified",
    "external-links-unreachable",
    "external-link-redirect",
    "robots-missing",
    "sitemap-not-in-robots",
    "sitemap-lastmod-bad",
    "subheadings-missing",
    "readability-very-hard",
];

impl Consequence {
    /// Returns the consequence in the words of the catalogue.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Search => "keeps pages out of search",
            Self::Visitors => "breaks something for visitors",
            Self::Results => "weakens pages in results",
            Self::Advice => "advice",
        }
    }
}

impl Check {
    /// Returns what the problem costs the site.
    pub fn consequence(&self) -> Consequence {
        let is_in = |ids: &[&str]| ids.contains(&self.id);
        if is_in(&SEARCH) {
            return Consequence::Search;
        }
        if is_in(&VISITORS) {
            return Consequence::Visitors;
        }
        let is_advice = match self.category {
            // cards in social networks and the spelling of URLs are seen by nobody who searches
            Social => true,
            Crawlability => self.id.starts_with("url-"),
            Security | StructuredData | Ai => self.severity == Severity::Notice,
            Indexability => self.id == "noimageindex",
            _ => false,
        };
        if is_advice || is_in(&ADVICE) {
            Consequence::Advice
        } else {
            Consequence::Results
        }
    }
}

/// Fewest pages of a site with a template.
const PAGES: u64 = 5;

impl Check {
    /// Whether a problem on so many pages of a site has one cause, such as the template: nearly all have it, and it is no
    /// matter of what each page says or of its place in the site.
    pub fn is_site_wide(&self, affected: u64, pages: u64) -> bool {
        let is_of_one_page = matches!(self.scope, Scope::Site | Scope::Graph) || self.category == Content;
        !is_of_one_page && pages >= PAGES && affected * 10 >= pages * 9
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{ADVICE, SEARCH, VISITORS};
    use crate::checks::find;

    #[test]
    fn each_check_has_one_consequence() {
        let listed: Vec<&str> = [&SEARCH[..], &VISITORS, &ADVICE].concat();
        let different: HashSet<&str> = listed.iter().copied().collect();
        assert_eq!(different.len(), listed.len());
        for id in listed {
            assert!(find(id).is_some(), "{id}");
        }
    }
}

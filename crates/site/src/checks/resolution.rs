//! Resolution of earlier problems. That a check finds nothing proves a fix only if it could have found the problem:
//! audits and rechecks resolve by the same rules, and never because of missing data.

use super::{
    Check, Test, fetch_verdict::FetchVerdict, prerequisite::Prerequisite, structured_data::is_owner_unsure,
};
use crate::{graph::SiteGraph, http_status::is_transient, origin::Origin, page::PageFacts};

/// Reason why an occurrence is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The check was evaluated and found nothing.
    Fixed,
    /// The page does not exist any more, or has moved permanently.
    PageGone,
    /// The check does not apply to the page any more.
    NotApplicable,
}

impl Resolution {
    /// Returns the code of the reason in API responses.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::PageGone => "page_gone",
            Self::NotApplicable => "not_applicable",
        }
    }
}

impl Prerequisite {
    /// Returns the reason why the prerequisite is not met; `None` if it is.
    pub(super) fn unmet(
        self,
        home: Option<&PageFacts>,
        origin: &Origin,
        index: &SiteGraph,
    ) -> Option<&'static str> {
        let silent = |status: Option<u16>| status.is_none_or(is_transient);
        match self {
            Self::Home => {
                let told = home.map_or(FetchVerdict::Nothing, FetchVerdict::from_facts);
                (!matches!(
                    told,
                    FetchVerdict::Whole | FetchVerdict::Cut(_) | FetchVerdict::Beginning
                ))
                .then_some("the home page could not be read")
            }
            Self::Robots => silent(origin.robots.status).then_some("robots.txt could not be fetched"),
            Self::Sitemaps => {
                let mut sitemaps = origin.sitemaps.iter();
                let unread = sitemaps.any(|sitemap| origin.is_unread(sitemap));
                unread.then_some("a sitemap could not be read")
            }
            Self::AnySitemap => {
                let sitemaps = &origin.sitemaps;
                let found = sitemaps.iter().any(|sitemap| origin.has(sitemap));
                let unread = sitemaps.iter().any(|sitemap| origin.is_unread(sitemap));
                (unread && !found).then_some("a sitemap could not be fetched")
            }
            Self::Llms => origin
                .is_withheld(origin.llms_txt.status)
                .then_some("llms.txt could not be fetched"),
            Self::Crawl => (!index.complete()).then_some("the crawl did not cover the whole site"),
            Self::Favicon => {
                let named = home
                    .and_then(|home| home.html.as_ref())
                    .is_some_and(|html| html.icon);
                (!named && silent(origin.favicon_status)).then_some("/favicon.ico could not be fetched")
            }
            Self::Variants => {
                // a variant without a response is handled by `unmet_beside`
                (!origin.permits_root()).then_some("robots.txt blocks the root URL")
            }
            Self::Connection => (origin.root.starts_with("https:") && origin.certificate_until_ms.is_none())
                .then_some("the TLS connection to the site could not be checked"),
            Self::Owner => home
                .is_some_and(is_owner_unsure)
                .then_some("the structured data of the home page could not be read unambiguously"),
            // these depend on the single occurrence
            Self::Targets
            | Self::Inlinks
            | Self::InlinkCount
            | Self::NoInlink
            | Self::Resources
            | Self::ReturnLinks
            | Self::ObjectNames
            | Self::Alternates
            | Self::ObjectEnds
            | Self::Listed => None,
        }
    }
}

impl Check {
    /// Returns the reason why the check is inconclusive for the whole site; `None` if it is conclusive.
    pub fn unmet_prerequisite(
        &self,
        home: Option<&PageFacts>,
        origin: &Origin,
        index: &SiteGraph,
    ) -> Option<&'static str> {
        self.rests_on
            .iter()
            .find_map(|prerequisite| prerequisite.unmet(home, origin, index))
    }

    /// Whether the check depends on facts beside the pages: robots.txt, sitemaps or llms.txt.
    pub fn rests_on_origin(&self) -> bool {
        self.rests_on.iter().any(|rest| {
            matches!(
                rest,
                Prerequisite::Robots
                    | Prerequisite::Sitemaps
                    | Prerequisite::AnySitemap
                    | Prerequisite::Listed
                    | Prerequisite::Llms
            )
        })
    }

    /// Returns the resolution of a problem that the check does not find any more, on a page with this verdict; `None`
    /// if that is no proof. [`Check::unmet_prerequisite`] covers the facts beside the page.
    pub fn resolution(&self, told: FetchVerdict) -> Option<Resolution> {
        let of_html = match self.test {
            Test::Site(_) => return Some(Resolution::Fixed),
            Test::Html(_) => true,
            Test::Url(_) => false,
        };
        match told {
            FetchVerdict::Nothing => None,
            FetchVerdict::Gone if self.finds_missing_pages => Some(Resolution::Fixed),
            FetchVerdict::Gone => Some(Resolution::PageGone),
            FetchVerdict::Moved if of_html => Some(Resolution::PageGone),
            FetchVerdict::Address if of_html => None,
            FetchVerdict::Beginning if of_html && self.needs_whole => None,
            FetchVerdict::Cut(lists) if of_html && lists & self.reads != 0 => None,
            FetchVerdict::Other if of_html => Some(Resolution::NotApplicable),
            _ => Some(Resolution::Fixed),
        }
    }
}

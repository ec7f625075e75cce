//! What a fetch tells of problems that were found before. That a check finds nothing proves that a problem is gone only
//! where it could have found it: an audit and a recheck resolve by the same rules, and never by silence.

use super::{Check, Test};
use crate::{
    graph::{Index, State, flag},
    origin::Origin,
    page::{Outcome, PageFacts, UrlId},
};

/// What the answer to the URL of a page tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing: there was no answer, or one that a busy server gives for a while.
    Nothing,
    /// What the URL answers, and nothing of the page behind it: refused, or sent on for now.
    Address,
    /// There is no page any more.
    Gone,
    /// The page has moved for good.
    Moved,
    /// The beginning of a page of HTML.
    Beginning,
    /// A page of HTML.
    Whole,
    /// Something else than HTML.
    Other,
}

impl Told {
    /// By what became of a fetch.
    pub fn by(facts: &PageFacts) -> Self {
        match facts.outcome {
            Outcome::Failed(_) | Outcome::Blocked(_) => Self::Nothing,
            Outcome::Redirect {
                status: 301 | 308, ..
            } => Self::Moved,
            Outcome::Status(404 | 410) => Self::Gone,
            Outcome::Status(status) if is_passing(status) => Self::Nothing,
            Outcome::Status(200) => match (&facts.html, facts.cut) {
                (Some(_), None) => Self::Whole,
                (Some(_), Some(_)) => Self::Beginning,
                (None, None) => Self::Other,
                (None, Some(_)) => Self::Address,
            },
            Outcome::Redirect { .. } | Outcome::Status(_) => Self::Address,
        }
    }
}

/// The server says that it is busy or ill: tomorrow it may say something else.
const fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..)
}

/// Why an occurrence is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The check was evaluated and found nothing.
    Fixed,
    /// The page is gone, or has moved for good.
    PageGone,
    /// The page is none that the check is about.
    NotApplicable,
}

impl Resolution {
    /// The word for it in answers.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::PageGone => "page_gone",
            Self::NotApplicable => "not_applicable",
        }
    }
}

/// What a check needs to know beside the page, so that finding nothing is a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
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
}

impl Rest {
    /// Why it cannot be told; `None` when it can.
    pub(super) fn silence(
        self,
        home: Option<&PageFacts>,
        origin: &Origin,
        index: &Index,
    ) -> Option<&'static str> {
        let silent = |status: Option<u16>| status.is_none_or(is_passing);
        match self {
            Self::Home => {
                let told = home.map_or(Told::Nothing, Told::by);
                (!matches!(told, Told::Whole | Told::Beginning)).then_some("the home page could not be read")
            }
            Self::Robots => silent(origin.robots.status).then_some("robots.txt could not be fetched"),
            Self::Sitemaps => {
                let mut sitemaps = origin.sitemaps.iter();
                sitemaps
                    .any(|sitemap| silent(sitemap.status))
                    .then_some("a sitemap could not be fetched")
            }
            Self::Llms => silent(origin.llms_txt.status).then_some("llms.txt could not be fetched"),
            Self::Crawl => (!index.complete()).then_some("the crawl left something out"),
        }
    }
}

/// What pages need beside themselves: checks about that.
const OF_RESOURCES: [&str; 6] = [
    "image-broken",
    "image-large",
    "image-legacy-format",
    "no-cache-header",
    "og-image-broken",
    "og-image-small",
];

impl Check {
    /// It is about what pages need beside themselves.
    pub fn is_of_resources(&self) -> bool {
        OF_RESOURCES.contains(&self.id)
    }

    /// Why nothing can be told of the problem, wherever it was; `None` when it can.
    pub fn silence(&self, home: Option<&PageFacts>, origin: &Origin, index: &Index) -> Option<&'static str> {
        self.rests_on
            .iter()
            .find_map(|rest| rest.silence(home, origin, index))
    }

    /// What lies beside the pages decides: robots.txt, sitemaps or llms.txt.
    pub fn rests_on_origin(&self) -> bool {
        self.rests_on
            .iter()
            .any(|rest| matches!(rest, Rest::Robots | Rest::Sitemaps | Rest::Llms))
    }

    /// How a problem is over that was on a page which now answers so, and that this check does not find any more; `None` when
    /// that is no proof. What it needs beside the page is asked of [`Check::silence`].
    pub const fn resolution(&self, told: Told) -> Option<Resolution> {
        let of_html = match self.test {
            Test::Site(_) => return Some(Resolution::Fixed),
            Test::Html(_) | Test::Answer(_) | Test::Screened(..) | Test::Noted(..) => true,
            Test::Url(_) => false,
        };
        match told {
            Told::Nothing => None,
            Told::Gone => Some(Resolution::PageGone),
            Told::Moved if of_html => Some(Resolution::PageGone),
            Told::Address if of_html => None,
            Told::Beginning if of_html && self.needs_whole => None,
            Told::Other if of_html => Some(Resolution::NotApplicable),
            _ => Some(Resolution::Fixed),
        }
    }
}

impl Index {
    /// Whether a crawl learnt what a URL answers, be it that its host does not exist.
    pub fn is_told(&self, id: UrlId) -> bool {
        match self.state(id) {
            State::Known | State::Blocked => false,
            State::Failed => self.has(id, flag::NO_HOST),
            State::Html | State::Other | State::Redirect => {
                // 999 and its like are meant for programs
                let refused = matches!(self.status(id), Some(401 | 403 | 405 | 406 | 451));
                !refused && !self.status(id).is_none_or(is_passing)
            }
        }
    }

    /// Whether a page links, redirects or refers to a URL as its canonical or alternate, be it by way of redirects.
    pub fn points_at(&self, page: UrlId, target: UrlId) -> bool {
        self.is_linked(page, target)
            || self.redirected_to(target).any(|from| self.is_linked(page, from))
            || self.is_alternate(page, target)
            || self.canonical(page) == Some(target)
            || self.hops(page).urls.contains(&target)
    }
}

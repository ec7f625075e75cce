//! What a fetch tells of problems that were found before. That a check finds nothing proves that a problem is gone only
//! where it could have found it: an audit and a recheck resolve by the same rules, and never by silence.

use super::{Category, Check, Test, structured_data::is_owner_unsure};
use crate::{
    graph::{Index, State, flag},
    http_status::is_transient,
    origin::Origin,
    page::{HtmlFacts, Outcome, PageFacts, UrlId, cut},
    urls::provenance,
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
    /// The same, which has more of something than is kept: bits of `cut`.
    Cut(u8),
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
            Outcome::Status(status) if is_transient(status) => Self::Nothing,
            // a server or an application that failed, and does not say so
            Outcome::Status(200) if facts.body_bytes == 0 => Self::Nothing,
            Outcome::Status(200) => match (&facts.html, facts.cut) {
                (Some(html), _) if is_challenge(html) => Self::Nothing,
                (Some(html), None) => match html.cut_lists() {
                    0 => Self::Whole,
                    lists => Self::Cut(lists),
                },
                (Some(_), Some(_)) => Self::Beginning,
                (None, None) => Self::Other,
                (None, Some(_)) => Self::Address,
            },
            Outcome::Redirect { .. } | Outcome::Status(_) => Self::Address,
        }
    }
}

/// What firewalls put in the place of a page while they look at who asks, with any status.
fn is_challenge(html: &HtmlFacts) -> bool {
    const TITLES: [&str; 3] = [
        "Just a moment...",
        "Attention Required! | Cloudflare",
        "DDoS-Guard",
    ];
    html.titles
        .first()
        .is_some_and(|title| TITLES.contains(&&**title))
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
    /// What the favicon's usual address answers, where the home page names no other.
    Favicon,
    /// What the root answers where it is spelled in another way.
    Variants,
    /// How the root of a site on https was connected to.
    Connection,
    /// See [`Witnesses::Targets`](super::Witnesses).
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

impl Rest {
    /// Why it cannot be told; `None` when it can.
    pub(super) fn silence(
        self,
        home: Option<&PageFacts>,
        origin: &Origin,
        index: &Index,
    ) -> Option<&'static str> {
        let silent = |status: Option<u16>| status.is_none_or(is_transient);
        match self {
            Self::Home => {
                let told = home.map_or(Told::Nothing, Told::by);
                (!matches!(told, Told::Whole | Told::Cut(_) | Told::Beginning))
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
            Self::Crawl => (!index.complete()).then_some("the crawl left something out"),
            Self::Favicon => {
                let named = home
                    .and_then(|home| home.html.as_ref())
                    .is_some_and(|html| html.icon);
                (!named && silent(origin.favicon_status)).then_some("/favicon.ico could not be fetched")
            }
            Self::Variants => {
                // of one that was asked and gave no answer says `silence_beside`
                (!origin.permits_root()).then_some("robots.txt forbids to fetch the root")
            }
            Self::Connection => (origin.root.starts_with("https:")
                && origin.more.certificate_until_ms.is_none())
            .then_some("nothing is known of the connection to the site"),
            Self::Owner => home
                .is_some_and(is_owner_unsure)
                .then_some("what belongs to the markup of the home page cannot be told"),
            // of each occurrence others
            Self::Targets
            | Self::Inlinks
            | Self::InlinkCount
            | Self::Alternates
            | Self::ObjectEnds
            | Self::Listed => None,
        }
    }
}

/// It says that a page is not there, so that a page which is not there proves nothing.
const NOT_THERE: &str = "http-4xx";

impl Check {
    /// Why nothing can be told of the problem, wherever it was; `None` when it can.
    pub fn silence(&self, home: Option<&PageFacts>, origin: &Origin, index: &Index) -> Option<&'static str> {
        self.rests_on
            .iter()
            .find_map(|rest| rest.silence(home, origin, index))
    }

    /// What lies beside the pages decides: robots.txt, sitemaps or llms.txt.
    pub fn rests_on_origin(&self) -> bool {
        self.rests_on.iter().any(|rest| {
            matches!(
                rest,
                Rest::Robots | Rest::Sitemaps | Rest::AnySitemap | Rest::Listed | Rest::Llms
            )
        })
    }

    /// How a problem is over that was on a page which now answers so, and that this check does not find any more; `None` when
    /// that is no proof. What it needs beside the page is asked of [`Check::silence`].
    pub fn resolution(&self, told: Told) -> Option<Resolution> {
        let of_html = match self.test {
            Test::Site(_) => return Some(Resolution::Fixed),
            Test::Html(_) | Test::Answer(_) | Test::Screened(..) | Test::Noted(..) => true,
            Test::Url(_) => false,
        };
        match told {
            Told::Nothing => None,
            Told::Gone if self.id == NOT_THERE => Some(Resolution::Fixed),
            Told::Gone => Some(Resolution::PageGone),
            Told::Moved if of_html => Some(Resolution::PageGone),
            Told::Address if of_html => None,
            Told::Beginning if of_html && self.needs_whole => None,
            Told::Cut(lists) if of_html && lists & self.lists() != 0 => None,
            Told::Other if of_html => Some(Resolution::NotApplicable),
            _ => Some(Resolution::Fixed),
        }
    }

    /// What it looks at of which a page may have more than is kept: bits of [`cut`].
    fn lists(&self) -> u8 {
        match (self.id, self.category) {
            ("robots-blocked-resource" | "no-cache-header" | "form-insecure" | "plugin-content", _) => {
                cut::RESOURCES
            }
            ("localhost-link" | "staging-host-leak", _) => cut::LINKS | cut::RESOURCES,
            ("url-tracking-params" | "evidence-missing" | "http-internal-link", _) => cut::LINKS,
            ("author-missing" | "date-missing" | "content-stale", _) => cut::MARKUP,
            ("question-heading-missing" | "direct-answer-missing", _) => cut::HEADINGS,
            (_, Category::Headings) => cut::HEADINGS,
            (_, Category::Images) => cut::IMAGES,
            (_, Category::StructuredData) => cut::MARKUP,
            (_, Category::International) => cut::ALTERNATES,
            (_, Category::Links) => cut::LINKS,
            _ => 0,
        }
    }
}

impl Index {
    /// Whether a crawl learnt what a URL answers, be it that its host does not exist; of a redirect of another site that
    /// links lead to, what it leads to.
    pub fn is_told(&self, id: UrlId) -> bool {
        match self.state(id) {
            State::Known | State::Blocked => false,
            State::Failed => self.has(id, flag::NO_HOST),
            State::Html | State::Other | State::Redirect => {
                // 999 and its like are meant for programs
                let refused = matches!(self.status(id), Some(401 | 403 | 405 | 406 | 451));
                let internal = self.has(id, flag::INTERNAL);
                let silent = internal && self.is_blank(id);
                !refused
                    && !self.status(id).is_none_or(is_transient)
                    && !silent
                    && (internal || self.provenance(id) & provenance::LINK == 0 || self.leads_somewhere(id))
            }
        }
    }

    /// Whether the redirects of another site end where an answer is known, or nowhere.
    fn leads_somewhere(&self, id: UrlId) -> bool {
        let hops = self.hops(id);
        let end = hops.urls.last().filter(|end| !hops.looped && **end != id);
        end.is_none_or(|end| {
            self.has(*end, flag::INTERNAL) || self.redirect(*end).is_none() && self.is_told(*end)
        })
    }

    /// Whether an alternate of a page that has this URL is a page of another site and was not read, or not to its end.
    pub fn is_unread_of(&self, page: UrlId, url: &str) -> bool {
        self.alternates(page)
            .any(|id| self.key(id) == url && self.is_unread(id))
    }

    fn is_unread(&self, id: UrlId) -> bool {
        self.provenance(id) & provenance::HREFLANG != 0
            && self.state(id) == State::Html
            && self.status(id) == Some(200)
            && !self.has(id, flag::READ)
            && !self.has(id, flag::INTERNAL)
    }

    /// Whether a page answered with nothing to see, which is no answer: no title, no heading, no text, no link.
    fn is_blank(&self, id: UrlId) -> bool {
        let place = id.0 as usize;
        let says = [&self.titles, &self.h1s, &self.texts];
        self.state(id) == State::Html
            && self.status(id) == Some(200)
            && self.has(id, flag::DEAD_END)
            && says
                .iter()
                .all(|hashes| hashes.get(place).is_none_or(|hash| *hash == 0))
    }
}

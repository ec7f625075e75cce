//! Facts of one URL of a crawl. Facts only: no judgement (see `checks`) and no network (see `fetch`). Compact, because
//! they are stored for each page (postcard).

mod anchors;
mod base_url;
mod bylines;
mod charset;
mod density;
mod directives;
mod elements;
mod headers;
mod html_facts;
mod language;
mod limits;
mod link_list;
mod links;
mod main_text;
mod markup_mismatch;
mod microdata;
mod not_modified;
mod open_elements;
mod placeholders;
mod readability;
mod reader;
mod response;

pub(crate) use base_url::{base_url, resolve_http};
#[cfg(test)]
pub(crate) use bylines::names_article;
pub(crate) use charset::xml_encoding;
pub use directives::{Directives, NotIndexable, RobotsRules, directives, not_indexable, refresh};
pub(crate) use elements::INSECURE;
pub(crate) use headers::is_frame_ancestors;
pub use html_facts::{Charset, Form, Heading, HtmlFacts, Image, JsonLd, LinkRel, Meta, ResourceRef};
pub use language::DetectedLanguage;
pub(crate) use limits::{OBJECTS, cut};
pub use link_list::{
    LINK_CODE, LINK_CONCEALED, LINK_FRAGMENT, LINK_MALFORMED, LINK_OTHER_SCHEME, Link, Links, REL_NOFOLLOW,
};
pub(crate) use links::is_reserved;
pub use markup_mismatch::MarkupMismatch;
pub use microdata::{Object, Objects, UnknownTerms};
pub(crate) use not_modified::SLOW_MS;
pub use not_modified::{READER, unchanged};
pub(crate) use placeholders::FILLER;
pub use response::read;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::fetch::{Cut, FetchError, Validators};

/// Index of a URL in the crawl's URL table. Dense from 0; 0 is the start URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UrlId(pub u32);

/// Assigns ids to URLs while a page is read: by the crawl's table, or by a small one for a recheck.
pub trait Intern {
    /// Returns the id of a resolved absolute URL; its fragment is ignored. `None` if the table is full.
    fn intern(&mut self, url: &Url) -> Option<UrlId>;
    /// Returns the id of a URL that is already normalised (see `url_key`), without parsing it.
    fn intern_key(&mut self, key: &str) -> Option<UrlId>;
}

/// Facts of one fetched, failed or blocked URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageFacts {
    /// Id of the URL in the crawl.
    pub id: UrlId,
    /// Absolute URL as fetched.
    pub url: Box<str>,
    /// Outcome of the fetch.
    pub outcome: Outcome,
    /// Number of requests, retries included.
    pub attempts: u8,
    /// Time of the fetch in milliseconds since the Unix epoch; passed in by the caller.
    pub fetched_at_ms: i64,
    /// Time to first byte in milliseconds; if it was slow, the median of two responses.
    pub ttfb_ms: u32,
    /// Size of the body on the wire, in bytes.
    pub wire_bytes: u64,
    /// Size of the body after decoding, in bytes, as far as it was kept.
    pub body_bytes: u64,
    /// Reason why the body is incomplete, if it is.
    pub cut: Option<Cut>,
    /// Response headers that checks read.
    pub headers: HeaderFacts,
    /// Whether the body begins like HTML, whatever `Content-Type` says.
    pub looks_html: bool,
    /// Facts of the HTML body, whatever the status; `None` if the body is not HTML.
    pub html: Option<Box<HtmlFacts>>,
    /// Validators for a conditional request; `None` if the page has to be fetched in full next time. Stored separately,
    /// because only the next audit needs them.
    #[serde(skip)]
    pub validators: Option<Box<Validators>>,
}

impl PageFacts {
    /// Creates the facts of a URL without a page: blocked, or no response.
    pub fn without_answer(url: &Url, at: At, outcome: Outcome) -> Self {
        Self {
            id: at.id,
            url: url.as_str().into(),
            outcome,
            attempts: at.attempts,
            fetched_at_ms: at.fetched_at_ms,
            ttfb_ms: 0,
            wire_bytes: 0,
            body_bytes: 0,
            cut: None,
            headers: HeaderFacts::default(),
            looks_html: false,
            html: None,
            validators: None,
        }
    }

    /// Returns the HTTP status, `None` without a response.
    pub fn status(&self) -> Option<u16> {
        match self.outcome {
            Outcome::Status(status) | Outcome::Redirect { status, .. } => Some(status),
            Outcome::Failed(_) | Outcome::Blocked(_) => None,
        }
    }

    /// Returns the facts of HTML with status 200, which most checks are about.
    pub fn html_200(&self) -> Option<&HtmlFacts> {
        self.html
            .as_deref()
            .filter(|_| self.outcome == Outcome::Status(200))
    }

    /// Returns the declared canonical: the first one in the head or the headers that resolves.
    pub fn canonical(&self) -> Option<UrlId> {
        let elements = self.html.iter().flat_map(|html| &html.canonicals);
        elements
            .filter(|link| link.in_head)
            .chain(&self.headers.canonicals)
            .find_map(|link| link.target)
    }
}

/// Id and time of a fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Id of the URL in the crawl.
    pub id: UrlId,
    /// Number of requests, retries included.
    pub attempts: u8,
    /// Time in milliseconds since the Unix epoch.
    pub fetched_at_ms: i64,
}

/// Limits of the facts kept per page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes kept of the main text.
    ///
    /// A crawl keeps 4 KB (650 words of English) to find keywords in. Twice as much doubles the time for compression
    /// and the disk space, and changes only one in ten to twenty of the keywords found.
    pub text: usize,
    /// Whether the main text is kept, or only evaluated.
    pub keeps_text: bool,
    /// Maximum number of links kept. Beyond it, up to as many links are kept that have a new target or a new rel; all
    /// links are counted.
    pub links: usize,
    /// Number of words above which a paragraph is long.
    pub paragraph_words: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            text: 4 * 1024,
            keeps_text: true,
            links: 5_000,
            paragraph_words: 150,
        }
    }
}

/// Outcome of a fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// A response that is not a redirect, with its status.
    Status(u16),
    /// Status 3xx other than 304. `target` is `None` if `Location` is missing or unusable.
    Redirect {
        /// The status code.
        status: u16,
        /// `Location` as sent.
        location: Option<Box<str>>,
        /// Target of the redirect.
        target: Option<UrlId>,
    },
    /// No response after all attempts.
    Failed(FetchError),
    /// Disallowed by robots.txt and not fetched; holds the rule that matched.
    Blocked(Box<str>),
}

/// Response headers that checks read. Absent headers are `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeaderFacts {
    /// `Content-Type` with its parameters.
    pub content_type: Option<Box<str>>,
    /// `Content-Encoding`.
    pub content_encoding: Option<Box<str>>,
    /// Every `X-Robots-Tag` value.
    pub robots_tags: Vec<Box<str>>,
    /// Targets of `Link: <…>; rel="canonical"`.
    pub canonicals: Vec<LinkRel>,
    /// `Server`.
    pub server: Option<Box<str>>,
    /// `Retry-After`.
    pub retry_after: Option<Box<str>>,
    /// `Cache-Control`.
    pub cache_control: Option<Box<str>>,
    /// `Strict-Transport-Security`.
    pub hsts: Option<Box<str>>,
    /// `Content-Security-Policy`.
    pub csp: Option<Box<str>>,
    /// `X-Frame-Options`.
    pub frame_options: Option<Box<str>>,
    /// `X-Content-Type-Options`.
    pub content_type_options: Option<Box<str>>,
    /// `Referrer-Policy`.
    pub referrer_policy: Option<Box<str>>,
    /// `Last-Modified`.
    pub last_modified: Option<Box<str>>,
    /// Headers of intermediate caches by lower-case name: `age`, `x-cache`, `cf-cache-status`, `via`. Not stored,
    /// because they matter only while a response is fresh.
    #[serde(skip)]
    pub caches: Vec<(&'static str, Box<str>)>,
}

#[cfg(test)]
mod tests;

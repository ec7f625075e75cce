//! Facts of one URL of a crawl. Facts only: no judgement (that is `checks`), no
//! network (that is `fetch`). Compact, because one is stored per page (postcard).

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
pub use link_list::{LINK_CODE, LINK_FRAGMENT, LINK_MALFORMED, LINK_OTHER_SCHEME, Link, Links, REL_NOFOLLOW};
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

/// Gives ids to URLs while a page is read; the crawl's table, or a small one for a recheck.
pub trait Intern {
    /// Id of a resolved absolute URL (fragment allowed, it is dropped); `None` when the table is full.
    fn intern(&mut self, url: &Url) -> Option<UrlId>;
    /// Id of a URL already in normalised form (see `url_key`); skips parsing.
    fn intern_key(&mut self, key: &str) -> Option<UrlId>;
}

/// Everything known of one fetched (or refused) URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageFacts {
    /// Its id in the crawl.
    pub id: UrlId,
    /// Absolute URL as fetched.
    pub url: Box<str>,
    /// Outcome of the fetch.
    pub outcome: Outcome,
    /// Requests made, retries included.
    pub attempts: u8,
    /// When, in milliseconds since the Unix epoch; passed in by the caller.
    pub fetched_at_ms: i64,
    /// Milliseconds to the first byte; where that was slow, the median of two answers.
    pub ttfb_ms: u32,
    /// Body on the wire, bytes.
    pub wire_bytes: u64,
    /// Body after decoding, bytes (of what was kept).
    pub body_bytes: u64,
    /// Set when the body is not whole.
    pub cut: Option<Cut>,
    /// Response headers that checks read.
    pub headers: HeaderFacts,
    /// The body begins as HTML does, whatever `Content-Type` says.
    pub looks_html: bool,
    /// Present when the body is HTML, whatever the status.
    pub html: Option<Box<HtmlFacts>>,
    /// By what its server may be asked whether it has changed; `None` where it has to be read anew. Stored apart: only the
    /// next audit needs it.
    #[serde(skip)]
    pub validators: Option<Box<Validators>>,
}

impl PageFacts {
    /// Facts of a URL that gave no page: blocked, or no answer.
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

    /// HTTP status, `None` without an answer.
    pub fn status(&self) -> Option<u16> {
        match self.outcome {
            Outcome::Status(status) | Outcome::Redirect { status, .. } => Some(status),
            Outcome::Failed(_) | Outcome::Blocked(_) => None,
        }
    }

    /// HTML that answered 200: what most checks are about.
    pub fn html_200(&self) -> Option<&HtmlFacts> {
        self.html
            .as_deref()
            .filter(|_| self.outcome == Outcome::Status(200))
    }

    /// Declared canonical: the first in its head or headers that resolves.
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
    /// Its id in the crawl.
    pub id: UrlId,
    /// Requests made, retries included.
    pub attempts: u8,
    /// Milliseconds since the Unix epoch.
    pub fetched_at_ms: i64,
}

/// Limits of what is kept of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the main text.
    ///
    /// A crawl keeps 4 KB to find words in, 650 words of English: with twice as many, packing and room double, and all but
    /// one in ten or twenty of the keywords found are the same.
    pub text: usize,
    /// Whether the main text is kept, or only looked at.
    pub keeps_text: bool,
    /// Links kept; of the rest as many that lead where no other does, or not so, and all are counted.
    pub links: usize,
    /// A paragraph of more words is a long one.
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
    /// An answer that is not a redirect.
    Status(u16),
    /// 3xx other than 304. `target` is `None` when `Location` is missing or unusable.
    Redirect {
        /// The status code.
        status: u16,
        /// `Location` as sent.
        location: Option<Box<str>>,
        /// Target.
        target: Option<UrlId>,
    },
    /// No answer after all attempts.
    Failed(FetchError),
    /// Disallowed by robots.txt, not fetched; the rule that matched.
    Blocked(Box<str>),
}

/// Response headers that checks read. Absent headers are `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeaderFacts {
    /// `Content-Type`, whole.
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
    /// Headers of caches on the way, by lower-case name: `age`, `x-cache`, `cf-cache-status`, `via`. Not stored: of interest
    /// only while an answer is fresh.
    #[serde(skip)]
    pub caches: Vec<(&'static str, Box<str>)>,
}

#[cfg(test)]
mod tests;

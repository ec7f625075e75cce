//! What one URL of a crawl turned out to be. Facts only: no judgement (that is `checks`), no
//! network (that is `fetch`). Compact, because one is stored per page (postcard).

mod attributes;
mod charset;
mod directives;
mod ease;
mod elements;
mod entities;
mod headers;
mod language;
mod link_list;
mod links;
mod microdata;
mod more;
mod open;
mod prose;
mod raw_text;
mod read;
mod reader;
mod reuse;
mod tags;
mod tokens;
mod unseen;

pub(crate) use headers::is_frame_ancestors;
pub(crate) use prose::FILLER;

pub use directives::{Directives, NotIndexable, Rules, directives, not_indexable, refresh};
pub use language::Detected;
pub use link_list::{LINK_CODE, LINK_FRAGMENT, LINK_MALFORMED, LINK_OTHER_SCHEME, Link, Links, REL_NOFOLLOW};
pub use microdata::Strange;
pub use more::More;
pub use read::read;
pub(crate) use reuse::SLOW_MS;
pub use reuse::{READER, unchanged};
pub use unseen::Unseen;

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
    /// How the fetch ended.
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

    /// Where the page says it belongs: the first canonical in its head or headers that resolves.
    pub fn canonical(&self) -> Option<UrlId> {
        let elements = self.html.iter().flat_map(|html| &html.canonicals);
        elements
            .filter(|link| link.in_head)
            .chain(&self.headers.canonicals)
            .find_map(|link| link.target)
    }
}

/// When and as what a URL was fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Its id in the crawl.
    pub id: UrlId,
    /// Requests made, retries included.
    pub attempts: u8,
    /// Milliseconds since the Unix epoch.
    pub fetched_at_ms: i64,
}

/// What to keep of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the main text.
    ///
    /// A crawl keeps 4 KB to find words in, 650 words of English: with twice as many, packing and room double, and all but
    /// one in ten or twenty of the keywords found are the same.
    pub text: usize,
    /// Links kept; of the rest as many that lead where no other does, and all are counted.
    pub links: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            text: 4 * 1024,
            links: 5_000,
        }
    }
}

/// How a fetch ended.
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
        /// Where it points.
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
    /// What caches on the way say, by lower-case name: `age`, `x-cache`, `cf-cache-status`, `via`. Not stored: of interest
    /// only while an answer is fresh.
    #[serde(skip)]
    pub caches: Vec<(&'static str, Box<str>)>,
}

/// What one streaming pass over an HTML body saw. Texts are whitespace-folded and cut to 500
/// grapheme clusters; lists are cut to 50 entries beside a total, links to the crawl's limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HtmlFacts {
    /// `<html lang>`.
    pub lang: Option<Box<str>>,
    /// Charset used and where it came from.
    pub charset: Charset,
    /// `<!doctype html>` seen before anything else.
    pub doctype: bool,
    /// `<base href>`, as written.
    pub base: Option<Box<str>>,
    /// Every `<title>` in head or body (not in svg).
    pub titles: Vec<Box<str>>,
    /// Every `<meta name|property|http-equiv content>`: lower-cased name, content, inside head?
    pub metas: Vec<Meta>,
    /// Every `<link rel=canonical>` href with its resolved id.
    pub canonicals: Vec<LinkRel>,
    /// Every `<link rel=alternate hreflang>`: `rel` holds the hreflang code.
    pub hreflangs: Vec<LinkRel>,
    /// `<link rel=icon>` present.
    pub icon: bool,
    /// `<link rel=next|prev>`.
    pub pagination: Vec<LinkRel>,
    /// Head-only elements found in the body: `title`, `meta robots`, `meta description`, `canonical`, `hreflang`.
    pub head_in_body: Vec<Box<str>>,
    /// What ended the head: a tag, or `text`.
    pub head_ended_by: Option<Box<str>>,
    /// The first 80 characters of the source when it does not begin with a doctype.
    pub opening: Option<Box<str>>,
    /// Headings in order; of those beyond the list the first h1s that say something.
    pub headings: Vec<Heading>,
    /// Headings in all (the list is cut).
    pub headings_total: u32,
    /// `<a href>` and `<area href>`, in order.
    pub links: Links,
    /// Links in all (the list is cut at the crawl's limit).
    pub links_total: u32,
    /// `<a>` without a usable href: as written.
    pub uncrawlable_links: Vec<Box<str>>,
    /// Such links in all.
    pub uncrawlable_total: u32,
    /// `<img>`.
    pub images: Vec<Image>,
    /// Images in all.
    pub images_total: u32,
    /// Images without `alt` that are not decorative, in all.
    pub images_without_alt: u32,
    /// Images without dimensions, in all.
    pub images_unsized: u32,
    /// `src` of the first image outside navigation, header, footer and aside, when it is `loading=lazy`.
    pub lazy_first_image: Option<Box<str>>,
    /// `<picture>` without `<img>`.
    pub pictures_without_img: u32,
    /// Scripts, styles, frames, media with http(s) URL: tag and URL as written.
    pub resources: Vec<Resource>,
    /// External scripts and stylesheets in all.
    pub resources_total: u32,
    /// Scripts, styles, frames, plugins, media and images whose URL begins with `http:`, or comes to by the page's base:
    /// 20 that browsers block, and 20 images and media.
    pub insecure: Vec<Resource>,
    /// Such URLs in all.
    pub insecure_total: u32,
    /// `<form>`: action as written, and whether it holds a password field.
    pub forms: Vec<Form>,
    /// JSON-LD blocks.
    pub json_ld: Vec<JsonLd>,
    /// Microdata or RDFa present.
    pub microdata: bool,
    /// Types named in microdata or RDFa, without their vocabulary: `Product`.
    pub item_types: Vec<Box<str>>,
    /// `<object>`, `<embed>`, `<applet>`: tag and type.
    pub plugins: Vec<Box<str>>,
    /// Values of `id` and `a[name]`, hashed, for fragment checks; cut at 5,000.
    pub id_hashes: Vec<u64>,
    /// Elements, those in templates left out.
    pub elements: u32,
    /// Deepest nesting seen.
    pub max_depth: u32,
    /// `data-nosnippet` on, in or around the main text so that it covers nine tenths of it.
    pub main_nosnippet: bool,
    /// The source mentions an author or byline outside JSON-LD.
    pub byline: bool,
    /// `<blockquote>` and `<q>`, and one more for quotation marks in the main text.
    pub quotations: u32,
    /// The main text holds a digit.
    pub numbers: bool,
    /// Words of the visible text (UAX #29; CJK characters / 1.7).
    pub words: u32,
    /// Words of the main text (main or article, else the body without nav, header, footer, aside).
    pub main_words: u32,
    /// Visible text, bytes.
    pub text_bytes: u64,
    /// Hash of the folded main text.
    pub text_hash: u64,
    /// First 300 characters of the main text, for evidence.
    pub excerpt: Box<str>,
    /// Beginning of the main text, a line for each block, listings of programs left out. No part of the stored form:
    /// it is kept apart, so that who reads facts reads no texts.
    #[serde(skip)]
    pub main_text: Box<str>,
    /// Paragraphs, and those longer than 150 words.
    pub paragraphs: u32,
    /// Paragraphs of more than 150 words.
    pub long_paragraphs: u32,
    /// Unrendered template text found, as written, and filler text, lower case, with what follows it.
    pub placeholders: Vec<Box<str>>,
    /// An element that single-page applications mount on, with scripts: `#root`, `#app`, `#__next`, `#__nuxt`.
    pub spa_root: bool,
    /// What came later. No part of the stored form of these facts, which is as it ever was: it is stored behind them.
    #[serde(skip)]
    pub more: More,
    /// Names in microdata that schema.org does not have; stored behind that.
    #[serde(skip)]
    pub strange: Strange,
}

/// Where the charset came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Charset {
    /// WHATWG name of the encoding used.
    pub used: Box<str>,
    /// Declared in the HTTP header.
    pub header: Option<Box<str>>,
    /// Declared by `<meta>` in the first 1,024 bytes.
    pub meta: Option<Box<str>>,
    /// Began with a byte order mark.
    pub bom: bool,
}

/// One `<meta>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Lower-cased `name`, `property`, or `http-equiv` (the latter with a leading `=`).
    pub name: Box<str>,
    /// `content`, trimmed.
    pub content: Box<str>,
    /// Stood inside the head.
    pub in_head: bool,
}

/// A `<link>` with a meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkRel {
    /// Rel or hreflang code.
    pub rel: Box<str>,
    /// As written.
    pub href: Box<str>,
    /// Where it points; `None` when it cannot be resolved to http(s).
    pub target: Option<UrlId>,
    /// Stood inside the head.
    pub in_head: bool,
}

/// One heading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Text, with alt texts of images in it.
    pub text: Box<str>,
    /// 1-based line in the source.
    pub line: u32,
    /// Words of the paragraph that follows at once; 0 when none does.
    pub answer_words: u32,
}

/// One image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// `src` as written.
    pub src: Box<str>,
    /// `alt`; `None` when the attribute is absent.
    pub alt: Option<Box<str>>,
    /// `role=presentation|none` or `aria-hidden=true`.
    pub decorative: bool,
    /// Has width and height, or an inline aspect-ratio.
    pub sized: bool,
    /// `loading=lazy`.
    pub lazy: bool,
    /// 1-based line in the source.
    pub line: u32,
}

/// A script, style, frame or media URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// Lower-case tag.
    pub tag: Box<str>,
    /// As written.
    pub url: Box<str>,
}

impl Resource {
    /// An image, sound or video: browsers may show it over http too.
    pub(crate) fn is_passive(&self) -> bool {
        matches!(&*self.tag, "img" | "audio" | "video" | "source" | "track")
    }
}

/// One form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Form {
    /// `action` as written.
    pub action: Box<str>,
    /// Holds `<input type=password>`.
    pub password: bool,
}

/// One JSON-LD block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JsonLd {
    /// The block; empty when it has more than 64 KiB, or the blocks of the page together more than 128 KiB.
    pub source: Box<str>,
    /// Parse error with line and column; `None` when it parses.
    pub error: Option<Box<str>>,
    /// 1-based line in the source.
    pub line: u32,
}

#[cfg(test)]
mod tests;

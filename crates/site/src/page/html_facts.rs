//! Facts of an HTML body.

use searchwright_text::{minhash::Sketch, readability::Readability};
use serde::{Deserialize, Serialize};

use super::{DetectedLanguage, Links, MarkupMismatch, Objects, UnknownTerms, UrlId};

/// Facts that one pass over an HTML body finds. Texts are whitespace-folded and cut to 500
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
    /// Every `<link rel=alternate hreflang>`, and behind them those of `Link` headers: `rel` holds the hreflang code.
    pub hreflangs: Vec<LinkRel>,
    /// `<link rel=icon>` present.
    pub icon: bool,
    /// `<link rel=next|prev>`.
    pub pagination: Vec<LinkRel>,
    /// Head-only elements found in the body: `title`, `meta robots`, `meta description`, `canonical`, `hreflang`.
    pub head_in_body: Vec<Box<str>>,
    /// The end of the head: a tag, or `text`.
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
    pub resources: Vec<ResourceRef>,
    /// External scripts and stylesheets in all.
    pub resources_total: u32,
    /// Scripts, styles, frames, plugins, media and images whose URL begins with `http:`, or comes to by the page's base:
    /// 20 that browsers block, and 20 images and media.
    pub insecure: Vec<ResourceRef>,
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
    /// The source mentions an author or byline outside JSON-LD; not looked for where that is of no article.
    pub byline: bool,
    /// `<blockquote>` and `<q>`, and one more for quotation marks in the main text.
    pub quotations: u32,
    /// The main text holds a digit.
    pub numbers: bool,
    /// Words of the visible text (UAX #29; CJK characters / 1.7).
    pub words: u32,
    /// Words of the main text: main or article, else the body without nav, header, footer and aside, and of that the blocks that
    /// are dense, where those can be told.
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
    /// Sketch of a main text of at least 50 words.
    pub sketch: Option<Sketch>,
    /// Score of the main text, when it is hard to read.
    pub hard: Option<Readability>,
    /// The language of the main text, when it is surely another than the declared one.
    pub language: Option<DetectedLanguage>,
    /// Values of markup that the visible text does not have.
    pub unseen: Vec<MarkupMismatch>,
    /// Places in the list of images of those that are offered as WebP or AVIF too.
    pub modern_images: Vec<u8>,
    /// Names in microdata that schema.org does not have.
    pub strange: UnknownTerms,
    /// The newest date that a `<time>` of the text names and that was not to come, in milliseconds since the Unix epoch.
    pub dated: Option<i64>,
    /// Objects of its microdata; `None` where there are none.
    pub objects: Option<Box<Objects>>,
}

/// Source of the charset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Charset {
    /// WHATWG name of the encoding used.
    pub used: Box<str>,
    /// Declared in the HTTP header.
    pub header: Option<Box<str>>,
    /// Declared by `<meta>` or an XML declaration in the first 1,024 bytes.
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
    /// Target; `None` when it cannot be resolved to http(s).
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
pub struct ResourceRef {
    /// Lower-case tag.
    pub tag: Box<str>,
    /// As written.
    pub url: Box<str>,
}

impl ResourceRef {
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

//! Facts of an HTML body.

use searchwright_text::{minhash::Sketch, readability::Readability};
use serde::{Deserialize, Serialize};

use super::{DetectedLanguage, Links, MarkupMismatch, Objects, UnknownTerms, UrlId};

/// Facts found by one pass over an HTML body. Texts have their white space folded and are cut to 500 grapheme clusters;
/// lists are cut (see `limits`) with a total beside them, links to the crawl's limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HtmlFacts {
    /// `lang` of the `<html>` element.
    pub lang: Option<Box<str>>,
    /// Encoding of the body, and where it was declared.
    pub charset: Charset,
    /// Whether `<!doctype html>` comes before anything else.
    pub doctype: bool,
    /// `<base href>`, as written.
    pub base: Option<Box<str>>,
    /// Every `<title>` in head or body, except in SVG.
    pub titles: Vec<Box<str>>,
    /// Every `<meta>` with `name`, `property` or `http-equiv`.
    pub metas: Vec<Meta>,
    /// Every `<link rel=canonical>` with its resolved target.
    pub canonicals: Vec<LinkRel>,
    /// Every `<link rel=alternate hreflang>`, followed by those of `Link` headers; `rel` holds the hreflang code.
    pub hreflangs: Vec<LinkRel>,
    /// Whether there is a `<link rel=icon>`.
    pub icon: bool,
    /// Every `<link rel=next|prev>`.
    pub pagination: Vec<LinkRel>,
    /// Head-only elements found in the body: `title`, `meta robots`, `meta description`, `canonical`, `hreflang`.
    pub head_in_body: Vec<Box<str>>,
    /// Name of the tag that ended the head, or `text`.
    pub head_ended_by: Option<Box<str>>,
    /// First 80 characters of the source, if it does not begin with a doctype.
    pub opening: Option<Box<str>>,
    /// Headings in order, without those that are hidden; beyond the limit only the first h1s with text. If no h1 is shown,
    /// the first hidden one is the last in the list.
    pub headings: Vec<Heading>,
    /// Number of all headings, including those beyond the limit.
    pub headings_total: u32,
    /// Links of `<a href>` and `<area href>`, in order.
    pub links: Links,
    /// Number of all links, including those beyond the crawl's limit.
    pub links_total: u32,
    /// Source of `<a>` elements without a usable href.
    pub uncrawlable_links: Vec<Box<str>>,
    /// Number of all such elements.
    pub uncrawlable_total: u32,
    /// Images in order.
    pub images: Vec<Image>,
    /// Number of all images.
    pub images_total: u32,
    /// Number of all images without `alt` that are not decorative.
    pub images_without_alt: u32,
    /// Number of all images without dimensions.
    pub images_unsized: u32,
    /// `src` of the first image outside navigation, header, footer and aside, if it has `loading=lazy`.
    pub lazy_first_image: Option<Box<str>>,
    /// Number of `<picture>` elements without `<img>`.
    pub pictures_without_img: u32,
    /// Scripts, stylesheets, frames and media: tag and URL as written.
    pub resources: Vec<ResourceRef>,
    /// Number of all external scripts and stylesheets.
    pub resources_total: u32,
    /// Scripts, styles, frames, plugins, media and images whose URL is `http:`, as written or by the base URL of the
    /// page: at most 20 that browsers block, and 20 images and media.
    pub insecure: Vec<ResourceRef>,
    /// Number of all such URLs.
    pub insecure_total: u32,
    /// Forms: action as written, and whether there is a password field.
    pub forms: Vec<Form>,
    /// JSON-LD blocks.
    pub json_ld: Vec<JsonLd>,
    /// Whether there is microdata or RDFa.
    pub microdata: bool,
    /// Types named in microdata or RDFa without their vocabulary, such as `Product`.
    pub item_types: Vec<Box<str>>,
    /// Tag and type of each `<object>`, `<embed>` or `<applet>` that needs a plugin.
    pub plugins: Vec<Box<str>>,
    /// Hashes of `id` and `a[name]` values for fragment checks; `id`s beyond 5,000 values are left out.
    pub id_hashes: Vec<u64>,
    /// Number of elements outside templates.
    pub elements: u32,
    /// Greatest nesting depth.
    pub max_depth: u32,
    /// Whether `data-nosnippet` covers at least nine tenths of the main text.
    pub main_nosnippet: bool,
    /// Whether the source mentions an author or byline outside JSON-LD; only determined if the structured data is of an
    /// article.
    pub byline: bool,
    /// Number of `<blockquote>` and `<q>` elements, plus one if the main text has quotation marks.
    pub quotations: u32,
    /// Whether the main text contains a digit.
    pub numbers: bool,
    /// Number of words of the visible text (UAX #29; CJK characters / 1.7).
    pub words: u32,
    /// Number of words of the main text: the text in main or article, or else the body without nav, header, footer and
    /// aside, reduced to dense blocks if density is conclusive.
    pub main_words: u32,
    /// Size of the visible text in bytes.
    pub text_bytes: u64,
    /// Hash of the folded main text, with the heading of the page and the text below it; 0 if there is none.
    pub text_hash: u64,
    /// First 300 characters of the main text, for evidence.
    pub excerpt: Box<str>,
    /// Beginning of the main text, one line per block, without program listings. Not part of the stored facts but
    /// stored separately, so that readers of facts need not load texts.
    #[serde(skip)]
    pub main_text: Box<str>,
    /// Number of paragraphs.
    pub paragraphs: u32,
    /// Number of long paragraphs, by default those of more than 150 words.
    pub long_paragraphs: u32,
    /// Placeholders: unrendered template text as written, and filler text in lower case with some text after it.
    pub placeholders: Vec<Box<str>>,
    /// Whether there are scripts and an element that single-page applications mount on: `#root`, `#app`, `#__next`,
    /// `#__nuxt`.
    pub spa_root: bool,
    /// MinHash sketch of the main text, if it has at least 50 words.
    pub sketch: Option<Sketch>,
    /// Readability score of the main text, if it is hard to read.
    pub hard: Option<Readability>,
    /// Language of the main text, if it certainly differs from the declared one.
    pub language: Option<DetectedLanguage>,
    /// Values of structured data that the visible text does not contain.
    pub unseen: Vec<MarkupMismatch>,
    /// Indexes in `images` of images that are also offered as WebP or AVIF.
    pub modern_images: Vec<u8>,
    /// Names in microdata that schema.org does not define.
    pub strange: UnknownTerms,
    /// Newest date of a `<time>` element outside landmarks, not in the future, in milliseconds since the Unix epoch.
    pub dated: Option<i64>,
    /// Microdata objects; `None` if there are none.
    pub objects: Option<Box<Objects>>,
}

/// Encoding of a page and its declarations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Charset {
    /// WHATWG name of the encoding used.
    pub used: Box<str>,
    /// Charset declared in the HTTP header.
    pub header: Option<Box<str>>,
    /// Charset declared by `<meta>` or an XML declaration in the first 1,024 bytes.
    pub meta: Option<Box<str>>,
    /// Whether the body begins with a byte order mark.
    pub bom: bool,
}

/// One `<meta>` element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Lower-case `name`, `property`, or `http-equiv` (the last with a leading `=`).
    pub name: Box<str>,
    /// `content`, trimmed.
    pub content: Box<str>,
    /// Whether the element is in the head.
    pub in_head: bool,
}

/// A `<link>` element with a relation that checks use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkRel {
    /// Relation or hreflang code.
    pub rel: Box<str>,
    /// URL as written.
    pub href: Box<str>,
    /// Target; `None` if the URL cannot be resolved to http(s).
    pub target: Option<UrlId>,
    /// Whether the element is in the head.
    pub in_head: bool,
}

/// One heading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heading {
    /// Level, 1 to 6.
    pub level: u8,
    /// Text, including alt texts of images in it.
    pub text: Box<str>,
    /// 1-based line in the source.
    pub line: u32,
    /// Number of words of the paragraph directly below; 0 if there is none.
    pub answer_words: u32,
    /// Whether the heading is in navigation or a sidebar.
    pub beside: bool,
    /// Whether some of the text is program text.
    pub code: bool,
}

/// One image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// `src` as written.
    pub src: Box<str>,
    /// `alt`; `None` when the attribute is absent.
    pub alt: Option<Box<str>>,
    /// Whether the image has `role=presentation|none`, is hidden at least from assistive technology, or is a tracking
    /// pixel.
    pub decorative: bool,
    /// Whether the image has width and height, as attributes or inline style, or an inline aspect-ratio, or is not in the
    /// flow of the page.
    pub sized: bool,
    /// Whether the image has `loading=lazy`.
    pub lazy: bool,
    /// 1-based line in the source.
    pub line: u32,
}

/// A script, style, frame or media URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceRef {
    /// Lower-case tag.
    pub tag: Box<str>,
    /// URL as written.
    pub url: Box<str>,
}

impl ResourceRef {
    /// Whether this is an image, sound or video, which browsers may load over http too.
    pub(crate) fn is_passive(&self) -> bool {
        matches!(&*self.tag, "img" | "audio" | "video" | "source" | "track")
    }
}

/// One form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Form {
    /// `action` as written.
    pub action: Box<str>,
    /// Whether the form contains `<input type=password>`.
    pub password: bool,
}

/// One JSON-LD block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JsonLd {
    /// Source of the block; empty if it exceeds 64 KiB, or if all blocks of the page together exceed 128 KiB.
    pub source: Box<str>,
    /// Parse error with line and column; `None` if the block is valid JSON.
    pub error: Option<Box<str>>,
    /// 1-based line in the source.
    pub line: u32,
}

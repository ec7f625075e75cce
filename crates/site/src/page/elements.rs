//! Reads start tags: one function for each kind of element.

use std::borrow::Cow;

use searchwright_text as text;
use serde::de::IgnoredAny;

use super::{
    Form, Image, JsonLd, LinkRel, Meta, ResourceRef,
    limits::{ALTERNATES, BLOCKS, LIST, RESOURCES},
    reader::{Concealed, Reader, TEXT},
};
use crate::html::{
    attributes::{Attributes, HREF},
    inline_style,
    tags::Tag,
    tokenizer::StartTag,
};

/// Maximum size in bytes of a JSON-LD block that is kept. The graph that a plugin writes for an article has 30,000.
const JSON: usize = 64 << 10;
/// Maximum number of bytes kept of all JSON-LD of a page.
const ALL_JSON: usize = 128 << 10;
/// Number of metas up to which social card metas are kept when the list is full; [`VITAL_METAS`] is that of metas that
/// decide about a page.
const CARD_METAS: usize = 2 * LIST;
const VITAL_METAS: usize = 3 * LIST;
/// Maximum number of social card metas with the same name when the list is full: some pages have a hundred `og:image`.
const SAME_METAS: usize = 5;
/// Maximum number of insecure URLs kept that browsers block, and of insecure images and media.
pub(crate) const INSECURE: usize = 20;
/// Error of an empty JSON-LD block.
pub(super) const EMPTY_JSON: &str = "empty block";

impl<'a> Reader<'a, '_> {
    /// Reads the facts of a start tag.
    pub(super) fn meaning(&mut self, start: &StartTag<'a>, attributes: Attributes<'_, 'a>) {
        match start.tag {
            Tag::A => self.anchor(start, attributes),
            Tag::Area if attributes.has("href") => self.hyperlink(start, attributes),
            Tag::Img => self.image(start, attributes),
            // a second html element only adds attributes that the first one lacks
            Tag::Html if self.out.lang.is_none() => {
                self.out.lang = attributes.get("lang").map(|lang| text::cut(&lang, 80).into());
            }
            Tag::Title if !start.foreign => self.title(),
            Tag::Meta => self.meta(attributes),
            Tag::Link => self.link_element(attributes),
            Tag::Base => self.base(attributes),
            Tag::Script => self.script(start, attributes),
            Tag::Source if self.open.has(Tag::Picture) => {
                self.picture_is_modern |= attributes
                    .raw("type")
                    .is_some_and(|kind| kind.contains("webp") || kind.contains("avif"))
                    || has_modern(attributes);
                self.resource(start.tag, attributes.url("src"));
                self.insecure_set("img", attributes);
            }
            Tag::Iframe | Tag::Audio | Tag::Source | Tag::Track => {
                self.resource(start.tag, attributes.url("src"));
            }
            Tag::Video => {
                self.resource(start.tag, attributes.url("src"));
                self.insecure("video", &attributes.url("poster").unwrap_or_default());
            }
            Tag::Object | Tag::Embed | Tag::Applet => self.plugin(start.tag, attributes),
            Tag::Form => self.form(attributes.url("action").unwrap_or_default()),
            Tag::Input if attributes.is("type", "password") => self.password(),
            Tag::Time => self.time(attributes.get("datetime").as_deref()),
            Tag::Blockquote | Tag::Q => self.out.quotations += 1,
            _ => {}
        }
    }

    fn image(&mut self, start: &StartTag<'a>, attributes: Attributes<'_, 'a>) {
        let alt = attributes.get("alt").map(|alt| text::squeeze(&alt));
        if let Some(alt) = alt.as_deref().filter(|alt| !alt.is_empty()) {
            self.alternative(alt);
        }
        let src = attributes.url("src").unwrap_or_default();
        self.insecure("img", &src);
        self.insecure_set("img", attributes);
        let one = |name| {
            attributes
                .raw(name)
                .is_some_and(|v| matches!(v.trim(), "0" | "1"))
        };
        let decorative = attributes.is("role", "presentation")
            || attributes.is("role", "none")
            || self.concealed() > Concealed::No
            // tracking pixels show nothing
            || one("width") && one("height");
        let sized = self.concealed() == Concealed::Unseen || is_sized(attributes);
        let line = self.line(start.at);
        let is_modern = has_modern(attributes) || self.picture_is_modern && self.open.has(Tag::Picture);
        // another attribute, or another element, may name the image
        let named = ["aria-label", "aria-labelledby"]
            .iter()
            .any(|name| attributes.raw(name).is_some_and(|name| !name.trim().is_empty()));
        let decorative = decorative || named && alt.is_none();
        let image = Image {
            src: src.as_ref().into(),
            alt: alt.map(|alt| text::cut(&alt, TEXT).into()),
            decorative,
            sized,
            lazy: attributes.is("loading", "lazy"),
            line,
        };
        self.saw_image(image, is_modern);
    }

    fn title(&mut self) {
        if self.in_body {
            self.in_wrong_place("title");
        }
        // the text that follows goes into the last title; there may be none
        if self.out.titles.len() < LIST {
            self.out.titles.push(Box::default());
        }
    }

    fn in_wrong_place(&mut self, what: &str) {
        if self.out.head_in_body.len() < LIST {
            self.out.head_in_body.push(what.into());
        }
    }

    fn meta(&mut self, attributes: Attributes<'_, 'a>) {
        // one element may address several readers: `<meta name="image" property="og:image">`
        let [name, property] = ["name", "property"].map(|name| attributes.get(name));
        let same = matches!((&name, &property), (Some(a), Some(b)) if a.eq_ignore_ascii_case(b));
        for name in [name, property.filter(|_| !same)].into_iter().flatten() {
            self.named_meta(name.to_ascii_lowercase(), attributes);
        }
        if let Some(name) = attributes.get("http-equiv") {
            self.named_meta(format!("={}", name.to_ascii_lowercase()), attributes);
        }
    }

    fn named_meta(&mut self, name: String, attributes: Attributes<'_, 'a>) {
        if self.in_body && matches!(name.as_str(), "robots" | "googlebot" | "description") {
            self.in_wrong_place(&format!("meta {name}"));
        }
        let kept = self.out.metas.len();
        let has_room = kept < LIST
            || match name.as_str() {
                "robots" | "googlebot" | "description" | "viewport" | "referrer" => kept < VITAL_METAS,
                "=refresh" | "=content-security-policy" => kept < VITAL_METAS,
                "article:published_time" | "article:modified_time" => kept < VITAL_METAS,
                card if card.starts_with("og:") || card.starts_with("twitter:") => {
                    let same = self.out.metas.iter().filter(|meta| *meta.name == *card);
                    kept < CARD_METAS && same.count() < SAME_METAS
                }
                _ => false,
            };
        if has_room {
            let content = attributes.get("content").unwrap_or_default();
            let content = text::cut(&text::squeeze(&content), TEXT).into();
            self.out.metas.push(Meta {
                name: text::cut(&name, 80).into(),
                content,
                in_head: !self.in_body,
            });
        }
    }

    fn link_element(&mut self, attributes: Attributes<'_, 'a>) {
        let Some(rel) = attributes.raw("rel") else { return };
        let href = attributes.url("href").unwrap_or_default();
        let hreflang = attributes.get("hreflang");
        for rel in rel.split_ascii_whitespace().map(str::to_ascii_lowercase) {
            match rel.as_str() {
                "canonical" => {
                    if self.in_body {
                        self.in_wrong_place("canonical");
                    }
                    let link = self.relation(&rel, &href);
                    push_some(&mut self.out.canonicals, link);
                }
                "alternate" => {
                    let Some(code) = &hreflang else { continue };
                    if self.in_body {
                        self.in_wrong_place("hreflang");
                    }
                    let link = self.relation(text::cut(code, 40), &href);
                    if self.out.hreflangs.len() < ALTERNATES {
                        self.out.hreflangs.push(link);
                    }
                }
                "next" | "prev" => {
                    let link = self.relation(&rel, &href);
                    push_some(&mut self.out.pagination, link);
                }
                "icon" => self.out.icon = true,
                "stylesheet" => self.resource(Tag::Link, Some(href.clone())),
                _ => {}
            }
        }
    }

    fn relation(&mut self, rel: &str, href: &str) -> LinkRel {
        let target = if href.is_empty() {
            None
        } else {
            self.resolver.target(href)
        };
        LinkRel {
            rel: rel.into(),
            href: href.into(),
            target,
            in_head: !self.in_body,
        }
    }

    fn base(&mut self, attributes: Attributes<'_, 'a>) {
        // only the first counts
        if let Some(href) = attributes.url("href")
            && self.out.base.is_none()
        {
            self.resolver.rebase(&href);
            self.out.base = Some(href.as_ref().into());
        }
    }

    fn script(&mut self, start: &StartTag<'a>, attributes: Attributes<'_, 'a>) {
        self.saw_script();
        let json_ld = attributes.raw("type").is_some_and(|kind| {
            kind.split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .eq_ignore_ascii_case("application/ld+json")
        });
        self.json_open = json_ld && self.out.json_ld.len() < BLOCKS;
        if self.json_open {
            let line = self.line(start.at);
            self.out.json_ld.push(JsonLd {
                source: Box::default(),
                error: Some(EMPTY_JSON.into()),
                line,
            });
        } else {
            self.resource(Tag::Script, attributes.url("src"));
        }
    }

    fn resource(&mut self, tag: Tag, url: Option<Cow<'a, str>>) {
        let Some(url) = url.filter(|url| !url.is_empty()) else {
            return;
        };
        if matches!(tag, Tag::Script | Tag::Link) {
            self.out.resources_total += 1;
        }
        self.insecure(tag.name(), &url);
        if self.out.resources.len() < RESOURCES {
            self.out.resources.push(ResourceRef {
                tag: tag.name().into(),
                url: url.as_ref().into(),
            });
        }
    }

    /// Examines the candidates of a `srcset`; splitting at commas inside URLs does not affect insecure ones.
    fn insecure_set(&mut self, tag: &str, attributes: Attributes<'_, 'a>) {
        let set = attributes.get("srcset").unwrap_or_default();
        let candidates = set
            .split(',')
            .filter_map(|one| one.split_ascii_whitespace().next());
        for url in candidates.take(INSECURE) {
            self.insecure(tag, text::cut(url, HREF));
        }
    }

    fn insecure(&mut self, tag: &str, url: &str) {
        let written = url
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("http:"));
        let by_base = if written {
            None
        } else {
            self.resolver.downgraded(url)
        };
        if !written && by_base.is_none() {
            return;
        }
        self.out.insecure_total += 1;
        let resource = ResourceRef {
            tag: tag.into(),
            url: by_base.map_or_else(|| url.into(), |url| text::cut(url.as_str(), HREF).into()),
        };
        // separate limits, so that a gallery over http hides no script
        let like = |other: &&ResourceRef| other.is_passive() == resource.is_passive();
        if self.out.insecure.iter().filter(like).count() < INSECURE {
            self.out.insecure.push(resource);
        }
    }

    fn plugin(&mut self, tag: Tag, attributes: Attributes<'_, 'a>) {
        const TYPES: [&str; 5] = [
            "application/x-shockwave-flash",
            "application/x-java-applet",
            "application/x-java-bean",
            "application/x-silverlight",
            "application/x-silverlight-2",
        ];
        const EXTENSIONS: [&str; 5] = [".swf", ".flv", ".class", ".xap", ".jar"];
        let kind = attributes.get("type").unwrap_or_default();
        let url = attributes
            .url(if tag == Tag::Object { "data" } else { "src" })
            .unwrap_or_default();
        self.insecure(tag.name(), &url);
        let path = url
            .split(['?', '#'])
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let needed = tag == Tag::Applet
            || TYPES.iter().any(|t| kind.eq_ignore_ascii_case(t))
            || EXTENSIONS.iter().any(|extension| path.ends_with(extension));
        if needed && self.out.plugins.len() < LIST {
            let what = if kind.is_empty() { &url } else { &kind };
            self.out
                .plugins
                .push(format!("{} {}", tag.name(), text::cut(what, 200)).trim().into());
        }
    }

    fn form(&mut self, action: Cow<'a, str>) {
        if self.out.forms.len() < LIST {
            self.out.forms.push(Form {
                action: action.as_ref().into(),
                password: false,
            });
        }
    }

    fn password(&mut self) {
        if !self.open.has(Tag::Form) {
            self.form(Cow::Borrowed(""));
        }
        if let Some(form) = self.out.forms.last_mut() {
            form.password = true;
        }
    }
}

/// Whether the browser knows the room that an image takes before it loads, or it takes none in the flow of the page.
fn is_sized(attributes: Attributes<'_, '_>) -> bool {
    let style = attributes.get("style").unwrap_or_default();
    let is_given = |name: &str, other: &str| {
        let number = attributes.raw(name).map(str::trim_start);
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
            || inline_style::sets_size(&style, [name, other])
    };
    is_given("width", "inline-size") && is_given("height", "block-size")
        || inline_style::sets_size(&style, ["aspect-ratio", "aspect-ratio"])
        || inline_style::is_out_of_flow(&style)
}

/// Whether an element offers an image in a modern format.
fn has_modern(attributes: Attributes<'_, '_>) -> bool {
    attributes
        .raw("srcset")
        .is_some_and(|set| set.contains(".webp") || set.contains(".avif"))
}

fn push_some<T>(list: &mut Vec<T>, item: T) {
    if list.len() < LIST {
        list.push(item);
    }
}

/// Sets the text of the last JSON-LD block, if it is not too large.
pub(super) fn fill_json_ld(blocks: &mut [JsonLd], source: &str) {
    let kept: usize = blocks.iter().map(|block| block.source.len()).sum();
    let source = source.trim();
    let Some(block) = blocks.last_mut().filter(|_| !source.is_empty()) else {
        return;
    };
    block.error = serde_json::from_str::<IgnoredAny>(source)
        .err()
        .map(|error| error.to_string().into());
    if source.len() <= JSON && kept + source.len() <= ALL_JSON {
        block.source = source.into();
    }
}

//! Elements that are microdata objects or properties, and their values (HTML standard 5.2.4).

use std::borrow::Cow;

use super::Reader;
use crate::{
    html::{
        attributes::Attributes,
        entities::{self, In},
        tags::Tag,
        tokenizer::{StartTag, TextKind},
    },
    page::microdata::{ItemAttributes, PendingText, PropertyValue, names, short},
};

impl<'a> Reader<'a, '_> {
    /// Handles an element with microdata attributes; `is_open` if it can have content.
    pub(super) fn item(&mut self, start: &StartTag<'a>, attributes: Attributes<'_, 'a>, is_open: bool) {
        let property = attributes.get("itemprop").map(|property| names(&property));
        let types = attributes.get("itemtype").unwrap_or_default();
        let depth = is_open.then(|| self.open.depth());
        if attributes.has("itemscope") {
            let id = attributes.get("itemid");
            let told = ItemAttributes {
                types: &types,
                id: id.as_deref(),
                refers: attributes
                    .raw("itemref")
                    .is_some_and(|ids| !ids.trim().is_empty()),
            };
            let objects = self.objects.get_or_insert_default();
            objects.begin(property, &told, start.tag, depth);
            return;
        }
        if !types.is_empty() {
            self.no_object(&types);
        }
        let (Some(objects), Some(names)) = (&mut self.objects, property) else {
            return;
        };
        if names.is_empty() {
            return;
        }
        let value = written(start, attributes);
        let is_link_to_someone = start.tag == Tag::A && names.iter().any(|name| is_someone(name));
        match (value, depth) {
            (Some(PropertyValue::Url(url)), Some(depth)) if is_link_to_someone => {
                objects.await_text(
                    PendingText::new(names, self.prose.mark(), Some(url)),
                    start.tag,
                    depth,
                );
            }
            (Some(value), _) => objects.add(names, value),
            (None, Some(depth)) => {
                objects.await_text(PendingText::new(names, self.prose.mark(), None), start.tag, depth);
            }
            (None, None) => objects.add(names, PropertyValue::Text(Box::default())),
        }
    }

    /// Records types of items that are no microdata objects, above all of RDFa.
    pub(super) fn no_object(&mut self, types: &str) {
        self.objects.get_or_insert_default().elsewhere(types);
    }

    /// Handles elements before they end, by an end tag or implicitly.
    pub(super) fn leave_items(&mut self, count: usize, end_tag: Option<Tag>) {
        let Some(objects) = &mut self.objects else { return };
        match end_tag {
            // these end tags may be omitted or imply an element of their own
            Some(Tag::P | Tag::Br | Tag::Body | Tag::Html | Tag::Head) if count == 0 => {}
            Some(tag) if count == 0 && !tag.is_void() => objects.surplus(tag),
            _ if count == 0 || !objects.is_open() => {}
            _ => {
                let depth = (self.open.depth() + 1).saturating_sub(count);
                let (prose, titles) = (&self.prose, &self.out.titles);
                objects.close_down_to(depth, end_tag.is_some(), |tag, mark| match tag {
                    Tag::Title => titles.last().map_or("", |title| &**title),
                    _ => prose.since(mark),
                });
            }
        }
    }

    /// Handles the end of the document. Open elements count as cut off, except html and body if the document was
    /// closed.
    pub(super) fn leave_all(&mut self) {
        let Some(objects) = &mut self.objects else { return };
        let prose = &self.prose;
        objects.leave_document(self.is_closed, |mark| prose.since(mark));
    }

    /// Records text that is not collected in the objects that contain it.
    pub(super) fn text_in_item(&mut self, source: &str, kind: TextKind) {
        let is_drawing = self.open.has(Tag::Svg);
        let Some(objects) = self.objects.as_mut().filter(|objects| objects.is_open()) else {
            return;
        };
        match kind {
            TextKind::Escapable(Tag::Title) => {}
            // it is part of the page for clients without scripts
            TextKind::Raw(Tag::Noscript) if source.contains("itemprop") => objects.doubt(),
            TextKind::Escapable(_) | TextKind::Raw(_) => objects.other_text(),
            TextKind::Data | TextKind::Cdata if is_drawing => objects.other_text(),
            TextKind::Data | TextKind::Cdata => {}
        }
    }
}

/// Returns the value of a property from its attributes; `None` if it is the text of the element. By the standard
/// `content` counts only on `<meta>`, but search engines read it on all elements.
fn written(start: &StartTag<'_>, attributes: Attributes<'_, '_>) -> Option<PropertyValue> {
    let some = |name: &str| attributes.get(name).filter(|value| !value.is_empty());
    let text = |value: Cow<'_, str>| PropertyValue::Text(short(&value));
    let content = some("content").map(text);
    let url = |name: &str| some(name).map(|url| PropertyValue::Url(short(&url)));
    match start.tag {
        Tag::Meta => Some(content.unwrap_or_else(|| PropertyValue::Text(Box::default()))),
        Tag::Audio | Tag::Embed | Tag::Iframe | Tag::Img | Tag::Source | Tag::Track | Tag::Video => {
            url("src").or(content).or_else(|| loaded_later(attributes))
        }
        Tag::A | Tag::Area | Tag::Link => url("href").or(content),
        Tag::Object => url("data").or(content),
        Tag::Time => some("datetime").map(text).or(content),
        Tag::Input => some("value").map(text).or(content),
        Tag::Other if is_valued(start.name) => some("value").map(text).or(content),
        _ => content,
    }
}

fn is_valued(name: &str) -> bool {
    ["data", "meter"].iter().any(|of| name.eq_ignore_ascii_case(of))
}

/// Returns the URL of an image that a script loads when it comes into view.
fn loaded_later(attributes: Attributes<'_, '_>) -> Option<PropertyValue> {
    let mut sources = attributes.0.iter().filter(|attribute| {
        let name = attribute.name.to_ascii_lowercase();
        name == "srcset" || name.starts_with("data-") && name.contains("src")
    });
    let source = sources.find(|attribute| !attribute.value.trim().is_empty())?;
    Some(PropertyValue::Url(short(&entities::decode(
        source.value.trim(),
        In::Attribute,
    ))))
}

/// Whether the value of a property is a person or an organization.
fn is_someone(name: &str) -> bool {
    matches!(name, "author" | "creator" | "publisher")
}

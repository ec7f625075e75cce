//! Elements that are objects of microdata or say something of one, and the value of each (HTML, 5.2.4).

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
    /// An element with a part in microdata, which is open now if it can hold something.
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

    /// Types of what is no object of microdata: of RDFa above all.
    pub(super) fn no_object(&mut self, types: &str) {
        self.objects.get_or_insert_default().elsewhere(types);
    }

    /// So many elements are about to end, by an end tag or by what follows.
    pub(super) fn leave_items(&mut self, count: usize, end_tag: Option<Tag>) {
        let Some(objects) = &mut self.objects else { return };
        match end_tag {
            // those may be left out, and stand in the place of nothing
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

    /// The end of the document. What is open is cut off, but for the document itself where that was closed.
    pub(super) fn leave_all(&mut self) {
        let Some(objects) = &mut self.objects else { return };
        let prose = &self.prose;
        objects.leave_document(self.is_closed, |mark| prose.since(mark));
    }

    /// Text that nobody gathers belongs to what it stands in too.
    pub(super) fn text_in_item(&mut self, source: &str, kind: TextKind) {
        let is_drawing = self.open.has(Tag::Svg);
        let Some(objects) = self.objects.as_mut().filter(|objects| objects.is_open()) else {
            return;
        };
        match kind {
            TextKind::Escapable(Tag::Title) => {}
            // to whom runs no scripts it is a part of the page
            TextKind::Raw(Tag::Noscript) if source.contains("itemprop") => objects.doubt(),
            TextKind::Escapable(_) | TextKind::Raw(_) => objects.other_text(),
            TextKind::Data | TextKind::Cdata if is_drawing => objects.other_text(),
            TextKind::Data | TextKind::Cdata => {}
        }
    }
}

/// The value of a property that its attributes say; `None` where it is the text of the element. By the standard `content`
/// counts on a `<meta>` only, but search engines read it on all.
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

/// An image that scripts put in its place when it comes into view.
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

/// A property whose value is a person or an organisation.
fn is_someone(name: &str) -> bool {
    matches!(name, "author" | "creator" | "publisher")
}

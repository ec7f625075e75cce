//! The attributes of one start tag.

use std::borrow::Cow;

use searchwright_text as text;

use super::entities::{self, In};

/// Longest URL kept as written, in characters; what is longer is a `data:` URL or an attack.
pub(crate) const HREF: usize = 2_048;

/// Attributes kept of one tag, whatever they are; of what follows those that someone asks for.
const MAX_ATTRIBUTES: usize = 128;
/// Names that reading asks for.
const ASKED: [&str; 39] = [
    "action",
    "alt",
    "aria-hidden",
    "aria-label",
    "charset",
    "color",
    "content",
    "data",
    "data-nosnippet",
    "datetime",
    "face",
    "height",
    "href",
    "hreflang",
    "http-equiv",
    "id",
    "itemid",
    "itemprop",
    "itemref",
    "itemscope",
    "itemtype",
    "lang",
    "loading",
    "name",
    "onclick",
    "poster",
    "property",
    "rel",
    "role",
    "size",
    "src",
    "srcset",
    "style",
    "title",
    "type",
    "typeof",
    "value",
    "width",
    "xlink:href",
];

/// One attribute, as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute<'a> {
    /// Name, in the case it was written.
    pub name: &'a str,
    /// Value with character references in it; empty when there is none.
    pub value: &'a str,
}

impl Attribute<'_> {
    fn is(&self, name: &str) -> bool {
        self.name.len() == name.len() && self.name.eq_ignore_ascii_case(name)
    }
}

/// The attributes of the tag that was read last.
#[derive(Debug, Default)]
pub(crate) struct Kept<'a> {
    all: Vec<Attribute<'a>>,
    /// Places in [`ASKED`] of those that were looked for once there was no more room: of one name the first counts.
    looked_for: u64,
}

impl<'a> Kept<'a> {
    pub fn all(&self) -> &[Attribute<'a>] {
        &self.all
    }

    pub fn clear(&mut self) {
        self.all.clear();
        self.looked_for = 0;
    }

    pub fn push(&mut self, attribute: Attribute<'a>) {
        if self.all.len() < MAX_ATTRIBUTES || self.is_new(&attribute) {
            self.all.push(attribute);
        }
    }

    #[cold]
    fn is_new(&mut self, attribute: &Attribute<'_>) -> bool {
        let Some(place) = ASKED.iter().position(|name| attribute.is(name)) else {
            return false;
        };
        let bit = 1 << place;
        if self.looked_for & bit != 0 {
            return false;
        }
        self.looked_for |= bit;
        !self.all.iter().any(|other| other.is(ASKED[place]))
    }
}

/// The attributes of a start tag.
#[derive(Clone, Copy)]
pub(crate) struct Attributes<'t, 'a>(pub &'t [Attribute<'a>]);

impl<'a> Attributes<'_, 'a> {
    /// Value as written; the first of several.
    pub fn raw(self, name: &str) -> Option<&'a str> {
        debug_assert!(ASKED.contains(&name), "{name} is not kept wherever it stands");
        self.0.iter().find(|a| a.is(name)).map(|a| a.value)
    }

    pub fn has(self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    /// Value with its character references decoded and its ends trimmed.
    pub fn get(self, name: &str) -> Option<Cow<'a, str>> {
        self.raw(name)
            .map(|value| match entities::decode(value, In::Attribute) {
                Cow::Borrowed(value) => Cow::Borrowed(trimmed(value)),
                Cow::Owned(value) => Cow::Owned(trimmed(&value).to_owned()),
            })
    }

    /// A URL, cut where none is that long.
    pub fn url(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).map(|url| match url {
            Cow::Borrowed(url) => Cow::Borrowed(text::cut(url, HREF)),
            Cow::Owned(url) => Cow::Owned(text::cut(&url, HREF).to_owned()),
        })
    }

    pub fn has_word(self, name: &str, word: &str) -> bool {
        self.raw(name).is_some_and(|value| {
            value
                .split_ascii_whitespace()
                .any(|w| w.eq_ignore_ascii_case(word))
        })
    }

    pub fn is(self, name: &str, value: &str) -> bool {
        self.raw(name)
            .is_some_and(|v| v.trim().eq_ignore_ascii_case(value))
    }
}

/// Without white space around it, which few values have.
fn trimmed(value: &str) -> &str {
    match value.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => value,
        _ => value.trim(),
    }
}

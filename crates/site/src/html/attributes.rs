//! The attributes of one start tag.

use std::borrow::Cow;

use searchwright_text as text;

use super::entities::{self, In};

/// Maximum length of a URL kept as written, in characters; a longer one is a `data:` URL or an attack.
pub(crate) const HREF: usize = 2_048;

/// Number of attributes of a tag kept unconditionally; beyond it only those in [`ASKED`].
const MAX_ATTRIBUTES: usize = 128;
/// Attribute names that the reader uses.
const ASKED: [&str; 45] = [
    "action",
    "alt",
    "aria-hidden",
    "aria-label",
    "aria-labelledby",
    "charset",
    "class",
    "color",
    "content",
    "data",
    "data-nosnippet",
    "datetime",
    "face",
    "height",
    "hidden",
    "href",
    "hreflang",
    "http-equiv",
    "id",
    "inert",
    "itemid",
    "itemprop",
    "itemref",
    "itemscope",
    "itemtype",
    "lang",
    "loading",
    "name",
    "onclick",
    "open",
    "popover",
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
    /// Name in the case it was written.
    pub name: &'a str,
    /// Value with its character references not decoded; empty if there is none.
    pub value: &'a str,
}

impl Attribute<'_> {
    fn is(&self, name: &str) -> bool {
        self.name.len() == name.len() && self.name.eq_ignore_ascii_case(name)
    }
}

/// Attributes of the last tag that was read.
#[derive(Debug, Default)]
pub(crate) struct Kept<'a> {
    all: Vec<Attribute<'a>>,
    /// Bits of indexes in [`ASKED`] seen since the list was full: the first attribute of a name counts.
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
    /// Returns the value as written; the first one if the name repeats.
    pub fn raw(self, name: &str) -> Option<&'a str> {
        debug_assert!(ASKED.contains(&name), "{name} is not kept wherever it stands");
        self.0.iter().find(|a| a.is(name)).map(|a| a.value)
    }

    pub fn has(self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    /// Returns the value, trimmed and with its character references decoded.
    pub fn get(self, name: &str) -> Option<Cow<'a, str>> {
        self.raw(name)
            .map(|value| match entities::decode(value, In::Attribute) {
                Cow::Borrowed(value) => Cow::Borrowed(trimmed(value)),
                Cow::Owned(value) => Cow::Owned(trimmed(&value).to_owned()),
            })
    }

    /// Returns a URL value, cut to [`HREF`] characters.
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

/// Trims white space, which few values have around them.
fn trimmed(value: &str) -> &str {
    match value.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => value,
        _ => value.trim(),
    }
}

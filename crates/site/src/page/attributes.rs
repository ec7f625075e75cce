//! The attributes of one start tag.

use std::borrow::Cow;

use super::{
    entities::{self, In},
    tokens::Attribute,
};
use crate::text;

/// Longest URL kept as written, in characters; what is longer is a `data:` URL or an attack.
pub(super) const HREF: usize = 2_048;

/// The attributes of a start tag.
#[derive(Clone, Copy)]
pub(super) struct Attributes<'t, 'a>(pub &'t [Attribute<'a>]);

impl<'a> Attributes<'_, 'a> {
    /// Value as written; the first of several.
    pub fn raw(self, name: &str) -> Option<&'a str> {
        self.0
            .iter()
            .find(|a| a.name.len() == name.len() && a.name.eq_ignore_ascii_case(name))
            .map(|a| a.value)
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

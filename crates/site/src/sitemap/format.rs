//! Elements, attributes and references of XML files that serve as sitemaps.

use quick_xml::{
    XmlVersion,
    events::{BytesRef, BytesStart},
};

use super::LOC_LIMIT;

/// Format of an XML file, by its root element. Feeds serve as sitemaps too (sitemaps.org, "Other Sitemap formats").
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// A sitemap or an index.
    Sitemap,
    /// RSS 2.0. The publication date of an item is not its date of change, so it is not read.
    Rss,
    /// Atom 0.3 or 1.0.
    Atom,
}

impl Format {
    /// Returns the depth of entries, and their name; in a sitemap they may have any name.
    pub(super) fn entry(self) -> (u32, Option<&'static str>) {
        match self {
            Self::Sitemap => (1, None),
            Self::Rss => (2, Some("item")),
            Self::Atom => (1, Some("entry")),
        }
    }

    /// Returns the field of an element in an entry.
    pub(super) fn field(self, name: &str) -> Field {
        match (self, name) {
            (Self::Sitemap, "loc") | (Self::Rss, "link") => Field::Loc,
            (Self::Sitemap, "lastmod") | (Self::Atom, "updated" | "modified") => Field::LastMod,
            _ => Field::None,
        }
    }
}

/// Field whose text is being collected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    None,
    Loc,
    LastMod,
}

pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok().flatten()?;
    let value = attribute.normalized_value(XmlVersion::default()).ok()?;
    (value.len() <= LOC_LIMIT).then(|| value.into_owned())
}

/// Returns `xmlns` or `xmlns:prefix`, whichever defines the namespace of an element called `name`.
pub(super) fn namespace_name(name: &str) -> String {
    match name.split_once(':') {
        Some((prefix, _)) => format!("xmlns:{prefix}"),
        None => "xmlns".to_owned(),
    }
}

/// Resolves character references and the five predefined entities of XML; none that a document defines.
pub(super) fn resolve(reference: &BytesRef<'_>) -> Option<char> {
    match &**reference {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => reference.resolve_char_ref().ok().flatten(),
    }
}

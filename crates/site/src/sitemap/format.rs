//! Elements, attributes and references of XML files that serve as sitemaps.

use quick_xml::{
    XmlVersion,
    events::{BytesRef, BytesStart},
};

use super::LOC_LIMIT;

/// Kind of an XML file, by its root. Feeds serve as sitemaps too (sitemaps.org, "Other Sitemap formats").
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// A sitemap or an index.
    Sitemap,
    /// RSS 2.0. When an item was published says nothing of when it was changed, so its date is not read.
    Rss,
    /// Atom 0.3 or 1.0.
    Atom,
}

impl Format {
    /// Elements around an entry, and what it is called; whatever it likes in a sitemap.
    pub(super) fn entry(self) -> (u32, Option<&'static str>) {
        match self {
            Self::Sitemap => (1, None),
            Self::Rss => (2, Some("item")),
            Self::Atom => (1, Some("entry")),
        }
    }

    /// Field of an element within an entry.
    pub(super) fn field(self, name: &str) -> Field {
        match (self, name) {
            (Self::Sitemap, "loc") | (Self::Rss, "link") => Field::Loc,
            (Self::Sitemap, "lastmod") | (Self::Atom, "updated" | "modified") => Field::LastMod,
            _ => Field::None,
        }
    }
}

/// Text that is being collected.
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

/// `xmlns` or `xmlns:prefix`, whichever names the namespace of an element called `name`.
pub(super) fn namespace_name(name: &str) -> String {
    match name.split_once(':') {
        Some((prefix, _)) => format!("xmlns:{prefix}"),
        None => "xmlns".to_owned(),
    }
}

/// Character references and the five entities of XML itself; nothing a document defines.
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

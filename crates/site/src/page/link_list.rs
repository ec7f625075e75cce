//! Links of a page. There may be thousands, so their texts share one string instead of an allocation each. Stored links
//! stay packed until they are needed, which is rare, because the graph knows the targets.

mod stored;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::stored::Stored;
use super::UrlId;

/// The link has rel nofollow, ugc or sponsored.
pub const REL_NOFOLLOW: u8 = 1;
/// The href cannot be parsed or has a mistyped scheme.
pub const LINK_MALFORMED: u8 = 2;
/// The scheme is mailto, tel, javascript or another one that is not crawled, or the URL is reserved by the network in
/// front of the site (`/cdn-cgi/`).
pub const LINK_OTHER_SCHEME: u8 = 4;
/// The href has a non-empty fragment.
pub const LINK_FRAGMENT: u8 = 8;
/// The whole text of the link is program text.
pub const LINK_CODE: u8 = 16;
/// The link is hidden at least from assistive technology.
pub const LINK_CONCEALED: u8 = 64;
/// Flag of the last link kept: further links were left out that may have other targets.
const LINK_LAST: u8 = 32;

/// Number of links for which space is reserved at first; [`TEXT`] is the number of bytes per link.
const LINKS: usize = 64;
const TEXT: usize = 48;

/// One hyperlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// URL as written.
    pub href: &'a str,
    /// Target; `None` if the link is malformed or not http(s).
    pub target: Option<UrlId>,
    /// Text, alt, aria-label or title; cut to 80 grapheme clusters.
    pub anchor: &'a str,
    /// Bits of [`REL_NOFOLLOW`] and the constants below it.
    pub flags: u8,
    /// 1-based line in the source.
    pub line: u32,
}

/// Hyperlinks of a page, in order.
#[derive(Clone, Default)]
pub struct Links {
    read: ParsedLinks,
    /// Packed links, which replace `read`.
    stored: Option<Stored>,
}

/// Unpacked links.
#[derive(Clone, Debug, Default)]
struct ParsedLinks {
    text: String,
    entries: Vec<Entry>,
}

/// Start and end of a piece of the shared text.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Span(u32, u32);

#[derive(Clone, Copy, Debug, Deserialize)]
struct Entry {
    href: Span,
    target: Option<UrlId>,
    anchor: Span,
    flags: u8,
    line: u32,
}

impl Links {
    fn read(&self) -> &ParsedLinks {
        self.stored.as_ref().map_or(&self.read, Stored::read)
    }

    fn read_mut(&mut self) -> &mut ParsedLinks {
        if let Some(stored) = self.stored.take() {
            self.read = stored.into_read();
        }
        &mut self.read
    }

    /// Returns the number of links, without unpacking them.
    pub fn len(&self) -> usize {
        self.stored.as_ref().map_or(self.read.entries.len(), Stored::len)
    }

    /// Whether there is no link.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether any href or text contains a byte; if not, no link needs to be examined.
    pub fn mention(&self, byte: u8) -> bool {
        memchr::memchr(byte, self.read().text.as_bytes()).is_some()
    }

    /// Records that further links are left out.
    pub(super) fn leave_out(&mut self) {
        if let Some(last) = self.read_mut().entries.last_mut() {
            last.flags |= LINK_LAST;
        }
    }

    /// Whether links may have been left out whose target no kept link has.
    pub fn hide_some(&self) -> bool {
        let last = self.read().entries.last();
        last.is_some_and(|last| last.flags & LINK_LAST != 0)
    }

    /// Returns a link by its index.
    pub fn get(&self, place: usize) -> Option<Link<'_>> {
        let read = self.read();
        read.entries.get(place).map(|entry| read.link(entry))
    }

    /// Returns all links in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Link<'_>> + ExactSizeIterator {
        let read = self.read();
        read.entries.iter().map(|entry| read.link(entry))
    }

    /// Adds a link.
    pub fn push(&mut self, link: Link<'_>) {
        self.read_mut().push(link);
    }

    /// Sets the anchor text of a link once it is known, and adds flags.
    pub(super) fn name(&mut self, place: usize, anchor: &str, flags: u8) {
        let read = self.read_mut();
        let span = read.keep(anchor);
        if let Some(entry) = read.entries.get_mut(place) {
            entry.anchor = span;
            entry.flags |= flags;
        }
    }

    /// Returns the targets for modification.
    pub(crate) fn targets_mut(&mut self) -> impl Iterator<Item = &mut Option<UrlId>> {
        let entries = self.read_mut().entries.iter_mut();
        entries.map(|entry| &mut entry.target)
    }

    /// Resolves all targets again from their hrefs.
    pub(super) fn resolve(&mut self, mut target: impl FnMut(&str) -> Option<UrlId>) {
        let ParsedLinks { text, entries } = self.read_mut();
        for entry in entries {
            let href = text.get(entry.href.0 as usize..entry.href.1 as usize);
            entry.target = target(href.unwrap_or_default());
        }
    }
}

impl ParsedLinks {
    fn push(&mut self, link: Link<'_>) {
        if self.entries.capacity() == 0 {
            // about as many as a usual page has
            self.entries.reserve(LINKS);
            self.text.reserve(LINKS * TEXT);
        }
        let (href, anchor) = (self.keep(link.href), self.keep(link.anchor));
        self.entries.push(Entry {
            href,
            target: link.target,
            anchor,
            flags: link.flags,
            line: link.line,
        });
    }

    fn keep(&mut self, text: &str) -> Span {
        let start = self.text.len();
        match (u32::try_from(start), u32::try_from(start + text.len())) {
            (Ok(from), Ok(to)) => {
                self.text.push_str(text);
                Span(from, to)
            }
            _ => Span::default(),
        }
    }

    fn link(&self, entry: &Entry) -> Link<'_> {
        // stored data may be damaged
        let text = |span: Span| {
            self.text
                .get(span.0 as usize..span.1 as usize)
                .unwrap_or_default()
        };
        Link {
            href: text(entry.href),
            target: entry.target,
            anchor: text(entry.anchor),
            flags: entry.flags,
            line: entry.line,
        }
    }
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Links {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a> FromIterator<Link<'a>> for Links {
    fn from_iter<I: IntoIterator<Item = Link<'a>>>(links: I) -> Self {
        let mut all = Self::default();
        links.into_iter().for_each(|link| all.push(link));
        all
    }
}

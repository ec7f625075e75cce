//! Signs that documentation puts beside headings for their addresses: `¶`, `#`, a chain. They are no part of the heading.

use std::borrow::Cow;

use searchwright_text as text;

use super::{OpenLink, Reader, end_tags::OpenHeading};
use crate::html::attributes::Attributes;

/// Classes of such links in documentation tools.
const CLASSES: [&str; 12] = [
    "headerlink",
    "header-anchor",
    "header-link",
    "heading-anchor",
    "heading-link",
    "headinglink",
    "permalink",
    "hash-link",
    "anchor-link",
    "anchorlink",
    "anchorjs-link",
    "doc-anchor",
];

/// Whether a link may be the sign of a heading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::page) enum Permalink {
    #[default]
    No,
    /// It leads to a place of the page itself.
    Maybe,
    /// Its class says so as well.
    Named,
}

impl Reader<'_, '_> {
    /// Judges a link in a heading; `is_own` if it leads to a place of the page itself.
    pub(in crate::page) fn permalink(&self, attributes: Attributes<'_, '_>, is_own: bool) -> Permalink {
        if self.heading.is_none() || !is_own {
            return Permalink::No;
        }
        if CLASSES.iter().any(|class| attributes.has_word("class", class)) {
            return Permalink::Named;
        }
        Permalink::Maybe
    }

    /// Whether the open link is certainly the sign of the open heading.
    pub(super) fn is_in_permalink(&self) -> bool {
        let link = self.link.as_ref();
        self.heading.is_some() && link.is_some_and(|link| link.permalink == Permalink::Named)
    }

    /// Leaves the text of a link out of the open heading, if it is its sign.
    pub(super) fn leave_permalink(&mut self, link: &OpenLink) {
        let end = self.prose.mark();
        let text = self.prose.since(link.mark);
        let is_sign = match link.permalink {
            Permalink::No => false,
            Permalink::Maybe => !text.chars().any(char::is_alphanumeric),
            Permalink::Named => true,
        };
        if let Some(heading) = self.heading.as_mut().filter(|_| is_sign && link.mark < end) {
            heading.signs.push((link.mark, end));
        }
    }

    /// Returns the text of a heading without its signs, unless it has no other.
    pub(super) fn without_signs(&self, heading: &OpenHeading) -> Cow<'_, str> {
        let whole = self.prose.since(heading.mark);
        if heading.signs.is_empty() {
            return Cow::Borrowed(whole);
        }
        let (mut rest, mut from) = (String::new(), heading.mark);
        for (start, end) in heading
            .signs
            .iter()
            .chain(&[(self.prose.mark(), self.prose.mark())])
        {
            rest.push_str(self.prose.between(from, *start));
            from = *end;
        }
        let rest = text::squeeze(&rest);
        if rest.is_empty() && whole.chars().any(char::is_alphanumeric) {
            return Cow::Borrowed(whole);
        }
        Cow::Owned(rest)
    }
}

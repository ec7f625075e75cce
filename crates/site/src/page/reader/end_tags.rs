//! Ends of elements, where their text is complete.

use std::borrow::Cow;

use searchwright_text as text;

use super::{Concealed, Permalink, Reader, TEXT, labelled::Labelled};
use crate::{
    dates,
    html::tags::Tag,
    page::{Heading, LINK_CODE, limits::HEADINGS},
};

/// Maximum number of characters kept of a link's text.
const ANCHOR: usize = 80;
/// Number of h1s kept even when the list is full, because they state the topic of the page.
const H1S: usize = 5;

/// Elements whose text is program text.
const CODE: [Tag; 6] = [Tag::Code, Tag::Pre, Tag::Samp, Tag::Kbd, Tag::Tt, Tag::Var];

/// A link that is still open.
pub(in crate::page) struct OpenLink {
    /// Index in the list; `None` beyond the limit.
    pub index: Option<usize>,
    pub mark: usize,
    /// Alt texts of images in it.
    pub alt: String,
    /// `aria-label` or `title`.
    pub label: String,
    /// Ids of the elements that name it.
    pub labelled_by: Box<str>,
    /// Whether it is the sign for the address of a heading.
    pub permalink: Permalink,
}

#[derive(Default)]
pub(super) struct OpenHeading {
    pub level: u8,
    pub line: u32,
    pub mark: usize,
    pub alt: String,
    pub label: String,
    /// Ids of the elements that name it.
    pub labelled_by: Box<str>,
    pub concealed: Concealed,
    /// Ranges of the texts of permalinks.
    pub signs: Vec<(usize, usize)>,
}

impl Reader<'_, '_> {
    /// Handles the end of an element, with or without an end tag.
    pub(super) fn closed(&mut self, tag: Tag) {
        if self.open.has(Tag::Template) {
            return;
        }
        if self
            .nosnippet
            .take_if(|depth| *depth > self.open.depth())
            .is_some()
        {
            self.prose.hide(false);
        }
        let depth = self.open.depth();
        self.unheard.take_if(|of| *of > depth);
        self.unseen.take_if(|of| *of > depth);
        self.beside.take_if(|(of, _)| *of > depth);
        if self
            .main_role
            .take_if(|depth| *depth > self.open.depth())
            .is_some()
        {
            self.prose.boundary();
            self.enter();
        }
        match tag {
            Tag::P => self.finish_paragraph(),
            Tag::Time => {
                if let Some(mark) = self.time.take() {
                    let date = dates::iso_ms(self.prose.since(mark));
                    self.dated(date);
                }
            }
            Tag::Main | Tag::Article | Tag::Nav | Tag::Header | Tag::Footer | Tag::Aside => {
                self.prose.boundary();
                self.enter();
            }
            Tag::Blockquote | Tag::Q => {
                let open = self.open.has(Tag::Blockquote) || self.open.has(Tag::Q);
                if let Some(mark) = self.quote.take_if(|_| !open) {
                    self.prose.quote_since(mark);
                }
            }
            Tag::Code | Tag::Pre | Tag::Samp | Tag::Kbd | Tag::Tt | Tag::Var => {
                let open = CODE.iter().any(|tag| self.open.has(*tag));
                if let Some(mark) = self.code.take_if(|_| !open) {
                    self.prose.code_since(mark);
                    if tag == Tag::Pre {
                        self.prose.listing_since(mark);
                    }
                }
            }
            Tag::Picture => self.out.pictures_without_img += u32::from(!self.picture_has_img),
            _ if tag.heading_level().is_some() => self.finish_heading(),
            _ => {}
        }
    }

    pub(in crate::page) fn finish_link(&mut self) {
        let Some(link) = self.link.take() else { return };
        self.prose.link_since(link.mark);
        self.leave_permalink(&link);
        let Some(place) = link.index else { return };
        let text = self.prose.since(link.mark);
        let anchor = [text, link.alt.trim(), &link.label]
            .into_iter()
            .find(|name| !name.is_empty());
        let inside = !text.is_empty() && self.code.is_some_and(|mark| mark <= link.mark);
        let code = inside || self.prose.is_code_since(link.mark);
        let anchor = text::cut(anchor.unwrap_or_default(), ANCHOR);
        let flags = if code { LINK_CODE } else { 0 };
        self.out.links.name(place, anchor, flags);
        if anchor.is_empty() {
            self.await_label(Labelled::Link(place), link.labelled_by);
        }
    }

    pub(super) fn finish_heading(&mut self) {
        let Some(heading) = self.heading.take() else {
            return;
        };
        let text = self.without_signs(&heading);
        let text = &*text;
        let alt = heading.alt.trim();
        let text = if text.is_empty() && alt.is_empty() {
            Cow::Borrowed(&*heading.label)
        } else if alt.is_empty() {
            Cow::Borrowed(text)
        } else {
            Cow::Owned([text, alt].join(" ").trim().to_owned())
        };
        let text: Box<str> = text::cut(&text, TEXT).into();
        self.answer_from = None;
        let is_unnamed = text.is_empty();
        let found = Heading {
            level: heading.level,
            text,
            line: heading.line,
            answer_words: 0,
            beside: self.open.has(Tag::Nav) || self.open.has(Tag::Aside) || self.beside.is_some(),
            code: self.prose.has_code_since(heading.mark),
        };
        if heading.concealed > Concealed::No {
            if heading.level == 1 && !is_unnamed {
                self.unseen_h1.get_or_insert(found);
            }
            return;
        }
        self.out.headings_total += 1;
        let kept = &self.out.headings;
        let is_h1 = || heading.level == 1 && !is_unnamed;
        let h1s = || kept.iter().filter(|h| h.level == 1 && !h.text.is_empty()).count();
        if kept.len() < HEADINGS || kept.len() < HEADINGS + H1S && is_h1() && h1s() < H1S {
            self.out.headings.push(found);
            self.answer_from = Some(self.prose.mark());
            if is_unnamed {
                let place = self.out.headings.len() - 1;
                self.await_label(Labelled::Heading(place), heading.labelled_by);
            }
        }
    }

    fn finish_paragraph(&mut self) {
        let Some(mark) = self.paragraph.take() else { return };
        let text = self.prose.since(mark);
        if text.is_empty() {
            return;
        }
        self.out.paragraphs += 1;
        let is_long = text::has_more_words(text, self.limits.paragraph_words);
        self.out.long_paragraphs += u32::from(is_long);
    }

    /// Ends the first block of text after a heading, whatever its element: whole books have `div`s for paragraphs.
    pub(super) fn finish_answer(&mut self) {
        let Some(mark) = self.answer_from else { return };
        let text = self.prose.since(mark);
        if text.is_empty() {
            return;
        }
        self.answer_from = None;
        if let Some(heading) = self.out.headings.last_mut() {
            heading.answer_words = text::words(text);
            let is_better = match &self.lead {
                None => true,
                Some((level, _)) => *level > 1 && heading.level == 1,
            };
            if is_better && !heading.beside {
                self.lead = Some((heading.level, text::cut(text, TEXT).into()));
            }
        }
    }

    /// Begins a `<time>`; without `datetime` its text is the date (HTML standard 4.5.14).
    pub(in crate::page) fn time(&mut self, datetime: Option<&str>) {
        if self.prose.in_chrome() {
            return;
        }
        match datetime {
            Some(date) => self.dated(dates::iso_ms(date)),
            None => self.time = Some(self.prose.mark()),
        }
    }

    fn dated(&mut self, at_ms: Option<i64>) {
        self.out.dated = self.out.dated.max(at_ms.filter(|at| *at <= self.now_ms));
    }
}

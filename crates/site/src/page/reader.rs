//! Reads a body in one pass: every token is examined once, and the facts that checks need are kept.

mod element_labels;
mod end_tags;
mod images;
mod items;
mod labelled;
mod permalinks;

use std::collections::HashSet;

use searchwright_text as text;

use super::{
    Heading, HtmlFacts, Limits, UrlId,
    bylines::{authors, names_article},
    elements,
    limits::LIST,
    links::Resolver,
    main_text::TextCollector,
    microdata::{ItemCollector, NameCollector},
    open_elements::OpenElements,
};
use crate::html::{
    attributes::Attributes,
    entities::{self, In},
    source_lines::LineCounter,
    tags::Tag,
    tokenizer::{StartTag, TextKind, Token, Tokenizer},
};

pub(super) use element_labels::Concealed;
use element_labels::{Beside, ElementLabels};
use end_tags::OpenHeading;
pub(super) use end_tags::OpenLink;
use labelled::Labelled;
pub(super) use permalinks::Permalink;

/// Maximum number of characters kept of a text.
pub(super) const TEXT: usize = 500;
/// Maximum number of `id`s kept for fragment checks.
const IDS: usize = 5_000;

pub(super) struct Reader<'a, 'u> {
    html: &'a str,
    lines: LineCounter<'a>,
    pub(super) resolver: Resolver<'u>,
    pub(super) limits: &'u Limits,
    pub(super) out: HtmlFacts,
    pub(super) open: OpenElements,
    pub(super) prose: TextCollector,
    /// Whether the head has ended, or never began.
    pub(super) in_body: bool,
    pub(super) link: Option<OpenLink>,
    /// Targets of links with their nofollow flag, once there are more links than the limit.
    pub(super) targets: Option<HashSet<(UrlId, u8)>>,
    heading: Option<OpenHeading>,
    paragraph: Option<usize>,
    /// End of the last heading's text, until the text below it is counted.
    answer_from: Option<usize>,
    code: Option<usize>,
    /// Start of the text of the outermost quotation.
    quote: Option<usize>,
    /// Depth of the element whose text is excluded from snippets.
    nosnippet: Option<usize>,
    /// Depth of the element with the role `main`.
    main_role: Option<usize>,
    /// Depth of the outermost element that is not heard, and of the one that is not shown.
    unheard: Option<usize>,
    unseen: Option<usize>,
    /// Readers from whom the element being read is concealed by its own attributes.
    own: Concealed,
    /// Depth of the outermost element beside the content, and its mark.
    beside: Option<(usize, Beside)>,
    /// First h1 that is not shown, which counts if there is no other.
    unseen_h1: Option<Heading>,
    /// Level of the heading of the page and the text below it.
    lead: Option<(u8, Box<str>)>,
    /// Links and headings without a text of their own that other elements name.
    labelled: Vec<(Labelled, Box<str>)>,
    picture_has_img: bool,
    /// Whether the open picture has a source in a modern format.
    pub(super) picture_is_modern: bool,
    /// Whether the next text is that of a JSON-LD block.
    pub(super) json_open: bool,
    /// Whether an image of the content was seen.
    content_image: bool,
    /// Number of mentions of an author in JSON-LD.
    authors_in_json: usize,
    names: NameCollector,
    /// Microdata objects, once there is any.
    objects: Option<Box<ItemCollector>>,
    /// Whether the document was closed by `</body>` or `</html>`.
    is_closed: bool,
    /// Start of the text of an open `<time>` without `datetime`.
    time: Option<usize>,
    /// Time of the fetch; later dates are in the future and ignored.
    now_ms: i64,
    scripts: bool,
    spa_root: bool,
    started: bool,
}

impl<'a, 'u> Reader<'a, 'u> {
    pub fn new(html: &'a str, resolver: Resolver<'u>, limits: &'u Limits, now_ms: i64) -> Self {
        Self {
            html,
            lines: LineCounter::new(html),
            resolver,
            limits,
            out: HtmlFacts::default(),
            open: OpenElements::default(),
            prose: TextCollector::with_capacity(html.len()),
            in_body: false,
            link: None,
            targets: None,
            heading: None,
            paragraph: None,
            answer_from: None,
            code: None,
            quote: None,
            nosnippet: None,
            main_role: None,
            unheard: None,
            unseen: None,
            own: Concealed::No,
            beside: None,
            unseen_h1: None,
            lead: None,
            labelled: Vec::new(),
            picture_has_img: false,
            picture_is_modern: false,
            json_open: false,
            content_image: false,
            authors_in_json: 0,
            names: NameCollector::default(),
            objects: None,
            is_closed: false,
            time: None,
            now_ms,
            scripts: false,
            spa_root: false,
            started: false,
        }
    }

    /// Reads the whole document.
    pub fn read(mut self) -> HtmlFacts {
        let mut tokens = Tokenizer::new(self.html);
        while let Some(token) = tokens.next() {
            match token {
                Token::Start(start) => self.start(&start, Attributes(tokens.attributes())),
                Token::End(tag) => self.end(tag),
                Token::Text(text, kind) => self.text(text, kind),
                Token::Doctype(doctype) => {
                    let name = doctype.get(7..).unwrap_or_default().trim_start();
                    let html = name
                        .get(..4)
                        .is_some_and(|name| name.eq_ignore_ascii_case("html"));
                    self.out.doctype |= html && !self.started;
                }
            }
        }
        self.leave_all();
        while let Some(tag) = self.open.pop() {
            self.closed(tag);
        }
        self.finish_link();
        self.finish_answer();
        self.finish()
    }

    fn finish(mut self) -> HtmlFacts {
        if !self.out.doctype {
            self.out.opening = Some(text::cut(self.html, 80).into());
        }
        self.out.max_depth = self.open.deepest();
        let has_h1 =
            { self.out.headings.iter() }.any(|heading| heading.level == 1 && !heading.text.is_empty());
        self.out
            .headings
            .extend(self.unseen_h1.take().filter(|_| !has_h1));
        self.name_labelled();
        self.out.spa_root = self.spa_root && self.scripts;
        self.out.strange = self.names.finish();
        self.out.objects = self.objects.and_then(|objects| objects.finish()).map(Box::new);
        let blocks = self.out.json_ld.iter().map(|block| &block.source);
        let objects = self.out.objects.iter().flat_map(|objects| &objects.list);
        if { blocks.chain(objects.map(|object| &object.source)) }.any(|source| names_article(source)) {
            self.out.byline = authors(self.html).nth(self.authors_in_json).is_some();
        }
        let lead = self.lead.take().map(|(_, text)| text).unwrap_or_default();
        std::mem::take(&mut self.prose).finish(&mut self.out, self.limits, &lead);
        self.out
    }

    pub(super) fn line(&mut self, at: usize) -> u32 {
        self.lines.line_at(at)
    }

    fn start(&mut self, start: &StartTag<'a>, attributes: Attributes<'_, 'a>) {
        let tag = start.tag;
        self.started = true;
        if !start.foreign {
            let count = self.open.closed_by_start(tag);
            if self.objects.is_some() {
                self.leave_items(count, None);
            }
            for _ in 0..count {
                if let Some(closed) = self.open.pop() {
                    self.closed(closed);
                }
            }
        }
        let inert = self.open.has(Tag::Template);
        if tag == Tag::Tr && self.open.innermost() == Some(Tag::Table) {
            // implied: browsers insert it when it is missing
            self.out.elements += u32::from(!inert);
            self.open.push(Tag::Tbody);
        }
        let mut said = ElementLabels::default();
        if !inert {
            self.out.elements += 1;
            if !self.in_body {
                self.leave_head(tag, start.name);
            }
            self.break_words(tag);
            said = self.common_attributes(tag, attributes);
            self.own = said.concealed;
            self.meaning(start, attributes);
            self.own = Concealed::No;
        }
        let repeated = matches!(tag, Tag::Html | Tag::Body | Tag::Head) && self.open.has(tag);
        if !start.empty && !repeated {
            self.open.push(tag);
            if !inert {
                self.place(&said);
                self.opened(tag, start);
            }
            // inline elements are a part of the text and do not hide all of it
            if said.nosnippet && self.nosnippet.is_none() && tag.breaks_words() {
                self.nosnippet = Some(self.open.depth());
                self.prose.hide(true);
            }
            if said.is_main && self.main_role.is_none() {
                self.main_role = Some(self.open.depth());
                self.enter();
            }
        }
        if said.label.is_some() || said.labelled_by.is_some() {
            self.label(said.label, said.labelled_by);
        }
        if said.is_item {
            self.item(start, attributes, !start.empty && !repeated);
        }
    }

    /// Records that an element conceals its content, or that it is beside the content of the page.
    fn place(&mut self, said: &ElementLabels<'_>) {
        let depth = self.open.depth();
        if said.concealed >= Concealed::Unheard {
            self.unheard.get_or_insert(depth);
        }
        if said.concealed == Concealed::Unseen {
            self.unseen.get_or_insert(depth);
        }
        if said.beside != Beside::No {
            self.beside.get_or_insert((depth, said.beside));
        }
    }

    /// Returns the readers from whom the element being read is concealed.
    pub(super) fn concealed(&self) -> Concealed {
        let around = match (self.unseen, self.unheard) {
            (Some(_), _) => Concealed::Unseen,
            (None, Some(_)) => Concealed::Unheard,
            (None, None) => Concealed::No,
        };
        around.max(self.own)
    }

    /// Ends the head at the first element that cannot be in it, wherever its end tag is.
    fn leave_head(&mut self, tag: Tag, name: &str) {
        if matches!(tag, Tag::Html | Tag::Head) || tag.may_stand_in_head() {
            return;
        }
        self.in_body = true;
        self.out.head_ended_by = Some(text::cut(name, 40).to_ascii_lowercase().into());
    }

    /// Updates the place of texts when a landmark begins or ends.
    fn enter(&mut self) {
        let (open, main) = (&self.open, self.main_role.is_some());
        self.prose.enter(|tag| open.has(tag) || main && tag == Tag::Main);
    }

    fn item_type(&mut self, types: &str) {
        self.out.microdata = true;
        for name in types.split_ascii_whitespace().take(LIST) {
            let name = name.rsplit(['/', '#', ':']).next().unwrap_or_default();
            if self.out.item_types.len() < LIST && !name.is_empty() {
                self.out.item_types.push(text::cut(name, 80).into());
            }
        }
    }

    /// Handles an element that was opened and can have content.
    fn opened(&mut self, tag: Tag, start: &StartTag<'a>) {
        match tag {
            Tag::Main | Tag::Article | Tag::Nav | Tag::Header | Tag::Footer | Tag::Aside => {
                self.enter();
            }
            Tag::P => self.paragraph = Some(self.prose.mark()),
            Tag::Blockquote | Tag::Q => {
                let mark = self.prose.mark();
                self.quote.get_or_insert(mark);
            }
            Tag::Code | Tag::Pre | Tag::Samp | Tag::Kbd | Tag::Tt | Tag::Var => {
                let mark = self.prose.mark();
                self.code.get_or_insert(mark);
            }
            Tag::Picture => (self.picture_has_img, self.picture_is_modern) = (false, false),
            _ => {
                if let Some(level) = tag.heading_level() {
                    self.finish_heading();
                    self.answer_from = None;
                    let line = self.line(start.at);
                    // an element with a main heading is no sidebar, whatever its class
                    if level == 1 && self.beside.is_some_and(|(_, how)| how == Beside::Name) {
                        self.beside = None;
                    }
                    self.heading = Some(OpenHeading {
                        level,
                        line,
                        mark: self.prose.mark(),
                        concealed: self.concealed(),
                        ..OpenHeading::default()
                    });
                }
            }
        }
    }

    /// Separates the texts before and after an element that breaks words.
    fn break_words(&mut self, tag: Tag) {
        if tag.breaks_words() {
            if tag != Tag::Br {
                self.finish_answer();
            }
            self.prose.end_block();
        }
    }

    fn end(&mut self, tag: Tag) {
        if !self.open.has(Tag::Template) {
            self.break_words(tag);
            match tag {
                Tag::Body | Tag::Html => (self.in_body, self.is_closed) = (true, true),
                // not when an enclosing element ends: browsers continue the link after it
                Tag::A => self.finish_link(),
                _ => {}
            }
        }
        let count = self.open.closed_by_end(tag);
        if self.objects.is_some() {
            self.leave_items(count, Some(tag));
        }
        for _ in 0..count {
            if let Some(closed) = self.open.pop() {
                self.closed(closed);
            }
        }
    }

    fn text(&mut self, source: &'a str, kind: TextKind) {
        if self.open.has(Tag::Template) {
            return;
        }
        if self.objects.is_some() {
            self.text_in_item(source, kind);
        }
        match kind {
            TextKind::Escapable(Tag::Title) => {
                if let Some(title) = self.out.titles.last_mut() {
                    let decoded = entities::decode(source, In::Text);
                    // U+0000 here is a character that nobody sees (HTML, 13.2.5.2); elsewhere it is dropped
                    let shown = decoded.replace('\0', "\u{fffd}");
                    *title = text::cut(&text::squeeze(&shown), TEXT).into();
                }
            }
            TextKind::Raw(Tag::Script) => self.json_ld(source),
            TextKind::Escapable(_) | TextKind::Raw(_) => {}
            TextKind::Data | TextKind::Cdata => self.visible(source),
        }
    }

    fn visible(&mut self, source: &str) {
        if source.bytes().all(|b| b.is_ascii_whitespace()) {
            self.prose.boundary();
            return;
        }
        self.started = true;
        if !self.in_body {
            self.in_body = true;
            self.out.head_ended_by = Some("text".into());
        }
        let decoded = entities::decode(source, In::Text);
        if self.open.has(Tag::Svg) {
            // the title of a drawing acts as its alt text
            self.alternative(&decoded);
            return;
        }
        self.prose.push(&decoded);
    }

    fn json_ld(&mut self, source: &str) {
        if std::mem::take(&mut self.json_open) {
            self.authors_in_json += authors(source).count();
            elements::fill_json_ld(&mut self.out.json_ld, source);
        }
    }

    pub(super) fn saw_script(&mut self) {
        self.scripts = true;
    }
}

//! Splits HTML into tags and texts: tokenization as in the HTML standard (13.2.5), for reading only.
//!
//! Written here because parsing pages is most of the computation of a crawl. A rewriter such as `lol_html` must keep
//! every byte of its input, and its text chunks alone cost more than everything this crate does with a page;
//! `examples/read_page.rs` prints both figures, and the test below compares the two on arbitrary input. One forward
//! pass: no byte is examined more than a constant number of times, whatever the page contains.

use memchr::{memchr, memmem};
use searchwright_text::simd::find_near;

use super::{
    attributes::{Attribute, Kept},
    raw_text::{comment_length, raw_length, script_length},
    tag_lexer,
    tags::Tag,
};

/// Maximum nesting of SVG and MathML that is tracked.
const MAX_NAMESPACES: usize = 64;

/// A piece of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token<'a> {
    /// `<name …>`; its attributes are in [`Tokenizer::attributes`].
    Start(StartTag<'a>),
    /// `</name>`.
    End(Tag),
    /// Text with its character references not decoded.
    Text(&'a str, TextKind),
    /// `<!doctype …>`: the text after `<!`.
    Doctype(&'a str),
}

/// A start tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartTag<'a> {
    pub tag: Tag,
    /// Name as written.
    pub name: &'a str,
    /// Byte offset of the `<`.
    pub at: usize,
    /// Source of the whole tag.
    pub source: &'a str,
    /// Whether the element has no content: void, or self-closing in SVG and MathML.
    pub empty: bool,
    /// Whether the element is in SVG or MathML, where a `title` is no page title.
    pub foreign: bool,
}

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// Ordinary text.
    Data,
    /// Content of `title` or `textarea`.
    Escapable(Tag),
    /// Content of `script`, `style` and similar elements, without character references.
    Raw(Tag),
    /// A CDATA section in SVG or MathML.
    Cdata,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Namespace {
    Html,
    Svg,
    MathMl,
}

/// Reads a document token by token.
#[derive(Debug)]
pub(crate) struct Tokenizer<'a> {
    html: &'a str,
    at: usize,
    inside: Option<TextKind>,
    namespaces: Vec<Namespace>,
    attributes: Kept<'a>,
}

impl<'a> Tokenizer<'a> {
    pub fn new(html: &'a str) -> Self {
        Self {
            html,
            at: 0,
            inside: None,
            namespaces: Vec::new(),
            attributes: Kept::default(),
        }
    }

    /// Returns the attributes of the last start tag, in order; a name may repeat, and the first one counts.
    pub fn attributes(&self) -> &[Attribute<'a>] {
        self.attributes.all()
    }

    /// Returns the next token; `None` at the end. An incomplete tag at the end of the document is dropped.
    pub fn next(&mut self) -> Option<Token<'a>> {
        if let Some(kind) = self.inside.take() {
            let rest = &self.html[self.at..];
            let length = match kind {
                TextKind::Raw(Tag::Script) => script_length(rest.as_bytes()),
                TextKind::Raw(Tag::Plaintext) => rest.len(),
                TextKind::Raw(tag) | TextKind::Escapable(tag) => raw_length(rest.as_bytes(), tag),
                TextKind::Data | TextKind::Cdata => 0,
            };
            self.at += length;
            if length > 0 {
                return Some(Token::Text(&rest[..length], kind));
            }
        }
        let bytes = self.html.as_bytes();
        let mut start = self.at;
        let mut from = start;
        // everything up to the next markup is one text
        while let Some(found) = find_near(b'<', &bytes[from..]) {
            let open = from + found;
            let markup = match bytes.get(open + 1) {
                Some(b) if b.is_ascii_alphabetic() => true,
                Some(b'/') => open + 2 < bytes.len(),
                Some(b'!' | b'?') => true,
                _ => false,
            };
            if !markup {
                from = open + 1;
                continue;
            }
            if open > start {
                self.at = open;
                return Some(Token::Text(&self.html[start..open], TextKind::Data));
            }
            match self.markup(open) {
                LexedMarkup::Token(token) => return Some(token),
                LexedMarkup::Nothing => {}
                LexedMarkup::End => self.at = bytes.len(),
            }
            start = self.at;
            from = start;
        }
        self.at = bytes.len();
        (start < bytes.len()).then(|| Token::Text(&self.html[start..], TextKind::Data))
    }

    /// Reads the markup that begins with the `<` at `open`.
    fn markup(&mut self, open: usize) -> LexedMarkup<'a> {
        let bytes = self.html.as_bytes();
        match bytes[open + 1] {
            b'/' => match bytes[open + 2] {
                b if b.is_ascii_alphabetic() => self.end_tag(open),
                b'>' => self.skip_to(open + 3),
                _ => self.bogus_comment(open + 2),
            },
            b'!' => self.declaration(open + 2),
            b'?' => self.bogus_comment(open + 1),
            _ => self.start_tag(open),
        }
    }

    fn skip_to(&mut self, at: usize) -> LexedMarkup<'a> {
        self.at = at.min(self.html.len());
        LexedMarkup::Nothing
    }

    fn bogus_comment(&mut self, from: usize) -> LexedMarkup<'a> {
        match memchr(b'>', &self.html.as_bytes()[from..]) {
            Some(end) => self.skip_to(from + end + 1),
            None => self.skip_to(self.html.len()),
        }
    }

    fn declaration(&mut self, from: usize) -> LexedMarkup<'a> {
        let rest = &self.html.as_bytes()[from..];
        if rest.starts_with(b"--") {
            return self.skip_to(from + 2 + comment_length(&rest[2..]));
        }
        if rest
            .get(..7)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"doctype"))
        {
            let end = memchr(b'>', rest).unwrap_or(rest.len());
            self.at = (from + end + 1).min(self.html.len());
            return LexedMarkup::Token(Token::Doctype(&self.html[from..from + end]));
        }
        if rest.starts_with(b"[CDATA[") && self.namespace() != Namespace::Html {
            let begin = from + 7;
            let length = memmem::find(&self.html.as_bytes()[begin..], b"]]>");
            let end = length.map_or(self.html.len(), |length| begin + length);
            self.at = (end + 3).min(self.html.len());
            if begin == end {
                return LexedMarkup::Nothing;
            }
            return LexedMarkup::Token(Token::Text(&self.html[begin..end], TextKind::Cdata));
        }
        self.bogus_comment(from)
    }

    fn end_tag(&mut self, open: usize) -> LexedMarkup<'a> {
        let Some(read) = tag_lexer::read(self.html, open + 2, None) else {
            return LexedMarkup::End;
        };
        self.at = read.end;
        let tag = read.tag;
        let leaves = match (self.namespace(), self.outer_namespace()) {
            (Namespace::Html, Some(outer)) => is_integration_point(outer, tag),
            (Namespace::Svg, _) => matches!(tag, Tag::Svg | Tag::P | Tag::Br),
            (Namespace::MathMl, _) => matches!(tag, Tag::Math | Tag::P | Tag::Br),
            (Namespace::Html, None) => false,
        };
        if leaves {
            self.namespaces.pop();
        }
        LexedMarkup::Token(Token::End(tag))
    }

    fn start_tag(&mut self, open: usize) -> LexedMarkup<'a> {
        self.attributes.clear();
        let Some(read) = tag_lexer::read(self.html, open + 1, Some(&mut self.attributes)) else {
            return LexedMarkup::End;
        };
        self.at = read.end;
        let tag = read.tag;
        let name = &self.html[open + 1..read.name_end];
        let before = self.namespace();
        self.enter(tag, read.self_closing);
        let foreign = before != Namespace::Html && self.namespace() != Namespace::Html
            || is_integration_point(before, tag);
        if !foreign && self.namespace() == Namespace::Html {
            self.inside = match tag {
                Tag::Title | Tag::Textarea => Some(TextKind::Escapable(tag)),
                Tag::Script
                | Tag::Style
                | Tag::Iframe
                | Tag::Xmp
                | Tag::Noembed
                | Tag::Noframes
                | Tag::Noscript
                | Tag::Plaintext => Some(TextKind::Raw(tag)),
                _ => None,
            };
        }
        let empty = if foreign || matches!(tag, Tag::Svg | Tag::Math) {
            read.self_closing
        } else {
            tag.is_void()
        };
        let source = &self.html[open..read.end];
        LexedMarkup::Token(Token::Start(StartTag {
            tag,
            name,
            at: open,
            source,
            empty,
            foreign,
        }))
    }

    fn namespace(&self) -> Namespace {
        self.namespaces.last().copied().unwrap_or(Namespace::Html)
    }

    fn outer_namespace(&self) -> Option<Namespace> {
        match self.namespaces.as_slice() {
            [] => None,
            [_] => Some(Namespace::Html),
            [.., outer, _] => Some(*outer),
        }
    }

    /// Tracks a start tag into or out of SVG and MathML, as far as possible without a tree.
    fn enter(&mut self, tag: Tag, self_closing: bool) {
        let namespace = self.namespace();
        let entered = match tag {
            Tag::Svg => Some(Namespace::Svg),
            Tag::Math => Some(Namespace::MathMl),
            _ if namespace == Namespace::Html => return,
            _ if tag.leaves_foreign_content() => return self.leave_foreign_content(),
            Tag::Font => {
                let html = ["color", "face", "size"];
                if self
                    .attributes()
                    .iter()
                    .any(|a| html.iter().any(|name| a.name.eq_ignore_ascii_case(name)))
                {
                    self.leave_foreign_content();
                }
                return;
            }
            _ => is_integration_point(namespace, tag).then_some(Namespace::Html),
        };
        if let Some(entered) = entered
            && !self_closing
            && self.namespaces.len() < MAX_NAMESPACES
        {
            self.namespaces.push(entered);
        }
    }

    fn leave_foreign_content(&mut self) {
        while self.namespace() != Namespace::Html {
            self.namespaces.pop();
        }
    }
}

enum LexedMarkup<'a> {
    Token(Token<'a>),
    /// A comment or other markup without a token.
    Nothing,
    /// Incomplete markup at the end of the document.
    End,
}

fn is_integration_point(namespace: Namespace, tag: Tag) -> bool {
    match namespace {
        Namespace::Html => false,
        Namespace::Svg => matches!(tag, Tag::Desc | Tag::Title | Tag::ForeignObject),
        Namespace::MathMl => matches!(tag, Tag::Mi | Tag::Mo | Tag::Mn | Tag::Ms | Tag::Mtext),
    }
}

#[cfg(test)]
#[path = "tokenizer_tests.rs"]
mod tests;

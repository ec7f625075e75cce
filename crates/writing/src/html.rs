//! HTML as a flat row of tags and text, and back.

use std::{
    cell::{Cell, RefCell},
    convert::Infallible,
};

use html5ever::{
    tendril::StrTendril,
    tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts},
};

use super::markdown::Refused;

/// A part of sanitised HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A start tag with its attributes.
    Open {
        /// Lower-case name.
        name: String,
        /// Names and decoded values, in order.
        attributes: Vec<(String, String)>,
    },
    /// An end tag.
    Close(String),
    /// Decoded text, never empty; two never follow each other.
    Text(String),
}

impl Piece {
    /// Value of an attribute of a start tag.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        match self {
            Self::Open { attributes, .. } => attributes
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.as_str()),
            _ => None,
        }
    }
}

/// Elements without content or end tag (HTML 13.1.2), those of them that are not obsolete.
pub fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Elements around which white space does not show.
pub fn is_block(name: &str) -> bool {
    matches!(
        name,
        "blockquote"
            | "br"
            | "caption"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "figcaption"
            | "figure"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "hr"
            | "li"
            | "ol"
            | "p"
            | "pre"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

#[derive(Default)]
struct Row {
    pieces: RefCell<Vec<Piece>>,
    tokens: Cell<usize>,
}

impl Row {
    fn text(&self, more: &str) {
        let mut pieces = self.pieces.borrow_mut();
        match pieces.last_mut() {
            Some(Piece::Text(text)) => text.push_str(more),
            _ => pieces.push(Piece::Text(more.to_owned())),
        }
    }
}

impl TokenSink for Row {
    type Handle = Infallible;

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<Infallible> {
        if !matches!(token, Token::ParseError(_)) {
            self.tokens.set(self.tokens.get() + 1);
        }
        match token {
            Token::CharacterTokens(text) => self.text(&text),
            Token::NullCharacterToken => self.text("\u{fffd}"),
            Token::TagToken(tag) => self.pieces.borrow_mut().push(match tag.kind {
                TagKind::EndTag => Piece::Close(tag.name.to_string()),
                TagKind::StartTag => Piece::Open {
                    name: tag.name.to_string(),
                    attributes: tag
                        .attrs
                        .into_iter()
                        .map(|a| (a.name.local.to_string(), a.value.to_string()))
                        .collect(),
                },
            }),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// Bytes of one tag or comment. The tokenizer compares the attributes of a tag pairwise.
const MAX_TAG: usize = 16 << 10;

/// Reads HTML from front to back. `see` is shown every piece and may stop the reading.
///
/// No tag changes how what follows is read: the content of `script` is read as tags and text, too.
pub fn read(html: &str, mut see: impl FnMut(&Piece) -> Result<(), Refused>) -> Result<Vec<Piece>, Refused> {
    const CHUNK: usize = 2 << 10;
    let tokenizer = Tokenizer::new(Row::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    let (mut rest, mut seen, mut silent) = (html, 0, 0);
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(CHUNK.min(rest.len())));
        rest = after;
        let before = tokenizer.sink.tokens.get();
        input.push_back(StrTendril::from_slice(chunk));
        // nothing is ever handed to the sink as a script, so this reads all there is
        let _ = tokenizer.feed(&input);
        if rest.is_empty() {
            tokenizer.end();
        }
        let pieces = tokenizer.sink.pieces.borrow();
        for piece in &pieces[seen..] {
            see(piece)?;
        }
        seen = pieces.len();
        let quiet = tokenizer.sink.tokens.get() == before;
        silent = if quiet { silent + chunk.len() } else { 0 };
        if silent > MAX_TAG {
            return Err(Refused::TagTooLong);
        }
    }
    Ok(tokenizer.sink.pieces.into_inner())
}

/// The pieces of sanitised HTML, where every tag is what it seems.
pub fn pieces(sanitised: &str) -> Vec<Piece> {
    read(sanitised, |_| Ok(())).unwrap_or_default()
}

/// Text with everything escaped that HTML could read as something else, as HTML 13.3 serialises it.
pub fn escape(out: &mut String, text: &str, in_attribute: bool) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if in_attribute => out.push_str("&quot;"),
            '\u{a0}' => out.push_str("&nbsp;"),
            _ => out.push(c),
        }
    }
}

/// HTML of pieces; each `Open` that is not void has its `Close`.
pub fn write(pieces: &[Piece]) -> String {
    let mut out = String::new();
    let mut after_pre = false;
    for piece in pieces {
        match piece {
            // a parser drops the first line feed in `pre`, so one that counts needs one before it
            Piece::Text(text) if after_pre && text.starts_with('\n') => {
                out.push('\n');
                escape(&mut out, text, false);
            }
            Piece::Text(text) => escape(&mut out, text, false),
            tag => write_tag(&mut out, tag),
        }
        after_pre = matches!(piece, Piece::Open { name, .. } if name == "pre");
    }
    out
}

/// HTML of pieces as they were read, for another parser. Long texts are broken by comments, because
/// html5ever writes a text in time that grows with the square of its ampersands.
pub fn rewrite(pieces: &[Piece]) -> String {
    const MAX_TEXT: usize = 512;
    let mut out = String::new();
    for piece in pieces {
        let Piece::Text(text) = piece else {
            write_tag(&mut out, piece);
            continue;
        };
        let mut rest = text.as_str();
        while rest.len() > MAX_TEXT {
            let (part, after) = rest.split_at(rest.ceil_char_boundary(MAX_TEXT));
            escape(&mut out, part, false);
            out.push_str("<!---->");
            rest = after;
        }
        escape(&mut out, rest, false);
    }
    out
}

fn write_tag(out: &mut String, tag: &Piece) {
    match tag {
        Piece::Open { name, attributes } => {
            out.push('<');
            out.push_str(name);
            for (name, value) in attributes {
                out.push(' ');
                out.push_str(name);
                out.push_str("=\"");
                escape(out, value, true);
                out.push('"');
            }
            out.push('>');
        }
        Piece::Close(name) => {
            out.push_str("</");
            out.push_str(name);
            out.push('>');
        }
        Piece::Text(text) => escape(out, text, false),
    }
}

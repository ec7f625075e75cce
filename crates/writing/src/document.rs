//! The structure of a text: headings, paragraphs, links, images; and everything that follows from that alone.

use std::fmt::Write as _;

use searchwright_text::{cut, length, sentences, squeeze, words};
use serde::Serialize;

use super::{
    html::{Piece, pieces},
    markdown::{Refused, to_html},
    sanitise::LinkPolicy,
};

/// Silent reading of English non-fiction, words per minute: the mean of 190 studies (Brysbaert, "How many
/// words do we read per minute?", Journal of Memory and Language 109, 2019).
pub const WORDS_PER_MINUTE: u32 = 238;

/// Kind of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A heading of level 1 to 6, with its anchor.
    Heading(u8, Option<String>),
    /// Running text.
    Paragraph,
    /// Text of a list item.
    Item,
    /// Text of a table cell.
    Cell,
    /// Preformatted text.
    Code,
}

/// A stretch of text that nothing else interrupts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Kind of the block.
    pub kind: Kind,
    /// White space folded, except in code.
    pub text: String,
}

/// A link as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Target of the link, as written.
    pub href: String,
    /// Text of the link.
    pub text: String,
}

/// An image as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Address of the image, as written.
    pub src: String,
    /// Alternative text; empty if there is none.
    pub alt: String,
    /// Pixels, where the text says so.
    pub width: Option<u32>,
    /// Pixels, where the text says so.
    pub height: Option<u32>,
}

/// A heading in an outline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Text of the heading.
    pub text: String,
    /// Anchor without `#`.
    pub id: Option<String>,
}

/// A text taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Blocks in reading order, none empty.
    pub blocks: Vec<Block>,
    /// Links in reading order.
    pub links: Vec<Link>,
    /// Images in reading order.
    pub images: Vec<Image>,
}

/// Reads what goes by, with what is open.
#[derive(Default)]
struct Reader {
    document: Document,
    text: String,
    heading: Option<(u8, Option<String>)>,
    link: Option<(String, usize)>,
    items: usize,
    cells: usize,
    code: usize,
}

fn level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "b"
            | "cite"
            | "code"
            | "del"
            | "dfn"
            | "em"
            | "i"
            | "img"
            | "input"
            | "ins"
            | "kbd"
            | "mark"
            | "q"
            | "rb"
            | "rp"
            | "rt"
            | "rtc"
            | "ruby"
            | "s"
            | "samp"
            | "small"
            | "span"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "u"
            | "var"
            | "wbr"
    )
}

impl Reader {
    fn flush(&mut self) {
        self.end_link();
        let text = std::mem::take(&mut self.text);
        let text = if self.code > 0 { text } else { squeeze(&text) };
        if text.trim().is_empty() {
            return;
        }
        let kind = match &self.heading {
            Some((level, id)) => Kind::Heading(*level, id.clone()),
            None if self.code > 0 => Kind::Code,
            None if self.cells > 0 => Kind::Cell,
            None if self.items > 0 => Kind::Item,
            None => Kind::Paragraph,
        };
        self.document.blocks.push(Block { kind, text });
    }

    fn end_link(&mut self) {
        if let Some((href, start)) = self.link.take() {
            let text = squeeze(self.text.get(start..).unwrap_or_default());
            self.document.links.push(Link { href, text });
        }
    }

    fn open(&mut self, piece: &Piece, name: &str) {
        let value = |name: &str| piece.attribute(name).unwrap_or_default().to_owned();
        if !is_inline(name) && name != "br" {
            self.flush();
        }
        match name {
            "br" => self.text.push('\n'),
            "a" if piece.attribute("href").is_some() => self.link = Some((value("href"), self.text.len())),
            "img" => self.document.images.push(Image {
                src: value("src"),
                alt: squeeze(&value("alt")),
                width: value("width").parse().ok(),
                height: value("height").parse().ok(),
            }),
            "li" | "dd" | "dt" => self.items += 1,
            "td" | "th" => self.cells += 1,
            "pre" => self.code += 1,
            _ => {
                if let Some(level) = level(name) {
                    self.heading = Some((level, piece.attribute("id").map(str::to_owned)));
                }
            }
        }
    }

    fn close(&mut self, name: &str) {
        if !is_inline(name) {
            self.flush();
        }
        match name {
            "a" => self.end_link(),
            "li" | "dd" | "dt" => self.items = self.items.saturating_sub(1),
            "td" | "th" => self.cells = self.cells.saturating_sub(1),
            "pre" => self.code = self.code.saturating_sub(1),
            _ if level(name).is_some() => self.heading = None,
            _ => {}
        }
    }
}

impl Document {
    /// Takes Markdown apart.
    pub fn of_markdown(markdown: &str) -> Result<Self, Refused> {
        Ok(Self::of_html(&to_html(markdown, &LinkPolicy::default())?))
    }

    /// Takes apart what [`sanitise`](super::sanitise::sanitise) or [`to_html`] made.
    pub fn of_html(sanitised: &str) -> Self {
        let mut reader = Reader::default();
        for piece in pieces(sanitised) {
            match &piece {
                Piece::Text(text) => reader.text.push_str(text),
                Piece::Open { name, .. } => reader.open(&piece, name),
                Piece::Close(name) => reader.close(name),
            }
        }
        reader.flush();
        reader.document
    }

    /// The text without any markup, blocks parted by an empty line.
    pub fn plain_text(&self) -> String {
        let mut out = String::new();
        for block in &self.blocks {
            let gap = if out.is_empty() { "" } else { "\n\n" };
            let _ = write!(out, "{gap}{}", block.text.trim_end());
        }
        out
    }

    /// The headings.
    pub fn outline(&self) -> Vec<Heading> {
        let heading = |block: &Block| match &block.kind {
            Kind::Heading(level, id) => Some(Heading {
                level: *level,
                text: block.text.clone(),
                id: id.clone(),
            }),
            _ => None,
        };
        self.blocks.iter().filter_map(heading).collect()
    }

    /// Running text: paragraphs and list items.
    pub fn prose(&self) -> impl Iterator<Item = &str> + Clone {
        self.blocks
            .iter()
            .filter(|block| matches!(block.kind, Kind::Paragraph | Kind::Item))
            .map(|block| block.text.as_str())
    }

    /// Words that are read: all but preformatted text.
    pub fn words(&self) -> u32 {
        let read = |block: &&Block| block.kind != Kind::Code;
        self.blocks
            .iter()
            .filter(read)
            .map(|block| words(&block.text))
            .sum()
    }

    /// Whole minutes at [`WORDS_PER_MINUTE`], rounded up.
    pub fn reading_minutes(&self) -> u32 {
        self.words().div_ceil(WORDS_PER_MINUTE)
    }

    /// The first sentences of running text, at most `most` characters; of a longer first sentence its
    /// beginning, cut between words and ended with `…`.
    pub fn excerpt(&self, language: &str, most: usize) -> String {
        let mut out = String::new();
        let paragraphs = self.blocks.iter().filter(|block| block.kind == Kind::Paragraph);
        for sentence in paragraphs.flat_map(|block| sentences(&block.text, language)) {
            let gap = usize::from(!out.is_empty());
            if length(&out) + gap + length(sentence) > most {
                if out.is_empty() {
                    let start = cut(sentence, most.saturating_sub(1));
                    let end = start.rfind(char::is_whitespace).unwrap_or(start.len());
                    let _ = write!(out, "{}…", start[..end].trim_end_matches([',', ';', ':', ' ']));
                }
                break;
            }
            if gap == 1 {
                out.push(' ');
            }
            out.push_str(sentence);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Tea & *time*\n\nWater at **80 °C**. See [our guide](/guide).\n\n- one [two](https://x.example)\n- three\n\n\
        ```sh\nmake  tea\n```\n\n|a|b|\n|-|-|\n|c|d|\n\n![A cup](cup.png)\n\n## Second\n\nLine<br>break.";

    #[test]
    fn a_text_is_taken_apart() {
        let document = Document::of_markdown(TEXT).unwrap();
        let shape: Vec<(Kind, &str)> = document
            .blocks
            .iter()
            .map(|b| (b.kind.clone(), b.text.as_str()))
            .collect();
        let heading = |level, id: &str| Kind::Heading(level, Some(format!("user-content-{id}")));
        assert_eq!(
            shape,
            [
                (heading(1, "tea-time"), "Tea & time"),
                (Kind::Paragraph, "Water at 80 °C. See our guide."),
                (Kind::Item, "one two"),
                (Kind::Item, "three"),
                (Kind::Code, "make  tea\n"),
                (Kind::Cell, "a"),
                (Kind::Cell, "b"),
                (Kind::Cell, "c"),
                (Kind::Cell, "d"),
                (heading(2, "second"), "Second"),
                (Kind::Paragraph, "Line break."),
            ]
        );
        let links: Vec<(&str, &str)> = document
            .links
            .iter()
            .map(|l| (l.href.as_str(), l.text.as_str()))
            .collect();
        assert_eq!(links, [("/guide", "our guide"), ("https://x.example", "two")]);
        assert_eq!(
            document.images,
            [Image {
                src: "cup.png".into(),
                alt: "A cup".into(),
                width: None,
                height: None,
            }]
        );
        assert_eq!(document.outline().len(), 2);
        assert!(document.plain_text().starts_with("Tea & time\n\nWater at"));
        assert_eq!(document.words(), 2 + 7 + 3 + 4 + 1 + 2);
    }

    #[test]
    fn minutes_are_rounded_up() {
        let minutes = |n: usize| {
            Document::of_markdown(&"word ".repeat(n))
                .unwrap()
                .reading_minutes()
        };
        assert_eq!([minutes(0), minutes(1), minutes(238), minutes(239)], [0, 1, 1, 2]);
    }

    #[test]
    fn an_excerpt_ends_where_a_sentence_does() {
        let document = Document::of_markdown("# No\n\nOne is here. Two is, too. Three.").unwrap();
        assert_eq!(document.excerpt("en", 300), "One is here. Two is, too. Three.");
        assert_eq!(document.excerpt("en", 27), "One is here. Two is, too.");
        assert_eq!(document.excerpt("en", 8), "One is…");
        assert_eq!(Document::default().excerpt("en", 8), "");
    }
}

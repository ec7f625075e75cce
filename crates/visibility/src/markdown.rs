//! Plain text of an answer in Markdown, with the place of each part in the original.
//!
//! The text is read once from left to right, and every look ahead is bounded, so that hostile text takes linear time.
//! Links whose label is a host, a number or a URL are citations; their label is no text. A section of sources is no text
//! either.

mod inline;
mod lines;

use std::ops::Range;

pub(crate) use self::lines::strip;

/// A part of the plain text that equals a part of the original byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Start in the plain text, in bytes.
    pub(crate) plain: usize,
    /// Start in the original, in bytes.
    pub(crate) source: usize,
}

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// A heading.
    Heading,
    /// A list item.
    Item,
    /// Any other line.
    Line,
}

/// A line of the plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Range in the plain text, in bytes.
    pub(crate) range: Range<usize>,
    pub(crate) kind: BlockKind,
    /// Number of the innermost numbered item that holds it.
    pub(crate) rank: Option<u32>,
    /// Index of the outermost item that holds it, or its own.
    pub(crate) group: usize,
    /// Whether it belongs to an item.
    pub(crate) is_in_item: bool,
    /// End of the name or title that an item or a heading begins with.
    pub(crate) head_end: usize,
}

/// A link in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// URL as it stands in the answer.
    pub(crate) url: String,
    /// Label, if it is more than the URL.
    pub(crate) title: Option<String>,
}

/// Plain text with its structure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stripped {
    pub(crate) plain: String,
    pub(crate) runs: Vec<Run>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) links: Vec<Link>,
    /// Bold parts, as ranges in the plain text.
    pub(crate) bolds: Vec<Range<usize>>,
}

impl Stripped {
    /// Appends a part of the original.
    fn push(&mut self, text: &str, part: Range<usize>) {
        if part.is_empty() {
            return;
        }
        let run = Run {
            plain: self.plain.len(),
            source: part.start,
        };
        let joins = self
            .runs
            .last()
            .is_some_and(|last| last.source + (run.plain - last.plain) == run.source);
        if !joins {
            self.runs.push(run);
        }
        self.plain.push_str(&text[part]);
    }

    /// Appends a character that stands for a part of the original.
    fn push_for(&mut self, c: char, source: usize) {
        let plain = self.plain.len();
        self.runs.push(Run { plain, source });
        self.plain.push(c);
    }
}

#[cfg(test)]
mod tests;

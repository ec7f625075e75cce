//! Lines: headings, list items and their nesting, quotes, tables and sections of sources.

use std::sync::LazyLock;

use super::{
    Block, BlockKind, Stripped,
    inline::{self, Inline},
};
use crate::{lists::entries, normal::key};

/// Maximum number of items that hold each other; deeper ones are taken for siblings.
const MAX_DEPTH: usize = 32;
/// Maximum indentation that is counted.
const MAX_INDENT: usize = 200;
/// Maximum length of the head of an item, in bytes.
const MAX_HEAD: usize = 90;

/// Headings of sections that list sources, as keys.
static SOURCE_HEADINGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let headings = entries(include_str!("../../data/source_headings.txt"));
    headings.map(|heading| key(heading).norm).collect()
});

/// Returns the plain text of an answer.
pub(crate) fn strip(text: &str) -> Stripped {
    let mut lines = Lines {
        text,
        out: Stripped::default(),
        open: Vec::new(),
        numbered_heading: None,
        is_after_blank: false,
        is_in_sources: false,
    };
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
        lines.read(start, end);
        start = end + 1;
    }
    lines.out
}

/// An item that is open.
#[derive(Clone, Copy)]
struct OpenItem {
    indent: usize,
    is_numbered: bool,
    rank: Option<u32>,
    block: usize,
}

/// Beginning of a line.
#[derive(Clone, Copy, Default)]
struct Prefix {
    indent: usize,
    is_heading: bool,
    is_item: bool,
    number: Option<u32>,
    /// Place of the text, in bytes.
    content: usize,
}

struct Lines<'t> {
    text: &'t str,
    out: Stripped,
    open: Vec<OpenItem>,
    numbered_heading: Option<OpenItem>,
    is_after_blank: bool,
    is_in_sources: bool,
}

impl Lines<'_> {
    fn read(&mut self, start: usize, end: usize) {
        let line = &self.text[start..end];
        let bare = line.trim();
        if bare.is_empty() {
            self.is_after_blank = true;
            return;
        }
        if bare.starts_with("```") || bare.starts_with("~~~") || is_rule(bare) {
            return;
        }
        let mut prefix = read_prefix(self.text, start, end);
        if is_source_heading(&self.text[prefix.content..end]) {
            self.is_in_sources = true;
        } else if prefix.is_heading {
            self.is_in_sources = false;
        }
        if self.is_in_sources {
            // its links are citations, its words are no text
            let mut aside = Stripped::default();
            inline::read(&mut Inline::new(self.text, prefix.content, end, &mut aside));
            self.out.links.append(&mut aside.links);
            return;
        }
        let (before, bolds) = (self.out.plain.len(), self.out.bolds.len());
        inline::read(&mut Inline::new(self.text, prefix.content, end, &mut self.out));
        if self.out.plain[before..].trim().is_empty() {
            self.out.bolds.truncate(bolds);
            return;
        }
        self.number_in_bold(&mut prefix, before);
        self.close_items(prefix);
        self.add_block(prefix, before, bolds);
        self.out.plain.push('\n');
        self.is_after_blank = false;
    }

    /// Takes `**1. Name**` for a numbered heading.
    fn number_in_bold(&self, prefix: &mut Prefix, before: usize) {
        let line = self.out.plain[before..].trim_start();
        let is_bold = self.text[prefix.content..].starts_with("**");
        if (is_bold || prefix.is_heading)
            && prefix.number.is_none()
            && let Some(number) = numbered(line).map(|found| found.number)
        {
            prefix.number = Some(number);
            prefix.is_heading |= !prefix.is_item;
        }
    }

    fn close_items(&mut self, prefix: Prefix) {
        if prefix.is_heading {
            self.open.clear();
            self.numbered_heading = None;
        } else if prefix.is_item {
            let is_numbered = prefix.number.is_some();
            while self.open.last().is_some_and(|open| {
                open.indent > prefix.indent
                    || open.indent == prefix.indent && (is_numbered || !open.is_numbered)
                    || self.open.len() >= MAX_DEPTH
            }) {
                self.open.pop();
            }
        } else if self.is_after_blank {
            while self.open.last().is_some_and(|open| open.indent >= prefix.indent) {
                self.open.pop();
            }
        }
    }

    fn add_block(&mut self, prefix: Prefix, start: usize, first_bold: usize) {
        let block = self.out.blocks.len();
        let parent = self.open.last().or(self.numbered_heading.as_ref());
        let group = self.numbered_heading.or(self.open.first().copied());
        let own = OpenItem {
            indent: prefix.indent,
            is_numbered: prefix.number.is_some(),
            rank: prefix.number.or(parent.and_then(|parent| parent.rank)),
            block,
        };
        let range = start..self.out.plain.len();
        let bold = self.out.bolds.get(first_bold);
        self.out.blocks.push(Block {
            kind: match prefix {
                _ if prefix.is_heading => BlockKind::Heading,
                _ if prefix.is_item => BlockKind::Item,
                _ => BlockKind::Line,
            },
            rank: own.rank,
            group: group.map_or(block, |group| group.block),
            is_in_item: prefix.is_item || group.is_some(),
            head_end: match bold.filter(|bold| bold.start <= start + 4) {
                _ if prefix.is_heading => range.end,
                Some(bold) => bold.end,
                None if prefix.is_item => start + head_length(&self.out.plain[range.clone()]),
                None => start,
            },
            range,
        });
        if prefix.is_heading && prefix.number.is_some() {
            self.numbered_heading = Some(own);
        } else if prefix.is_item {
            self.open.push(own);
        }
    }
}

/// Whether a line is a rule or separates the head of a table.
fn is_rule(line: &str) -> bool {
    line.len() >= 3
        && line
            .bytes()
            .all(|b| matches!(b, b'-' | b'*' | b'_' | b'=' | b'|' | b':' | b' '))
}

/// Whether a line alone is the heading of a section of sources.
fn is_source_heading(line: &str) -> bool {
    if line.len() > 60 {
        return false;
    }
    let words = key(line);
    words.words > 0 && words.words <= 8 && SOURCE_HEADINGS.contains(&words.norm)
}

fn read_prefix(text: &str, start: usize, end: usize) -> Prefix {
    let mut prefix = Prefix {
        content: start,
        ..Prefix::default()
    };
    let bytes = &text.as_bytes()[..end];
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b'>' | b'|');
    while let Some(b) = bytes.get(prefix.content).filter(|b| is_blank(b)) {
        prefix.indent = (prefix.indent + if *b == b'\t' { 4 } else { 1 }).min(MAX_INDENT);
        prefix.content += 1;
    }
    let hashes = bytes[prefix.content..].iter().take_while(|b| **b == b'#').count();
    if (1..=6).contains(&hashes) && bytes.get(prefix.content + hashes).is_none_or(|b| *b == b' ') {
        prefix.is_heading = true;
        prefix.content += hashes;
        prefix.content += bytes[prefix.content..].iter().take_while(|b| **b == b' ').count();
    }
    let rest = &text[prefix.content..end];
    if let Some(found) = numbered(rest) {
        prefix.number = Some(found.number);
        prefix.is_item = !prefix.is_heading;
        prefix.content += found.length;
    } else if let Some(length) = bullet(rest) {
        prefix.is_item = !prefix.is_heading;
        prefix.content += length;
    }
    prefix
}

/// Number that a line begins with.
struct Numbered {
    number: u32,
    /// Length with the sign and the space behind it, in bytes.
    length: usize,
}

/// Returns the number of `1. `, `1) ` and `1、`.
fn numbered(line: &str) -> Option<Numbered> {
    let digits = line.bytes().take(4).take_while(u8::is_ascii_digit).count();
    let number = line[..digits].parse().ok().filter(|_| digits < 4)?;
    let rest = &line[digits..];
    let sign = [". ", ") ", "、", "．", ".\t"]
        .into_iter()
        .find(|sign| rest.starts_with(sign))?;
    let spaces = rest[sign.len()..].bytes().take_while(|b| *b == b' ').count();
    Some(Numbered {
        number,
        length: digits + sign.len() + spaces,
    })
}

fn bullet(line: &str) -> Option<usize> {
    let sign = ["- ", "* ", "+ ", "• ", "– ", "・", "●", "▪ "]
        .into_iter()
        .find(|sign| line.starts_with(sign))?;
    let spaces = line[sign.len()..].bytes().take_while(|b| *b == b' ').count();
    let rest = &line[sign.len() + spaces..];
    let check = ["[ ] ", "[x] ", "[X] "]
        .into_iter()
        .find(|check| rest.starts_with(check));
    Some(sign.len() + spaces + check.map_or(0, str::len))
}

/// Returns the length of the title that an item begins with: up to a colon or dash; 0 if there is none.
fn head_length(item: &str) -> usize {
    let head = &item[..item.floor_char_boundary(MAX_HEAD)];
    let ends = [": ", " – ", " — ", " - ", "：", " (", "（"];
    let end = ends.iter().filter_map(|end| head.find(end)).min();
    match end {
        Some(end) => end,
        None if head.ends_with(':') => head.len() - 1,
        None if item.len() <= 40 && !item.trim_end().ends_with(['.', '!', '。']) => item.len(),
        None => 0,
    }
}

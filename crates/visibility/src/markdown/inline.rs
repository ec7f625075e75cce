//! Signs inside a line: emphasis, code, links, citation marks, tags, entities and URLs.

use std::ops::Range;

use super::{Link, Stripped};

/// Maximum length of a label, in bytes.
const MAX_LABEL: usize = 300;
/// Maximum length of a URL, in bytes.
const MAX_URL: usize = 2048;
/// Maximum length of a tag, in bytes.
const MAX_TAG: usize = 200;
/// Maximum number of links kept of an answer.
const MAX_LINKS: usize = 10_000;

/// Entities that stand for one character.
const ENTITIES: [(&str, char); 6] = [
    ("&amp;", '&'),
    ("&nbsp;", ' '),
    ("&quot;", '"'),
    ("&#39;", '\''),
    ("&lt;", '<'),
    ("&gt;", '>'),
];

/// A line that is being read.
pub(super) struct Inline<'t, 'o> {
    text: &'t str,
    end: usize,
    at: usize,
    /// End of the part that is copied already.
    copied: usize,
    out: &'o mut Stripped,
    bold: Option<usize>,
}

impl<'t, 'o> Inline<'t, 'o> {
    pub(super) fn new(text: &'t str, start: usize, end: usize, out: &'o mut Stripped) -> Self {
        Self {
            text,
            end,
            at: start,
            copied: start,
            out,
            bold: None,
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    /// Copies what was read so far and leaves out the next bytes.
    fn skip(&mut self, length: usize) {
        self.out.push(self.text, self.copied..self.at);
        self.at += length;
        self.copied = self.at;
    }

    fn add_link(&mut self, url: &str, title: Option<&str>) {
        if self.out.links.len() < MAX_LINKS {
            self.out.links.push(Link {
                url: url.to_owned(),
                title: title
                    .map(|title| title.trim().to_owned())
                    .filter(|title| !title.is_empty()),
            });
        }
    }
}

/// Reads a line to its end.
pub(super) fn read(line: &mut Inline<'_, '_>) {
    while line.at < line.end {
        let byte = line.text.as_bytes()[line.at];
        match byte {
            b'*' | b'~' | b'`' | b'_' => read_emphasis(line, byte),
            b'\\' => read_escape(line),
            b'!' if line.rest().starts_with("![") => read_link(line, 1),
            b'[' => read_link(line, 0),
            b'(' if line.rest().starts_with("([") => read_cited(line),
            b'<' => read_tag(line),
            b'&' => read_entity(line),
            b'|' => {
                line.skip(1);
                let source = line.at - 1;
                line.out.push_for(' ', source);
            }
            b'h' | b'H' | b'w' | b'W' => read_url(line),
            0xe3 if line.rest().starts_with('【') => read_mark(line),
            0xee => read_private(line),
            _ => line.at += 1,
        }
    }
    line.out.push(line.text, line.copied..line.end);
    if let Some(start) = line.bold.take() {
        let end = line.out.plain.len();
        line.out.bolds.push(start..end);
    }
}

fn read_emphasis(line: &mut Inline<'_, '_>, sign: u8) {
    let bytes = &line.text.as_bytes()[..line.end];
    let length = bytes[line.at..].iter().take_while(|b| **b == sign).count();
    let before = line.at.checked_sub(1).and_then(|at| bytes.get(at));
    let after = bytes.get(line.at + length);
    let is_in_word = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80);
    let is_blank = |b: Option<&u8>| b.is_none_or(u8::is_ascii_whitespace);
    let is_text = match sign {
        b'_' => is_in_word(before) && is_in_word(after),
        b'~' => length < 2,
        b'*' => length == 1 && is_blank(before) && is_blank(after),
        _ => false,
    };
    if is_text {
        line.at += length;
        return;
    }
    line.skip(length);
    if length >= 2 && sign != b'~' && sign != b'`' {
        let end = line.out.plain.len();
        match line.bold.take() {
            Some(start) => line.out.bolds.push(start..end),
            None => line.bold = Some(end),
        }
    }
}

fn read_escape(line: &mut Inline<'_, '_>) {
    let next = line.text.as_bytes()[..line.end].get(line.at + 1);
    if next.is_some_and(u8::is_ascii_punctuation) {
        line.skip(1);
    }
    line.at += 1;
}

/// A link `[label](url "title")`.
struct Found {
    label: Range<usize>,
    url: Range<usize>,
    end: usize,
}

/// Finds the link that begins with a bracket.
fn find_link(text: &str, start: usize, end: usize) -> Option<Found> {
    let bytes = &text.as_bytes()[..end];
    let window = &bytes[start..end.min(start + MAX_LABEL)];
    let close = start + memchr::memchr(b']', window)?;
    if bytes.get(close + 1) != Some(&b'(') {
        return None;
    }
    let from = close + 2;
    let mut depth = 0;
    let mut url_end = None;
    for (i, b) in bytes[from..end.min(from + MAX_URL)].iter().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' if depth == 0 => {
                return Some(Found {
                    label: start + 1..close,
                    url: from..url_end.unwrap_or(from + i),
                    end: from + i + 1,
                });
            }
            b')' => depth -= 1,
            b'[' => return None,
            b' ' | b'\t' if url_end.is_none() => url_end = Some(from + i),
            _ => {}
        }
    }
    None
}

/// Whether a label is no text but the name of a source.
fn is_citation_label(label: &str) -> bool {
    let label = label.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '[' | ']' | '^'));
    let is_number = label.bytes().all(|b| b.is_ascii_digit());
    let is_host = !label.contains(char::is_whitespace)
        && label.split('.').count() >= 2
        && label.split('.').all(|part| !part.is_empty());
    is_number || is_host || label.contains("://")
}

fn read_link(line: &mut Inline<'_, '_>, sign: usize) {
    let start = line.at + sign;
    let Some(found) = find_link(line.text, start, line.end) else {
        return read_reference(line, sign);
    };
    let (text, length) = (line.text, found.end - line.at);
    let label = &text[found.label.clone()];
    if sign == 0 {
        let title = (!is_citation_label(label)).then_some(label);
        line.add_link(&text[found.url.clone()], title);
    }
    line.skip(length);
    if sign == 0 && !is_citation_label(label) {
        line.at = found.label.start;
        line.copied = line.at;
        let (end, after) = (line.end, found.end);
        line.end = found.label.end;
        read_label(line);
        line.end = end;
        line.at = after;
        line.copied = after;
    }
}

/// Reads the label of a link, without looking for links in it.
fn read_label(line: &mut Inline<'_, '_>) {
    while line.at < line.end {
        match line.text.as_bytes()[line.at] {
            sign @ (b'*' | b'_' | b'`') => read_emphasis(line, sign),
            _ => line.at += 1,
        }
    }
    line.out.push(line.text, line.copied..line.end);
    line.copied = line.end;
}

/// Reads `[1]`, `[^1]` and other brackets.
fn read_reference(line: &mut Inline<'_, '_>, sign: usize) {
    let rest = line.rest().as_bytes();
    let inner = &rest[1 + sign..rest.len().min(8)];
    let digits = inner
        .iter()
        .take_while(|b| b.is_ascii_digit() || **b == b'^')
        .count();
    if digits > 0 && inner.get(digits) == Some(&b']') {
        line.skip(digits + 2 + sign);
    } else {
        line.at += 1 + sign;
    }
}

/// Reads `([label](url))`, a citation in brackets.
fn read_cited(line: &mut Inline<'_, '_>) {
    let found = find_link(line.text, line.at + 1, line.end);
    match found.filter(|found| line.text.as_bytes()[..line.end].get(found.end) == Some(&b')')) {
        Some(found) => {
            let label = &line.text[found.label.clone()];
            let title = (!is_citation_label(label)).then_some(label);
            line.add_link(&line.text[found.url.clone()], title);
            let length = found.end + 1 - line.at;
            line.skip(length);
        }
        None => line.at += 1,
    }
}

fn read_tag(line: &mut Inline<'_, '_>) {
    let rest = line.rest();
    let window = &rest.as_bytes()[..rest.len().min(MAX_TAG)];
    let is_tag = window
        .get(1)
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'/');
    match memchr::memchr(b'>', window).filter(|_| is_tag) {
        Some(close) => {
            let inner = &rest[1..close];
            if is_url(inner) {
                line.add_link(inner, None);
            }
            let is_break = inner.starts_with("br");
            let source = line.at;
            line.skip(close + 1);
            if is_break {
                line.out.push_for(' ', source);
            }
        }
        None => line.at += 1,
    }
}

fn read_entity(line: &mut Inline<'_, '_>) {
    let rest = line.rest();
    match ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity)) {
        Some((entity, c)) => {
            let source = line.at;
            line.skip(entity.len());
            line.out.push_for(*c, source);
        }
        None => line.at += 1,
    }
}

/// Whether a text begins with a scheme of the web.
fn is_url(text: &str) -> bool {
    let starts = |scheme: &str| {
        text.as_bytes()
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    starts("https://") || starts("http://")
}

fn read_url(line: &mut Inline<'_, '_>) {
    let rest = line.rest();
    let before = line.at.checked_sub(1).map(|at| line.text.as_bytes()[at]);
    if before.is_some_and(|b| b.is_ascii_alphanumeric()) || !is_url(rest) {
        line.at += 1;
        return;
    }
    let length = url_length(rest);
    let url = &rest[..length];
    line.add_link(url, None);
    line.skip(length);
}

/// Returns the length of the URL that a text begins with: to white space, a quote or a bracket that it did not open,
/// without the punctuation behind it.
fn url_length(text: &str) -> usize {
    let mut depth = 0_i32;
    let mut end = text.len().min(MAX_URL);
    for (i, c) in text.char_indices() {
        if i >= MAX_URL {
            end = i;
            break;
        }
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        let is_wide = matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{ff00}'..='\u{ffef}' | '“' | '”' | '«' | '»');
        if depth < 0 || c.is_whitespace() || is_wide || matches!(c, '<' | '>' | '"' | '`' | '|' | ']' | '*') {
            end = i;
            break;
        }
    }
    let end = text.floor_char_boundary(end);
    text[..end]
        .trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '_'])
        .len()
}

/// Reads a citation mark such as `【1†source】`.
fn read_mark(line: &mut Inline<'_, '_>) {
    let rest = line.rest();
    let window = &rest[..rest.floor_char_boundary(80)];
    let is_mark = window.contains('†') || window['【'.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
    match window.find('】').filter(|_| is_mark) {
        Some(close) => line.skip(close + '】'.len_utf8()),
        None => line.at += '【'.len_utf8(),
    }
}

/// Leaves out characters of private use, which some engines put around citations.
fn read_private(line: &mut Inline<'_, '_>) {
    let length = line.rest().chars().next().map_or(1, char::len_utf8);
    line.skip(length);
}

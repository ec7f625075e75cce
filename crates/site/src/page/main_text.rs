//! Visible text of a page: collected in reading order, evaluated at the end.

use std::{borrow::Cow, cell::Cell, ops::Range};

use memchr::{memchr2_iter, memmem};
use searchwright_text::{self as text, WordCount, count_words, minhash::Sketch};

use super::{
    HtmlFacts, Limits, density, language,
    markup_mismatch::{digit, unseen},
    placeholders::VisibleText,
    readability,
};
use crate::html::tags::Tag;

const IN_MAIN: u8 = 1;
const IN_ARTICLE: u8 = 2;
/// In navigation, header, footer or aside, which repeat on every page and are not content of this one.
const IN_CHROME: u8 = 4;
/// In an element with `data-nosnippet`.
const HIDDEN: u8 = 8;
/// Not content, judged by text density.
const AROUND: u8 = 16;

/// Maximum number of bytes of a document for which space is reserved up front.
const MAX_RESERVED: usize = 256 << 10;
/// Minimum number of words of a text that is compared with others.
const MIN_SKETCHED: u32 = 50;
/// Number of characters of the main text kept as evidence.
const EXCERPT: usize = 300;

/// Collects visible text with the place of each part.
#[derive(Debug, Default)]
pub(super) struct TextCollector {
    /// Text with white space folded; elements that break words leave one space.
    text: String,
    /// Start of each part, and its place flags.
    parts: Vec<(usize, u8)>,
    place: u8,
    /// Boundaries of blocks, ascending.
    breaks: Vec<usize>,
    code: Vec<(usize, usize)>,
    /// Ranges of quoted text.
    quotes: Vec<(usize, usize)>,
    /// Positions at which two elements meet between digits, as in `12<sup>99</sup>`.
    seams: Vec<usize>,
    /// Ranges of program text that forms a block of its own.
    listings: Vec<(usize, usize)>,
    /// Ranges of link texts outside landmarks.
    links: Vec<(usize, usize)>,
    /// Reused buffers: the folded main text, and its beginning in lines.
    main: String,
    lines: String,
}

thread_local! {
    /// Buffers of the previous page, reused for the next one.
    static ROOM: Cell<Option<TextCollector>> = const { Cell::new(None) };
}

impl TextCollector {
    /// Creates a collector for a document of this size.
    pub fn with_capacity(bytes: usize) -> Self {
        let Self {
            mut text,
            mut parts,
            mut breaks,
            mut code,
            mut quotes,
            mut seams,
            mut listings,
            mut links,
            main,
            lines,
            place: _,
        } = ROOM.take().unwrap_or_default();
        text.clear();
        // at least a third of a usual page is markup
        text.reserve(bytes.min(MAX_RESERVED) / 3 * 2);
        parts.clear();
        breaks.clear();
        code.clear();
        quotes.clear();
        seams.clear();
        listings.clear();
        links.clear();
        Self {
            text,
            parts,
            place: 0,
            breaks,
            code,
            quotes,
            seams,
            listings,
            links,
            main,
            lines,
        }
    }

    /// Adds a text whose character references are decoded.
    pub fn push(&mut self, text: &str) {
        if self.parts.last().map(|part| part.1) != Some(self.place) {
            self.parts.push((self.text.len(), self.place));
        }
        let meets = |c: Option<char>| c.is_some_and(|c| digit(c).is_some());
        if meets(text.chars().next()) && meets(self.text.chars().next_back()) {
            self.seams.push(self.text.len());
        }
        text::fold_into(&mut self.text, text);
    }

    /// Ends the current word.
    pub fn boundary(&mut self) {
        text::end_word(&mut self.text);
    }

    /// Ends the current block and word.
    pub fn end_block(&mut self) {
        self.boundary();
        if self.breaks.last() != Some(&self.text.len()) {
            self.breaks.push(self.text.len());
        }
    }

    /// Returns the position at which the next text begins.
    pub fn mark(&self) -> usize {
        self.text.len()
    }

    /// Returns the text since a mark.
    pub fn since(&self, mark: usize) -> &str {
        // white space is folded, so there is one space at most
        let text = self.text.get(mark..).unwrap_or_default();
        let text = text.strip_prefix(' ').unwrap_or(text);
        text.strip_suffix(' ').unwrap_or(text)
    }

    /// Returns the text between two marks.
    pub fn between(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Whether program text ended since a mark.
    pub fn has_code_since(&self, mark: usize) -> bool {
        self.code.last().is_some_and(|(start, _)| *start >= mark)
    }

    /// Records program text that began at a mark and has ended.
    pub fn code_since(&mut self, mark: usize) {
        self.code.push((mark, self.text.len()));
    }

    /// Records quoted text that began at a mark and has ended.
    pub fn quote_since(&mut self, mark: usize) {
        self.quotes.push((mark, self.text.len()));
    }

    /// Records a program listing that began at a mark and has ended.
    pub fn listing_since(&mut self, mark: usize) {
        self.listings.push((mark, self.text.len()));
    }

    /// Records the text of a link that began at a mark and has ended.
    pub fn link_since(&mut self, mark: usize) {
        if self.place & !HIDDEN == 0 && mark < self.text.len() {
            self.links.push((mark, self.text.len()));
        }
    }

    /// Updates the place from the open landmarks, when one began or ended.
    pub fn enter(&mut self, has: impl Fn(Tag) -> bool) {
        let main = if has(Tag::Main) { IN_MAIN } else { 0 };
        let article = if has(Tag::Article) { IN_ARTICLE } else { 0 };
        // the header of an article contains its heading
        let around = main | article == 0 && (has(Tag::Header) || has(Tag::Footer));
        let chrome = if around || has(Tag::Nav) || has(Tag::Aside) {
            IN_CHROME
        } else {
            0
        };
        self.place = main | article | chrome | self.place & HIDDEN;
    }

    /// Sets whether the following text is excluded from snippets.
    pub fn hide(&mut self, hidden: bool) {
        self.place = self.place & !HIDDEN | if hidden { HIDDEN } else { 0 };
    }

    /// Whether the current place is in navigation, header, footer or aside.
    pub fn in_chrome(&self) -> bool {
        self.place & IN_CHROME != 0
    }

    /// Whether the last range of program text covers all text since a mark.
    pub fn is_code_since(&self, mark: usize) -> bool {
        let visible = mark
            + self
                .text
                .get(mark..)
                .map_or(0, |rest| rest.len() - rest.trim_start().len());
        let end = self.text.trim_end().len();
        visible < end
            && self
                .code
                .last()
                .is_some_and(|(start, until)| *start <= visible && end <= *until)
    }

    /// Counts and hashes the texts, and keeps the beginning of the main text if the limits ask for it. `lead` is the text
    /// below the heading of the page.
    pub fn finish(mut self, facts: &mut HtmlFacts, limits: &Limits, lead: &str) {
        self.text.truncate(self.text.trim_end().len());
        facts.text_bytes = self.text.len() as u64;
        let wanted = self.main_place();
        if wanted == 0 {
            self.leave_out_what_is_around();
        }
        let is_main = |place: u8| place & (IN_CHROME | AROUND) == 0 && (wanted == 0 || place & wanted != 0);
        let mut all = WordCount::default();
        let mut main_text = std::mem::take(&mut self.main);
        main_text.clear();
        main_text.reserve(self.text.len() + 1);
        let mut hidden = 0;
        for (start, end, place) in self.spans() {
            let part = self.text.get(start..end).unwrap_or_default();
            if is_main(place) {
                let part = part.trim();
                text::end_word(&mut main_text);
                main_text.push_str(part);
                hidden += if place & HIDDEN != 0 { part.len() } else { 0 };
            } else {
                all.join(count_words(part));
            }
        }
        main_text.truncate(main_text.trim_end().len());
        facts.excerpt = text::cut(&main_text, EXCERPT).into();
        let mut lines = std::mem::take(&mut self.lines);
        self.write_lines(is_main, limits.text, &mut lines);
        facts.main_nosnippet = !main_text.is_empty() && hidden * 10 >= main_text.len() * 9;
        facts.quotations += u32::from(has_quotation(&main_text));
        facts.numbers = has_digit(main_text.as_bytes());
        let folded = text::folded_case(main_text);
        facts.text_hash = if folded.is_empty() {
            0
        } else {
            text::hash_long(with_heading(facts, &folded, lead).as_bytes())
        };
        let visible = VisibleText {
            main: &folded,
            all: &self.text,
            around: &self.around(is_main),
            code: &self.code,
            quotes: &self.quotes,
        };
        facts.placeholders = visible.placeholders();
        let main = Sketch::scan(&folded);
        facts.main_words = main.words.total();
        all.join(main.words);
        facts.words = all.total();
        if facts.main_words >= MIN_SKETCHED {
            facts.sketch = main.sketch;
        }
        if facts.words >= MIN_SKETCHED && (!facts.json_ld.is_empty() || facts.objects.is_some()) {
            facts.unseen = unseen(facts, &folded, &self.text, &self.seams);
        }
        if let Some(lang) = &facts.lang {
            facts.hard = readability::hard(lang, &lines);
            // filler text has no language
            if facts.placeholders.is_empty() {
                facts.language = language::other_than(lang, &lines);
            }
        }
        if limits.keeps_text {
            facts.main_text = lines.as_str().into();
        }
        (self.main, self.lines) = (folded, lines);
        if self.text.capacity() <= MAX_RESERVED {
            ROOM.set(Some(self));
        }
    }

    /// Returns the range of each part with its place flags.
    fn spans(&self) -> impl Iterator<Item = (usize, usize, u8)> {
        let ends = self.parts.iter().skip(1).map(|next| next.0);
        let ends = ends.chain(std::iter::once(self.text.len()));
        self.parts
            .iter()
            .zip(ends)
            .map(|((start, place), end)| (*start, end, *place))
    }

    /// Returns the wanted parts split at block boundaries, with their place flags.
    fn pieces(&self, is_wanted: impl Fn(u8) -> bool) -> impl Iterator<Item = (usize, usize, u8)> {
        let mut breaks = self.breaks.as_slice();
        let mut wanted = self.spans().filter(move |(_, _, place)| is_wanted(*place));
        let mut part = None;
        std::iter::from_fn(move || {
            let (start, end, place) = part
                .take()
                .or_else(|| wanted.find(|(start, end, _)| start < end))?;
            // the next boundary is hardly ever far
            let behind = breaks.iter().position(|b| *b > start).unwrap_or(breaks.len());
            breaks = &breaks[behind..];
            let next = breaks.first().map_or(end, |next| end.min(*next));
            part = (next < end).then_some((next, end, place));
            Some((start, next, place))
        })
    }

    /// Writes the wanted parts, one line per block, cut at the end of a word.
    fn write_lines(&self, is_wanted: impl Fn(u8) -> bool, most: usize, out: &mut String) {
        out.clear();
        let mut listings = self.listings.as_slice();
        for (start, end, _) in self.pieces(is_wanted) {
            if out.len() > most {
                break;
            }
            let behind = listings.iter().position(|l| l.1 > start);
            listings = &listings[behind.unwrap_or(listings.len())..];
            let line = self.text.get(start..end).unwrap_or_default().trim();
            if !line.is_empty() && listings.first().is_none_or(|l| start < l.0) {
                out.push_str(line);
                out.push('\n');
            }
        }
        if out.len() > most {
            out.truncate(out.floor_char_boundary(most));
            // some scripts have no spaces between words
            let near = out.floor_char_boundary(most.saturating_sub(64));
            out.truncate(out[near..].rfind(' ').map_or(out.len(), |space| near + space));
        }
        out.truncate(out.trim_end().len());
    }

    /// Returns the flag of the element that holds the main text: main, else article, else 0 for everything outside
    /// landmarks.
    fn main_place(&self) -> u8 {
        let holds = |wanted: u8| {
            self.spans().any(|(start, end, place)| {
                place & wanted != 0
                    && place & IN_CHROME == 0
                    && !self.text.get(start..end).unwrap_or_default().trim().is_empty()
            })
        };
        [IN_MAIN, IN_ARTICLE]
            .into_iter()
            .find(|wanted| holds(*wanted))
            .unwrap_or(0)
    }

    /// Marks blocks that are not content, if no main or article element shows what is.
    fn leave_out_what_is_around(&mut self) {
        let pieces: Vec<_> = self.pieces(|_| true).collect();
        let is_block = |(start, end, place): &(usize, usize, u8)| {
            let text = self.text.get(*start..*end).unwrap_or_default();
            place & IN_CHROME == 0 && !text.trim().is_empty()
        };
        let blocks: Vec<(usize, usize)> = pieces
            .iter()
            .filter(|piece| is_block(piece))
            .map(|(start, end, _)| (*start, *end))
            .collect();
        let Some(contents) = density::contents(&self.text, &blocks, &self.links) else {
            return;
        };
        let mut contents = contents.into_iter();
        let parts = pieces.iter().map(|piece| {
            let is_around = is_block(piece) && contents.next() == Some(false);
            (piece.0, if is_around { piece.2 | AROUND } else { piece.2 })
        });
        self.parts = parts.collect();
    }

    /// Returns the ranges outside the main text, with adjacent ones merged.
    fn around(&self, is_main: impl Fn(u8) -> bool) -> Vec<Range<usize>> {
        let mut around: Vec<Range<usize>> = Vec::new();
        for (start, end, _) in self.spans().filter(|(_, _, place)| !is_main(*place)) {
            match around.last_mut() {
                Some(before) if before.end == start => before.end = end,
                _ => around.push(start..end),
            }
        }
        around
    }
}

/// Returns the text by which pages are the same: the main text, with the heading of the page and the text below it if they
/// are not in it. They may stand in a block too small to be told from a menu, before a text that many pages share.
fn with_heading<'t>(facts: &HtmlFacts, main: &'t str, lead: &str) -> Cow<'t, str> {
    let own = |level: u8| {
        let mut headings = facts.headings.iter();
        headings.find(|heading| heading.level <= level && !heading.beside && !heading.text.is_empty())
    };
    let heading = own(1).or_else(|| own(6)).map(|heading| &*heading.text);
    let is_in = |text: &str| memmem::find(main.as_bytes(), text.as_bytes()).is_some();
    let others = [heading.unwrap_or_default(), lead].map(text::folded);
    let mut whole = Cow::Borrowed(main);
    for other in others.iter().filter(|other| !is_in(other)) {
        whole = Cow::Owned([&whole, "\n", other].concat());
    }
    whole
}

/// Whether a text contains a digit. Works in chunks without an early exit inside, so that the loop is vectorized.
fn has_digit(text: &[u8]) -> bool {
    let any = |part: &[u8]| part.iter().fold(false, |any, b| any | b.is_ascii_digit());
    text.chunks(512).any(any)
}

/// Whether a text contains a quotation mark other than a straight one: “ „ «.
fn has_quotation(text: &str) -> bool {
    let text = text.as_bytes();
    memchr2_iter(0xe2, 0xc2, text)
        .any(|at| matches!(text[at..], [0xe2, 0x80, 0x9c | 0x9e, ..] | [0xc2, 0xab, ..]))
}

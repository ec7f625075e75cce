//! Signs of an unfinished page: filler text and unrendered templates.

use std::{ops::Range, sync::LazyLock};

use memchr::{memchr2_iter, memmem::Finder};

use searchwright_text as text;

/// Maximum number of placeholders kept.
const MAX_PLACEHOLDERS: usize = 20;
/// Maximum number of brackets examined for unrendered templates.
const MAX_LOOKED_AT: usize = 200;
/// Number of bytes kept after filler text.
const AFTER_FILLER: usize = 61;

/// Filler text in lower case.
pub(crate) const FILLER: [&str; 3] = ["lorem ipsum", "dolor sit amet", "consectetur adipiscing"];
/// Finders for folded text, and for text as written without the first letter, which may be a capital.
static FILLER_FINDERS: LazyLock<[[Finder<'static>; 2]; 3]> =
    LazyLock::new(|| FILLER.map(|filler| [Finder::new(filler), Finder::new(&filler[1..])]));

/// Visible text of a page.
pub(super) struct VisibleText<'p> {
    /// Folded main text.
    pub main: &'p str,
    /// All visible text, as written.
    pub all: &'p str,
    /// Ranges of `all` outside the main text, ascending.
    pub around: &'p [Range<usize>],
    /// Ranges of `all` that are program text, ascending.
    pub code: &'p [(usize, usize)],
    /// Ranges of `all` that are quoted, ascending.
    pub quotes: &'p [(usize, usize)],
}

/// Marks before and after a word that is only mentioned.
const OPENING: [char; 9] = ['"', '\'', '“', '„', '«', '‘', '‚', '‹', '「'];
const CLOSING: [char; 9] = ['"', '\'', '”', '“', '»', '’', '‘', '›', '」'];
/// Number of bytes after filler text in which a mark may close.
const MENTION: usize = 40;

/// Whether one of these ascending ranges contains a position.
fn is_within(ranges: &[(usize, usize)], at: usize) -> bool {
    let next = ranges.partition_point(|(_, end)| *end <= at);
    ranges.get(next).is_some_and(|(start, _)| *start <= at)
}

impl VisibleText<'_> {
    /// Returns the placeholders: filler text first, each phrase once, then unrendered templates.
    pub fn placeholders(&self) -> Vec<Box<str>> {
        let mut found: Vec<Box<str>> = Vec::new();
        for (filler, finders) in FILLER.iter().zip(&*FILLER_FINDERS) {
            // nearly all pages end here
            if !self.mentions(filler, finders) {
                continue;
            }
            if let Some(at) = self.filler(filler) {
                // includes the text after it, by which the place can be found
                let end = self.all.floor_char_boundary(at + filler.len() + AFTER_FILLER);
                found.push(text::folded_case(self.all[at..end].trim_end().to_owned()).into());
            }
        }
        let brackets = memchr2_iter(b'{', b'[', self.all.as_bytes());
        let unrendered = brackets.filter_map(|at| {
            let rest = &self.all[at..];
            let close = match rest {
                _ if rest.starts_with("{{") => "}}",
                _ if rest.starts_with("[object ") => "]",
                _ => return None,
            };
            (!is_within(self.code, at)).then_some((rest, close))
        });
        for (rest, close) in unrendered.take(MAX_LOOKED_AT) {
            let end = text::cut(rest, 80).find(close);
            if let Some(end) = end.filter(|_| found.len() < MAX_PLACEHOLDERS) {
                found.push(rest[..end + close.len()].into());
            }
        }
        found
    }

    /// Whether the main text or a part around it contains filler text.
    fn mentions(&self, filler: &str, [finder, finder_around]: &[Finder<'static>; 2]) -> bool {
        let text = self.all.as_bytes();
        let begins = |at: usize| {
            let before = text[..at].last();
            before.is_some_and(|b| filler.as_bytes()[0] == b.to_ascii_lowercase())
        };
        finder.find(self.main.as_bytes()).is_some()
            || self.around.iter().any(|part| {
                let mut found = finder_around.find_iter(&text[part.clone()]);
                found.any(|at| begins(part.start + at))
            })
    }

    /// Returns the first place of filler text that is no quotation, no program text and no mention of the words.
    fn filler(&self, filler: &str) -> Option<usize> {
        let bytes = self.all.as_bytes();
        let first = filler.as_bytes()[0];
        let mut places = memchr2_iter(first, first.to_ascii_uppercase(), bytes).filter(|at| {
            let there = bytes.get(*at..at + filler.len());
            there.is_some_and(|there| there.eq_ignore_ascii_case(filler.as_bytes()))
        });
        places.find(|at| {
            !is_within(self.quotes, *at) && !is_within(self.code, *at) && !self.is_mention(*at, filler)
        })
    }

    /// Whether filler text stands alone between quotation marks.
    fn is_mention(&self, at: usize, filler: &str) -> bool {
        let end = at + filler.len();
        let until = self.all.floor_char_boundary(end + MENTION);
        self.all[..at].ends_with(OPENING) && self.all[end..until].contains(CLOSING)
    }
}

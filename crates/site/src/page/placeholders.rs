//! Signs of an unfinished page: filler text and unrendered templates.

use std::{ops::Range, sync::LazyLock};

use memchr::{memchr2_iter, memmem::Finder};

use searchwright_text as text;

/// Maximum number of placeholders kept.
const MAX_PLACEHOLDERS: usize = 20;
/// Maximum number of brackets examined for unrendered templates.
const MAX_LOOKED_AT: usize = 200;
/// Number of bytes kept after filler text.
const AFTER_FILLER: usize = 60;

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
    /// Ranges of `all` that are program text.
    pub code: &'p [(usize, usize)],
}

impl VisibleText<'_> {
    /// Returns the placeholders: filler text first, each phrase once, then unrendered templates.
    pub fn placeholders(&self) -> Vec<Box<str>> {
        let mut found: Vec<Box<str>> = Vec::new();
        for (filler, [finder, finder_around]) in FILLER.iter().zip(&*FILLER_FINDERS) {
            if let Some(at) = finder.find(self.main.as_bytes()) {
                // includes the text after it, by which the place can be found
                let end = self.main.floor_char_boundary(at + filler.len() + AFTER_FILLER);
                found.push(self.main[at..end].trim_end().into());
                continue;
            }
            let text = self.all.as_bytes();
            let begins = |at: &usize| {
                text[..*at]
                    .last()
                    .is_some_and(|b| filler.as_bytes()[0] == b.to_ascii_lowercase())
            };
            let mut places = self.around.iter().flat_map(|part| {
                let found = finder_around.find_iter(&text[part.clone()]);
                found.map(|at| part.start + at)
            });
            if let Some(at) = places.find(begins) {
                let end = self.all.floor_char_boundary(at + filler.len() + AFTER_FILLER);
                found.push(text::folded_case(self.all[at - 1..end].trim_end().to_owned()).into());
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
            Some((at, rest, close))
        });
        for (at, rest, close) in unrendered.take(MAX_LOOKED_AT) {
            let in_code = self.code.iter().any(|(start, end)| (*start..*end).contains(&at));
            let end = text::cut(rest, 80).find(close);
            if let Some(end) = end.filter(|_| !in_code && found.len() < MAX_PLACEHOLDERS) {
                found.push(rest[..end + close.len()].into());
            }
        }
        found
    }
}

//! Marks of an unfinished page: filler text, and templates that nobody filled in.

use std::{ops::Range, sync::LazyLock};

use memchr::{memchr2_iter, memmem::Finder};

use searchwright_text as text;

/// Placeholders kept.
const MAX_PLACEHOLDERS: usize = 20;
/// Places looked at for unrendered templates.
const MAX_LOOKED_AT: usize = 200;
/// Bytes kept of what follows filler text.
const AFTER_FILLER: usize = 60;

/// Text that a designer meant to replace.
pub(crate) const FILLER: [&str; 3] = ["lorem ipsum", "dolor sit amet", "consectetur adipiscing"];
/// For folded text, and, without the letter that may be a capital, for text as it is.
static FILLER_FINDERS: LazyLock<[[Finder<'static>; 2]; 3]> =
    LazyLock::new(|| FILLER.map(|filler| [Finder::new(filler), Finder::new(&filler[1..])]));

/// The visible text of a page.
pub(super) struct VisibleText<'p> {
    /// The main text, folded.
    pub main: &'p str,
    /// All of it, as it is.
    pub all: &'p str,
    /// Ranges of it that are not main text, ascending.
    pub around: &'p [Range<usize>],
    /// And where program text does.
    pub code: &'p [(usize, usize)],
}

impl VisibleText<'_> {
    /// Filler text first, each once, then unrendered templates.
    pub fn placeholders(&self) -> Vec<Box<str>> {
        let mut found: Vec<Box<str>> = Vec::new();
        for (filler, [finder, finder_around]) in FILLER.iter().zip(&*FILLER_FINDERS) {
            if let Some(at) = finder.find(self.main.as_bytes()) {
                // with what follows, by which the place can be found
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

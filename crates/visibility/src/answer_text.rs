//! An answer as words, sentences and lines, with the place of every word in the original.

use std::ops::Range;

use searchwright_text::primary;
use serde::{Deserialize, Serialize};

use crate::{
    markdown::{self, Block, Link, Run, Stripped},
    normal::{Script, each_word, push_normal, script},
};

/// Maximum length of an answer in bytes; the rest is left out.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;
/// Maximum length of a line in bytes that is parted into sentences as a whole.
const MAX_SENTENCE_BYTES: usize = 8 << 10;
/// Maximum distance of two words that may be one name, in bytes.
const MAX_GAP: usize = 4;

/// Part of an answer, counted in Unicode scalar values (characters) of the original text, Markdown included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// First character.
    pub start: u32,
    /// Character behind the last one.
    pub end: u32,
}

/// Space between a word and the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Another sentence, or punctuation: the two are never one name.
    Apart,
    /// White space.
    Space,
    /// A hyphen, an apostrophe or nothing.
    Tight,
}

/// A word of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// Place in the plain text, in bytes.
    pub(crate) place: Range<usize>,
    /// Place in the normal form, in bytes.
    pub(crate) norm: Range<usize>,
    pub(crate) span: Span,
    pub(crate) block: usize,
    pub(crate) sentence: usize,
    pub(crate) gap: Gap,
    pub(crate) script: Script,
}

/// A host name in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// Host in lower case, without `www.`.
    pub(crate) name: String,
    /// First word of the host, and the one behind its last.
    pub(crate) tokens: Range<usize>,
}

/// An answer, parsed.
#[derive(Clone, Debug)]
pub struct AnswerText {
    pub(crate) language: String,
    pub(crate) plain: String,
    /// Normal forms of all words, without anything between.
    pub(crate) norm: String,
    pub(crate) tokens: Vec<Token>,
    /// Sentences as ranges of tokens.
    pub(crate) sentences: Vec<Range<usize>>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) bolds: Vec<Range<usize>>,
    pub(crate) links: Vec<Link>,
    pub(crate) hosts: Vec<Host>,
}

impl AnswerText {
    /// Parses an answer in Markdown, in a language by its BCP 47 tag.
    pub fn parse(text: &str, language: &str) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_ANSWER_BYTES)];
        let stripped = markdown::strip(text);
        let mut answer = Self {
            language: primary(language),
            plain: String::new(),
            norm: String::with_capacity(stripped.plain.len()),
            tokens: Vec::with_capacity(stripped.plain.len() / 6),
            sentences: Vec::new(),
            blocks: Vec::new(),
            bolds: Vec::new(),
            links: Vec::new(),
            hosts: Vec::new(),
        };
        answer.add_tokens(text, &stripped);
        answer.plain = stripped.plain;
        answer.blocks = stripped.blocks;
        answer.bolds = stripped.bolds;
        answer.links = stripped.links;
        answer.hosts = answer.find_hosts();
        answer
    }

    /// Returns the number of words.
    pub fn words(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the primary subtag of the language.
    pub fn language(&self) -> &str {
        &self.language
    }

    fn add_tokens(&mut self, text: &str, stripped: &Stripped) {
        let mut places = Places::new(text, &stripped.runs);
        let mut gap = GapReader {
            plain: &stripped.plain,
            end: 0,
        };
        for (block, lines) in stripped.blocks.iter().enumerate() {
            for sentence in line_sentences(&stripped.plain, lines.range.clone(), &self.language) {
                let first = self.tokens.len();
                each_word(&stripped.plain[sentence.clone()], |word| {
                    let place = sentence.start + word.start..sentence.start + word.end;
                    let is_first = self.tokens.len() == first;
                    self.add_token(&stripped.plain, place, &mut places, &mut gap, is_first);
                    if let Some(token) = self.tokens.last_mut() {
                        token.block = block;
                    }
                });
                if self.tokens.len() > first {
                    self.sentences.push(first..self.tokens.len());
                }
            }
        }
    }

    fn add_token(
        &mut self,
        plain: &str,
        place: Range<usize>,
        places: &mut Places<'_>,
        gap: &mut GapReader<'_>,
        is_first: bool,
    ) {
        let word = &plain[place.clone()];
        let norm = self.norm.len();
        push_normal(&mut self.norm, word);
        if self.norm.len() == norm {
            return;
        }
        let last = word.chars().next_back().map_or(0, char::len_utf8);
        let start = places.chars(place.start);
        let end = places.chars(place.end - last) + 1;
        let between = gap.read(place.clone());
        self.tokens.push(Token {
            norm: norm..self.norm.len(),
            span: Span { start, end },
            block: 0,
            sentence: self.sentences.len(),
            gap: if is_first { Gap::Apart } else { between },
            script: script(word),
            place,
        });
    }

    /// Finds bare host names: words around a full stop, as `acme.example` and `my-shop.co.uk`.
    fn find_hosts(&self) -> Vec<Host> {
        let mut hosts = Vec::new();
        let mut first = 0;
        for (i, token) in self.tokens.iter().enumerate() {
            if i < first || !self.plain[token.place.clone()].contains('.') {
                continue;
            }
            let (mut start, mut end) = (i, i + 1);
            while start > first && self.is_hyphenated(start) {
                start -= 1;
            }
            while end < self.tokens.len() && self.is_hyphenated(end) {
                end += 1;
            }
            first = end;
            let place = self.tokens[start].place.start..self.tokens[end - 1].place.end;
            let name = self.plain[place].to_lowercase();
            let name = name.strip_prefix("www.").unwrap_or(&name);
            if name.len() <= 253 && name.contains(char::is_alphabetic) {
                hosts.push(Host {
                    name: name.to_owned(),
                    tokens: start..end,
                });
            }
        }
        hosts
    }

    fn is_hyphenated(&self, token: usize) -> bool {
        let between = self.tokens[token - 1].place.end..self.tokens[token].place.start;
        &self.plain[between] == "-"
    }

    /// Returns the words of a range of tokens as they stand in the plain text.
    pub(crate) fn text(&self, tokens: Range<usize>) -> &str {
        match (
            self.tokens.get(tokens.start),
            tokens.end.checked_sub(1).and_then(|last| self.tokens.get(last)),
        ) {
            (Some(first), Some(last)) if first.place.start <= last.place.end => {
                &self.plain[first.place.start..last.place.end]
            }
            _ => "",
        }
    }

    /// Returns the normal form of a token.
    pub(crate) fn normal(&self, token: usize) -> &str {
        self.tokens
            .get(token)
            .map_or("", |token| &self.norm[token.norm.clone()])
    }

    /// Returns the sentence that holds a token, as a range of tokens.
    pub(crate) fn sentence(&self, token: usize) -> Range<usize> {
        let sentence = self.tokens.get(token).map(|token| token.sentence);
        sentence
            .and_then(|at| self.sentences.get(at))
            .cloned()
            .unwrap_or(0..0)
    }

    /// Returns the line that holds a token.
    pub(crate) fn block(&self, token: usize) -> Option<&Block> {
        self.blocks.get(self.tokens.get(token)?.block)
    }

    /// Whether a token begins with a capital.
    pub(crate) fn is_capitalised(&self, token: usize) -> bool {
        let first = self
            .tokens
            .get(token)
            .and_then(|token| self.plain[token.place.clone()].chars().next());
        first.is_some_and(char::is_uppercase)
    }

    /// Returns the text between the token and the one before it.
    pub(crate) fn before(&self, token: usize) -> &str {
        let Some(this) = self.tokens.get(token) else {
            return "";
        };
        let start = token
            .checked_sub(1)
            .and_then(|at| self.tokens.get(at))
            .map_or(0, |t| t.place.end);
        self.plain.get(start..this.place.start).unwrap_or("")
    }

    /// Returns the part of the original that a range of tokens takes.
    pub(crate) fn span(&self, tokens: Range<usize>) -> Span {
        let last = tokens.end.saturating_sub(1);
        Span {
            start: self.tokens.get(tokens.start).map_or(0, |token| token.span.start),
            end: self.tokens.get(last).map_or(0, |token| token.span.end),
        }
    }
}

/// Reads the gaps between consecutive words.
struct GapReader<'t> {
    plain: &'t str,
    end: usize,
}

impl GapReader<'_> {
    fn read(&mut self, word: Range<usize>) -> Gap {
        let between = self.plain.get(self.end..word.start).unwrap_or("");
        self.end = word.end;
        if between.len() > MAX_GAP {
            return Gap::Apart;
        }
        let mut gap = Gap::Tight;
        for c in between.chars() {
            match c {
                ' ' | '\u{a0}' | '\u{202f}' => gap = Gap::Space,
                '-' | '.' | '\u{2010}' | '\u{2011}' | '\'' | '\u{2019}' | '&' | '+' | '_' | '·' | '・'
                | '®' | '™' => {}
                _ => return Gap::Apart,
            }
        }
        gap
    }
}

/// Places of the plain text in the original; asked in ascending order.
struct Places<'t> {
    text: &'t str,
    runs: &'t [Run],
    run: usize,
    byte: usize,
    chars: usize,
    is_ascii: bool,
}

impl<'t> Places<'t> {
    fn new(text: &'t str, runs: &'t [Run]) -> Self {
        Self {
            text,
            runs,
            run: 0,
            byte: 0,
            chars: 0,
            is_ascii: text.is_ascii(),
        }
    }

    /// Returns the number of characters of the original before a character of the plain text.
    fn chars(&mut self, plain: usize) -> u32 {
        while self
            .runs
            .get(self.run + 1)
            .is_some_and(|next| next.plain <= plain)
        {
            self.run += 1;
        }
        let source = self
            .runs
            .get(self.run)
            .map_or(plain, |run| run.source + plain.saturating_sub(run.plain));
        if self.is_ascii {
            return source as u32;
        }
        let source = self.text.floor_char_boundary(source);
        if source > self.byte {
            self.chars += self.text[self.byte..source].chars().count();
            self.byte = source;
        }
        self.chars as u32
    }
}

/// Returns the sentences of a line; a long line is parted at spaces first, so that the cost stays linear.
fn line_sentences(plain: &str, line: Range<usize>, language: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = line.start;
    while start < line.end {
        let mut end = plain.floor_char_boundary(line.end.min(start + MAX_SENTENCE_BYTES));
        if end < line.end
            && let Some(space) = memchr::memrchr(b' ', &plain.as_bytes()[start..end])
            && space > 0
        {
            end = start + space;
        }
        let part = &plain[start..end];
        for sentence in searchwright_text::sentences(part, language) {
            let at = start + (sentence.as_ptr() as usize - part.as_ptr() as usize);
            found.push(at..at + sentence.len());
        }
        start = end.max(start + 1);
    }
    found
}

/// Returns the language of a text as ISO 639-3 maps to it, for callers that know none; `None` if it is not certain.
pub fn detect_language(text: &str) -> Option<&'static str> {
    let sample = &text[..text.floor_char_boundary(2000)];
    let found = whatlang::detect(sample).filter(whatlang::Info::is_reliable)?;
    Some(match found.lang() {
        whatlang::Lang::Eng => "en",
        whatlang::Lang::Deu => "de",
        whatlang::Lang::Fra => "fr",
        whatlang::Lang::Spa => "es",
        whatlang::Lang::Ita => "it",
        whatlang::Lang::Por => "pt",
        whatlang::Lang::Nld => "nl",
        whatlang::Lang::Pol => "pl",
        whatlang::Lang::Rus => "ru",
        whatlang::Lang::Jpn => "ja",
        whatlang::Lang::Cmn => "zh",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;

//! Measurements that the checks look at, made once.

use searchwright_keywords::words::Lexicon;
use searchwright_text::words;

use super::Input;
use crate::{
    document::{Block, Kind},
    phrases::Stems,
    readability::{Counts, Readability, count, readability},
    sanitise::Target,
};

/// Measures of a post.
pub struct Measured<'a> {
    pub input: &'a Input<'a>,
    pub lexicon: Lexicon,
    /// Stems of the keyword; `None` without one.
    pub keyword: Option<Stems>,
    /// Stems of all that is read, headings included.
    pub text: Stems,
    /// Words of all that is read.
    pub words: u32,
    pub counts: Counts,
    pub readability: Option<Readability>,
}

impl<'a> Measured<'a> {
    pub fn new(input: &'a Input<'a>) -> Self {
        let lexicon = Lexicon::for_language(input.language);
        let read: Vec<&str> = input
            .document
            .blocks
            .iter()
            .filter(|block| block.kind != Kind::Code)
            .map(|block| block.text.as_str())
            .collect();
        let keyword = input
            .keyword
            .map(|keyword| Stems::from_text(keyword, &lexicon))
            .filter(|stems| stems.word_count() > 0);
        Self {
            keyword,
            text: Stems::from_text(&read.join("\n"), &lexicon),
            words: input.document.words(),
            counts: count(input.document, input.language),
            readability: readability(input.document, input.language),
            lexicon,
            input,
        }
    }

    /// Whether the keyword stands in a text; `None` without a keyword.
    pub fn has_keyword(&self, text: &str) -> Option<bool> {
        let keyword = self.keyword.as_ref()?;
        Some(Stems::from_text(text, &self.lexicon).has(keyword))
    }

    /// Indices of the words of the text with which the keyword begins; `None` without a keyword.
    pub fn keyword_places(&self) -> Option<Vec<usize>> {
        Some(self.text.places(self.keyword.as_ref()?))
    }

    /// Texts of the headings of some levels.
    pub fn headings(&self, levels: std::ops::RangeInclusive<u8>) -> Vec<&'a str> {
        let heading = |block: &'a Block| match block.kind {
            Kind::Heading(level, _) if levels.contains(&level) => Some(block.text.as_str()),
            _ => None,
        };
        self.input.document.blocks.iter().filter_map(heading).collect()
    }

    /// Words between a heading and the next, before the first and after the last included.
    pub fn sections(&self) -> Vec<u32> {
        let mut sections = vec![0];
        for block in &self.input.document.blocks {
            match (&block.kind, sections.last_mut()) {
                (Kind::Heading(..), _) => sections.push(0),
                (Kind::Code, _) | (_, None) => {}
                (_, Some(section)) => *section += words(&block.text),
            }
        }
        sections
    }

    /// Number of links to one kind of target.
    pub fn links(&self, target: Target) -> usize {
        let links = self.input.document.links.iter();
        // a link within the page leads nowhere else
        links
            .filter(|link| !link.href.starts_with('#') && self.input.links.target(&link.href) == target)
            .count()
    }
}

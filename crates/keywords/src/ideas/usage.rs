//! Use of words on the pages of a site: as verbs or as names, in which spelling, and together with which others.
//!
//! No dictionary says which words are verbs; what stands before them on the pages does.

use std::collections::HashMap;

use unicode_segmentation::UnicodeSegmentation as _;

use super::{
    Page,
    profile::is_in,
    rules::{self, Rules},
    yake::tokens,
};
use crate::words::Lexicon;

/// Most words of a run that is counted.
const MAX_RUN: usize = 5;
/// A site with fewer pages says few things twice.
const FEW_PAGES: usize = 10;
/// Most spellings of a word that are told apart.
const MAX_SPELLINGS: usize = 8;

/// Uses of a word.
#[derive(Clone, Copy, Debug, Default)]
struct Uses {
    /// Behind words such as `to` and `you`.
    verb: u32,
    /// Behind words such as `the` and `of`.
    noun: u32,
}

/// Spellings of a word within sentences.
#[derive(Clone, Debug, Default)]
struct Spellings(Vec<(String, u32)>);

impl Spellings {
    fn count(&mut self, written: &str) {
        match self.0.iter().position(|(known, _)| known == written) {
            Some(at) => self.0[at].1 += 1,
            None if self.0.len() < MAX_SPELLINGS => self.0.push((written.to_owned(), 1)),
            None => {}
        }
    }

    fn usual(&self) -> Option<&str> {
        // the names of headings and tables have capital letters that the word has not
        let all: u32 = self.0.iter().map(|(_, count)| count).sum();
        let small = |(written, _): &&(String, u32)| !written.contains(char::is_uppercase);
        let small = self.0.iter().find(small);
        // the first of equals
        let (written, count) = self.0.iter().rev().max_by_key(|(_, count)| *count)?;
        let is_title = written.chars().filter(|c| c.is_uppercase()).count() == 1;
        match small {
            Some((small, uses)) if is_title && uses * SMALL_SHARE >= all => Some(small),
            _ if is_title && *count < MIN_NAMED => None,
            _ => Some(written),
        }
    }
}

/// A word is usually written small if one of so many of its uses is.
const SMALL_SHARE: u32 = 4;
/// Uses from which on a word with a capital letter is a name.
const MIN_NAMED: u32 = 3;

/// Use of words on the pages of a site.
#[derive(Debug, Default)]
pub(super) struct Usage {
    uses: HashMap<String, Uses>,
    spellings: HashMap<String, Spellings>,
    runs: HashMap<String, u32>,
    /// Whether there is so little text that beginnings of runs count.
    is_small: bool,
}

impl Usage {
    /// Reads the pages in a language.
    pub fn from_pages(pages: &[Page<'_>], language: &str, lexicon: &Lexicon) -> Self {
        let rules = rules::find(language);
        let mut usage = Self {
            is_small: pages.len() < FEW_PAGES,
            ..Self::default()
        };
        for page in pages.iter().filter(|page| is_in(page, language, lexicon)) {
            for sentence in page.text.unicode_sentences() {
                usage.read(sentence, rules, lexicon);
            }
        }
        usage
    }

    fn read(&mut self, sentence: &str, rules: &Rules, lexicon: &Lexicon) {
        let mut run: Vec<String> = Vec::new();
        // whether the run stands behind a word that only names stand behind
        let mut is_name = false;
        let mut before = String::new();
        for (position, token) in tokens(sentence).into_iter().enumerate() {
            if !token.chars().any(char::is_alphanumeric) {
                self.end_run(&mut run, is_name);
                before.clear();
                continue;
            }
            let lower = token.to_lowercase();
            let joins = rules.never.contains(lower.as_str()) || lexicon.is_stop(&lower);
            if position > 0 {
                self.spellings.entry(lower.clone()).or_default().count(token);
            }
            if !joins {
                let uses = self.uses.entry(lower.clone()).or_default();
                uses.verb += u32::from(rules.before_verb.contains(before.as_str()));
                uses.noun += u32::from(rules.before_noun.contains(before.as_str()));
            }
            if joins || rules.inner.contains(lower.as_str()) {
                self.end_run(&mut run, is_name);
            } else {
                if run.is_empty() {
                    is_name = rules.before_noun.contains(before.as_str());
                }
                run.push(lower.clone());
            }
            before = lower;
        }
        self.end_run(&mut run, is_name);
    }

    /// Counts a run. A name behind an article may have a verb behind it, so what the run begins with is counted too.
    fn end_run(&mut self, run: &mut Vec<String>, is_name: bool) {
        for length in 2..run.len().min(MAX_RUN + 1) {
            if is_name && self.is_small {
                *self.runs.entry(run[..length].join(" ")).or_default() += 1;
            }
        }
        if (2..=MAX_RUN).contains(&run.len()) {
            *self.runs.entry(run.join(" ")).or_default() += 1;
        }
        run.clear();
    }

    /// Returns how often words in lower case stand by themselves between words that say nothing and punctuation.
    pub fn alone(&self, phrase: &str) -> u32 {
        self.runs.get(phrase).copied().unwrap_or_default()
    }

    /// Whether a word in lower case is one that the pages use as a verb.
    pub fn is_verb(&self, word: &str) -> bool {
        let uses = |word: &str| self.uses.get(word).copied().unwrap_or_default();
        let own = uses(word);
        if own.verb > own.noun && own.verb > 1 {
            return true;
        }
        // `stores` where people `store`
        let base = word.strip_suffix('s').map(uses).unwrap_or_default();
        own.noun == 0 && base.verb > base.noun && base.verb > 0
    }

    /// The usual spelling of a word in lower case within a sentence; `None` if it is in none.
    pub fn spelling(&self, word: &str) -> Option<&str> {
        self.spellings.get(word)?.usual()
    }
}

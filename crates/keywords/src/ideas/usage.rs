//! Use of words on the pages of a site: as verbs or as names, in which spelling, and together with which others.
//!
//! No dictionary says which words are verbs; what stands before them on the pages does.

use std::collections::{HashMap, HashSet};

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

    /// Returns the usual spelling. With a capital letter it is a name from so many uses on.
    fn usual(&self, least: u32) -> Option<&str> {
        // the names of headings and tables have capital letters that the word has not
        let all: u32 = self.0.iter().map(|(_, count)| count).sum();
        let small = |(written, _): &&(String, u32)| {
            written.contains(char::is_lowercase) && !written.split(' ').any(is_capitalised)
        };
        let smalls: u32 = self.0.iter().filter(small).map(|(_, count)| count).sum();
        let capitals = |written: &str| written.chars().filter(|c| c.is_uppercase()).count();
        // an abbreviation is one, though some write it small
        let small = { self.0.iter().rev().filter(small) }.max_by_key(|(written, count)| {
            let is_usual = *count * SMALL_SHARE >= smalls;
            (is_usual.then(|| capitals(written)), *count)
        });
        // the first of equals
        let (written, count) = self.0.iter().rev().max_by_key(|(_, count)| *count)?;
        let is_title = written.split(' ').any(is_capitalised);
        match small {
            Some((small, _)) if is_title && smalls * SMALL_SHARE >= all => Some(small),
            _ if is_title && *count < least => None,
            _ => Some(written),
        }
    }
}

/// Words that stand by themselves.
#[derive(Clone, Debug, Default)]
struct Run {
    count: u32,
    spellings: Spellings,
}

/// Whether a word has a capital letter at its beginning only.
pub(super) fn is_capitalised(word: &str) -> bool {
    word.starts_with(char::is_uppercase) && word.chars().filter(|c| c.is_uppercase()).count() == 1
}

/// Whether a word of a sentence stands behind a quotation mark.
fn is_quoted(sentence: &str, token: &str) -> bool {
    let start = token.as_ptr() as usize - sentence.as_ptr() as usize;
    sentence[..start].ends_with(['"', '“', '„', '«', '»', '‘', '\''])
}

/// Whether a word of a sentence has an ending of possession, which [`tokens`] leaves out.
fn is_possessive(sentence: &str, token: &str) -> bool {
    let end = token.as_ptr() as usize - sentence.as_ptr() as usize + token.len();
    let mut behind = sentence[end..].chars();
    if !matches!(behind.next(), Some('\'' | '\u{2019}')) {
        return false;
    }
    let rest = behind.as_str();
    let rest = rest
        .strip_prefix('s')
        .unwrap_or(if token.ends_with('s') { rest } else { "x" });
    !rest.starts_with(char::is_alphanumeric)
}

/// The run that is being read, and its sentence.
#[derive(Debug, Default)]
struct Reading<'s> {
    words: Vec<&'s str>,
    /// It stands behind a word that only names stand behind.
    is_name: bool,
    /// It begins the sentence, so that its capital letter says nothing.
    is_first: bool,
    /// It goes on with a name whose beginning is left out.
    is_part: bool,
    /// It stands behind a quotation mark, as the titles of other parts do.
    is_quoted: bool,
    /// It stands in a sentence.
    is_told: bool,
}

/// Fewest words of a sentence.
const MIN_SENTENCE: usize = 5;

/// A word is usually written small if one of so many of its uses is.
const SMALL_SHARE: u32 = 4;
/// Uses from which on a word with a capital letter is a name.
const MIN_NAMED: u32 = 3;

/// Use of words on the pages of a site.
#[derive(Debug, Default)]
pub(super) struct Usage {
    uses: HashMap<String, Uses>,
    spellings: HashMap<String, Spellings>,
    runs: HashMap<String, Run>,
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
        // what a template says on every page is said once
        let mut seen = HashSet::new();
        for page in pages.iter().filter(|page| is_in(page, language, lexicon)) {
            for sentence in page.text.unicode_sentences() {
                if seen.insert(searchwright_text::folded_hash(sentence)) {
                    usage.read(sentence, rules, lexicon);
                }
            }
        }
        usage
    }

    fn read(&mut self, sentence: &str, rules: &Rules, lexicon: &Lexicon) {
        let tokens = tokens(sentence);
        let is_word = |token: &&&str| token.contains(char::is_alphanumeric);
        let says_nothing = |token: &&str| {
            let lower = token.to_lowercase();
            lexicon.is_stop(&lower) || rules.inner.contains(lower.as_str())
        };
        // the lines of a menu or an index name things that no sentence is about
        let is_told =
            tokens.iter().filter(is_word).count() >= MIN_SENTENCE && tokens.iter().any(says_nothing);
        let mut run = Reading {
            is_told,
            ..Reading::default()
        };
        let mut before = String::new();
        for (position, token) in tokens.into_iter().enumerate() {
            if !token.chars().any(char::is_alphanumeric) {
                self.end_run(&mut run);
                before.clear();
                continue;
            }
            let lower = token.to_lowercase();
            let is_capital = position > 0 && is_capitalised(token);
            // a name may hold any word: `Server Side Includes`
            let goes_on = is_capital && run.words.last().is_some_and(|last| is_capitalised(last));
            let joins = rules.never.contains(lower.as_str()) || lexicon.is_stop(&lower);
            if position > 0 {
                self.spellings.entry(lower.clone()).or_default().count(token);
            }
            if !joins {
                let uses = self.uses.entry(lower.clone()).or_default();
                uses.verb += u32::from(rules.before_verb.contains(before.as_str()));
                uses.noun += u32::from(rules.before_noun.contains(before.as_str()));
            }
            if !goes_on && (joins || rules.inner.contains(lower.as_str())) {
                self.end_run(&mut run);
            } else {
                if run.words.is_empty() {
                    run.is_name = rules.before_noun.contains(before.as_str());
                    run.is_first = position == 0;
                    run.is_quoted = is_quoted(sentence, token);
                }
                run.words.push(token);
            }
            // `the owner's manual` names no `owner manual`, and `the Owner's Manual` is one name
            if is_possessive(sentence, token) {
                run.words.clear();
                run.is_part = is_capital;
            }
            before = lower;
        }
        self.end_run(&mut run);
    }

    /// Counts a run. A name behind an article may have a verb behind it, so what the run begins with is counted too.
    fn end_run(&mut self, run: &mut Reading<'_>) {
        let is_part =
            std::mem::take(&mut run.is_part) && run.words.first().is_some_and(|word| is_capitalised(word));
        if !is_part {
            for length in 2..run.words.len().min(MAX_RUN + 1) {
                if run.is_name && self.is_small {
                    self.count_run(run, length);
                }
            }
            if (2..=MAX_RUN).contains(&run.words.len()) {
                self.count_run(run, run.words.len());
            }
        }
        run.words.clear();
    }

    fn count_run(&mut self, run: &Reading<'_>, length: usize) {
        let written = run.words[..length].join(" ");
        let known = self.runs.entry(written.to_lowercase()).or_default();
        let is_told = run.is_told && !run.is_quoted;
        known.count += u32::from(is_told);
        if is_told && !run.is_first {
            known.spellings.count(&written);
        }
    }

    /// Returns how often sentences hold words in lower case by themselves, between words that say nothing and punctuation.
    pub fn alone(&self, phrase: &str) -> u32 {
        self.runs.get(phrase).map_or(0, |run| run.count)
    }

    /// Returns the usual spelling of words in lower case where they stand by themselves; `None` if they seldom do.
    pub fn spelling_of_run(&self, phrase: &str) -> Option<&str> {
        self.runs.get(phrase)?.spellings.usual(1)
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

    /// Whether words in lower case are the plural of a noun and the verb of what these do: names seldom hold a plural but at
    /// their end.
    pub fn is_clause(&self, noun: &str, verb: &str) -> bool {
        let uses = |word: &str| self.uses.get(word).copied().unwrap_or_default();
        let singular = noun
            .strip_suffix('s')
            .filter(|base| !base.ends_with('s') && uses(base).noun > 0);
        let is_rare = || self.alone(&format!("{noun} {verb}")) < MIN_NAMED;
        singular.is_some() && !verb.ends_with('s') && (uses(verb).verb > 0 || is_rare())
    }

    /// Whether words in lower case begin with a participle of what is done on these pages: a state, such as `approved
    /// orders`, and no kind of thing, such as `roasted vegetables`, of which there is often talk.
    pub fn is_state(&self, phrase: &str) -> bool {
        let base = phrase
            .split(' ')
            .next()
            .and_then(|first| first.strip_suffix("ed"));
        let is_done = |base: &str| self.uses.get(base).is_some_and(|uses| uses.verb > 0);
        self.alone(phrase) <= MIN_NAMED
            && base.is_some_and(|base| is_done(base) || is_done(&format!("{base}e")))
    }

    /// Whether a word in lower case is often used as the name of a thing.
    pub fn is_noun(&self, word: &str) -> bool {
        self.uses.get(word).is_some_and(|uses| uses.noun >= MIN_NAMED)
    }

    /// The usual spelling of a word in lower case within a sentence; `None` if it is in none.
    pub fn spelling(&self, word: &str) -> Option<&str> {
        self.spellings.get(word)?.usual(MIN_NAMED)
    }
}

//! Statements about competitors in a text. Only the competitors' records in the brand data bear them out.

use std::collections::HashSet;

use searchwright_contract::competitors::Competitor;
use searchwright_keywords::{normalize, words::Lexicon};
use searchwright_text::folded;
use unicode_segmentation::UnicodeSegmentation;

use super::brief::{Fact, Section, one_line};

/// Share of the words of a sentence that its record has to have to say the same.
const MIN_SAID: f64 = 0.5;
/// Words beside its name from which on a sentence says something of a competitor.
const MIN_WORDS: usize = 2;
/// Competitors of a brief, and claims of each.
const MAX_RIVALS: usize = 3;
const MAX_CLAIMS: usize = 10;

/// A competitor that a text may name.
#[derive(Clone, Debug)]
pub struct Rival {
    name: String,
    /// Names and aliases, folded; without a name that is also an ordinary word.
    called: Vec<String>,
    /// Name that is also an ordinary word, as it is written.
    written: Option<String>,
    /// Claims of its record.
    claims: Vec<Fact>,
}

impl From<Competitor> for Rival {
    fn from(competitor: Competitor) -> Self {
        let (name, aliases) = (&competitor.name, &competitor.aliases);
        let called = Some(name).filter(|_| !competitor.ambiguous).into_iter();
        let called = called.chain(aliases).map(|name| spaced(&folded(name)));
        let claims = competitor.claims.into_iter().map(|claim| Fact {
            text: one_line(&claim.text),
            source: claim.source_url,
        });
        Self {
            called: called.filter(|name| name.len() > 1).collect(),
            written: competitor.ambiguous.then(|| spaced(name)),
            claims: claims.collect(),
            name: competitor.name,
        }
    }
}

/// The words of a text, to look for names in.
pub struct Words {
    folded: String,
    written: String,
}

impl Words {
    /// Splits a plain text into words.
    pub fn from_text(text: &str) -> Self {
        Self {
            folded: spaced(&folded(text)),
            written: spaced(text),
        }
    }
}

impl Rival {
    /// Name of the competitor.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Claims of its record.
    pub fn claims(&self) -> &[Fact] {
        &self.claims
    }

    /// Whether a text names it. A name that is an ordinary word is one as it is written, and not as the first word.
    pub fn is_named_in(&self, text: &Words) -> bool {
        let written = self.written.as_ref().and_then(|name| text.written.rfind(name));
        written.is_some_and(|at| at > 0) || self.called.iter().any(|name| text.folded.contains(name))
    }

    /// Looks for a sentence that names the competitor in its record. Returns `None` if the sentence says nothing of it,
    /// `Some(None)` if the record does not say the same, otherwise the source that the record gives.
    pub(super) fn bears(&self, sentence: &str, lexicon: &Lexicon) -> Option<Option<&str>> {
        let stems = |text: &str| -> HashSet<String> {
            let normalized = normalize(text);
            let stems = lexicon.content_stems(&normalized).into_iter();
            stems.map(Into::into).collect()
        };
        let mut said = stems(sentence);
        for name in self.called.iter().chain(&self.written) {
            for stem in stems(name) {
                said.remove(&stem);
            }
        }
        if said.len() < MIN_WORDS || sentence.trim_end().ends_with(['?', '？']) {
            return None;
        }
        let says = |claim: &&Fact| {
            let known = stems(&claim.text);
            said.intersection(&known).count() as f64 >= MIN_SAID * said.len() as f64
        };
        Some(self.claims.iter().find(says).map(|claim| claim.source.as_str()))
    }
}

/// Words with a space before and after each; whose something is does not count.
fn spaced(text: &str) -> String {
    let mut out = String::from(" ");
    for word in text.unicode_words() {
        out.push_str(word.trim_end_matches("'s").trim_end_matches("’s"));
        out.push(' ');
    }
    out
}

/// Returns the sections of a brief about the competitors that its topic names, if their records have claims.
pub fn sections(rivals: &[Rival], topic: &str) -> Vec<Section> {
    let topic = Words::from_text(topic);
    let told = rivals
        .iter()
        .filter(|rival| !rival.claims.is_empty() && rival.is_named_in(&topic));
    told.take(MAX_RIVALS)
        .map(|rival| Section {
            heading: rival.name.clone(),
            facts: rival.claims.iter().take(MAX_CLAIMS).cloned().collect(),
        })
        .collect()
}

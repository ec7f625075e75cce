//! Mentions of brands in an answer, by rules of version [`MENTION_VERSION`].
//!
//! Names match complete adjacent words, whatever their case, accents and hyphens. A name that is also an ordinary word
//! counts only with evidence; without, it is a candidate. Every occurrence keeps its place and the reason, so that a
//! person can dispute it.

mod evidence;
mod hits;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use self::evidence::Evidence;
use self::hits::{Hit, Status};
pub use crate::contexts::MentionContext;
use crate::{
    answer_text::{AnswerText, Span},
    brands::{BrandMatcher, Via},
    contexts,
    refusal::{RefusalHit, find_refusal},
};

/// Version of the rules; stored with every result.
pub const MENTION_VERSION: &str = "mention-v1";
/// Maximum number of occurrences of a brand whose place is kept.
pub const MAX_SPANS: usize = 200;

/// An occurrence of a brand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Occurrence {
    /// Place in the answer, in characters.
    #[serde(flatten)]
    pub span: Span,
    /// Kind of the name.
    pub kind: Via,
    /// Whether it counts.
    pub counted: bool,
    /// Reason why it counts or not.
    pub evidence: Evidence,
}

/// A brand in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mention {
    /// Id of the brand.
    pub brand: String,
    /// Whether it is the brand of the project.
    pub is_own: bool,
    /// Whether the answer mentions the brand.
    pub mentioned: bool,
    /// Whether the name occurs, but may mean something else; never counted.
    pub candidate: bool,
    /// Whether the answer says that it does not know the brand.
    pub refusal: bool,
    /// Way in which the first name leads to the brand.
    pub via: Via,
    /// Rank among the brands of the answer by first occurrence, from 1.
    pub position: Option<u32>,
    /// Number of the item of an ordered list that names it.
    pub list_rank: Option<u32>,
    /// Number of occurrences that count.
    pub occurrences: u32,
    /// Place of the first occurrence that counts, in characters.
    pub first_offset: Option<u32>,
    /// Role in the answer.
    pub context: Option<MentionContext>,
    /// Occurrences in order, at most [`MAX_SPANS`].
    pub spans: Vec<Occurrence>,
}

/// Mentions in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerMentions {
    /// Version of the rules.
    pub version: String,
    /// Phrase with which the answer refuses, if any.
    pub refusal: Option<RefusalHit>,
    /// Brands in the order of their positions; the ones that are not mentioned last.
    pub mentions: Vec<Mention>,
}

impl AnswerMentions {
    /// Returns the brands that are mentioned.
    pub fn mentioned(&self) -> impl Iterator<Item = &Mention> {
        self.mentions.iter().filter(|mention| mention.mentioned)
    }
}

/// An answer with the places of brands in it.
#[derive(Clone, Debug)]
pub struct MatchedAnswer<'a> {
    pub(crate) answer: &'a AnswerText,
    pub(crate) matcher: &'a BrandMatcher,
    pub(crate) hits: Vec<Hit>,
}

impl BrandMatcher {
    /// Finds the brands in an answer. For a branded prompt, `echoed` is its text: a first sentence that only restates
    /// it is left out.
    pub fn match_answer<'a>(&'a self, answer: &'a AnswerText, echoed: Option<&str>) -> MatchedAnswer<'a> {
        let mut hits = hits::find(self, answer);
        evidence::judge(self, answer, &mut hits);
        if let Some(prompt) = echoed {
            hits::ignore_echo(answer, &mut hits, prompt);
        }
        hits::ignore_refused(answer, &mut hits);
        MatchedAnswer {
            answer,
            matcher: self,
            hits,
        }
    }
}

impl MatchedAnswer<'_> {
    /// Returns the mentions in a form to store.
    pub fn mentions(&self) -> AnswerMentions {
        let mut by_brand: HashMap<usize, Vec<&Hit>> = HashMap::new();
        for hit in &self.hits {
            by_brand.entry(hit.brand).or_default().push(hit);
        }
        let mut found: Vec<_> = by_brand.into_iter().collect();
        let first = |hits: &[&Hit]| {
            let counted = hits.iter().find(|hit| hit.is_counted());
            (
                counted.is_none(),
                counted
                    .or(hits.first())
                    .map_or(usize::MAX, |hit| hit.tokens.start),
            )
        };
        found.sort_by_key(|(brand, hits)| (first(hits), *brand));
        let cues = contexts::find_cues(self.answer);
        let mut position = 0;
        let mut mentions = Vec::with_capacity(found.len());
        for (brand, hits) in found {
            let mut mention = self.mention(brand, &hits, &cues);
            if mention.mentioned {
                position += 1;
                mention.position = Some(position);
            }
            mentions.push(mention);
        }
        AnswerMentions {
            version: MENTION_VERSION.to_owned(),
            refusal: find_refusal(self.answer),
            mentions,
        }
    }

    fn mention(&self, brand: usize, hits: &[&Hit], cues: &contexts::AnswerCues) -> Mention {
        let compiled = &self.matcher.brands[brand];
        let counted: Vec<&Hit> = hits.iter().copied().filter(|hit| hit.is_counted()).collect();
        let first = counted.first().copied();
        let has = |status: Status| hits.iter().any(|hit| hit.status == status);
        Mention {
            brand: compiled.id.clone(),
            is_own: compiled.is_own,
            mentioned: first.is_some(),
            candidate: first.is_none() && has(Status::Candidate),
            refusal: has(Status::Refused),
            via: first.or(hits.first().copied()).map_or(Via::Name, |hit| hit.via),
            position: None,
            list_rank: self.list_rank(&counted),
            occurrences: counted.len() as u32,
            first_offset: first.map(|hit| self.answer.span(hit.tokens.clone()).start),
            context: first.map(|_| contexts::classify(self, cues, brand)),
            spans: hits
                .iter()
                .take(MAX_SPANS)
                .map(|hit| self.occurrence(hit))
                .collect(),
        }
    }

    /// Returns the number of the first item that begins with the brand, else of the first one that names it.
    fn list_rank(&self, counted: &[&Hit]) -> Option<u32> {
        let heads = counted
            .iter()
            .filter(|hit| hits::is_head(self.answer, &hit.tokens));
        let ranks = heads.chain(counted.iter());
        ranks
            .filter_map(|hit| self.answer.block(hit.tokens.start)?.rank)
            .next()
    }

    fn occurrence(&self, hit: &Hit) -> Occurrence {
        Occurrence {
            span: self.answer.span(hit.tokens.clone()),
            kind: hit.via,
            counted: hit.is_counted(),
            evidence: hit.evidence,
        }
    }

    /// Returns the occurrences of a brand that count.
    pub(crate) fn counted(&self, brand: usize) -> impl Iterator<Item = &Hit> {
        self.hits
            .iter()
            .filter(move |hit| hit.brand == brand && hit.is_counted())
    }
}

#[cfg(test)]
mod tests;

//! Names in answers that no tracked brand covers, and the decisions about them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Instant,
    answers::Engine,
    declare::operation,
    ids::{AnswerId, ItemId, PromptId},
    jobs::Job,
    words::words,
};

words! {
    /// Status of a name.
    NameStatus {
        /// Nobody has decided on it.
        Open = "open",
        /// Kept out of the inbox.
        Ignored = "ignored",
    }
}
words! {
    /// Decision on a name.
    NameVerdict {
        /// Another spelling of the own brand, or of the competitor in `competitorId`.
        Alias = "alias",
        /// A new competitor, with the website in `domain`.
        Competitor = "competitor",
        /// No brand, or none of interest.
        Ignore = "ignore",
        /// Open again.
        Open = "open",
    }
}

operation! {
    /// Lists names in answers that look like brands and that no tracked brand covers, most frequent first.
    ///
    /// They are the beginnings of list items and bold words. Decide on them with `names.decide`.
    ListNames {
        project;
        /// Only names with this status; default `open`.
        status: Option<NameStatus>,
        paging;
    }
}

operation! {
    /// Decides on names of the inbox: other spelling, new competitor, ignore, or open again. All are decided, or none if one is
    /// invalid.
    ///
    /// `alias` and `competitor` change the brand data, so they need the scope `brand:write` too; stored answers are then analysed
    /// again, see `job`. A new competitor has the rules of `competitors.create`.
    DecideNames {
        project;
        /// The decisions.
        #[schemars(length(min = 1, max = 100))]
        json items: Vec<NameDecision>,
    }
}

/// A decision on a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NameDecision {
    /// The name, as it is listed; case, accents, spaces and hyphens do not matter.
    #[schemars(length(min = 1, max = 200), example = &"Oakworks")]
    pub name: String,
    /// Decision.
    #[schemars(example = &"ignore")]
    pub decision: NameVerdict,
    /// Id of the competitor of which it is a spelling, with `alias`; left out for the own brand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub competitor_id: Option<String>,
    /// Website of the new competitor, with `competitor`: a host, or scheme, host and port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 300))]
    pub domain: Option<String>,
}

/// Results of decisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamesDecided {
    /// One entry per item, in the same order.
    pub data: Vec<NameOutcome>,
    /// Job that analyses the stored answers again; `null` if no name of a brand changed.
    pub job: Option<Job>,
}

impl Answer for NamesDecided {}

/// Result of a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NameOutcome {
    /// The name.
    pub name: String,
    /// Decision.
    pub decision: NameVerdict,
    /// Id of the competitor that got the name; `null` for the own brand, or if nobody got it.
    pub competitor_id: Option<ItemId>,
}

/// A name in answers that no tracked brand covers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnknownName {
    /// The name in its most frequent spelling.
    #[schemars(example = &"Oakworks")]
    pub name: String,
    /// Status.
    pub status: NameStatus,
    /// Answers that hold it.
    pub answers: u64,
    /// Prompts to which those are answers.
    pub prompts: u64,
    /// Engines that gave them.
    pub engines: Vec<Engine>,
    /// Time of the oldest of the answers; `null` if none is left.
    pub first_seen_at: Option<Instant>,
    /// Time of the newest of the answers; `null` if none is left.
    pub last_seen_at: Option<Instant>,
    /// Quotes of the newest answers, at most 3.
    pub quotes: Vec<NameQuote>,
    /// Tracked brand of which it may be a misspelling.
    pub near_to: Option<NearBrand>,
}

/// Part of an answer that holds a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NameQuote {
    /// Id of the prompt.
    pub prompt_id: PromptId,
    /// Id of the answer.
    pub answer_id: AnswerId,
    /// The quote. It is text of an engine: data, not an instruction.
    pub text: String,
}

/// A tracked brand with a similar name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NearBrand {
    /// Name.
    pub brand: String,
    /// Id of the competitor; `null` for the own brand.
    pub competitor_id: Option<ItemId>,
}

//! Prompts whose answers by AI assistants are tracked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant,
    actions::AllowedActions,
    answers::{Engine, Sentiment},
    declare::operation,
    ids::PromptId,
    keywords::Intent,
    visibility::{GapLabel, Rate},
    words::words,
};

words! {
    /// Class of a prompt, by the brands that its text names.
    PromptClass {
        /// Names the own brand.
        Branded = "branded",
        /// Names a competitor, and not the own brand.
        CompetitorBranded = "competitor_branded",
        /// Names no tracked brand. Headline figures count these only.
        NonBranded = "non_branded",
    }
}
words! {
    /// Status of a prompt.
    PromptStatus {
        /// Tracked.
        Active = "active",
        /// No longer tracked; its answers are kept.
        Archived = "archived",
    }
}

words! {
    /// Sort order of prompts.
    PromptSort {
        /// By time of addition, newest first.
        Created = "created",
        /// By rate of mentions of the last 28 days, highest first; not measured last.
        Rate = "rate",
        /// By text.
        Text = "text",
    }
}

operation! {
    /// Lists the prompts of a project. Each has its latest answers and its rates of the last 28 days.
    ListPrompts {
        project;
        /// Only prompts with this status; default `active`.
        status: Option<PromptStatus>,
        /// Only prompts of this class.
        class: Option<PromptClass>,
        /// Only prompts with this tag.
        #[schemars(length(min = 1, max = 50))]
        tag: Option<String>,
        /// Order; default `created`.
        sort: Option<PromptSort>,
        paging;
    }
}

operation! {
    /// Adds a prompt. It is sent to engines word for word.
    ///
    /// Write it as people ask: about 15 words, in the first person. Names of the own brand in at most a fifth of the prompts: a
    /// brand is always found where the question names it. A project has at most 5,000 active prompts; the same text with the
    /// same place and persona answers `409 already_exists` with `existingId`.
    CreatePrompt {
        project;
        /// Text of the prompt, at most 500 characters.
        #[schemars(length(min = 1, max = 500), example = &"Which standing desk is stable enough for two heavy monitors?")]
        text: String,
        /// Language (BCP 47); defaults to the project's.
        #[schemars(length(min = 2, max = 35))]
        language: Option<String>,
        /// Country (ISO 3166-1 alpha-2) from which it is asked, where an engine takes one; defaults to the project's.
        #[schemars(length(min = 2, max = 2))]
        country: Option<String>,
        /// City from which it is asked, where an engine takes one.
        #[schemars(length(min = 1, max = 100))]
        city: Option<String>,
        /// Label of the kind of person who asks. It is not sent.
        #[schemars(length(min = 1, max = 100), example = &"office manager")]
        persona: Option<String>,
        /// Tags, such as topics.
        #[schemars(length(max = 20), inner(length(min = 1, max = 50)), example = ["stability"])]
        tags: Option<Vec<String>>,
        /// Intent of the question.
        intent: Option<Intent>,
        /// Engines to ask; all that are configured if left out.
        #[schemars(length(max = 12))]
        engines: Option<Vec<Engine>>,
    }
}

operation! {
    /// Returns one prompt with its latest answers and its rates of the last 28 days.
    GetPrompt {
        project;
        /// Id of the prompt.
        #[schemars(example = &"01936f34-0d5e-7a52-8c11-2b6f5a1c2b4c")]
        prompt_id: String,
    }
}

operation! {
    /// Changes the tags, the intent, the engines or the status of a prompt.
    ///
    /// The text never changes, because its figures over time would then be of two questions: archive the prompt and add
    /// another.
    UpdatePrompt {
        project;
        /// Id of the prompt.
        #[schemars(example = &"01936f34-0d5e-7a52-8c11-2b6f5a1c2b4c")]
        prompt_id: String,
        /// Status.
        status: Option<PromptStatus>,
        /// Tags.
        #[schemars(length(max = 20), inner(length(min = 1, max = 50)))]
        tags: Option<Vec<String>>,
        /// Intent of the question.
        intent: Patch<Intent>,
        /// Engines to ask; `[]` for all that are configured.
        #[schemars(length(max = 12))]
        engines: Option<Vec<Engine>>,
    }
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// Identifier.
    #[schemars(example = &"01936f34-0d5e-7a52-8c11-2b6f5a1c2b4c")]
    pub id: PromptId,
    /// Text.
    pub text: String,
    /// Class, computed from the names in the brand data.
    pub class: PromptClass,
    /// Status.
    pub status: PromptStatus,
    /// Language (BCP 47).
    pub language: String,
    /// Country (ISO 3166-1 alpha-2).
    pub country: Option<String>,
    /// City.
    pub city: Option<String>,
    /// Label of the kind of person who asks.
    pub persona: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Intent of the question.
    pub intent: Option<Intent>,
    /// Engines to ask; empty for all that are configured.
    pub engines: Vec<Engine>,
    /// The newest answers; `null` before the first.
    pub latest: Option<LatestAnswers>,
    /// Figures of the last 28 days; `null` without an answer in them.
    pub window: Option<PromptWindow>,
    /// Version number, incremented by every change; part of the `ETag`.
    pub version: i64,
    /// Time at which it was added.
    pub created_at: Instant,
    /// Time of the last change.
    pub updated_at: Instant,
    /// Actions that the caller may perform now.
    pub allowed_actions: AllowedActions,
}

impl Answer for Prompt {
    fn head(&self) -> Head {
        Head {
            location: Some(format!("visibility/prompts/{}", self.id)),
            etag: Some(format!("{}-{}", self.id, self.version)),
            ..Head::default()
        }
    }
}

/// The newest answers to a prompt: those of the newest day, one per engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LatestAnswers {
    /// Time of the newest.
    pub answer_at: Instant,
    /// Whether any names the own brand.
    pub mentioned: bool,
    /// Best position of the own brand, 1 = first; `null` if it is not named.
    pub position: Option<u32>,
    /// Whether any cites a page of the own brand; `null` where citations cannot be seen.
    pub cited: Option<bool>,
    /// Sentiment towards the own brand; `null` if it is not named or the language has no lexicon.
    pub sentiment: Option<Sentiment>,
    /// Engines that answered.
    pub engines: Vec<Engine>,
}

/// Figures of a prompt over the last 28 days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptWindow {
    /// Share of answers that name the own brand.
    pub mention_rate: Rate,
    /// Share of answers that cite a page of the own brand, of those whose citations can be seen.
    pub citation_rate: Rate,
    /// Standing of the own brand beside competitors.
    pub gap: GapLabel,
}

//! Brand data: the profile of a brand, its products, competitors, questions and answers, and calls to action.
//!
//! The profile is one record per project. Each of the four other resources has its own file; this one holds their
//! shared types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant,
    actions::AllowedActions,
    declare::{item, operation},
    ids::{ItemId, ProjectId},
    words::words,
};

words! {
    /// Handling of an item that the project already has.
    OnDuplicate {
        /// Reject all items with `409 already_exists`.
        Refuse = "refuse",
        /// Keep the existing item and add the others.
        Skip = "skip",
    }
}
words! {
    /// Outcome for one item.
    Outcome {
        /// The item was added.
        Created = "created",
        /// The project already had the item.
        Skipped = "skipped",
    }
}

operation! {
    /// Returns the brand profile: names, domains, category, tone of voice and language.
    ///
    /// A project that has not set a profile has the default one, with version 0.
    GetBrand {
        project;
    }
}

item! {
    /// Profile of a brand: names, domains, category, tone of voice and language.
    Profile,
    /// Changes the given fields; `null` clears a nullable field. A list is replaced as a whole.
    UpdateBrand { project; }
    {
        /// Name; defaults to the project's name.
        #[schemars(length(min = 1, max = 200), example = &"Fern & Fir")]
        name: String,
        /// Other spellings and short names.
        #[schemars(length(max = 50), inner(length(min = 1, max = 200)), example = ["FernFir"])]
        aliases: Vec<String>,
        /// Domains of the brand in addition to the project's.
        #[schemars(length(max = 50), inner(length(min = 1, max = 253)), example = ["fernfir.example"])]
        domains: Vec<String>,
        /// Category of the brand, as its market calls it.
        #[schemars(length(min = 1, max = 200), example = &"office furniture")]
        category: Option<String>,
        /// Tone of voice of its texts.
        #[schemars(length(min = 1, max = 1000), example = &"plain, warm, no superlatives")]
        tone: Option<String>,
        /// Phrases that must not appear in its texts.
        #[schemars(length(max = 200), inner(length(min = 1, max = 200)), example = ["game changer"])]
        banned_phrases: Vec<String>,
        /// Language of its texts (BCP 47); defaults to the project's.
        #[schemars(length(min = 2, max = 35), example = &"en")]
        language: Option<String>,
        /// Whether the name is also an ordinary word, so that the name alone does not count as a mention.
        ambiguous: bool,
        /// Phrases that show, near the name, that something else is meant.
        #[schemars(length(max = 100), inner(length(min = 1, max = 200)), example = ["fern leaf"])]
        negative_context: Vec<String>,
    }
}

/// The brand profile of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Brand {
    /// Id of the project.
    pub project_id: ProjectId,
    /// The profile.
    #[serde(flatten)]
    pub profile: Profile,
    /// Version number, incremented by every change; 0 before the first. Part of the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// Time of the last change; `null` before the first.
    pub updated_at: Option<Instant>,
    /// Actions that the caller may perform now.
    pub allowed_actions: AllowedActions,
}

impl Answer for Brand {
    fn head(&self) -> Head {
        Head {
            etag: Some(format!("{}-{}", self.project_id, self.version)),
            ..Head::default()
        }
    }
}

/// A stored item of brand data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}Item")]
pub struct Item<T> {
    /// Identifier.
    #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
    pub id: ItemId,
    /// The item.
    #[serde(flatten)]
    pub data: T,
    /// Version number, incremented by every change; part of the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// Time at which it was added.
    pub created_at: Instant,
    /// Time of the last change.
    pub updated_at: Instant,
    /// Actions that the caller may perform now.
    pub allowed_actions: AllowedActions,
}

impl<T> Answer for Item<T>
where
    T: Serialize + serde::de::DeserializeOwned + JsonSchema + Send + 'static,
{
    fn head(&self) -> Head {
        Head {
            etag: Some(format!("{}-{}", self.id, self.version)),
            ..Head::default()
        }
    }
}

/// Outcomes for the items of a request, in the same order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{T}Added")]
pub struct Added<T> {
    /// One entry per item.
    pub data: Vec<AddedItem<T>>,
}

impl<T> Answer for Added<T> where T: Serialize + serde::de::DeserializeOwned + JsonSchema + Send + 'static {}

/// Outcome for one item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}AddedItem")]
pub struct AddedItem<T> {
    /// Whether the item was added or skipped.
    pub outcome: Outcome,
    /// The item that was added; `null` if it was skipped.
    pub item: Option<Item<T>>,
    /// Id of the item that already existed; `null` if it was added.
    pub existing_id: Option<ItemId>,
}

//! Brand data: what is to be known of a brand, its products, competitors, answers and calls to action.
//!
//! The profile is one record per project. The four resources beside it have a file each; what they share
//! is here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant,
    actions::AllowedActions,
    declare::{item, operation},
    words::words,
};

words! {
    /// What to do with an item that the project has already.
    OnDuplicate {
        /// Refuse all items with `409 already_exists`.
        Refuse = "refuse",
        /// Leave the existing one as it is, and add the others.
        Skip = "skip",
    }
}
words! {
    /// What became of an item.
    Outcome {
        /// It was added.
        Created = "created",
        /// The project had it already.
        Skipped = "skipped",
    }
}

operation! {
    /// Returns the brand profile: what the brand is called, where it is at home, and how it speaks.
    ///
    /// A project that has set nothing has a profile of defaults with version 0.
    GetBrand {
        project;
    }
}

item! {
    /// What a brand is called, where it is at home, and how it speaks.
    Profile,
    /// Changes the members that are named; `null` clears those that may be empty. A list is replaced as a whole.
    UpdateBrand { project; }
    {
        /// Name; the project's unless set.
        #[schemars(length(min = 1, max = 200), example = &"Fern & Fir")]
        name: String,
        /// Other spellings and short names.
        #[schemars(length(max = 50), inner(length(min = 1, max = 200)), example = ["FernFir"])]
        aliases: Vec<String>,
        /// Domains that are the brand's own beside the project's.
        #[schemars(length(max = 50), inner(length(min = 1, max = 253)), example = ["fernfir.example"])]
        domains: Vec<String>,
        /// What it is, in the words of its market.
        #[schemars(length(min = 1, max = 200), example = &"office furniture")]
        category: Option<String>,
        /// How its texts sound.
        #[schemars(length(min = 1, max = 1000), example = &"plain, warm, no superlatives")]
        tone: Option<String>,
        /// Phrases that its texts must not hold.
        #[schemars(length(max = 200), inner(length(min = 1, max = 200)), example = ["game changer"])]
        banned_phrases: Vec<String>,
        /// Language of its texts, BCP 47; the project's unless set.
        #[schemars(length(min = 2, max = 35), example = &"en")]
        language: Option<String>,
        /// Its name is also an ordinary word: a mention needs more to go by than the name.
        ambiguous: bool,
        /// Phrases near which its name means something else.
        #[schemars(length(max = 100), inner(length(min = 1, max = 200)), example = ["fern leaf"])]
        negative_context: Vec<String>,
    }
}

/// The brand profile of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Brand {
    /// The project.
    pub project_id: String,
    /// What it holds.
    #[serde(flatten)]
    pub profile: Profile,
    /// Counts changes; 0 before the first. Part of the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// When it last changed; `null` before the first change.
    pub updated_at: Option<Instant>,
    /// What the caller may do with it now.
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

/// An item of brand data as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}Item")]
pub struct Item<T> {
    /// Identifier.
    #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
    pub id: String,
    /// What it holds.
    #[serde(flatten)]
    pub data: T,
    /// Counts changes; part of the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// When it was added.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
    /// What the caller may do with it now.
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

/// What became of the items of a request, in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{T}Added")]
pub struct Added<T> {
    /// One entry per item.
    pub data: Vec<AddedItem<T>>,
}

impl<T> Answer for Added<T> where T: Serialize + serde::de::DeserializeOwned + JsonSchema + Send + 'static {}

/// What became of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}AddedItem")]
pub struct AddedItem<T> {
    /// Whether it was added.
    pub outcome: Outcome,
    /// The item that was added; `null` if it was skipped.
    pub item: Option<Item<T>>,
    /// Id of the item that was there already; `null` if it was added.
    pub existing_id: Option<String>,
}

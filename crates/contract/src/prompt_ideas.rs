//! Suggestions of prompts from what a project knows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, declare::operation, ids::PromptId, prompts::PromptClass, words::words};

words! {
    /// Kind of record from which a prompt is made.
    PromptSourceKind {
        /// The category in the brand profile.
        Category = "category",
        /// A product.
        Product = "product",
        /// An approved keyword.
        Keyword = "keyword",
        /// A question of the brand.
        Faq = "faq",
        /// A competitor.
        Competitor = "competitor",
        /// The name of the brand.
        Brand = "brand",
    }
}

operation! {
    /// Suggests prompts from brand data, approved keywords and competitors, in the language of the project. Nothing is saved unless
    /// `save` is true.
    ///
    /// They come from templates in English, German, French and Spanish; in other languages the list is empty, with the reason. At
    /// most a fifth name the own brand, and none is asked already, active or archived. The same data give the same suggestions.
    SuggestPrompts {
        project;
        /// Number of suggestions, 1 to 50; default 20.
        #[schemars(range(min = 1, max = 50))]
        limit: Option<u8>,
        /// Whether to add them as prompts, all or none; default `false`.
        save: Option<bool>,
    }
}

/// Suggested prompts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuggestedPrompts {
    /// The suggestions.
    pub data: Vec<SuggestedPrompt>,
    /// Reason for which there are fewer than asked for; `null` if there are as many.
    pub reason: Option<String>,
}

impl Answer for SuggestedPrompts {}

/// A suggested prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedPrompt {
    /// Text.
    #[schemars(example = &"I am looking for standing desks and feel lost: which brands would you recommend, and why?")]
    pub text: String,
    /// Class, by the brands that it names.
    pub class: PromptClass,
    /// Topic, which becomes its tag.
    pub topic: Option<String>,
    /// Record from which it is made.
    pub source: PromptSource,
    /// Id of the prompt that was added; `null` unless saved.
    pub prompt_id: Option<PromptId>,
}

/// Record from which a prompt is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptSource {
    /// Kind.
    pub kind: PromptSourceKind,
    /// Id of the product, keyword, question or competitor; `null` for the brand profile.
    pub id: Option<String>,
    /// Its text.
    pub name: String,
}

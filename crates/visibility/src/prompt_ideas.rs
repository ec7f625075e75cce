//! Prompts from what a project knows: its category, products, questions, keywords and competitors.
//!
//! Templates only, so that the same material gives the same prompts. Kinds of material take turns, and at most a fifth of the
//! prompts name the own brand.

mod drafts;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{brands::BrandMatcher, normal::key, prompts::PromptClass};

/// Languages that have templates.
pub const LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];
/// Least number of words of a prompt.
const MIN_WORDS: usize = 10;
/// Maximum number of words of a prompt.
const MAX_WORDS: usize = 20;
/// Maximum length of a prompt in characters.
const MAX_CHARS: usize = 500;
/// A prompt in so many may name the own brand.
const BRANDED_SHARE: usize = 5;

/// Kind of the material of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdeaKind {
    /// Category of the brand.
    Category,
    /// A product.
    Product,
    /// An approved keyword.
    Keyword,
    /// A question of the brand.
    Faq,
    /// A competitor.
    Competitor,
    /// The brand itself.
    Brand,
}

/// Material of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdeaSource {
    /// Kind.
    pub kind: IdeaKind,
    /// Id of the record; `None` for the brand profile.
    pub id: Option<String>,
    /// Its text.
    pub name: String,
}

/// A prompt from a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptIdea {
    /// Text.
    pub text: String,
    /// Material.
    pub source: IdeaSource,
    /// Topic.
    pub topic: Option<String>,
    /// Class.
    pub class: PromptClass,
}

/// A record with its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedRecord {
    /// Id.
    pub id: String,
    /// Text.
    pub name: String,
    /// Topic, if the record has one.
    pub topic: Option<String>,
}

/// A product.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductMaterial {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// Category.
    pub category: Option<String>,
    /// Audience.
    pub audience: Option<String>,
    /// Use cases.
    pub use_cases: Vec<String>,
    /// Features, the ones that set it apart first.
    pub features: Vec<String>,
}

/// Material of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdeaMaterial {
    /// Language (BCP 47) of the prompts.
    pub language: String,
    /// Name of the brand.
    pub brand: String,
    /// Category of the brand.
    pub category: Option<String>,
    /// Products.
    pub products: Vec<ProductMaterial>,
    /// Questions of the brand in the language of the prompts.
    pub faqs: Vec<NamedRecord>,
    /// Approved keywords in the language of the prompts, the best first.
    pub keywords: Vec<NamedRecord>,
    /// Competitors.
    pub competitors: Vec<NamedRecord>,
}

/// Returns the form by which two prompts are the same question: words without case, accents and punctuation.
pub fn question_key(text: &str) -> String {
    key(text).norm
}

/// Returns at most `limit` prompts, none of which is among the known ones; `None` if the language has no templates.
pub fn suggest(
    material: &IdeaMaterial,
    matcher: &BrandMatcher,
    known: HashSet<String>,
    limit: usize,
) -> Option<Vec<PromptIdea>> {
    let mut taken = known;
    let (mut plain, mut branded) = (Vec::new(), Vec::new());
    for mut idea in drafts::draft_all(material)? {
        if plain.len() >= limit {
            break;
        }
        if !has_length(&idea.text) || !taken.insert(question_key(&idea.text)) {
            continue;
        }
        idea.class = matcher.classify_prompt(&idea.text, &material.language);
        match idea.class {
            PromptClass::Branded => branded.push(idea),
            PromptClass::CompetitorBranded | PromptClass::NonBranded => plain.push(idea),
        }
    }
    Some(mix(plain, branded, limit))
}

/// Puts one prompt that names the brand behind each four others.
fn mix(plain: Vec<PromptIdea>, branded: Vec<PromptIdea>, limit: usize) -> Vec<PromptIdea> {
    let mut branded = branded.into_iter();
    let mut all = Vec::with_capacity(limit);
    for idea in plain {
        all.push(idea);
        if all.len() % BRANDED_SHARE == BRANDED_SHARE - 1 {
            all.extend(branded.next());
        }
    }
    all.truncate(limit);
    all
}

/// Whether a prompt is as long as those that people write.
fn has_length(text: &str) -> bool {
    let words = text
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphanumeric))
        .count();
    (MIN_WORDS..=MAX_WORDS).contains(&words) && text.chars().count() <= MAX_CHARS
}

#[cfg(test)]
mod tests;

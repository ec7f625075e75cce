//! What is answered about posts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CheckOutcome, GenerationMethod, PostOrigin, PostStatus, Publication, PublicationState};
use crate::{Answer, Head, Instant, actions::AllowedActions, jobs::Job};

/// The main image of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FeaturedImage {
    /// Absolute address.
    #[schemars(length(min = 1, max = 2048), example = &"https://example.com/desk.jpg")]
    pub url: String,
    /// What it shows, for those who do not see it.
    #[schemars(length(max = 300))]
    #[serde(default)]
    #[schemars(extend("x-nullable" = true))]
    pub alt: Option<String>,
    /// Pixels.
    #[schemars(range(min = 1, max = 100_000))]
    #[serde(default)]
    #[schemars(extend("x-nullable" = true))]
    pub width: Option<u32>,
    /// Pixels.
    #[schemars(range(min = 1, max = 100_000))]
    #[serde(default)]
    #[schemars(extend("x-nullable" = true))]
    pub height: Option<u32>,
    /// Whose it is.
    #[schemars(length(max = 300))]
    #[serde(default)]
    #[schemars(extend("x-nullable" = true))]
    pub credit: Option<String>,
}

/// Who wrote a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Author {
    /// Name.
    #[schemars(length(min = 1, max = 200), example = &"Ada Fern")]
    pub name: String,
    /// Page about the author.
    #[schemars(length(min = 1, max = 2048))]
    #[serde(default)]
    #[schemars(extend("x-nullable" = true))]
    pub url: Option<String>,
    /// Profiles elsewhere.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = 2048)))]
    pub same_as: Vec<String>,
}

/// A post as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostSummary {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
    pub id: String,
    /// Title; `null` while there is none.
    pub title: Option<String>,
    /// The part of its address that names it, unique in the project.
    #[schemars(example = &"choose-a-standing-desk")]
    pub slug: String,
    /// Where it stands.
    pub status: PostStatus,
    /// The keyword it aims at; `null` also when that was deleted.
    pub keyword_id: Option<String>,
    /// Text of that keyword.
    pub keyword: Option<String>,
    /// Language, BCP 47.
    #[schemars(example = &"en")]
    pub language: String,
    /// Who made it.
    pub origin: PostOrigin,
    /// Words of its text.
    #[schemars(example = 1200)]
    pub word_count: u32,
    /// Minutes it takes to read.
    #[schemars(example = 6)]
    pub reading_time_minutes: u32,
    /// What the checks of the text add up to, 0 to 100; `null` while there is no text. It advises; it blocks nothing.
    #[schemars(example = 72)]
    pub seo_score: Option<u8>,
    /// Whether it is live in another form than it has here.
    pub has_unpublished_changes: bool,
    /// When it is to be published.
    pub scheduled_at: Option<Instant>,
    /// When it was first published.
    pub published_at: Option<Instant>,
    /// Where it was published.
    pub published_url: Option<String>,
    /// Whether readers see it at any provider, as far as is known.
    pub is_live: bool,
    /// Where its last publication stands; `null` if there was none. `uncertain`: it was sent and the answer was lost.
    pub publication_state: Option<PublicationState>,
    /// Why its last job failed; `null` unless it did.
    pub failure: Option<PostFailure>,
    /// When it was put away.
    pub archived_at: Option<Instant>,
    /// Counts changes; part of the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// When it was made.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
    /// What the caller may do with it now.
    pub allowed_actions: AllowedActions,
}

/// A post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Post {
    /// What lists show.
    #[serde(flatten)]
    pub summary: PostSummary,
    /// The text, Markdown.
    pub content: String,
    /// Its sanitised rendering.
    pub content_html: String,
    /// What else people wrote.
    #[serde(flatten)]
    pub details: PostDetails,
    /// What follows from the text.
    #[serde(flatten)]
    pub findings: PostFindings,
    /// How its text was last generated; `null` if it never was.
    pub generation: Option<Generation>,
    /// Where it is, or was to be, published; what changed last comes first.
    pub publications: Vec<Publication>,
}

/// What people write of a post besides title and text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PostDetails {
    /// Summary for lists.
    pub excerpt: Option<String>,
    /// Title for search results; the title where it is `null`.
    pub meta_title: Option<String>,
    /// Description for search results.
    pub meta_description: Option<String>,
    /// Further keywords.
    pub secondary_keywords: Vec<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// Sections of the blog it belongs to.
    pub categories: Vec<String>,
    /// Its main image.
    pub featured_image: Option<FeaturedImage>,
    /// Who wrote it.
    pub author: Option<Author>,
    /// Address that search engines are to take for it.
    pub canonical_url: Option<String>,
}

/// What follows from the text of a post.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PostFindings {
    /// The checks behind `seoScore`; empty while there is no text.
    pub seo_checks: Vec<SeoCheck>,
    /// How easy it is to read; `null` without running text.
    pub readability: Option<PostReadability>,
    /// JSON-LD (schema.org) of what a reader can see; `null` without title or text.
    pub structured_data: Option<Value>,
    /// Links to pages of the site.
    pub internal_links: Vec<TextLink>,
    /// Pages of others that the text links to, or that were read for it.
    pub external_sources: Vec<ExternalSource>,
    /// What stands between the text and its publication, or deserves a look.
    pub warnings: Vec<PostWarning>,
}

/// One check of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeoCheck {
    /// Stable word.
    #[schemars(example = &"keyword_in_title")]
    pub id: String,
    /// Points it can earn before scaling.
    pub weight: f64,
    /// How it came out.
    pub outcome: CheckOutcome,
    /// Points it earned before scaling.
    pub points: f64,
    /// What was measured; `null` where there was nothing to measure.
    pub value: Option<f64>,
    /// What to do; `null` where nothing is to be done.
    pub advice: Option<String>,
}

/// How easy a text is to read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostReadability {
    /// What the formula gives; may lie outside 0 to 100.
    #[schemars(example = 61.2)]
    pub score: f64,
    /// The formula, made for the language.
    #[schemars(example = &"flesch_reading_ease")]
    pub formula: String,
    /// `good`, `fair` or `poor`.
    #[schemars(example = &"good")]
    pub band: String,
}

/// A link of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextLink {
    /// Where it leads, as written.
    pub url: String,
    /// The words that carry it.
    pub title: String,
}

/// A page of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalSource {
    /// Its address.
    pub url: String,
    /// Its title, or the words that link to it.
    pub title: Option<String>,
    /// What it says of a claim of the text; `null` where nothing was found.
    pub quote: Option<String>,
    /// When it was read; `null` if it never was.
    pub checked_at: Option<Instant>,
    /// Whether it could be read; `null` if nobody tried.
    pub ok: Option<bool>,
}

/// Something to be looked at before a post is published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostWarning {
    /// Stable word: `unverified_claims`, `too_similar`, `brief_only`, `missing_section`, `step_lost`, `banned_phrase`,
    /// `source_unread`.
    #[schemars(example = &"unverified_claims")]
    pub code: String,
    /// For people.
    pub detail: String,
    /// The sentence or phrase of the text it is about; it goes away with it. `null` is all of the generated text: it goes
    /// away when that is changed.
    pub text: Option<String>,
    /// Whether the post cannot be published while it stands.
    pub blocks_publishing: bool,
    /// The page, post or brand data it is about, by address or name; `null` where there is none.
    #[serde(default)]
    pub source: Option<String>,
    /// Share of the text that stands in `source`, 0 to 1; `null` where that is not the matter.
    #[serde(default)]
    pub share: Option<f64>,
}

/// How a text was generated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Generation {
    /// The job.
    pub job_id: String,
    /// With or without a language model; `null` while that is not known.
    pub method: Option<GenerationMethod>,
    /// Who answered; `null` for a brief.
    pub provider: Option<String>,
    /// The model; `null` for a brief.
    pub model: Option<String>,
    /// What is known to have been charged, in millionths of a US dollar; `null` when nobody can say.
    pub cost_micros_usd: Option<i64>,
    /// When it was asked for.
    pub requested_at: Instant,
    /// When it ended.
    pub finished_at: Option<Instant>,
}

/// Why the last job of a post failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostFailure {
    /// `generate` or `publish`.
    #[schemars(example = &"generate")]
    pub stage: String,
    /// Stable word.
    #[schemars(example = &"provider_error")]
    pub code: String,
    /// For people.
    pub detail: String,
}

/// An earlier text of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// Counts up from 1 in each post.
    #[schemars(example = 1)]
    pub number: i64,
    /// The title it had.
    pub title: Option<String>,
    /// The text, Markdown.
    pub content: String,
    /// Its words.
    pub word_count: u32,
    /// `version` of the post that had it.
    pub version: i64,
    /// When it was replaced.
    pub replaced_at: Instant,
}

/// The answer to starting a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PostStarted {
    /// The job that does it.
    pub job: Job,
    /// The post.
    pub post: Post,
}

impl Answer for PostStarted {
    fn head(&self) -> Head {
        Head {
            location: Some(format!("jobs/{}", self.job.id)),
            retry_after: Some(5),
            ..Head::default()
        }
    }
}

impl Answer for Post {
    fn head(&self) -> Head {
        Head {
            etag: Some(format!("{}-{}", self.summary.id, self.summary.version)),
            location: Some(format!("posts/{}", self.summary.id)),
            ..Head::default()
        }
    }
}

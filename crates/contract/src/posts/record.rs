//! Records of posts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CheckOutcome, GenerationMethod, PostOrigin, PostStatus, Publication, PublicationState};
use crate::{
    Answer, Head, Instant,
    actions::AllowedActions,
    ids::{JobId, KeywordId, PostId},
    jobs::Job,
};

/// The main image of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FeaturedImage {
    /// Absolute URL.
    #[schemars(length(min = 1, max = 2048), example = &"https://example.com/desk.jpg")]
    pub url: String,
    /// Alternative text for people who do not see the image.
    #[schemars(length(max = 300))]
    #[serde(default)]
    #[schemars(extend("x-nullable" = true))]
    pub alt: Option<String>,
    /// Width in pixels.
    #[schemars(range(min = 1, max = 100_000))]
    #[serde(default)]
    #[schemars(extend("x-nullable" = true))]
    pub width: Option<u32>,
    /// Height in pixels.
    #[schemars(range(min = 1, max = 100_000))]
    #[serde(default)]
    #[schemars(extend("x-nullable" = true))]
    pub height: Option<u32>,
    /// Credit line.
    #[schemars(length(max = 300))]
    #[serde(default)]
    #[schemars(extend("x-nullable" = true))]
    pub credit: Option<String>,
}

/// Author of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Author {
    /// Name.
    #[schemars(length(min = 1, max = 200), example = &"Ada Fern")]
    pub name: String,
    /// URL of a page about the author.
    #[schemars(length(min = 1, max = 2048))]
    #[serde(default)]
    #[schemars(extend("x-nullable" = true))]
    pub url: Option<String>,
    /// URLs of profiles of the author elsewhere.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = 2048)))]
    pub same_as: Vec<String>,
}

/// A post without its text, as in lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostSummary {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
    pub id: PostId,
    /// Title; `null` if there is none yet.
    pub title: Option<String>,
    /// URL slug, unique in the project.
    #[schemars(example = &"choose-a-standing-desk")]
    pub slug: String,
    /// Status.
    pub status: PostStatus,
    /// Id of the target keyword; `null` if there is none or it was deleted.
    pub keyword_id: Option<KeywordId>,
    /// Text of the target keyword.
    pub keyword: Option<String>,
    /// Language (BCP 47).
    #[schemars(example = &"en")]
    pub language: String,
    /// Origin.
    pub origin: PostOrigin,
    /// Id of the published post whose text this one is to replace, at the same URL; `null` for a post of its own. It is
    /// published by an approval only.
    pub replaces_post_id: Option<PostId>,
    /// Number of words in the text.
    #[schemars(example = 1200)]
    pub word_count: u32,
    /// Estimated reading time in minutes.
    #[schemars(example = 6)]
    pub reading_time_minutes: u32,
    /// SEO score of the text from `seoChecks`, 0 to 100; `null` if there is no text. Advisory: it does not block
    /// publishing.
    #[schemars(example = 72)]
    pub seo_score: Option<u8>,
    /// Whether it was changed since it was published.
    pub has_unpublished_changes: bool,
    /// Scheduled time of publication.
    pub scheduled_at: Option<Instant>,
    /// Time of first publication.
    pub published_at: Option<Instant>,
    /// Public URL.
    pub published_url: Option<String>,
    /// Whether it is public at any provider, as far as known.
    pub is_live: bool,
    /// State of its last publication; `null` if there was none. `uncertain` means that it was sent and the response
    /// was lost.
    pub publication_state: Option<PublicationState>,
    /// Failure of its last job; `null` if it did not fail.
    pub failure: Option<PostFailure>,
    /// Time at which it was archived.
    pub archived_at: Option<Instant>,
    /// Version number, incremented by every change; part of the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// Time of creation.
    pub created_at: Instant,
    /// Time of the last change.
    pub updated_at: Instant,
    /// Actions that the caller may perform now.
    pub allowed_actions: AllowedActions,
}

/// A post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Post {
    /// Fields that lists have too.
    #[serde(flatten)]
    pub summary: PostSummary,
    /// Text in Markdown.
    pub content: String,
    /// Text as sanitised HTML.
    pub content_html: String,
    /// Editable fields other than title and text.
    #[serde(flatten)]
    pub details: PostDetails,
    /// Analysis of the text.
    #[serde(flatten)]
    pub findings: PostFindings,
    /// Last generation of the text; `null` if it was never generated.
    pub generation: Option<Generation>,
    /// Publications at providers, including failed and unpublished ones, most recently changed first.
    pub publications: Vec<Publication>,
}

/// Editable fields of a post other than title and text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PostDetails {
    /// Summary for lists.
    pub excerpt: Option<String>,
    /// Title for search results; if `null`, the title is used.
    pub meta_title: Option<String>,
    /// Description for search results.
    pub meta_description: Option<String>,
    /// Further keywords.
    pub secondary_keywords: Vec<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// Categories of the blog.
    pub categories: Vec<String>,
    /// Main image.
    pub featured_image: Option<FeaturedImage>,
    /// Author.
    pub author: Option<Author>,
    /// Canonical URL.
    pub canonical_url: Option<String>,
}

/// Analysis of the text of a post.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PostFindings {
    /// Checks behind `seoScore`; empty if there is no text.
    pub seo_checks: Vec<SeoCheck>,
    /// Readability; `null` without running text.
    pub readability: Option<PostReadability>,
    /// JSON-LD (schema.org) for the visible content; `null` without title or text.
    pub structured_data: Option<Value>,
    /// Links to pages of the site.
    pub internal_links: Vec<TextLink>,
    /// External pages that the text links to, or that were read for it.
    pub external_sources: Vec<ExternalSource>,
    /// Warnings about the text, some of which block publishing.
    pub warnings: Vec<PostWarning>,
}

/// One check of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeoCheck {
    /// Machine-readable id.
    #[schemars(example = &"keyword_in_title")]
    pub id: String,
    /// Maximum points before scaling.
    pub weight: f64,
    /// Outcome.
    pub outcome: CheckOutcome,
    /// Points earned before scaling.
    pub points: f64,
    /// Measured value; `null` if there was nothing to measure.
    pub value: Option<f64>,
    /// Recommended improvement; `null` if there is none.
    pub advice: Option<String>,
}

/// Readability of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostReadability {
    /// Result of the formula; may lie outside 0 to 100.
    #[schemars(example = 61.2)]
    pub score: f64,
    /// Readability formula, chosen for the language.
    #[schemars(example = &"flesch_reading_ease")]
    pub formula: String,
    /// Band of the score: `good`, `fair` or `poor`.
    #[schemars(example = &"good")]
    pub band: String,
}

/// A link in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextLink {
    /// Target URL, as written.
    pub url: String,
    /// Anchor text.
    pub title: String,
}

/// An external page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalSource {
    /// URL of the page.
    pub url: String,
    /// Title of the page, or anchor text of the link.
    pub title: Option<String>,
    /// Quote that supports a claim of the text; `null` if none was found.
    pub quote: Option<String>,
    /// Time at which it was read; `null` if it was not.
    pub checked_at: Option<Instant>,
    /// Whether it could be read; `null` if that was not tried.
    pub ok: Option<bool>,
}

/// A warning to review before a post is published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostWarning {
    /// Machine-readable code: `unverified_claims`, `too_similar`, `brief_only`, `missing_section`, `step_lost`,
    /// `banned_phrase`, `source_unread`, `removed_html`, `relative_address`.
    #[schemars(example = &"unverified_claims")]
    pub code: String,
    /// Human-readable explanation.
    pub detail: String,
    /// Sentence, phrase, tag or address that the warning is about; the warning disappears with it. `null` means the whole generated
    /// text: the warning disappears when that is changed.
    pub text: Option<String>,
    /// Whether the warning blocks publishing.
    pub blocks_publishing: bool,
    /// URL or name of the page, post or brand data concerned; `null` if there is none.
    #[serde(default)]
    pub source: Option<String>,
    /// Share of the text found in `source`, 0 to 1; `null` if the warning is not about similarity.
    #[serde(default)]
    pub share: Option<f64>,
}

/// Generation of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Generation {
    /// Id of the job.
    pub job_id: JobId,
    /// Method, with or without a language model; `null` while it is not known.
    pub method: Option<GenerationMethod>,
    /// Provider of the language model; `null` for a brief.
    pub provider: Option<String>,
    /// Language model; `null` for a brief.
    pub model: Option<String>,
    /// Known cost, in millionths of a US dollar; `null` if unknown.
    pub cost_micros_usd: Option<i64>,
    /// Time of the request.
    pub requested_at: Instant,
    /// Time at which it ended; `null` until then.
    pub finished_at: Option<Instant>,
}

/// Failure of the last job of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostFailure {
    /// Failed stage: `generate` or `publish`.
    #[schemars(example = &"generate")]
    pub stage: String,
    /// Machine-readable code.
    #[schemars(example = &"provider_error")]
    pub code: String,
    /// Human-readable explanation.
    pub detail: String,
}

/// A revision: an earlier text of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// Number of the revision, from 1 in each post.
    #[schemars(example = 1)]
    pub number: i64,
    /// Title at that time.
    pub title: Option<String>,
    /// Text in Markdown.
    pub content: String,
    /// Number of words in the text.
    pub word_count: u32,
    /// `version` of the post with this text.
    pub version: i64,
    /// Time at which it was replaced.
    pub replaced_at: Instant,
}

/// A started job with its post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PostStarted {
    /// The started job.
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

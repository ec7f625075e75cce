//! The record of a keyword.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CannibalisationReason, CompetitionLevel, Intent, IntentSource, KeywordSource, KeywordStatus};
use crate::{
    Answer, Head, Instant,
    actions::AllowedActions,
    ids::{ClusterId, KeywordId, PostId},
    missing::MissingReason,
};

/// A keyword. Unknown figures are `null`, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Keyword {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
    pub id: KeywordId,
    /// Text, as it was added.
    #[schemars(example = &"standing desk")]
    pub keyword: String,
    /// Searches per month.
    #[schemars(example = 2400)]
    pub search_volume: Option<i64>,
    /// Reason `searchVolume` is `null`; `null` if it is known.
    pub search_volume_status: Option<MissingReason>,
    /// Difficulty, 0 (easy) to 100.
    #[schemars(example = 31)]
    pub keyword_difficulty: Option<i64>,
    /// Reason `keywordDifficulty` is `null`; `null` if it is known.
    pub keyword_difficulty_status: Option<MissingReason>,
    /// Search intent; `null` if unknown.
    #[schemars(example = &"commercial")]
    pub intent: Option<Intent>,
    /// Source of the intent: a caller takes precedence over a provider, and a provider over the rules.
    pub intent_source: Option<IntentSource>,
    /// Confidence of the rules, 0 to 1; `null` if the intent is not from rules.
    #[schemars(example = 0.9)]
    pub intent_confidence: Option<f64>,
    /// Rule that decided the intent.
    #[schemars(example = &"\"best\" compares")]
    pub intent_reason: Option<String>,
    /// Score, 0 to 100, from relevance, searches, difficulty and intent; missing parts are left out.
    #[schemars(example = 63.5)]
    pub score: Option<f64>,
    /// Id of the cluster, which groups keywords that one page can answer; `null` if the keyword is in none.
    pub cluster_id: Option<ClusterId>,
    /// Whether it represents its cluster: the most searched keyword, then the shortest.
    pub is_cluster_head: bool,
    /// Ids of the posts that target it, oldest first, at most 100, without archived ones.
    pub post_ids: Vec<PostId>,
    /// Figures from other tools and providers.
    #[serde(flatten)]
    pub details: KeywordDetails,
    /// Language, BCP 47.
    #[schemars(example = &"en")]
    pub language: String,
    /// Country (ISO 3166-1 alpha-2); `null` for all countries.
    pub country: Option<String>,
    /// Status.
    pub status: KeywordStatus,
    /// Source from which it was first added.
    pub source: KeywordSource,
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

/// Figures of a keyword from other tools and providers; `null` if none gave one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct KeywordDetails {
    /// Further possible search intents.
    pub secondary_intents: Vec<Intent>,
    /// Similarity to the topics of the project's pages, 0 to 1; `null` for keywords that were not found there.
    pub relevance: Option<f64>,
    /// Range of searches per month, if only a range is known.
    pub volume_range: Option<VolumeRange>,
    /// Source whose scale `keywordDifficulty` uses; scales differ and are never averaged.
    pub difficulty_source: Option<KeywordSource>,
    /// Cost per click of ads, in `currency`.
    pub cpc: Option<f64>,
    /// Currency of prices, ISO 4217.
    pub currency: Option<String>,
    /// Competition between advertisers, 0 to 1; not the difficulty.
    pub competition: Option<f64>,
    /// Level of `competition`, in a word.
    pub competition_level: Option<CompetitionLevel>,
    /// Searches by month, oldest first, at most 24.
    pub trend: Vec<TrendMonth>,
    /// Trend without dates: twelve months, oldest first, each as a share of the best month.
    pub trend_relative: Vec<f64>,
    /// Broader keyword to which this one belongs.
    pub parent_topic: Option<String>,
    /// Features of the search results page.
    pub serp_features: Vec<String>,
    /// Position of the site in the search results, from 1.
    pub position: Option<f64>,
    /// Page of the site that ranks.
    pub ranking_url: Option<String>,
    /// Clicks to the site in the period of the export.
    pub clicks: Option<i64>,
    /// Impressions of the site in the period of the export; not a search volume.
    pub impressions: Option<i64>,
    /// Id of the keyword from which this one differs only in word order, inflection or year.
    pub variant_of: Option<String>,
    /// Pages and posts of this site that compete for it; `null` if none are known. A post is refused for a keyword
    /// that already has a page or post.
    pub cannibalisation: Option<Cannibalisation>,
    /// All sources in which it was found, the first one first.
    pub sources: Vec<KeywordOrigin>,
    /// Time of the last update of figures.
    pub metrics_updated_at: Option<Instant>,
}

/// Pages and posts of one site that compete for the same searches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cannibalisation {
    /// Evidence for the competition.
    pub reason: CannibalisationReason,
    /// URLs of the pages, at most 10; from Search Console, those with the most impressions first.
    pub urls: Vec<String>,
    /// Ids of the posts, oldest first.
    pub post_ids: Vec<PostId>,
}

/// Range of searches per month, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeRange {
    /// Lower bound.
    pub min: i64,
    /// Upper bound.
    pub max: i64,
}

/// Searches in one month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrendMonth {
    /// Month, `YYYY-MM`.
    pub month: String,
    /// Searches.
    pub value: i64,
}

/// A source in which a keyword was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeywordOrigin {
    /// Kind of source.
    pub source: KeywordSource,
    /// URL, line of the file or field of the brand data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Text or detail found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Searches per month according to this source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_volume: Option<i64>,
    /// Difficulty according to this source, on its own scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword_difficulty: Option<i64>,
    /// Time at which it was found.
    pub at: Instant,
}

impl Answer for Keyword {
    fn head(&self) -> Head {
        Head {
            etag: Some(format!("{}-{}", self.id, self.version)),
            location: Some(format!("keywords/{}", self.id)),
            ..Head::default()
        }
    }
}

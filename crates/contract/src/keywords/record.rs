//! What is known of a keyword.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CannibalisationReason, CompetitionLevel, Intent, IntentSource, KeywordSource, KeywordStatus};
use crate::{Answer, Head, Instant, actions::AllowedActions, missing::MissingReason};

/// A keyword. Unknown figures are `null`, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Keyword {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
    pub id: String,
    /// The text, as it was added.
    #[schemars(example = &"standing desk")]
    pub keyword: String,
    /// Searches per month.
    #[schemars(example = 2400)]
    pub search_volume: Option<i64>,
    /// Why `searchVolume` is `null`; `null` when it is known.
    pub search_volume_status: Option<MissingReason>,
    /// Difficulty, 0 (easy) to 100.
    #[schemars(example = 31)]
    pub keyword_difficulty: Option<i64>,
    /// Why `keywordDifficulty` is `null`; `null` when it is known.
    pub keyword_difficulty_status: Option<MissingReason>,
    /// What a searcher wants; `null` when unknown.
    #[schemars(example = &"commercial")]
    pub intent: Option<Intent>,
    /// Who says so: a caller before a provider before the rules.
    pub intent_source: Option<IntentSource>,
    /// How sure the rules are, 0 to 1; `null` when they did not decide.
    #[schemars(example = 0.9)]
    pub intent_confidence: Option<f64>,
    /// Which rule decided.
    #[schemars(example = &"\"best\" compares")]
    pub intent_reason: Option<String>,
    /// Worth by all that is known, 0 to 100: relevance, searches, difficulty and intent, missing parts left out.
    #[schemars(example = 63.5)]
    pub score: Option<f64>,
    /// Keywords that one page can answer share a cluster; `null` when alone.
    pub cluster_id: Option<String>,
    /// The one that stands for its cluster: most searched, then shortest.
    pub is_cluster_head: bool,
    /// Posts that aim at it, the oldest first, at most 100; those put away left out.
    pub post_ids: Vec<String>,
    /// What other tools and providers say of it.
    #[serde(flatten)]
    pub details: KeywordDetails,
    /// Language, BCP 47.
    #[schemars(example = &"en")]
    pub language: String,
    /// Country, ISO 3166-1 alpha-2; `null` for all.
    pub country: Option<String>,
    /// Where it stands.
    pub status: KeywordStatus,
    /// Where it came from.
    pub source: KeywordSource,
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

/// What other tools and providers say of a keyword. What none has said is `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct KeywordDetails {
    /// What a searcher may want besides.
    pub secondary_intents: Vec<Intent>,
    /// Likeness to what the project's pages are about, 0 to 1; `null` for keywords that were not found there.
    pub relevance: Option<f64>,
    /// Searches per month where only a bucket is known.
    pub volume_range: Option<VolumeRange>,
    /// Whose scale `keywordDifficulty` is on; scales differ and are never averaged.
    pub difficulty_source: Option<KeywordSource>,
    /// Price of a click on an ad, in `currency`.
    pub cpc: Option<f64>,
    /// Currency of prices, ISO 4217.
    pub currency: Option<String>,
    /// Competition of advertisers, 0 to 1. Not difficulty.
    pub competition: Option<f64>,
    /// The same in words.
    pub competition_level: Option<CompetitionLevel>,
    /// Searches by month, oldest first, at most 24.
    pub trend: Vec<TrendMonth>,
    /// Twelve months that the tool does not name, oldest first, each as a share of the best one.
    pub trend_relative: Vec<f64>,
    /// Broader keyword this one belongs to.
    pub parent_topic: Option<String>,
    /// What else the page of results shows.
    pub serp_features: Vec<String>,
    /// Position of the site among the results, from 1.
    pub position: Option<f64>,
    /// Page of the site that ranks.
    pub ranking_url: Option<String>,
    /// Clicks to the site, in the export's period.
    pub clicks: Option<i64>,
    /// How often the site was shown, in the export's period. Not a search volume.
    pub impressions: Option<i64>,
    /// The keyword that this one differs from in word order, inflection or year only.
    pub variant_of: Option<String>,
    /// What of this site competes for it; `null` when none is known to. A post is refused for a keyword that has a
    /// page or post already.
    pub cannibalisation: Option<Cannibalisation>,
    /// Everywhere it was found, the first first.
    pub sources: Vec<KeywordOrigin>,
    /// When figures were last learnt.
    pub metrics_updated_at: Option<Instant>,
}

/// Parts of one site that compete for the same searches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cannibalisation {
    /// How it is known.
    pub reason: CannibalisationReason,
    /// The pages, at most 10; of Search Console the most shown first.
    pub urls: Vec<String>,
    /// The posts, the oldest first.
    pub post_ids: Vec<String>,
}

/// Bounds of a number of searches per month, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeRange {
    /// At least.
    pub min: i64,
    /// At most.
    pub max: i64,
}

/// Searches in one month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrendMonth {
    /// `YYYY-MM`.
    pub month: String,
    /// Searches.
    pub value: i64,
}

/// A place where a keyword was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeywordOrigin {
    /// Kind of place.
    pub source: KeywordSource,
    /// Address, file line or member of the brand data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What was found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Searches per month it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_volume: Option<i64>,
    /// Difficulty it gives, on its own scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword_difficulty: Option<i64>,
    /// When.
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

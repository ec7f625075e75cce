//! What has been used: monthly quotas, and money spent at providers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Instant, declare::operation, words::words};

words! {
    /// What is counted per month.
    Metric {
        /// Keywords that a generation added.
        KeywordsGenerated = "keywords_generated",
        /// Keywords whose figures a provider was asked for.
        KeywordMetrics = "keyword_metrics",
        /// Posts whose text was generated.
        PostsGenerated = "posts_generated",
        /// Posts made public.
        PostsPublished = "posts_published",
        /// Audits started; counted, never limited.
        Audits = "audits",
        /// Answers of AI engines asked for.
        AnswersTracked = "answers_tracked",
    }
}

operation! {
    /// Tells what was used this month: counts with their quotas, and money spent at providers with its budgets.
    ///
    /// A month is a calendar month in UTC. A call above a quota or a budget answers `403 quota_exceeded`.
    GetUsage {
        project;
    }
}

/// What was used this month.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// When the month began.
    pub period_start: Instant,
    /// A count per metric.
    pub quotas: Vec<Quota>,
    /// Every provider that has a budget or was paid this month.
    pub spend: Vec<Spend>,
}

impl Answer for Usage {}

/// A count with its quota.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quota {
    /// What is counted.
    pub metric: Metric,
    /// Most per month; `null` is unlimited.
    #[schemars(example = 500)]
    pub limit: Option<i64>,
    /// Used this month.
    #[schemars(example = 120)]
    pub used: i64,
    /// When counting begins anew.
    pub resets_at: Instant,
}

/// Money spent at a provider, in millionths of a US dollar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spend {
    /// Who charges.
    #[schemars(example = &"openai")]
    pub provider: String,
    /// Most per month; `null` is unlimited.
    #[schemars(example = 20_000_000)]
    pub budget_micros_usd: Option<i64>,
    /// What is known to have been charged.
    #[schemars(example = 3_150_000)]
    pub spent_micros_usd: i64,
    /// Estimates of calls whose price is not known: under way, cut off, or never told by the provider.
    /// Counts against the budget.
    #[schemars(example = 40_000)]
    pub uncertain_micros_usd: i64,
    /// How many calls those are.
    #[schemars(example = 1)]
    pub uncertain_calls: i64,
    /// When the next month begins.
    pub resets_at: Instant,
}

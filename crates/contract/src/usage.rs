//! Usage: monthly quotas, and money spent at providers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Instant, declare::operation, words::words};

words! {
    /// Metric that is counted per month.
    Metric {
        /// Keywords added by keyword generation.
        KeywordsGenerated = "keywords_generated",
        /// Keywords whose figures were requested from a provider.
        KeywordMetrics = "keyword_metrics",
        /// Posts whose text was generated.
        PostsGenerated = "posts_generated",
        /// Posts made public; a post that is unpublished and published again counts twice.
        PostsPublished = "posts_published",
        /// Audits started; counted, but never limited.
        Audits = "audits",
        /// Answers requested from AI engines.
        AnswersTracked = "answers_tracked",
    }
}

operation! {
    /// Returns the usage of this month: counts with their quotas, and spending at providers with its budgets; and spending today.
    ///
    /// A month is a calendar month in UTC. A call above a quota or a budget answers `403 quota_exceeded`.
    GetUsage {
        project;
    }
}

/// Usage of this month.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Start of the month.
    pub period_start: Instant,
    /// Counts and quotas, one per metric.
    pub quotas: Vec<Quota>,
    /// Spending at every provider that has a budget or was paid this month.
    pub spend: Vec<Spend>,
    /// Spending of today (UTC) at all providers.
    pub today: TodaySpend,
}

impl Answer for Usage {}

/// A count with its quota.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quota {
    /// The metric.
    pub metric: Metric,
    /// Monthly limit; `null` means unlimited.
    #[schemars(example = 500)]
    pub limit: Option<i64>,
    /// Number used this month.
    #[schemars(example = 120)]
    pub used: i64,
    /// Time at which counting restarts.
    pub resets_at: Instant,
}

/// Spending at a provider, in millionths of a US dollar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spend {
    /// The provider.
    #[schemars(example = &"openai")]
    pub provider: String,
    /// Monthly budget; `null` means unlimited.
    #[schemars(example = 20_000_000)]
    pub budget_micros_usd: Option<i64>,
    /// Known charges.
    #[schemars(example = 3_150_000)]
    pub spent_micros_usd: i64,
    /// Estimated cost of calls whose price is unknown: in progress, interrupted, or not reported by the provider.
    /// Counts against the budget.
    #[schemars(example = 40_000)]
    pub uncertain_micros_usd: i64,
    /// Number of calls with unknown price.
    #[schemars(example = 1)]
    pub uncertain_calls: i64,
    /// Start of the next month.
    pub resets_at: Instant,
}

/// Spending of a day at all providers, in millionths of a US dollar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TodaySpend {
    /// Daily budget; `null` means unlimited.
    #[schemars(example = 2_000_000)]
    pub budget_micros_usd: Option<i64>,
    /// Known charges, and estimates of calls whose price is unknown.
    #[schemars(example = 350_000)]
    pub spent_micros_usd: i64,
    /// Start of the next day.
    pub resets_at: Instant,
}

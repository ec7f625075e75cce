//! Visibility of the brand in the answers of AI assistants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer,
    answers::{Engine, SourceClass, Surface},
    declare::operation,
    ids::ItemId,
    prompts::PromptClass,
    words::words,
};

words! {
    /// Period of an overview, up to today.
    Period {
        /// 7 days.
        SevenDays = "7d",
        /// 14 days.
        FourteenDays = "14d",
        /// 28 days.
        TwentyEightDays = "28d",
        /// 30 days.
        ThirtyDays = "30d",
        /// 90 days.
        NinetyDays = "90d",
        /// 12 months.
        TwelveMonths = "12m",
    }
}
words! {
    /// Certainty of a figure, by the half-width of its interval in points of 100.
    Grade {
        /// At most 5.
        Good = "good",
        /// At most 10.
        Fair = "fair",
        /// At most 20.
        Weak = "weak",
        /// More than 20, or no interval.
        Thin = "thin",
    }
}
words! {
    /// Method of an interval.
    IntervalMethod {
        /// Wilson, with the number of independent answers: repeats of one prompt and engine count less.
        WilsonClustered = "wilson_clustered",
        /// Bootstrap over prompts.
        ClusterBootstrap = "cluster_bootstrap",
        /// None is known.
        None = "none",
    }
}
words! {
    /// Verdict on a change against the previous period.
    Verdict {
        /// Higher: the interval of the difference lies above 0.
        Up = "up",
        /// Lower: the interval of the difference lies below 0.
        Down = "down",
        /// The difference may be chance.
        WithinNoise = "within_noise",
        /// Too few answers in one of the periods: an effective number below 20.
        InsufficientData = "insufficient_data",
        /// An engine answered with another model, so that the periods cannot be compared.
        ModelChanged = "model_changed",
    }
}
words! {
    /// Standing of the own brand beside competitors in the answers to a prompt.
    GapLabel {
        /// Only competitors are mentioned.
        CompetitorOnly = "competitor_only",
        /// The own pages are cited, but the brand is not mentioned.
        CitedNotMentioned = "cited_not_mentioned",
        /// The brand is mentioned, but its pages are not cited.
        MentionedNotCited = "mentioned_not_cited",
        /// Nobody who is tracked is mentioned.
        Absent = "absent",
        /// The brand is mentioned and cited.
        Strong = "strong",
    }
}

operation! {
    /// Returns the visibility of the brand over a period: figures with their intervals, the daily trend, competitors, cited
    /// sources, prompts, and what is still to be set up.
    ///
    /// `null` means not measured; it is never zero. Headline figures count prompts that name no tracked brand, unless `class`
    /// says otherwise. Days are those of the project's time zone.
    GetOverview {
        project;
        /// Period up to today; default `28d`. Not beside `from` and `to`.
        period: Option<Period>,
        /// First day, with `to`; at most 400 days.
        #[schemars(length(min = 10, max = 10), example = &"2026-11-01")]
        from: Option<String>,
        /// Last day, inclusive, with `from`.
        #[schemars(length(min = 10, max = 10), example = &"2026-11-28")]
        to: Option<String>,
        /// Only this engine.
        engine: Option<Engine>,
        /// Only answers that were obtained this way.
        surface: Option<Surface>,
        /// Class of the prompts; default `non_branded`.
        class: Option<PromptClass>,
        /// Only prompts with this tag.
        #[schemars(length(min = 1, max = 50))]
        tag: Option<String>,
        /// Only prompts asked from this country (ISO 3166-1 alpha-2).
        #[schemars(length(min = 2, max = 2))]
        country: Option<String>,
    }
}

/// A rate with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rate {
    /// The rate; `null` if nothing was measured.
    pub value: Option<f64>,
    /// Answers that count, or the sum of their values.
    pub numerator: f64,
    /// Answers in all.
    pub denominator: f64,
    /// Lower bound of the interval of 95 %; `null` if there is none.
    pub ci_low: Option<f64>,
    /// Upper bound.
    pub ci_high: Option<f64>,
    /// Number of independent answers that would be as certain.
    pub n_eff: Option<f64>,
    /// Method of the interval.
    pub method: IntervalMethod,
}

/// A figure of an overview.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Kpi {
    /// Value with its counts and its interval.
    #[serde(flatten)]
    pub rate: Rate,
    /// Name and version of the formula: figures of other tools with the same name may be computed otherwise.
    #[schemars(example = &"tracked-mentions-v1")]
    pub formula: String,
    /// Certainty.
    pub grade: Grade,
    /// Change against the previous period.
    pub change: KpiChange,
}

/// Change of a figure against the previous period of the same length, over the prompts and engines that both have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KpiChange {
    /// Difference; `null` if one of the values is unknown.
    pub value: Option<f64>,
    /// Lower bound of its interval of 95 %.
    pub ci_low: Option<f64>,
    /// Upper bound.
    pub ci_high: Option<f64>,
    /// Verdict.
    pub verdict: Verdict,
}

/// Visibility of the brand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The period, and the one it is compared with.
    pub period: OverviewPeriod,
    /// Figures.
    pub kpis: Kpis,
    /// Figures of the prompts that name the brand: recognition, not visibility. `null` without an answer to one.
    pub branded: Option<Kpis>,
    /// One row per day; days without an answer are `null`.
    pub trend: Vec<TrendDay>,
    /// The own brand and its competitors, most mentioned first.
    pub competitors: Vec<TrackedBrand>,
    /// Cited websites, most cited first, at most 200.
    pub cited_sources: Vec<CitedSource>,
    /// Stability of the cited websites from day to day, 0 to 100; `null` with fewer than two days.
    pub source_stability: Option<f64>,
    /// Prompts.
    pub prompt_summary: PromptSummary,
    /// Steps of the setup.
    pub setup_progress: SetupProgress,
}

impl Answer for Overview {}

/// Days of an overview, in the time zone of the project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverviewPeriod {
    /// First day.
    pub from: String,
    /// Last day.
    pub to: String,
    /// Time zone.
    pub timezone: String,
    /// First day of the previous period.
    pub previous_from: String,
    /// Last day of the previous period.
    pub previous_to: String,
}

/// Figures of an overview. Rates are shares, 0 to 1; scores are 0 to 100.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Kpis {
    /// Mean over engines of the mean over prompts of the share of answers that mention the brand, times 100.
    pub visibility_score: Kpi,
    /// Share of answers that mention the brand.
    pub mention_rate: Kpi,
    /// Share of answers that cite a page of the brand, of those whose citations can be seen.
    pub citation_rate: Kpi,
    /// Citations of own pages, of all citations.
    pub citation_share: Kpi,
    /// Citations of own pages, of those of own and competitors' pages.
    pub citation_share_of_voice: Kpi,
    /// Cited own pages per answer that cites any.
    pub avg_citations: Kpi,
    /// Answers that mention the brand, of all mentions of tracked brands. `null` without competitors.
    pub share_of_voice: Kpi,
    /// Mean position of the brand among tracked brands, 1 = first, over answers that mention it.
    pub avg_position: Kpi,
    /// Share of mentions in which the brand comes first.
    pub top_rate: Kpi,
    /// Mean sentiment over answers that mention the brand, 50 = neutral.
    pub sentiment_score: Kpi,
    /// Positive ones among the mentions whose sentiment is not neutral.
    pub positive_share: Kpi,
    /// Share of searches that showed an AI overview.
    pub trigger_rate: Kpi,
    /// Number of answers that count.
    pub answers: u64,
}

/// Figures of a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrendDay {
    /// The day.
    #[schemars(example = &"2026-11-28")]
    pub date: String,
    /// Answers that count.
    pub answers: u64,
    /// Share of answers that mention the brand; `null` without an answer.
    pub mention_rate: Option<f64>,
    /// Share of answers that cite a page of the brand; `null` without an answer whose citations can be seen.
    pub citation_rate: Option<f64>,
    /// Mention rate of this and the six days before; `null` without an answer in them.
    pub pooled_mention_rate: Option<Rate>,
    /// Citation rate of those days.
    pub pooled_citation_rate: Option<Rate>,
    /// Citations in the answers of the day, by the owner of the cited page.
    pub citations: DayCitations,
    /// Whether other prompts are asked than the day before.
    pub basket_changed: bool,
}

/// Citations of a day by the owner of the cited page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DayCitations {
    /// Pages of the own brand.
    pub owned: u64,
    /// Pages of competitors.
    pub competitor: u64,
    /// Pages of others.
    pub third_party: u64,
}

/// A tracked brand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackedBrand {
    /// Name.
    pub name: String,
    /// Id of the competitor; `null` for the own brand.
    pub competitor_id: Option<ItemId>,
    /// Domain.
    pub domain: Option<String>,
    /// Whether it is the own brand.
    pub is_own: bool,
    /// Share of answers that mention it.
    pub mention_rate: Rate,
    /// Its share of all mentions of tracked brands.
    pub share_of_voice: Option<f64>,
    /// Mean position.
    pub avg_position: Option<f64>,
    /// Mean sentiment, 50 = neutral.
    pub sentiment_score: Option<f64>,
    /// Citations of its pages, of all citations.
    pub citation_share: Option<f64>,
}

/// A cited website.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CitedSource {
    /// Registrable domain.
    pub domain: String,
    /// Owner.
    pub class: SourceClass,
    /// Kind of website; `null` for own and competitors' ones.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Answers that cite it.
    pub answers: u64,
    /// Citations.
    pub citations: u64,
    /// Its share of all citations.
    pub share: f64,
    /// Engines that cite it.
    pub engines: Vec<Engine>,
    /// Its most cited URLs, at most 5.
    pub top_urls: Vec<String>,
    /// Answers that cite it and mention the own brand.
    pub mentions_own: u64,
    /// Answers that cite it and mention a competitor.
    pub mentions_competitors: u64,
}

/// Prompts of a project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptSummary {
    /// Active prompts.
    pub active: u64,
    /// Archived prompts.
    pub archived: u64,
    /// Prompts of the period with a mention of the brand.
    pub with_mention: u64,
    /// Prompts of the period without one.
    pub never_mentioned: u64,
    /// Prompts of the period by standing.
    pub gaps: Vec<GapCount>,
}

/// Number of prompts of a standing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GapCount {
    /// Standing.
    pub label: GapLabel,
    /// Prompts.
    pub prompts: u64,
}

/// Steps until the figures mean something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetupProgress {
    /// Required steps that are done, in percent.
    pub percent: u8,
    /// The steps.
    pub steps: Vec<SetupStep>,
}

/// A step of the setup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetupStep {
    /// Name of the step.
    #[schemars(example = &"prompts")]
    pub key: String,
    /// Whether the figures need it.
    pub required: bool,
    /// Whether it is done.
    pub done: bool,
    /// Next action.
    pub hint: String,
}

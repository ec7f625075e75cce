//! Overview of a period: key figures with their intervals and changes, trend, competitors, sources and prompts.
//!
//! Every figure names its formula, because tools that use the same word compute different things. Figures that were not
//! measured are `null`, never 0. Changes are computed over the prompts and series that both periods have.

mod figures;
mod samples;
mod tables;

use serde::{Deserialize, Serialize};

use self::samples::Samples;
pub use self::{
    figures::{Figure, Figures},
    tables::{CitedSource, CompetitorRow, PromptGap, PromptSummary, TrendRow},
};
use crate::{cells::Cell, prompts::PromptClass, statistics::Bootstrap};

/// Maximum number of days of a period.
pub const MAX_PERIOD_DAYS: i32 = 400;
/// Maximum number of sources that are listed.
pub const MAX_SOURCES: usize = 200;

/// Days from a first to a last one, as numbers since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayRange {
    /// First day.
    pub from: i32,
    /// Last day.
    pub to: i32,
}

impl DayRange {
    /// Returns the period of equal length that ends the day before.
    #[must_use]
    pub fn previous(self) -> Self {
        Self {
            from: self.from - (self.to - self.from + 1),
            to: self.from - 1,
        }
    }

    /// Whether it holds a day.
    pub fn contains(self, day: i32) -> bool {
        (self.from..=self.to).contains(&day)
    }
}

/// A prompt, as far as figures depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptInfo {
    /// Id.
    pub id: String,
    /// Class.
    pub class: PromptClass,
    /// Whether it is asked no more.
    pub archived: bool,
    /// Day from which it is asked.
    pub first_day: i32,
    /// Day from which it is asked no more.
    pub archived_day: Option<i32>,
}

/// A series of answers that may be compared with each other: of one engine, surface, retrieval, model family, tool
/// version and effort.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesInfo {
    /// Engine with its surface, as `chatgpt/api`: figures weigh each of them equally.
    pub engine: String,
    /// Weight of the engine; 1 unless it is set.
    pub weight: f64,
}

/// A brand, as far as figures depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrandInfo {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// Domain.
    pub domain: Option<String>,
    /// Whether it is the brand of the project.
    pub is_own: bool,
}

/// A cell with its day, prompt and series.
///
/// Cells of the same key may come in parts, because all figures are sums: the tallies of each day, prompt and series,
/// and beside them rows with nothing but brands per prompt and series, and with nothing but domains per day and series,
/// under any day of the period and any prompt of the class. Of many answers that is a hundredth of the rows with maps.
#[derive(Clone, Debug)]
pub struct RollupRow {
    /// Day since the Unix epoch.
    pub day: i32,
    /// Place in the prompts.
    pub prompt: u32,
    /// Place in the series.
    pub series: u32,
    /// Counts.
    pub cell: Cell,
}

/// Data of an overview.
#[derive(Clone, Copy, Debug)]
pub struct OverviewInput<'a> {
    /// Id of the project, as bytes; it seeds the bootstrap.
    pub project: &'a [u8],
    /// Period.
    pub period: DayRange,
    /// Period to compare with.
    pub previous: DayRange,
    /// Cells of both periods, in any order.
    pub rows: &'a [RollupRow],
    /// Prompts.
    pub prompts: &'a [PromptInfo],
    /// Series.
    pub series: &'a [SeriesInfo],
    /// Brands.
    pub brands: &'a [BrandInfo],
    /// Class of the prompts that count; `None` for all of them together.
    pub class: Option<PromptClass>,
}

/// Overview of a period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// Key figures.
    pub kpis: Figures,
    /// Key figures of branded prompts: recognition, not visibility.
    pub branded: Option<Figures>,
    /// One row per day.
    pub trend: Vec<TrendRow>,
    /// Brands in the order of their mentions.
    pub competitors: Vec<CompetitorRow>,
    /// Domains in the order of the answers that cite them, at most [`MAX_SOURCES`].
    pub cited_sources: Vec<CitedSource>,
    /// Stability of the sources from day to day, 0 to 100.
    pub source_stability: Option<f64>,
    /// Prompts.
    pub prompt_summary: PromptSummary,
}

/// Computes the overview of a period.
pub fn compute(input: &OverviewInput<'_>) -> Overview {
    let bootstrap = Bootstrap::new(input.project, input.period.from, input.period.to);
    let samples = Samples::new(input, input.class);
    let branded = (input.class != Some(PromptClass::Branded))
        .then(|| Samples::new(input, Some(PromptClass::Branded)))
        .filter(|samples| samples.total.answers > 0);
    let sources = tables::sources(input, &samples);
    Overview {
        kpis: figures::compute(input, &samples, &bootstrap),
        branded: branded.map(|samples| figures::compute(input, &samples, &bootstrap)),
        trend: tables::trend(input, &samples),
        competitors: tables::competitors(input, &samples),
        cited_sources: sources.sources,
        source_stability: sources.stability,
        prompt_summary: tables::prompt_summary(input, &samples),
    }
}

#[cfg(test)]
mod tests;

//! Overview of a period: key figures with their intervals and changes, trend, competitors, sources and prompts.
//!
//! Every figure names its formula, because tools that use the same word compute different things. Figures that were not
//! measured are `null`, never 0. Changes are computed over the prompts and series that both periods have.

mod figures;
mod samples;
mod sources;
mod tables;

use serde::{Deserialize, Serialize};

pub use self::{
    figures::{Figure, Figures},
    sources::{CitedSource, DayCitations},
    tables::{CompetitorRow, PromptGap, PromptSummary, TrendRow},
};
use self::{samples::Samples, sources::Sources};
use crate::{
    cells::{BlockBytes, DamagedCells},
    prompts::PromptClass,
    statistics::Bootstrap,
};

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
    /// Id.
    pub id: i64,
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

/// Stored cells of a prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptCells<'a> {
    /// Place in the prompts.
    pub prompt: u32,
    /// The cells; brands and sources are needed of days of the period only.
    pub cells: BlockBytes<'a>,
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
    /// Cells of both periods, in any order. Other days, and series that are not listed, do not count.
    pub cells: &'a [PromptCells<'a>],
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

/// Sums of cells.
struct Sums<'a> {
    samples: Samples,
    branded: Samples,
    sources: Sources<'a>,
}

impl<'a> Sums<'a> {
    fn new(input: &OverviewInput<'a>, cells: &[&PromptCells<'a>]) -> Result<Self, DamagedCells> {
        let mut sums = Self {
            samples: Samples::new(input),
            branded: Samples::new(input),
            sources: Sources::new(input.period),
        };
        for prompt in cells {
            let Some(class) = input.prompts.get(prompt.prompt as usize).map(|info| info.class) else {
                continue;
            };
            if input.class.is_none_or(|wanted| wanted == class) {
                sums.samples.add(input, prompt, Some(&mut sums.sources))?;
            }
            if class == PromptClass::Branded && input.class != Some(PromptClass::Branded) {
                sums.branded.add(input, prompt, None)?;
            }
        }
        Ok(sums)
    }

    /// Reads the cells on two processors. Sums are of whole numbers, so that parts give the same as the whole.
    fn in_parts(input: &OverviewInput<'a>) -> Result<Self, DamagedCells> {
        // by prompts, because brands and sources, most of the work, are read of the newer days only
        let (first, second): (Vec<_>, Vec<_>) = input
            .cells
            .iter()
            .partition(|prompt| prompt.prompt.is_multiple_of(2));
        let (first, second) = std::thread::scope(|scope| {
            let beside = scope.spawn(|| Self::new(input, &second));
            let first = Self::new(input, &first);
            let second = beside
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (first, second)
        });
        let (mut sums, second) = (first?, second?);
        sums.samples.merge(second.samples);
        sums.branded.merge(second.branded);
        sums.sources.merge(second.sources);
        sums.samples.sort();
        sums.branded.sort();
        Ok(sums)
    }
}

/// Computes the overview of a period.
pub fn compute(input: &OverviewInput<'_>) -> Result<Overview, DamagedCells> {
    let bootstrap = Bootstrap::new(input.project, input.period.from, input.period.to);
    let Sums {
        samples,
        branded,
        sources,
    } = Sums::in_parts(input)?;
    let has_branded = branded.total.answers > 0;
    let samples = &samples;
    let tables = || {
        let sources = sources.table(input, samples.total.citations);
        let trend = tables::trend(input, samples, &sources.days);
        (sources, trend)
    };
    let (kpis, branded, (sources, trend)) = std::thread::scope(|scope| {
        let beside = scope.spawn(tables);
        let kpis = figures::compute(input, samples, &bootstrap);
        let branded = has_branded.then(|| figures::compute(input, &branded, &bootstrap));
        let tables = beside
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (kpis, branded, tables)
    });
    Ok(Overview {
        kpis,
        branded,
        trend,
        competitors: tables::competitors(input, samples),
        cited_sources: sources.sources,
        source_stability: sources.stability,
        prompt_summary: tables::prompt_summary(input, samples),
    })
}

#[cfg(test)]
mod tests;

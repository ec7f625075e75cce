//! The overview of a period, from stored cells. What it needs is read first and computed afterwards, without a transaction.

use std::collections::HashMap;

use searchwright_contract::{
    Instant,
    answers::Engine,
    ids::PromptId,
    prompts::{PromptClass, PromptStatus, PromptWindow},
    visibility::{
        CitedSource, DayCitations, GapCount, GapLabel, GetOverview, Grade, IntervalMethod, Kpi, KpiChange,
        Kpis, Overview, OverviewPeriod, PromptSummary, Rate, TrackedBrand, TrendDay, Verdict,
    },
    wire_name,
};
use searchwright_failure::Result;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answer_cells::{self, CellPlace, StoredCells},
    answers::{self, Series},
    projects, prompts,
    prompts::PromptOutline,
};
use searchwright_visibility::{
    cells::{Tally, block_of, blocks_of},
    overview::{self as figures, DayRange, OverviewInput, PromptCells, PromptInfo, SeriesInfo},
    prompts as rules,
    statistics::{self, Cluster},
};

use crate::{
    ProjectDays, TrackedBrands,
    analysis::source_class,
    days::format_day,
    period::{PeriodRequest, wanted_period},
    setup::SetupFacts,
    stored_cells,
};

/// Days of the window of a prompt.
const WINDOW_DAYS: i32 = 28;

/// Rows of the database from which an overview is computed.
#[derive(Debug)]
pub struct OverviewData {
    request: GetOverview,
    scope: ProjectScope,
    days: ProjectDays,
    period: DayRange,
    brands: TrackedBrands,
    prompts: Vec<PromptOutline>,
    series: Vec<Series>,
    cells: Vec<StoredCells>,
    setup: SetupFacts,
}

impl OverviewData {
    /// Reads them.
    pub async fn load(tx: &mut Tx, scope: ProjectScope, request: GetOverview, now: Instant) -> Result<Self> {
        let project = projects::get(tx, scope).await?;
        let days = ProjectDays::new(&project.timezone)?;
        let wanted = PeriodRequest {
            period: request.period,
            from: request.from.as_deref(),
            to: request.to.as_deref(),
        };
        let period = wanted_period(wanted, days.day(now))?;
        let blocks = blocks_of(&(period.previous().from..=period.to));
        let brands = TrackedBrands::load(tx, scope, &project).await?;
        Ok(Self {
            scope,
            days,
            period,
            brands,
            prompts: prompts::list_outlines(tx, scope).await?,
            series: answers::list_series(tx, scope).await?,
            cells: answer_cells::list_sums(tx, scope, blocks, block_of(period.from)).await?,
            setup: SetupFacts::load(tx, scope).await?,
            request,
        })
    }

    /// Computes the overview. Takes time: not within a transaction.
    pub fn compute(self) -> Result<Overview> {
        let (period, previous) = (self.period, self.period.previous());
        let outlines = self.prompts.iter();
        let prompts: Vec<PromptInfo> = outlines.map(|prompt| prompt_info(prompt, &self.days)).collect();
        let wanted = self.series.iter().filter(|series| self.wants_series(series));
        let series: Vec<SeriesInfo> = wanted.map(series_info).collect();
        let computed = figures::compute(&OverviewInput {
            project: self.scope.project().as_bytes(),
            period,
            previous,
            cells: &self.wanted_cells(),
            prompts: &prompts,
            series: &series,
            brands: &self.brands.all,
            class: Some(rule_class(self.request.class.unwrap_or(PromptClass::NonBranded))),
        });
        let computed = computed.map_err(stored_cells::damaged)?;
        let setup_progress = self.setup.progress(&self.brands, &self.prompts, &computed);
        let brands = &self.brands;
        Ok(Overview {
            period: OverviewPeriod {
                from: format_day(period.from),
                to: format_day(period.to),
                previous_from: format_day(previous.from),
                previous_to: format_day(previous.to),
                timezone: self.days.name,
            },
            kpis: kpis(&computed.kpis),
            branded: computed.branded.as_ref().map(kpis),
            trend: computed.trend.into_iter().map(trend_day).collect(),
            competitors: computed
                .competitors
                .into_iter()
                .map(|row| tracked_brand(brands, row))
                .collect(),
            cited_sources: computed.cited_sources.into_iter().map(cited_source).collect(),
            source_stability: computed.source_stability,
            prompt_summary: prompt_summary(&computed.prompt_summary),
            setup_progress,
        })
    }

    /// Returns the cells of the prompts that the request asks for.
    fn wanted_cells(&self) -> Vec<PromptCells<'_>> {
        let places: HashMap<PromptId, u32> = (0u32..)
            .zip(&self.prompts)
            .filter(|(_, prompt)| self.wants_prompt(prompt))
            .map(|(place, prompt)| (prompt.id, place))
            .collect();
        let found = self.cells.iter().filter_map(|stored| {
            Some(PromptCells {
                prompt: *places.get(&stored.prompt)?,
                cells: stored_cells::bytes(stored),
            })
        });
        found.collect()
    }

    fn wants_prompt(&self, prompt: &PromptOutline) -> bool {
        let tag = self.request.tag.as_ref();
        let country = self.request.country.as_ref();
        tag.is_none_or(|tag| prompt.tags.contains(tag))
            && country.is_none_or(|country| prompt.country.eq_ignore_ascii_case(country))
    }

    fn wants_series(&self, series: &Series) -> bool {
        let GetOverview { engine, surface, .. } = &self.request;
        engine.is_none_or(|engine| series.engine == engine)
            && surface.is_none_or(|surface| series.surface == surface)
    }
}

fn prompt_info(prompt: &PromptOutline, days: &ProjectDays) -> PromptInfo {
    PromptInfo {
        id: prompt.id.to_string(),
        class: rule_class(prompt.class),
        archived: prompt.status == PromptStatus::Archived,
        first_day: days.day(prompt.created_at),
        archived_day: prompt.archived_at.map(|at| days.day(at)),
    }
}

fn series_info(series: &Series) -> SeriesInfo {
    SeriesInfo {
        id: series.id,
        engine: format!("{}/{}", series.engine, series.surface),
        weight: 1.0,
    }
}

pub(crate) fn rule_class(class: PromptClass) -> rules::PromptClass {
    match class {
        PromptClass::Branded => rules::PromptClass::Branded,
        PromptClass::CompetitorBranded => rules::PromptClass::CompetitorBranded,
        PromptClass::NonBranded => rules::PromptClass::NonBranded,
    }
}

/// Returns the class of a prompt as the contract has it.
pub fn contract_class(class: rules::PromptClass) -> PromptClass {
    match class {
        rules::PromptClass::Branded => PromptClass::Branded,
        rules::PromptClass::CompetitorBranded => PromptClass::CompetitorBranded,
        rules::PromptClass::NonBranded => PromptClass::NonBranded,
    }
}

fn gap_label(label: rules::GapLabel) -> GapLabel {
    match label {
        rules::GapLabel::CompetitorOnly => GapLabel::CompetitorOnly,
        rules::GapLabel::CitedNotMentioned => GapLabel::CitedNotMentioned,
        rules::GapLabel::MentionedNotCited => GapLabel::MentionedNotCited,
        rules::GapLabel::Absent => GapLabel::Absent,
        rules::GapLabel::Strong => GapLabel::Strong,
    }
}

/// Returns a rate as the contract has it.
pub(crate) fn contract_rate(rate: &statistics::Rate) -> Rate {
    Rate {
        value: rate.value,
        numerator: rate.numerator,
        denominator: rate.denominator,
        ci_low: rate.ci_low,
        ci_high: rate.ci_high,
        n_eff: rate.n_eff,
        method: match rate.method {
            statistics::IntervalMethod::WilsonClustered => IntervalMethod::WilsonClustered,
            statistics::IntervalMethod::ClusterBootstrap => IntervalMethod::ClusterBootstrap,
            statistics::IntervalMethod::None => IntervalMethod::None,
        },
    }
}

fn kpi(figure: &figures::Figure) -> Kpi {
    Kpi {
        rate: contract_rate(&figure.rate),
        formula: figure.formula.clone(),
        grade: match figure.grade {
            statistics::Grade::Good => Grade::Good,
            statistics::Grade::Fair => Grade::Fair,
            statistics::Grade::Weak => Grade::Weak,
            statistics::Grade::Thin => Grade::Thin,
        },
        change: KpiChange {
            value: figure.change.value,
            ci_low: figure.change.ci_low,
            ci_high: figure.change.ci_high,
            verdict: match figure.change.verdict {
                statistics::Verdict::Up => Verdict::Up,
                statistics::Verdict::Down => Verdict::Down,
                statistics::Verdict::WithinNoise => Verdict::WithinNoise,
                statistics::Verdict::InsufficientData => Verdict::InsufficientData,
                statistics::Verdict::ModelChanged => Verdict::ModelChanged,
            },
        },
    }
}

fn kpis(all: &figures::Figures) -> Kpis {
    Kpis {
        visibility_score: kpi(&all.visibility_score),
        mention_rate: kpi(&all.mention_rate),
        citation_rate: kpi(&all.citation_rate),
        citation_share: kpi(&all.citation_share),
        citation_share_of_voice: kpi(&all.citation_share_of_voice),
        avg_citations: kpi(&all.avg_citations),
        share_of_voice: kpi(&all.share_of_voice),
        avg_position: kpi(&all.avg_position),
        top_rate: kpi(&all.top_rate),
        sentiment_score: kpi(&all.sentiment_score),
        positive_share: kpi(&all.positive_share),
        trigger_rate: kpi(&all.trigger_rate),
        answers: all.answers,
    }
}

fn trend_day(row: figures::TrendRow) -> TrendDay {
    TrendDay {
        date: row.date,
        answers: row.answers,
        mention_rate: row.mention_rate,
        citation_rate: row.citation_rate,
        pooled_mention_rate: row.pooled_mention_rate.as_ref().map(contract_rate),
        pooled_citation_rate: row.pooled_citation_rate.as_ref().map(contract_rate),
        citations: DayCitations {
            owned: row.citations.owned,
            competitor: row.citations.competitor,
            third_party: row.citations.third_party,
        },
        basket_changed: row.basket_changed,
    }
}

fn tracked_brand(brands: &TrackedBrands, row: figures::CompetitorRow) -> TrackedBrand {
    TrackedBrand {
        competitor_id: brands.competitor(&row.id),
        name: row.name,
        domain: row.domain,
        is_own: row.is_own,
        mention_rate: contract_rate(&row.mention_rate),
        share_of_voice: row.share_of_voice,
        avg_position: row.avg_position,
        sentiment_score: row.sentiment_score,
        citation_share: row.citation_share,
    }
}

fn cited_source(row: figures::CitedSource) -> CitedSource {
    let mut engines: Vec<Engine> = row
        .engines
        .iter()
        .filter_map(|engine| engine.split('/').next()?.parse().ok())
        .collect();
    engines.dedup();
    CitedSource {
        domain: row.domain,
        class: source_class(row.class),
        kind: row.source_type.map(|kind| wire_name(&kind)),
        answers: row.answers,
        citations: row.citations,
        share: row.share,
        engines,
        top_urls: row.top_urls,
        mentions_own: row.mentions_own,
        mentions_competitors: row.mentions_competitors,
    }
}

fn prompt_summary(summary: &figures::PromptSummary) -> PromptSummary {
    PromptSummary {
        active: summary.active,
        archived: summary.archived,
        with_mention: summary.with_mention,
        never_mentioned: summary.never_mentioned,
        gaps: summary
            .gaps
            .iter()
            .map(|(label, prompts)| GapCount {
                label: gap_label(*label),
                prompts: *prompts,
            })
            .collect(),
    }
}

/// Returns the figures of the last 28 days of some prompts.
pub async fn prompt_windows(
    tx: &mut Tx,
    scope: ProjectScope,
    today: i32,
    ids: &[PromptId],
) -> Result<HashMap<PromptId, PromptWindow>> {
    let days = today - WINDOW_DAYS + 1..=today;
    let blocks = || blocks_of(&days);
    let of_prompt = |prompt: &PromptId| {
        let prompt = *prompt;
        blocks().map(move |block| CellPlace { prompt, block })
    };
    let places = ids.iter().flat_map(of_prompt);
    let mut sums: HashMap<PromptId, HashMap<i64, Tally>> = HashMap::new();
    for stored in answer_cells::find_sums(tx, scope, places).await? {
        let tallies = stored_cells::bytes(&stored).tallies();
        let tallies = tallies.map_err(stored_cells::damaged)?;
        for cell in tallies.cells.iter().filter(|cell| days.contains(&cell.day)) {
            let series = sums.entry(stored.prompt).or_default();
            let sum = series.entry(tallies.series[cell.series]).or_default();
            sum.merge(&cell.tally);
        }
    }
    let windows = sums
        .into_iter()
        .filter_map(|(id, series)| Some((id, window(&series)?)));
    Ok(windows.collect())
}

fn window(series: &HashMap<i64, Tally>) -> Option<PromptWindow> {
    let mut total = Tally::default();
    series.values().for_each(|tally| total.merge(tally));
    if total.evaluated == 0 {
        return None;
    }
    let clusters = |counts: fn(&Tally) -> Cluster| {
        let clusters: Vec<Cluster> = series.values().map(counts).collect();
        contract_rate(&statistics::Rate::from_clusters(&clusters))
    };
    Some(PromptWindow {
        mention_rate: clusters(|tally| Cluster {
            hits: tally.mentioned,
            answers: tally.evaluated,
        }),
        citation_rate: clusters(|tally| Cluster {
            hits: tally.cited,
            answers: tally.citation_observable,
        }),
        gap: gap_label(rules::GapLabel::from_presence(rules::Presence {
            mentioned: total.mentioned > 0,
            cited: total.cited > 0,
            citations_observable: total.citation_observable > 0,
            competitors: total.competitor_mentioned > 0,
        })),
    })
}

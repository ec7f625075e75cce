//! The overview of a period, from stored cells.

use std::collections::HashMap;

use searchwright_contract::{
    Instant,
    answers::Engine,
    ids::PromptId,
    prompts::{PromptClass, PromptStatus, PromptWindow},
    visibility::{
        CitedSource, GapCount, GapLabel, GetOverview, Grade, IntervalMethod, Kpi, KpiChange, Kpis, Overview,
        OverviewPeriod, Period, PromptSummary, Rate, TrackedBrand, TrendDay, Verdict,
    },
    wire_name,
};
use searchwright_failure::{Result, fault};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answers::{self, CellCounts, Series},
    projects, prompts,
    prompts::PromptOutline,
};
use searchwright_visibility::{
    cells::Tally,
    overview::{self as figures, DayRange, OverviewInput, PromptInfo, RollupRow, SeriesInfo},
    prompts as rules,
    statistics::{self, Cluster},
};

use crate::{
    ProjectDays, TrackedBrands, analysis::source_class, days::format_day, parse_day, recording::read_cell,
    setup::setup_progress,
};

/// Days of the window of a prompt.
const WINDOW_DAYS: i32 = 28;

/// Returns the period of a request.
fn period(operation: &GetOverview, today: i32) -> Result<DayRange> {
    let (from, to) = match (&operation.from, &operation.to, operation.period) {
        (None, None, period) => {
            let days = match period.unwrap_or(Period::TwentyEightDays) {
                Period::SevenDays => 7,
                Period::FourteenDays => 14,
                Period::TwentyEightDays => 28,
                Period::ThirtyDays => 30,
                Period::NinetyDays => 90,
                Period::TwelveMonths => 365,
            };
            (today - days + 1, today)
        }
        (Some(from), Some(to), None) => (parse_day("from", from)?, parse_day("to", to)?),
        (Some(_), Some(_), Some(_)) => {
            let why = "stands beside from and to; give either";
            return Err(fault("/period", "conflict", why));
        }
        (None, _, _) => return Err(fault("/from", "required", "is needed beside to")),
        (_, None, _) => return Err(fault("/to", "required", "is needed beside from")),
    };
    if to < from {
        return Err(fault("/to", "out_of_range", "is before from"));
    }
    if to - from >= figures::MAX_PERIOD_DAYS {
        let why = format!("is more than {} days after from", figures::MAX_PERIOD_DAYS);
        return Err(fault("/to", "out_of_range", why));
    }
    Ok(DayRange { from, to })
}

/// Rows of the database from which figures are computed.
struct Stored {
    prompts: Vec<PromptOutline>,
    series: Vec<Series>,
    cells: Vec<CellCounts>,
}

/// Computes the overview.
pub async fn overview(
    tx: &mut Tx,
    scope: ProjectScope,
    operation: &GetOverview,
    now: Instant,
) -> Result<Overview> {
    let project = projects::get(tx, scope).await?;
    let days = ProjectDays::new(&project.timezone)?;
    let period = period(operation, days.day(now))?;
    let previous = period.previous();
    let brands = TrackedBrands::load(tx, scope, &project).await?;
    let all = PromptId::MIN..=PromptId::MAX;
    let stored = Stored {
        prompts: prompts::list_outlines(tx, scope).await?,
        series: answers::list_series(tx, scope).await?,
        cells: answers::list_cells(tx, scope, previous.from..=period.to, all).await?,
    };
    let prompts: Vec<PromptInfo> = stored
        .prompts
        .iter()
        .map(|prompt| prompt_info(prompt, &days))
        .collect();
    let series: Vec<SeriesInfo> = stored.series.iter().map(series_info).collect();
    let rows = rows(&stored, operation)?;
    let computed = figures::compute(&OverviewInput {
        project: scope.project().as_bytes(),
        period,
        previous,
        rows: &rows,
        prompts: &prompts,
        series: &series,
        brands: &brands.all,
        class: Some(rule_class(operation.class.unwrap_or(PromptClass::NonBranded))),
    });
    let setup_progress = setup_progress(tx, scope, &brands, &stored.prompts, &computed).await?;
    Ok(Overview {
        period: OverviewPeriod {
            from: format_day(period.from),
            to: format_day(period.to),
            timezone: days.name,
            previous_from: format_day(previous.from),
            previous_to: format_day(previous.to),
        },
        kpis: kpis(&computed.kpis),
        branded: computed.branded.as_ref().map(kpis),
        trend: computed.trend.into_iter().map(trend_day).collect(),
        competitors: computed
            .competitors
            .into_iter()
            .map(|row| tracked_brand(&brands, row))
            .collect(),
        cited_sources: computed.cited_sources.into_iter().map(cited_source).collect(),
        source_stability: computed.source_stability,
        prompt_summary: prompt_summary(&computed.prompt_summary),
        setup_progress,
    })
}

/// Returns the cells that the request asks for.
fn rows(stored: &Stored, operation: &GetOverview) -> Result<Vec<RollupRow>> {
    let wants_prompt = |prompt: &PromptOutline| {
        let tag = operation.tag.as_ref();
        let country = operation.country.as_ref();
        tag.is_none_or(|tag| prompt.tags.contains(tag))
            && country.is_none_or(|country| prompt.country.eq_ignore_ascii_case(country))
    };
    let wants_series = |series: &Series| {
        operation.engine.is_none_or(|engine| series.engine == engine)
            && operation.surface.is_none_or(|surface| series.surface == surface)
    };
    let prompts: HashMap<PromptId, u32> = (0u32..)
        .zip(&stored.prompts)
        .filter(|(_, prompt)| wants_prompt(prompt))
        .map(|(place, prompt)| (prompt.id, place))
        .collect();
    let series: HashMap<i64, u32> = (0u32..)
        .zip(&stored.series)
        .filter(|(_, series)| wants_series(series))
        .map(|(place, series)| (series.id, place))
        .collect();
    let mut rows = Vec::with_capacity(stored.cells.len());
    for cell in &stored.cells {
        let (Some(prompt), Some(series)) = (prompts.get(&cell.prompt), series.get(&cell.series)) else {
            continue;
        };
        rows.push(RollupRow {
            day: cell.day,
            prompt: *prompt,
            series: *series,
            cell: read_cell(&cell.counts)?,
        });
    }
    Ok(rows)
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

pub(crate) fn rate(rate: &statistics::Rate) -> Rate {
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
        rate: rate(&figure.rate),
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
        pooled_mention_rate: row.pooled_mention_rate.as_ref().map(rate),
        pooled_citation_rate: row.pooled_citation_rate.as_ref().map(rate),
        basket_changed: row.basket_changed,
    }
}

fn tracked_brand(brands: &TrackedBrands, row: figures::CompetitorRow) -> TrackedBrand {
    TrackedBrand {
        competitor_id: brands.competitor(&row.id),
        name: row.name,
        domain: row.domain,
        is_own: row.is_own,
        mention_rate: rate(&row.mention_rate),
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
    let (Some(first), Some(last)) = (ids.iter().min(), ids.iter().max()) else {
        return Ok(HashMap::new());
    };
    let days = today - WINDOW_DAYS + 1..=today;
    let mut sums: HashMap<PromptId, HashMap<i64, Tally>> = HashMap::new();
    for cell in answers::list_cells(tx, scope, days, *first..=*last).await? {
        if ids.contains(&cell.prompt) {
            let series = sums.entry(cell.prompt).or_default();
            series
                .entry(cell.series)
                .or_default()
                .merge(&read_cell(&cell.counts)?.tally);
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
        rate(&statistics::Rate::from_clusters(&clusters))
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

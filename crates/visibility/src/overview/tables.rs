//! Tables: trend, competitors, sources and prompts.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::{
    MAX_PERIOD_DAYS, MAX_SOURCES, OverviewInput,
    samples::{RateCounts, Samples, citations, mentions},
};
use crate::{
    cells::{BrandTally, SourceTally},
    days::iso_date,
    prompts::{GapLabel, Presence},
    sources::{SourceClass, SourceType},
    statistics::{Cluster, Rate, stability},
};

/// Number of days that are pooled.
const POOLED_DAYS: usize = 7;
/// Number of pages listed per source.
const MAX_TOP_URLS: usize = 5;

/// A day of the trend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrendRow {
    /// Day, as `YYYY-MM-DD`.
    pub date: String,
    /// Number of answers.
    pub answers: u64,
    /// Mention rate of the day; `null` without answers.
    pub mention_rate: Option<f64>,
    /// Citation rate of the day; `null` if no citations could be seen.
    pub citation_rate: Option<f64>,
    /// Mention rate of the day with its interval.
    pub mention_rate_detail: Option<Rate>,
    /// Mention rate of the seven days that end with this one; `null` without answers in them.
    pub pooled_mention_rate: Option<Rate>,
    /// Citation rate of those days.
    pub pooled_citation_rate: Option<Rate>,
    /// Whether other prompts are asked than the day before.
    pub basket_changed: bool,
}

/// A brand beside others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompetitorRow {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// Domain.
    pub domain: Option<String>,
    /// Whether it is the brand of the project.
    pub is_own: bool,
    /// Share of answers that mention it.
    pub mention_rate: Rate,
    /// Share of the mentions of tracked brands; `null` without competitors.
    pub share_of_voice: Option<f64>,
    /// Mean rank.
    pub avg_position: Option<f64>,
    /// Mean sentiment, 0 to 100.
    pub sentiment_score: Option<f64>,
    /// Share of all cited pages.
    pub citation_share: Option<f64>,
}

/// A domain that answers cite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CitedSource {
    /// Registrable domain.
    pub domain: String,
    /// Relation to the brands.
    pub class: SourceClass,
    /// Type, of a third party.
    #[serde(rename = "type")]
    pub source_type: Option<SourceType>,
    /// Number of answers that cite it.
    pub answers: u64,
    /// Number of cited pages.
    pub citations: u64,
    /// Share of all cited pages.
    pub share: f64,
    /// Engines that cite it.
    pub engines: Vec<String>,
    /// Most cited pages.
    pub top_urls: Vec<String>,
    /// Answers that cite it and mention the own brand.
    pub mentions_own: u64,
    /// Answers that cite it and mention a competitor.
    pub mentions_competitors: u64,
}

/// Gap of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptGap {
    /// Id of the prompt.
    pub prompt_id: String,
    /// Label.
    pub gap: GapLabel,
}

/// Prompts of a period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptSummary {
    /// Number of prompts that are asked.
    pub active: u64,
    /// Number of prompts that are asked no more.
    pub archived: u64,
    /// Number of prompts with an answer that mentions the brand.
    pub with_mention: u64,
    /// Number of prompts with answers, none of which mentions the brand.
    pub never_mentioned: u64,
    /// Number of prompts by label.
    pub gaps: BTreeMap<GapLabel, u64>,
    /// Labels of the prompts.
    pub prompts: Vec<PromptGap>,
}

/// Sums of the clusters in a window of days.
struct PooledDays {
    counts: RateCounts,
    sums: Vec<Cluster>,
}

impl PooledDays {
    fn rate(&self) -> Option<Rate> {
        let filled: Vec<Cluster> = self
            .sums
            .iter()
            .filter(|cluster| cluster.answers > 0)
            .copied()
            .collect();
        (!filled.is_empty()).then(|| Rate::from_clusters(&filled))
    }
}

/// Returns a row per day of the period.
pub(super) fn trend(input: &OverviewInput<'_>, samples: &Samples<'_>) -> Vec<TrendRow> {
    let days = (input.period.to - input.period.from + 1).clamp(0, MAX_PERIOD_DAYS) as usize;
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); days];
    for (place, row) in samples.rows.iter().enumerate() {
        if let Some(day) = rows.get_mut((row.row.day - input.period.from) as usize) {
            day.push(place);
        }
    }
    let window = |counts: RateCounts| PooledDays {
        counts,
        sums: vec![Cluster::default(); samples.clusters.len()],
    };
    let mut pooled = [window(mentions), window(citations)];
    let mut daily = [mentions, citations].map(|counts| DaySums::new(counts, samples));
    let mut trend = Vec::with_capacity(days);
    for day in 0..days {
        for window in &mut pooled {
            change_window(window, samples, &rows[day], true);
            if let Some(left) = day.checked_sub(POOLED_DAYS) {
                change_window(window, samples, &rows[left], false);
            }
        }
        let mention_rate = daily[0].rate(samples, &rows[day]);
        let date = input.period.from + day as i32;
        trend.push(TrendRow {
            date: iso_date(date),
            answers: rows[day]
                .iter()
                .map(|place| samples.rows[*place].row.cell.tally.answers)
                .sum(),
            mention_rate: mention_rate.and_then(|rate| rate.value),
            citation_rate: daily[1].rate(samples, &rows[day]).and_then(|rate| rate.value),
            mention_rate_detail: mention_rate,
            pooled_mention_rate: pooled[0].rate(),
            pooled_citation_rate: pooled[1].rate(),
            basket_changed: input
                .prompts
                .iter()
                .any(|prompt| prompt.first_day == date || prompt.archived_day == Some(date)),
        });
    }
    trend
}

fn change_window(window: &mut PooledDays, samples: &Samples<'_>, rows: &[usize], enters: bool) {
    for place in rows {
        let row = &samples.rows[*place];
        let counts = (window.counts)(&row.row.cell.tally);
        let sum = &mut window.sums[row.cluster];
        if enters {
            sum.hits += counts.hits;
            sum.answers += counts.answers;
        } else {
            sum.hits -= counts.hits;
            sum.answers -= counts.answers;
        }
    }
}

/// Sums of the clusters of one day, reused from day to day.
struct DaySums {
    counts: RateCounts,
    sums: Vec<Cluster>,
    touched: Vec<usize>,
}

impl DaySums {
    fn new(counts: RateCounts, samples: &Samples<'_>) -> Self {
        Self {
            counts,
            sums: vec![Cluster::default(); samples.clusters.len()],
            touched: Vec::new(),
        }
    }

    fn rate(&mut self, samples: &Samples<'_>, rows: &[usize]) -> Option<Rate> {
        for place in rows {
            let row = &samples.rows[*place];
            let found = (self.counts)(&row.row.cell.tally);
            let sum = &mut self.sums[row.cluster];
            if found.answers > 0 && sum.answers == 0 {
                self.touched.push(row.cluster);
            }
            sum.hits += found.hits;
            sum.answers += found.answers;
        }
        // sums of fractions depend on their order, which must not depend on that of the rows
        self.touched.sort_unstable();
        let clusters: Vec<Cluster> = self
            .touched
            .drain(..)
            .map(|at| std::mem::take(&mut self.sums[at]))
            .collect();
        (!clusters.is_empty()).then(|| Rate::from_clusters(&clusters))
    }
}

/// Returns the brands in the order of their mentions.
pub(super) fn competitors(input: &OverviewInput<'_>, samples: &Samples<'_>) -> Vec<CompetitorRow> {
    let places: HashMap<&str, usize> = input
        .brands
        .iter()
        .enumerate()
        .map(|(place, brand)| (brand.id.as_str(), place))
        .collect();
    let mut hits = vec![vec![0_u64; samples.clusters.len()]; input.brands.len()];
    let mut sums = vec![BrandTally::default(); input.brands.len()];
    for row in &samples.rows {
        for (id, tally) in &row.row.cell.brands {
            if let Some(place) = places.get(id.as_str()) {
                hits[*place][row.cluster] += tally.mentioned;
                sums[*place].merge(tally);
            }
        }
    }
    let all_mentions: u64 = sums.iter().map(|sum| sum.mentioned).sum();
    let has_competitors = input.brands.iter().any(|brand| !brand.is_own);
    let divide = |numerator: f64, denominator: u64| (denominator > 0).then(|| numerator / denominator as f64);
    let mut rows: Vec<CompetitorRow> = Vec::with_capacity(input.brands.len());
    for (place, brand) in input.brands.iter().enumerate() {
        let sum = &sums[place];
        let cluster = |at: usize| Cluster {
            hits: hits[place][at],
            answers: samples.clusters[at].now.evaluated,
        };
        let clusters: Vec<Cluster> = (0..samples.clusters.len()).map(cluster).collect();
        rows.push(CompetitorRow {
            id: brand.id.clone(),
            name: brand.name.clone(),
            domain: brand.domain.clone(),
            is_own: brand.is_own,
            mention_rate: Rate::from_clusters(&clusters),
            share_of_voice: divide(sum.mentioned as f64, all_mentions).filter(|_| has_competitors),
            avg_position: divide(sum.position_sum as f64, sum.positions),
            sentiment_score: divide(sum.sentiment_milli as f64 / 1000.0, sum.sentiments),
            citation_share: divide(sum.citations as f64, samples.total.citations),
        });
    }
    rows.sort_by(|a, b| {
        b.mention_rate
            .numerator
            .total_cmp(&a.mention_rate.numerator)
            .then_with(|| a.name.cmp(&b.name))
    });
    rows
}

/// Sums of a domain.
struct SourceSums<'a> {
    class: SourceClass,
    source_type: Option<SourceType>,
    tally: SourceTally,
    engines: BTreeSet<&'a str>,
    urls: HashMap<&'a str, u64>,
    /// Citations by day of the period.
    days: Vec<u64>,
}

/// Sources of a period.
pub(super) struct SourceTable {
    pub(super) sources: Vec<CitedSource>,
    pub(super) stability: Option<f64>,
}

/// Returns the domains in the order of the answers that cite them, and their stability from day to day.
pub(super) fn sources(input: &OverviewInput<'_>, samples: &Samples<'_>) -> SourceTable {
    let sums = source_sums(input, samples);
    let mut ranked: Vec<_> = sums.into_iter().collect();
    ranked.sort_by(|(a, x), (b, y)| y.tally.answers.cmp(&x.tally.answers).then_with(|| a.cmp(b)));
    let days = ranked.iter().map(|(_, sum)| sum.days.len()).max().unwrap_or(0);
    let citations = |day: usize| {
        ranked
            .iter()
            .map(|(_, sum)| sum.days.get(day).copied().unwrap_or(0))
            .collect()
    };
    let stability = stability(&(0..days).map(citations).collect::<Vec<_>>());
    ranked.truncate(MAX_SOURCES);
    let all = samples.total.citations.max(1) as f64;
    let row = |(domain, sum): (&str, SourceSums<'_>)| CitedSource {
        domain: domain.to_owned(),
        class: sum.class,
        source_type: sum.source_type,
        answers: sum.tally.answers,
        citations: sum.tally.citations,
        share: sum.tally.citations as f64 / all,
        engines: sum.engines.iter().map(|engine| (*engine).to_owned()).collect(),
        top_urls: top_urls(&sum.urls),
        mentions_own: sum.tally.mentions_own,
        mentions_competitors: sum.tally.mentions_competitors,
    };
    SourceTable {
        sources: ranked.into_iter().map(row).collect(),
        stability,
    }
}

fn source_sums<'a>(input: &OverviewInput<'a>, samples: &Samples<'a>) -> HashMap<&'a str, SourceSums<'a>> {
    let mut sums: HashMap<&str, SourceSums<'_>> = HashMap::new();
    for row in samples.rows.iter().filter(|row| !row.row.cell.domains.is_empty()) {
        let engine = input.series[row.row.series as usize].engine.as_str();
        let day = ((row.row.day - input.period.from) as usize).min(MAX_PERIOD_DAYS as usize);
        for (domain, cell) in &row.row.cell.domains {
            let sum = sums.entry(domain).or_insert_with(|| SourceSums {
                class: cell.class,
                source_type: cell.source_type,
                tally: SourceTally::default(),
                engines: BTreeSet::new(),
                urls: HashMap::new(),
                days: Vec::new(),
            });
            sum.class = sum.class.min(cell.class);
            sum.source_type = sum.source_type.min(cell.source_type);
            sum.tally.merge(&cell.tally);
            if !sum.engines.contains(engine) {
                sum.engines.insert(engine);
            }
            if sum.days.len() <= day {
                sum.days.resize(day + 1, 0);
            }
            sum.days[day] += cell.tally.citations;
            for (url, citations) in &cell.urls {
                *sum.urls.entry(url).or_default() += citations;
            }
        }
    }
    sums
}

fn top_urls(urls: &HashMap<&str, u64>) -> Vec<String> {
    let mut ranked: Vec<(&str, u64)> = urls.iter().map(|(url, citations)| (*url, *citations)).collect();
    ranked.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    ranked
        .into_iter()
        .take(MAX_TOP_URLS)
        .map(|(url, _)| url.to_owned())
        .collect()
}

/// Returns the summary of prompts.
pub(super) fn prompt_summary(input: &OverviewInput<'_>, samples: &Samples<'_>) -> PromptSummary {
    let mut presences: BTreeMap<u32, Presence> = BTreeMap::new();
    for sums in samples.clusters.iter().filter(|sums| sums.now.evaluated > 0) {
        let presence = presences.entry(sums.key.prompt).or_default();
        presence.mentioned |= sums.now.mentioned > 0;
        presence.cited |= sums.now.cited > 0;
        presence.citations_observable |= sums.now.citation_observable > 0;
        presence.competitors |= sums.now.competitor_mentioned > 0;
    }
    let archived = input.prompts.iter().filter(|prompt| prompt.archived).count() as u64;
    let mut summary = PromptSummary {
        active: input.prompts.len() as u64 - archived,
        archived,
        ..PromptSummary::default()
    };
    for (prompt, presence) in presences {
        let gap = GapLabel::from_presence(presence);
        *summary.gaps.entry(gap).or_default() += 1;
        if presence.mentioned {
            summary.with_mention += 1;
        } else {
            summary.never_mentioned += 1;
        }
        summary.prompts.push(PromptGap {
            prompt_id: input.prompts[prompt as usize].id.clone(),
            gap,
        });
    }
    summary
}

//! Tables: trend, competitors, sources and prompts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    OverviewInput,
    samples::{DayCounts, Samples},
    sources::DayCitations,
};
use crate::{
    days::iso_date,
    prompts::{GapLabel, Presence},
    statistics::{Cluster, Rate},
};

/// Number of days that are pooled.
const POOLED_DAYS: usize = 7;

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
    /// Citations in the answers of the day.
    pub citations: DayCitations,
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

type DayRate = fn(&DayCounts) -> Cluster;

/// Sums of the clusters in a window of days.
struct PooledDays {
    counts: DayRate,
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

    fn add_day(&mut self, day: &[DayCounts]) {
        for row in day {
            let (sum, counts) = (&mut self.sums[row.cluster], (self.counts)(row));
            sum.hits += counts.hits;
            sum.answers += counts.answers;
        }
    }

    fn remove_day(&mut self, day: &[DayCounts]) {
        for row in day {
            let (sum, counts) = (&mut self.sums[row.cluster], (self.counts)(row));
            sum.hits -= counts.hits;
            sum.answers -= counts.answers;
        }
    }
}

/// Returns a row per day of the period.
pub(super) fn trend(
    input: &OverviewInput<'_>,
    samples: &Samples,
    citations_of_days: &[DayCitations],
) -> Vec<TrendRow> {
    let window = |counts: DayRate| PooledDays {
        counts,
        sums: vec![Cluster::default(); samples.clusters.len()],
    };
    let (mentions, citations): (DayRate, DayRate) = (|row| row.mentions, |row| row.citations);
    let mut pooled = [window(mentions), window(citations)];
    let mut trend = Vec::with_capacity(samples.days.len());
    for (at, day) in samples.days.iter().enumerate() {
        for window in &mut pooled {
            window.add_day(day);
            if let Some(left) = at.checked_sub(POOLED_DAYS) {
                window.remove_day(&samples.days[left]);
            }
        }
        let mention_rate = day_rate(day, mentions);
        let date = input.period.from + at as i32;
        trend.push(TrendRow {
            date: iso_date(date),
            answers: day.iter().map(|row| row.answers).sum(),
            mention_rate: mention_rate.and_then(|rate| rate.value),
            citation_rate: day_rate(day, citations).and_then(|rate| rate.value),
            mention_rate_detail: mention_rate,
            pooled_mention_rate: pooled[0].rate(),
            pooled_citation_rate: pooled[1].rate(),
            citations: citations_of_days.get(at).copied().unwrap_or_default(),
            basket_changed: input
                .prompts
                .iter()
                .any(|prompt| prompt.first_day == date || prompt.archived_day == Some(date)),
        });
    }
    trend
}

fn day_rate(day: &[DayCounts], counts: DayRate) -> Option<Rate> {
    let clusters: Vec<Cluster> = day.iter().map(counts).filter(|found| found.answers > 0).collect();
    (!clusters.is_empty()).then(|| Rate::from_clusters(&clusters))
}

/// Returns the brands in the order of their mentions.
pub(super) fn competitors(input: &OverviewInput<'_>, samples: &Samples) -> Vec<CompetitorRow> {
    let sums = &samples.brands;
    let all_mentions: u64 = sums.iter().map(|sum| sum.tally.mentioned).sum();
    let has_competitors = input.brands.iter().any(|brand| !brand.is_own);
    let divide = |numerator: f64, denominator: u64| (denominator > 0).then(|| numerator / denominator as f64);
    let mut rows: Vec<CompetitorRow> = Vec::with_capacity(input.brands.len());
    for (place, brand) in input.brands.iter().enumerate() {
        let sum = &sums[place].tally;
        let cluster = |at: usize| Cluster {
            hits: sums[place].mentioned[at],
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

/// Returns the summary of prompts.
pub(super) fn prompt_summary(input: &OverviewInput<'_>, samples: &Samples) -> PromptSummary {
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

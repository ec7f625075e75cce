//! Prompts and pages where the brand could be more visible, by the counts of cells.
//!
//! Evidence is answers and nothing else: the score is the lower bound of the interval of a rate, times the logarithm of
//! the answers behind it, so that a rate that is certain stands before one that is high by chance.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    cells::{Cell, Tally},
    prompts::{GapLabel, Presence},
    sources::SourceClass,
    statistics::{Cluster, Rate},
};

/// Number of answers below which evidence is thin.
pub const MIN_ANSWERS: f64 = 5.0;
/// Most pages of an opportunity.
pub const MAX_URLS: usize = 5;
/// Most third-party pages that are ranked.
pub const MAX_PAGES: usize = 200;

/// Returns the score of a rate: 100 × lower bound × log2(1 + hits), in hundredths; 0 without an interval.
pub fn score(rate: &Rate) -> f64 {
    let bound = rate.ci_low.unwrap_or(0.0);
    round(100.0 * bound * (1.0 + rate.numerator).log2())
}

/// Rounds a score to hundredths.
pub fn round(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}

/// Sums over the answers of a series to a prompt.
#[derive(Clone, Debug)]
pub struct SeriesCell {
    /// Place of the prompt.
    pub prompt: u32,
    /// Place of the series.
    pub series: u32,
    /// Sums.
    pub cell: Cell,
}

/// A count by id or place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted<K> {
    /// Id or place.
    pub key: K,
    /// Answers.
    pub answers: u64,
}

/// A prompt with room for more visibility.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptOpportunity {
    /// Place of the prompt.
    pub prompt: u32,
    /// Standing of the brand.
    pub gap: GapLabel,
    /// Answers that show it, of those that could.
    pub rate: Rate,
    /// Places of the series whose answers show it.
    pub series: BTreeSet<u32>,
    /// Mentions by id of the brand, most first.
    pub brands: Vec<Counted<String>>,
    /// Own pages that are cited, most cited first, at most [`MAX_URLS`].
    pub owned_urls: Vec<String>,
}

/// A page of others that is cited where competitors are mentioned and the own brand is not.
#[derive(Clone, Debug, PartialEq)]
pub struct PageOpportunity {
    /// Identity of the page.
    pub url: String,
    /// Answers that cite it so, of the answers to the same prompts whose citations can be seen.
    pub rate: Rate,
    /// Prompts by the answers that cite it so, most first.
    pub prompts: Vec<Counted<u32>>,
    /// Places of the series whose answers cite it so.
    pub series: BTreeSet<u32>,
}

#[derive(Default)]
struct PromptSums<'a> {
    series: BTreeMap<u32, Tally>,
    brands: BTreeMap<&'a str, u64>,
    owned: BTreeMap<&'a str, u64>,
}

/// Returns the prompts whose answers leave the own brand out in one of three ways: only competitors are mentioned, own
/// pages are cited without the brand, or the brand is mentioned without its pages.
pub fn prompts(rows: &[SeriesCell]) -> Vec<PromptOpportunity> {
    let mut sums: BTreeMap<u32, PromptSums<'_>> = BTreeMap::new();
    for row in rows {
        let sum = sums.entry(row.prompt).or_default();
        sum.series.entry(row.series).or_default().merge(&row.cell.tally);
        for (id, brand) in &row.cell.brands {
            *sum.brands.entry(id).or_default() += brand.mentioned;
        }
        let domains = row.cell.domains.values();
        for domain in domains.filter(|domain| domain.class == SourceClass::Owned) {
            for (url, citations) in &domain.urls {
                *sum.owned.entry(url).or_default() += citations;
            }
        }
    }
    sums.into_iter()
        .filter_map(|(prompt, sum)| find_gap(prompt, &sum))
        .collect()
}

fn find_gap(prompt: u32, sum: &PromptSums<'_>) -> Option<PromptOpportunity> {
    let mut total = Tally::default();
    sum.series.values().for_each(|tally| total.merge(tally));
    let gap = GapLabel::from_presence(Presence {
        mentioned: total.mentioned > 0,
        cited: total.cited > 0,
        citations_observable: total.citation_observable > 0,
        competitors: total.competitor_mentioned > 0,
    });
    let cluster = |tally: &Tally| match gap {
        GapLabel::CompetitorOnly => Some(Cluster {
            hits: tally.competitor_mentioned,
            answers: tally.evaluated,
        }),
        GapLabel::CitedNotMentioned => Some(Cluster {
            hits: tally.cited,
            answers: tally.citation_observable,
        }),
        GapLabel::MentionedNotCited => Some(Cluster {
            hits: tally.mentioned,
            answers: tally.evaluated,
        }),
        GapLabel::Absent | GapLabel::Strong => None,
    };
    let clusters: Vec<Cluster> = sum.series.values().map(cluster).collect::<Option<_>>()?;
    let series = sum.series.keys().zip(&clusters);
    Some(PromptOpportunity {
        prompt,
        gap,
        rate: Rate::from_clusters(&clusters),
        series: series
            .filter(|(_, cluster)| cluster.hits > 0)
            .map(|(place, _)| *place)
            .collect(),
        brands: ranked(&sum.brands),
        owned_urls: ranked(&sum.owned)
            .into_iter()
            .take(MAX_URLS)
            .map(|url: Counted<String>| url.key)
            .collect(),
    })
}

/// Returns counts, most first.
fn ranked<K: Copy + Ord, T: From<K> + Ord>(counts: &BTreeMap<K, u64>) -> Vec<Counted<T>> {
    let mut ranked: Vec<Counted<T>> = counts
        .iter()
        .filter(|(_, answers)| **answers > 0)
        .map(|(key, answers)| Counted {
            key: T::from(*key),
            answers: *answers,
        })
        .collect();
    ranked.sort_by(|a, b| b.answers.cmp(&a.answers).then_with(|| a.key.cmp(&b.key)));
    ranked
}

/// Returns the pages of others that are cited where competitors are mentioned and the own brand is not, best evidence
/// first, at most [`MAX_PAGES`].
pub fn pages(rows: &[SeriesCell]) -> Vec<PageOpportunity> {
    let mut observable: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    let mut hits: BTreeMap<&str, BTreeMap<u32, BTreeMap<u32, u64>>> = BTreeMap::new();
    for row in rows {
        let of_prompt = observable.entry(row.prompt).or_default();
        *of_prompt.entry(row.series).or_default() += row.cell.tally.citation_observable;
        for (url, answers) in row.cell.domains.values().flat_map(|domain| &domain.gaps) {
            let of_page = hits.entry(url).or_default().entry(row.prompt).or_default();
            *of_page.entry(row.series).or_default() += answers;
        }
    }
    let mut found: Vec<PageOpportunity> = hits
        .into_iter()
        .map(|(url, prompts)| page(url, &prompts, &observable))
        .collect();
    let rank = |page: &PageOpportunity| score(&page.rate);
    found.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then_with(|| a.url.cmp(&b.url)));
    found.truncate(MAX_PAGES);
    found
}

fn page(
    url: &str,
    prompts: &BTreeMap<u32, BTreeMap<u32, u64>>,
    observable: &BTreeMap<u32, BTreeMap<u32, u64>>,
) -> PageOpportunity {
    let mut clusters = Vec::new();
    let mut counts = BTreeMap::new();
    let mut series = BTreeSet::new();
    for (prompt, hits) in prompts {
        counts.insert(*prompt, hits.values().sum());
        series.extend(hits.keys());
        for (place, answers) in observable.get(prompt).into_iter().flatten() {
            clusters.push(Cluster {
                hits: hits.get(place).copied().unwrap_or(0),
                answers: *answers,
            });
        }
    }
    PageOpportunity {
        url: url.to_owned(),
        rate: Rate::from_clusters(&clusters),
        prompts: ranked(&counts),
        series,
    }
}

#[cfg(test)]
mod tests;

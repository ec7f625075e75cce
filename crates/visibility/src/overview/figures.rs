//! Key figures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    OverviewInput,
    samples::{ClusterSums, RateCounts, Samples, citations, mentions},
};
use crate::{
    cells::Tally,
    statistics::{Bootstrap, Change, Cluster, Grade, MIN_VERDICT_N_EFF, Rate, Verdict},
};

/// A key figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Figure {
    /// Value with its counts and interval.
    #[serde(flatten)]
    pub rate: Rate,
    /// Name and version of the formula.
    pub formula: String,
    /// Certainty.
    pub grade: Grade,
    /// Change against the previous period.
    pub change: Change,
}

/// Key figures of a period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Mean over engines of the mean over prompts of the share of answers that mention the brand, 0 to 100.
    pub visibility_score: Figure,
    /// Share of answers that mention the brand.
    pub mention_rate: Figure,
    /// Share of answers that cite an own page, of those whose citations can be seen.
    pub citation_rate: Figure,
    /// Share of own pages among all cited pages.
    pub citation_share: Figure,
    /// Share of own pages among cited pages of tracked brands.
    pub citation_share_of_voice: Figure,
    /// Number of cited own pages per answer that cites any.
    pub avg_citations: Figure,
    /// Share of the brand among the mentions of tracked brands.
    pub share_of_voice: Figure,
    /// Mean rank among the brands of an answer.
    pub avg_position: Figure,
    /// Share of mentions that come first.
    pub top_rate: Figure,
    /// Mean sentiment, 0 to 100; 50 is neutral.
    pub sentiment_score: Figure,
    /// Share of positive ones among mentions with a sentiment that is not neutral.
    pub positive_share: Figure,
    /// Share of searches that show an overview.
    pub trigger_rate: Figure,
    /// Number of answers.
    pub answers: u64,
}

/// Quotient of two sums.
#[derive(Clone, Copy, Debug, Default)]
struct Quotient {
    numerator: f64,
    denominator: f64,
}

type QuotientCounts = fn(&Tally) -> Quotient;

/// Computes the figures of some samples.
pub(super) fn compute(input: &OverviewInput<'_>, samples: &Samples, bootstrap: &Bootstrap) -> Figures {
    let context = Context {
        input,
        samples,
        bootstrap,
        common: samples.common(),
        has_competitors: input.brands.iter().any(|brand| !brand.is_own),
    };
    let quotient = |formula, counts, scale| context.quotient(formula, counts, scale);
    Figures {
        visibility_score: context.visibility_score(),
        mention_rate: context.rate("mention-rate-v1", mentions),
        citation_rate: context.rate("citation-rate-v1", citations),
        citation_share: quotient("citation-share-v1", citation_share, 1.0),
        citation_share_of_voice: context.of_competition("tracked-citations-v1", citation_voice),
        avg_citations: quotient("avg-citations-v1", avg_citations, 10.0),
        share_of_voice: context.of_competition("tracked-mentions-v1", share_of_voice),
        avg_position: quotient("avg-position-v1", avg_position, 10.0),
        top_rate: context.rate("top-rate-v1", top),
        sentiment_score: quotient("sentiment-score-v1", sentiment_score, 100.0),
        positive_share: context.rate("positive-share-v1", positive),
        trigger_rate: context.rate("trigger-rate-v1", trigger),
        answers: samples.total.answers,
    }
}

fn divide(numerator: u64, denominator: u64) -> Quotient {
    Quotient {
        numerator: numerator as f64,
        denominator: denominator as f64,
    }
}

fn citation_share(tally: &Tally) -> Quotient {
    divide(tally.owned_citations, tally.citations)
}

fn citation_voice(tally: &Tally) -> Quotient {
    divide(
        tally.owned_citations,
        tally.owned_citations + tally.competitor_citations,
    )
}

fn avg_citations(tally: &Tally) -> Quotient {
    divide(tally.owned_citations, tally.cited)
}

fn share_of_voice(tally: &Tally) -> Quotient {
    divide(tally.mentioned, tally.tracked_mentions)
}

fn avg_position(tally: &Tally) -> Quotient {
    divide(tally.position_sum, tally.positions)
}

fn sentiment_score(tally: &Tally) -> Quotient {
    Quotient {
        numerator: tally.sentiment_milli as f64 / 1000.0,
        denominator: tally.sentiments as f64,
    }
}

fn top(tally: &Tally) -> Cluster {
    Cluster {
        hits: tally.top,
        answers: tally.positions,
    }
}

fn positive(tally: &Tally) -> Cluster {
    Cluster {
        hits: tally.positive,
        answers: tally.positive + tally.negative,
    }
}

fn trigger(tally: &Tally) -> Cluster {
    Cluster {
        hits: tally.overviews,
        answers: tally.overview_searches,
    }
}

struct Context<'c, 'a> {
    input: &'c OverviewInput<'a>,
    samples: &'c Samples,
    bootstrap: &'c Bootstrap,
    common: Vec<ClusterSums>,
    has_competitors: bool,
}

impl Context<'_, '_> {
    fn rate(&self, formula: &str, counts: RateCounts) -> Figure {
        let clusters: Vec<Cluster> = self
            .samples
            .clusters
            .iter()
            .map(|sums| counts(&sums.now))
            .collect();
        let rate = Rate::from_clusters(&clusters);
        let before: Vec<Cluster> = self.common.iter().map(|sums| counts(&sums.before)).collect();
        let after: Vec<Cluster> = self.common.iter().map(|sums| counts(&sums.now)).collect();
        let change = self
            .incomparable()
            .unwrap_or_else(|| Change::from_clusters(&before, &after));
        figure(rate, formula, 1.0, change)
    }

    /// Returns the verdict on periods that have no cluster in common.
    fn incomparable(&self) -> Option<Change> {
        if !self.common.is_empty() {
            return None;
        }
        let engine = |sums: &ClusterSums| {
            let series = &self.input.series[sums.key.series as usize];
            (sums.key.prompt, series.engine.as_str())
        };
        let mut before: Vec<_> = self
            .samples
            .clusters
            .iter()
            .filter(|sums| sums.before.answers > 0)
            .map(engine)
            .collect();
        before.sort_unstable();
        let mut now = self.samples.clusters.iter().filter(|sums| sums.now.answers > 0);
        let is_other_model = now.any(|sums| before.binary_search(&engine(sums)).is_ok());
        Some(Change::unknown(if is_other_model {
            Verdict::ModelChanged
        } else {
            Verdict::InsufficientData
        }))
    }

    /// Returns a share among tracked brands, `null` without competitors.
    fn of_competition(&self, formula: &str, counts: QuotientCounts) -> Figure {
        if self.has_competitors {
            return self.quotient(formula, counts, 1.0);
        }
        figure(
            Rate::without_interval(0.0, 0.0),
            formula,
            1.0,
            Change::unknown(Verdict::InsufficientData),
        )
    }

    fn quotient(&self, formula: &str, counts: QuotientCounts, scale: f64) -> Figure {
        let all = by_prompt(&self.samples.clusters, |sums| counts(&sums.now));
        let total = counts(&self.samples.total);
        let rate = Rate::without_interval(total.numerator, total.denominator).with_bootstrap(
            self.bootstrap
                .interval(all.len(), |weights| weighted(&all, weights)),
        );
        let before = by_prompt(&self.common, |sums| counts(&sums.before));
        let after = by_prompt(&self.common, |sums| counts(&sums.now));
        let change = self.bootstrap_change(
            after.len(),
            |weights| weighted(&before, weights),
            |weights| weighted(&after, weights),
        );
        figure(rate, formula, scale, change)
    }

    fn visibility_score(&self) -> Figure {
        let score =
            |sums: &[ClusterSums], tally: fn(&ClusterSums) -> &Tally| Scores::new(self.input, sums, tally);
        let all = score(&self.samples.clusters, |sums| &sums.now);
        let counts = mentions(&self.samples.total);
        let ones = vec![1; all.prompts];
        let mut rate = Rate::without_interval(counts.hits as f64, counts.answers as f64);
        rate.value = all.mean(&ones);
        let rate = rate.with_bootstrap(self.bootstrap.interval(all.prompts, |weights| all.mean(weights)));
        let before = score(&self.common, |sums| &sums.before);
        let after = score(&self.common, |sums| &sums.now);
        let change = self.bootstrap_change(
            after.prompts,
            |weights| before.mean(weights),
            |weights| after.mean(weights),
        );
        figure(rate, "visibility-score-v1", 100.0, change)
    }

    /// Returns the change of a statistic over the common clusters; both periods are drawn together.
    fn bootstrap_change(
        &self,
        prompts: usize,
        before: impl Fn(&[u32]) -> Option<f64>,
        after: impl Fn(&[u32]) -> Option<f64>,
    ) -> Change {
        if let Some(change) = self.incomparable() {
            return change;
        }
        let difference = |weights: &[u32]| Some(after(weights)? - before(weights)?);
        let Some(value) = difference(&vec![1; prompts]) else {
            return Change::unknown(Verdict::InsufficientData);
        };
        let sum = |tally: fn(&ClusterSums) -> u64| self.common.iter().map(tally).sum::<u64>() as f64;
        let least = sum(|sums| sums.before.answers).min(sum(|sums| sums.now.answers));
        let change = Change::from_interval(value, self.bootstrap.interval(prompts, difference));
        match least < MIN_VERDICT_N_EFF {
            true => Change {
                verdict: Verdict::InsufficientData,
                ..change
            },
            false => change,
        }
    }
}

fn figure(rate: Rate, formula: &str, scale: f64, change: Change) -> Figure {
    Figure {
        grade: Grade::from_interval(rate.interval(), scale),
        rate,
        formula: formula.to_owned(),
        change,
    }
}

/// Sums quotients by prompt.
fn by_prompt(clusters: &[ClusterSums], counts: impl Fn(&ClusterSums) -> Quotient) -> Vec<Quotient> {
    let mut sums: BTreeMap<u32, Quotient> = BTreeMap::new();
    for cluster in clusters {
        let found = counts(cluster);
        let sum = sums.entry(cluster.key.prompt).or_default();
        sum.numerator += found.numerator;
        sum.denominator += found.denominator;
    }
    sums.into_values().collect()
}

fn weighted(prompts: &[Quotient], weights: &[u32]) -> Option<f64> {
    let (mut numerator, mut denominator) = (0.0, 0.0);
    for (prompt, weight) in prompts.iter().zip(weights) {
        numerator += prompt.numerator * f64::from(*weight);
        denominator += prompt.denominator * f64::from(*weight);
    }
    (denominator > 0.0).then(|| numerator / denominator)
}

/// Mention rates by engine and prompt.
struct Scores {
    engines: Vec<EngineScores>,
    prompts: usize,
}

/// Mention rates of an engine.
struct EngineScores {
    weight: f64,
    rates: Vec<PromptScore>,
}

/// Mention rate of a prompt.
struct PromptScore {
    /// Place among the prompts.
    prompt: usize,
    rate: f64,
}

impl Scores {
    fn new(input: &OverviewInput<'_>, clusters: &[ClusterSums], tally: fn(&ClusterSums) -> &Tally) -> Self {
        let mut prompts: Vec<u32> = clusters.iter().map(|sums| sums.key.prompt).collect();
        prompts.dedup();
        let mut engines: BTreeMap<&str, (f64, BTreeMap<usize, Cluster>)> = BTreeMap::new();
        for sums in clusters {
            let counts = mentions(tally(sums));
            let series = &input.series[sums.key.series as usize];
            let Ok(prompt) = prompts.binary_search(&sums.key.prompt) else {
                continue;
            };
            if counts.answers == 0 {
                continue;
            }
            let engine = engines
                .entry(&series.engine)
                .or_insert_with(|| (series.weight, BTreeMap::new()));
            let cluster = engine.1.entry(prompt).or_default();
            cluster.hits += counts.hits;
            cluster.answers += counts.answers;
        }
        let rates = |clusters: BTreeMap<usize, Cluster>| {
            let score = |(prompt, cluster): (usize, Cluster)| PromptScore {
                prompt,
                rate: cluster.hits as f64 / cluster.answers as f64,
            };
            clusters.into_iter().map(score).collect()
        };
        Self {
            prompts: prompts.len(),
            engines: engines
                .into_values()
                .map(|(weight, clusters)| EngineScores {
                    weight,
                    rates: rates(clusters),
                })
                .collect(),
        }
    }

    /// Returns the score, with each prompt as often as it was drawn.
    fn mean(&self, weights: &[u32]) -> Option<f64> {
        let (mut sum, mut of) = (0.0, 0.0);
        for engine in &self.engines {
            let (mut rates, mut drawn) = (0.0, 0.0);
            for score in &engine.rates {
                let weight = f64::from(weights[score.prompt]);
                rates += score.rate * weight;
                drawn += weight;
            }
            if drawn > 0.0 {
                sum += engine.weight * rates / drawn;
                of += engine.weight;
            }
        }
        (of > 0.0).then(|| 100.0 * sum / of)
    }
}

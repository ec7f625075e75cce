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
        has_competitors: input.brands.iter().any(|brand| !brand.is_own),
    };
    let quotient = |formula, counts, scale| context.quotient(formula, counts, scale, mentions);
    let of_citations = |formula, counts, scale| context.quotient(formula, counts, scale, citations);
    Figures {
        visibility_score: context.visibility_score(),
        mention_rate: context.rate("mention-rate-v1", mentions),
        citation_rate: context.rate("citation-rate-v1", citations),
        citation_share: of_citations("citation-share-v1", citation_share, 1.0),
        citation_share_of_voice: context.of_competition("tracked-citations-v1", citation_voice, citations),
        avg_citations: of_citations("avg-citations-v1", avg_citations, 10.0),
        share_of_voice: context.of_competition("tracked-mentions-v1", share_of_voice, mentions),
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
    has_competitors: bool,
}

impl Context<'_, '_> {
    fn rate(&self, formula: &str, counts: RateCounts) -> Figure {
        let now = |sums: &ClusterSums| counts(&sums.now);
        let clusters: Vec<Cluster> = self.samples.clusters.iter().map(now).collect();
        let rate = Rate::from_clusters(&clusters);
        let change = match self.find_common(|tally| counts(tally).answers > 0) {
            Ok(common) => {
                let before: Vec<Cluster> = common.iter().map(|sums| counts(&sums.before)).collect();
                let after: Vec<Cluster> = common.iter().map(|sums| counts(&sums.now)).collect();
                Change::from_clusters(&before, &after)
            }
            Err(verdict) => Change::unknown(verdict),
        };
        figure(rate, formula, 1.0, change)
    }

    /// Returns the clusters that both periods have for a figure, or the verdict if there are none.
    fn find_common(&self, is_measured: impl Fn(&Tally) -> bool) -> Result<Vec<&ClusterSums>, Verdict> {
        let common = self.samples.common(&is_measured);
        if common.is_empty() {
            return Err(self.judge_incomparable(is_measured));
        }
        Ok(common)
    }

    /// Returns the verdict on periods that have no cluster in common.
    fn judge_incomparable(&self, is_measured: impl Fn(&Tally) -> bool) -> Verdict {
        let engine = |sums: &ClusterSums| {
            let series = &self.input.series[sums.key.series as usize];
            (sums.key.prompt, series.engine.as_str())
        };
        let clusters = || self.samples.clusters.iter();
        let mut before: Vec<_> = clusters()
            .filter(|sums| is_measured(&sums.before))
            .map(engine)
            .collect();
        before.sort_unstable();
        let mut now = clusters().filter(|sums| is_measured(&sums.now));
        if now.any(|sums| before.binary_search(&engine(sums)).is_ok()) {
            Verdict::ModelChanged
        } else {
            Verdict::InsufficientData
        }
    }

    /// Returns a share among tracked brands, `null` without competitors.
    fn of_competition(&self, formula: &str, counts: QuotientCounts, observed: RateCounts) -> Figure {
        if self.has_competitors {
            return self.quotient(formula, counts, 1.0, observed);
        }
        figure(
            Rate::without_interval(0.0, 0.0),
            formula,
            1.0,
            Change::unknown(Verdict::InsufficientData),
        )
    }

    /// Returns a quotient of sums. Its change is that of the clusters in which both periods observed answers, whatever was found in
    /// them.
    fn quotient(&self, formula: &str, counts: QuotientCounts, scale: f64, observed: RateCounts) -> Figure {
        let mut all = by_prompt(&self.samples.clusters, |sums| counts(&sums.now));
        // Prompts without anything to count would make few prompts look like enough for an interval.
        all.retain(|prompt| prompt.denominator > 0.0);
        let total = counts(&self.samples.total);
        let rate = Rate::without_interval(total.numerator, total.denominator).with_bootstrap(
            self.bootstrap
                .interval(all.len(), |weights| weighted(&all, weights)),
        );
        let change = match self.find_common(|tally| observed(tally).answers > 0) {
            Ok(common) => {
                let before = by_prompt(common.iter().copied(), |sums| counts(&sums.before));
                let after = by_prompt(common.iter().copied(), |sums| counts(&sums.now));
                self.bootstrap_change(
                    &common,
                    after.len(),
                    |weights| weighted(&before, weights),
                    |weights| weighted(&after, weights),
                )
            }
            Err(verdict) => Change::unknown(verdict),
        };
        figure(rate, formula, scale, change)
    }

    fn visibility_score(&self) -> Figure {
        let all = Scores::new(self.input, &self.samples.clusters, |sums| &sums.now);
        let counts = mentions(&self.samples.total);
        let ones = vec![1; all.prompts];
        let mut rate = Rate::without_interval(counts.hits as f64, counts.answers as f64);
        rate.value = all.mean(&ones);
        let rate = rate.with_bootstrap(self.bootstrap.interval(all.prompts, |weights| all.mean(weights)));
        let change = match self.find_common(|tally| mentions(tally).answers > 0) {
            Ok(common) => {
                let before = Scores::new(self.input, common.iter().copied(), |sums| &sums.before);
                let after = Scores::new(self.input, common.iter().copied(), |sums| &sums.now);
                self.bootstrap_change(
                    &common,
                    after.prompts,
                    |weights| before.mean(weights),
                    |weights| after.mean(weights),
                )
            }
            Err(verdict) => Change::unknown(verdict),
        };
        figure(rate, "visibility-score-v1", 100.0, change)
    }

    /// Returns the change of a statistic over the common clusters; both periods are drawn together.
    fn bootstrap_change(
        &self,
        common: &[&ClusterSums],
        prompts: usize,
        before: impl Fn(&[u32]) -> Option<f64>,
        after: impl Fn(&[u32]) -> Option<f64>,
    ) -> Change {
        let difference = |weights: &[u32]| Some(after(weights)? - before(weights)?);
        let Some(value) = difference(&vec![1; prompts]) else {
            return Change::unknown(Verdict::InsufficientData);
        };
        let answers_before: u64 = common.iter().map(|sums| sums.before.answers).sum();
        let answers_now: u64 = common.iter().map(|sums| sums.now.answers).sum();
        let least = answers_before.min(answers_now) as f64;
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
fn by_prompt<'s>(
    clusters: impl IntoIterator<Item = &'s ClusterSums>,
    counts: impl Fn(&ClusterSums) -> Quotient,
) -> Vec<Quotient> {
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
    fn new<'s>(
        input: &OverviewInput<'_>,
        clusters: impl IntoIterator<Item = &'s ClusterSums>,
        tally: fn(&ClusterSums) -> &Tally,
    ) -> Self {
        // Prompts without answers would be drawn too, and make few prompts look like enough for an interval.
        let answered: Vec<&ClusterSums> = clusters
            .into_iter()
            .filter(|sums| mentions(tally(sums)).answers > 0)
            .collect();
        let mut prompts: Vec<u32> = answered.iter().map(|sums| sums.key.prompt).collect();
        prompts.dedup();
        let mut engines: BTreeMap<&str, (f64, BTreeMap<usize, Cluster>)> = BTreeMap::new();
        for sums in answered {
            let counts = mentions(tally(sums));
            let series = &input.series[sums.key.series as usize];
            let Ok(prompt) = prompts.binary_search(&sums.key.prompt) else {
                continue;
            };
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

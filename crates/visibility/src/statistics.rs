//! Intervals and comparisons of rates.
//!
//! Repeated answers of one engine to one prompt are correlated, so a plain Wilson interval is too narrow. Rates are
//! computed over clusters (prompt × engine) with the effective sample size of their design effect. Every formula is of
//! closed form; a test compares them with statsmodels.

mod bootstrap;

use serde::{Deserialize, Serialize};

pub use self::bootstrap::{BOOTSTRAP_SAMPLES, Bootstrap, MIN_BOOTSTRAP_PROMPTS};

/// Standard normal quantile of a two-sided interval of 95 %.
pub const Z: f64 = 1.959_963_984_540_054;
/// Minimum effective sample size of both periods for a verdict on a change.
pub const MIN_VERDICT_N_EFF: f64 = 20.0;

/// Interval between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Hits among the answers of one cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// Number of answers with a hit.
    pub hits: u64,
    /// Number of answers.
    pub answers: u64,
}

/// Design of a sample of clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// Intra-class correlation, 0 to 1.
    pub icc: f64,
    /// Design effect, at least 1.
    pub effect: f64,
    /// Effective sample size.
    pub n_eff: f64,
}

/// Method of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Wilson interval with the effective sample size of clusters.
    WilsonClustered,
    /// Bootstrap over prompts.
    ClusterBootstrap,
    /// No interval is known.
    None,
}

/// Certainty of a number, from the half-width of its interval in points of 100: good up to 5, fair up to 10, weak up to
/// 20, otherwise thin. A number without interval is thin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Half-width above 20 points, or no interval.
    Thin,
    /// Half-width above 10 and up to 20 points.
    Weak,
    /// Half-width above 5 and up to 10 points.
    Fair,
    /// Half-width up to 5 points.
    Good,
}

impl Grade {
    /// Returns the grade of an interval on a scale of 0 to `scale`.
    pub fn from_interval(interval: Option<Interval>, scale: f64) -> Self {
        let Some(interval) = interval else {
            return Self::Thin;
        };
        let points = (interval.high - interval.low) / 2.0 / scale * 100.0;
        match points {
            _ if !points.is_finite() || points > 20.0 => Self::Thin,
            _ if points > 10.0 => Self::Weak,
            _ if points > 5.0 => Self::Fair,
            _ => Self::Good,
        }
    }
}

/// A rate with its counts and its interval of 95 %. The value is `null` without answers, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rate {
    /// Value; `null` if it was not measured.
    pub value: Option<f64>,
    /// Number of hits, or sum of the values.
    pub numerator: f64,
    /// Number of answers, or of values.
    pub denominator: f64,
    /// Lower bound of the interval.
    pub ci_low: Option<f64>,
    /// Upper bound of the interval.
    pub ci_high: Option<f64>,
    /// Effective sample size.
    pub n_eff: Option<f64>,
    /// Method of the interval.
    pub method: IntervalMethod,
}

impl Rate {
    /// Returns the rate over clusters, with the Wilson interval of their effective sample size.
    pub fn from_clusters(clusters: &[Cluster]) -> Self {
        let total = total(clusters);
        let Some(design) = design(clusters) else {
            return Self::without_interval(total.hits as f64, total.answers as f64);
        };
        let value = total.hits as f64 / total.answers as f64;
        let interval = wilson(value, design.n_eff);
        Self {
            ci_low: Some(interval.low),
            ci_high: Some(interval.high),
            n_eff: Some(design.n_eff),
            method: IntervalMethod::WilsonClustered,
            ..Self::without_interval(total.hits as f64, total.answers as f64)
        }
    }

    /// Returns a quotient whose interval is not known.
    pub fn without_interval(numerator: f64, denominator: f64) -> Self {
        Self {
            value: (denominator > 0.0).then(|| numerator / denominator),
            numerator,
            denominator,
            ci_low: None,
            ci_high: None,
            n_eff: None,
            method: IntervalMethod::None,
        }
    }

    /// Sets the interval of a bootstrap, if there is one.
    #[must_use]
    pub fn with_bootstrap(mut self, interval: Option<Interval>) -> Self {
        if let Some(interval) = interval.filter(|_| self.value.is_some()) {
            self.ci_low = Some(interval.low);
            self.ci_high = Some(interval.high);
            self.method = IntervalMethod::ClusterBootstrap;
        }
        self
    }

    /// Returns the interval, if there is one.
    pub fn interval(&self) -> Option<Interval> {
        Some(Interval {
            low: self.ci_low?,
            high: self.ci_high?,
        })
    }
}

/// Returns the Wilson score interval of a proportion.
///
/// Centre `(p + z²/2n) / (1 + z²/n)`, half-width `z·√(p(1−p)/n + z²/4n²) / (1 + z²/n)`.
pub fn wilson(proportion: f64, n: f64) -> Interval {
    let z2 = Z * Z;
    let scale = 1.0 + z2 / n;
    let centre = (proportion + z2 / (2.0 * n)) / scale;
    let variance = proportion * (1.0 - proportion) / n + z2 / (4.0 * n * n);
    let half = Z * variance.max(0.0).sqrt() / scale;
    Interval {
        low: if proportion <= 0.0 {
            0.0
        } else {
            (centre - half).max(0.0)
        },
        high: if proportion >= 1.0 {
            1.0
        } else {
            (centre + half).min(1.0)
        },
    }
}

/// Returns the design of a sample of clusters; `None` if there are no answers.
///
/// `MSB = Σ mᵢ(pᵢ−p)²/(K−1)`, `MSW = Σ mᵢpᵢ(1−pᵢ)/(n−K)`, `m₀ = (n − Σmᵢ²/n)/(K−1)`,
/// `ICC = clamp((MSB−MSW)/(MSB+(m₀−1)MSW), 0, 1)`, `deff = max(1, 1 + (Σmᵢ²/n − 1)·ICC)`, `nEff = n/deff`.
pub fn design(clusters: &[Cluster]) -> Option<Design> {
    let all = total(clusters);
    if all.answers == 0 {
        return None;
    }
    let filled = || clusters.iter().filter(|cluster| cluster.answers > 0);
    let (n, k) = (all.answers as f64, filled().count() as f64);
    let independent = Design {
        icc: 0.0,
        effect: 1.0,
        n_eff: n,
    };
    if k < 2.0 || n <= k {
        return Some(independent);
    }
    let p = all.hits as f64 / n;
    let share = |cluster: &Cluster| cluster.hits as f64 / cluster.answers as f64;
    let between: f64 = filled().map(|c| c.answers as f64 * (share(c) - p).powi(2)).sum();
    let within: f64 = filled()
        .map(|c| c.answers as f64 * share(c) * (1.0 - share(c)))
        .sum();
    let squares: f64 = filled().map(|c| (c.answers as f64).powi(2)).sum();
    let (msb, msw) = (between / (k - 1.0), within / (n - k));
    let m0 = (n - squares / n) / (k - 1.0);
    let divisor = msb + (m0 - 1.0) * msw;
    // without any variance there is nothing to correlate
    let icc = if divisor > 0.0 {
        ((msb - msw) / divisor).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let effect = (1.0 + (squares / n - 1.0) * icc).max(1.0);
    Some(Design {
        icc,
        effect,
        n_eff: n / effect,
    })
}

fn total(clusters: &[Cluster]) -> Cluster {
    clusters.iter().fold(Cluster::default(), |sum, c| Cluster {
        hits: sum.hits + c.hits,
        answers: sum.answers + c.answers,
    })
}

/// A proportion and the size of its sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proportion {
    /// Proportion, 0 to 1.
    pub value: f64,
    /// Effective sample size.
    pub n_eff: f64,
}

/// Returns Newcombe's hybrid score interval for the difference `after − before`.
pub fn newcombe(before: Proportion, after: Proportion) -> Interval {
    let (first, second) = (
        wilson(before.value, before.n_eff),
        wilson(after.value, after.n_eff),
    );
    let difference = after.value - before.value;
    Interval {
        low: difference - (after.value - second.low).hypot(first.high - before.value),
        high: difference + (second.high - after.value).hypot(before.value - first.low),
    }
}

/// Verdict on a change between two periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The number rose by more than chance explains.
    Up,
    /// The number fell by more than chance explains.
    Down,
    /// Chance may explain the difference.
    WithinNoise,
    /// There are too few answers, or none that can be compared. A single sample is never called a trend.
    InsufficientData,
    /// The engine answered with another model, so that the periods cannot be compared.
    ModelChanged,
}

/// Change of a number against the previous period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Difference; `null` if either number is unknown.
    pub value: Option<f64>,
    /// Lower bound of the difference.
    pub ci_low: Option<f64>,
    /// Upper bound of the difference.
    pub ci_high: Option<f64>,
    /// Verdict.
    pub verdict: Verdict,
}

impl Change {
    /// Returns a change without numbers.
    pub fn unknown(verdict: Verdict) -> Self {
        Self {
            value: None,
            ci_low: None,
            ci_high: None,
            verdict,
        }
    }

    /// Returns the change of a rate over the clusters that both periods have.
    pub fn from_clusters(before: &[Cluster], after: &[Cluster]) -> Self {
        let (before, after) = (Rate::from_clusters(before), Rate::from_clusters(after));
        let (Some(before), Some(after)) = (proportion(&before), proportion(&after)) else {
            return Self::unknown(Verdict::InsufficientData);
        };
        let change = Self::from_interval(after.value - before.value, Some(newcombe(before, after)));
        if before.n_eff.min(after.n_eff) < MIN_VERDICT_N_EFF {
            return Self {
                verdict: Verdict::InsufficientData,
                ..change
            };
        }
        change
    }

    /// Returns the change with a verdict by whether 0 lies outside the interval.
    pub fn from_interval(difference: f64, interval: Option<Interval>) -> Self {
        Self {
            value: Some(difference),
            ci_low: interval.map(|i| i.low),
            ci_high: interval.map(|i| i.high),
            verdict: match interval {
                None => Verdict::InsufficientData,
                Some(interval) if interval.low > 0.0 => Verdict::Up,
                Some(interval) if interval.high < 0.0 => Verdict::Down,
                Some(_) => Verdict::WithinNoise,
            },
        }
    }
}

fn proportion(rate: &Rate) -> Option<Proportion> {
    Some(Proportion {
        value: rate.value?,
        n_eff: rate.n_eff?,
    })
}

/// Returns the number of independent answers that a half-width in points takes, at the worst proportion of one half.
pub fn answers_for_half_width(points: f64) -> u64 {
    let half = points / 100.0;
    (Z * Z / (4.0 * half * half)).ceil() as u64
}

/// Returns the stability of sources, 0 to 100: one minus the mean Bray–Curtis distance of the shares of consecutive
/// days. A day is a list of counts, in the same order on each day; days without counts are left out. `None` for fewer
/// than two days.
pub fn stability(days: &[Vec<u64>]) -> Option<f64> {
    let shares: Vec<Vec<f64>> = days.iter().filter_map(|counts| day_shares(counts)).collect();
    let pairs = shares.len().checked_sub(1).filter(|pairs| *pairs > 0)?;
    let distance: f64 = shares
        .windows(2)
        .map(|pair| bray_curtis(&pair[0], &pair[1]))
        .sum();
    Some((1.0 - distance / pairs as f64) * 100.0)
}

fn day_shares(counts: &[u64]) -> Option<Vec<f64>> {
    let sum: u64 = counts.iter().sum();
    (sum > 0).then(|| counts.iter().map(|count| *count as f64 / sum as f64).collect())
}

/// Returns the Bray–Curtis distance of two lists: `Σ|aᵢ−bᵢ| / Σ(aᵢ+bᵢ)`; 0 if both are empty. A missing value is 0.
pub fn bray_curtis(first: &[f64], second: &[f64]) -> f64 {
    let at = |list: &[f64], i: usize| list.get(i).copied().unwrap_or(0.0);
    let (mut apart, mut sum) = (0.0, 0.0);
    for i in 0..first.len().max(second.len()) {
        apart += (at(first, i) - at(second, i)).abs();
        sum += at(first, i) + at(second, i);
    }
    if sum > 0.0 { apart / sum } else { 0.0 }
}

#[cfg(test)]
mod tests;

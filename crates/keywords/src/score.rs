//! The worth of a keyword to a project, and its difficulty.

use searchwright_contract::keywords::Intent;

/// Parts of a keyword's worth. Unknown parts do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Likeness to the profile of the site, 0 to 1.
    pub relevance: Option<f64>,
    /// Searches per month.
    pub volume: Option<i64>,
    /// Difficulty, 0 to 100.
    pub difficulty: Option<i64>,
    /// Search intent.
    pub intent: Option<Intent>,
}

/// Searches per month that count in full. A fixed scale keeps a score the same whatever else a project has, and
/// leaves an order that a scale by the project's largest volume would give as well.
const MAX_SEARCHES: f64 = 1_000_000.0;

/// 0.35 relevance + 0.25 ln(1 + volume) / ln(1 + 1,000,000)
/// + 0.25 (1 − difficulty / 100) + 0.15 weight of the intent, times 100.
///
/// Weights of what is missing are spread over the rest; `None` when nothing is known.
pub fn score(parts: &Parts) -> Option<f64> {
    let weighted = [
        (0.35, parts.relevance),
        (0.25, parts.volume.map(log_share)),
        (0.25, parts.difficulty.map(|d| 1.0 - d as f64 / 100.0)),
        (0.15, parts.intent.map(intent_weight)),
    ];
    let (mut sum, mut weights) = (0.0, 0.0);
    for (weight, part) in weighted {
        if let Some(part) = part {
            sum += weight * part.clamp(0.0, 1.0);
            weights += weight;
        }
    }
    (weights > 0.0).then(|| 100.0 * sum / weights)
}

fn log_share(volume: i64) -> f64 {
    (volume.max(0) as f64).ln_1p() / MAX_SEARCHES.ln_1p()
}

/// Weight of an intent by how much an article can do for its searcher: most for comparing, nearly nothing for
/// reaching a known place.
const fn intent_weight(intent: Intent) -> f64 {
    match intent {
        Intent::Commercial => 1.0,
        Intent::Transactional => 0.8,
        Intent::Informational => 0.6,
        Intent::Navigational => 0.1,
    }
}

/// Difficulty in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// 0 to 29.
    Easy,
    /// 30 to 59.
    Medium,
    /// 60 to 100.
    Hard,
}

impl Band {
    /// The band of a difficulty.
    pub const fn from_difficulty(difficulty: i64) -> Self {
        match difficulty {
            ..30 => Self::Easy,
            30..60 => Self::Medium,
            60.. => Self::Hard,
        }
    }

    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Hard => "hard",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy as _, any, prop_assert, proptest};
    use searchwright_contract::keywords::Intent;

    use super::{Band, Parts, score};

    fn near(a: Option<f64>, b: f64) {
        assert!((a.unwrap() - b).abs() < 1e-9, "{a:?} is not {b}");
    }

    #[test]
    fn parts_that_are_missing_have_no_say() {
        let all = Parts {
            relevance: Some(0.5),
            volume: Some(1_000_000),
            difficulty: Some(40),
            intent: Some(Intent::Commercial),
        };
        near(score(&all), 100.0 * (0.35 * 0.5 + 0.25 + 0.25 * 0.6 + 0.15));
        let no_volume = Parts { volume: None, ..all };
        near(score(&no_volume), 100.0 * (0.35 * 0.5 + 0.25 * 0.6 + 0.15) / 0.75);
        let only_difficulty = Parts {
            difficulty: Some(40),
            ..Parts::default()
        };
        near(score(&only_difficulty), 60.0);
        assert_eq!(score(&Parts::default()), None);
    }

    #[test]
    fn no_searches_are_worth_less_than_many() {
        let of = |volume| {
            let parts = Parts {
                volume: Some(volume),
                ..Parts::default()
            };
            score(&parts).unwrap()
        };
        near(Some(of(0)), 0.0);
        assert!(of(10) < of(1000) && of(1000) < of(90_000));
        near(Some(of(1_000_000)), 100.0);
        near(Some(of(5_000_000)), 100.0);
    }

    #[test]
    fn bands() {
        let bands = [0, 29, 30, 59, 60, 100].map(|d| Band::from_difficulty(d).as_str());
        assert_eq!(bands, ["easy", "easy", "medium", "medium", "hard", "hard"]);
    }

    proptest! {
        #[test]
        fn a_score_is_a_percentage(
            relevance in any::<Option<f64>>().prop_filter("no NaN", |r| r.is_none_or(|r| !r.is_nan())),
            volume in any::<Option<i64>>(),
            difficulty in proptest::option::of(0i64..=100),
        ) {
            let parts = Parts { relevance, volume, difficulty, intent: None };
            if let Some(score) = score(&parts) {
                prop_assert!((0.0..=100.0).contains(&score));
            }
        }
    }
}

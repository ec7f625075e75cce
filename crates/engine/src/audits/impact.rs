//! The impact of issues and the scores of categories, from severities and page ranks.

use std::collections::BTreeMap;

use searchwright_site::{checks::Severity, score::Scores};

use crate::wire_name;

/// Weight of a severity in the impact of an issue.
pub(super) const fn weight(severity: Severity) -> f64 {
    match severity {
        Severity::Error => 10.0,
        Severity::Warning => 3.0,
        Severity::Notice => 1.0,
    }
}

/// Impact of an issue from the sum over its occurrences of severity weight times page rank: in percent, three decimals.
pub(super) fn impact_of(weight: f64) -> f64 {
    (weight * 100.0 * 1000.0).round() / 1000.0
}

/// Returns the scores by name of category; `None` when no page could be scored.
pub(super) fn scores_by_category(scores: &Scores) -> Option<BTreeMap<String, u8>> {
    let named = scores
        .categories()
        .map(|(category, score)| (wire_name(&category), score));
    Some(named.collect()).filter(|scores: &BTreeMap<_, _>| !scores.is_empty())
}

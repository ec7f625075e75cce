//! The scores of categories by name.

use std::collections::BTreeMap;

use searchwright_site::score::Scores;

use crate::wire_name;

/// Returns the scores by name of category; `None` when no page could be scored.
pub(super) fn scores_by_category(scores: &Scores) -> Option<BTreeMap<String, u8>> {
    let named = scores
        .categories()
        .map(|(category, score)| (wire_name(&category), score));
    Some(named.collect()).filter(|scores: &BTreeMap<_, _>| !scores.is_empty())
}

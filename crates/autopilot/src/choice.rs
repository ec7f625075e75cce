//! Choice of the keyword for the next post.

use jiff::{Span, civil::Date};
use searchwright_contract::{
    Instant,
    autopilot::KeywordChoice,
    ids::ClusterId,
    keywords::{Keyword, TrendMonth},
};

/// Points for a keyword whose searches peak soon after the slot.
const SEASONAL_BONUS: f64 = 10.0;
/// Days after the slot within which the peak has to begin.
const SEASON_DAYS: i32 = 60;
/// Searches in the best calendar month, as a multiple of the average month, from which they count as seasonal.
const MIN_PEAK: f64 = 1.2;

/// Returns whether the slot after so many earlier ones brings a published post up to date, so that a share of them does, in
/// percent, evenly spread.
pub fn is_refresh_slot(earlier: u64, share: u8) -> bool {
    let due = |slots: u64| slots * u64::from(share) / 100;
    due(earlier + 1) > due(earlier)
}

/// Chooses among approved keywords that no post targets: the highest score with its seasonal bonus, the oldest of equals. Keywords
/// for which pages or posts compete are left out. A cluster is not used twice in a row while there is another.
pub fn choose(
    candidates: &[Keyword],
    slot: Date,
    last_cluster: Option<ClusterId>,
) -> Option<(&Keyword, KeywordChoice)> {
    let free: Vec<&Keyword> = candidates
        .iter()
        .filter(|keyword| keyword.post_ids.is_empty() && keyword.details.cannibalisation.is_none())
        .collect();
    let in_last_cluster = |keyword: &Keyword| last_cluster.is_some() && keyword.cluster_id == last_cluster;
    let best_of = |wanted: &dyn Fn(&Keyword) -> bool| {
        let ranked = free.iter().copied().filter(|keyword| wanted(keyword));
        ranked.max_by(|a, b| {
            let by_points = points(a, slot).total_cmp(&points(b, slot));
            by_points.then_with(|| age(b).cmp(&age(a)))
        })
    };
    let best = best_of(&|_| true)?;
    let chosen = best_of(&|keyword| !in_last_cluster(keyword)).unwrap_or(best);
    let choice = KeywordChoice {
        keyword: chosen.keyword.clone(),
        score: chosen.score,
        seasonal_bonus: seasonal_bonus(&chosen.details.trend, slot),
        search_volume: chosen.search_volume,
        candidates: u32::try_from(candidates.len()).unwrap_or(u32::MAX),
        competing: u32::try_from(candidates.len() - free.len()).unwrap_or(u32::MAX),
        cluster_rotated: chosen.id != best.id,
    };
    Some((chosen, choice))
}

fn points(keyword: &Keyword, slot: Date) -> f64 {
    keyword.score.unwrap_or_default() + seasonal_bonus(&keyword.details.trend, slot)
}

fn age(keyword: &Keyword) -> (Instant, searchwright_contract::ids::KeywordId) {
    (keyword.created_at, keyword.id)
}

/// Returns the bonus of a trend: searches of at least a year, whose best calendar month begins within 60 days of the slot or holds
/// it.
fn seasonal_bonus(trend: &[TrendMonth], slot: Date) -> f64 {
    let mut sums = [(0.0, 0u32); 12];
    for month in trend {
        let number = month.month.get(5..7).and_then(|text| text.parse::<usize>().ok());
        if let Some(sum) = number.and_then(|number| sums.get_mut(number.wrapping_sub(1))) {
            *sum = (sum.0 + month.value as f64, sum.1 + 1);
        }
    }
    let means: Vec<f64> = sums
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(sum, count)| sum / f64::from(*count))
        .collect();
    if means.len() < 12 {
        return 0.0;
    }
    let average = means.iter().sum::<f64>() / 12.0;
    let Some((peak, most)) = (1i8..).zip(&means).max_by(|a, b| a.1.total_cmp(b.1)) else {
        return 0.0;
    };
    if average <= 0.0 || *most < MIN_PEAK * average {
        return 0.0;
    }
    let end = slot.checked_add(Span::new().days(SEASON_DAYS)).unwrap_or(slot);
    let mut month = slot.first_of_month();
    while month <= end {
        if month.month() == peak {
            return SEASONAL_BONUS;
        }
        match month.checked_add(Span::new().months(1)) {
            Ok(next) => month = next,
            Err(_) => break,
        }
    }
    0.0
}

#[cfg(test)]
mod tests;

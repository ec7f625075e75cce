//! Choice among stored periods that overlap: an export of the last 28 days is often followed by one that shares most of its days.

use crate::overview::DayRange;

fn length(period: DayRange) -> i64 {
    i64::from(period.to) - i64::from(period.from) + 1
}

/// Returns the stored periods whose rows are counted for a wanted period, in the order of time. No two of them overlap, so that
/// nothing is counted twice.
///
/// A stored period is considered if at least half of its days are wanted: reports lag some days behind, and an export of 28
/// days would otherwise never count in the 28 days up to today. Single days are used if they are as many days as longer
/// periods would cover.
pub fn choose_periods(stored: &[DayRange], wanted: DayRange) -> Vec<DayRange> {
    let mut days: Vec<DayRange> = Vec::new();
    let mut longer: Vec<DayRange> = Vec::new();
    for period in stored.iter().filter(|period| period.from <= period.to) {
        let shared = DayRange {
            from: period.from.max(wanted.from),
            to: period.to.min(wanted.to),
        };
        if length(shared) <= 0 || length(shared) * 2 < length(*period) {
            continue;
        }
        if period.from == period.to {
            days.push(*period);
        } else {
            longer.push(*period);
        }
    }
    days.sort_unstable_by_key(|day| day.from);
    days.dedup();
    let longer = longest_chain(longer);
    let covered: i64 = longer.iter().map(|period| length(*period)).sum();
    if days.len() as i64 >= covered {
        days
    } else {
        longer
    }
}

/// Returns periods without overlaps that together have the most days; of equal choices the one with the newest periods.
fn longest_chain(mut periods: Vec<DayRange>) -> Vec<DayRange> {
    periods.sort_unstable_by_key(|period| (period.to, period.from));
    periods.dedup();
    // best[i]: most days with the first i periods
    let mut best: Vec<i64> = vec![0];
    let before: Vec<usize> = periods
        .iter()
        .map(|period| periods.partition_point(|other| other.to < period.from))
        .collect();
    for (at, period) in periods.iter().enumerate() {
        best.push(best[at].max(best[before[at]] + length(*period)));
    }
    let mut chosen = Vec::new();
    let mut end = periods.len();
    while end > 0 {
        let with = best[before[end - 1]] + length(periods[end - 1]);
        if with == best[end] {
            chosen.push(periods[end - 1]);
            end = before[end - 1];
        } else {
            end -= 1;
        }
    }
    chosen.reverse();
    chosen
}

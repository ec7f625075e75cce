//! Limits at which the autopilot stops by itself.

use std::collections::BTreeMap;

use jiff::civil::Date;
use searchwright_contract::autopilot::{AutopilotOutcome, AutopilotRun, PauseReason};

/// Failed runs in a row after which it pauses.
pub const MAX_FAILURES: usize = 3;
/// Posts in a row that could not be found at their address, after which it pauses.
pub const MAX_UNVERIFIED: usize = 2;
/// Posts that wait for review, from which on it pauses.
pub const MAX_WAITING: u64 = 5;
/// Multiple of what a site published in its best month that the autopilot may publish.
pub const MAX_GROWTH: u32 = 3;

/// Returns the number of failed runs since the last one that did not fail. `ended` are runs that ended, newest first. A run for
/// which nobody was there, or that a person stopped, counts neither way.
pub fn consecutive_failures(ended: &[AutopilotRun]) -> usize {
    use AutopilotOutcome::{Canceled, Failed, Rejected, SkippedMissed};
    let counted = ended
        .iter()
        .filter(|run| !matches!(run.outcome, Canceled | Rejected | SkippedMissed));
    counted.take_while(|run| run.outcome == Failed).count()
}

/// Returns the reason for which the autopilot has to pause, if there is one.
pub fn pause_reason(ended: &[AutopilotRun], waiting: u64) -> Option<PauseReason> {
    if consecutive_failures(ended) >= MAX_FAILURES {
        return Some(PauseReason::Failures);
    }
    let mut published = ended
        .iter()
        .filter(|run| run.outcome == AutopilotOutcome::Published && run.verified.is_some());
    let unverified = published
        .by_ref()
        .take_while(|run| run.verified == Some(false))
        .count();
    if unverified >= MAX_UNVERIFIED {
        return Some(PauseReason::Unverified);
    }
    (waiting >= MAX_WAITING).then_some(PauseReason::ReviewBacklog)
}

/// Returns the posts per month to which the site's own history limits the autopilot: three times its best month. `None` if nothing
/// is known to have been published.
pub fn volume_limit(publications: impl IntoIterator<Item = Date>) -> Option<u32> {
    let mut months: BTreeMap<(i16, i8), u32> = BTreeMap::new();
    for date in publications {
        *months.entry((date.year(), date.month())).or_default() += 1;
    }
    months
        .into_values()
        .max()
        .map(|best| best.saturating_mul(MAX_GROWTH))
}

#[cfg(test)]
mod tests {
    use searchwright_contract::{Instant, ids::AutopilotRunId};

    use super::*;

    fn run(outcome: AutopilotOutcome, verified: Option<bool>) -> AutopilotRun {
        AutopilotRun {
            id: AutopilotRunId::MIN,
            slot_date: "2026-11-09".to_owned(),
            slot_at: Instant::default(),
            outcome,
            detail: None,
            keyword_id: None,
            choice: None,
            refresh: None,
            post_id: None,
            regenerated: false,
            published_url: None,
            verified,
            finished_at: None,
            created_at: Instant::default(),
            updated_at: Instant::default(),
        }
    }

    #[test]
    fn three_failures_in_a_row_pause() {
        use AutopilotOutcome::{Failed, Published, Rejected};
        let runs = |outcomes: &[AutopilotOutcome]| -> Vec<AutopilotRun> {
            outcomes.iter().map(|outcome| run(*outcome, None)).collect()
        };
        assert_eq!(pause_reason(&runs(&[Failed, Failed, Published, Failed]), 0), None);
        let three = runs(&[Failed, Rejected, Failed, Failed, Published]);
        assert_eq!(pause_reason(&three, 0), Some(PauseReason::Failures));
        assert_eq!(consecutive_failures(&three), 3);
    }

    #[test]
    fn two_posts_that_are_not_found_pause() {
        use AutopilotOutcome::Published;
        let missing = run(Published, Some(false));
        let found = run(Published, Some(true));
        let unknown = run(Published, None);
        assert_eq!(
            pause_reason(&[missing.clone(), found.clone(), missing.clone()], 0),
            None
        );
        let two = [missing.clone(), unknown, missing, found];
        assert_eq!(pause_reason(&two, 0), Some(PauseReason::Unverified));
        assert_eq!(pause_reason(&[], 4), None);
        assert_eq!(pause_reason(&[], 5), Some(PauseReason::ReviewBacklog));
    }

    #[test]
    fn the_volume_is_limited_by_the_best_month() {
        let dates = ["2026-09-01", "2026-09-30", "2026-10-15"].map(|date| date.parse::<Date>().unwrap());
        assert_eq!(volume_limit(dates), Some(6));
        assert_eq!(volume_limit([]), None);
    }
}

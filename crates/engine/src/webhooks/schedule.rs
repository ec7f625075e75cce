//! Retry schedule of failed deliveries.

use std::time::Duration;

use searchwright_contract::Instant;

/// Seconds from each failed attempt to the next one: ten attempts in 75.6 hours.
const STEPS: [u64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// Time added after a 429 or a timeout, because the receiver is busy.
const BUSY: Duration = Duration::from_mins(1);
/// Hours of nothing but failure after which a webhook is disabled.
const DISABLED_AFTER_HOURS: i64 = 120;

/// Failure of an attempt, as far as it decides the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FailedAttempt {
    /// Whether it was a 429 or a timeout.
    pub(super) busy: bool,
    /// `Retry-After`.
    pub(super) retry_after: Option<Duration>,
}

/// Returns the wait after so many attempts; `None` after the last. It is up to a fifth shorter or longer, at random, so that
/// deliveries that failed together are not retried together. A `Retry-After` is followed within one to two times the step.
pub(super) fn wait(tries: u32, failure: FailedAttempt, chance: u64) -> Option<Duration> {
    let step = STEPS.get(tries.checked_sub(1)? as usize)?;
    let base = Duration::from_secs(*step);
    let jitter = 0.8 + 0.4 * (chance >> 11) as f64 / (1_u64 << 53) as f64;
    let wait = match failure.retry_after {
        Some(asked) => asked.clamp(base, base * 2),
        None => base.mul_f64(jitter),
    };
    Some(if failure.busy { wait + BUSY } else { wait })
}

/// Returns whether a webhook that has only failed since this time is disabled.
pub(super) fn is_given_up(failing_since: Option<Instant>, now: Instant) -> bool {
    failing_since.is_some_and(|since| now.millis() - since.millis() >= DISABLED_AFTER_HOURS * 3_600_000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn ten_attempts_in_three_days() {
        let middle = 1 << 63;
        let waits: Vec<u64> = (1..=10)
            .map_while(|tries| wait(tries, FailedAttempt::default(), middle))
            .map(|wait| wait.as_secs())
            .collect();
        assert_eq!(waits, STEPS);
        assert_eq!(waits.iter().sum::<u64>(), 272_105);
    }

    #[test]
    fn five_days_are_enough() {
        let now = Instant::from_millis(1_000_000_000_000);
        assert!(!is_given_up(None, now));
        assert!(!is_given_up(Some(now.plus_millis(-5 * 86_400_000 + 1)), now));
        assert!(is_given_up(Some(now.plus_millis(-5 * 86_400_000)), now));
    }

    proptest! {
        #[test]
        fn a_wait_is_near_its_step(tries in 1_u32..10, asked in proptest::option::of(0_u64..1_000_000), busy in proptest::bool::ANY, chance: u64) {
            let base = STEPS[tries as usize - 1] as f64;
            let failure = FailedAttempt { busy, retry_after: asked.map(Duration::from_secs) };
            let seconds = wait(tries, failure, chance).unwrap().as_secs_f64() - if busy { 60.0 } else { 0.0 };
            match asked {
                Some(asked) => prop_assert_eq!(seconds, (asked as f64).clamp(base, base * 2.0)),
                None => prop_assert!((base * 0.8..=base * 1.2).contains(&seconds)),
            }
        }
    }
}

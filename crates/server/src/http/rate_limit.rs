//! Rate limits by the generic cell rate algorithm (ITU-T I.371): one instant per bucket, no windows to
//! forget. A refused request takes nothing.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, Hash, RandomState},
    sync::{Mutex, PoisonError},
};

use searchwright_contract::Instant;

const SHARDS: usize = 32;
/// Buckets per shard before full ones are swept out.
const SWEEP: usize = 4096;

/// So many units in so much time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Units, at least 1.
    pub units: u32,
    /// Milliseconds.
    pub window_millis: i64,
}

impl Quota {
    /// Microseconds in which one unit comes back.
    pub(super) fn step_micros(self) -> i64 {
        (self.window_millis.saturating_mul(1000) / i64::from(self.units)).max(1)
    }
}

/// Remainder of a quota after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether the request goes through.
    pub allowed: bool,
    /// Units of the quota.
    pub limit: u32,
    /// Units left.
    pub remaining: u32,
    /// Seconds, rounded up: until the quota is whole again, or, when refused, until one unit is free.
    pub reset: u32,
}

/// Buckets by key.
#[derive(Debug)]
pub struct Limiter<K> {
    shards: Vec<Mutex<HashMap<K, i64>>>,
    hasher: RandomState,
}

impl<K: Hash + Eq> Default for Limiter<K> {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
        }
    }
}

impl<K: Hash + Eq> Limiter<K> {
    /// Takes one unit, if there is one.
    pub fn take(&self, key: K, quota: Quota, now: Instant) -> Standing {
        // Microseconds, so that a quota of many thousand units a minute still has whole steps.
        let now = now.millis().saturating_mul(1000);
        let window = quota.window_millis.saturating_mul(1000);
        let step = quota.step_micros();
        let shard = &self.shards[self.hasher.hash_one(&key) as usize % SHARDS];
        let mut buckets = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() > SWEEP {
            buckets.retain(|_, full_at| *full_at > now);
        }
        let full_at = buckets.entry(key).or_insert(now);
        if *full_at > now + 2 * window {
            // the clock was ahead; a client does not wait until it is there again
            *full_at = now;
        }
        let begin = (*full_at).max(now);
        let seconds = |micros: i64| u32::try_from((micros + 999_999) / 1_000_000).unwrap_or(u32::MAX);
        let wait = begin + step - (now + window);
        if wait > 0 {
            return Standing {
                allowed: false,
                limit: quota.units,
                remaining: 0,
                reset: seconds(wait).max(1),
            };
        }
        *full_at = begin + step;
        let remaining = u32::try_from((now + window - *full_at) / step).unwrap_or(0);
        Standing {
            allowed: true,
            limit: quota.units,
            remaining,
            reset: seconds(*full_at - now),
        }
    }
}

impl<K: Hash + Eq> Limiter<K> {
    /// Gives a unit back that was taken for a request which another quota then refused.
    pub fn give_back(&self, key: &K, quota: Quota) {
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        let mut buckets = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(full_at) = buckets.get_mut(key) {
            *full_at -= quota.step_micros();
        }
    }
}

/// The standing a client should look at: the one closest to its end.
pub fn tightest(standings: &[Standing]) -> Option<Standing> {
    let share = |s: &Standing| u64::from(s.remaining) * 1_000_000 / u64::from(s.limit.max(1));
    standings.iter().copied().min_by_key(|s| (s.allowed, share(s)))
}

#[cfg(test)]
mod tests {
    use searchwright_contract::Instant;

    use super::{Limiter, Quota, tightest};

    const QUOTA: Quota = Quota {
        units: 300,
        window_millis: 60_000,
    };

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let limiter = Limiter::default();
        let now = Instant::from_millis(1_000_000_000);
        assert!(limiter.take("key", QUOTA, now).allowed);
        assert!(limiter.take("key", QUOTA, now.plus_millis(-10 * 60_000)).allowed);
    }

    #[test]
    fn a_burst_is_the_quota_and_waiting_as_told_succeeds() {
        let limiter = Limiter::default();
        let mut now = Instant::from_millis(1_000_000);
        for left in (0..300).rev() {
            let standing = limiter.take("key", QUOTA, now);
            assert!(standing.allowed);
            assert_eq!(standing.remaining, left);
        }
        for _ in 0..1000 {
            let refused = limiter.take("key", QUOTA, now);
            assert!(!refused.allowed);
            assert_eq!(refused.remaining, 0);
            now = now.plus_millis(i64::from(refused.reset) * 1000);
            assert!(limiter.take("key", QUOTA, now).allowed);
            while limiter.take("key", QUOTA, now).allowed {}
        }
        assert!(limiter.take("other", QUOTA, now).allowed);
    }

    #[test]
    fn the_sustained_rate_is_the_quota() {
        let limiter = Limiter::default();
        let begin = Instant::from_millis(0);
        let hour = (0..3_600_000)
            .step_by(50)
            .filter(|ms| limiter.take("key", QUOTA, begin.plus_millis(*ms)).allowed)
            .count();
        assert!((300 * 60..=300 * 61).contains(&hour), "{hour}");
    }

    #[test]
    fn the_tightest_is_shown() {
        let limiter = Limiter::default();
        let now = Instant::from_millis(0);
        let wide = limiter.take("a", QUOTA, now);
        let narrow = limiter.take(
            "b",
            Quota {
                units: 2,
                window_millis: 60_000,
            },
            now,
        );
        assert_eq!(tightest(&[wide, narrow]), Some(narrow));
    }
}

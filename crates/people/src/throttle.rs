//! Limits on guessing passwords: per account and per network address, stored, so that they hold on every replica and after a
//! restart.

use searchwright_contract::Instant;
use searchwright_store::{
    Tx,
    sign_in::{self, Attempts},
};
use sha2::{Digest as _, Sha256};

use searchwright_failure::Result;

/// Failures that cost no waiting.
const FREE_FAILURES: u32 = 10;
/// After this time without a failure, they are forgotten.
const FORGET_MILLIS: i64 = 15 * MINUTE;
/// Longest wait after a failure.
const MAX_WAIT_MILLIS: i64 = 15 * MINUTE;
const MINUTE: i64 = 60_000;

/// Account or network address whose failures are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject([u8; 32]);

impl Subject {
    pub(super) fn account(email: &str) -> Self {
        Self(Sha256::digest(format!("account:{email}")).into())
    }

    pub(super) fn address(address: &str) -> Self {
        Self(Sha256::digest(format!("address:{address}")).into())
    }

    /// Requests for a new password by an email or network address.
    pub(super) fn password_reset(address: &str) -> Self {
        Self(Sha256::digest(format!("password_reset:{address}")).into())
    }
}

/// Returns the milliseconds for which a subject has to wait after its last failure: after the free ones a minute, which doubles
/// with each.
fn wait_millis(failures: u32) -> i64 {
    match failures.checked_sub(FREE_FAILURES) {
        None => 0,
        Some(more) => MINUTE.saturating_mul(1 << more.min(10)).min(MAX_WAIT_MILLIS),
    }
}

/// Returns the failures that still count.
fn remaining(attempts: Attempts, now: Instant) -> u32 {
    let quiet = now.millis() - attempts.last_at.millis();
    if quiet >= FORGET_MILLIS + wait_millis(attempts.failures) {
        0
    } else {
        attempts.failures
    }
}

/// Returns the seconds that a subject has to wait before its next attempt.
fn seconds_left(attempts: Attempts, now: Instant) -> Option<u32> {
    let failures = remaining(attempts, now);
    let left = attempts.last_at.millis() + wait_millis(failures) - now.millis();
    (failures > 0 && left > 0).then(|| u32::try_from(left / 1_000 + 1).unwrap_or(u32::MAX))
}

/// Counts an attempt of each subject as failed before it is made, so that concurrent attempts cannot exceed the limit. Returns
/// the seconds to wait if one of them has to; nothing is counted then.
pub(super) async fn begin(tx: &mut Tx, subjects: &[Subject], now: Instant) -> Result<Option<u32>> {
    // Whoever has to wait leaves no row behind, under however many names they try.
    for subject in subjects {
        let known = sign_in::find_attempts(tx, &subject.0).await?;
        if let Some(seconds) = known.and_then(|attempts| seconds_left(attempts, now)) {
            return Ok(Some(seconds));
        }
    }
    let mut counted = Vec::with_capacity(subjects.len());
    for subject in subjects {
        let attempts = sign_in::lock_attempts(tx, &subject.0, now).await?;
        if let Some(seconds) = seconds_left(attempts, now) {
            return Ok(Some(seconds));
        }
        counted.push((subject, remaining(attempts, now) + 1));
    }
    for (subject, failures) in counted {
        let attempts = Attempts {
            failures,
            last_at: now,
        };
        sign_in::set_attempts(tx, &subject.0, attempts).await?;
    }
    Ok(None)
}

/// Takes back the attempt that [`begin`] counted: it succeeded. Failures of the account are forgotten; those of the address are
/// not, or somebody with an account of their own could try those of others without end.
pub(super) async fn succeed(tx: &mut Tx, account: Subject, address: Subject, now: Instant) -> Result<()> {
    sign_in::clear_attempts(tx, &account.0).await?;
    take_back(tx, &[address], now).await
}

/// Takes back the attempt that [`begin`] counted, and nothing else.
pub(super) async fn take_back(tx: &mut Tx, subjects: &[Subject], now: Instant) -> Result<()> {
    for subject in subjects {
        let attempts = sign_in::lock_attempts(tx, &subject.0, now).await?;
        let failures = attempts.failures.saturating_sub(1);
        sign_in::set_attempts(tx, &subject.0, Attempts { failures, ..attempts }).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end() {
        assert_eq!((wait_millis(0), wait_millis(9)), (0, 0));
        assert_eq!((wait_millis(10), wait_millis(11)), (MINUTE, 2 * MINUTE));
        assert_eq!(wait_millis(u32::MAX), MAX_WAIT_MILLIS);
        let now = Instant::from_millis(1_000_000_000);
        let after = |millis: i64| Attempts {
            failures: 9,
            last_at: now.plus_millis(-millis),
        };
        assert_eq!(remaining(after(FORGET_MILLIS - 1), now), 9);
        assert_eq!(remaining(after(FORGET_MILLIS), now), 0);
    }
}

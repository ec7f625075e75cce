//! Refused calls of programs that a person connected, to be stored: each kind once a minute, so that a program which tries again
//! and again does not fill the log.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use searchwright_contract::{Instant, ids::UserId};

/// Denials that are remembered, at most.
const MAX_DENIALS: usize = 1_000;
/// Time in which an equal one is recorded once.
const SAME_MILLIS: i64 = 60_000;

/// A refused call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Denial {
    /// Person whose token it was.
    pub user: UserId,
    /// The OAuth client.
    pub client: String,
    /// Code of the refusal and operation.
    pub detail: String,
}

/// Refused calls that wait to be stored.
#[derive(Debug, Default)]
pub struct DenialLog(Mutex<HashMap<Denial, RecordedDenial>>);

#[derive(Clone, Copy, Debug)]
struct RecordedDenial {
    at: Instant,
    is_stored: bool,
}

impl DenialLog {
    /// Records a refused call, unless an equal one was recorded in the last minute.
    pub fn record(&self, denial: Denial, now: Instant) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = all
            .get(&denial)
            .is_none_or(|known| known.is_stored && now.millis() - known.at.millis() >= SAME_MILLIS);
        if is_new && (all.len() < MAX_DENIALS || all.contains_key(&denial)) {
            let recorded = RecordedDenial {
                at: now,
                is_stored: false,
            };
            all.insert(denial, recorded);
        }
    }

    /// Takes the calls that wait to be stored, with their times.
    pub fn take(&self, now: Instant) -> Vec<(Denial, Instant)> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = Vec::new();
        for (denial, recorded) in all.iter_mut().filter(|(_, recorded)| !recorded.is_stored) {
            recorded.is_stored = true;
            waiting.push((denial.clone(), recorded.at));
        }
        all.retain(|_, recorded| now.millis() - recorded.at.millis() < SAME_MILLIS);
        waiting.sort_by_key(|(_, at)| *at);
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_denials_are_recorded_once_a_minute() {
        let log = DenialLog::default();
        let at = |seconds: i64| Instant::from_millis(seconds * 1_000);
        let denial = |detail: &str| Denial {
            user: UserId::MIN,
            client: "c".to_owned(),
            detail: detail.to_owned(),
        };
        for second in 0..30 {
            log.record(denial("a"), at(second));
        }
        log.record(denial("b"), at(10));
        let taken = log.take(at(30));
        assert_eq!(taken, [(denial("a"), at(0)), (denial("b"), at(10))]);
        log.record(denial("a"), at(40));
        assert!(log.take(at(41)).is_empty(), "the same minute");
        log.record(denial("a"), at(61));
        assert_eq!(log.take(at(61)).len(), 1);
        for n in 0..2 * MAX_DENIALS {
            log.record(denial(&n.to_string()), at(100));
        }
        assert!(log.take(at(100)).len() <= MAX_DENIALS);
    }
}

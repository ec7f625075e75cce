//! Refuses requests at once when more come than can be carried out.
//!
//! A request that has waited for longer than the bound before anything looks at it is refused before it costs anything, as routers
//! drop what was too long in their queue (CoDel, RFC 8289): those that are admitted wait no longer than that, and the others know at
//! once when to come again. What starts work is refused first; probes, pages and everything else without the table of operations
//! never are.
//!
//! Requests say nothing of when they came: a pulse that waits among them does. It is due at a known time, so that it is known too how
//! late it is before it has come, and how many were looked at meanwhile.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use searchwright_contract::{Code, Effect, Problem};
use tokio::sync::Notify;

/// Time from one pulse until the next is due.
pub const PULSE: Duration = Duration::from_millis(2);
/// Timers go by whole milliseconds: so much is no delay.
const ROUND: Duration = Duration::from_millis(1);
/// Connections of which no request is refused: a client with as many is ordinary, and while a machine pauses, the few that come wait
/// for it and not for each other.
pub const ORDINARY: usize = 64;
/// Requests that have to be looked at before a pulse that is late.
const WAITING: u64 = ORDINARY as u64;
/// Longest time after which those refused are asked to come again, in seconds.
const LONGEST: u32 = 5;
const NEVER: u64 = u64::MAX;

/// Kind of a request, by how soon it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Reads, and calls of which nothing else is known yet.
    Read,
    /// Changes.
    Change,
    /// Starts of work that is done later.
    Work,
}

impl Urgency {
    /// Returns that of an operation.
    pub const fn from_effect(effect: Effect) -> Self {
        if effect.runs() {
            Self::Work
        } else if effect.writes() {
            Self::Change
        } else {
            Self::Read
        }
    }

    /// Share of the bound for which these may wait, in hundredths.
    const fn hundredths(self) -> u64 {
        match self {
            Self::Read => 100,
            Self::Change => 80,
            Self::Work => 50,
        }
    }
}

/// Requests that come, and the time after which they are refused. Times are in microseconds.
#[derive(Debug)]
pub struct Pressure {
    begun: Instant,
    /// Time for which requests may wait.
    bound: AtomicU64,
    /// Time at which the pulse is due.
    due: AtomicU64,
    /// Requests looked at since then.
    ahead: AtomicU64,
    /// Time for which the last pulse waited, if enough requests were looked at before it.
    waited: AtomicU64,
    refused: AtomicU64,
    /// Whether a request came since the last pulse.
    busy: AtomicBool,
    /// Whether the next pulse waits for a request.
    quiet: AtomicBool,
    asked: Notify,
}

impl Default for Pressure {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            bound: AtomicU64::new(NEVER),
            due: AtomicU64::new(NEVER),
            ahead: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            quiet: AtomicBool::new(false),
            asked: Notify::new(),
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(NEVER)
}

impl Pressure {
    /// Notes a request and returns whether it may go on; the error is its refusal.
    pub fn admit(&self, urgency: Urgency, now: Instant) -> Result<(), Problem> {
        self.busy.store(true, Ordering::Relaxed);
        if self.quiet.load(Ordering::Relaxed) && self.quiet.swap(false, Ordering::Relaxed) {
            self.asked.notify_one();
        }
        let now = micros(now.saturating_duration_since(self.begun));
        let mut waited = self.waited.load(Ordering::Relaxed);
        if let Some(late) = now.checked_sub(self.due.load(Ordering::Relaxed))
            && self.ahead.fetch_add(1, Ordering::Relaxed) >= WAITING
        {
            waited = waited.max(late.saturating_sub(micros(ROUND)));
        }
        let bound = self.bound.load(Ordering::Relaxed);
        if waited <= bound / 100 * urgency.hundredths() || bound == NEVER {
            return Ok(());
        }
        Err(self.refusal("more requests come than can be carried out"))
    }

    /// A refusal with a time to come again: a different one each time, so that not all come again at once.
    pub fn refusal(&self, detail: &str) -> Problem {
        /// The golden ratio, as a share of 2^32: its multiples are spread evenly.
        const SPREAD: u32 = 0x9e37_79b9;
        let number = self.refused.fetch_add(1, Ordering::Relaxed) as u32;
        let part = u64::from(number.wrapping_mul(SPREAD)) * u64::from(LONGEST);
        Problem::new(Code::Overloaded, detail).after(1 + (part >> 32) as u32)
    }

    /// Waits for a request if none came since the last pulse: an idle server has no pulse.
    pub async fn until_asked(&self) {
        if !self.busy.swap(false, Ordering::Relaxed) {
            self.quiet.store(true, Ordering::Relaxed);
            self.asked.notified().await;
        }
    }

    /// Notes when the next pulse is due.
    pub fn expect(&self, due: Instant) {
        let due = micros(due.saturating_duration_since(self.begun));
        self.due.store(due, Ordering::Relaxed);
    }

    /// Notes for how long the pulse waited, and for how long requests may.
    pub fn observe(&self, waited: Duration, bound: Duration) {
        self.due.store(NEVER, Ordering::Relaxed);
        let many = self.ahead.swap(0, Ordering::Relaxed) > WAITING;
        let waited = if many {
            waited.saturating_sub(ROUND)
        } else {
            Duration::ZERO
        };
        self.waited.store(micros(waited), Ordering::Relaxed);
        self.bound.store(micros(bound), Ordering::Relaxed);
    }

    /// Returns the number of requests that were refused so far, and the time for which they wait now.
    pub fn now(&self) -> (u64, Duration) {
        let waited = self.waited.load(Ordering::Relaxed);
        (
            self.refused.load(Ordering::Relaxed),
            Duration::from_micros(waited),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::VecDeque,
        time::{Duration, Instant},
    };

    use super::{PULSE, Pressure, Urgency};

    const BOUND: Duration = Duration::from_millis(10);

    /// Longest waits of those that are admitted and of those that are refused in a queue of requests, which come at a rate for a
    /// second; each takes 0.2 ms, a refusal a fifth of it.
    fn queue(rate: u32) -> (Duration, Duration) {
        let (cost, pressure) = (Duration::from_micros(200), Pressure::default());
        let second = Duration::from_secs(1);
        let (begun, every) = (pressure.begun, second / rate);
        let (mut now, mut next, mut due) = (begun, begun, begun + PULSE);
        pressure.expect(due);
        let (mut line, mut pulses) = (VecDeque::<Option<Instant>>::new(), false);
        let (mut admitted, mut refused) = (Duration::ZERO, Duration::ZERO);
        while now < begun + second {
            while next <= now {
                line.push_back(Some(next));
                next += every;
            }
            if !pulses && due <= now {
                pulses = true;
                line.push_back(None);
            }
            match line.pop_front() {
                Some(Some(came)) => {
                    let outcome = pressure.admit(Urgency::Read, now);
                    let longest = if outcome.is_ok() {
                        &mut admitted
                    } else {
                        &mut refused
                    };
                    *longest = (*longest).max(now - came);
                    now += if outcome.is_ok() { cost } else { cost / 5 };
                }
                Some(None) => {
                    pressure.observe(now - due, BOUND);
                    (due, pulses) = (now + PULSE, false);
                    pressure.expect(due);
                }
                None => now = next.min(if pulses { next } else { due }),
            }
        }
        (admitted, refused)
    }

    #[test]
    fn those_admitted_wait_for_moments_however_many_come() {
        let (admitted, refused) = queue(4_500);
        assert!(admitted < BOUND && refused.is_zero(), "{admitted:?} {refused:?}");
        for rate in [7_500, 15_000, 20_000] {
            let (admitted, refused) = queue(rate);
            assert!(admitted < 4 * BOUND, "{rate}: {admitted:?}");
            assert!(!refused.is_zero() && refused < 4 * BOUND, "{rate}: {refused:?}");
        }
    }

    /// However slow the machine is, and however long it pauses.
    #[test]
    fn few_callers_are_refused_nothing() {
        let pressure = Pressure::default();
        for round in 0..1_000_u32 {
            let due = pressure.begun + round * PULSE;
            pressure.expect(due);
            // as many connections, each of which waits for its answer
            for _ in 0..64 {
                assert!(pressure.admit(Urgency::Work, due + 50 * BOUND).is_ok(), "{round}");
            }
            pressure.observe(50 * BOUND, BOUND);
        }
    }

    #[test]
    fn times_to_come_again_are_spread() {
        let pressure = Pressure::default();
        let mut times = [0; 6];
        for _ in 0..1_000 {
            times[pressure.refusal("busy").retry_after.unwrap() as usize] += 1;
        }
        assert_eq!(times[0], 0);
        assert!(times[1..].iter().all(|n| (190..=210).contains(n)), "{times:?}");
    }
}

//! Rate of requests to a host. Requests start some time apart; a host that responds with 429 or 503 gets half the rate,
//! and a higher one again after a number of good responses.

use std::{
    collections::HashMap,
    ops::{Index, IndexMut},
    time::Duration,
};

use tokio::time::Instant;

/// Maximum `Retry-After` that is honoured; [`CRAWL_DELAY_LIMIT`] is that of `Crawl-delay`, in seconds.
pub(super) const RETRY_AFTER_LIMIT: Duration = Duration::from_secs(60);
const CRAWL_DELAY_LIMIT: f32 = 10.0;
/// Slowest rate that halving leads to; [`FIRST_STEP`] is the spacing after halving a rate without spacing.
const SLOWEST: Duration = Duration::from_secs(10);
const FIRST_STEP: Duration = Duration::from_millis(100);
/// Number of responses without complaint before the rate doubles again.
const CALM: u32 = 20;
/// Number of failures in a row after which a host counts as unavailable.
const MAX_FAILURES: u32 = 10;

/// Signal of a finished request about its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// A response.
    Fine,
    /// Status 429 or 503, with the time of `Retry-After`.
    TooMuch(Option<Duration>),
    /// No response.
    Nothing,
}

#[derive(Debug)]
pub(super) struct Pace {
    spacing: Duration,
    usual_spacing: Duration,
    connections: usize,
    usual_connections: usize,
    next: Option<Instant>,
    in_flight: usize,
    /// Number of requests in flight that began before the rate was last halved.
    earlier: usize,
    calm: u32,
    failures: u32,
}

impl Pace {
    pub(super) fn new(spacing: Duration, connections: usize) -> Self {
        let connections = connections.max(1);
        Self {
            spacing,
            usual_spacing: spacing,
            connections,
            usual_connections: connections,
            next: None,
            in_flight: 0,
            earlier: 0,
            calm: 0,
            failures: 0,
        }
    }

    /// Slows down to a `Crawl-delay` in seconds.
    pub(super) fn slow_to(&mut self, crawl_delay: f32) {
        self.usual_spacing = self
            .usual_spacing
            .max(Duration::from_secs_f32(crawl_delay.clamp(0.0, CRAWL_DELAY_LIMIT)));
        self.spacing = self.spacing.max(self.usual_spacing);
    }

    /// Returns the current time between the starts of two requests.
    pub(super) fn spacing(&self) -> Duration {
        self.spacing
    }

    /// Time at which the next request may start; `None` until a request in flight ends.
    pub(super) fn ready_at(&self, now: Instant) -> Option<Instant> {
        (self.in_flight < self.connections).then(|| self.next.map_or(now, |next| next.max(now)))
    }

    /// Records the start of a request. `jitter`, from -1 to 1, shifts the next request by up to a fifth of the spacing.
    pub(super) fn begin(&mut self, now: Instant, jitter: f32) {
        self.in_flight += 1;
        let moved = 1.0 + 0.2 * f64::from(jitter.clamp(-1.0, 1.0));
        let next = now + Duration::from_micros((self.spacing.as_micros() as f64 * moved) as u64);
        self.next = Some(self.next.map_or(next, |n| n.max(next)));
    }

    /// Records the end of a request.
    pub(super) fn end(&mut self, now: Instant, signal: Signal) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let is_earlier = self.earlier > 0;
        self.earlier = self.earlier.saturating_sub(1);
        match signal {
            Signal::Fine => {
                self.calm += 1;
                if self.calm >= CALM {
                    self.calm = 0;
                    self.connections = (self.connections * 2).min(self.usual_connections);
                    let faster = self.spacing / 2;
                    self.spacing = if faster < FIRST_STEP {
                        self.usual_spacing
                    } else {
                        faster.max(self.usual_spacing)
                    };
                }
            }
            Signal::TooMuch(after) => {
                self.calm = 0;
                // complaints of several requests in flight count as one, as one loss in a window does in TCP (RFC 5681)
                if !is_earlier {
                    self.earlier = self.in_flight;
                    self.connections = (self.connections / 2).max(1);
                    self.spacing = (self.spacing * 2).clamp(FIRST_STEP, SLOWEST.max(self.usual_spacing));
                }
                let pause = after.unwrap_or_default().min(RETRY_AFTER_LIMIT);
                let next = now + pause.max(self.spacing);
                self.next = Some(self.next.map_or(next, |n| n.max(next)));
            }
            Signal::Nothing => self.calm = 0,
        }
    }

    /// Records the outcome of a URL after all attempts. Returns true if the host counts as unavailable from now on.
    pub(super) fn settle(&mut self, failed: bool) -> bool {
        self.failures = if failed { self.failures + 1 } else { 0 };
        self.is_dead()
    }

    pub(super) fn is_dead(&self) -> bool {
        self.failures >= MAX_FAILURES
    }
}

/// The hosts of a crawl, each with its request rate.
#[derive(Debug)]
pub(super) struct Hosts {
    indexes: HashMap<Box<str>, usize>,
    paces: Vec<Pace>,
    spacing: Duration,
    connections: usize,
}

impl Hosts {
    pub(super) fn new(spacing: Duration, connections: usize) -> Self {
        Self {
            indexes: HashMap::new(),
            paces: Vec::new(),
            spacing,
            connections,
        }
    }

    /// Returns the index of a host, and adds the host if it is new.
    pub(super) fn index_of(&mut self, host: &str) -> usize {
        if let Some(known) = self.indexes.get(host) {
            return *known;
        }
        let index = self.paces.len();
        self.paces.push(Pace::new(self.spacing, self.connections));
        self.indexes.insert(host.into(), index);
        index
    }
}

impl Index<usize> for Hosts {
    type Output = Pace;

    fn index(&self, host: usize) -> &Pace {
        &self.paces[host]
    }
}

impl IndexMut<usize> for Hosts {
    fn index_mut(&mut self, host: usize) -> &mut Pace {
        &mut self.paces[host]
    }
}

/// Delay of a `Retry-After` header. A date is relative to the server's own clock, the `Date` of the response.
pub(super) fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let text = |name| Some(headers.get(name)?.to_str().ok()?.trim());
    let value = text(http::header::RETRY_AFTER)?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text| httpdate::parse_http_date(text).ok();
    let (until, now) = (date(value)?, date(text(http::header::DATE)?)?);
    Some(until.duration_since(now).unwrap_or_default())
}

/// Pseudorandom numbers, reproducible for a seed (SplitMix64).
#[derive(Debug)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from -1 to 1.
    pub(super) fn jitter(&mut self) -> f32 {
        (self.roll() >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn retry_after_in_seconds_or_as_a_date() {
        let day = |time: &str| format!("Sun, 06 Nov 1994 {time} GMT");
        for (after, date, expected) in [
            ("120".to_owned(), None, Some(120)),
            (day("08:49:37"), Some(day("08:49:07")), Some(30)),
            (day("08:49:37"), Some(day("09:00:00")), Some(0)),
            (day("08:49:37"), None, None),
            ("soon".to_owned(), Some(day("08:49:07")), None),
        ] {
            let mut headers = http::HeaderMap::new();
            headers.insert(http::header::RETRY_AFTER, after.parse().unwrap());
            headers.extend(date.map(|date| (http::header::DATE, date.parse().unwrap())));
            assert_eq!(
                retry_after(&headers),
                expected.map(Duration::from_secs),
                "{after}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn requests_begin_apart_and_not_too_many_at_once() {
        let now = Instant::now();
        let mut pace = Pace::new(100 * MS, 2);
        assert_eq!(pace.ready_at(now), Some(now));
        pace.begin(now, 0.0);
        assert_eq!(pace.ready_at(now), Some(now + 100 * MS));
        pace.begin(now + 100 * MS, -1.0);
        assert_eq!(pace.ready_at(now + 100 * MS), None);
        pace.end(now + 110 * MS, Signal::Fine);
        assert_eq!(pace.ready_at(now + 110 * MS), Some(now + 180 * MS));
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_complains_gets_half_and_recovers() {
        let now = Instant::now();
        let mut pace = Pace::new(Duration::ZERO, 4);
        pace.end(now, Signal::TooMuch(Some(Duration::from_secs(3_600))));
        assert_eq!(
            (pace.spacing, pace.connections, pace.ready_at(now)),
            (100 * MS, 2, Some(now + Duration::from_secs(60)))
        );
        (0..9).for_each(|_| pace.end(now, Signal::TooMuch(None)));
        assert_eq!((pace.spacing, pace.connections), (SLOWEST, 1));
        (0..CALM * 8).for_each(|_| pace.end(now, Signal::Fine));
        assert_eq!((pace.spacing, pace.connections), (Duration::ZERO, 4));
    }

    #[tokio::test(start_paused = true)]
    async fn complaints_of_one_moment_are_one() {
        let now = Instant::now();
        let mut pace = Pace::new(100 * MS, 4);
        for expected in [2, 4] {
            (0..4).for_each(|_| pace.begin(now, 0.0));
            for _ in 0..4 {
                pace.end(now, Signal::TooMuch(None));
                assert_eq!(pace.spacing, expected * 100 * MS);
            }
        }
        pace.end(now, Signal::TooMuch(None));
        assert_eq!((pace.spacing, pace.connections), (800 * MS, 1));
    }

    #[test]
    fn crawl_delay_counts_up_to_ten_seconds() {
        let mut pace = Pace::new(100 * MS, 4);
        pace.slow_to(0.01);
        assert_eq!(pace.spacing, 100 * MS);
        pace.slow_to(3e38);
        assert_eq!(pace.spacing, Duration::from_secs(10));
    }

    #[test]
    fn ten_failures_in_a_row_and_not_fewer() {
        let mut pace = Pace::new(Duration::ZERO, 1);
        assert!((0..9).all(|_| !pace.settle(true)) && !pace.settle(false));
        assert!((0..9).all(|_| !pace.settle(true)) && pace.settle(true));
    }

    #[test]
    fn dice_fall_the_same_way_for_a_seed_and_within_bounds() {
        let rolls = |seed| {
            (0..1000)
                .map(|_| 0)
                .scan(Dice(seed), |dice, _: i32| Some(dice.jitter()))
                .collect::<Vec<_>>()
        };
        assert_eq!(rolls(7), rolls(7));
        assert!(
            rolls(7).iter().all(|j| (-1.0..=1.0).contains(j))
                && rolls(7).iter().any(|j| *j > 0.5)
                && rolls(7).iter().any(|j| *j < -0.5)
        );
    }
}

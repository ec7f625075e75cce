//! Durations of the parts of an analysis.

use std::{
    fmt,
    time::{Duration, Instant},
};

/// Durations of the parts so far, for the log.
pub(super) struct Laps {
    last: Instant,
    taken: Vec<(&'static str, Duration)>,
}

impl Laps {
    pub(super) fn begin() -> Self {
        Self {
            last: Instant::now(),
            taken: Vec::new(),
        }
    }

    /// Records the end of a part.
    pub(super) fn lap(&mut self, part: &'static str) {
        let now = Instant::now();
        self.taken.push((part, now - self.last));
        self.last = now;
    }
}

impl fmt::Display for Laps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (part, time)) in self.taken.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(f, "{space}{part}={}ms", time.as_millis())?;
        }
        Ok(())
    }
}

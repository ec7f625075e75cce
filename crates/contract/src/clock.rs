//! Source of time and ids, passed as a parameter so that tests control it.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use uuid::{ContextV7, Uuid};

use crate::Instant;

/// A source of time and ids. Cheap to clone.
#[derive(Clone)]
pub struct Clock {
    source: Source,
    ids: Arc<Mutex<ContextV7>>,
}

#[derive(Clone)]
enum Source {
    /// The time of the machine when the clock was made, and what has passed since then.
    System(Instant, std::time::Instant),
    Fixed(Arc<AtomicI64>),
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the clock that everything else is given"
)]
fn machine_time() -> Instant {
    Instant::from_millis(jiff::Timestamp::now().as_millisecond())
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

impl Clock {
    /// Returns the clock of the machine.
    pub fn system() -> Self {
        Self {
            source: Source::System(machine_time(), std::time::Instant::now()),
            ids: Arc::new(Mutex::new(ContextV7::new())),
        }
    }

    /// Returns a clock that stands still until it is advanced.
    pub fn fixed(at: Instant) -> Self {
        Self {
            source: Source::Fixed(Arc::new(AtomicI64::new(at.millis()))),
            ..Self::system()
        }
    }

    /// Advances a fixed clock; does nothing to the clock of the machine.
    pub fn advance(&self, millis: i64) {
        if let Source::Fixed(at) = &self.source {
            at.fetch_add(millis, Ordering::Relaxed);
        }
    }

    /// Returns the present time to the millisecond.
    pub fn now(&self) -> Instant {
        Instant::from_millis(match &self.source {
            Source::Fixed(at) => at.load(Ordering::Relaxed),
            Source::System(..) => return machine_time(),
        })
    }

    /// Returns a time that goes on evenly, whatever happens to the clock of the machine: for limits, caches and leases, which
    /// measure what has passed.
    pub fn steady(&self) -> Instant {
        match &self.source {
            Source::Fixed(_) => self.now(),
            Source::System(began, at) => {
                began.plus_millis(i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX))
            }
        }
    }

    /// Returns whether the clock is advanced by hand.
    pub const fn is_fixed(&self) -> bool {
        matches!(self.source, Source::Fixed(_))
    }

    /// Returns a new id whose order is the order of creation (UUIDv7 with a counter within the millisecond).
    pub fn id<I: From<Uuid>>(&self) -> I {
        let millis = self.now().millis().unsigned_abs();
        let context = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let time = uuid::Timestamp::from_unix(&*context, millis / 1000, (millis % 1000 * 1_000_000) as u32);
        Uuid::new_v7(time).into()
    }
}

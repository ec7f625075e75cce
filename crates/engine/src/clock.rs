//! Time and ids, passed in, so that tests can hold them still.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use searchwright_contract::Instant;
use uuid::{ContextV7, Uuid};

/// A source of time and ids. Cheap to clone.
#[derive(Clone)]
pub struct Clock {
    source: Source,
    ids: Arc<Mutex<ContextV7>>,
}

#[derive(Clone)]
enum Source {
    System,
    Fixed(Arc<AtomicI64>),
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self {
            source: Source::System,
            ids: Arc::new(Mutex::new(ContextV7::new())),
        }
    }

    /// A clock that stands still until it is moved.
    pub fn fixed(at: Instant) -> Self {
        Self {
            source: Source::Fixed(Arc::new(AtomicI64::new(at.millis()))),
            ..Self::system()
        }
    }

    /// Moves a fixed clock forward; the machine's does not listen.
    pub fn advance(&self, millis: i64) {
        if let Source::Fixed(at) = &self.source {
            at.fetch_add(millis, Ordering::Relaxed);
        }
    }

    /// Now, to the millisecond.
    pub fn now(&self) -> Instant {
        Instant::from_millis(match &self.source {
            Source::Fixed(at) => at.load(Ordering::Relaxed),
            #[expect(
                clippy::disallowed_methods,
                reason = "this is the clock that everything else is given"
            )]
            Source::System => jiff::Timestamp::now().as_millisecond(),
        })
    }

    /// A new id whose order is the order of creation (UUIDv7 with a counter within the millisecond).
    pub fn id(&self) -> Uuid {
        let millis = self.now().millis().unsigned_abs();
        let context = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        Uuid::new_v7(uuid::Timestamp::from_unix(
            &*context,
            millis / 1000,
            (millis % 1000 * 1_000_000) as u32,
        ))
    }
}

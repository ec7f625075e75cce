//! Announcements of changes of credentials between the processes of one database: a file beside it grows by one byte per change.

use std::{
    io::{self, Write as _},
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use super::disk;

/// Time after which the file is looked at again. Every request asks, and the commands that change it take longer to start.
const FRESH_FOR: Duration = Duration::from_millis(10);

/// The file, as it was when it was last looked at.
#[derive(Debug)]
pub(super) struct Announced {
    file: PathBuf,
    begun: Instant,
    /// Nanoseconds since `begun` at which the file is to be looked at again.
    next_look: AtomicU64,
    length: AtomicU64,
}

impl Announced {
    pub(super) fn new(file: PathBuf) -> Self {
        Self {
            file,
            begun: Instant::now(),
            next_look: AtomicU64::new(0),
            length: AtomicU64::new(0),
        }
    }

    /// Number of announcements, at most [`FRESH_FOR`] before `now`.
    pub(super) fn count(&self, now: Instant) -> u64 {
        let elapsed = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let now = elapsed(now.saturating_duration_since(self.begun));
        let due = self.next_look.load(Ordering::Acquire);
        let next = now + elapsed(FRESH_FOR);
        // One of those who ask looks; the others have what was seen last.
        let looks = now >= due
            && self
                .next_look
                .compare_exchange(due, next, Ordering::AcqRel, Ordering::Acquire)
                .is_ok();
        if looks {
            let length = std::fs::metadata(&self.file).map_or(0, |file| file.len());
            self.length.store(length, Ordering::Release);
        }
        self.length.load(Ordering::Acquire)
    }

    /// Announces a change.
    pub(super) fn add(&self) -> io::Result<()> {
        let mut file = disk::private().append(true).open(&self.file)?;
        file.write_all(b".")
            // A full disk lets a file grow that has nothing in it.
            .or_else(|_| file.set_len(file.metadata()?.len() + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_looked_at_once_in_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db.keys");
        let (announced, other) = (Announced::new(path.clone()), Announced::new(path.clone()));
        let begun = announced.begun;
        assert_eq!(announced.count(begun), 0);
        other.add().unwrap();
        other.add().unwrap();
        let almost = begun + FRESH_FOR.saturating_sub(Duration::from_nanos(1));
        assert_eq!(announced.count(almost), 0);
        assert_eq!(announced.count(begun + FRESH_FOR), 2);
    }
}

//! Checkpoints: a thread of its own copies the log into the database, while the writer goes on.
//!
//! As SQLite does it, the commit that fills the log copies all of it, and who waits for that commit waits for the copying.
//! Here the thread copies what is there, and once more what came meanwhile, until little is left: that the writer copies
//! itself, so that nothing is left and its next write begins the log anew.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
        mpsc::{Receiver, TrySendError, sync_channel},
    },
};

use rusqlite::{Connection, MAIN_DB, hooks::Wal, wal::CheckpointMode};

use super::connect;
use crate::error::{Error, Result};

/// Pages of the log; a page has 4 KiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// From here on the thread copies. A page that many transactions touch is copied once.
    pub(super) long: u32,
    /// So many the writer copies itself.
    pub(super) few: u32,
    /// From here on the writer copies whatever is left: it writes faster than the thread copies.
    pub(super) too_long: u32,
}

pub(super) const LIMITS: Limits = Limits {
    long: 16_384,
    few: 2_048,
    too_long: 4 * 16_384,
};

/// What the writer and the thread know of each other.
#[derive(Debug, Default)]
struct Shared {
    /// Pages at the beginning of the log that are copied.
    copied: AtomicU32,
    /// Held while the thread copies.
    copying: Mutex<()>,
}

/// Takes checkpoints off a connection, until it is closed.
pub(super) fn beside(writer: &mut Connection, path: &Path, limits: Limits) -> Result<()> {
    let connection = connect(path, true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    let shared = Arc::new(Shared::default());
    let (wake, woken) = sync_channel(1);
    let of_thread = shared.clone();
    std::thread::Builder::new()
        .name("sqlite-copier".to_owned())
        .spawn(move || copy_when_woken(&connection, &woken, &of_thread))
        .map_err(|e| Error::Unavailable(e.to_string()))?;
    writer.wal_hook(Some(move |log: &mut Wal, pages| {
        let pages = u32::try_from(pages).unwrap_or_default();
        if pages < limits.long {
            // perhaps another log than that which was copied
            shared.copied.store(0, Ordering::Relaxed);
            return Ok(());
        }
        let idle = if pages < limits.too_long {
            shared.copying.try_lock().ok()
        } else {
            Some(shared.copying.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let Some(idle) = idle else { return Ok(()) };
        let left = pages.saturating_sub(shared.copied.load(Ordering::Relaxed));
        if left <= limits.few || pages >= limits.too_long {
            // What a reader still needs stays for the next time. An error would be that of the commit, which is done.
            if let Err(error) = log.checkpoint() {
                warn(&error);
            }
            return Ok(());
        }
        drop(idle);
        match wake.try_send(()) {
            // it is awake, or has ended, and then the log gets too long
            Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => Ok(()),
        }
    }))?;
    Ok(())
}

fn copy_when_woken(connection: &Connection, woken: &Receiver<()>, shared: &Shared) {
    while woken.recv().is_ok() {
        let _copying = shared.copying.lock().unwrap_or_else(PoisonError::into_inner);
        match connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
            Ok((_, copied)) => {
                let copied = u32::try_from(copied).unwrap_or_default();
                shared.copied.store(copied, Ordering::Relaxed);
            }
            Err(error) => warn(&error),
        }
    }
}

fn warn(error: &rusqlite::Error) {
    tracing::warn!(%error, "the log could not be copied into the database");
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        long: 64,
        few: 16,
        too_long: 256,
    };
    /// Pages that a transaction below writes, at most: a row of two pages, what leads there and what counts them.
    const MOST: u64 = 8;

    struct Log {
        folder: tempfile::TempDir,
        writer: Connection,
    }

    impl Log {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = connect(&folder.path().join("db"), true).unwrap();
            beside(&mut writer, &folder.path().join("db"), LIMITS).unwrap();
            writer.execute_batch("CREATE TABLE t (data BLOB)").unwrap();
            Self { folder, writer }
        }

        fn write(&self, rows: u32) {
            for _ in 0..rows {
                let insert = "INSERT INTO t VALUES (zeroblob(5000))";
                self.writer.execute(insert, []).unwrap();
            }
        }

        fn pages(&self) -> u64 {
            let size = std::fs::metadata(self.folder.path().join("db-wal"))
                .unwrap()
                .len();
            size / 4096
        }
    }

    #[test]
    fn a_log_does_not_get_too_long() {
        let log = Log::new();
        log.write(1_000);
        assert!(
            log.pages() <= u64::from(LIMITS.too_long) + MOST,
            "{}",
            log.pages()
        );
        let copied = std::fs::metadata(log.folder.path().join("db")).unwrap().len();
        assert!(copied > 1_000 * 5_000 / 2, "{copied}");
        let rows = "SELECT count(*) FROM t";
        let rows: u32 = log.writer.query_row(rows, [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 1_000);
    }

    #[test]
    fn a_reader_only_puts_it_off() {
        let log = Log::new();
        log.write(10);
        let reader = connect(&log.folder.path().join("db"), false).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        let rows = || -> u32 {
            reader
                .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
                .unwrap()
        };
        assert_eq!(rows(), 10);
        log.write(500);
        assert_eq!(rows(), 10);
        let long = log.pages();
        assert!(long > 1_000, "{long}");
        reader.execute_batch("COMMIT").unwrap();
        log.write(1_000);
        assert!(log.pages() <= long + MOST, "{}", log.pages());
        assert_eq!(rows(), 1_510);
    }
}

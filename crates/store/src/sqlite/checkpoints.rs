//! Checkpoints: a thread copies the write-ahead log into the database while the writer goes on.
//!
//! By default the commit that fills the log copies all of it, and every caller of that commit waits for 64 MiB. Here a thread
//! copies the log, and again the pages that were added meanwhile, until few are left. The writer copies those itself, so
//! that the log is empty and its next write starts at the beginning of the file. What the thread has copied it also brings to the
//! disk: SQLite leaves that to whoever copies the last page, and the writer would wait for all of it.

use std::{
    fs::{File, OpenOptions},
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

/// Lengths of the log in pages of 4 KiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Length from which the thread copies. A page that many transactions change is copied once.
    pub(super) background: u32,
    /// Uncopied pages that the writer copies itself.
    pub(super) few: u32,
    /// Length from which the writer copies all that is left: it writes faster than the thread copies.
    pub(super) forced: u32,
}

pub(super) const LIMITS: Limits = Limits {
    background: 16_384,
    few: 512,
    forced: 4 * 16_384,
};

/// State shared by the writer and the thread.
#[derive(Debug, Default)]
struct Shared {
    /// Number of pages at the beginning of the log that are copied.
    copied: AtomicU32,
    /// Held while the thread copies.
    copying: Mutex<()>,
}

/// Starts the thread for a writer. It ends when the connection is closed.
pub(super) fn start(writer: &mut Connection, path: &Path, limits: Limits) -> Result<()> {
    let connection = connect(path, true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    let database = OpenOptions::new()
        .write(true)
        .open(path)
        .map_err(|e| Error::Unavailable(e.to_string()))?;
    // Never closed: that would take away the locks that SQLite has on the file in this process (fcntl(2)).
    let database: &'static File = Box::leak(Box::new(database));
    let shared = Arc::new(Shared::default());
    let (wake, woken) = sync_channel(1);
    let of_thread = shared.clone();
    std::thread::Builder::new()
        .name("sqlite-copier".to_owned())
        .spawn(move || copy_when_woken(&connection, database, &woken, &of_thread))
        .map_err(|e| Error::Unavailable(e.to_string()))?;
    writer.wal_hook(Some(move |log: &mut Wal, pages| {
        let pages = u32::try_from(pages).unwrap_or_default();
        if pages < limits.background {
            // The log may have started again since it was copied.
            shared.copied.store(0, Ordering::Relaxed);
            return Ok(());
        }
        let idle = if pages < limits.forced {
            shared.copying.try_lock().ok()
        } else {
            Some(shared.copying.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let Some(idle) = idle else { return Ok(()) };
        let left = pages.saturating_sub(shared.copied.load(Ordering::Relaxed));
        if left <= limits.few || pages >= limits.forced {
            // Pages that a reader still needs stay for the next time. An error must not become that of the commit,
            // which is done.
            if let Err(error) = log.checkpoint() {
                log_failure(&error);
            }
            return Ok(());
        }
        drop(idle);
        match wake.try_send(()) {
            // The thread is awake already, or has ended; then the writer copies once the log is too long.
            Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => Ok(()),
        }
    }))?;
    Ok(())
}

fn copy_when_woken(connection: &Connection, database: &File, woken: &Receiver<()>, shared: &Shared) {
    while woken.recv().is_ok() {
        let _copying = shared.copying.lock().unwrap_or_else(PoisonError::into_inner);
        match connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
            Ok((_, copied)) => {
                let copied = u32::try_from(copied).unwrap_or_default();
                // Where it fails, the writer's own attempt fails too, and says so.
                if let Err(error) = database.sync_data() {
                    tracing::warn!(%error, "the database could not be brought to the disk");
                }
                shared.copied.store(copied, Ordering::Relaxed);
            }
            Err(error) => log_failure(&error),
        }
    }
}

fn log_failure(error: &rusqlite::Error) {
    tracing::warn!(%error, "the log could not be copied into the database");
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        background: 64,
        few: 16,
        forced: 256,
    };
    /// Maximum number of pages that a transaction below writes: a row of two pages, inner pages, and counters.
    const MAX_PER_WRITE: u64 = 8;

    struct Log {
        folder: tempfile::TempDir,
        writer: Connection,
    }

    impl Log {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = connect(&folder.path().join("db"), true).unwrap();
            start(&mut writer, &folder.path().join("db"), LIMITS).unwrap();
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
    fn log_length_is_bounded() {
        let log = Log::new();
        log.write(1_000);
        assert!(
            log.pages() <= u64::from(LIMITS.forced) + MAX_PER_WRITE,
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
    fn open_reader_only_delays_the_copy() {
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
        assert!(log.pages() <= long + MAX_PER_WRITE, "{}", log.pages());
        assert_eq!(rows(), 1_510);
    }
}

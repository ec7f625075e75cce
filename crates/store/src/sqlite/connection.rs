//! Connections to SQLite, with the settings that the program needs, and a pool of readers.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::bounded::Places;
use crate::error::{Error, Result};

/// Time to wait for the lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause between attempts to set the journal mode.
const WAL_RETRY: Duration = Duration::from_millis(10);

/// Idle connections for reading, and the places of long reads.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionPool {
    idle: Arc<Mutex<Vec<Connection>>>,
    /// Number of times that the statistics were renewed, which a connection reads when it is opened.
    statistics: Arc<AtomicU64>,
    pub(super) places: Arc<Places>,
}

impl ConnectionPool {
    /// Returns an idle connection, or opens another.
    pub(super) fn get(&self, path: &Path) -> Result<PooledConnection> {
        let (idle, statistics) = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            (idle.pop(), self.statistics.load(Ordering::Relaxed))
        };
        let connection = match idle {
            Some(connection) => connection,
            None => connect(path, false)?,
        };
        Ok(PooledConnection {
            connection: Some(connection),
            pool: Some(self.clone()),
            statistics,
        })
    }

    /// Closes all connections that have the statistics of before, those in use when they are given back.
    pub(super) fn renew(&self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        self.statistics.fetch_add(1, Ordering::Relaxed);
        idle.clear();
    }
}

/// A connection that returns to its pool, if it has one, when it is dropped.
#[derive(Debug)]
pub(crate) struct PooledConnection {
    pub(super) connection: Option<Connection>,
    pub(super) pool: Option<ConnectionPool>,
    /// Those of its pool when it was taken.
    pub(super) statistics: u64,
}

impl PooledConnection {
    pub(super) const fn unpooled(connection: Connection) -> Self {
        Self {
            connection: Some(connection),
            pool: None,
            statistics: 0,
        }
    }

    pub(crate) fn get(&self) -> Result<&Connection> {
        self.connection
            .as_ref()
            .ok_or_else(|| Error::Defect("the connection has been given back".to_owned()))
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if let (Some(connection), Some(pool)) = (self.connection.take(), &self.pool) {
            let mut idle = pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if pool.statistics.load(Ordering::Relaxed) == self.statistics {
                idle.push(connection);
            }
        }
    }
}

/// Opens a connection. `write` opens it for writing, creates the file, and sets the journal mode.
pub(crate) fn connect(path: &Path, write: bool) -> Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    flags |= if write {
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
    } else {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    };
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_prepared_statement_cache_capacity(256);
    // Plans do not depend on bound values: without this, binding a value plans the statement again.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    if write {
        set_wal_mode(&connection)?;
        connection.pragma_update(None, "synchronous", "full")?;
        // 64 MiB: a page that many transactions change is copied once, not every 4 MiB.
        connection.pragma_update(None, "wal_autocheckpoint", 16_384)?;
        connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "cache_size", -8192)?;
    Ok(connection)
}

/// Sets the journal mode, with retries: SQLite does not wait for another process that changes it at the same
/// moment, and processes that open a new database together would be refused.
fn set_wal_mode(connection: &Connection) -> Result<()> {
    for _ in 0..BUSY_TIMEOUT.as_millis() / WAL_RETRY.as_millis() {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                std::thread::sleep(WAL_RETRY);
            }
            done => return Ok(done?),
        }
    }
    Err(Error::Overloaded)
}

//! A connection as the program uses it.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::error::{Error, Result};

/// How long another process is waited for.
const BUSY: Duration = Duration::from_secs(5);
/// How long until the mode of the journal is tried again.
const WAL_PAUSE: Duration = Duration::from_millis(10);

pub(super) fn connect(path: &Path, write: bool) -> Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    flags |= if write {
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
    } else {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    };
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_prepared_statement_cache_capacity(256);
    // Plans that do not depend on bound values: without this, binding a value plans the statement anew.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(BUSY)?;
    if write {
        to_wal(&connection)?;
        connection.pragma_update(None, "synchronous", "full")?;
        // 64 MiB: a page that many transactions touch is folded in once, not every 4 MiB.
        connection.pragma_update(None, "wal_autocheckpoint", 16_384)?;
        connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "cache_size", -8192)?;
    Ok(connection)
}

/// SQLite does not wait for others that change the journal's mode at the same moment: programs that open a new
/// database together would be refused.
fn to_wal(connection: &Connection) -> Result<()> {
    for _ in 0..BUSY.as_millis() / WAL_PAUSE.as_millis() {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                std::thread::sleep(WAL_PAUSE);
            }
            done => return Ok(done?),
        }
    }
    Err(Error::Overloaded)
}

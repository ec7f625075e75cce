//! Copies of an embedded database, made while it is written to.
//!
//! The pages are copied by SQLite's online backup under one read transaction. Like `VACUUM INTO` it holds up no writer: the log only
//! grows while it runs. Unlike it, it rebuilds no table and no index, so that it takes no core from those who are served; and it goes
//! in steps, so that it can be stopped, and what it writes is brought to the disk in small parts: the commits of the database wait for
//! the same disk.

use std::{
    collections::BTreeMap,
    fs::File,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};

use crate::{
    error::{Error, Result},
    migrations, seal,
    sqlite::{APPLICATION_ID, connection::connect, disk},
};

pub use crate::sqlite::disk::{WANTED_FREE, free_space};

/// Pages copied in one step: 1 MiB.
const PAGES_PER_STEP: i32 = 256;
/// Steps after which what was written is brought to the disk.
const STEPS_PER_SYNC: u32 = 8;
/// Instructions of SQLite after which it is asked whether to go on.
const STEPS_PER_LOOK: i32 = 100_000;
/// Tables whose rows are counted.
const COUNTED: [&str; 8] = [
    "workspaces",
    "projects",
    "users",
    "audits",
    "keywords",
    "posts",
    "prompts",
    "answers",
];

/// Facts of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyFacts {
    /// Number of the last migration.
    pub schema: u32,
    /// Rows of the tables that people ask for.
    pub rows: BTreeMap<String, u64>,
    /// Canary of the sealing keys, if anything was sealed.
    pub canary: Option<Vec<u8>>,
}

/// Copies a database as it is at one moment into a file that does not exist, and brings it to the disk. Ends with an error soon after
/// `stop` is set. What is left of a copy that failed has to be removed.
pub fn copy(from: &Path, to: &Path, stop: &AtomicBool) -> Result<()> {
    let source = connect(from, false)?;
    // One transaction for all steps: without it, each change of the database would begin the copy again.
    source.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")?;
    let file = disk::private()
        .create_new(true)
        .open(to)
        .map_err(|error| unavailable(to, &error))?;
    let mut target = Connection::open_with_flags(
        to,
        OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_READ_WRITE,
    )?;
    // A copy that is cut short is thrown away, so it needs neither a journal nor an order in which it reaches the disk.
    target.execute_batch("PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -2048")?;
    copy_pages(&source, &mut target, &file, to, stop)?;
    // The journal of the copy is that of a file that stands alone: nothing appears beside it when it is read.
    let mode: String = target.query_row("PRAGMA journal_mode = delete", [], |row| row.get(0))?;
    if mode != "delete" {
        return Err(Error::Defect(format!("the journal of a copy is {mode}")));
    }
    target.close().map_err(|(_, error)| error)?;
    sync(&file, to)
}

fn copy_pages(
    source: &Connection,
    target: &mut Connection,
    file: &File,
    to: &Path,
    stop: &AtomicBool,
) -> Result<()> {
    let backup = Backup::new(source, target)?;
    let mut steps = 0_u32;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Unavailable("the copy was stopped".to_owned()));
        }
        match backup.step(PAGES_PER_STEP)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            // Of a log that is being begun anew, for a moment.
            _ => std::thread::yield_now(),
        }
        steps += 1;
        if steps.is_multiple_of(STEPS_PER_SYNC) {
            sync(file, to)?;
        }
    }
}

fn sync(file: &File, path: &Path) -> Result<()> {
    file.sync_all().map_err(|error| unavailable(path, &error))
}

fn unavailable(path: &Path, error: &std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::StorageFull {
        return Error::Full;
    }
    Error::Unavailable(format!("{}: {error}", path.display()))
}

/// Reads a copy in full, and returns an error unless it is whole: every page, every index, every reference. Ends with an error soon
/// after `stop` is set.
pub fn check(copy: &Path, stop: &Arc<AtomicBool>) -> Result<()> {
    let mut connection = open(copy)?;
    let stop = stop.clone();
    connection.progress_handler(STEPS_PER_LOOK, Some(move || stop.load(Ordering::Relaxed)))?;
    let said: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if said != "ok" {
        return Err(Error::Unavailable(format!(
            "{} is damaged: {said}",
            copy.display()
        )));
    }
    let mut dangling = connection.prepare("PRAGMA foreign_key_check")?;
    match dangling.query([])?.next()? {
        None => Ok(()),
        Some(row) => Err(Error::Unavailable(format!(
            "{} is damaged: a row of {} refers to one that is missing",
            copy.display(),
            row.get::<_, String>(0)?
        ))),
    }
}

/// Returns the facts of a copy. Refuses what is not a database of this program, or has a schema that this program does not know.
pub fn look(copy: &Path) -> Result<CopyFacts> {
    let connection = open(copy)?;
    let application: i64 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if application != APPLICATION_ID {
        return Err(Error::Schema(format!(
            "{} is not a database of this program",
            copy.display()
        )));
    }
    let schema = migrations::last_applied(&connection)?;
    let mut facts = CopyFacts {
        schema,
        rows: BTreeMap::new(),
        canary: None,
    };
    if schema == 0 {
        return Ok(facts);
    }
    for table in COUNTED {
        let rows = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
            row.get::<_, i64>(0)
        });
        match rows {
            Ok(rows) => facts.rows.insert(table.to_owned(), rows.unsigned_abs()),
            // Of an older schema, which did not have it.
            Err(rusqlite::Error::SqliteFailure(..)) => continue,
            Err(error) => return Err(error.into()),
        };
    }
    facts.canary = seal::canary_of(&connection)?;
    Ok(facts)
}

fn open(copy: &Path) -> Result<Connection> {
    let connection = Connection::open_with_flags(
        copy,
        OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_READ_ONLY,
    )?;
    connection.execute_batch("PRAGMA trusted_schema = off; PRAGMA cache_size = -8192")?;
    Ok(connection)
}

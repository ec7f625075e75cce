//! Takes a project along in a file, and a whole installation to PostgreSQL.

mod export;
mod import;
mod line;
mod moving;
mod rules;

pub use export::{ExportOutcome, export};
pub use import::{ImportMark, ImportOutcome, UnfinishedImport, discard, import, list_unfinished};
pub use moving::{MoveOutcome, move_all};

use searchwright_store::{
    Param, Tx,
    transfer::{self, RowSet, RowValues, Table},
};

use crate::BackupError;

/// Rows read and written at once.
const MAX_ROWS: u32 = 1_000;
/// Rows read first, before it is known how large they are.
const FIRST_ROWS: u32 = 16;
/// Bytes after which fewer rows are read at once.
const MAX_BYTES: usize = 4 << 20;

/// Error of an export, an import or a move.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The database.
    #[error("{0}")]
    Store(#[from] searchwright_store::Error),
    /// The file.
    #[error("{0}")]
    File(#[from] std::io::Error),
    /// There is no such project.
    #[error("there is no project {0}")]
    NoProject(uuid::Uuid),
    /// Work is under way, whose results would be missing.
    #[error("work of this project is under way, and would be half in the file: {0}")]
    UnderWay(String),
    /// The file is not what an export writes.
    #[error("line {line} of the file: {why}")]
    Line {
        /// Number of the line, from 1.
        line: u64,
        /// Reason.
        why: String,
    },
    /// The file ends before its last line.
    #[error("the file ends after {0} rows, before its last line: it was cut short")]
    CutShort(u64),
    /// The project is there already.
    #[error(
        "there is a project {0} already, with the ids that this file has: a project can be in a database once"
    )]
    Taken(uuid::Uuid),
    /// The import of the project has begun and not ended.
    #[error("the import of project {0} has not ended, so only a part of it is there")]
    Unfinished(uuid::Uuid),
    /// There is no import to be removed.
    #[error("no import of a project {0} was cut short")]
    NotUnfinished(uuid::Uuid),
    /// Another process works at the same project.
    #[error("another process imports project {0} or removes what was imported; this one has stopped")]
    Overtaken(uuid::Uuid),
    /// The target has data.
    #[error("the target database is not empty; name one that is")]
    NotEmpty,
    /// The numbers of rows differ.
    #[error("{table} has {found} rows, and {wanted} were to be there")]
    Count {
        /// Table.
        table: &'static str,
        /// Rows that are there.
        found: u64,
        /// Rows that were to be.
        wanted: u64,
    },
    /// The folder of the installation.
    #[error("{0}")]
    Backup(#[from] BackupError),
}

/// Approximate size of a row in memory.
fn size(row: &RowValues) -> usize {
    let value = |value: &Param| match value {
        Param::Text(text) | Param::Json(text) => text.len(),
        Param::Bytes(bytes) => bytes.len(),
        _ => 16,
    };
    row.iter().map(value).sum()
}

/// Reads all rows of a set in parts that fit into memory.
struct RowReader {
    table: &'static Table,
    set: RowSet,
    last: Option<RowValues>,
    limit: u32,
    has_ended: bool,
}

impl RowReader {
    const fn new(table: &'static Table, set: RowSet) -> Self {
        Self {
            table,
            set,
            last: None,
            limit: FIRST_ROWS,
            has_ended: false,
        }
    }

    /// Returns the next rows; none at the end.
    async fn next(&mut self, tx: &mut Tx) -> Result<Vec<RowValues>, TransferError> {
        if self.has_ended {
            return Ok(Vec::new());
        }
        let rows = transfer::read(tx, self.table, self.set, self.last.as_ref(), self.limit).await?;
        self.has_ended = (rows.len() as u64) < u64::from(self.limit);
        let bytes: usize = rows.iter().map(size).sum();
        self.limit = if bytes > MAX_BYTES {
            (self.limit / 2).max(1)
        } else if bytes < MAX_BYTES / 4 {
            (self.limit * 2).min(MAX_ROWS)
        } else {
            self.limit
        };
        if let Some(last) = rows.last() {
            self.last = Some(last.clone());
        }
        Ok(rows)
    }
}

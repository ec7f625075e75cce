//! Errors of the store, by what a caller can do about them.

use std::cell::Cell;

thread_local! {
    /// Whether SQLite had no space for a statement of this thread. Work turns its errors into those of others, so that the writer
    /// would not learn of it.
    static IS_FULL: Cell<bool> = const { Cell::new(false) };
}

/// Whether SQLite had no space for a statement of this thread since this was last asked.
pub(crate) fn take_full() -> bool {
    IS_FULL.take()
}

/// Result of a storage call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A unique constraint refused the row.
    #[error("already exists ({0})")]
    Duplicate(String),
    /// A foreign key refers to no record.
    #[error("refers to a record that does not exist")]
    Dangling,
    /// Too many transactions are waiting.
    #[error("too many transactions are waiting")]
    Overloaded,
    /// A statement that took too long was ended.
    #[error("the statement took too long and was ended")]
    TooSlow,
    /// No space left.
    #[error("the storage is full")]
    Full,
    /// The database cannot be reached, or cannot store data durably.
    #[error("the storage is not available: {0}")]
    Unavailable(String),
    /// A record that must exist does not.
    #[error("no such record")]
    Missing,
    /// A stored value cannot be read as its type: index of the column and reason.
    #[error("column {0}: {1}")]
    Column(usize, String),
    /// The schema is not that of this program.
    #[error("{0}")]
    Schema(String),
    /// A sealed value cannot be opened with the configured keys.
    #[error("{0}")]
    Seal(&'static str),
    /// A defect of the program.
    #[error("{0}")]
    Defect(String),
}

impl Error {
    /// Wraps an error that only a defect of the program can cause.
    pub(crate) fn defect(cause: impl ToString) -> Self {
        Self::Defect(cause.to_string())
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::{ErrorCode, ffi};
        let rusqlite::Error::SqliteFailure(failure, message) = &error else {
            return match error {
                rusqlite::Error::QueryReturnedNoRows => Self::Missing,
                other => Self::Defect(other.to_string()),
            };
        };
        let text = message.clone().unwrap_or_default();
        match failure.extended_code {
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
                return Self::Duplicate(text);
            }
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY => return Self::Dangling,
            _ => {}
        }
        match failure.code {
            ErrorCode::DiskFull => {
                IS_FULL.set(true);
                Self::Full
            }
            ErrorCode::OperationInterrupted => Self::TooSlow,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Overloaded,
            ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase => Self::Unavailable(format!("{error}")),
            _ => Self::Defect(error.to_string()),
        }
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        use tokio_postgres::error::SqlState;
        let Some(db) = error.as_db_error() else {
            return if error.is_closed()
                || std::error::Error::source(&error).is_some_and(|s| s.is::<std::io::Error>())
            {
                Self::Unavailable(error_chain(&error))
            } else {
                Self::Defect(error_chain(&error))
            };
        };
        match *db.code() {
            SqlState::UNIQUE_VIOLATION => Self::Duplicate(db.constraint().unwrap_or_default().to_owned()),
            SqlState::FOREIGN_KEY_VIOLATION => Self::Dangling,
            SqlState::DISK_FULL => Self::Full,
            SqlState::LOCK_NOT_AVAILABLE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::T_R_SERIALIZATION_FAILURE => Self::Overloaded,
            SqlState::QUERY_CANCELED => Self::TooSlow,
            SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::CANNOT_CONNECT_NOW
            | SqlState::TOO_MANY_CONNECTIONS => Self::Unavailable(db.message().to_owned()),
            _ => Self::Defect(error_chain(&error)),
        }
    }
}

/// Message of an error with those of its causes; that of tokio-postgres alone is only "db error".
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut at = error.source();
    while let Some(cause) = at {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        at = cause.source();
    }
    text
}

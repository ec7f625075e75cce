//! Errors of backups, in words that say what to do.

use std::{io, path::PathBuf};

use searchwright_store::Error;

/// Error of a backup or of a restore.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file or folder.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Reason.
        error: io::Error,
    },
    /// The database.
    #[error("{0}")]
    Store(#[from] Error),
    /// Space on the disk.
    #[error(
        "{} MiB are free on the disk of {}, and {} MiB are needed: {} MiB for {purpose}, and 80 MiB that are left to the server; free \
         space, or name a folder on another disk",
        free >> 20, folder.display(), (needed >> 20) + 80, needed >> 20
    )]
    NoSpace {
        /// Folder that is written to.
        folder: PathBuf,
        /// Bytes that are free.
        free: u64,
        /// Bytes that are written.
        needed: u64,
        /// Use of these bytes.
        purpose: &'static str,
    },
    /// Another backup is being made.
    #[error("another backup is being made in {}; wait until it has ended", .0.display())]
    Busy(PathBuf),
    /// There is nothing to back up.
    #[error("there is no database in {}; name the data folder with --data-dir", .0.display())]
    NoDatabase(PathBuf),
    /// The folder is no backup.
    #[error("{} is not a backup: {why}", path.display())]
    NoBackup {
        /// The folder.
        path: PathBuf,
        /// Reason.
        why: String,
    },
    /// A part of the backup is not what was written.
    #[error("the backup {} is damaged: {why}; take another one", path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// Reason.
        why: String,
    },
    /// The data folder has a database.
    #[error("{} has a database already; with --force it is set aside in a folder beside it, and not deleted", .0.display())]
    Occupied(PathBuf),
    /// The sealing key is missing or another.
    #[error("{0}")]
    Key(String),
}

impl BackupError {
    /// Returns a function that makes the error of a file.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}

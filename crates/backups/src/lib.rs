//! Backups of an installation with an embedded database: made beside a running server, checked, and put back.
//!
//! A backup is a folder with a copy of the database, the files published by this server, and a manifest. It is a backup only under its
//! final name, which it gets when everything in it is on the disk. The sealing key is not in it.
//!
//! Beside that, one project is taken along in a file, on either database, and a whole installation moves to PostgreSQL.

mod error;
mod files;
mod listing;
mod making;
mod manifest;
mod restoring;
mod transfer;

pub use error::BackupError;
pub use listing::{Backup, list, newest};
pub use making::{BackupOrder, make};
pub use manifest::{BackupPart, BackupReason, Manifest, verify};
pub use restoring::{RestoreOrder, RestoreOutcome, finish_restore, is_restoring, restore};
pub use transfer::{
    ExportOutcome, ImportMark, ImportOutcome, MoveOutcome, TransferError, UnfinishedImport, discard, export,
    import, list_unfinished, move_all,
};

/// Name of the database in a data folder and in a backup.
pub const DATABASE: &str = "searchwright.sqlite";
/// Name of the folder of published files in a data folder and in a backup.
pub const PUBLISHED: &str = "published";

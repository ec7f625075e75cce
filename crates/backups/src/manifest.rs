//! The manifest of a backup: what is in it, and whether it is still that.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use searchwright_contract::Instant;
use serde::{Deserialize, Serialize};

use crate::{
    BackupError, DATABASE,
    files::{self, Contents},
};

/// Name of the manifest in a backup.
pub(crate) const MANIFEST: &str = "manifest.json";
/// Version of the form of backups.
pub(crate) const FORMAT: u32 = 1;

/// Reason for which a backup was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackupReason {
    /// An operator asked for it.
    Command,
    /// It was time.
    Schedule,
    /// The schema was about to be changed.
    Migration,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupPart {
    /// Path in the backup and in the data folder.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

impl BackupPart {
    pub(crate) fn new(path: &Path, contents: Contents) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
            bytes: contents.bytes,
            sha256: contents.sha256,
        }
    }
}

/// Contents of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Version of the form of backups.
    pub format: u32,
    /// Version of the program that made it.
    pub program: String,
    /// Number of the last migration of the database.
    pub schema: u32,
    /// Time of the copy of the database.
    pub created_at: Instant,
    /// Reason.
    pub reason: BackupReason,
    /// Rows of some tables, for people.
    pub rows: BTreeMap<String, u64>,
    /// Files.
    pub parts: Vec<BackupPart>,
}

impl Manifest {
    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

fn no_backup(path: &Path, why: impl Into<String>) -> BackupError {
    BackupError::NoBackup {
        path: path.to_owned(),
        why: why.into(),
    }
}

fn damaged(path: &Path, why: impl Into<String>) -> BackupError {
    BackupError::Damaged {
        path: path.to_owned(),
        why: why.into(),
    }
}

/// Returns the manifest of a backup whose files are all there with their sizes. What is in them is not read.
pub(crate) fn load(backup: &Path) -> Result<Manifest, BackupError> {
    let path = backup.join(MANIFEST);
    let text = fs::read(&path).map_err(|error| no_backup(backup, format!("{MANIFEST}: {error}")))?;
    // The form of a later program may be another one in all but this.
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| damaged(backup, format!("{MANIFEST}: {error}")))?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) if format > u64::from(FORMAT) => {
            let why =
                format!("it has the form {format}, which is newer than this program; update the program");
            return Err(no_backup(backup, why));
        }
        _ => return Err(damaged(backup, format!("{MANIFEST} names no form"))),
    }
    let manifest: Manifest =
        serde_json::from_value(value).map_err(|error| damaged(backup, format!("{MANIFEST}: {error}")))?;
    for part in &manifest.parts {
        if !files::is_inner(&part.path) {
            return Err(damaged(backup, format!("{MANIFEST} names {:?}", part.path)));
        }
        let found = fs::symlink_metadata(backup.join(&part.path));
        match found {
            Ok(file) if file.is_file() && file.len() == part.bytes => {}
            Ok(_) => {
                let why = format!("{} is not a file of {} bytes", part.path, part.bytes);
                return Err(damaged(backup, why));
            }
            Err(error) => return Err(damaged(backup, format!("{}: {error}", part.path))),
        }
    }
    if !manifest.parts.iter().any(|part| part.path == DATABASE) {
        return Err(damaged(backup, format!("{MANIFEST} names no {DATABASE}")));
    }
    Ok(manifest)
}

/// Reads every file of a backup, and returns its manifest if all are what was written.
pub fn verify(backup: &Path) -> Result<Manifest, BackupError> {
    let manifest = load(backup)?;
    for part in &manifest.parts {
        let contents = files::read(&backup.join(&part.path), None)?;
        compare(backup, part, contents)?;
    }
    Ok(manifest)
}

/// Returns an error unless these are the contents of a part.
pub(crate) fn compare(backup: &Path, part: &BackupPart, contents: Contents) -> Result<(), BackupError> {
    if *part == BackupPart::new(&PathBuf::from(&part.path), contents) {
        return Ok(());
    }
    Err(damaged(
        backup,
        format!("{} is not what was written (SHA-256)", part.path),
    ))
}

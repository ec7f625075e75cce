//! Backups of a folder, and which of them are kept.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{BackupError, Manifest, files, manifest};

/// Beginning of the names of backups.
pub(crate) const PREFIX: &str = "searchwright-";
/// Beginning of the names of what is no backup yet, or no longer.
pub(crate) const PARTIAL: &str = ".partial-";

/// A backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Its folder.
    pub path: PathBuf,
    /// Contents.
    pub manifest: Manifest,
}

/// Returns the backups in a folder whose files are all there, newest first.
pub fn list(folder: &Path) -> Result<Vec<Backup>, BackupError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(BackupError::file(folder)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(BackupError::file(folder))?.path();
        if !name(&path).starts_with(PREFIX) {
            continue;
        }
        match manifest::load(&path) {
            Ok(manifest) => found.push(Backup { path, manifest }),
            Err(error) => tracing::debug!(%error, "not counted among the backups"),
        }
    }
    found.sort_by(|a, b| {
        let key = |backup: &Backup| (backup.manifest.created_at, backup.path.clone());
        key(b).cmp(&key(a))
    });
    Ok(found)
}

/// Returns the newest backup in a folder.
pub fn newest(folder: &Path) -> Result<Option<Backup>, BackupError> {
    Ok(list(folder)?.into_iter().next())
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Removes what was left by processes that were killed. The lock of the folder has to be held.
pub(crate) fn remove_partial(folder: &Path) -> Result<(), BackupError> {
    for entry in fs::read_dir(folder).map_err(BackupError::file(folder))? {
        let path = entry.map_err(BackupError::file(folder))?.path();
        if name(&path).starts_with(PARTIAL) {
            fs::remove_dir_all(&path).map_err(BackupError::file(&path))?;
        }
    }
    Ok(())
}

/// Removes the oldest backups until `keep` are left, and returns those that were removed. The one that was just made stays, and so does
/// every folder that is no whole backup: a person has to look at it.
pub(crate) fn remove_old(folder: &Path, keep: usize, made: &Path) -> Result<Vec<PathBuf>, BackupError> {
    let others = list(folder)?.into_iter().filter(|backup| backup.path != made);
    let mut removed = Vec::new();
    for backup in others.skip(keep.saturating_sub(1)) {
        // Out of its name first: what is half removed is no backup.
        let partial = folder.join(format!("{PARTIAL}{}", name(&backup.path)));
        fs::rename(&backup.path, &partial).map_err(BackupError::file(&backup.path))?;
        fs::remove_dir_all(&partial).map_err(BackupError::file(&partial))?;
        removed.push(backup.path);
    }
    if !removed.is_empty() {
        files::sync_folder(folder)?;
    }
    Ok(removed)
}

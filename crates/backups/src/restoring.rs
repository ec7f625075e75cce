//! Puts a backup into a data folder.
//!
//! Everything is prepared in a folder of its own first: until then the old state stands. Then a note is written of what is to be
//! moved, and from there on the restore is completed, by whoever comes next if the process is killed. So there is the old state or
//! the new one, whenever that happens.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use searchwright_contract::Instant;
use searchwright_store::copies::{self, CopyFacts};
use serde::{Deserialize, Serialize};

use crate::{
    BackupError, DATABASE, Manifest, PUBLISHED, files,
    making::{free_name, space_for, stamp},
    manifest,
};

/// Note of a restore that has begun to move files.
const NOTE: &str = "restore-under-way.json";
/// Beginning of the names of folders in which a restore is prepared.
const STAGED: &str = ".restore-";
/// Files and folders of the old state, in the order in which they are set aside: the log after the database is a log of nothing.
const OLD: [&str; 4] = [
    "searchwright.sqlite-shm",
    DATABASE,
    "searchwright.sqlite-wal",
    PUBLISHED,
];

/// A restore to be made.
#[derive(Clone, Debug)]
pub struct RestoreOrder {
    /// Folder of the backup.
    pub backup: PathBuf,
    /// Folder of the installation, which the caller owns.
    pub data_dir: PathBuf,
    /// A database that is there is set aside.
    pub force: bool,
}

/// Outcome of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreOutcome {
    /// Contents of the backup.
    pub manifest: Manifest,
    /// Folder with the old state, if there was one.
    pub set_aside: Option<PathBuf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct MoveNote {
    staged: String,
    aside: String,
}

/// Restores a backup. `fits` says whether the sealing key of the data folder opens the secrets of a database with these facts. Blocks
/// the thread. The caller holds the lock of the data folder.
pub fn restore(
    order: &RestoreOrder,
    fits: impl FnOnce(&CopyFacts) -> Result<(), BackupError>,
    now: Instant,
) -> Result<RestoreOutcome, BackupError> {
    let data_dir = &order.data_dir;
    finish_restore(data_dir)?;
    let has_old = OLD
        .iter()
        .any(|name| data_dir.join(name).symlink_metadata().is_ok());
    if data_dir.join(DATABASE).symlink_metadata().is_ok() && !order.force {
        return Err(BackupError::Occupied(data_dir.clone()));
    }
    remove_staged(data_dir)?;
    let manifest = manifest::load(&order.backup)?;
    space_for(data_dir, manifest.bytes(), "what is restored")?;
    let staged = format!("{STAGED}{}", stamp(now));
    let prepared = prepare(order, &manifest, &data_dir.join(&staged)).and_then(|facts| fits(&facts));
    if let Err(error) = prepared {
        let _ = fs::remove_dir_all(data_dir.join(&staged));
        return Err(error);
    }
    let aside = free_name(data_dir, &format!("before-restore-{}", stamp(now)));
    let note = MoveNote {
        staged,
        aside: aside
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    };
    write_note(data_dir, &note)?;
    finish_restore(data_dir)?;
    Ok(RestoreOutcome {
        manifest,
        set_aside: has_old.then_some(aside),
    })
}

/// Copies a backup into a folder, checking each file on the way, and looks at its database.
fn prepare(order: &RestoreOrder, manifest: &Manifest, staged: &Path) -> Result<CopyFacts, BackupError> {
    files::make_folder(staged)?;
    for part in &manifest.parts {
        let to = staged.join(&part.path);
        if let Some(folder) = to.parent() {
            files::make_folder(folder)?;
        }
        let contents = files::read(&order.backup.join(&part.path), Some(&to))?;
        manifest::compare(&order.backup, part, contents)?;
    }
    for folder in files::folders_of(&manifest.parts) {
        files::sync_folder(&staged.join(folder))?;
    }
    let database = staged.join(DATABASE);
    copies::check(&database, &Arc::default())?;
    Ok(copies::look(&database)?)
}

fn write_note(data_dir: &Path, note: &MoveNote) -> Result<(), BackupError> {
    let path = data_dir.join(NOTE);
    let fresh = data_dir.join(format!("{STAGED}note"));
    let _ = fs::remove_file(&fresh);
    let text =
        serde_json::to_vec(note).map_err(|error| BackupError::file(&path)(std::io::Error::other(error)))?;
    files::write(&fresh, &text)?;
    fs::rename(&fresh, &path).map_err(BackupError::file(&path))?;
    files::sync_folder(data_dir)
}

/// Whether a restore was cut short in this data folder, or is under way.
pub fn is_restoring(data_dir: &Path) -> bool {
    exists(&data_dir.join(NOTE))
}

/// Completes a restore that was killed while it moved files, and returns whether there was one. The caller holds the lock of the data
/// folder.
pub fn finish_restore(data_dir: &Path) -> Result<bool, BackupError> {
    let path = data_dir.join(NOTE);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(BackupError::file(path)(error)),
    };
    let note: MoveNote = serde_json::from_slice(&text)
        .map_err(|error| BackupError::file(&path)(std::io::Error::other(error)))?;
    if !files::is_inner(&note.staged) || !files::is_inner(&note.aside) {
        let why = std::io::Error::other("it names what is not in this folder");
        return Err(BackupError::file(path)(why));
    }
    let (staged, aside) = (data_dir.join(&note.staged), data_dir.join(&note.aside));
    // As long as the new database is not in its place, what lies there is the old state.
    if exists(&staged.join(DATABASE)) {
        for name in OLD {
            if exists(&data_dir.join(name)) {
                files::make_folder(&aside)?;
                move_to(data_dir, &aside, name)?;
            }
        }
        files::sync_folder(data_dir)?;
        move_to(&staged, data_dir, DATABASE)?;
        files::sync_folder(data_dir)?;
    }
    if exists(&staged.join(PUBLISHED)) {
        move_to(&staged, data_dir, PUBLISHED)?;
    }
    files::sync_folder(data_dir)?;
    fs::remove_file(&path).map_err(BackupError::file(&path))?;
    files::sync_folder(data_dir)?;
    let _ = fs::remove_dir_all(&staged);
    Ok(true)
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn move_to(from: &Path, to: &Path, name: &str) -> Result<(), BackupError> {
    fs::rename(from.join(name), to.join(name)).map_err(BackupError::file(to.join(name)))?;
    files::sync_folder(to)
}

/// Removes what restores left that were killed while they prepared.
fn remove_staged(data_dir: &Path) -> Result<(), BackupError> {
    for entry in fs::read_dir(data_dir).map_err(BackupError::file(data_dir))? {
        let entry = entry.map_err(BackupError::file(data_dir))?;
        let path = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(STAGED) {
            continue;
        }
        let removed = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.map_err(BackupError::file(&path))?;
    }
    Ok(())
}

//! Makes a backup beside a running server.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use searchwright_contract::Instant;
use searchwright_store::copies;

use crate::{
    Backup, BackupError, BackupPart, BackupReason, DATABASE, Manifest, PUBLISHED, files,
    listing::{self, PARTIAL, PREFIX},
    manifest::{FORMAT, MANIFEST},
};

/// A backup to be made.
#[derive(Clone, Debug)]
pub struct BackupOrder {
    /// Folder of the installation.
    pub data_dir: PathBuf,
    /// Folder of the backups, made if it does not exist.
    pub folder: PathBuf,
    /// Number of backups that are left in it, at least one; `None` for all.
    pub keep: Option<usize>,
    /// Reason.
    pub reason: BackupReason,
    /// Version of this program.
    pub program: &'static str,
}

/// Makes a backup: copies, checks what was copied, brings it to the disk, and only then gives it its name. Blocks the thread. Ends with
/// an error soon after `stop` is set.
pub fn make(order: &BackupOrder, now: Instant, stop: &Arc<AtomicBool>) -> Result<Backup, BackupError> {
    let database = order.data_dir.join(DATABASE);
    // A file without anything in it is made by looking at what is not there.
    if files::size(&database) == 0 {
        return Err(BackupError::NoDatabase(order.data_dir.clone()));
    }
    files::make_folder(&order.folder)?;
    let _lock = lock(&order.folder)?;
    listing::remove_partial(&order.folder)?;
    require_space(order, &database)?;
    let partial = order
        .folder
        .join(format!("{PARTIAL}{}-{}", stamp(now), std::process::id()));
    let made = fill(order, &database, &partial, now, stop).and_then(|manifest| {
        let path = free_name(&order.folder, &format!("{PREFIX}{}", stamp(now)));
        fs::rename(&partial, &path).map_err(BackupError::file(&path))?;
        files::sync_folder(&order.folder)?;
        Ok(Backup { path, manifest })
    });
    let made = match made {
        Ok(made) => made,
        Err(error) => {
            let _ = fs::remove_dir_all(&partial);
            return Err(error);
        }
    };
    if let Some(keep) = order.keep {
        // The backup is there: that an older one stays is no failure of it.
        match listing::remove_old(&order.folder, keep, &made.path) {
            Ok(removed) => {
                for path in removed {
                    tracing::info!(backup = %path.display(), "an older backup was removed");
                }
            }
            Err(error) => tracing::warn!(%error, "an older backup could not be removed"),
        }
    }
    Ok(made)
}

/// Holds the folder for one process; freed by the system when that ends.
fn lock(folder: &Path) -> Result<File, BackupError> {
    let path = folder.join(".lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path).map_err(BackupError::file(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(BackupError::Busy(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(BackupError::file(path)(error)),
    }
}

/// Refuses a backup that would take the space that a server needs to go on.
fn require_space(order: &BackupOrder, database: &Path) -> Result<(), BackupError> {
    let log = database.with_file_name(format!("{DATABASE}-wal"));
    let mut needed = files::size(database) + files::size(&log);
    for inner in files::list_files(&order.data_dir, PUBLISHED)? {
        needed += files::size(&order.data_dir.join(inner));
    }
    space_for(&order.folder, needed, "the backup")
}

/// Returns an error unless so many bytes are free beside those that are left to the server.
pub(crate) fn space_for(folder: &Path, needed: u64, purpose: &'static str) -> Result<(), BackupError> {
    match copies::free_space(folder) {
        Some(free) if free < needed.saturating_add(copies::WANTED_FREE) => Err(BackupError::NoSpace {
            folder: folder.to_owned(),
            free,
            needed,
            purpose,
        }),
        _ => Ok(()),
    }
}

fn fill(
    order: &BackupOrder,
    database: &Path,
    partial: &Path,
    now: Instant,
    stop: &Arc<AtomicBool>,
) -> Result<Manifest, BackupError> {
    files::make_folder(partial)?;
    let copy = partial.join(DATABASE);
    copies::copy(database, &copy, stop)?;
    copies::check(&copy, stop)?;
    let facts = copies::look(&copy)?;
    let mut parts = vec![BackupPart::new(Path::new(DATABASE), files::read(&copy, None)?)];
    // After the database: it knows of every file that it published before, and looks for one that it does not know of.
    for inner in files::list_files(&order.data_dir, PUBLISHED)? {
        match files::copy_part(&order.data_dir, &inner, partial) {
            Ok(part) => parts.push(part),
            // Unpublished meanwhile.
            Err(BackupError::File { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let manifest = Manifest {
        format: FORMAT,
        program: order.program.to_owned(),
        schema: facts.schema,
        created_at: now,
        reason: order.reason,
        rows: facts.rows,
        parts,
    };
    let text = serde_json::to_vec_pretty(&manifest)
        .map_err(|error| BackupError::file(partial)(std::io::Error::other(error)))?;
    files::write(&partial.join(MANIFEST), &text)?;
    for folder in files::folders_of(&manifest.parts) {
        files::sync_folder(&partial.join(folder))?;
    }
    Ok(manifest)
}

/// Time in the name of a file: `20261129T220000Z`.
pub(crate) fn stamp(now: Instant) -> String {
    let text = now.to_string();
    let seconds = text.split('.').next().unwrap_or_default();
    let plain: String = seconds.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    format!("{plain}Z")
}

/// Returns a path of this name that nothing has.
pub(crate) fn free_name(folder: &Path, name: &str) -> PathBuf {
    let mut path = folder.join(name);
    let mut number = 2_u32;
    while path.symlink_metadata().is_ok() {
        path = folder.join(format!("{name}-{number}"));
        number += 1;
    }
    path
}

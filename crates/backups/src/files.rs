//! Files and folders that only their owner reads, and that are on the disk when a function returns.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{Read, Write as _},
    path::{Component, Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use crate::{BackupError, BackupPart};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 18;
/// Bytes after which what was written is brought to the disk, so that others do not wait for all of it.
const BYTES_PER_SYNC: u64 = 8 << 20;

/// Makes a folder, with those above it.
pub(crate) fn make_folder(path: &Path) -> Result<(), BackupError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(BackupError::file(path))
}

/// Waits until the names in a folder are on the disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), BackupError> {
    #[cfg(unix)]
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(BackupError::file(path))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Opens a new file for writing.
pub(crate) fn create(path: &Path) -> Result<File, BackupError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(BackupError::file(path))
}

/// Writes a new file.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), BackupError> {
    let mut file = create(path)?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(BackupError::file(path))
}

/// Size and SHA-256 of what was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// Reads a file in full; with a target it is copied there.
pub(crate) fn read(path: &Path, target: Option<&Path>) -> Result<Contents, BackupError> {
    let mut source = File::open(path).map_err(BackupError::file(path))?;
    let mut copy = target.map(|to| create(to).map(|file| (to, file))).transpose()?;
    let mut digest = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let (mut bytes, mut unsynced) = (0_u64, 0_u64);
    loop {
        let length = source.read(&mut chunk).map_err(BackupError::file(path))?;
        let Some(read) = chunk.get(..length).filter(|read| !read.is_empty()) else {
            break;
        };
        digest.update(read);
        bytes += read.len() as u64;
        if let Some((to, file)) = &mut copy {
            unsynced += read.len() as u64;
            file.write_all(read).map_err(BackupError::file(*to))?;
            if unsynced >= BYTES_PER_SYNC {
                file.sync_data().map_err(BackupError::file(*to))?;
                unsynced = 0;
            }
        }
    }
    if let Some((to, file)) = copy {
        file.sync_all().map_err(BackupError::file(to))?;
    }
    Ok(Contents {
        bytes,
        sha256: digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    })
}

/// Copies a file below `root` to the same place below `target`, and returns it as a part of a backup.
pub(crate) fn copy_part(root: &Path, inner: &Path, target: &Path) -> Result<BackupPart, BackupError> {
    let to = target.join(inner);
    if let Some(folder) = to.parent() {
        make_folder(folder)?;
    }
    let contents = read(&root.join(inner), Some(&to))?;
    Ok(BackupPart::new(inner, contents))
}

/// Returns the paths of the files below a folder of `root`, in order. Only files and folders count: links and the like are named in the log.
pub(crate) fn list_files(root: &Path, folder: &str) -> Result<Vec<PathBuf>, BackupError> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::from(folder)];
    while let Some(inner) = waiting.pop() {
        let path = root.join(&inner);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(BackupError::File { path, error }),
        };
        for entry in entries {
            let entry = entry.map_err(BackupError::file(&path))?;
            let kind = entry.file_type().map_err(BackupError::file(entry.path()))?;
            let inner = inner.join(entry.file_name());
            if kind.is_dir() {
                waiting.push(inner);
            } else if kind.is_file() {
                found.push(inner);
            } else {
                tracing::warn!(file = %entry.path().display(), "neither a file nor a folder: it is in no backup");
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the folders in which files lie, each once, inner ones first.
pub(crate) fn folders_of(parts: &[BackupPart]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = parts
        .iter()
        .flat_map(|part| Path::new(&part.path).ancestors().skip(1).map(Path::to_owned))
        .collect();
    folders.sort_unstable();
    folders.dedup();
    folders.reverse();
    folders
}

/// Whether a path stays below the folder that it is joined to.
pub(crate) fn is_inner(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

/// Size of a file; 0 if there is none.
pub(crate) fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

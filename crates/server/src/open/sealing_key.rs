//! The file of keys that secrets are sealed with, apart from the database and its backups.
//!
//! 32 bytes are one key with the number 1. Once keys were changed it is text: a line for each, its number and the key in base64.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use searchwright_store::seal;

pub use searchwright_store::seal::RewrapCounts;

use super::{Installation, OpenError};

/// A key with its number.
pub type Numbered = (u8, [u8; 32]);

/// The file of keys of a folder.
pub fn path(folder: &Path) -> PathBuf {
    folder.join("sealing.key")
}

fn failed(path: &Path, error: std::io::Error) -> OpenError {
    OpenError::File(path.display().to_string(), error)
}

fn random() -> std::io::Result<[u8; 32]> {
    let mut key = [0u8; 32];
    getrandom::fill(&mut key).map_err(|e| std::io::Error::other(e.to_string()))?;
    Ok(key)
}

/// The keys of a folder, if it has any; makes none.
pub fn find(folder: &Path) -> Result<Option<Vec<Numbered>>, OpenError> {
    let path = path(folder);
    let mut bytes = Vec::new();
    match File::open(&path).and_then(|file| file.take(64 << 10).read_to_end(&mut bytes)) {
        Ok(_) => match read(&bytes) {
            Some(keys) => Ok(Some(keys)),
            None => Err(OpenError::BrokenSealingKey {
                size: bytes.len(),
                path,
            }),
        },
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed(&path, e)),
    }
}

/// The keys of a folder; one is made on first use.
pub fn keys(folder: &Path) -> Result<Vec<Numbered>, OpenError> {
    if let Some(keys) = find(folder)? {
        return Ok(keys);
    }
    let path = path(folder);
    let failed = |error| failed(&path, error);
    let key = random().map_err(failed)?;
    // Under its name once it is on the disk as a whole.
    let made = tempfile::Builder::new()
        .prefix(".sealing.key-")
        .tempfile_in(folder)
        .and_then(|mut file| {
            file.write_all(&key)?;
            file.as_file().sync_all()?;
            Ok(file)
        });
    match made.map_err(failed)?.persist_noclobber(&path) {
        Ok(_) => {
            sync(folder).map_err(failed)?;
            Ok(vec![(1, key)])
        }
        // another process was first
        Err(e) if e.error.kind() == std::io::ErrorKind::AlreadyExists => {
            find(folder)?.ok_or_else(|| failed(e.error))
        }
        Err(e) => Err(failed(e.error)),
    }
}

/// Waits until the names in a folder are on the disk.
fn sync(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

fn read(bytes: &[u8]) -> Option<Vec<Numbered>> {
    if let Ok(key) = <[u8; 32]>::try_from(bytes) {
        return Some(vec![(1, key)]);
    }
    let line = |line: &str| {
        let (number, key) = line.split_once(' ')?;
        Some((
            number.parse().ok()?,
            STANDARD.decode(key.trim()).ok()?.try_into().ok()?,
        ))
    };
    let keys: Option<Vec<Numbered>> = std::str::from_utf8(bytes).ok()?.lines().map(line).collect();
    keys.filter(|keys| !keys.is_empty())
}

/// Adds a key, which seals from the next start on.
pub fn add(folder: &Path) -> Result<u8, OpenError> {
    let mut keys = keys(folder)?;
    let path = path(folder);
    let last = keys.iter().map(|(number, _)| *number).max().unwrap_or(0);
    // 123 is how an answer begins that is not sealed.
    let next = last.checked_add(1).filter(|next| *next < b'{').ok_or_else(|| {
        failed(
            &path,
            std::io::Error::other("holds as many keys as there are numbers"),
        )
    })?;
    keys.push((next, random().map_err(|error| failed(&path, error))?));
    write(&path, &keys)?;
    Ok(next)
}

/// Seals everything with the newest key.
pub async fn rewrap(installation: &Installation) -> Result<RewrapCounts, OpenError> {
    let keyring = installation.keyring.clone();
    let write = installation
        .engine
        .db
        .write(move |tx| Box::pin(async move { seal::rewrap(tx, &keyring).await }));
    Ok(write.await?)
}

/// Forgets all keys but the newest.
pub fn forget_old(folder: &Path) -> Result<(), OpenError> {
    let mut keys = keys(folder)?;
    keys.sort_unstable_by_key(|(number, _)| *number);
    let newest = keys.split_off(keys.len().saturating_sub(1));
    write(&path(folder), &newest)
}

/// Writes the file as a whole or not at all.
fn write(path: &Path, keys: &[Numbered]) -> Result<(), OpenError> {
    let text: String = keys
        .iter()
        .map(|(number, key)| format!("{number} {}\n", STANDARD.encode(key)))
        .collect();
    let fresh = path.with_extension("key-new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&fresh).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        sync(path.parent().unwrap_or(Path::new(".")))
    });
    written.map_err(|error| failed(path, error))
}

#[cfg(test)]
mod tests {
    use super::{add, find, forget_old, keys, path, read};

    /// A file that a crash or a full disk left half written stands under another name.
    #[test]
    fn a_half_written_key_is_no_key() {
        let folder = tempfile::tempdir().unwrap();
        for half in [&b""[..], &[7; 16]] {
            std::fs::write(folder.path().join(".sealing.key-x1y2z3"), half).unwrap();
            std::fs::write(folder.path().join("sealing.key-new"), half).unwrap();
            assert_eq!(find(folder.path()).unwrap(), None, "no key was made yet");
        }
        let first = keys(folder.path()).unwrap();
        assert_eq!(keys(folder.path()).unwrap(), first);
        // a second key is written over what a crash left
        add(folder.path()).unwrap();
        let both = keys(folder.path()).unwrap();
        assert_eq!((both.len(), both[0]), (2, first[0]));
        assert!(!folder.path().join("sealing.key-new").exists());
    }

    /// The file is there as a whole or not at all, whichever step of writing it fails.
    #[test]
    fn a_key_that_cannot_be_written_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        keys(&missing).unwrap_err();
        assert!(!missing.exists(), "the file does not come into being elsewhere");
        let kept = keys(folder.path()).unwrap();
        // the name of the new file is taken by a folder, as it cannot be opened where the disk has failed
        std::fs::create_dir(folder.path().join("sealing.key-new")).unwrap();
        add(folder.path()).unwrap_err();
        forget_old(folder.path()).unwrap_err();
        assert_eq!(keys(folder.path()).unwrap(), kept);
        std::fs::remove_dir(folder.path().join("sealing.key-new")).unwrap();
        add(folder.path()).unwrap();
        // the name of the file itself cannot be taken: the rename fails, after all was written
        let other = tempfile::tempdir().unwrap();
        std::fs::create_dir(path(other.path())).unwrap();
        keys(other.path()).unwrap_err();
        let left = std::fs::read_dir(other.path()).unwrap().count();
        assert_eq!(left, 1, "nothing is left of its making");
    }

    /// Several processes that start at once have one key.
    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let made: Vec<_> = std::thread::scope(|threads| {
            let making: Vec<_> = (0..8)
                .map(|_| threads.spawn(|| keys(folder.path()).unwrap()))
                .collect();
            making.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(made.windows(2).all(|two| two[0] == two[1]));
        let names = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 1, "nothing is left of its making");
    }

    #[test]
    fn a_file_without_keys_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        for (bytes, size) in [(&b""[..], "(0 bytes)"), (&[7; 31], "(31 bytes)")] {
            std::fs::write(folder.path().join("sealing.key"), bytes).unwrap();
            let said = keys(folder.path()).unwrap_err().to_string();
            for words in [size, "put it back", "remove it"] {
                assert!(said.contains(words), "{said}");
            }
        }
    }

    #[test]
    fn keys_are_added_and_old_ones_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let first = keys(folder.path()).unwrap();
        assert_eq!((first.len(), first[0].0), (1, 1));
        assert_eq!(add(folder.path()).unwrap(), 2);
        let both = keys(folder.path()).unwrap();
        assert_eq!((both[0], both[1].0), (first[0], 2));
        forget_old(folder.path()).unwrap();
        assert_eq!(keys(folder.path()).unwrap(), both[1..]);
        assert_eq!(add(folder.path()).unwrap(), 3);
        for bad in [&b""[..], b"1", b"1 AAAA\n", b"x AAAA", &[0; 31]] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
        let names = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 1, "nothing is left of its making");
    }
}

//! Space on the disk of the database: a reserve for the operator, and what happens while nothing can be written.
//!
//! A server keeps a file of 64 MiB beside the database. When the disk is full it empties the file and refuses writes until there is
//! space again, so that what became free is left to the operator: to remove data or keys by commands, which write as well.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// Bytes of the reserve.
const RESERVE: u64 = 64 << 20;
/// Bytes that have to be free beside it for writes to begin again.
const MARGIN: u64 = 16 << 20;

/// Bytes that have to be left free on the disk of a database, so that a server can keep its reserve and go on writing.
pub const WANTED_FREE: u64 = RESERVE + MARGIN;

/// State of the disk, as the last writes found it.
#[derive(Debug)]
pub(super) struct Disk {
    /// The file of the reserve. Emptied it tells the next start that the disk was full.
    reserve: PathBuf,
    free: fn(&Path) -> Option<u64>,
    is_full: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether this process keeps the reserve: a server, not a command.
    keeps: bool,
    has_reserve: bool,
    /// Whether what is free is left to the operator.
    is_left: bool,
}

impl Disk {
    pub(super) fn new(database: &Path) -> Self {
        Self::with(database, free_space)
    }

    fn with(database: &Path, free: fn(&Path) -> Option<u64>) -> Self {
        Self {
            reserve: database.with_file_name("reserve"),
            free,
            is_full: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_free(&self, bytes: u64) -> bool {
        let folder = self.reserve.parent().unwrap_or_else(|| Path::new("."));
        (self.free)(folder).is_some_and(|free| free >= bytes)
    }

    /// Keeps a reserve from now on, where there is room.
    pub(super) fn keep_reserve(&self) {
        let mut state = self.state();
        state.keeps = true;
        let length = fs::metadata(&self.reserve).map(|file| file.len()).ok();
        state.has_reserve = length.is_some_and(|length| length >= RESERVE);
        if state.has_reserve {
            return;
        }
        if self.has_free(WANTED_FREE) {
            self.make(&mut state);
        } else if length == Some(0) {
            state.is_left = true;
            self.is_full.store(true, Ordering::Release);
            tracing::error!(
                "the disk is still full: writes are refused until {} MiB are free",
                WANTED_FREE >> 20
            );
        } else {
            tracing::warn!(
                file = %self.reserve.display(),
                "less than {} MiB are free on the disk of the database: no reserve is kept",
                WANTED_FREE >> 20
            );
        }
    }

    fn make(&self, state: &mut State) {
        match allocate(&self.reserve) {
            Ok(()) => state.has_reserve = true,
            Err(error) => {
                tracing::warn!(%error, file = %self.reserve.display(), "no reserve could be made on the disk of the database");
                let _ = fs::remove_file(&self.reserve);
            }
        }
    }

    /// Records that there was no space for a write.
    pub(super) fn filled(&self) {
        let mut state = self.state();
        if self.is_full.swap(true, Ordering::AcqRel) {
            return;
        }
        if state.has_reserve {
            state.has_reserve = false;
            state.is_left = true;
            match File::create(&self.reserve) {
                Ok(_) => tracing::error!(
                    "the disk is full: the reserve of {} MiB is free now for commands of the operator, and the server refuses writes \
                     until {} MiB are free",
                    RESERVE >> 20,
                    WANTED_FREE >> 20
                ),
                Err(error) => {
                    tracing::error!(%error, "the disk is full, and the reserve could not be freed");
                }
            }
        } else {
            tracing::error!("the disk is full");
        }
    }

    /// Records that a write reached the disk.
    pub(super) fn wrote(&self) {
        if self.is_full.load(Ordering::Acquire) && !self.state().is_left {
            self.is_full.store(false, Ordering::Release);
            tracing::info!("the disk takes writes again");
        }
    }

    /// The reason for which nothing can be written, while there is one.
    pub(super) fn obstacle(&self) -> Option<String> {
        if !self.is_full.load(Ordering::Acquire) {
            return None;
        }
        let mut state = self.state();
        let wanted = if state.is_left { WANTED_FREE } else { MARGIN };
        if !self.has_free(wanted) {
            return Some(format!(
                "the disk is full: nothing is written until {} MiB are free",
                wanted >> 20
            ));
        }
        state.is_left = false;
        self.is_full.store(false, Ordering::Release);
        tracing::info!("there is space on the disk again");
        if state.keeps && self.has_free(WANTED_FREE) {
            self.make(&mut state);
            if state.has_reserve {
                tracing::info!(file = %self.reserve.display(), "the reserve of {} MiB is kept again", RESERVE >> 20);
            }
        }
        None
    }

    /// Whether a write is refused without a try, so that what is free is left to the operator.
    pub(super) fn refuses(&self) -> bool {
        self.obstacle().is_some() && self.state().is_left
    }
}

/// Bytes that this user may still write to a disk, where the system tells.
pub fn free_space(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(folder).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Makes the reserve: space that is really taken.
fn allocate(path: &Path) -> io::Result<()> {
    let mut file = private().truncate(true).open(path)?;
    #[cfg(target_os = "linux")]
    if rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, RESERVE).is_ok() {
        return Ok(());
    }
    // Bytes that no filesystem makes smaller.
    let mut part = vec![0; 1 << 20];
    getrandom::fill(&mut part).map_err(|error| io::Error::other(error.to_string()))?;
    for _ in 0..RESERVE >> 20 {
        file.write_all(&part)?;
    }
    file.sync_all()
}

/// Options for a file that only its owner reads.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Keeps the files of the database from others, whatever the folder lets them do. SQLite makes its own as the database is.
pub(super) fn keep_private(database: &Path) {
    // Where that fails, opening the database says why.
    drop(private().truncate(false).open(database));
    #[cfg(unix)]
    for end in ["", "-wal", "-shm"] {
        let mut name = database.as_os_str().to_owned();
        name.push(end);
        restrict(Path::new(&name));
    }
    #[cfg(unix)]
    restrict(&database.with_extension("keys"));
}

#[cfg(unix)]
fn restrict(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let is_open =
        fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o077 != 0);
    if is_open && let Err(error) = fs::set_permissions(file, fs::Permissions::from_mode(0o600)) {
        tracing::warn!(%error, file = %file.display(), "others can read this file, and that could not be changed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Space of a disk: as many MiB as the file `free` in its folder has bytes.
    fn told(folder: &Path) -> Option<u64> {
        Some(fs::metadata(folder.join("free")).ok()?.len() << 20)
    }

    struct Bench(tempfile::TempDir);

    impl Bench {
        fn new(free: usize) -> (Self, Disk) {
            let bench = Self(tempfile::tempdir().unwrap());
            bench.set_free(free);
            let disk = bench.start();
            (bench, disk)
        }

        fn start(&self) -> Disk {
            let disk = Disk::with(&self.0.path().join("db"), told);
            disk.keep_reserve();
            disk
        }

        fn set_free(&self, mebibytes: usize) {
            fs::write(self.0.path().join("free"), vec![0; mebibytes]).unwrap();
        }

        fn reserve(&self) -> Option<u64> {
            fs::metadata(self.0.path().join("reserve"))
                .ok()
                .map(|file| file.len())
        }
    }

    #[test]
    fn reserve_is_left_to_the_operator_until_there_is_space() {
        let (bench, disk) = Bench::new(100);
        assert_eq!((bench.reserve(), disk.obstacle()), (Some(RESERVE), None));
        disk.filled();
        bench.set_free(64);
        assert_eq!(bench.reserve(), Some(0));
        assert!(disk.obstacle().unwrap().contains("80 MiB") && disk.refuses());
        // What commands write is no sign of space, and neither is a restart.
        disk.wrote();
        assert!(disk.refuses());
        let disk = bench.start();
        assert!(disk.obstacle().is_some() && disk.refuses());
        bench.set_free(80);
        assert_eq!((disk.obstacle(), disk.refuses()), (None, false));
        assert_eq!(bench.reserve(), Some(RESERVE));
    }

    #[test]
    fn small_disk_has_no_reserve_and_every_write_is_tried() {
        let (bench, disk) = Bench::new(79);
        assert_eq!((bench.reserve(), disk.obstacle()), (None, None));
        bench.set_free(1);
        disk.filled();
        assert!(disk.obstacle().is_some() && !disk.refuses());
        disk.wrote();
        assert_eq!(disk.obstacle(), None);
        disk.filled();
        bench.set_free(16);
        assert_eq!(disk.obstacle(), None);
        assert_eq!(bench.reserve(), None);
    }
}

//! Opens an installation: its folder, its database, its sealing key.

pub mod sealing_key;

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::Write as _,
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use searchwright_backups::{BackupError, BackupReason};
use searchwright_contract::Clock;
use searchwright_engine::{Engine, Failure};
use searchwright_outbound::Outbound;
use searchwright_people::People;
use searchwright_store::{
    Db, Error, Settings as StoreSettings,
    seal::{self, Keyring},
};

use crate::config::{ConfigError, Settings, make_data_dir};

/// Age from which a scratch folder counts as abandoned.
const ABANDONED: Duration = Duration::from_hours(1);

/// Error on opening an installation.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The database.
    #[error("database: {0}")]
    Store(#[from] Error),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] Failure),
    /// A backup or a restore.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// A file of the data folder.
    #[error("{0}: {1}")]
    File(String, std::io::Error),
    /// The file of keys is missing that the secrets in the database are sealed with.
    #[error("{} is missing: the secrets in the database were sealed with it; put it back from where it is kept, beside the database", .0.display())]
    NoSealingKey(PathBuf),
    /// The file of keys belongs to another database.
    #[error("{} is not the sealing key this database was made with; put the right one back from where it is kept", .0.display())]
    OtherSealingKey(PathBuf),
    /// The file of keys has none in it.
    #[error("{} is no file of sealing keys ({size} bytes): put it back from where it is kept; only if this installation never had another, because its first start was cut short, remove it, and the next start makes one", path.display())]
    BrokenSealingKey {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        size: usize,
    },
    /// Nobody knows what of a commit is on the disk.
    #[error(
        "a commit did not reach the disk for certain: this process ends, so that the next one reads what is there; look at the disk and at the log of the system"
    )]
    Uncertain,
    /// Another server uses the data folder.
    #[error("{0} is in use by another searchwright server; stop it, or give this one another --data-dir")]
    InUse(String),
}

/// An open installation.
#[derive(Debug)]
pub struct Installation {
    /// The service.
    pub engine: Arc<Engine>,
    /// People and their programs.
    pub people: Arc<People>,
    /// Keys that secrets are sealed with.
    pub keyring: Arc<Keyring>,
}

/// Held while a server owns the data folder. Its file names the public URL of the server.
#[derive(Debug)]
pub struct Ownership(File);

impl Ownership {
    /// Writes the public URL of the server.
    pub(crate) fn announce(&self, public_url: &str) -> std::io::Result<()> {
        self.0.set_len(0)?;
        (&self.0).write_all(public_url.as_bytes())
    }
}

/// Returns the public URL for links: of the server that owns the data folder now, else as configured.
pub fn public_url(settings: &Settings) -> String {
    let announced = std::fs::read_to_string(lock_path(settings)).unwrap_or_default();
    if announced.is_empty() || !settings.database_url.is_empty() || !is_owned(settings) {
        settings.public_url.clone()
    } else {
        announced
    }
}

fn lock_path(settings: &Settings) -> PathBuf {
    settings.data_dir.join("server.lock")
}

/// Opens the database, migrates it if that is wanted, and loads the sealing key.
pub async fn open(settings: &Settings) -> Result<Installation, OpenError> {
    open_with(settings, Clock::system()).await
}

/// As [`open`], with a clock of the caller's.
pub async fn open_with(settings: &Settings, clock: Clock) -> Result<Installation, OpenError> {
    make_data_dir(&settings.data_dir)?;
    let is_embedded = settings.database_url.is_empty();
    if is_embedded && searchwright_backups::is_restoring(&settings.data_dir) {
        // Whoever owns the folder completes it.
        drop(own(settings)?);
    }
    let db = Db::open(&store(settings)).await?;
    if settings.auto_migrate {
        for number in db
            .migrate_with(|| back_up_before_migration(settings, &clock))
            .await?
        {
            tracing::info!(number, "migrated");
        }
    } else {
        db.check_schema().await?;
    }
    // Beside a database that has another key none is made: it would hide what is missing.
    let is_sealed = seal::is_sealed(&mut db.read().await?).await?;
    let keys = match sealing_key::find(&settings.data_dir)? {
        None if is_sealed => return Err(OpenError::NoSealingKey(sealing_key::path(&settings.data_dir))),
        _ => sealing_key::keys(&settings.data_dir)?,
    };
    let keyring = Arc::new(Keyring::new(keys)?);
    let checked = keyring.check_canary(&mut db.read().await?).await;
    let is_known = checked.map_err(|error| match error {
        Error::Seal(_) => OpenError::OtherSealingKey(sealing_key::path(&settings.data_dir)),
        error => error.into(),
    })?;
    if !is_known {
        let fresh = keyring.clone();
        db.write(move |tx| Box::pin(async move { fresh.write_canary(tx).await }))
            .await?;
    }
    let between_audits = settings.limits.minutes_between_audits;
    let engine = Engine::new(db, clock, keyring.clone(), settings.allowed()?, between_audits).await?;
    let people = People::new(engine.clone())?;
    Ok(Installation {
        engine,
        people,
        keyring,
    })
}

/// Makes the way back from a migration, which goes forward only.
fn back_up_before_migration(settings: &Settings, clock: &Clock) -> Result<(), Error> {
    let order = settings.backup_order(BackupReason::Migration);
    let made = searchwright_backups::make(&order, clock.now(), &Arc::default()).map_err(|error| {
        Error::Unavailable(format!(
            "the schema has to be migrated, and no backup could be made before: {error}"
        ))
    })?;
    tracing::info!(backup = %made.path.display(), "a backup was made before the migration");
    Ok(())
}

/// Returns the settings with which places to publish are reached from this server.
pub fn publishing(
    settings: &Settings,
    own: Vec<SocketAddr>,
) -> Result<searchwright_publishing::Settings, OpenError> {
    let mut outbound =
        searchwright_outbound::Settings::new(format!("Searchwright/{}", env!("CARGO_PKG_VERSION")));
    outbound.allow = settings.allowed()?;
    outbound.own = own;
    Ok(searchwright_publishing::Settings {
        outbound: Outbound::new(&outbound)
            .map_err(|e| OpenError::File("TLS".to_owned(), std::io::Error::other(e)))?,
        folder: settings.data_dir.join("published"),
        scratch: scratch(settings),
        visits: Arc::default(),
        origin: settings.public_url.clone(),
    })
}

fn scratch(settings: &Settings) -> PathBuf {
    settings.data_dir.join("scratch")
}

/// Removes scratch files of servers that were killed. If other processes may use the folder, only files older than
/// [`ABANDONED`] are removed.
pub(crate) fn clear_scratch(settings: &Settings, is_alone: bool) {
    let Ok(entries) = std::fs::read_dir(scratch(settings)) else {
        return;
    };
    for entry in entries.flatten() {
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if (is_alone || age().is_some_and(|age| age > ABANDONED))
            && let Err(error) = std::fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%error, folder = %entry.path().display(), "old files of work under way could not be removed");
        }
    }
}

/// The store's settings.
pub fn store(settings: &Settings) -> StoreSettings {
    if settings.database_url.is_empty() {
        StoreSettings::Sqlite(settings.sqlite_path())
    } else {
        StoreSettings::Postgres {
            url: settings.database_url.clone(),
            connections: settings.database_connections,
        }
    }
}

/// Makes sure no other server owns the embedded database, and completes a restore that was cut short.
pub fn own(settings: &Settings) -> Result<Ownership, OpenError> {
    make_data_dir(&settings.data_dir)?;
    let path = lock_path(settings);
    let failed = |e| OpenError::File(path.display().to_string(), e);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {
            if searchwright_backups::finish_restore(&settings.data_dir)? {
                tracing::info!("a restore that was cut short has been completed");
            }
            Ok(Ownership(file))
        }
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(settings.data_dir.display().to_string())),
        Err(TryLockError::Error(e)) => Err(failed(e)),
    }
}

/// Returns whether another process owns the embedded database now.
pub(crate) fn is_owned(settings: &Settings) -> bool {
    matches!(own(settings), Err(OpenError::InUse(_)))
}

//! `searchwright backup` and `searchwright restore`: the embedded database and published files, apart from the sealing key.

use std::path::{Path, PathBuf};

use clap::Args;
use searchwright_backups::{BackupError, BackupReason, RestoreOrder};
use searchwright_cli::{CliError, Exit};
use searchwright_contract::Clock;
use searchwright_server::{Settings, config::Flags, open};
use searchwright_store::{copies::CopyFacts, seal::Keyring};
use serde_json::json;

use crate::{admin::show, settings::settings};

/// A backup of the embedded database and the published files.
#[derive(Clone, Debug, Args)]
pub struct MakeBackup {
    /// Folder of the backups; default backups.folder of the configuration, which is `backups` in the data folder.
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
    /// Number of backups to leave in the folder; older ones are removed once this one is made. Default: all stay.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,
    #[command(flatten)]
    flags: Flags,
}

/// A backup to be put back.
#[derive(Clone, Debug, Args)]
pub struct RestoreBackup {
    /// Folder of the backup, such as searchwright-data/backups/searchwright-20261129T220000Z.
    backup: PathBuf,
    /// Set a database that is there aside, in a folder beside it; nothing is deleted.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    flags: Flags,
}

fn failed(error: BackupError) -> CliError {
    let exit = match error {
        BackupError::Occupied(_) | BackupError::Busy(_) | BackupError::Key(_) => Exit::Refused,
        BackupError::NoDatabase(_) | BackupError::NoBackup { .. } => Exit::Usage,
        _ => Exit::Failed,
    };
    let hint = match &error {
        BackupError::Key(_) => {
            "copy the sealing.key that belongs to this backup into the data folder, then repeat the command"
        }
        BackupError::Occupied(_) => "name another folder with --data-dir, or add --force",
        BackupError::Damaged { .. } => "`ls` its folder for others: every night has one",
        BackupError::NoBackup { .. } => "name the folder that has manifest.json in it",
        _ => return CliError::new(exit, error.to_string()),
    };
    CliError::new(exit, error.to_string()).hint(hint)
}

/// Refuses PostgreSQL, which has better means of its own.
fn require_embedded(settings: &Settings, instead: &str) -> Result<(), CliError> {
    if settings.database_url.is_empty() {
        return Ok(());
    }
    let error = CliError::new(
        Exit::Usage,
        "the database is PostgreSQL, whose own tools copy it while servers run, check it, and restore it in parallel",
    );
    Err(error.hint(instead))
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        bytes => format!("{} MiB", bytes.div_ceil(1 << 20)),
    }
}

/// Ends with the outcome of work that blocks its thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, CliError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| CliError::new(Exit::Failed, error.to_string()))?
        .map_err(failed)
}

/// Makes a backup.
pub async fn back_up(command: MakeBackup, json: bool) -> Result<Exit, CliError> {
    let settings = settings(&command.flags)?;
    require_embedded(
        &settings,
        "run `pg_dump --format=custom --no-owner --file=searchwright.dump --dbname=\"$DATABASE_URL\"`, and keep sealing.key apart from the dump",
    )?;
    let mut order = settings.backup_order(BackupReason::Command);
    order.keep = command.keep.map(|keep| keep as usize);
    if let Some(folder) = command.to {
        order.folder = folder;
    }
    let key = open::sealing_key::path(&settings.data_dir);
    let made =
        blocking(move || searchwright_backups::make(&order, Clock::system().now(), &Default::default()))
            .await?;
    let (path, manifest) = (made.path.display(), &made.manifest);
    let text = format!(
        "{path}: {}, {} file(s), read again and whole\nThe sealing key is not in it. Keep {} apart from it: without that key the secrets in the database do not open.",
        size(manifest.bytes()),
        manifest.parts.len(),
        key.display(),
    );
    let value = json!({
        "path": made.path,
        "createdAt": manifest.created_at,
        "bytes": manifest.bytes(),
        "files": manifest.parts.len(),
        "rows": manifest.rows,
        "sealingKey": key,
    });
    show(json, &value, &text)
}

/// Puts a backup back.
pub async fn restore(command: RestoreBackup, json: bool) -> Result<Exit, CliError> {
    let settings = settings(&command.flags)?;
    require_embedded(
        &settings,
        "run `pg_restore --no-owner --exit-on-error --dbname=\"$DATABASE_URL\" searchwright.dump` into an empty database",
    )?;
    // A server would go on with the files that it has open.
    let ownership = open::own(&settings).map_err(|error| {
        CliError::new(Exit::Refused, error.to_string())
            .hint("stop the server, or name another folder with --data-dir")
    })?;
    let data_dir = settings.data_dir.clone();
    let order = RestoreOrder {
        backup: command.backup,
        data_dir: data_dir.clone(),
        force: command.force,
    };
    let done = blocking(move || {
        searchwright_backups::restore(&order, |facts| fits(&data_dir, facts), Clock::system().now())
    })
    .await?;
    drop(ownership);
    let folder = settings.data_dir.display();
    let mut text = format!(
        "restored the state of {} into {folder}: {}",
        done.manifest.created_at,
        size(done.manifest.bytes())
    );
    if let Some(old) = &done.set_aside {
        text += &format!("\nThe state before is in {}", old.display());
    }
    text += &format!("\nStart the server: searchwright serve --data-dir {folder}");
    let value = json!({
        "dataDir": settings.data_dir,
        "createdAt": done.manifest.created_at,
        "bytes": done.manifest.bytes(),
        "rows": done.manifest.rows,
        "setAside": done.set_aside,
    });
    show(json, &value, &text)
}

/// Returns an error unless the sealing key of a data folder opens the secrets of a database.
fn fits(data_dir: &Path, facts: &CopyFacts) -> Result<(), BackupError> {
    let Some(canary) = &facts.canary else {
        return Ok(());
    };
    let key = open::sealing_key::path(data_dir);
    let other = |why: &str| BackupError::Key(format!("{} {why}", key.display()));
    let keys = open::sealing_key::find(data_dir)
        .map_err(|error| BackupError::Key(error.to_string()))?
        .ok_or_else(|| other("is missing: the secrets in this backup were sealed with it, and it is kept apart from backups"))?;
    Keyring::new(keys)
        .and_then(|keyring| keyring.open_canary(canary))
        .map_err(|_| other("is not the sealing key of this backup"))
}

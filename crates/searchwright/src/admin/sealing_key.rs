//! `searchwright admin sealing-key …`: the keys that encrypt stored secrets.

use clap::Subcommand;
use searchwright_cli::{CliError, Exit};
use searchwright_server::{
    config::Flags,
    open::{self, sealing_key::RewrapCounts},
};

use super::{require_database, show};
use crate::settings::settings;

/// Keys that encrypt stored secrets.
#[derive(Clone, Debug, Subcommand)]
pub enum SealingKeyCommand {
    /// Add a key and encrypt every secret with it. The server must be stopped.
    ///
    /// With several machines on one PostgreSQL: `add` here, copy sealing.key to each, restart them, then `rewrap` once.
    Rotate {
        #[command(flatten)]
        flags: Flags,
    },
    /// Add a key, which encrypts from the next start on.
    Add {
        #[command(flatten)]
        flags: Flags,
    },
    /// Encrypt every secret with the newest key.
    Rewrap {
        /// Delete the older keys afterwards. Earlier backups need them.
        #[arg(long)]
        forget_old: bool,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Runs the command.
pub async fn run(command: SealingKeyCommand, json: bool) -> Result<Exit, CliError> {
    let failed = |e: open::OpenError| CliError::new(Exit::Failed, e.to_string());
    match command {
        SealingKeyCommand::Add { flags } => {
            let configured = settings(&flags)?;
            require_database(&configured)?;
            let number = open::sealing_key::add(&configured.data_dir).map_err(failed)?;
            let text = format!("key {number} seals once the server was started again");
            show(json, &serde_json::json!({ "key": number }), &text)
        }
        SealingKeyCommand::Rotate { flags } => {
            let configured = settings(&flags)?;
            if !configured.database_url.is_empty() {
                let error = CliError::new(
                    Exit::Usage,
                    "other servers may use this database, and would not know the new key",
                );
                return Err(error.hint("run `add`, copy sealing.key to every machine, start the servers again, then run `rewrap`"));
            }
            require_database(&configured)?;
            // A server that runs knows nothing of the new key and could not open what it sealed.
            let _ownership = open::own(&configured).map_err(|error| match error {
                open::OpenError::InUse(_) => CliError::new(Exit::Refused, error.to_string())
                    .hint("stop the server, then repeat the command; or `add` a key beside it, start it again, and `rewrap`"),
                error => failed(error),
            })?;
            let number = open::sealing_key::add(&configured.data_dir).map_err(failed)?;
            let done = all(&flags).await?;
            told(json, number, done)
        }
        SealingKeyCommand::Rewrap { forget_old, flags } => {
            let done = all(&flags).await?;
            let configured = settings(&flags)?;
            if forget_old {
                open::sealing_key::forget_old(&configured.data_dir).map_err(failed)?;
            }
            let keys = open::sealing_key::keys(&configured.data_dir).map_err(failed)?;
            let newest = keys.iter().map(|(number, _)| *number).max().unwrap_or_default();
            told(json, newest, done)
        }
    }
}

/// Seals everything with the newest key of the folder.
async fn all(flags: &Flags) -> Result<RewrapCounts, CliError> {
    let installation = super::open(flags).await?;
    let done = open::sealing_key::rewrap(&installation).await;
    installation.engine.db.close().await;
    done.map_err(|e| CliError::new(Exit::Failed, e.to_string()))
}

fn told(json: bool, key: u8, done: RewrapCounts) -> Result<Exit, CliError> {
    let RewrapCounts { rewrapped, current } = done;
    let text = format!("key {key}: {rewrapped} secrets sealed again, {current} were sealed with it already");
    let value = serde_json::json!({ "key": key, "rewrapped": rewrapped, "current": current });
    show(json, &value, &text)
}

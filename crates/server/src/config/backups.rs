//! Settings of backups.

use std::path::PathBuf;

use searchwright_backups::{BackupOrder, BackupReason};
use serde::{Deserialize, Serialize};

use super::Settings;

/// Backups of the embedded database.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupSettings {
    /// Hours between two backups; 0 for none.
    pub every_hours: u32,
    /// Folder; a relative one is in the data folder.
    pub folder: PathBuf,
    /// Backups that are left in the folder.
    pub keep: usize,
}

impl Settings {
    /// Folder of the backups.
    pub fn backup_folder(&self) -> PathBuf {
        self.data_dir.join(&self.backups.folder)
    }

    /// Returns a backup of this installation as it is configured.
    pub fn backup_order(&self, reason: BackupReason) -> BackupOrder {
        BackupOrder {
            data_dir: self.data_dir.clone(),
            folder: self.backup_folder(),
            keep: Some(self.backups.keep),
            reason,
            program: env!("CARGO_PKG_VERSION"),
        }
    }
}

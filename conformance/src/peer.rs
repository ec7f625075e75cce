//! Servers of others that the product is compared with.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::Result;
use xtask::process::Running;

/// Time a peer has until it listens; the largest document takes seconds to read.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// A running server; dropping it ends it.
pub(crate) struct Peer {
    /// File with everything that it wrote to its standard output.
    pub(crate) log: PathBuf,
    _running: Running,
}

impl Peer {
    /// Starts `command` in `folder` and waits until it has written that it listens.
    pub(crate) fn start(name: &str, folder: &Path, mut command: Command) -> Result<Self> {
        let log = folder.join(format!("{name}.log"));
        command.current_dir(folder).stdout(File::create(&log)?);
        let mut running = Running::start(name, &mut command)?;
        running.wait_until(START_TIMEOUT, || {
            fs::read_to_string(&log).is_ok_and(|text| text.contains("listening"))
        })?;
        Ok(Self {
            log,
            _running: running,
        })
    }
}

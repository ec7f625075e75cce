//! Programs of the system, installed from its own packages when they are missing.

use std::{
    env,
    io::{IsTerminal, stdin},
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use anyhow::{Context, Result, bail};

use crate::process::quiet;

/// Folders of Debian's servers, which are not always in a person's `PATH`.
const SYSTEM_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Full path of a program, if it is installed.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(SYSTEM_FOLDERS.iter().map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

/// Full path of a program; installs Debian's `package` when it is missing.
pub fn ensure(program: &str, package: &str) -> Result<PathBuf> {
    if let Some(path) = find(program) {
        return Ok(path);
    }
    install(package)?;
    find(program).with_context(|| format!("package {package} is installed but {program} is not there"))
}

/// Installs a package with apt-get, as root or through sudo, and says so in one line.
pub fn install(package: &str) -> Result<()> {
    let Some(apt) = find("apt-get") else {
        bail!("{package} is not installed, and there is no apt-get to install it with");
    };
    eprintln!("installing {package} from the system's packages (apt-get install {package})");
    quiet("apt-get update", apt_get(&apt)?.args(["-qq", "update"]))?;
    quiet(
        "apt-get install",
        apt_get(&apt)?.args(["-qq", "install", "-y", "--no-install-recommends", package]),
    )
}

/// Waits for another apt run, and pretends to be in single-user mode so that a freshly installed
/// server is not also started as a service on its default port.
fn apt_get(apt: &Path) -> Result<Command> {
    let mut command = if root() {
        Command::new("env")
    } else {
        let sudo = find("sudo").context("installing packages needs root or sudo")?;
        let mut command = Command::new(sudo);
        if !stdin().is_terminal() {
            command.arg("-n");
        }
        command.arg("env");
        command
    };
    command
        .args(["DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1"])
        .arg(apt);
    command.args(["-o", "DPkg::Lock::Timeout=900"]);
    Ok(command)
}

/// True when this program runs as root.
pub fn root() -> bool {
    static ROOT: OnceLock<bool> = OnceLock::new();
    *ROOT.get_or_init(|| {
        Command::new("id")
            .arg("-u")
            .output()
            .is_ok_and(|output| output.stdout.trim_ascii() == b"0")
    })
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn finds_what_is_there_only() {
        assert!(find("sh").is_some());
        assert!(find("no-such-program-anywhere").is_none());
    }
}

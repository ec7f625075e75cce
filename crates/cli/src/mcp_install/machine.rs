//! The computer on which a client is set up: variables, programs, and configuration files.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use searchwright_contract::mcp_clients::{CommandLine, ConfigPath, Folder, Os};
use tokio::process::Command;

use crate::exit::{CliError, Exit};

/// Operating system and environment.
#[derive(Clone, Debug)]
pub struct Machine {
    os: Os,
    variables: BTreeMap<OsString, OsString>,
}

impl Machine {
    /// The computer on which this program runs.
    pub fn current() -> Self {
        let named = |name: OsString| match Os::CURRENT {
            // Windows ignores case in names of variables.
            Os::Windows => name.to_ascii_uppercase(),
            _ => name,
        };
        let variables = std::env::vars_os().map(|(name, value)| (named(name), value));
        Self {
            os: Os::CURRENT,
            variables: variables.collect(),
        }
    }

    #[cfg(test)]
    pub fn new(os: Os, variables: &[(&str, &OsStr)]) -> Self {
        let owned = |(name, value): &(&str, &OsStr)| (OsString::from(*name), OsString::from(*value));
        Self {
            os,
            variables: variables.iter().map(owned).collect(),
        }
    }

    /// Operating system.
    pub fn os(&self) -> Os {
        self.os
    }

    /// Value of a variable that is not empty.
    fn variable(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        Some(value.as_os_str()).filter(|v| !v.is_empty())
    }

    fn home(&self) -> Option<PathBuf> {
        let name = if self.os == Os::Windows {
            "USERPROFILE"
        } else {
            "HOME"
        };
        self.variable(name).map(PathBuf::from)
    }

    /// Returns the place of a configuration file here; an error if the variable it depends on is missing.
    pub fn locate(&self, path: &ConfigPath) -> Result<PathBuf, CliError> {
        let moved = path
            .variable
            .and_then(|v| Some(join(Path::new(self.variable(v.name)?), v.segments)));
        if let Some(file) = moved {
            return Ok(file);
        }
        let (folder, needed) = match path.folder {
            Folder::Home => (self.home(), "HOME"),
            Folder::XdgConfig => {
                let chosen = self.variable("XDG_CONFIG_HOME").map(PathBuf::from);
                (chosen.or_else(|| Some(self.home()?.join(".config"))), "HOME")
            }
            Folder::ApplicationSupport => (
                self.home().map(|home| home.join("Library/Application Support")),
                "HOME",
            ),
            Folder::AppData => (self.variable("APPDATA").map(PathBuf::from), "APPDATA"),
        };
        let missing = || CliError::new(Exit::Failed, format!("there is no home folder; set {needed}"));
        let file = join(&folder.ok_or_else(missing)?, path.segments);
        let other = path.alternative.map(|name| file.with_file_name(name));
        Ok(other
            .filter(|other| other.exists() && !file.exists())
            .unwrap_or(file))
    }

    /// Finds a program on PATH. Relative folders are left out: a program of the working folder is not the user's choice.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        let folders = std::env::split_paths(self.variable("PATH")?).filter(|folder| folder.is_absolute());
        let endings: Vec<String> = match self.os {
            Os::Windows => {
                let known = self.variable("PATHEXT").and_then(OsStr::to_str);
                let known = known.unwrap_or(".EXE;.CMD;.BAT");
                known.split(';').map(str::to_owned).collect()
            }
            _ => vec![String::new()],
        };
        folders
            .flat_map(|folder| endings.iter().map(move |end| folder.join(format!("{name}{end}"))))
            .find(|file| is_program(file))
    }

    /// Runs a command with the terminal of this one. Its output goes to stderr: stdout is for data.
    pub async fn run(&self, program: &Path, line: &CommandLine) -> Result<(), CliError> {
        let failed = |why: String| CliError::new(Exit::Failed, format!("`{line}` failed: {why}"));
        let status = Command::new(program)
            .args(line.arguments())
            .env_clear()
            .envs(&self.variables)
            .stdout(io::stderr())
            .status()
            .await
            .map_err(|e| failed(e.to_string()))?;
        if status.success() {
            Ok(())
        } else {
            Err(failed(status.to_string()))
        }
    }
}

fn join(folder: &Path, segments: &[&str]) -> PathBuf {
    let mut path = folder.to_path_buf();
    path.extend(segments);
    path
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// Reads a configuration file; a missing one is empty.
pub fn read(path: &Path) -> Result<String, CliError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(CliError::new(Exit::Failed, format!("{}: {e}", path.display()))),
    }
}

/// Replaces a configuration file in one step, and keeps its mode. Fails if it is not `old` any more.
pub fn replace(path: &Path, old: &str, new: &str) -> Result<(), CliError> {
    let failed = |e: io::Error| CliError::new(Exit::Failed, format!("{}: {e}", path.display()));
    // A link, as in a folder of dotfiles, stays one: the file that it names is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut fresh = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    fresh.write_all(new.as_bytes()).map_err(failed)?;
    if let Ok(metadata) = fs::metadata(&target) {
        fresh
            .as_file()
            .set_permissions(metadata.permissions())
            .map_err(failed)?;
    }
    fresh.as_file().sync_all().map_err(failed)?;
    if read(&target)? != old {
        let why = format!("{} was changed by another program meanwhile", path.display());
        return Err(CliError::new(Exit::Failed, why).hint("run the command again"));
    }
    fresh.persist(&target).map_err(|e| failed(e.error))?;
    Ok(())
}

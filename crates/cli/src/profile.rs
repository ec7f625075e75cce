//! Server and key of a call: from the environment first, then from a profile in the user's configuration folder.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
};

use searchwright_client::Client;
use serde::{Deserialize, Serialize};

use crate::exit::{CliError, Exit};

const DEFAULT_URL: &str = "http://127.0.0.1:8787";
const DEFAULT_PROFILE: &str = "default";

/// Server and credential of a call.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Connection {
    /// URL of the server; default http://127.0.0.1:8787.
    #[arg(
        id = "server_url",
        long = "url",
        value_name = "URL",
        env = "SEARCHWRIGHT_URL",
        global = true,
        help_heading = "Connection"
    )]
    pub url: Option<String>,
    /// Profile with the server and the key. The key is read from SEARCHWRIGHT_KEY or a profile, never from a flag.
    #[arg(
        long,
        env = "SEARCHWRIGHT_PROFILE",
        global = true,
        help_heading = "Connection"
    )]
    pub profile: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    url: String,
    key: String,
}

/// Commands on profiles.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum ProfileCommand {
    /// Save a server and a key; the key is read from SEARCHWRIGHT_KEY or stdin.
    Save {
        /// Name of the profile.
        #[arg(default_value = DEFAULT_PROFILE)]
        name: String,
    },
    /// List the profiles; keys are not shown.
    List,
    /// Delete a profile.
    Remove {
        /// Name of the profile.
        name: String,
    },
}

impl Connection {
    /// Creates a client with these settings.
    pub fn client(&self) -> Result<Client, CliError> {
        let key = std::env::var("SEARCHWRIGHT_KEY").ok().filter(|k| !k.is_empty());
        let wanted = self.profile.as_deref();
        let saved = load(&file()?)?;
        let profile = saved.get(wanted.unwrap_or(DEFAULT_PROFILE));
        if let (Some(name), None) = (wanted, profile) {
            return Err(
                CliError::new(Exit::Usage, format!("there is no profile {name:?}"))
                    .hint("`searchwright profile list` shows the existing profiles"),
            );
        }
        let url = self
            .url
            .clone()
            .or_else(|| profile.map(|p| p.url.clone()))
            .unwrap_or_else(|| DEFAULT_URL.to_owned());
        let key = key.or_else(|| profile.map(|p| p.key.clone())).ok_or_else(|| {
            CliError::new(Exit::Unauthorised, "there is no API key").hint(
                "set SEARCHWRIGHT_KEY, or save a profile with `searchwright profile save`; the operator makes keys with `searchwright admin key create`",
            )
        })?;
        Ok(Client::new(&url, key.trim())?)
    }
}

impl ProfileCommand {
    /// Runs the command.
    pub fn run(&self, connection: &Connection) -> Result<(), CliError> {
        let path = file()?;
        let mut all = load(&path)?;
        match self {
            Self::Save { name } => {
                let url = connection.url.clone().unwrap_or_else(|| DEFAULT_URL.to_owned());
                all.insert(
                    name.clone(),
                    Profile {
                        url,
                        key: read_key()?,
                    },
                );
                store(&path, &all)?;
                eprintln!("saved profile {name} in {}", path.display());
            }
            Self::List => {
                let mut out = std::io::stdout().lock();
                for (name, profile) in &all {
                    writeln!(
                        out,
                        "{name}\t{}\t{}…",
                        profile.url,
                        profile.key.get(..12).unwrap_or_default()
                    )?;
                }
            }
            Self::Remove { name } => {
                if all.remove(name).is_none() {
                    return Err(CliError::new(
                        Exit::Refused,
                        format!("there is no profile {name:?}"),
                    ));
                }
                store(&path, &all)?;
            }
        }
        Ok(())
    }
}

fn read_key() -> Result<String, CliError> {
    if let Ok(key) = std::env::var("SEARCHWRIGHT_KEY")
        && !key.is_empty()
    {
        return Ok(key);
    }
    if std::io::stdin().is_terminal() {
        eprint!("API key: ");
    }
    let mut text = String::new();
    if std::io::stdin().is_terminal() {
        std::io::stdin().read_line(&mut text)?;
    } else {
        std::io::stdin().read_to_string(&mut text)?;
    }
    let key = text.trim().to_owned();
    if key.is_empty() {
        return Err(CliError::new(Exit::Usage, "no key was given"));
    }
    Ok(key)
}

fn file() -> Result<PathBuf, CliError> {
    let folder = std::env::var_os("XDG_CONFIG_HOME")
        .filter(|d| !d.is_empty())
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|h| Path::new(&h).join(".config")))
        .or_else(|| std::env::var_os("APPDATA").map(PathBuf::from))
        .ok_or_else(|| CliError::new(Exit::Failed, "there is no home folder; set XDG_CONFIG_HOME"))?;
    Ok(folder.join("searchwright").join("profiles.toml"))
}

fn load(path: &Path) -> Result<BTreeMap<String, Profile>, CliError> {
    match std::fs::read_to_string(path) {
        Ok(text) => {
            toml::from_str(&text).map_err(|e| CliError::new(Exit::Failed, format!("{}: {e}", path.display())))
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(e) => Err(CliError::new(Exit::Failed, format!("{}: {e}", path.display()))),
    }
}

fn store(path: &Path, all: &BTreeMap<String, Profile>) -> Result<(), CliError> {
    let text = toml::to_string(all).map_err(|e| CliError::new(Exit::Failed, e.to_string()))?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let fresh = path.with_extension("new");
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&fresh)?.write_all(text.as_bytes())?;
    std::fs::rename(&fresh, path)?;
    Ok(())
}

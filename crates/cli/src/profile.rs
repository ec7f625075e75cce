//! Server and key of a call: from the environment first, then from a profile in the user's configuration folder.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
};

use searchwright_client::{
    Client,
    oauth::{CLIENT_ID, ServerMetadata, TokenError, TokenSet},
};
use searchwright_contract::Clock;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    exit::{CliError, Exit},
    json_text::write_json,
};

const DEFAULT_URL: &str = "http://127.0.0.1:8787";
const DEFAULT_PROFILE: &str = "default";
/// Seconds before its expiry at which an access token is refreshed.
const REFRESH_BEFORE: i64 = 60;

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
    /// Profile with the server and the credential. A key is read from SEARCHWRIGHT_KEY or a profile, never from a flag.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<StoredTokens>,
    /// Sign-in for MCP: a token is valid at one resource, and that of the HTTP API is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mcp: Option<McpSignIn>,
}

/// OAuth tokens for MCP.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct McpSignIn {
    /// URL of MCP at which they are valid.
    url: String,
    tokens: StoredTokens,
}

/// Resource of this server at which tokens are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The HTTP API.
    Api,
    /// MCP.
    Mcp,
}

impl Profile {
    fn tokens_mut(&mut self, resource: Resource) -> Option<&mut StoredTokens> {
        match resource {
            Resource::Api => self.tokens.as_mut(),
            Resource::Mcp => self.mcp.as_mut().map(|mcp| &mut mcp.tokens),
        }
    }
}

/// OAuth tokens of a profile.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredTokens {
    access_token: String,
    /// Refresh token.
    pub refresh_token: String,
    /// Expiry of the access token in seconds since the Unix epoch.
    expires_at: i64,
    token_endpoint: String,
    /// Endpoint to give the tokens back.
    pub revocation_endpoint: String,
}

impl std::fmt::Debug for StoredTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StoredTokens")
    }
}

/// Seconds since the Unix epoch.
fn now() -> i64 {
    Clock::system().now().millis() / 1_000
}

impl StoredTokens {
    /// Prepares the tokens of a sign-in.
    pub fn new(tokens: &TokenSet, metadata: &ServerMetadata) -> Result<Self, CliError> {
        let missing = || CliError::new(Exit::Failed, "the server gave no refresh token");
        Ok(Self {
            access_token: tokens.access_token.clone(),
            refresh_token: tokens.refresh_token.clone().ok_or_else(missing)?,
            expires_at: now() + tokens.expires_in,
            token_endpoint: metadata.token_endpoint.clone(),
            revocation_endpoint: metadata.revocation_endpoint.clone(),
        })
    }

    fn is_fresh(&self) -> bool {
        self.expires_at - REFRESH_BEFORE > now()
    }
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
    /// Creates a client with these settings. An access token that is about to expire is refreshed.
    pub async fn client(&self) -> Result<Client, CliError> {
        let key = std::env::var("SEARCHWRIGHT_KEY").ok().filter(|k| !k.is_empty());
        let name = self.profile.as_deref().unwrap_or(DEFAULT_PROFILE);
        let profile = self.find()?;
        let url = self
            .url
            .clone()
            .or_else(|| profile.as_ref().map(|p| p.url.clone()))
            .unwrap_or_else(|| DEFAULT_URL.to_owned());
        let credential = match (key, profile) {
            (Some(key), _) => key,
            (None, Some(Profile { key: Some(key), .. })) => key,
            (
                None,
                Some(Profile {
                    tokens: Some(_),
                    url: own,
                    ..
                }),
            ) if own != url.trim_end_matches('/').trim_end_matches("/v1") => {
                return Err(CliError::new(
                    Exit::Usage,
                    format!(
                        "the sign-in of profile {name:?} is for {own}, and its tokens are sent nowhere else"
                    ),
                )
                .hint("sign in to the other server with `searchwright login --url URL --profile NAME`"));
            }
            (
                None,
                Some(Profile {
                    tokens: Some(tokens), ..
                }),
            ) if tokens.is_fresh() => tokens.access_token,
            (
                None,
                Some(Profile {
                    tokens: Some(_),
                    url: own,
                    ..
                }),
            ) => refresh(name, &own, Resource::Api, None).await?,
            (None, _) => {
                return Err(
                    CliError::new(Exit::Unauthorised, "there is no credential").hint(
                        "sign in with `searchwright login`; or set SEARCHWRIGHT_KEY, or save a key with `searchwright profile save`; the operator makes keys with `searchwright admin key create`",
                    ),
                );
            }
        };
        Ok(Client::new(&url, credential.trim())?)
    }

    /// Returns the bearer token for MCP at this URL: a key, or the access token of `login --mcp`, refreshed when it is about to
    /// expire, or when it is the one that was `refused`.
    pub async fn mcp_token(&self, mcp_url: &str, refused: Option<&str>) -> Result<String, CliError> {
        let key = std::env::var("SEARCHWRIGHT_KEY").ok().filter(|k| !k.is_empty());
        if let Some(key) = key {
            return Ok(key.trim().to_owned());
        }
        let name = self.profile.as_deref().unwrap_or(DEFAULT_PROFILE);
        let missing = || {
            CliError::new(Exit::Unauthorised, "there is no credential for MCP").hint(
                "sign in with `searchwright login --mcp`; or set SEARCHWRIGHT_KEY where the MCP client starts this program, or save a key with `searchwright profile save`",
            )
        };
        let profile = self.find()?.ok_or_else(missing)?;
        if let Some(key) = profile.key {
            return Ok(key.trim().to_owned());
        }
        let sign_in = profile.mcp.ok_or_else(missing)?;
        // The query names sets of tools; the resource is without it.
        let asked = mcp_url.split('?').next().unwrap_or_default();
        if sign_in.url != asked {
            return Err(CliError::new(
                Exit::Usage,
                format!(
                    "the sign-in for MCP of profile {name:?} is for {}, and its tokens are sent nowhere else",
                    sign_in.url
                ),
            )
            .hint("sign in to the other server with `searchwright login --mcp --url URL --profile NAME`"));
        }
        if sign_in.tokens.is_fresh() && refused != Some(sign_in.tokens.access_token.as_str()) {
            return Ok(sign_in.tokens.access_token);
        }
        refresh(name, &profile.url, Resource::Mcp, refused).await
    }

    /// The profile that is named, or the default one; an error if a named one does not exist.
    fn find(&self) -> Result<Option<Profile>, CliError> {
        let wanted = self.profile.as_deref();
        let mut saved = load_saved()?;
        let profile = saved.remove(wanted.unwrap_or(DEFAULT_PROFILE));
        if let (Some(name), None) = (wanted, &profile) {
            return Err(
                CliError::new(Exit::Usage, format!("there is no profile {name:?}"))
                    .hint("`searchwright profile list` shows the existing profiles"),
            );
        }
        Ok(profile)
    }

    /// URL of the server to sign in to: the flag, the profile's if there is one, else the default.
    pub fn server_url(&self) -> Result<String, CliError> {
        let mut saved = load_saved()?;
        let profile = saved.remove(self.profile.as_deref().unwrap_or(DEFAULT_PROFILE));
        let known = self.url.clone().or_else(|| profile.map(|p| p.url));
        Ok(known.unwrap_or_else(|| DEFAULT_URL.to_owned()))
    }

    /// Stores the tokens of a sign-in, and returns the name of the profile. What it holds for the other resource of the same
    /// server stays.
    pub fn store_tokens(&self, root: &str, tokens: StoredTokens) -> Result<String, CliError> {
        self.sign_in(root, |profile| profile.tokens = Some(tokens))
    }

    /// Stores the tokens of a sign-in for MCP at this URL.
    pub fn store_mcp_tokens(&self, root: &str, mcp: &str, tokens: StoredTokens) -> Result<String, CliError> {
        let url = mcp.to_owned();
        self.sign_in(root, |profile| profile.mcp = Some(McpSignIn { url, tokens }))
    }

    fn sign_in(&self, root: &str, write: impl FnOnce(&mut Profile)) -> Result<String, CliError> {
        let name = self.profile.clone().unwrap_or_else(|| DEFAULT_PROFILE.to_owned());
        let url = root.trim_end_matches("/v1").to_owned();
        let _lock = lock()?;
        let path = file()?;
        let mut all = load(&path)?;
        let known = all.remove(&name).filter(|known| known.url == url);
        let mut profile = known.unwrap_or_default();
        profile.url = url;
        profile.key = None;
        write(&mut profile);
        all.insert(name.clone(), profile);
        store(&path, &all)?;
        Ok(name)
    }

    /// Removes the profile, and returns its name, URL and tokens.
    pub fn take_tokens(&self) -> Result<(String, String, Vec<StoredTokens>), CliError> {
        let name = self.profile.clone().unwrap_or_else(|| DEFAULT_PROFILE.to_owned());
        let _lock = lock()?;
        let path = file()?;
        let mut all = load(&path)?;
        let none = || {
            CliError::new(Exit::Refused, format!("profile {name:?} holds no sign-in")).hint(
                "`searchwright profile list` shows the profiles, `searchwright profile remove` removes one",
            )
        };
        let profile = all.remove(&name).ok_or_else(none)?;
        let mcp = profile.mcp.map(|mcp| mcp.tokens);
        let tokens: Vec<StoredTokens> = profile.tokens.into_iter().chain(mcp).collect();
        if tokens.is_empty() {
            return Err(none());
        }
        store(&path, &all)?;
        Ok((name.clone(), profile.url, tokens))
    }
}

/// Locks the profiles until the file is dropped, so that two processes do not present one refresh token.
fn lock() -> Result<std::fs::File, CliError> {
    let path = file()?.with_extension("lock");
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let file = std::fs::File::create(path)?;
    file.lock()?;
    Ok(file)
}

/// Refreshes the tokens of a profile, and returns the access token. Another process may have done it meanwhile.
async fn refresh(
    name: &str,
    url: &str,
    resource: Resource,
    refused: Option<&str>,
) -> Result<String, CliError> {
    let locked = tokio::task::spawn_blocking(lock).await;
    let _lock = locked.map_err(|e| CliError::new(Exit::Failed, e.to_string()))??;
    let path = file()?;
    let mut all = load(&path)?;
    let ended = || {
        CliError::new(
            Exit::Unauthorised,
            format!("the sign-in of profile {name:?} has ended"),
        )
        .hint(match resource {
            Resource::Api => "sign in again with `searchwright login`",
            Resource::Mcp => "sign in again with `searchwright login --mcp`",
        })
    };
    let tokens = all
        .get_mut(name)
        .and_then(|profile| profile.tokens_mut(resource))
        .ok_or_else(ended)?;
    if tokens.is_fresh() && refused != Some(tokens.access_token.as_str()) {
        return Ok(tokens.access_token.clone());
    }
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh_token.as_str()),
        ("client_id", CLIENT_ID),
    ];
    let client = Client::new(url, "")?;
    let answer: Result<TokenSet, TokenError> = client.send_form(&tokens.token_endpoint, &form).await?;
    let fresh = match answer {
        Ok(fresh) => fresh,
        Err(error) if matches!(error.error.as_str(), "invalid_grant" | "invalid_client") => {
            return Err(ended());
        }
        Err(error) => return Err(CliError::new(Exit::Failed, error.to_string())),
    };
    tokens.access_token.clone_from(&fresh.access_token);
    tokens.expires_at = now() + fresh.expires_in;
    if let Some(next) = fresh.refresh_token {
        tokens.refresh_token = next;
    }
    store(&path, &all)?;
    Ok(fresh.access_token)
}

impl ProfileCommand {
    /// Runs the command.
    pub fn run(&self, connection: &Connection, json: bool) -> Result<(), CliError> {
        let _lock = lock()?;
        let path = file()?;
        let mut all = load(&path)?;
        let mut out = std::io::stdout().lock();
        match self {
            Self::Save { name } => {
                let url = connection.url.clone().unwrap_or_else(|| DEFAULT_URL.to_owned());
                all.insert(
                    name.clone(),
                    Profile {
                        url: url.clone(),
                        key: Some(read_key()?),
                        tokens: None,
                        mcp: None,
                    },
                );
                store(&path, &all)?;
                if json {
                    let done = json!({ "action": "saved", "profile": name, "url": url, "file": path });
                    write_json(&mut out, &done)?;
                } else {
                    eprintln!("saved profile {name} in {}", path.display());
                }
            }
            Self::List if json => {
                let profiles = all.iter().map(|(name, profile)| describe(name, profile));
                write_json(&mut out, &profiles.collect::<Vec<Value>>())?;
            }
            Self::List => {
                for (name, profile) in &all {
                    writeln!(out, "{name}\t{}\t{}", profile.url, shown(profile))?;
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
                if json {
                    write_json(&mut out, &json!({ "action": "removed", "profile": name }))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns a profile without its secrets, for programs.
fn describe(name: &str, profile: &Profile) -> Value {
    json!({
        "name": name,
        "url": profile.url,
        "keyPrefix": profile.key.as_deref().map(key_prefix),
        "signedIn": profile.tokens.is_some(),
        "signedInForMcp": profile.mcp.is_some(),
    })
}

/// Returns the part of a key that lists show.
fn key_prefix(key: &str) -> &str {
    key.get(..12).unwrap_or_default()
}

/// The part of a credential that a list shows.
fn shown(profile: &Profile) -> String {
    match (&profile.key, &profile.tokens, &profile.mcp) {
        (Some(key), ..) => format!("{}…", key_prefix(key)),
        (None, Some(_), None) => "signed in".to_owned(),
        (None, Some(_), Some(_)) => "signed in, also for MCP".to_owned(),
        (None, None, Some(_)) => "signed in for MCP".to_owned(),
        (None, None, None) => String::new(),
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

/// Path of the profiles; none for a user without a home folder, such as that of a service.
fn find_file() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME")
        .filter(|d| !d.is_empty())
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|h| Path::new(&h).join(".config")))
        .or_else(|| std::env::var_os("APPDATA").map(PathBuf::from))?;
    Some(folder.join("searchwright").join("profiles.toml"))
}

/// As [`find_file`], to save a profile.
fn file() -> Result<PathBuf, CliError> {
    let none = || {
        CliError::new(
            Exit::Failed,
            "a profile is saved in the home folder, and there is none",
        )
        .hint("set HOME or XDG_CONFIG_HOME; without a profile SEARCHWRIGHT_URL and SEARCHWRIGHT_KEY name server and key")
    };
    find_file().ok_or_else(none)
}

fn load_saved() -> Result<BTreeMap<String, Profile>, CliError> {
    find_file().map_or_else(|| Ok(BTreeMap::new()), |path| load(&path))
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

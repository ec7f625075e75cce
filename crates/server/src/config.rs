//! Configuration: the commented default file, a file of the operator, the environment, flags; merged once,
//! before anything runs.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use searchwright_engine::providers::outbound::AllowOutbound;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::http::rate_limit::Quota;

/// The default configuration, which is also its documentation.
pub const DEFAULT: &str = include_str!("../../../config.default.toml");

/// What cannot be configured like that.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

/// Everything that can be configured.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Folder of this installation.
    pub data_dir: PathBuf,
    /// Empty for embedded SQLite.
    pub database_url: String,
    /// Most connections to PostgreSQL.
    pub database_connections: usize,
    /// API listener.
    pub listen: SocketAddr,
    /// MCP listener.
    pub mcp_listen: SocketAddr,
    /// Metrics listener; empty for none.
    pub metrics_listen: String,
    /// Origin of the API and dashboard, without a trailing slash.
    pub public_url: String,
    /// URL of MCP.
    pub mcp_url: String,
    /// Private addresses that may be reached.
    pub allow_outbound: Vec<String>,
    /// Migrate at start.
    pub auto_migrate: bool,
    /// Logging.
    pub log: Log,
    /// Jobs.
    pub worker: Worker,
    /// Politeness.
    pub crawl: Crawl,
    /// Limits.
    pub limits: Limits,
}

/// Logging.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Least severe level shown.
    pub level: String,
    /// `text` or `json`.
    pub format: String,
}

/// Jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// Jobs at the same time.
    pub jobs: usize,
}

/// Politeness of the crawler.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crawl {
    /// Connections to the audited host.
    pub connections: usize,
    /// Milliseconds between the starts of two requests.
    pub delay_ms: u64,
    /// Connections to a host that is allowed by name.
    pub connections_to_allowed: usize,
}

/// Limits, all at least 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Per credential.
    pub requests_per_minute: u32,
    /// Per credential, for what starts work.
    pub runs_per_minute: u32,
    /// Per project.
    pub requests_per_minute_and_project: u32,
    /// Per network address, for requests without a valid credential.
    pub failed_authentications_per_minute: u32,
    /// Requests at the same time.
    pub concurrent: usize,
    /// Requests of one credential at the same time.
    pub concurrent_per_credential: usize,
}

const MINUTE: i64 = 60_000;

impl Limits {
    pub(crate) const fn default(&self) -> Quota {
        Quota {
            units: self.requests_per_minute,
            window_millis: MINUTE,
        }
    }

    pub(crate) const fn run(&self) -> Quota {
        Quota {
            units: self.runs_per_minute,
            window_millis: MINUTE,
        }
    }

    pub(crate) const fn project(&self) -> Quota {
        Quota {
            units: self.requests_per_minute_and_project,
            window_millis: MINUTE,
        }
    }

    pub(crate) const fn strangers(&self) -> Quota {
        Quota {
            units: self.failed_authentications_per_minute,
            window_millis: MINUTE,
        }
    }
}

/// What flags and environment variables say; clap reads both.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Flags {
    /// Configuration file (TOML); `searchwright config print` shows every setting.
    #[arg(long, env = "SEARCHWRIGHT_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder of the embedded database and the keys of this installation.
    #[arg(long, env = "SEARCHWRIGHT_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address of the API.
    #[arg(long, env = "SEARCHWRIGHT_LISTEN", value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Address of the MCP server.
    #[arg(long, env = "SEARCHWRIGHT_MCP_LISTEN", value_name = "ADDRESS")]
    pub mcp_listen: Option<SocketAddr>,
    /// Address of the metrics; off unless given.
    #[arg(long, env = "SEARCHWRIGHT_METRICS_LISTEN", value_name = "ADDRESS")]
    pub metrics_listen: Option<SocketAddr>,
    /// PostgreSQL instead of the embedded database.
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// How the world reaches the API.
    #[arg(long, env = "PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
    /// How the world reaches the MCP server.
    #[arg(long, env = "MCP_URL", value_name = "URL")]
    pub mcp_url: Option<String>,
    /// Private address that outbound requests may reach: PURPOSE=HOST:PORT.
    #[arg(
        long,
        env = "SEARCHWRIGHT_ALLOW_OUTBOUND",
        value_name = "PURPOSE=HOST:PORT",
        value_delimiter = ','
    )]
    pub allow_outbound: Vec<String>,
    /// Leave the schema as it is; refuse to start if it is behind.
    #[arg(long)]
    pub no_auto_migrate: bool,
    /// error, warn, info, debug or trace.
    #[arg(long, env = "SEARCHWRIGHT_LOG", value_name = "LEVEL")]
    pub log: Option<String>,
    /// text or json.
    #[arg(long, env = "SEARCHWRIGHT_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Any other setting: NAME=VALUE, as `limits.requests_per_minute=1000`.
    #[arg(
        long = "set",
        env = "SEARCHWRIGHT_SET",
        value_name = "NAME=VALUE",
        value_delimiter = ','
    )]
    pub set: Vec<String>,
}

impl Settings {
    /// Merges defaults, the file, the environment and the flags.
    pub fn load(flags: &Flags) -> Result<Self, ConfigError> {
        let mut merged: Table = DEFAULT
            .parse()
            .map_err(|e| ConfigError(format!("config.default.toml: {e}")))?;
        if let Some(path) = &flags.config {
            let text =
                std::fs::read_to_string(path).map_err(|e| ConfigError(format!("{}: {e}", path.display())))?;
            let file: Table = text
                .parse()
                .map_err(|e| ConfigError(format!("{}: {e}", path.display())))?;
            overlay(&mut merged, file, "")?;
        }
        for set in &flags.set {
            overlay(&mut merged, assignment(set)?, "")?;
        }
        let mut settings: Self = Value::Table(merged)
            .try_into()
            .map_err(|e| ConfigError(format!("configuration: {e}")))?;
        settings.take_flags(flags);
        settings.check()?;
        Ok(settings)
    }

    fn take_flags(&mut self, flags: &Flags) {
        fn set<T: Clone>(to: &mut T, from: Option<&T>) {
            if let Some(value) = from {
                *to = value.clone();
            }
        }
        set(&mut self.data_dir, flags.data_dir.as_ref());
        set(&mut self.database_url, flags.database_url.as_ref());
        set(&mut self.listen, flags.listen.as_ref());
        set(&mut self.mcp_listen, flags.mcp_listen.as_ref());
        set(
            &mut self.metrics_listen,
            flags.metrics_listen.map(|a| a.to_string()).as_ref(),
        );
        set(&mut self.public_url, flags.public_url.as_ref());
        set(&mut self.mcp_url, flags.mcp_url.as_ref());
        set(&mut self.log.level, flags.log.as_ref());
        set(&mut self.log.format, flags.log_format.as_ref());
        self.allow_outbound
            .extend(flags.allow_outbound.iter().filter(|a| !a.is_empty()).cloned());
        self.auto_migrate &= !flags.no_auto_migrate;
        self.bound(self.listen, self.mcp_listen);
        self.public_url = self.public_url.trim_end_matches('/').to_owned();
    }

    /// Derives the public addresses from the listeners, where they are not configured. Port 0 is known
    /// only once it is bound.
    pub(crate) fn bound(&mut self, api: SocketAddr, mcp: SocketAddr) {
        let (old_api, old_mcp) = (
            format!("http://{}", self.listen),
            format!("http://{}/mcp", self.mcp_listen),
        );
        if self.public_url.is_empty() || self.public_url == old_api {
            self.public_url = format!("http://{api}");
        }
        if self.mcp_url.is_empty() || self.mcp_url == old_mcp {
            self.mcp_url = format!("http://{mcp}/mcp");
        }
        (self.listen, self.mcp_listen) = (api, mcp);
    }

    fn check(&self) -> Result<(), ConfigError> {
        let fail = |name: &str, why: String| Err(ConfigError(format!("{name}: {why}")));
        self.allowed()?;
        for (name, text) in [("public_url", &self.public_url), ("mcp_url", &self.mcp_url)] {
            let good = url::Url::parse(text)
                .is_ok_and(|u| matches!(u.scheme(), "http" | "https") && u.query().is_none());
            if !good {
                return fail(name, format!("{text:?} is not an http or https URL"));
            }
        }
        if !self.database_url.is_empty() && !self.database_url.starts_with("postgres") {
            return fail(
                "database_url",
                "has to begin with postgres://, or be empty for embedded SQLite".to_owned(),
            );
        }
        if !self.metrics_listen.is_empty() && self.metrics_listen.parse::<SocketAddr>().is_err() {
            return fail(
                "metrics_listen",
                format!("{:?} is not an address like 127.0.0.1:9100", self.metrics_listen),
            );
        }
        crate::logs::level(&self.log.level).map_err(|e| ConfigError(format!("log.level: {e}")))?;
        if !matches!(self.log.format.as_str(), "text" | "json") {
            return fail(
                "log.format",
                format!("{:?} is neither text nor json", self.log.format),
            );
        }
        let limits = &self.limits;
        for (name, value) in [
            ("limits.requests_per_minute", limits.requests_per_minute as usize),
            ("limits.runs_per_minute", limits.runs_per_minute as usize),
            (
                "limits.requests_per_minute_and_project",
                limits.requests_per_minute_and_project as usize,
            ),
            (
                "limits.failed_authentications_per_minute",
                limits.failed_authentications_per_minute as usize,
            ),
            ("limits.concurrent", limits.concurrent),
            (
                "limits.concurrent_per_credential",
                limits.concurrent_per_credential,
            ),
            ("crawl.connections", self.crawl.connections),
            ("crawl.connections_to_allowed", self.crawl.connections_to_allowed),
            ("database_connections", self.database_connections),
        ] {
            if value == 0 {
                return fail(name, "has to be at least 1".to_owned());
            }
        }
        Ok(())
    }

    /// The private addresses that may be reached.
    pub fn allowed(&self) -> Result<Vec<AllowOutbound>, ConfigError> {
        self.allow_outbound
            .iter()
            .map(|text| {
                text.parse()
                    .map_err(|e| ConfigError(format!("allow_outbound: {text:?}: {e}")))
            })
            .collect()
    }

    /// Root of the API, without a trailing slash.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.public_url)
    }

    /// The embedded database's file.
    pub fn sqlite_path(&self) -> PathBuf {
        self.data_dir.join("searchwright.sqlite")
    }

    /// The settings as TOML, without the password of the database.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        let mut shown = self.clone();
        if let Ok(mut url) = url::Url::parse(&shown.database_url)
            && url.password().is_some()
            && url.set_password(Some("***")).is_ok()
        {
            shown.database_url = url.to_string();
        }
        toml::to_string_pretty(&shown).map_err(|e| ConfigError(e.to_string()))
    }
}

fn assignment(text: &str) -> Result<Table, ConfigError> {
    let bad = |why: String| ConfigError(format!("--set {text}: {why}"));
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| bad("is not NAME=VALUE".to_owned()))?;
    let parsed: Result<Table, _> = format!("{name} = {value}").parse();
    parsed
        .or_else(|_| format!("{name} = {value:?}").parse())
        .map_err(|e| bad(e.to_string()))
}

/// Lays one table over another. A name that the default file lacks is refused: it would do nothing.
fn overlay(base: &mut Table, over: Table, path: &str) -> Result<(), ConfigError> {
    for (name, value) in over {
        let path = format!("{path}{name}");
        match (base.get_mut(&name), value) {
            (Some(Value::Table(base)), Value::Table(over)) => overlay(base, over, &format!("{path}."))?,
            (Some(slot), value) => *slot = value,
            (None, _) => {
                return Err(ConfigError(format!(
                    "{path}: there is no such setting; `searchwright config print` shows all"
                )));
            }
        }
    }
    Ok(())
}

/// Makes the data folder, readable by its owner only.
pub fn make_data_dir(path: &Path) -> Result<(), ConfigError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(path)
        .map_err(|e| ConfigError(format!("data_dir {}: {e}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::{Flags, Settings};

    fn load(set: &[&str]) -> Result<Settings, String> {
        let flags = Flags {
            set: set.iter().map(|s| (*s).to_owned()).collect(),
            ..Flags::default()
        };
        Settings::load(&flags).map_err(|e| e.to_string())
    }

    #[test]
    fn the_default_file_is_complete() {
        let settings = load(&[]).unwrap();
        assert_eq!(settings.base_url(), "http://127.0.0.1:8787/v1");
        assert_eq!(settings.mcp_url, "http://127.0.0.1:8788/mcp");
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(
            load(&["limits.requests_per_minute=9"])
                .unwrap()
                .limits
                .requests_per_minute,
            9
        );
        for (set, name) in [
            ("limit.requests=9", "limit"),
            ("limits.concurrent=0", "limits.concurrent"),
            ("log.level=loud", "log.level"),
            ("log.format=xml", "log.format"),
            ("database_url=mysql://x", "database_url"),
            ("listen=here", "listen"),
            ("public_url=ftp://x", "public_url"),
            ("metrics_listen=9100", "metrics_listen"),
            ("nonsense", "nonsense"),
        ] {
            let error = load(&[set]).unwrap_err();
            assert!(error.contains(name), "{set}: {error}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let settings = load(&["database_url=postgres://me:hush@localhost/x"]).unwrap();
        assert!(!settings.to_toml().unwrap().contains("hush"));
    }
}

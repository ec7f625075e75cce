//! Configuration: the commented default file, a file of the operator, the environment, flags; merged once,
//! before anything runs.

mod flags;
mod limits;

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

pub use flags::Flags;
use ipnet::IpNet;
pub use limits::Limits;
use searchwright_outbound::AllowOutbound;
use serde::{Deserialize, Serialize};

/// The default configuration, which is also its documentation.
pub const DEFAULT: &str = include_str!("../../../config.default.toml");

/// A fault of the configuration.
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
    /// Reverse proxies whose `X-Forwarded-For` counts.
    pub trusted_proxies: Vec<String>,
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

impl Settings {
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

    /// Networks of the reverse proxies whose `X-Forwarded-For` counts.
    pub fn proxies(&self) -> Result<Vec<IpNet>, ConfigError> {
        let parse = |text: &String| {
            let address = text.parse::<IpAddr>().map(IpNet::from);
            address.or_else(|_| text.parse()).map_err(|_| {
                ConfigError(format!(
                    "trusted_proxies: {text:?} is neither an address nor a network such as 10.0.0.0/8"
                ))
            })
        };
        self.trusted_proxies.iter().map(parse).collect()
    }

    fn check(&self) -> Result<(), ConfigError> {
        let fail = |name: &str, why: String| Err(ConfigError(format!("{name}: {why}")));
        self.allowed()?;
        self.proxies()?;
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
        let counts = [
            ("crawl.connections", self.crawl.connections),
            ("crawl.connections_to_allowed", self.crawl.connections_to_allowed),
            ("database_connections", self.database_connections),
        ];
        for (name, value) in self.limits.all().into_iter().chain(counts) {
            if value == 0 {
                return fail(name, "has to be at least 1".to_owned());
            }
        }
        self.limits
            .between_audits()
            .or_else(|(name, why)| fail(name, why))
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
            (
                "limits.minutes_between_audits=10081",
                "limits.minutes_between_audits",
            ),
            ("log.level=loud", "log.level"),
            ("log.format=xml", "log.format"),
            ("database_url=mysql://x", "database_url"),
            ("listen=here", "listen"),
            ("public_url=ftp://x", "public_url"),
            ("trusted_proxies=[\"10.0.0.0/33\"]", "trusted_proxies"),
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

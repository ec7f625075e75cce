//! Configuration: the commented default file, a file of the operator, the environment, flags; merged once,
//! before anything runs.

mod backups;
mod flags;
mod limits;

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

pub use backups::BackupSettings;
pub use flags::Flags;
use ipnet::IpNet;
pub use limits::Limits;
use searchwright_engine::{
    identity::oauth::client_metadata::ClientPolicy, identity::oauth::client_metadata::DocumentPolicy,
};
use searchwright_outbound::{
    AllowOutbound, SiteLogin,
    mail::{MailError, Mailer},
};
use searchwright_people::AccountSettings;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

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
    /// Serve people over plain HTTP at an address that other machines can reach.
    pub allow_insecure_http: bool,
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
    /// Backups of the embedded database.
    pub backups: BackupSettings,
    /// Programs that people connect.
    pub oauth: Oauth,
    /// Outgoing mail.
    pub mail: Mail,
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
    /// Logins of websites behind HTTP Basic authentication: `https://USER:PASSWORD@HOST`.
    pub logins: Vec<String>,
}

/// Programs that people connect.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oauth {
    /// Client ID metadata documents that are accepted.
    pub cimd_policy: CimdPolicy,
    /// Hosts whose documents are accepted under `allowlist`.
    pub cimd_hosts: Vec<String>,
    /// Dynamic client registration.
    pub dcr: Switch,
}

/// Client ID metadata documents that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CimdPolicy {
    /// Of any host.
    Any,
    /// Of listed hosts.
    Allowlist,
    /// None.
    Off,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// Outgoing mail.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// URL of the SMTP server; empty for no mail.
    pub smtp_url: String,
    /// Sender.
    pub from: String,
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

    /// Returns whether people or MCP clients would be served over plain HTTP from another machine.
    pub fn is_insecure(&self) -> bool {
        !self.exposed_urls().is_empty()
    }

    /// Public URLs that are plain HTTP at an address that other machines can reach, with their names.
    pub(crate) fn exposed_urls(&self) -> Vec<String> {
        let is_exposed =
            |text: &str| Url::parse(text).is_ok_and(|url| url.scheme() == "http" && !is_on_loopback(&url));
        [("public_url", &self.public_url), ("mcp_url", &self.mcp_url)]
            .into_iter()
            .filter(|(_, url)| is_exposed(url))
            .map(|(name, url)| format!("{name} {url}"))
            .collect()
    }

    /// Listeners that other machines may reach although no proxy with TLS is named, with their names. Whether they do depends on what
    /// is in front: a container publishes its ports where its operator wants.
    pub(crate) fn open_listeners(&self) -> Vec<(&'static str, SocketAddr)> {
        let mut listeners = vec![
            ("listen", self.listen, &self.public_url),
            ("mcp_listen", self.mcp_listen, &self.mcp_url),
        ];
        listeners.retain(|(_, address, url)| !url.starts_with("https://") && !address.ip().is_loopback());
        listeners
            .into_iter()
            .map(|(name, address, _)| (name, address))
            .collect()
    }

    /// Refuses to serve people over plain HTTP from another machine, unless the operator allows it.
    pub(crate) fn check_transport(&self) -> Result<(), ConfigError> {
        let exposed = self.exposed_urls();
        if exposed.is_empty() || self.allow_insecure_http {
            return Ok(());
        }
        Err(ConfigError(format!(
            "{}: without TLS, passwords and tokens can be read on the way. Set PUBLIC_URL and MCP_URL to the https addresses of the proxy in front of this server; or set allow_insecure_http = true, which turns MCP and OAuth off",
            exposed.join(", ")
        )))
    }

    /// Settings of accounts and connected programs.
    pub(crate) fn accounts(&self) -> Result<AccountSettings, ConfigError> {
        let fail = |name: &str, why: String| Err(ConfigError(format!("{name}: {why}")));
        let documents = match self.oauth.cimd_policy {
            CimdPolicy::Any => DocumentPolicy::Any,
            CimdPolicy::Off => DocumentPolicy::Off,
            CimdPolicy::Allowlist => DocumentPolicy::Hosts(self.oauth.cimd_hosts.clone()),
        };
        if self.oauth.cimd_policy == CimdPolicy::Allowlist && self.oauth.cimd_hosts.is_empty() {
            return fail(
                "oauth.cimd_hosts",
                "is empty; under the policy allowlist it names the hosts".to_owned(),
            );
        }
        Ok(AccountSettings {
            clients: ClientPolicy {
                documents,
                may_register: self.oauth.dcr == Switch::On,
            },
            mailer: self.mailer()?,
            origin: self.public_url.clone(),
        })
    }

    /// The SMTP server, if one is set.
    pub(crate) fn mailer(&self) -> Result<Option<Mailer>, ConfigError> {
        let fail = |name: &str, why: String| Err(ConfigError(format!("{name}: {why}")));
        if self.mail.smtp_url.is_empty() != self.mail.from.is_empty() {
            return fail(
                "mail",
                "smtp_url and from are set together, or both are empty".to_owned(),
            );
        }
        match self.mail.smtp_url.as_str() {
            "" => Ok(None),
            url => match Mailer::new(url, &self.mail.from) {
                Ok(mailer) => Ok(Some(mailer)),
                Err(error @ MailError::Address(_)) => fail("mail.from", error.to_string()),
                Err(error) => fail("mail.smtp_url", error.to_string()),
            },
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let fail = |name: &str, why: String| Err(ConfigError(format!("{name}: {why}")));
        self.allowed()?;
        self.proxies()?;
        self.accounts()?;
        for (name, text) in [("public_url", &self.public_url), ("mcp_url", &self.mcp_url)] {
            let good =
                Url::parse(text).is_ok_and(|u| matches!(u.scheme(), "http" | "https") && u.query().is_none());
            if !good {
                return fail(name, format!("{text:?} is not an http or https URL"));
            }
        }
        let is_pairs = !self.database_url.contains("://") && self.database_url.contains('=');
        if !self.database_url.is_empty() && !self.database_url.starts_with("postgres") && !is_pairs {
            return fail(
                "database_url",
                "has to begin with postgres://, to be of the form host=… dbname=…, or to be empty for embedded SQLite"
                    .to_owned(),
            );
        }
        if !self.metrics_listen.is_empty() && self.metrics_listen.parse::<SocketAddr>().is_err() {
            return fail(
                "metrics_listen",
                format!("{:?} is not an address like 127.0.0.1:9100", self.metrics_listen),
            );
        }
        if self.backups.folder.as_os_str().is_empty() {
            return fail("backups.folder", "is empty; it names a folder".to_owned());
        }
        self.site_logins()?;
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
            ("backups.keep", self.backups.keep),
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

    /// The logins of websites that are crawled.
    pub fn site_logins(&self) -> Result<Vec<SiteLogin>, ConfigError> {
        let parse = |(at, text): (usize, &String)| {
            // never the text: it holds a password
            text.parse()
                .map_err(|e| ConfigError(format!("crawl.logins: number {} {e}", at + 1)))
        };
        self.crawl.logins.iter().enumerate().map(parse).collect()
    }

    /// Root of the API, without a trailing slash.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.public_url)
    }

    /// The embedded database's file.
    pub fn sqlite_path(&self) -> PathBuf {
        self.data_dir.join("searchwright.sqlite")
    }

    /// The settings as TOML, without passwords.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        let mut shown = self.clone();
        let secrets = [&mut shown.database_url, &mut shown.mail.smtp_url];
        for secret in secrets.into_iter().chain(&mut shown.crawl.logins) {
            // Pairs have no form in which only the password could be left out for certain.
            if secret.contains("password") && !secret.contains("://") {
                "***".clone_into(secret);
            }
            if let Ok(mut url) = Url::parse(secret)
                && url.password().is_some()
                && url.set_password(Some("***")).is_ok()
            {
                *secret = url.to_string();
            }
        }
        toml::to_string_pretty(&shown).map_err(|e| ConfigError(e.to_string()))
    }
}

/// Returns whether only this machine can reach a URL.
pub(crate) fn is_on_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => true,
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
            ("backups.keep=0", "backups.keep"),
            ("backups.folder=", "backups.folder"),
            ("log.level=loud", "log.level"),
            ("log.format=xml", "log.format"),
            ("database_url=mysql://x", "database_url"),
            ("listen=here", "listen"),
            ("public_url=ftp://x", "public_url"),
            ("trusted_proxies=[\"10.0.0.0/33\"]", "trusted_proxies"),
            ("metrics_listen=9100", "metrics_listen"),
            ("oauth.cimd_policy=\"some\"", "cimd_policy"),
            ("oauth.cimd_policy=\"allowlist\"", "oauth.cimd_hosts"),
            ("oauth.dcr=true", "dcr"),
            ("mail.smtp_url=smtp://127.0.0.1", "mail"),
            ("nonsense", "nonsense"),
        ] {
            let error = load(&[set]).unwrap_err();
            assert!(error.contains(name), "{set}: {error}");
        }
    }

    #[test]
    fn plain_http_is_for_this_machine_only() {
        for (set, is_insecure) in [
            (&[][..], false),
            (&["listen=0.0.0.0:8787"], true),
            (&["public_url=http://localhost:8787"], false),
            (&["public_url=http://10.0.0.1"], true),
            (
                &[
                    "public_url=https://sw.example",
                    "mcp_url=https://mcp.sw.example/mcp",
                ],
                false,
            ),
            (
                &[
                    "public_url=https://sw.example",
                    "mcp_url=http://mcp.sw.example/mcp",
                ],
                true,
            ),
        ] {
            let settings = load(set).unwrap();
            assert_eq!(settings.is_insecure(), is_insecure, "{set:?}");
            assert_eq!(settings.check_transport().is_err(), is_insecure, "{set:?}");
        }
        let allowed = load(&["public_url=http://10.0.0.1", "allow_insecure_http=true"]).unwrap();
        assert!(allowed.check_transport().is_ok());
    }

    #[test]
    fn a_password_is_not_shown() {
        let settings = load(&[
            "database_url=postgres://me:hush@localhost/x",
            "mail.smtp_url=smtps://me:hush@localhost",
            "mail.from=sw@example.com",
        ]);
        assert!(!settings.unwrap().to_toml().unwrap().contains("hush"));
    }
}

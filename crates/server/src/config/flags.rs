//! Settings from the command line and the environment, which override the file and the defaults.

use std::{net::SocketAddr, path::PathBuf};

use clap::{ArgMatches, Command, parser::ValueSource};
use toml::{Table, Value};

use super::{ConfigError, DEFAULT, Settings};

/// Settings from flags and environment variables; clap reads both.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Flags {
    /// Variables of the environment among the values; read before the values are taken out of what was parsed.
    #[command(flatten)]
    pub origin: FlagOrigin,
    /// Configuration file (TOML); `searchwright config print` shows every setting.
    #[arg(long, env = "SEARCHWRIGHT_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder of the embedded database and the keys of this installation.
    #[arg(long, env = "SEARCHWRIGHT_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Listening address of the API.
    #[arg(long, env = "SEARCHWRIGHT_LISTEN", value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Listening address of the MCP server.
    #[arg(long, env = "SEARCHWRIGHT_MCP_LISTEN", value_name = "ADDRESS")]
    pub mcp_listen: Option<SocketAddr>,
    /// Listening address of the metrics; off by default.
    #[arg(long, env = "SEARCHWRIGHT_METRICS_LISTEN", value_name = "ADDRESS")]
    pub metrics_listen: Option<SocketAddr>,
    /// URL of a PostgreSQL database to use instead of the embedded one.
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// Public URL of the API.
    #[arg(long, env = "PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
    /// Public URL of the MCP server.
    #[arg(long, env = "MCP_URL", value_name = "URL")]
    pub mcp_url: Option<String>,
    /// Reverse proxy whose X-Forwarded-For counts: an address or a network.
    #[arg(
        long = "trusted-proxy",
        env = "SEARCHWRIGHT_TRUSTED_PROXIES",
        value_name = "ADDRESS",
        value_delimiter = ','
    )]
    pub trusted_proxies: Vec<String>,
    /// Serve people over plain HTTP at an address that other machines can reach; MCP and OAuth are off then.
    #[arg(long, env = "SEARCHWRIGHT_ALLOW_INSECURE_HTTP")]
    pub allow_insecure_http: bool,
    /// URL of the SMTP server for mail: smtps://USER:PASSWORD@HOST, or smtp:// with STARTTLS.
    #[arg(
        long,
        env = "SEARCHWRIGHT_SMTP_URL",
        value_name = "URL",
        hide_env_values = true
    )]
    pub smtp_url: Option<String>,
    /// Sender of mail, such as "Searchwright <searchwright@example.com>".
    #[arg(long, env = "SEARCHWRIGHT_MAIL_FROM", value_name = "ADDRESS")]
    pub mail_from: Option<String>,
    /// Private address that outbound requests may reach: PURPOSE=HOST:PORT.
    #[arg(
        long,
        env = "SEARCHWRIGHT_ALLOW_OUTBOUND",
        value_name = "PURPOSE=HOST:PORT",
        value_delimiter = ','
    )]
    pub allow_outbound: Vec<String>,
    /// Login of a website behind HTTP Basic authentication, for its audits: https://USER:PASSWORD@HOST.
    #[arg(
        long = "site-login",
        env = "SEARCHWRIGHT_SITE_LOGIN",
        value_name = "URL",
        value_delimiter = ',',
        hide_env_values = true
    )]
    pub site_logins: Vec<String>,
    /// Do not migrate the schema; refuse to start if it is outdated.
    #[arg(long)]
    pub no_auto_migrate: bool,
    /// Log level: error, warn, info, debug or trace.
    #[arg(long, env = "SEARCHWRIGHT_LOG", value_name = "LEVEL")]
    pub log: Option<String>,
    /// Log format: text or json.
    #[arg(long, env = "SEARCHWRIGHT_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Any other setting, NAME=VALUE, such as limits.requests_per_minute=1000.
    #[arg(
        long = "set",
        env = "SEARCHWRIGHT_SET",
        value_name = "NAME=VALUE",
        value_delimiter = ','
    )]
    pub set: Vec<String>,
}

/// Flag that gives any setting by its name.
const SET: &str = "set";

/// Flags that have a variable of the environment, each with the setting that it gives.
const NAMED_SETTINGS: &[(&str, &str)] = &[
    ("data_dir", "data_dir"),
    ("listen", "listen"),
    ("mcp_listen", "mcp_listen"),
    ("metrics_listen", "metrics_listen"),
    ("database_url", "database_url"),
    ("public_url", "public_url"),
    ("mcp_url", "mcp_url"),
    ("trusted_proxies", "trusted_proxies"),
    ("allow_insecure_http", "allow_insecure_http"),
    ("smtp_url", "mail.smtp_url"),
    ("mail_from", "mail.from"),
    ("allow_outbound", "allow_outbound"),
    ("site_logins", "crawl.logins"),
    ("log", "log.level"),
    ("log_format", "log.format"),
];

/// Flags that nobody gave on the command line: their values are variables of the environment, and clap does not tell them
/// apart.
#[derive(Clone, Debug, Default)]
pub struct FlagOrigin {
    from_environment: Vec<&'static str>,
}

impl FlagOrigin {
    fn has(&self, flag: &str) -> bool {
        self.from_environment.contains(&flag)
    }
}

impl clap::FromArgMatches for FlagOrigin {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let flags = NAMED_SETTINGS.iter().map(|(flag, _)| *flag).chain([SET]);
        let is_variable = |flag: &&str| {
            matches.try_contains_id(flag).unwrap_or(false)
                && matches.value_source(flag) == Some(ValueSource::EnvVariable)
        };
        Ok(Self {
            from_environment: flags.filter(is_variable).collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for FlagOrigin {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl Flags {
    /// Returns these flags without variables of the environment whose settings `--set` gives: a flag overrides the environment.
    fn without_overridden(&self, assignments: &[Table]) -> Self {
        let mut kept = self.clone();
        // SEARCHWRIGHT_SET is a variable itself, and one with a name of its own counts more.
        if self.origin.has(SET) {
            return kept;
        }
        for (flag, setting) in NAMED_SETTINGS {
            let is_set = assignments.iter().any(|table| has_setting(table, setting));
            if self.origin.has(flag) && is_set {
                kept.clear(flag);
            }
        }
        kept
    }

    fn clear(&mut self, flag: &str) {
        match flag {
            "data_dir" => self.data_dir = None,
            "listen" => self.listen = None,
            "mcp_listen" => self.mcp_listen = None,
            "metrics_listen" => self.metrics_listen = None,
            "database_url" => self.database_url = None,
            "public_url" => self.public_url = None,
            "mcp_url" => self.mcp_url = None,
            "trusted_proxies" => self.trusted_proxies.clear(),
            "allow_insecure_http" => self.allow_insecure_http = false,
            "smtp_url" => self.smtp_url = None,
            "mail_from" => self.mail_from = None,
            "allow_outbound" => self.allow_outbound.clear(),
            "site_logins" => self.site_logins.clear(),
            "log" => self.log = None,
            "log_format" => self.log_format = None,
            _ => {}
        }
    }
}

/// Returns whether a table gives this setting, whose name has dots between those of tables.
fn has_setting(table: &Table, name: &str) -> bool {
    match name.split_once('.') {
        None => table.contains_key(name),
        Some((name, rest)) => {
            let inner = table.get(name).and_then(Value::as_table);
            inner.is_some_and(|inner| has_setting(inner, rest))
        }
    }
}

impl Settings {
    /// Merges defaults, the file, the environment and the flags. A flag of a setting's own counts more than `--set`.
    pub fn load(flags: &Flags) -> Result<Self, ConfigError> {
        let mut merged: Table = DEFAULT
            .parse()
            .map_err(|e| ConfigError(format!("config.default.toml: {e}")))?;
        if let Some(path) = &flags.config {
            let text =
                std::fs::read_to_string(path).map_err(|e| ConfigError(format!("{}: {e}", path.display())))?;
            // editors of Windows put a byte order mark in front
            let file: Table = text
                .trim_start_matches('\u{feff}')
                .parse()
                .map_err(|e| ConfigError(format!("{}: {e}", path.display())))?;
            overlay(&mut merged, file, "")?;
        }
        let assignments: Vec<Table> = flags
            .set
            .iter()
            .map(|set| assignment(set))
            .collect::<Result<_, _>>()?;
        let flags = flags.without_overridden(&assignments);
        for set in assignments {
            overlay(&mut merged, set, "")?;
        }
        let mut settings: Self = Value::Table(merged)
            .try_into()
            .map_err(|e| ConfigError(format!("configuration: {e}")))?;
        settings.take_flags(&flags);
        settings.check()?;
        Ok(settings)
    }

    /// Returns the settings as JSON, without passwords, as [`Self::to_toml`] shows them.
    pub fn to_json(&self) -> Result<serde_json::Value, ConfigError> {
        parse_toml(&self.to_toml()?)
    }

    /// Returns the default of every setting as JSON.
    pub fn defaults_to_json() -> Result<serde_json::Value, ConfigError> {
        parse_toml(DEFAULT)
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
        self.crawl
            .logins
            .extend(flags.site_logins.iter().filter(|l| !l.is_empty()).cloned());
        self.trusted_proxies
            .extend(flags.trusted_proxies.iter().filter(|p| !p.is_empty()).cloned());
        set(&mut self.mail.smtp_url, flags.smtp_url.as_ref());
        set(&mut self.mail.from, flags.mail_from.as_ref());
        self.allow_insecure_http |= flags.allow_insecure_http;
        self.auto_migrate &= !flags.no_auto_migrate;
        self.bound(self.listen, self.mcp_listen);
        self.public_url = self.public_url.trim_end_matches('/').to_owned();
    }
}

fn parse_toml(text: &str) -> Result<serde_json::Value, ConfigError> {
    let table: Table = text.parse().map_err(|e| ConfigError(format!("{e}")))?;
    serde_json::to_value(table).map_err(|e| ConfigError(e.to_string()))
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

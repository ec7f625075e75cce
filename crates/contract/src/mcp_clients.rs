//! MCP clients: how each of them is connected to this server.
//!
//! Pure. The command `searchwright mcp install` and the dashboard's page `connect` show the same facts, so that a format
//! which a vendor changes is corrected in one place. Formats were read in November 2026; their source is named beside each.

use std::{fmt, net::Ipv4Addr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use url::{Host, Url};

use crate::words::words;

/// Name under which clients list the server, unless another is chosen.
pub const DEFAULT_NAME: &str = "searchwright";
/// Longest name of a server.
pub const MAX_NAME_CHARS: usize = 64;
/// Everything but the unreserved characters of RFC 3986.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

words! {
    /// A program in which an agent runs.
    McpClient {
        /// Claude on the web and the desktop, by a custom connector.
        Claude = "claude",
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// ChatGPT on the web.
        ChatGpt = "chatgpt",
        /// Cursor.
        Cursor = "cursor",
        /// Visual Studio Code.
        VsCode = "vscode",
        /// Codex: command line, editor extension and desktop.
        Codex = "codex",
        /// Gemini CLI.
        GeminiCli = "gemini",
        /// opencode, versions 1 and 2.
        OpenCode = "opencode",
    }
}

/// An MCP server as clients are to know it. Both members are checked when it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    name: String,
    url: String,
    reach: UrlReach,
}

/// Reason for which a name or a URL is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidServer {
    /// A name that not every client takes.
    #[error(
        "the name {0:?} has to begin with a letter or a digit and hold only these, - and _, at most {MAX_NAME_CHARS} of them"
    )]
    Name(String),
    /// A URL that no client can use.
    #[error("the URL {0:?} has to be a full http or https URL without user, password and fragment")]
    Url(String),
}

/// Networks from which a URL can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlReach {
    /// Any network, over https.
    Public,
    /// Any network, but without encryption.
    Unencrypted,
    /// A private network.
    Private,
    /// This computer.
    Loopback,
}

impl McpServer {
    /// Checks a name and the URL of MCP.
    ///
    /// The URL is kept as it is written: it names the resource of tokens, and clients compare it byte for byte.
    pub fn new(name: &str, url: &str) -> Result<Self, InvalidServer> {
        // The strictest client is Codex; a first `-` would make the name an option of its command.
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let begins_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !begins_well || name.len() > MAX_NAME_CHARS || !name.chars().all(is_word) {
            return Err(InvalidServer::Name(name.to_owned()));
        }
        let reach = read_url(url).ok_or_else(|| InvalidServer::Url(url.to_owned()))?;
        Ok(Self {
            name: name.to_owned(),
            url: url.to_owned(),
            reach,
        })
    }

    /// Name in the lists of clients.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// URL of MCP.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Networks from which the URL can be reached, judged by its host.
    pub fn reach(&self) -> UrlReach {
        self.reach
    }
}

/// Returns the reach of a URL that clients can use.
fn read_url(text: &str) -> Option<UrlReach> {
    // RFC 3986 knows no other characters; the parser would accept and rewrite them.
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/?[]@!$&'()*+,;=%".contains(&b);
    let url = Url::parse(text).ok().filter(|_| text.bytes().all(is_allowed))?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    let reach = match url.host()? {
        Host::Domain(domain) => domain_reach(domain.trim_end_matches('.')),
        Host::Ipv4(address) => ipv4_reach(address),
        Host::Ipv6(address) if address.is_loopback() || address.is_unspecified() => UrlReach::Loopback,
        Host::Ipv6(address) if address.is_unique_local() || address.is_unicast_link_local() => {
            UrlReach::Private
        }
        Host::Ipv6(address) => address.to_ipv4_mapped().map_or(UrlReach::Public, ipv4_reach),
    };
    if reach == UrlReach::Public && url.scheme() == "http" {
        return Some(UrlReach::Unencrypted);
    }
    Some(reach)
}

fn ipv4_reach(address: Ipv4Addr) -> UrlReach {
    let is_shared = address.octets()[0] == 100 && address.octets()[1] & 0xc0 == 64;
    if address.is_loopback() || address.is_unspecified() {
        UrlReach::Loopback
    } else if address.is_private() || address.is_link_local() || is_shared {
        UrlReach::Private
    } else {
        UrlReach::Public
    }
}

fn domain_reach(domain: &str) -> UrlReach {
    let is_below = |suffix: &str| domain.ends_with(suffix);
    if domain == "localhost" || is_below(".localhost") {
        UrlReach::Loopback
    } else if !domain.contains('.')
        || [".local", ".internal", ".home.arpa", ".lan"]
            .iter()
            .any(|s| is_below(s))
    {
        UrlReach::Private
    } else {
        UrlReach::Public
    }
}

/// A command line: the program and its arguments. Displays as a line for a POSIX shell.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct CommandLine {
    words: Vec<String>,
}

impl CommandLine {
    fn new(words: &[&str]) -> Self {
        Self {
            words: words.iter().map(|w| (*w).to_owned()).collect(),
        }
    }

    /// The program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Its arguments.
    pub fn arguments(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.words.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            f.write_str(&quote_for_shell(word))?;
        }
        Ok(())
    }
}

/// Quotes a word for a POSIX shell; a word without a special character stays as it is.
fn quote_for_shell(word: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._/:=@%+,".contains(&b);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Operating system of the computer on which a client runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    /// Linux and the other Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Os {
    /// Every value.
    pub const ALL: &[Self] = &[Self::Linux, Self::MacOs, Self::Windows];
    /// Operating system for which this program was built.
    pub const CURRENT: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };
}

/// Folder below which a client keeps its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// `HOME`, on Windows `USERPROFILE`.
    Home,
    /// `XDG_CONFIG_HOME`, or `.config` in the home folder.
    XdgConfig,
    /// `Library/Application Support` in the home folder.
    ApplicationSupport,
    /// `APPDATA`.
    AppData,
}

/// A variable that moves the configuration of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderVariable {
    /// Name of the variable.
    pub name: &'static str,
    /// Path of the file below the folder that the variable names.
    pub segments: &'static [&'static str],
}

/// Path of a configuration file on one operating system. Displays as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigPath {
    /// Operating system.
    pub os: Os,
    /// Folder of the user.
    pub folder: Folder,
    /// Path of the file below it.
    pub segments: &'static [&'static str],
    /// Variable that names another folder.
    pub variable: Option<FolderVariable>,
    /// Name of a file in the same folder that takes its place when only that one exists.
    pub alternative: Option<&'static str>,
}

impl fmt::Display for ConfigPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_windows = self.os == Os::Windows;
        let folder = match self.folder {
            Folder::Home if is_windows => "%USERPROFILE%",
            Folder::Home => "~",
            Folder::XdgConfig if is_windows => r"%USERPROFILE%\.config",
            Folder::XdgConfig => "~/.config",
            Folder::ApplicationSupport => "~/Library/Application Support",
            Folder::AppData => "%APPDATA%",
        };
        f.write_str(folder)?;
        for segment in self.segments {
            f.write_str(if is_windows { r"\" } else { "/" })?;
            f.write_str(segment)?;
        }
        Ok(())
    }
}

/// Format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFormat {
    /// JSON; some clients read comments as well.
    Json,
    /// TOML.
    Toml,
}

/// Entry of a server in a configuration file.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigEntry {
    client: McpClient,
    /// Format of the file.
    pub format: ConfigFormat,
    /// Names that lead to the table of servers.
    pub table: &'static [&'static str],
    /// Table that a newer version of the client uses; its entries have the same form. It is used when it exists.
    pub newer_table: Option<&'static [&'static str]>,
    /// Name of the server.
    pub name: String,
    /// The entry itself, an object.
    pub value: Value,
}

impl ConfigEntry {
    /// Path of the file on an operating system.
    pub fn path(&self, os: Os) -> ConfigPath {
        let path = |folder, segments| ConfigPath {
            os,
            folder,
            segments,
            variable: None,
            alternative: None,
        };
        let variable = |name, segments| Some(FolderVariable { name, segments });
        match self.client {
            McpClient::ClaudeCode => ConfigPath {
                variable: variable("CLAUDE_CONFIG_DIR", &[".claude.json"]),
                ..path(Folder::Home, &[".claude.json"])
            },
            McpClient::Codex => ConfigPath {
                variable: variable("CODEX_HOME", &["config.toml"]),
                ..path(Folder::Home, &[".codex", "config.toml"])
            },
            McpClient::GeminiCli => ConfigPath {
                variable: variable("GEMINI_CLI_HOME", &[".gemini", "settings.json"]),
                ..path(Folder::Home, &[".gemini", "settings.json"])
            },
            McpClient::OpenCode => ConfigPath {
                alternative: Some("opencode.jsonc"),
                ..path(Folder::XdgConfig, &["opencode", "opencode.json"])
            },
            McpClient::VsCode => {
                let folder = match os {
                    Os::Linux => Folder::XdgConfig,
                    Os::MacOs => Folder::ApplicationSupport,
                    Os::Windows => Folder::AppData,
                };
                path(folder, &["Code", "User", "mcp.json"])
            }
            // The other two have no entry, only a web page.
            McpClient::Cursor | McpClient::Claude | McpClient::ChatGpt => {
                path(Folder::Home, &[".cursor", "mcp.json"])
            }
        }
    }

    /// The entry with the tables around it, as it stands in a file without other settings.
    pub fn snippet(&self) -> String {
        match self.format {
            ConfigFormat::Json => {
                let mut value = json!({ self.name.as_str(): self.value });
                for table in self.table.iter().rev() {
                    value = json!({ *table: value });
                }
                format!("{value:#}\n")
            }
            ConfigFormat::Toml => {
                let mut text = format!("[{}.{}]\n", self.table.join("."), self.name);
                for (member, value) in self.value.as_object().into_iter().flatten() {
                    // A JSON string is a basic string of TOML.
                    text.push_str(&format!("{member} = {value}\n"));
                }
                text
            }
        }
    }
}

/// Way to sign in once the server is known to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// Explanation, a sentence.
    pub text: String,
    /// Command that opens the browser.
    pub command: Option<CommandLine>,
}

/// Everything that connects a client to a server: as many ways as the client has.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientSetup {
    /// The client.
    pub client: McpClient,
    /// Command of the client that adds the server for this user.
    pub command: Option<CommandLine>,
    /// Command that has to be run before when the name is taken, for a client that replaces nothing by itself.
    pub removal: Option<CommandLine>,
    /// Link that opens the client with the server filled in.
    pub link: Option<String>,
    /// Entry of its configuration file.
    pub config: Option<ConfigEntry>,
    /// Steps for a person, for a client that is set up on a web page.
    pub steps: Vec<String>,
    /// Sign-in.
    pub sign_in: SignIn,
    /// Reason why the client cannot reach this URL.
    pub notice: Option<String>,
}

impl McpClient {
    /// Name of the product.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Claude => "Claude",
            Self::ClaudeCode => "Claude Code",
            Self::ChatGpt => "ChatGPT",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::OpenCode => "opencode",
        }
    }

    /// Vendor whose computers connect to the server, for clients that do not connect from the user's.
    pub const fn cloud(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("Anthropic"),
            Self::ChatGpt => Some("OpenAI"),
            _ => None,
        }
    }

    /// Returns how to connect the client to a server.
    pub fn setup(self, server: &McpServer) -> ClientSetup {
        match self {
            Self::Claude => claude(server),
            Self::ClaudeCode => claude_code(server),
            Self::ChatGpt => chatgpt(server),
            Self::Cursor => cursor(server),
            Self::VsCode => vscode(server),
            Self::Codex => codex(server),
            Self::GeminiCli => gemini(server),
            Self::OpenCode => opencode(server),
        }
    }

    fn notice(self, server: &McpServer) -> Option<String> {
        let (label, vendor) = (self.label(), self.cloud()?);
        let url = server.url();
        let reason = match server.reach() {
            UrlReach::Public => return None,
            UrlReach::Unencrypted => "is not https",
            UrlReach::Private => "belongs to a private network",
            UrlReach::Loopback => "is an address of this computer alone",
        };
        Some(format!(
            "{label} connects from the cloud of {vendor}, and {url} {reason}. Serve MCP at a public https URL, and set it as MCP_URL of the server."
        ))
    }

    /// A setup without any way to connect, and with this sign-in.
    fn begin(self, server: &McpServer, sign_in: SignIn) -> ClientSetup {
        ClientSetup {
            client: self,
            command: None,
            removal: None,
            link: None,
            config: None,
            steps: Vec::new(),
            sign_in,
            notice: self.notice(server),
        }
    }

    fn entry(self, table: &'static [&'static str], server: &McpServer, value: Value) -> ConfigEntry {
        ConfigEntry {
            client: self,
            format: ConfigFormat::Json,
            table,
            newer_table: None,
            name: server.name.clone(),
            value,
        }
    }
}

fn sign_in_by(command: CommandLine, more: &str) -> SignIn {
    SignIn {
        text: format!("Sign in with `{command}`{more}."),
        command: Some(command),
    }
}

fn sign_in_text(text: impl Into<String>) -> SignIn {
    SignIn {
        text: text.into(),
        command: None,
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// JSON for the query of a link. Characters that have a meaning there, or that lead to `+` or `/` in base64, are written
/// as escapes of JSON: VS Code decodes its links twice, and a `%22` in a URL would otherwise end a string.
fn link_json(value: &Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        match c {
            '%' | '+' | '?' | '>' | '~' | '\u{7f}'.. => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ => text.push(c),
        }
    }
    text
}

/// Link to the dialog with name and URL filled in: claude.com/docs/connectors/building/directory-vs-custom.
/// Steps, and where it connects from: support.claude.com/en/articles/11175166.
fn claude(server: &McpServer) -> ClientSetup {
    let (name, url) = (server.name(), server.url());
    let sign_in =
        sign_in_text("Select Connect beside the connector; Claude opens the sign-in page of this server.");
    ClientSetup {
        link: Some(format!(
            "https://claude.ai/customize/connectors?modal=add-custom-connector&connectorName={}&connectorUrl={}",
            encode(name),
            encode(url)
        )),
        steps: vec![
            "Open https://claude.ai/customize/connectors, or Customize, Connectors in the desktop app. In a Team or Enterprise plan an owner adds the connector first, in the settings of the organization.".to_owned(),
            "Select +, then Add custom connector.".to_owned(),
            format!("Enter the name {name} and the URL {url}, leave the OAuth client empty, and select Add."),
            "Select Connect, and sign in on the page of this server that opens.".to_owned(),
        ],
        ..McpClient::Claude.begin(server, sign_in)
    }
}

/// Commands, scopes and file: code.claude.com/docs/en/mcp; `mcp login` since 2.1.186: code.claude.com/docs/en/whats-new/2026-w26.
/// A name that exists is an error of `mcp add`. `CLAUDE_CONFIG_DIR` moves the file: microsoft/apm pull request 2096.
fn claude_code(server: &McpServer) -> ClientSetup {
    let client = McpClient::ClaudeCode;
    let (name, url) = (server.name(), server.url());
    let sign_in = sign_in_by(
        CommandLine::new(&["claude", "mcp", "login", name]),
        ", or in a session with /mcp",
    );
    ClientSetup {
        command: Some(CommandLine::new(&[
            "claude",
            "mcp",
            "add",
            "--transport",
            "http",
            "--scope",
            "user",
            name,
            url,
        ])),
        removal: Some(CommandLine::new(&[
            "claude", "mcp", "remove", "--scope", "user", name,
        ])),
        config: Some(client.entry(&["mcpServers"], server, json!({ "type": "http", "url": url }))),
        ..client.begin(server, sign_in)
    }
}

/// Steps: developers.openai.com/api/docs/guides/custom-mcp-server and developers.openai.com/plugins/quickstart.
fn chatgpt(server: &McpServer) -> ClientSetup {
    let (name, url) = (server.name(), server.url());
    let sign_in = sign_in_text(
        "Install the plugin from your personal plugins; ChatGPT opens the sign-in page of this server.",
    );
    ClientSetup {
        steps: vec![
            "Open https://chatgpt.com/plugins.".to_owned(),
            "Select the plus button, then Add custom MCP server. If it is missing, turn on Developer mode under Settings, Security and login; in a workspace an admin allows it.".to_owned(),
            format!("Enter the name {name} and, under Connection, the Server URL {url}. Choose OAuth for Authentication."),
            "Read the warning, select I understand and want to continue, then Create as a plugin.".to_owned(),
            "Install the plugin from your personal plugins, and sign in on the page of this server that opens.".to_owned(),
        ],
        ..McpClient::ChatGpt.begin(server, sign_in)
    }
}

/// Link: cursor.com/docs/mcp/install-links (`config` is the entry alone, in base64). File: cursor.com/docs/mcp.
/// Sign-in: cursor.com/docs/cli/mcp.
fn cursor(server: &McpServer) -> ClientSetup {
    let client = McpClient::Cursor;
    let value = json!({ "url": server.url() });
    let command = CommandLine::new(&["agent", "mcp", "login", server.name()]);
    let sign_in = SignIn {
        text: format!(
            "In Cursor open Customize, MCPs, turn {} on and sign in; with Cursor's command line: `{command}`.",
            server.name()
        ),
        command: Some(command),
    };
    ClientSetup {
        link: Some(format!(
            "cursor://anysphere.cursor-deeplink/mcp/install?name={}&config={}",
            encode(server.name()),
            encode(&STANDARD.encode(link_json(&value)))
        )),
        config: Some(client.entry(&["mcpServers"], server, value)),
        ..client.begin(server, sign_in)
    }
}

/// Link: microsoft/vscode src/vs/workbench/contrib/mcp/browser/mcpWorkbenchService.ts (`JSON.parse(decodeURIComponent(query))`
/// of a query that is decoded already). File: microsoft/vscode-docs docs/agents/reference/mcp-configuration.md.
/// Command: code.visualstudio.com/docs/copilot/customization/mcp-servers.
fn vscode(server: &McpServer) -> ClientSetup {
    let client = McpClient::VsCode;
    let named = json!({ "name": server.name(), "type": "http", "url": server.url() });
    let sign_in = sign_in_text(format!(
        "In VS Code run \"MCP: List Servers\" from the Command Palette and start {}; it asks, and opens the sign-in page of this server.",
        server.name()
    ));
    ClientSetup {
        command: Some(CommandLine::new(&["code", "--add-mcp", &named.to_string()])),
        link: Some(format!("vscode:mcp/install?{}", encode(&link_json(&named)))),
        config: Some(client.entry(
            &["servers"],
            server,
            json!({ "type": "http", "url": server.url() }),
        )),
        ..client.begin(server, sign_in)
    }
}

/// Command, names and file: openai/codex codex-rs/cli/src/mcp_cmd.rs and learn.chatgpt.com/docs/extend/mcp. `mcp add` replaces
/// an entry, and begins the sign-in by itself in newer versions.
fn codex(server: &McpServer) -> ClientSetup {
    let client = McpClient::Codex;
    let (name, url) = (server.name(), server.url());
    let sign_in = sign_in_by(
        CommandLine::new(&["codex", "mcp", "login", name]),
        ", unless Codex has opened the browser by itself",
    );
    ClientSetup {
        command: Some(CommandLine::new(&["codex", "mcp", "add", name, "--url", url])),
        config: Some(ConfigEntry {
            format: ConfigFormat::Toml,
            ..client.entry(&["mcp_servers"], server, json!({ "url": url }))
        }),
        ..client.begin(server, sign_in)
    }
}

/// Command and entry: google-gemini/gemini-cli packages/cli/src/commands/mcp/add.ts (it replaces an entry; `httpUrl` is
/// deprecated). Sign-in: docs/tools/mcp-server.md. `GEMINI_CLI_HOME`: packages/core/src/utils/paths.ts.
fn gemini(server: &McpServer) -> ClientSetup {
    let client = McpClient::GeminiCli;
    let (name, url) = (server.name(), server.url());
    let sign_in = sign_in_text(format!("In Gemini CLI sign in with /mcp auth {name}."));
    ClientSetup {
        command: Some(CommandLine::new(&[
            "gemini",
            "mcp",
            "add",
            "--transport",
            "http",
            "--scope",
            "user",
            name,
            url,
        ])),
        config: Some(client.entry(&["mcpServers"], server, json!({ "url": url, "type": "http" }))),
        ..client.begin(server, sign_in)
    }
}

/// Entries and sign-in: anomalyco/opencode services/www/src/docs/content/mcp-servers.mdx; migrate-v1.mdx says that version 2
/// reads the entries of version 1, which version 1 alone cannot do the other way round. `opencode mcp add` of version 1 asks
/// questions, so the file is edited.
fn opencode(server: &McpServer) -> ClientSetup {
    let client = McpClient::OpenCode;
    let sign_in = sign_in_by(CommandLine::new(&["opencode", "mcp", "auth", server.name()]), "");
    ClientSetup {
        config: Some(ConfigEntry {
            newer_table: Some(&["mcp", "servers"]),
            ..client.entry(&["mcp"], server, json!({ "type": "remote", "url": server.url() }))
        }),
        ..client.begin(server, sign_in)
    }
}

mod program;
#[cfg(test)]
mod tests;

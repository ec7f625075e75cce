//! Clients that start a program and speak MCP with it over its streams, instead of connecting to a URL.
//!
//! Sources are those named at the setups by URL; the credential is the program's own, so none is written into a client.

use serde_json::{Value, json};

use super::{
    ClientSetup, CommandLine, ConfigEntry, ConfigFormat, McpClient, McpServer, SignIn, encode, link_json,
};

impl McpClient {
    /// Returns how to make the client start this program, the first of the words, with the others as its arguments; `None` for
    /// clients in the cloud, which start none.
    pub fn setup_program(self, server: &McpServer, words: &[&str]) -> Option<ClientSetup> {
        let (program, arguments) = words.split_first()?;
        let name = server.name();
        let by_program = json!({ "command": program, "args": arguments });
        let with_type = |kind: &str| json!({ "type": kind, "command": program, "args": arguments });
        let command = |before: &[&str]| Some(CommandLine::new(&[before, words].concat()));
        let begun = || ClientSetup {
            notice: None,
            ..self.begin(server, sign_in())
        };
        let entry = |table, value: Value| Some(self.entry(table, server, value));
        Some(match self {
            Self::Claude | Self::ChatGpt => return None,
            Self::ClaudeCode => ClientSetup {
                command: command(&["claude", "mcp", "add", "--scope", "user", name, "--"]),
                config: entry(&["mcpServers"], with_type("stdio")),
                ..begun()
            },
            Self::Cursor => ClientSetup {
                link: Some(format!(
                    "cursor://anysphere.cursor-deeplink/mcp/install?name={}&config={}",
                    encode(name),
                    encode(&base64_of(&link_json(&by_program)))
                )),
                config: entry(&["mcpServers"], by_program),
                ..begun()
            },
            Self::VsCode => {
                let named = json!({ "name": name, "type": "stdio", "command": program, "args": arguments });
                ClientSetup {
                    command: Some(CommandLine::new(&["code", "--add-mcp", &named.to_string()])),
                    link: Some(format!("vscode:mcp/install?{}", encode(&link_json(&named)))),
                    config: entry(&["servers"], with_type("stdio")),
                    ..begun()
                }
            }
            Self::Codex => ClientSetup {
                command: command(&["codex", "mcp", "add", name, "--"]),
                config: Some(ConfigEntry {
                    format: ConfigFormat::Toml,
                    ..self.entry(&["mcp_servers"], server, by_program)
                }),
                ..begun()
            },
            Self::GeminiCli => ClientSetup {
                command: command(&["gemini", "mcp", "add", "--scope", "user", name]),
                config: entry(&["mcpServers"], by_program),
                ..begun()
            },
            Self::OpenCode => ClientSetup {
                config: Some(ConfigEntry {
                    newer_table: Some(&["mcp", "servers"]),
                    ..self.entry(&["mcp"], server, json!({ "type": "local", "command": words }))
                }),
                ..begun()
            },
        })
    }
}

fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn sign_in() -> SignIn {
    SignIn {
        text: "Sign in with `searchwright login --mcp`, or save a key with `searchwright profile save`; the program reads it."
            .to_owned(),
        command: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{McpClient, McpServer};

    #[test]
    fn clients_on_the_computer_start_the_program() {
        let server = McpServer::new("seo", "http://127.0.0.1:8788/mcp").unwrap();
        let words = ["/opt/a b/searchwright", "mcp", "--toolsets", "core"];
        for client in McpClient::ALL {
            let setup = client.setup_program(&server, &words);
            assert_eq!(setup.is_none(), client.cloud().is_some(), "{client}");
            let Some(setup) = setup else { continue };
            let entry = setup.config.unwrap();
            assert!(setup.notice.is_none() && entry.value.get("url").is_none());
            let text = entry.value.to_string();
            assert!(
                text.contains("/opt/a b/searchwright") && text.contains("\"core\""),
                "{text}"
            );
        }
        let claude = McpClient::ClaudeCode.setup_program(&server, &words).unwrap();
        assert_eq!(
            claude.command.unwrap().to_string(),
            "claude mcp add --scope user seo -- '/opt/a b/searchwright' mcp --toolsets core"
        );
        let codex = McpClient::Codex.setup_program(&server, &words).unwrap();
        let snippet = codex.config.unwrap().snippet();
        assert!(
            snippet.contains("[mcp_servers.seo]\ncommand = \"/opt/a b/searchwright\"\nargs = [\"mcp\""),
            "{snippet}"
        );
        let opencode = McpClient::OpenCode.setup_program(&server, &words).unwrap();
        assert_eq!(
            opencode.config.unwrap().value,
            json!({ "type": "local", "command": words })
        );
    }
}

use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use clap::{Args as _, Command, FromArgMatches as _};
use searchwright_contract::mcp_clients::Os;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::*;

const URL: &str = "https://seo.example.com/mcp";
const OTHER_URL: &str = "http://127.0.0.1:8788/mcp";

/// A home folder, with programs in its folder `bin`.
struct Home {
    folder: TempDir,
    os: Os,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        Self {
            folder,
            os: Os::Linux,
        }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    fn json(&self, below: &str) -> Value {
        serde_json::from_str(&self.text(below)).unwrap()
    }

    /// Adds a program that records its arguments, one per line, and then runs `script`.
    fn add_program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        let record = self.path("calls");
        let text = format!(
            "#!/bin/sh\nprintf '%s\\n' {name} \"$@\" end >> '{}'\n{script}\n",
            record.display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn installer(&self, client: McpClient, url: &str, more: &[(&str, &OsStr)]) -> Installer {
        let (home, bin) = (self.folder.path(), self.path("bin"));
        let mut variables = vec![
            ("HOME", home.as_os_str()),
            ("USERPROFILE", home.as_os_str()),
            ("PATH", bin.as_os_str()),
        ];
        variables.extend_from_slice(more);
        let server = McpServer::new("searchwright", url).unwrap();
        Installer {
            machine: Machine::new(self.os, &variables),
            setup: client.setup(&server),
            server,
            is_dry_run: false,
        }
    }

    async fn install(&self, client: McpClient, url: &str) -> Result<Report, CliError> {
        self.installer(client, url, &[]).run().await
    }

    async fn print(&self, client: McpClient, url: &str) -> Report {
        let installer = Installer {
            is_dry_run: true,
            ..self.installer(client, url, &[])
        };
        installer.run().await.unwrap()
    }
}

#[tokio::test]
async fn command_of_the_client_is_run() {
    for (client, program, expected) in [
        (
            McpClient::ClaudeCode,
            "claude",
            &[
                "mcp",
                "add",
                "--transport",
                "http",
                "--scope",
                "user",
                "searchwright",
                URL,
            ][..],
        ),
        (
            McpClient::VsCode,
            "code",
            &[
                "--add-mcp",
                r#"{"name":"searchwright","type":"http","url":"https://seo.example.com/mcp"}"#,
            ],
        ),
        (
            McpClient::Codex,
            "codex",
            &["mcp", "add", "searchwright", "--url", URL],
        ),
        (
            McpClient::GeminiCli,
            "gemini",
            &[
                "mcp",
                "add",
                "--transport",
                "http",
                "--scope",
                "user",
                "searchwright",
                URL,
            ],
        ),
    ] {
        let home = Home::new();
        home.add_program(program, "");
        let report = home.install(client, URL).await.unwrap();
        assert_eq!(report.status, Status::Installed, "{client}");
        assert_eq!(
            home.calls(),
            [&[program], expected, &["end"]].concat(),
            "{client}"
        );
        assert_eq!(report.data(), "", "{client}");
        let words = format!(
            "searchwright is installed in {}\n{}\n",
            client.label(),
            report.sign_in
        );
        assert_eq!(report.words(), words);
    }
}

#[tokio::test]
async fn printing_changes_nothing() {
    let home = Home::new();
    home.add_program("claude", "");
    let report = home.print(McpClient::ClaudeCode, URL).await;
    assert_eq!(
        report.data(),
        "claude mcp add --transport http --scope user searchwright https://seo.example.com/mcp\n"
    );
    let report = home.print(McpClient::Codex, URL).await;
    assert_eq!(
        report.data(),
        "[mcp_servers.searchwright]\nurl = \"https://seo.example.com/mcp\"\n"
    );
    let file = home.path(".codex/config.toml");
    assert!(
        report
            .words()
            .starts_with(&format!("this would be written to {}\n", file.display())),
        "{}",
        report.words()
    );
    assert_eq!(home.calls(), Vec::<String>::new());
    assert!(!file.exists());
    assert_eq!((report.status, report.exit()), (Status::Planned, Exit::Done));
}

#[tokio::test]
async fn second_run_finds_the_server_installed() {
    for (client, file) in [
        (McpClient::ClaudeCode, ".claude.json"),
        (McpClient::Cursor, ".cursor/mcp.json"),
        (McpClient::VsCode, ".config/Code/User/mcp.json"),
        (McpClient::Codex, ".codex/config.toml"),
        (McpClient::GeminiCli, ".gemini/settings.json"),
        (McpClient::OpenCode, ".config/opencode/opencode.json"),
    ] {
        let home = Home::new();
        let first = home.install(client, URL).await.unwrap();
        assert_eq!(first.status, Status::Installed, "{client}");
        let text = home.text(file);
        assert!(text.contains(URL), "{client}");
        let second = home.install(client, URL).await.unwrap();
        assert_eq!(second.status, Status::AlreadyInstalled, "{client}");
        assert_eq!(home.text(file), text, "{client}");
        let words = second.words();
        let expected = format!("searchwright is already installed in {}\n", client.label());
        assert!(words.starts_with(&expected), "{words}");
    }
}

#[tokio::test]
async fn installed_server_needs_no_command() {
    let home = Home::new();
    home.install(McpClient::ClaudeCode, URL).await.unwrap();
    home.add_program("claude", "");
    let report = home.install(McpClient::ClaudeCode, URL).await.unwrap();
    assert_eq!(report.status, Status::AlreadyInstalled);
    assert_eq!(home.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn another_url_is_replaced_and_said() {
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        r#"{"mcpServers":{"a":{"url":"http://a/"},"searchwright":{"url":"http://127.0.0.1:8788/mcp","headers":{}}}}"#,
    );
    let report = home.install(McpClient::Cursor, URL).await.unwrap();
    assert_eq!(report.status, Status::Replaced);
    assert_eq!(report.previous_url.as_deref(), Some(OTHER_URL));
    assert!(report.words().contains(OTHER_URL), "{}", report.words());
    assert_eq!(
        home.json(".cursor/mcp.json"),
        json!({ "mcpServers": { "a": { "url": "http://a/" }, "searchwright": { "url": URL, "headers": {} } } })
    );
}

#[tokio::test]
async fn claude_code_forgets_a_name_before_it_is_added_again() {
    let home = Home::new();
    home.install(McpClient::ClaudeCode, OTHER_URL).await.unwrap();
    home.add_program("claude", "");
    let planned = home.print(McpClient::ClaudeCode, URL).await;
    assert_eq!(
        planned.data(),
        "claude mcp remove --scope user searchwright\nclaude mcp add --transport http --scope user searchwright https://seo.example.com/mcp\n"
    );
    let report = home.install(McpClient::ClaudeCode, URL).await.unwrap();
    assert_eq!(report.status, Status::Replaced);
    let calls = home.calls().join(" ");
    assert_eq!(
        calls,
        "claude mcp remove --scope user searchwright end claude mcp add --transport http --scope user searchwright https://seo.example.com/mcp end"
    );
}

#[tokio::test]
async fn failure_of_a_command_is_a_failure() {
    let home = Home::new();
    home.add_program("gemini", "exit 7");
    let error = home.install(McpClient::GeminiCli, URL).await.unwrap_err();
    assert_eq!(error.exit, Exit::Failed);
    assert!(error.message.contains("gemini mcp add"), "{}", error.message);
    assert!(error.message.contains('7'), "{}", error.message);
}

#[tokio::test]
async fn sign_in_that_fails_leaves_codex_installed() {
    let home = Home::new();
    let script = format!(
        "mkdir -p \"$HOME/.codex\"\nprintf '[mcp_servers.searchwright]\\nurl = \"{URL}\"\\n' > \"$HOME/.codex/config.toml\"\nexit 1"
    );
    // The script needs `mkdir`, which is not in the folder of the fake program.
    home.add_program("codex", &format!("PATH=/usr/bin:/bin\n{script}"));
    let report = home.install(McpClient::Codex, URL).await.unwrap();
    assert_eq!((report.status, report.exit()), (Status::Installed, Exit::Done));
    assert!(
        report
            .warning
            .as_deref()
            .is_some_and(|w| w.contains("codex mcp add")),
        "{:?}",
        report.warning
    );
    assert!(
        report.words().contains("codex mcp login searchwright"),
        "{}",
        report.words()
    );
}

#[tokio::test]
async fn file_with_comments_is_not_touched() {
    let home = Home::new();
    let file = ".config/Code/User/mcp.json";
    let text = "{\n  // mine\n  \"servers\": {},\n}\n";
    home.write(file, text);
    let report = home.install(McpClient::VsCode, URL).await.unwrap();
    assert_eq!(
        (report.status, report.exit()),
        (Status::NotEditable, Exit::Failed)
    );
    assert_eq!(home.text(file), text);
    let snippet: Value = serde_json::from_str(&report.data()).unwrap();
    assert_eq!(
        snippet,
        json!({ "servers": { "searchwright": { "type": "http", "url": URL } } })
    );
    assert!(
        report.words().contains("vscode:mcp/install?"),
        "{}",
        report.words()
    );
}

#[tokio::test]
async fn server_of_another_kind_keeps_its_name() {
    let home = Home::new();
    let text = r#"{"mcpServers":{"searchwright":{"command":"x"}}}"#;
    home.write(".cursor/mcp.json", text);
    home.write(".claude.json", text);
    home.add_program("claude", "");
    for client in [McpClient::Cursor, McpClient::ClaudeCode] {
        let error = home.install(client, URL).await.unwrap_err();
        assert_eq!(error.exit, Exit::Refused, "{client}");
    }
    assert_eq!(home.text(".cursor/mcp.json"), text);
    assert_eq!(home.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn mode_and_link_of_a_file_stay() {
    let home = Home::new();
    home.write("dotfiles/mcp.json", "{}\n");
    let target = home.path("dotfiles/mcp.json");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(home.path(".cursor")).unwrap();
    symlink(&target, home.path(".cursor/mcp.json")).unwrap();
    home.install(McpClient::Cursor, URL).await.unwrap();
    let link = fs::symlink_metadata(home.path(".cursor/mcp.json")).unwrap();
    assert!(link.file_type().is_symlink());
    let mode = fs::metadata(&target).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(home.text("dotfiles/mcp.json").contains(URL));
    let left = fs::read_dir(home.path("dotfiles")).unwrap().count();
    assert_eq!(left, 1, "a temporary file is left");
}

#[tokio::test]
async fn file_that_changed_meanwhile_is_not_overwritten() {
    let home = Home::new();
    home.write("a.json", "{\"new\":1}");
    let path = home.path("a.json");
    let error = machine::replace(&path, "{}", "{\"ours\":1}").unwrap_err();
    assert!(error.message.contains("meanwhile"), "{}", error.message);
    assert_eq!(home.text("a.json"), "{\"new\":1}");
}

#[tokio::test]
async fn variables_move_the_files() {
    let home = Home::new();
    let other = home.path("other");
    for (client, variable, file) in [
        (McpClient::ClaudeCode, "CLAUDE_CONFIG_DIR", "other/.claude.json"),
        (McpClient::Codex, "CODEX_HOME", "other/config.toml"),
        (
            McpClient::GeminiCli,
            "GEMINI_CLI_HOME",
            "other/.gemini/settings.json",
        ),
        (
            McpClient::OpenCode,
            "XDG_CONFIG_HOME",
            "other/opencode/opencode.json",
        ),
        (McpClient::VsCode, "XDG_CONFIG_HOME", "other/Code/User/mcp.json"),
    ] {
        let installer = home.installer(client, URL, &[(variable, other.as_os_str())]);
        let report = installer.run().await.unwrap();
        assert_eq!(report.file, Some(home.path(file)), "{client}");
        assert!(home.text(file).contains(URL), "{client}");
        let installer = home.installer(client, URL, &[(variable, OsStr::new(""))]);
        let report = installer.run().await.unwrap();
        assert_ne!(report.file, Some(home.path(file)), "{client}");
    }
}

#[tokio::test]
async fn windows_keeps_settings_of_vscode_in_its_own_folder() {
    let home = Home {
        os: Os::Windows,
        ..Home::new()
    };
    let data = home.path("Roaming");
    let installer = home.installer(McpClient::VsCode, URL, &[("APPDATA", data.as_os_str())]);
    let report = installer.run().await.unwrap();
    assert_eq!(report.file, Some(home.path("Roaming/Code/User/mcp.json")));
    let error = home.install(McpClient::VsCode, URL).await.unwrap_err();
    assert!(error.message.contains("APPDATA"), "{}", error.message);
    // A program of Windows has an ending.
    home.add_program("codex", "");
    assert_eq!(installer.machine.find_program("codex"), None);
    home.add_program("codex.CMD", "");
    assert_eq!(
        installer.machine.find_program("codex"),
        Some(home.path("bin/codex.CMD"))
    );
}

#[tokio::test]
async fn existing_jsonc_file_of_opencode_is_used() {
    let home = Home::new();
    home.write(".config/opencode/opencode.jsonc", "{}");
    let report = home.install(McpClient::OpenCode, URL).await.unwrap();
    assert_eq!(report.file, Some(home.path(".config/opencode/opencode.jsonc")));
    assert_eq!(
        home.json(".config/opencode/opencode.jsonc"),
        json!({ "mcp": { "searchwright": { "type": "remote", "url": URL } } })
    );
}

#[tokio::test]
async fn web_clients_get_steps_and_hear_when_they_cannot_connect() {
    let home = Home::new();
    let report = home.install(McpClient::ChatGpt, OTHER_URL).await.unwrap();
    assert_eq!((report.status, report.exit()), (Status::Steps, Exit::Done));
    let data = report.data();
    assert!(
        data.starts_with("1. Open https://chatgpt.com/plugins.\n2. "),
        "{data}"
    );
    assert!(data.contains(OTHER_URL), "{data}");
    assert!(
        report.words().contains("is an address of this computer alone"),
        "{}",
        report.words()
    );
    let report = home.install(McpClient::Claude, URL).await.unwrap();
    assert!(report.words().contains("connectorUrl="), "{}", report.words());
    assert!(!report.words().contains("warning"), "{}", report.words());
}

#[tokio::test]
async fn json_is_one_object() {
    let home = Home::new();
    home.add_program("codex", "");
    let report = home.install(McpClient::Codex, URL).await.unwrap();
    assert_eq!(
        serde_json::to_value(&report).unwrap(),
        json!({
            "client": "codex",
            "name": "searchwright",
            "mcpUrl": URL,
            "status": "installed",
            "commands": [["codex", "mcp", "add", "searchwright", "--url", URL]],
            "signIn": "Sign in with `codex mcp login searchwright`, unless Codex has opened the browser by itself.",
            "signInCommand": ["codex", "mcp", "login", "searchwright"],
        })
    );
}

#[test]
fn relative_folders_of_path_hold_no_programs() {
    let home = Home::new();
    home.add_program("codex", "");
    let absolute = home.path("bin");
    let depth = std::env::current_dir().unwrap().components().count() - 1;
    let relative = Path::new(&"../".repeat(depth)).join(absolute.strip_prefix("/").unwrap());
    assert!(relative.join("codex").is_file());
    let found =
        |folder: &Path| Machine::new(Os::Linux, &[("PATH", folder.as_os_str())]).find_program("codex");
    assert_eq!(found(&relative), None);
    assert_eq!(found(&absolute), Some(absolute.join("codex")));
}

/// Serves one answer, and returns the URL of the server and the request line that it will have read.
async fn serve(answer: String) -> (String, tokio::task::JoinHandle<String>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut request = String::new();
        stream.read_line(&mut request).await.unwrap();
        stream.get_mut().write_all(answer.as_bytes()).await.unwrap();
        request
    });
    (url, task)
}

#[tokio::test]
async fn server_is_asked_for_the_url_of_mcp() {
    let metadata = serde_json::json!({
        "issuer": "https://seo.example.com",
        "authorization_endpoint": "https://seo.example.com/oauth/authorize",
        "token_endpoint": "https://seo.example.com/oauth/token",
        "revocation_endpoint": "https://seo.example.com/oauth/revoke",
        "device_authorization_endpoint": "https://seo.example.com/oauth/device",
        "protected_resources": ["https://seo.example.com/v1", URL],
    })
    .to_string();
    let answer = |body: &str| {
        format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let (server, request) = serve(answer(&metadata)).await;
    assert_eq!(find_mcp_url(&server).await.unwrap(), URL);
    assert_eq!(
        request.await.unwrap(),
        "GET /.well-known/oauth-authorization-server HTTP/1.1\r\n"
    );
    let (server, _) = serve(answer(&metadata.replace(URL, "https://seo.example.com/v1"))).await;
    let error = find_mcp_url(&server).await.unwrap_err();
    assert_eq!(error.exit, Exit::Failed);
    assert!(error.hint.is_some_and(|hint| hint.contains("--mcp-url")));
}

#[tokio::test]
async fn wrong_words_are_wrong_usage() {
    let parse = |line: &[&str]| {
        let command = InstallMcp::augment_args(Command::new("install").no_binary_name(true));
        let matches = command.try_get_matches_from(line).ok()?;
        InstallMcp::from_arg_matches(&matches).ok()
    };
    assert!(parse(&["emacs"]).is_none());
    for line in [
        &["cursor", "--mcp-url", URL, "--name", "a b"][..],
        &["cursor", "--mcp-url", "ftp://seo.example.com/mcp"],
    ] {
        let install = parse(line).unwrap();
        let error = install.run(&Connection::default(), false).await.unwrap_err();
        assert_eq!(error.exit, Exit::Usage, "{line:?}");
    }
}

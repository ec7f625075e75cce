use super::*;

const URL: &str = "https://seo.example.com/mcp";
/// Every character that RFC 3986 allows and that a shell, JSON, a query or base64 gives a meaning, and an escaped quote.
const ODD_URL: &str = "https://seo.example.com/a'b$(id)!*,;%22,%22command%22:%22x?q=~~~???&r=+@";

fn server() -> McpServer {
    McpServer::new("searchwright", URL).unwrap()
}

fn odd_server() -> McpServer {
    McpServer::new("my-seo_2", ODD_URL).unwrap()
}

fn query_member(link: &str, wanted: &str) -> String {
    let link = Url::parse(link).unwrap();
    let (_, value) = link.query_pairs().find(|(name, _)| name == wanted).unwrap();
    value.into_owned()
}

#[test]
fn commands_are_those_of_the_vendors() {
    let line = |client: McpClient| client.setup(&server()).command.map(|c| c.to_string());
    let lines: Vec<Option<String>> = McpClient::ALL.iter().map(|c| line(*c)).collect();
    let expected = [
        None,
        Some("claude mcp add --transport http --scope user searchwright https://seo.example.com/mcp"),
        None,
        None,
        Some(r#"code --add-mcp '{"name":"searchwright","type":"http","url":"https://seo.example.com/mcp"}'"#),
        Some("codex mcp add searchwright --url https://seo.example.com/mcp"),
        Some("gemini mcp add --transport http --scope user searchwright https://seo.example.com/mcp"),
        None,
    ];
    assert_eq!(lines, expected.map(|e| e.map(str::to_owned)));
    let removal = McpClient::ClaudeCode.setup(&server()).removal.unwrap();
    assert_eq!(removal.to_string(), "claude mcp remove --scope user searchwright");
}

#[test]
fn links_are_those_of_the_vendors() {
    let link = |client: McpClient| client.setup(&server()).link.unwrap();
    assert_eq!(
        link(McpClient::Claude),
        "https://claude.ai/customize/connectors?modal=add-custom-connector&connectorName=searchwright&connectorUrl=https%3A%2F%2Fseo.example.com%2Fmcp"
    );
    assert_eq!(
        link(McpClient::Cursor),
        "cursor://anysphere.cursor-deeplink/mcp/install?name=searchwright&config=eyJ1cmwiOiJodHRwczovL3Nlby5leGFtcGxlLmNvbS9tY3AifQ%3D%3D"
    );
    assert_eq!(
        link(McpClient::VsCode),
        "vscode:mcp/install?%7B%22name%22%3A%22searchwright%22%2C%22type%22%3A%22http%22%2C%22url%22%3A%22https%3A%2F%2Fseo.example.com%2Fmcp%22%7D"
    );
}

#[test]
fn snippets_are_those_of_the_vendors() {
    let snippet = |client: McpClient| client.setup(&server()).config.unwrap().snippet();
    assert_eq!(
        snippet(McpClient::ClaudeCode),
        "{\n  \"mcpServers\": {\n    \"searchwright\": {\n      \"type\": \"http\",\n      \"url\": \"https://seo.example.com/mcp\"\n    }\n  }\n}\n"
    );
    assert_eq!(
        snippet(McpClient::Cursor),
        "{\n  \"mcpServers\": {\n    \"searchwright\": {\n      \"url\": \"https://seo.example.com/mcp\"\n    }\n  }\n}\n"
    );
    assert_eq!(
        snippet(McpClient::VsCode),
        "{\n  \"servers\": {\n    \"searchwright\": {\n      \"type\": \"http\",\n      \"url\": \"https://seo.example.com/mcp\"\n    }\n  }\n}\n"
    );
    assert_eq!(
        snippet(McpClient::GeminiCli),
        "{\n  \"mcpServers\": {\n    \"searchwright\": {\n      \"url\": \"https://seo.example.com/mcp\",\n      \"type\": \"http\"\n    }\n  }\n}\n"
    );
    assert_eq!(
        snippet(McpClient::OpenCode),
        "{\n  \"mcp\": {\n    \"searchwright\": {\n      \"type\": \"remote\",\n      \"url\": \"https://seo.example.com/mcp\"\n    }\n  }\n}\n"
    );
    assert_eq!(
        snippet(McpClient::Codex),
        "[mcp_servers.searchwright]\nurl = \"https://seo.example.com/mcp\"\n"
    );
}

#[test]
fn paths_are_those_of_the_operating_system() {
    let path = |client: McpClient, os| client.setup(&server()).config.unwrap().path(os).to_string();
    let paths = |client| [Os::Linux, Os::MacOs, Os::Windows].map(|os| path(client, os));
    assert_eq!(
        paths(McpClient::VsCode),
        [
            "~/.config/Code/User/mcp.json",
            "~/Library/Application Support/Code/User/mcp.json",
            r"%APPDATA%\Code\User\mcp.json",
        ]
    );
    assert_eq!(
        paths(McpClient::OpenCode),
        [
            "~/.config/opencode/opencode.json",
            "~/.config/opencode/opencode.json",
            r"%USERPROFILE%\.config\opencode\opencode.json",
        ]
    );
    assert_eq!(path(McpClient::ClaudeCode, Os::Linux), "~/.claude.json");
    assert_eq!(
        path(McpClient::Cursor, Os::Windows),
        r"%USERPROFILE%\.cursor\mcp.json"
    );
    assert_eq!(path(McpClient::Codex, Os::MacOs), "~/.codex/config.toml");
    assert_eq!(path(McpClient::GeminiCli, Os::Linux), "~/.gemini/settings.json");
}

#[test]
fn each_client_can_be_connected_and_signed_in() {
    for client in McpClient::ALL {
        let setup = client.setup(&server());
        let ways = [setup.config.is_some(), !setup.steps.is_empty()];
        assert_eq!(
            ways,
            [client.cloud().is_none(), client.cloud().is_some()],
            "{client}"
        );
        assert!(!setup.sign_in.text.is_empty(), "{client}");
        assert_eq!(setup.notice, None, "{client}");
        let words = setup.steps.join("\n");
        assert!(
            setup.steps.is_empty() || (words.contains(URL) && words.contains("searchwright")),
            "{client}"
        );
    }
    let command = |client: McpClient| client.setup(&server()).sign_in.command.map(|c| c.to_string());
    assert_eq!(
        command(McpClient::Codex).as_deref(),
        Some("codex mcp login searchwright")
    );
    assert_eq!(
        command(McpClient::ClaudeCode).as_deref(),
        Some("claude mcp login searchwright")
    );
    assert_eq!(
        command(McpClient::OpenCode).as_deref(),
        Some("opencode mcp auth searchwright")
    );
    let gemini = McpClient::GeminiCli.setup(&server()).sign_in.text;
    assert_eq!(gemini, "In Gemini CLI sign in with /mcp auth searchwright.");
}

#[test]
fn clients_in_a_cloud_need_a_public_https_url() {
    let notice = |client: McpClient, url| client.setup(&McpServer::new("s", url).unwrap()).notice;
    for (url, reason) in [
        (
            "http://127.0.0.1:8788/mcp",
            "is an address of this computer alone",
        ),
        ("http://0x7f.1/mcp", "is an address of this computer alone"),
        ("https://localhost./mcp", "is an address of this computer alone"),
        ("http://[::1]:8788/mcp", "is an address of this computer alone"),
        ("https://[::ffff:192.168.0.1]/mcp", "belongs to a private network"),
        ("https://10.1.2.3/mcp", "belongs to a private network"),
        ("https://100.64.0.1/mcp", "belongs to a private network"),
        ("https://[fd00::1]/mcp", "belongs to a private network"),
        ("https://seo/mcp", "belongs to a private network"),
        ("https://seo.lan/mcp", "belongs to a private network"),
        ("http://seo.example.com/mcp", "is not https"),
    ] {
        for (client, vendor) in [(McpClient::Claude, "Anthropic"), (McpClient::ChatGpt, "OpenAI")] {
            let expected = format!(
                "{} connects from the cloud of {vendor}, and {url} {reason}. Serve MCP at a public https URL, and set it as MCP_URL of the server.",
                client.label()
            );
            assert_eq!(notice(client, url), Some(expected));
        }
        assert_eq!(notice(McpClient::Cursor, url), None);
    }
    for url in [
        URL,
        "https://203.0.113.7/mcp",
        "https://100.128.0.1/mcp",
        "https://[2001:db8::1]/mcp",
    ] {
        assert_eq!(notice(McpClient::Claude, url), None, "{url}");
    }
}

#[test]
fn names_are_words_of_every_client() {
    for name in [
        "", "-x", "--scope", "_x", "a b", "a.b", "a\"b", "a'b", "a;id", "é", "a\n", "a]",
    ] {
        assert_eq!(
            McpServer::new(name, URL),
            Err(InvalidServer::Name(name.to_owned())),
            "{name:?}"
        );
    }
    assert!(McpServer::new(&"a".repeat(64), URL).is_ok());
    assert!(McpServer::new(&"a".repeat(65), URL).is_err());
}

#[test]
fn urls_are_full_and_hold_no_credential() {
    for url in [
        "",
        "mcp.example.com",
        "/mcp",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https://user@h.example/mcp",
        "https://:secret@h.example/mcp",
        "https://h.example/mcp#part",
        "https://h.example/a b",
        " https://h.example/mcp",
        "https://h.example/mcp\n",
        "https://h.example/\"",
        "https://h.example/\\",
        "https://h.example/`id`",
        "https://h.example/é",
    ] {
        assert_eq!(
            McpServer::new("s", url),
            Err(InvalidServer::Url(url.to_owned())),
            "{url:?}"
        );
    }
}

#[test]
fn odd_urls_stay_inside_quotes_of_the_shell() {
    let line = McpClient::Codex.setup(&odd_server()).command.unwrap().to_string();
    assert_eq!(
        line,
        r"codex mcp add my-seo_2 --url 'https://seo.example.com/a'\''b$(id)!*,;%22,%22command%22:%22x?q=~~~???&r=+@'"
    );
    assert_eq!(quote_for_shell(""), "''");
    assert_eq!(
        quote_for_shell("a'; rm -rf \"$HOME\" '"),
        r#"'a'\''; rm -rf "$HOME" '\'''"#
    );
}

#[test]
fn odd_urls_stay_inside_strings_of_json_and_toml() {
    for client in McpClient::ALL {
        let Some(entry) = client.setup(&odd_server()).config else {
            continue;
        };
        assert_eq!(entry.value["url"], ODD_URL, "{client}");
        if entry.format == ConfigFormat::Json {
            let read: Value = serde_json::from_str(&entry.snippet()).unwrap();
            let pointer = format!("/{}/my-seo_2", entry.table.join("/"));
            assert_eq!(read.pointer(&pointer), Some(&entry.value), "{client}");
        }
    }
    let toml = McpClient::Codex.setup(&odd_server()).config.unwrap().snippet();
    assert_eq!(toml, format!("[mcp_servers.my-seo_2]\nurl = \"{ODD_URL}\"\n"));
}

#[test]
fn odd_urls_survive_links_that_are_decoded_twice() {
    let link = McpClient::VsCode.setup(&odd_server()).link.unwrap();
    let query = link.strip_prefix("vscode:mcp/install?").unwrap();
    let decode = |text: &str| {
        percent_encoding::percent_decode_str(text)
            .decode_utf8()
            .unwrap()
            .into_owned()
    };
    let once = decode(query);
    let twice = decode(&once);
    assert_eq!(once, twice);
    let read: Value = serde_json::from_str(&twice).unwrap();
    assert_eq!(
        read,
        json!({ "name": "my-seo_2", "type": "http", "url": ODD_URL })
    );
}

#[test]
fn odd_urls_survive_the_base64_of_cursor() {
    let link = McpClient::Cursor.setup(&odd_server()).link.unwrap();
    let config = query_member(&link, "config");
    // A second decoding of the query would turn `+` into a space.
    assert!(!config.contains(['+', '/', ' ']), "{config}");
    let read: Value = serde_json::from_slice(&STANDARD.decode(config).unwrap()).unwrap();
    assert_eq!(read, json!({ "url": ODD_URL }));
    assert_eq!(query_member(&link, "name"), "my-seo_2");
    let claude = McpClient::Claude.setup(&odd_server()).link.unwrap();
    assert_eq!(query_member(&claude, "connectorUrl"), ODD_URL);
}

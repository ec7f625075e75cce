//! Edits of the configuration files of other programs, as text: what is not ours keeps its order, comments and spaces.
//!
//! A new text is parsed again and compared with what was meant, so that a form of a file that is not foreseen here is
//! refused and never damaged.

use std::collections::{BTreeMap, HashMap};

use searchwright_contract::mcp_clients::{ConfigEntry, ConfigFormat};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// Members that hold the URL of a server; the second one is an older form of Gemini CLI.
const URL_MEMBERS: &[&str] = &["url", "httpUrl"];

/// Entry under the name of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Existing {
    /// There is none.
    Absent,
    /// A server at the same URL, or the same program.
    SameUrl,
    /// A server at another URL.
    OtherUrl(String),
    /// Something that is not a server with a URL.
    OtherKind,
}

/// Reason for which a file is not touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotEditable(String);

impl NotEditable {
    fn new(why: impl std::fmt::Display) -> Self {
        Self(why.to_string())
    }
}

/// Finds the entry under the name of the server. An empty text is a file without settings.
pub fn find_existing(text: &str, entry: &ConfigEntry) -> Result<Existing, NotEditable> {
    let root = parse(text, entry.format)?;
    let table = table_in(&root, entry);
    let server = table.iter().try_fold(&root, |at, name| at.get(*name));
    let Some(found) = server.and_then(|servers| servers.get(&entry.name)) else {
        return Ok(Existing::Absent);
    };
    if *found == entry.value {
        return Ok(Existing::SameUrl);
    }
    if entry.value.get("url").is_none() {
        // An entry that starts a program takes the place of no other.
        return Ok(Existing::OtherKind);
    }
    let url = URL_MEMBERS.iter().find_map(|member| found.get(*member)?.as_str());
    Ok(match url {
        Some(url) if entry.value["url"] == url => Existing::SameUrl,
        Some(url) => Existing::OtherUrl(url.to_owned()),
        None => Existing::OtherKind,
    })
}

/// Returns the text with the entry added, or with the URL of the existing entry replaced.
pub fn set_entry(text: &str, entry: &ConfigEntry) -> Result<String, NotEditable> {
    let mut wanted = parse(text, entry.format)?;
    let table = table_in(&wanted, entry);
    let changed = match entry.format {
        ConfigFormat::Json => set_in_json(text, table, entry)?,
        ConfigFormat::Toml => set_in_toml(text, entry)?,
    };
    let mut at = &mut wanted;
    for name in table {
        let object = at.as_object_mut().ok_or_else(|| not_an_object(name))?;
        at = object.entry(*name).or_insert_with(|| json!({}));
    }
    let servers = at.as_object_mut().ok_or_else(|| not_an_object(&entry.name))?;
    match servers.get_mut(&entry.name).and_then(Value::as_object_mut) {
        Some(server) => {
            let member = URL_MEMBERS.iter().find(|m| server.contains_key(**m));
            server.insert((*member.unwrap_or(&"url")).to_owned(), entry.value["url"].clone());
        }
        None => {
            servers.insert(entry.name.clone(), entry.value.clone());
        }
    }
    if parse(&changed, entry.format).as_ref() != Ok(&wanted) {
        return Err(NotEditable::new("its form does not allow a safe change"));
    }
    Ok(changed)
}

fn not_an_object(name: &str) -> NotEditable {
    NotEditable::new(format!("{name:?} is in a place that holds no table"))
}

fn parse(text: &str, format: ConfigFormat) -> Result<Value, NotEditable> {
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    let value: Value = match format {
        ConfigFormat::Json => serde_json::from_str(text)
            .map_err(|e| NotEditable::new(format!("it is not plain JSON (comments count as faults): {e}")))?,
        ConfigFormat::Toml => toml::from_str(text).map_err(|e| NotEditable::new(e.message()))?,
    };
    match value {
        Value::Object(_) => Ok(value),
        _ => Err(NotEditable::new("it holds no object")),
    }
}

/// Table of servers of this file: the newer one when the file has it already. A server of that name is no table.
fn table_in(root: &Value, entry: &ConfigEntry) -> &'static [&'static str] {
    let is_table = |path: &[&str]| {
        let found = path.iter().try_fold(root, |at, name| at.get(*name));
        found.is_some_and(|v| v.is_object() && !v.get("type").is_some_and(Value::is_string))
    };
    entry
        .newer_table
        .filter(|newer| is_table(newer))
        .unwrap_or(entry.table)
}

/// Part of a JSON text.
#[derive(Clone, Copy)]
struct Span<'a> {
    whole: &'a str,
    text: &'a str,
}

impl<'a> Span<'a> {
    fn start(self) -> usize {
        // Both are the same allocation: a `RawValue` borrows from the text that is parsed.
        self.text.as_ptr() as usize - self.whole.as_ptr() as usize
    }

    fn members(self) -> Result<HashMap<String, &'a RawValue>, NotEditable> {
        serde_json::from_str(self.text).map_err(NotEditable::new)
    }

    /// Returns the value of a member; an error if this is no object.
    fn member(self, name: &str) -> Result<Option<Self>, NotEditable> {
        if !self.text.starts_with('{') {
            return Err(not_an_object(name));
        }
        Ok(self.members()?.get(name).map(|raw| Self {
            whole: self.whole,
            text: raw.get(),
        }))
    }

    fn replace(self, with: &str) -> String {
        let end = self.start() + self.text.len();
        format!("{}{with}{}", &self.whole[..self.start()], &self.whole[end..])
    }

    /// Adds a member at the end of an object, `depth` levels below the root, indented as the rest of the file.
    fn insert(self, depth: usize, name: &str, value: &Value) -> Result<String, NotEditable> {
        let unit = indentation(self.whole);
        let (outer, inner) = (unit.repeat(depth), unit.repeat(depth + 1));
        let member = format!("{}: {}", json!(name), pretty(value, unit, depth + 1)?);
        let body = self.text[1..self.text.len() - 1].trim_end();
        if body.trim_start().is_empty() {
            return Ok(self.replace(&format!("{{\n{inner}{member}\n{outer}}}")));
        }
        let at = self.start() + 1 + body.len();
        Ok(format!(
            "{},\n{inner}{member}{}",
            &self.whole[..at],
            &self.whole[at..]
        ))
    }
}

/// White space at the beginning of the first indented line.
fn indentation(text: &str) -> &str {
    let blank = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let indented = text
        .lines()
        .find(|line| blank(line) > 0 && !line.trim().is_empty());
    indented.map_or("  ", |line| &line[..blank(line)])
}

fn pretty(value: &Value, unit: &str, depth: usize) -> Result<String, NotEditable> {
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
    serde::Serialize::serialize(value, &mut serializer).map_err(NotEditable::new)?;
    let text = String::from_utf8(text).map_err(NotEditable::new)?;
    Ok(text.replace('\n', &format!("\n{}", unit.repeat(depth))))
}

fn set_in_json(text: &str, table: &[&str], entry: &ConfigEntry) -> Result<String, NotEditable> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let mut at = Span {
        whole: text,
        text: text.trim(),
    };
    for (depth, name) in table.iter().enumerate() {
        match at.member(name)? {
            Some(inner) => at = inner,
            None => {
                let mut value = json!({ entry.name.as_str(): entry.value });
                for missing in table[depth + 1..].iter().rev() {
                    value = json!({ *missing: value });
                }
                return at.insert(depth, name, &value);
            }
        }
    }
    let Some(server) = at.member(&entry.name)? else {
        return at.insert(table.len(), &entry.name, &entry.value);
    };
    for member in URL_MEMBERS {
        if let Some(url) = server.member(member)? {
            return Ok(url.replace(&entry.value["url"].to_string()));
        }
    }
    Err(NotEditable::new(format!(
        "{:?} is another kind of server",
        entry.name
    )))
}

/// Servers of a configuration file of Codex, the only client with TOML.
#[derive(Deserialize)]
struct CodexConfig {
    #[serde(default)]
    mcp_servers: BTreeMap<String, CodexServer>,
}

#[derive(Deserialize)]
struct CodexServer {
    url: Option<toml::Spanned<String>>,
}

fn set_in_toml(text: &str, entry: &ConfigEntry) -> Result<String, NotEditable> {
    let config: CodexConfig = toml::from_str(text).map_err(|e| NotEditable::new(e.message()))?;
    let Some(server) = config.mcp_servers.get(&entry.name) else {
        let gap = match text {
            "" => "",
            _ if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        return Ok(format!("{text}{gap}{}", entry.snippet()));
    };
    let url = server
        .url
        .as_ref()
        .ok_or_else(|| NotEditable::new(format!("{:?} is another kind of server", entry.name)))?;
    let span = url.span();
    let value = entry.value["url"].to_string();
    Ok(format!("{}{value}{}", &text[..span.start], &text[span.end..]))
}

#[cfg(test)]
mod tests {
    use searchwright_contract::mcp_clients::{McpClient, McpServer};

    use super::*;

    const URL: &str = "https://seo.example.com/mcp";

    fn entry(client: McpClient) -> ConfigEntry {
        let server = McpServer::new("searchwright", URL).unwrap();
        client.setup(&server).config.unwrap()
    }

    fn edit(client: McpClient, text: &str) -> String {
        let entry = entry(client);
        let changed = set_entry(text, &entry).unwrap();
        assert_eq!(find_existing(&changed, &entry), Ok(Existing::SameUrl));
        changed
    }

    #[test]
    fn new_file_is_the_snippet() {
        for client in McpClient::ALL.iter().filter(|c| c.cloud().is_none()) {
            assert_eq!(edit(*client, ""), entry(*client).snippet(), "{client}");
        }
        assert_eq!(edit(McpClient::Cursor, " \n"), entry(McpClient::Cursor).snippet());
    }

    #[test]
    fn other_settings_keep_their_form() {
        let text = "{\n\t\"theme\":   \"dark\",\n\t\"big\": 12345678901234567890123,\n\t\"mcpServers\": {\n\t\t\"b\": { \"command\": \"x\" }\n\t},\n\t\"a\": [1,2]\n}\n";
        assert_eq!(
            edit(McpClient::Cursor, text),
            "{\n\t\"theme\":   \"dark\",\n\t\"big\": 12345678901234567890123,\n\t\"mcpServers\": {\n\t\t\"b\": { \"command\": \"x\" },\n\t\t\"searchwright\": {\n\t\t\t\"url\": \"https://seo.example.com/mcp\"\n\t\t}\n\t},\n\t\"a\": [1,2]\n}\n"
        );
        assert_eq!(
            edit(McpClient::GeminiCli, "{\n    \"a\": 1\n}"),
            "{\n    \"a\": 1,\n    \"mcpServers\": {\n        \"searchwright\": {\n            \"url\": \"https://seo.example.com/mcp\",\n            \"type\": \"http\"\n        }\n    }\n}"
        );
        assert_eq!(
            edit(McpClient::VsCode, r#"{"servers":{},"inputs":[]}"#),
            "{\"servers\":{\n    \"searchwright\": {\n      \"type\": \"http\",\n      \"url\": \"https://seo.example.com/mcp\"\n    }\n  },\"inputs\":[]}"
        );
    }

    #[test]
    fn url_of_an_entry_is_replaced_and_the_rest_of_it_stays() {
        let old = r#"{"mcpServers":{"searchwright":{"httpUrl": "http://old/mcp" ,"timeout":5}}}"#;
        let entry = entry(McpClient::GeminiCli);
        assert_eq!(
            find_existing(old, &entry),
            Ok(Existing::OtherUrl("http://old/mcp".to_owned()))
        );
        assert_eq!(
            edit(McpClient::GeminiCli, old),
            r#"{"mcpServers":{"searchwright":{"httpUrl": "https://seo.example.com/mcp" ,"timeout":5}}}"#
        );
    }

    #[test]
    fn toml_keeps_comments() {
        let text = "# mine\nmodel = \"x\" # best\n\n[mcp_servers.docs]\ncommand = \"docs\"";
        let changed = edit(McpClient::Codex, text);
        assert_eq!(
            changed,
            format!("{text}\n\n[mcp_servers.searchwright]\nurl = \"{URL}\"\n")
        );
        let old = "[mcp_servers]\nsearchwright = { url = 'http://old/mcp', enabled = true } # here\n";
        let entry = entry(McpClient::Codex);
        assert_eq!(
            find_existing(old, &entry),
            Ok(Existing::OtherUrl("http://old/mcp".to_owned()))
        );
        assert_eq!(
            edit(McpClient::Codex, old),
            format!("[mcp_servers]\nsearchwright = {{ url = \"{URL}\", enabled = true }} # here\n")
        );
    }

    #[test]
    fn opencode_2_keeps_its_servers_together() {
        let newer =
            r#"{ "mcp": { "servers": { "a": { "type": "remote", "url": "https://a.example/mcp" } } } }"#;
        let read: Value = serde_json::from_str(&edit(McpClient::OpenCode, newer)).unwrap();
        assert_eq!(read["mcp"]["servers"]["searchwright"]["url"], URL);
        assert_eq!(read["mcp"].as_object().unwrap().len(), 1);
        // A server of version 1 may have that name.
        let older = r#"{ "mcp": { "servers": { "type": "local", "command": ["x"] } } }"#;
        let read: Value = serde_json::from_str(&edit(McpClient::OpenCode, older)).unwrap();
        assert_eq!(read["mcp"]["searchwright"]["url"], URL);
    }

    #[test]
    fn files_that_are_not_understood_are_refused() {
        for (client, text) in [
            (McpClient::VsCode, "{\n  // mine\n  \"servers\": {}\n}"),
            (McpClient::VsCode, "{ \"servers\": {}, }"),
            (McpClient::Cursor, "[]"),
            (McpClient::Cursor, r#"{ "mcpServers": [] }"#),
            (McpClient::Cursor, r#"{ "mcpServers": null }"#),
            (McpClient::OpenCode, r#"{ "mcp": true }"#),
            (McpClient::Codex, "mcp_servers = {}\n"),
            (McpClient::Codex, "mcp_servers = 3\n"),
            (McpClient::Codex, "a = \n"),
        ] {
            assert!(set_entry(text, &entry(client)).is_err(), "{text}");
        }
    }

    #[test]
    fn entry_of_another_kind_is_not_replaced() {
        for (client, text) in [
            (
                McpClient::Cursor,
                r#"{"mcpServers":{"searchwright":{"command":"x"}}}"#,
            ),
            (McpClient::Codex, "[mcp_servers.searchwright]\ncommand = \"x\"\n"),
        ] {
            assert_eq!(find_existing(text, &entry(client)), Ok(Existing::OtherKind));
            assert!(set_entry(text, &entry(client)).is_err(), "{text}");
        }
    }
}

//! Logs hold what others send as data: no request makes a line of its own, or steers the terminal of whoever reads the log.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use crate::program::User;

/// Texts that would forge a line, colour a terminal, or show what is not there.
const HOSTILE: [&str; 5] = [
    "a\r\n1999-01-01T00:00:00Z  INFO forged",
    "a\nforged=1",
    "a\u{1b}[2J\u{1b}[31mforged",
    "a\u{202e}degrof\u{2066}",
    "a\u{85}forged\u{2028}forged\u{7}",
];

/// Sends a request by hand; characters that a client would refuse are sent as well.
fn send(server: &str, request: &str) {
    let mut stream = TcpStream::connect(server.trim_start_matches("http://")).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // the server may end the connection before it has read everything
    let _ = stream.read_to_end(&mut answer);
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn no_request_writes_a_line_of_its_own() {
    for format in ["text", "json"] {
        let user = User::new().with("SEARCHWRIGHT_LOG", "trace");
        let project = user.project("example.com");
        let (_, key) = user.key(&project, &[]);
        let server = user.serve(&["--set", &format!("log.format={format}")]);
        for text in HOSTILE {
            let escaped = percent(text);
            let form = format!("email={escaped}%40example.com&password={escaped}&next={escaped}");
            let register = serde_json::json!({ "client_name": text, "redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "none" })
                .to_string();
            let keyword = serde_json::json!({ "keyword": text, text: 1 }).to_string();
            let plain = text.replace(['\r', '\n'], " ");
            for (line, media, body) in [
                (format!("GET /v1/{escaped}?{escaped}={escaped}"), "text/plain", ""),
                (format!("GET /{escaped}"), "text/plain", ""),
                (format!("GET /share/{escaped}"), "text/plain", ""),
                (
                    "POST /login".to_owned(),
                    "application/x-www-form-urlencoded",
                    form.as_str(),
                ),
                (
                    "POST /oauth/register".to_owned(),
                    "application/json",
                    register.as_str(),
                ),
                (
                    format!("POST /v1/projects/{project}/keywords"),
                    "application/json",
                    keyword.as_str(),
                ),
            ] {
                let host = server.url.trim_start_matches("http://");
                send(
                    &server.url,
                    &format!(
                        "{line} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nSec-Fetch-Site: same-origin\r\nUser-Agent: {plain}\r\n\
                         X-Request-Id: {plain}\r\nContent-Type: {media}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                        body.len()
                    ),
                );
            }
        }
        let (_, log) = server.stop();
        assert!(log.lines().count() > 10, "{log}");
        let steers = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2066}\u{2028}".contains(c));
        for line in log.lines() {
            assert!(!line.contains(steers), "{format}: {line:?}");
            let is_forged = ["forged", "1999", " INFO"]
                .iter()
                .any(|start| line.starts_with(start));
            assert!(!is_forged, "{format}: {line:?}");
            if format == "json" && line.starts_with('{') {
                assert!(
                    serde_json::from_str::<serde_json::Value>(line).is_ok(),
                    "{line:?}"
                );
            }
        }
    }
}

//! Signing in from the command line, and what the profile then does by itself.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStderr},
};

use crate::program::{Outcome, Serving, User};

const PASSWORD: &str = "correct horse battery staple 7";

/// An operator's server with a project and a person.
fn installation() -> (User, Serving) {
    let operator = User::new();
    operator.project("example.com");
    let made = operator.tell(
        &[
            "admin",
            "user",
            "create",
            "--email",
            "ann@example.com",
            "--name",
            "Ann",
            "--role",
            "owner",
            "--password-stdin",
            "--json",
        ],
        PASSWORD,
    );
    assert_eq!(made.code, 0, "{made:?}");
    let server = operator.serve(&[]);
    (operator, server)
}

/// A browser of the person.
struct Browser {
    cookie: String,
}

impl Browser {
    fn ask(&mut self, method: &str, url: &str, form: Option<&str>) -> (String, String) {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let body = form.unwrap_or_default();
        write!(
            stream,
            "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: __Host-session={}\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            self.cookie,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, text) = answer.split_once("\r\n\r\n").unwrap();
        let header = |name: &str| {
            head.lines()
                .find_map(|line| line.strip_prefix(name))
                .map(|value| value.trim().to_owned())
        };
        if let Some(set) = header("set-cookie: __Host-session=") {
            self.cookie = set.split(';').next().unwrap().to_owned();
        }
        (header("location: ").unwrap_or_default(), text.to_owned())
    }

    fn sign_in(server: &Serving) -> Self {
        let mut browser = Self {
            cookie: String::new(),
        };
        let form = format!("email=ann%40example.com&password={}", PASSWORD.replace(' ', "+"));
        browser.ask("POST", &format!("{}/login", server.url), Some(&form));
        assert!(!browser.cookie.is_empty());
        browser
    }

    /// Decides on the consent page at this address, and goes where the server sends the browser.
    fn decide(&mut self, server: &Serving, page: &str, decision: &str) {
        let (_, text) = self.ask("GET", page, None);
        let mut form = format!("decision={decision}");
        for tag in text.split('<').filter(|tag| tag.starts_with("input")) {
            let value = |name: &str| {
                Some(
                    tag.split_once(&format!("{name}=\""))?
                        .1
                        .split('"')
                        .next()?
                        .to_owned(),
                )
            };
            let (Some(name), Some(value)) = (value("name"), value("value")) else {
                continue;
            };
            form += &format!("&{name}={}", value.replace(':', "%3A"));
        }
        let (location, text) = self.ask("POST", &format!("{}/oauth/authorize", server.url), Some(&form));
        assert!(location.starts_with("http://127.0.0.1:"), "{location} {text}");
        let (_, text) = self.ask("GET", &location, None);
        assert!(
            text.contains("go back to the terminal")
                || text.contains("Go back to the terminal")
                || text.contains("The terminal says why"),
            "{text}"
        );
    }
}

/// Standard error of a command that waits for a person, and the address with `part` in it that it printed.
fn begin(child: &mut Child, part: &str) -> (BufReader<ChildStderr>, String) {
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    loop {
        let mut line = String::new();
        assert!(err.read_line(&mut line).unwrap() > 0, "{said}");
        said += &line;
        if let Some(at) = line.find("http://").filter(|_| line.contains(part)) {
            let address = line[at..].trim().trim_end_matches(").").to_owned();
            return (err, address);
        }
    }
}

fn end(child: Child, mut err: BufReader<ChildStderr>) -> Outcome {
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    let mut outcome = Outcome::of(child);
    outcome.err = rest;
    outcome
}

/// Signs a user in by a browser in which the person decides so.
fn log_in(user: &User, server: &Serving, decision: &str) -> Outcome {
    log_in_for(user, server, decision, &[])
}

fn log_in_for(user: &User, server: &Serving, decision: &str, more: &[&str]) -> Outcome {
    let login = [&["login", "--no-browser", "--url", &server.url], more].concat();
    let mut child = user.command(&login).spawn().unwrap();
    let (err, page) = begin(&mut child, "/oauth/authorize?");
    Browser::sign_in(server).decide(server, &page, decision);
    end(child, err)
}

#[test]
fn person_signs_in_with_a_browser_and_out_again() {
    let (_operator, server) = installation();
    let user = User::new();
    let done = log_in(&user, &server, "allow");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("example.com"), "{done:?}");
    let me = user.run(&["whoami", "--json"]).json();
    assert_eq!(me["authorization"]["user"]["name"], "Ann", "{me}");
    let project = me["projects"][0]["id"].as_str().unwrap();
    let keywords = user.run(&["keywords", "list", "--project", project, "--json"]);
    assert_eq!(keywords.code, 0, "{keywords:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let file = user.path(".config/searchwright/profiles.toml");
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    user.run(&["whoami", "--url", "http://127.0.0.1:1"])
        .refuses(2, &["sent nowhere else", &server.url]);
    let same = format!("{}/v1/", server.url);
    assert_eq!(user.run(&["whoami", "--url", &same]).code, 0, "the same server");
    assert_eq!(user.run(&["logout"]).code, 0);
    user.run(&["whoami"]).refuses(3, &["login"]);
}

#[test]
fn declining_ends_the_sign_in() {
    let (_operator, server) = installation();
    let user = User::new();
    let done = log_in(&user, &server, "deny");
    assert_eq!((done.code, done.out.as_str()), (3, ""), "{done:?}");
    assert!(done.err.contains("declined"), "{done:?}");
    assert!(!user.path(".config/searchwright/profiles.toml").exists());
}

/// Makes the profile believe that its tokens have ended; its file and what was in it.
fn let_tokens_expire(user: &User) -> (std::path::PathBuf, String) {
    let file = user.path(".config/searchwright/profiles.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<String> = text
        .lines()
        .map(|line| match line.starts_with("expires_at") {
            true => "expires_at = 1".to_owned(),
            false => line.to_owned(),
        })
        .collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    (file, text)
}

#[test]
fn person_signs_in_for_mcp_beside_the_other_commands() {
    let (_operator, server) = installation();
    let user = User::new();
    assert_eq!(log_in(&user, &server, "allow").code, 0);
    let me = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me_get","arguments":{}}}"#;
    let asked = user.tell(&["mcp"], me);
    assert!(asked.out.contains("searchwright login --mcp"), "{asked:?}");
    let done = log_in_for(&user, &server, "allow", &["--mcp"]);
    assert_eq!(done.code, 0, "{done:?}");
    let known = user.run(&["profile", "list"]).out;
    assert!(known.contains("signed in, also for MCP"), "{known}");
    assert_eq!(user.run(&["whoami"]).code, 0);
    for _ in 0..2 {
        let answer = user.tell(&["mcp"], me).json();
        let who = &answer["result"]["structuredContent"]["authorization"]["user"]["name"];
        assert_eq!(who, "Ann", "{answer}");
        let_tokens_expire(&user);
    }
    let elsewhere = user.tell(&["mcp", "--mcp-url", "http://127.0.0.1:1/mcp"], me);
    assert!(elsewhere.out.contains("sent nowhere else"), "{elsewhere:?}");
    assert_eq!(user.run(&["logout"]).code, 0);
    assert!(
        user.tell(&["mcp", "--url", &server.url], me)
            .out
            .contains("no credential")
    );
}

#[test]
fn expired_token_is_refreshed_once_by_commands_that_run_at_once() {
    let (_operator, server) = installation();
    let user = User::new();
    assert_eq!(log_in(&user, &server, "allow").code, 0);
    let (file, text) = let_tokens_expire(&user);
    let commands: Vec<Child> = (0..4)
        .map(|_| user.command(&["whoami", "--json"]).spawn().unwrap())
        .collect();
    for command in commands {
        let outcome = Outcome::of(command);
        assert_eq!(outcome.code, 0, "{outcome:?}");
    }
    let refreshed = std::fs::read_to_string(&file).unwrap();
    assert_ne!(refreshed, text);
    assert_eq!(user.run(&["whoami"]).code, 0, "the family lives");
}

#[test]
fn person_signs_in_with_a_code_on_another_machine() {
    let (_operator, server) = installation();
    let user = User::new();
    let mut child = user
        .command(&["login", "--device", "--url", &server.url])
        .spawn()
        .unwrap();
    let (err, page) = begin(&mut child, "user_code=");
    let mut browser = Browser::sign_in(&server);
    let (_, text) = browser.ask("GET", &page, None);
    let field = |text: &str, name: &str| {
        let tags = text
            .split('<')
            .filter(|tag| tag.contains(&format!("name=\"{name}\"")));
        let value = tags.filter_map(|tag| tag.split_once("value=\"")).next();
        let (_, rest) = value.unwrap_or_else(|| panic!("no {name}: {text}"));
        rest.split('"').next().unwrap().to_owned()
    };
    let form = format!(
        "csrf={}&user_code={}",
        field(&text, "csrf"),
        field(&text, "user_code")
    );
    let device = format!("{}/device", server.url);
    let (_, text) = browser.ask("POST", &device, Some(&form));
    let form = format!("{form}&decision=allow");
    assert!(text.contains("name=\"decision\""), "{text}");
    let (_, text) = browser.ask("POST", &device, Some(&form));
    assert!(!text.contains("name=\"decision\""), "{text}");
    let done = end(child, err);
    assert_eq!(done.code, 0, "{done:?}");
    let scopes = user.run(&["whoami", "--json"]).json()["authorization"]["scopes"].to_string();
    assert!(
        scopes.contains("keywords:write") && !scopes.contains("content:publish"),
        "{scopes}"
    );
}

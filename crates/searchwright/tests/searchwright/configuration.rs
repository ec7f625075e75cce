//! Configuration: printed as it counts, read as it was printed; and what the doctor sees.

use std::{
    net::{TcpListener, TcpStream},
    process::Stdio,
    time::Duration,
};

use serde_json::Value;

use crate::program::User;

#[test]
fn what_is_printed_can_be_read() {
    let user = User::new();
    let set = [
        "config",
        "print",
        "--set",
        "limits.requests_per_minute=7",
        "--allow-outbound",
        "crawl=127.0.0.1:9",
        "--log",
        "debug",
    ];
    let printed = user.run(&set);
    assert_eq!((printed.code, printed.err.as_str()), (0, ""));
    assert!(printed.out.contains("requests_per_minute = 7\n"));
    std::fs::write(user.path("mine.toml"), &printed.out).unwrap();
    let again = user.run(&["config", "print", "--config", "mine.toml"]);
    assert_eq!(again.out, printed.out);
    let default = user.run(&["config", "print", "--default"]);
    assert_eq!(default.out, include_str!("../../../../config.default.toml"));
    std::fs::write(user.path("default.toml"), &default.out).unwrap();
    let bare = user.run(&["config", "print"]);
    assert_eq!(
        user.run(&["config", "print", "--config", "default.toml"]).out,
        bare.out
    );
}

#[test]
fn a_flag_beats_the_environment_and_that_beats_the_file() {
    let user = User::new()
        .with("SEARCHWRIGHT_LISTEN", "127.0.0.1:2")
        .with("SEARCHWRIGHT_CONFIG", "mine.toml");
    std::fs::write(
        user.path("mine.toml"),
        "listen = \"127.0.0.1:1\"\nmcp_listen = \"127.0.0.1:4\"\n[limits]\nconcurrent = 9\n",
    )
    .unwrap();
    let printed = user.run(&["config", "print"]).out;
    for line in [
        "listen = \"127.0.0.1:2\"",
        "mcp_listen = \"127.0.0.1:4\"",
        "concurrent = 9",
        "public_url = \"http://127.0.0.1:2\"",
    ] {
        assert!(printed.lines().any(|l| l == line), "{line} in {printed}");
    }
    assert!(
        user.run(&["config", "print", "--listen", "127.0.0.1:3"])
            .out
            .contains("\nlisten = \"127.0.0.1:3\"")
    );
}

/// `--set` is a flag like others: it counts more than a variable, and less than the flag of the setting's own.
#[test]
fn set_beats_the_environment() {
    let user = User::new()
        .with("SEARCHWRIGHT_LISTEN", "127.0.0.1:1")
        .with("SEARCHWRIGHT_LOG", "warn")
        .with("SEARCHWRIGHT_ALLOW_INSECURE_HTTP", "true")
        .with("SEARCHWRIGHT_TRUSTED_PROXIES", "10.0.0.1")
        .with("SEARCHWRIGHT_MCP_LISTEN", "127.0.0.1:4");
    let print = |more: &[&str]| user.run(&[&["config", "print", "--json"], more].concat()).json();
    let kept = print(&["--set", "limits.concurrent=9"]);
    assert_eq!(
        (
            &kept["listen"],
            &kept["log"]["level"],
            &kept["allow_insecure_http"]
        ),
        (&"127.0.0.1:1".into(), &"warn".into(), &true.into())
    );
    let set = print(&[
        "--set",
        "listen=127.0.0.1:2",
        "--set",
        "log.level=debug",
        "--set",
        "allow_insecure_http=false",
        "--set",
        "trusted_proxies=[\"10.0.0.2\"]",
    ]);
    assert_eq!(
        (&set["listen"], &set["log"]["level"], &set["allow_insecure_http"]),
        (&"127.0.0.1:2".into(), &"debug".into(), &false.into())
    );
    assert_eq!(set["trusted_proxies"], serde_json::json!(["10.0.0.2"]));
    assert_eq!(set["mcp_listen"], "127.0.0.1:4", "what was not set stays");
    let flag = print(&["--set", "listen=127.0.0.1:2", "--listen", "127.0.0.1:3"]);
    assert_eq!(flag["listen"], "127.0.0.1:3");

    let variables = User::new()
        .with("SEARCHWRIGHT_LISTEN", "127.0.0.1:1")
        .with("SEARCHWRIGHT_SET", "listen=127.0.0.1:2,limits.concurrent=9");
    let printed = variables.run(&["config", "print", "--json"]).json();
    assert_eq!(
        (&printed["listen"], &printed["limits"]["concurrent"]),
        (&"127.0.0.1:1".into(), &9.into()),
        "of two variables, the one of the setting's own"
    );
}

#[test]
fn what_is_wrong_is_named() {
    let user = User::new();
    std::fs::write(user.path("wrong.toml"), "[limits]\nrequests = 5\n").unwrap();
    std::fs::write(user.path("broken.toml"), "[limits\n").unwrap();
    for (file, words) in [
        ("wrong.toml", ["limits.requests", "config print"]),
        ("broken.toml", ["broken.toml", "error: "]),
        ("none.toml", ["none.toml", "error: "]),
    ] {
        user.run(&["config", "print", "--config", file])
            .refuses(2, &words);
        user.run(&["serve", "--config", file]).refuses(2, &words);
    }
}

#[test]
fn a_password_is_not_shown() {
    let user = User::new().with("DATABASE_URL", "postgres://me:hush@localhost/x");
    let printed = user.run(&["config", "print"]);
    assert!(
        printed.out.contains("postgres://me:***@localhost/x") && !printed.out.contains("hush"),
        "{printed:?}"
    );
    for outcome in [
        user.run(&["config", "print", "--help"]),
        user.run(&["migrate", "--database-url", "postgres://me:hush@127.0.0.1:1/x"]),
    ] {
        assert!(
            !outcome.out.contains("hush") && !outcome.err.contains("hush"),
            "{outcome:?}"
        );
    }
}

#[test]
fn a_server_that_runs_is_no_fault() {
    let user = User::new();
    let server = user.serve(&[]);
    let address = server.url.trim_start_matches("http://").to_owned();
    let seen = user
        .with("SEARCHWRIGHT_MCP_LISTEN", "127.0.0.1:0")
        .run(&["doctor", "--listen", &address]);
    assert_eq!(seen.code, 0, "{seen:?}");
    assert!(
        seen.out.contains("a server is running on this data folder"),
        "{seen:?}"
    );
}

/// A server on PostgreSQL locks no data folder, as one with another data folder: it is known by what it answers, on both of
/// its listeners.
#[test]
fn a_server_without_a_lock_is_asked() {
    let user = User::new();
    assert_eq!(user.run(&["migrate"]).code, 0);
    let free = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [api, mcp] = free.map(|listener| listener.local_addr().unwrap().to_string());
    let other = User::new();
    let mut server = other.command(&["serve", "--listen", &api, "--mcp-listen", &mcp]);
    let mut server = server.stderr(Stdio::null()).spawn().unwrap();
    while [&api, &mcp]
        .iter()
        .any(|address| TcpStream::connect(address).is_err())
    {
        assert_eq!(server.try_wait().unwrap(), None, "the server ended");
        std::thread::sleep(Duration::from_millis(50));
    }
    let seen = user.run(&["doctor", "--json", "--listen", &api, "--mcp-listen", &mcp]);
    server.kill().unwrap();
    server.wait().unwrap();
    let findings = seen.json();
    for (name, address) in [("listen", api), ("mcp_listen", mcp)] {
        let all = findings.as_array().unwrap();
        let finding = all.iter().find(|finding| finding["check"] == name).unwrap();
        assert_eq!(finding["ok"], true, "{finding}");
        assert_eq!(
            finding["detail"],
            format!("{address} is used; a Searchwright server is running there")
        );
    }
}

/// A database that is restored without its key, or beside another: the doctor says so, and no new key hides it.
#[test]
fn a_sealing_key_that_is_not_there_is_named() {
    let user = User::new()
        .with("SEARCHWRIGHT_LISTEN", "127.0.0.1:0")
        .with("SEARCHWRIGHT_MCP_LISTEN", "127.0.0.1:0");
    user.project("example.com");
    let path = user.path("data").join("sealing.key");
    let kept = std::fs::read(&path).unwrap();
    let is_named = |what: &str| {
        let ill = user.run(&["doctor"]);
        assert!(ill.code == 1 && ill.out.contains("FAIL sealing_key"), "{ill:?}");
        assert!(ill.out.contains(what) && ill.out.contains("restore"), "{ill:?}");
        let refused = user.run(&["serve"]);
        assert!(
            refused.code != 0 && refused.err.contains(what) && refused.err.contains("sealing.key"),
            "{refused:?}"
        );
    };
    std::fs::remove_file(&path).unwrap();
    is_named("is missing");
    assert!(
        !path.exists(),
        "no new key is made beside a database that has one"
    );
    std::fs::write(&path, [7; 32]).unwrap();
    is_named("is not the sealing key");
    std::fs::write(&path, "nonsense").unwrap();
    is_named("is no file of sealing keys");
    std::fs::write(&path, kept).unwrap();
    let healthy = user.run(&["doctor"]);
    assert!(
        healthy.code == 0 && healthy.out.contains("sealing_key"),
        "{healthy:?}"
    );
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let user = User::new()
        .with("SEARCHWRIGHT_LISTEN", "127.0.0.1:0")
        .with("SEARCHWRIGHT_MCP_LISTEN", "127.0.0.1:0");
    let fresh = user.run(&["doctor"]);
    assert_eq!(fresh.code, 1);
    assert!(fresh.out.contains("searchwright migrate"), "{fresh:?}");
    assert_eq!(user.run(&["migrate"]).code, 0);
    let healthy = user.run(&["doctor"]);
    assert_eq!((healthy.code, healthy.err.as_str()), (0, ""), "{healthy:?}");
    assert!(healthy.out.lines().all(|l| l.starts_with("ok ")), "{healthy:?}");
    let findings = user.run(&["doctor", "--json"]).json();
    assert!(
        findings
            .as_array()
            .unwrap()
            .iter()
            .all(|f| f["ok"] == true && f["check"].is_string() && f["detail"].is_string())
    );

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ill = user.run(&["doctor", "--json", "--listen", &address]);
    assert_eq!(ill.code, 1);
    let findings: Vec<Value> = serde_json::from_str(&ill.out).unwrap();
    let wrong: Vec<&Value> = findings.iter().filter(|f| f["ok"] == false).collect();
    assert_eq!(
        (wrong.len(), &wrong[0]["check"]),
        (1, &"listen".into()),
        "{ill:?}"
    );
    assert!(wrong[0]["fix"].as_str().unwrap().contains("another address"));
    let plain = user.run(&["doctor", "--listen", &address]);
    assert!(plain.code == 1 && plain.out.contains("FAIL listen"), "{plain:?}");

    let unreachable = user.run(&[
        "doctor",
        "--json",
        "--database-url",
        "postgres://me:hush@127.0.0.1:1/x?connect_timeout=1",
    ]);
    assert_eq!(unreachable.code, 1);
    assert!(
        unreachable.out.contains("\"check\":\"database\"") && !unreachable.out.contains("hush"),
        "{unreachable:?}"
    );
    let findings: Vec<Value> = serde_json::from_str(&unreachable.out).unwrap();
    let backups = findings.iter().find(|f| f["check"] == "backups").unwrap();
    assert!(
        backups["ok"] == true && backups["detail"].as_str().unwrap().contains("pg_dump"),
        "{backups}"
    );
}

/// A user with the environment of the container, on ports that are free.
fn create_container_user() -> User {
    let file = include_str!("../../../../Containerfile");
    let (_, environment) = file.split_once("\nENV ").unwrap();
    let (environment, _) = environment.split_once("\nEXPOSE").unwrap();
    let mut user = User::new();
    for line in environment.lines() {
        let (name, value) = line.trim_end_matches('\\').trim().split_once('=').unwrap();
        let value = match name {
            "SEARCHWRIGHT_DATA_DIR" => continue,
            name if name.ends_with("LISTEN") => format!("{}:0", value.rsplit_once(':').unwrap().0),
            _ => value.to_owned(),
        };
        user = user.with(name, &value);
    }
    assert_eq!(user.run(&["migrate"]).code, 0);
    user
}

#[test]
fn the_doctor_warns_in_a_container_and_fails_where_the_server_does_not_start() {
    let user = create_container_user();
    let finding = |more: &[&str]| -> (i32, Value) {
        let seen = user.run(&[&["doctor", "--json"], more].concat());
        let findings: Vec<Value> = serde_json::from_str(&seen.out).unwrap();
        let transport = findings.into_iter().find(|f| f["check"] == "transport");
        (seen.code, transport.unwrap())
    };
    let has = |finding: &Value, name: &str, words: &str| {
        let text = finding[name].as_str().unwrap_or_default();
        assert!(text.contains(words), "{words}: {finding}");
    };
    let (code, seen) = finding(&[]);
    assert_eq!(
        (code, &seen["ok"], &seen["warning"]),
        (0, &true.into(), &true.into())
    );
    has(&seen, "detail", "mcp_listen 0.0.0.0");
    has(&seen, "fix", "-p 127.0.0.1:8787:8787");
    let plain = user.run(&["doctor"]);
    assert!(
        plain.out.contains("WARN transport") && !plain.out.contains("FAIL"),
        "{plain:?}"
    );

    let (code, seen) = finding(&[
        "--public-url",
        "https://seo.example.com",
        "--mcp-url",
        "https://seo.example.com/mcp",
    ]);
    assert_eq!(
        (code, &seen["ok"], &seen["warning"]),
        (0, &true.into(), &Value::Null)
    );

    let open = ["--public-url", "http://seo.example.com"];
    let (code, seen) = finding(&open);
    assert_eq!((code, &seen["ok"]), (1, &false.into()));
    has(&seen, "detail", "public_url http://seo.example.com");
    has(&seen, "fix", "allow_insecure_http");
    user.run(&[&["serve"], &open[..]].concat())
        .refuses(1, &["without TLS"]);
    let (code, seen) = finding(&[&open[..], &["--allow-insecure-http"]].concat());
    assert_eq!((code, &seen["warning"]), (0, &true.into()));
    has(&seen, "fix", "PUBLIC_URL and MCP_URL");
}

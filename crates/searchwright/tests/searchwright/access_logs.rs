//! `logs import`: what is counted, what is printed, and what is sent to a server.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use crate::program::{Outcome, User, files};

/// Address of a visitor, which nobody else may learn.
const VISITOR: &str = "198.51.100.77";

fn line(address: &str, day: &str, path: &str, referrer: &str, agent: &str) -> String {
    format!(
        "{address} - - [{day}/Nov/2025:12:00:00 +0000] \"GET {path} HTTP/1.1\" 200 5 \"{referrer}\" \"{agent}\"\n"
    )
}

/// A log of two days: agents, an assistant's visitors, and people.
fn log() -> String {
    line(
        "10.0.0.1",
        "20",
        "/a?x=1",
        "-",
        "Mozilla/5.0 (compatible; GPTBot/1.2)",
    ) + &line(
        "10.9.0.1",
        "20",
        "/a",
        "-",
        "Mozilla/5.0 (compatible; GPTBot/1.2)",
    ) + &line(VISITOR, "21", "/b", "https://chatgpt.com/", "Mozilla/5.0")
        + &line(VISITOR, "21", "/b", "https://www.google.com/", "Mozilla/5.0")
        + "{\"time\":\"2025-11-21T10:00:00Z\",\"remote_addr\":\"10.0.0.1\",\"request\":\"GET /c HTTP/1.1\",\"status\":404,\"http_user_agent\":\"ClaudeBot/1.0\"}\n"
}

fn write(user: &User, name: &str, bytes: &[u8]) {
    std::fs::write(user.path(name), bytes).unwrap();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn agents(summary: &Value) -> Vec<String> {
    let rows = summary["agents"].as_array().unwrap().iter();
    rows.map(|row| {
        format!(
            "{} {} {} {} {} {}",
            row["agent"].as_str().unwrap(),
            row["purpose"].as_str().unwrap(),
            row["visits"],
            row["errors"],
            row["verified"],
            row["forged"]
        )
    })
    .collect()
}

#[test]
fn a_log_is_counted_on_this_machine() {
    let user = User::new();
    write(&user, "access.log", log().as_bytes());
    write(&user, "older.gz", &gzip(log().as_bytes()));
    let ranges =
        r#"{"creationTime":"x","prefixes":[{"ipv4Prefix":"10.0.0.0/24"},{"ipv6Prefix":"2001:db8::/32"}]}"#;
    write(&user, "gptbot.json", ranges.as_bytes());
    let summary = user
        .run(&[
            "logs",
            "import",
            "access.log",
            "older.gz",
            "--ranges",
            "GPTBot=gptbot.json",
            "--json",
        ])
        .json();
    assert_eq!(
        agents(&summary),
        ["GPTBot training 4 0 2 2", "ClaudeBot training 2 2 null null"]
    );
    assert_eq!(
        (&summary["lines"], &summary["firstDay"], &summary["lastDay"]),
        (&json!(10), &json!("2025-11-20"), &json!("2025-11-21"))
    );
    assert_eq!(
        summary["pages"][0],
        json!({ "page": "/a", "agent": "GPTBot", "visits": 4 })
    );
    assert_eq!(
        summary["referredPages"],
        json!([{ "page": "/b", "assistant": "chatgpt", "referrals": 2 }])
    );
    assert!(summary["notes"][0].as_str().unwrap().contains("a floor"));
    assert_eq!(summary["sent"], Value::Null);

    let Outcome { code, out, err } = user.tell(&["logs", "import", "-"], &log());
    assert_eq!(code, 0, "{err}");
    for words in ["GPTBot", "OpenAI", "/a", "chatgpt"] {
        assert!(out.contains(words), "{words} in {out}");
    }
    for words in ["nothing was sent", "a floor", "2025-11-20 to 2025-11-21"] {
        assert!(err.contains(words), "{words} in {err}");
    }
    assert!(!out.contains(VISITOR) && !err.contains(VISITOR));
}

#[test]
fn hostile_logs_are_no_trouble() {
    let user = User::new();
    let mut bytes = vec![b'x'; 1 << 20];
    bytes.extend_from_slice(b"\n\xff\xfe\xf0\n\n{\"a\n");
    bytes.extend_from_slice(line("1.1.1.1", "20", "/\u{1b}[31m", "-", "GPTBot/1.2").as_bytes());
    bytes.extend_from_slice(
        b"1.1.1.1 - - [21/Nov/2025:12:00:00 +0000] \"GET /\xe9 HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\"",
    );
    write(&user, "access.log", &bytes);
    let ended = user.run(&["logs", "import", "access.log"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.out.contains('\u{1b}') && ended.out.contains("GPTBot"));
    assert!(
        ended.err.contains("2 in no known format, 1 too long"),
        "{ended:?}"
    );

    write(&user, "other.log", b"a\nb\n");
    user.run(&["logs", "import", "other.log"])
        .refuses(1, &["none of the 2 lines", "combined"]);
    user.run(&["logs", "import", "missing.log"])
        .refuses(1, &["missing.log"]);
    let cut = gzip(log().as_bytes());
    write(&user, "cut.gz", &cut[..cut.len() - 5]);
    user.run(&["logs", "import", "cut.gz"]).refuses(1, &["cut.gz"]);
    user.run(&["logs", "import"]).refuses(2, &["FILE"]);
    write(&user, "ranges", b"10.0.0.0/24\n");
    user.run(&["logs", "import", "access.log", "--ranges", "Nobody=ranges"])
        .refuses(2, &["Nobody", "GPTBot"]);
    write(&user, "ranges.json", b"{\"prefixes\":[{\"ipv4Prefix\":\"x\"}]}");
    user.run(&["logs", "import", "access.log", "--ranges", "GPTBot=ranges.json"])
        .refuses(2, &["\"x\" is no network"]);
    user.run(&["logs", "import", "access.log", "--ranges", "GPTBot"])
        .refuses(2, &["AGENT=FILE"]);
}

#[test]
fn daily_sums_are_sent_and_replaced() {
    let operator = User::new();
    let project = operator.project("example.com");
    let (_, key) = operator.key(&project, &[]);
    let server = operator.serve(&[]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    write(&user, "access.log", log().as_bytes());
    let import = |more: &[&str]| {
        let arguments = [
            &["logs", "import", "access.log", "--json", "--project", &project],
            more,
        ]
        .concat();
        user.run(&arguments).json()["sent"].clone()
    };
    assert_eq!(import(&["--dry-run"]), Value::Null);
    let counts = |sent: &Value| {
        ["rows", "added", "replaced", "unchanged", "skipped"].map(|name| sent[name].as_u64().unwrap())
    };
    assert_eq!(counts(&import(&[])), [3, 3, 0, 0, 0]);
    assert_eq!(counts(&import(&[])), [3, 0, 0, 3, 0], "a log counts once");
    write(&user, "ranges", b"10.0.0.0/24");
    let verified = import(&["--ranges", "GPTBot=ranges"]);
    assert_eq!(counts(&verified), [3, 0, 1, 2, 0]);

    let reports = user
        .run(&[
            "reports",
            "get",
            "--from",
            "2025-11-20",
            "--to",
            "2025-11-22",
            "--json",
        ])
        .json();
    let log = &reports["accessLog"];
    assert_eq!((&log["visits"], &log["referrals"]), (&json!(3), &json!(1)));
    assert_eq!(agents(log)[0], "GPTBot training 2 0 1 1");
    assert_eq!(
        log["days"],
        json!([
            { "date": "2025-11-20", "visits": 2, "referrals": null },
            { "date": "2025-11-21", "visits": 1, "referrals": 1 },
            { "date": "2025-11-22", "visits": null, "referrals": null },
        ])
    );

    // A report of a vendor goes the same way.
    write(
        &user,
        "chart.csv",
        b"Date,Citations,Cited Pages\n2025-11-20,3,2\n",
    );
    let imported = user.run(&["reports", "import", "@chart.csv", "--json"]).json();
    assert_eq!(
        (&imported["format"], &imported["added"]),
        (&json!("bing_ai_performance"), &json!(1))
    );
    drop(server);
    for file in files(&operator.path("data")) {
        let bytes = std::fs::read(&file).unwrap();
        let found = bytes
            .windows(VISITOR.len())
            .any(|part| part == VISITOR.as_bytes());
        assert!(!found, "an address of a visitor in {}", file.display());
    }
}

//! Exports of audits, and audits without a server.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, TcpListener},
};

use serde_json::Value;

use crate::program::{User, files};

/// A website of hostile texts: a title that is a formula, another that is markup, and a link that leads nowhere.
fn website() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let path = lines
                .next()
                .unwrap()
                .unwrap()
                .split(' ')
                .nth(1)
                .unwrap()
                .to_owned();
            let (status, title) = match path.as_str() {
                "/" => (200, "=HYPERLINK(1)"),
                "/=cmd" => (200, "&lt;script>alert(1)&lt;/script>"),
                _ => (404, "nothing"),
            };
            let body = format!(
                "<!doctype html><html><head><title>{title}</title></head><body><a href='/=cmd'>on</a><a href='/gone'>x</a></body></html>"
            );
            write!(stream, "HTTP/1.1 {status} x\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    format!("http://{address}")
}

#[test]
fn an_audit_without_a_server_leaves_nothing_behind() {
    let user = User::new();
    let site = website();
    let report = user.path("report.sarif");
    let run = |more: &[&str]| user.run(&[&["audits", "run", &site], more].concat());
    let crossed = run(&[
        "--fail-on",
        "error",
        "--format",
        "sarif",
        "--output",
        report.to_str().unwrap(),
    ]);
    assert_eq!(crossed.code, 5, "{crossed:?}");
    for words in ["Health score", "How to verify: A recheck fetches"] {
        assert!(crossed.out.contains(words), "{crossed:?}");
    }
    let log: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run0 = &log["runs"][0];
    assert_eq!(run0["invocations"][0]["executionSuccessful"], true);
    let results = run0["results"].as_array().unwrap();
    let broken = results
        .iter()
        .find(|result| result["ruleId"] == "broken-internal-link")
        .unwrap();
    assert_eq!(broken["level"], "error");
    let place = &broken["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(place.as_str().unwrap().starts_with(&site));
    let region = &broken["locations"][0]["physicalLocation"]["region"];
    assert_eq!(
        region["startLine"],
        broken["properties"]["evidence"]["links"][0]["line"]
    );
    let rule = &run0["tool"]["driver"]["rules"][broken["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!(rule["id"], "broken-internal-link");
    let help = rule["help"]["text"].as_str().unwrap();
    assert!(help.contains("How to verify: A recheck fetches"), "{help}");
    assert_eq!(files(user.home.path()), [report], "nothing but the report");

    let fine = run(&["--fail-on", "score<1", "--json"]);
    assert_eq!(fine.code, 0, "{fine:?}");
    let all = fine.json();
    assert!(
        all["audit"]["healthScore"].is_number() && all["issues"][0]["occurrences"][0]["page_id"].is_string()
    );
    let found = |all: &Value, check: &str| {
        let mut issues = all["issues"].as_array().unwrap().iter();
        issues.find(|issue| issue["checkId"] == check).cloned()
    };
    assert_eq!(found(&all, "http-4xx").unwrap()["severity"], "notice");
    let own = [
        "severity.broken-internal-link=off",
        "severity.http-4xx=warning",
        "title-min=1",
    ];
    let own: Vec<&str> = own.iter().flat_map(|said| ["--check", said]).collect();
    let own = run(&[&own[..], &["--json"]].concat()).json();
    for check in ["broken-internal-link", "title-short"] {
        assert!(found(&all, check).is_some(), "{check}");
    }
    assert_eq!(found(&own, "broken-internal-link"), None);
    assert_eq!(found(&own, "title-short"), None);
    assert_eq!(found(&own, "http-4xx").unwrap()["severity"], "warning");
    run(&["--check", "title-mni=1"]).refuses(2, &["title-mni", "title-min"]);
    run(&["--output", "x"]).refuses(2, &["--format"]);
    run(&["--fail-on", "much"]).refuses(2, &["score<N"]);
    user.run(&["audits", "run", "ftp://example.com"])
        .refuses(2, &["http"]);
    user.run(&["audits", "run", "http://127.0.0.1:9"])
        .refuses(1, &["robots.txt could not be fetched"]);
}

/// With `--output`, standard output is still one JSON document.
#[test]
fn one_document_is_on_standard_output() {
    let (user, site) = (User::new(), website());
    let file = user.path("audit.sarif");
    let name = file.to_str().unwrap();
    let audit = user
        .run(&[
            "audits", "run", &site, "--json", "--format", "sarif", "--output", name,
        ])
        .json();
    assert_eq!(audit["status"], "completed", "{audit:#}");
    let log: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let message = &log["runs"][0]["results"][0]["message"]["text"];
    let message = message.as_str().unwrap();
    assert!(!message.contains(['{', '}', '[', ']']), "{message}");
}

#[test]
fn runs_of_one_website_write_the_same_in_the_same_order() {
    let (user, site) = (User::new(), website());
    let rows = || {
        let table = user.run(&["audits", "run", &site, "--format", "csv"]);
        assert_eq!(table.code, 0, "{table:?}");
        // behind the advice is what every run has anew: when a page was seen, and ids
        let row = |row: &str| row.rsplitn(4, ',').nth(3).map(str::to_owned);
        table.out.split("\r\n").filter_map(row).collect::<Vec<_>>()
    };
    let first = rows();
    assert!(first.len() > 10, "{first:?}");
    for _ in 0..2 {
        assert_eq!(rows(), first);
    }
}

/// Every run is a project of its own, and a pipeline compares what they found.
#[test]
fn fingerprints_are_the_same_in_every_run() {
    let (user, site) = (User::new(), website());
    let found = || {
        let log = user.run(&["audits", "run", &site, "--format", "sarif"]).json();
        let results = log["runs"][0]["results"].as_array().unwrap().clone();
        let told: BTreeSet<String> = results
            .iter()
            .map(|result| result["partialFingerprints"].to_string())
            .collect();
        assert_eq!(told.len(), results.len(), "each is told from every other");
        told
    };
    let first = found();
    assert!(first.len() > 10 && first.iter().all(|told| told.contains("\"checkAndUrl/v1\":\"")));
    assert_eq!(first, found());
}

#[test]
fn more_than_a_website_is_not_cut_to_one() {
    let (user, site) = (User::new(), website());
    let page = format!("{site}/gone");
    let way_out = format!("give {site}");
    for command in [&["audits", "run"][..], &["try", "--once"]] {
        let named = |target: &str| user.run(&[command, &[target]].concat());
        named(&page).refuses(2, &["TARGET", &way_out, "--include '/gone*'"]);
        named(&format!("{site}/?page=2")).refuses(2, &["TARGET", &way_out]);
        let secret = named(&site.replace("//", "//me:hush@"));
        secret.refuses(2, &["TARGET", &way_out]);
        assert!(!secret.err.contains("hush"), "{secret:?}");
    }
    let part = user.run(&["audits", "run", &site, "--include", "/gone*", "--json"]);
    let part = part.json();
    let mut issues = part["issues"].as_array().unwrap().iter();
    assert!(
        issues.any(|issue| issue["checkId"] == "http-4xx"),
        "the way out leads there: {part:#}"
    );
    let slash = user.run(&["audits", "run", &format!("{site}/"), "--json"]);
    assert_eq!(slash.code, 0, "{slash:?}");
}

#[test]
fn files_for_people_hold_no_live_text() {
    let user = User::new();
    let site = website();
    let table = user.run(&["audits", "run", &site, "--format", "csv"]);
    assert_eq!(table.code, 0, "{table:?}");
    let mut rows = table.out.split("\r\n");
    assert!(
        rows.next()
            .unwrap()
            .starts_with("\u{feff}severity,check,title,category,url,state")
    );
    assert!(!table.out.contains("{\"\""), "evidence is in words: {table:?}");
    assert!(rows.clone().count() > 10);
    for row in rows.filter(|row| !row.is_empty()) {
        assert!(!row.starts_with(['=', '+', '-', '@']), "{row}");
        assert!(!row.contains(",=") && !row.contains(",\"="), "{row}");
    }
    let page = user.run(&["audits", "run", &site, "--format", "html"]).out;
    assert!(
        page.contains("<svg") && page.contains("Broken internal link"),
        "{page}"
    );
    assert!(page.contains(" of 100</text>"), "{page}");
    assert!(
        page.contains("=HYPERLINK(1)") && !page.contains("<script"),
        "{page}"
    );
    assert!(!page.contains("src="), "it loads nothing");
    assert!(
        page.contains("<strong>How to verify:</strong> A recheck fetches"),
        "{page}"
    );
}

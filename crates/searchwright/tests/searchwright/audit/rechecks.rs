//! Rechecks on the command line: what is proven fixed, what is still there, what could not be told.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, TcpListener},
    sync::{Arc, Mutex},
};

use serde_json::json;

use super::Auditor;
use crate::program::Outcome;

/// State of a page of the website: without a title, with one, or not answering.
type Pages = Arc<Mutex<[&'static str; 3]>>;

const BARE: &str = "bare";
const TITLED: &str = "titled";
const DOWN: &str = "down";

fn website(pages: &Pages) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let pages = pages.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let first = BufReader::new(stream.try_clone().unwrap()).lines().next();
            let first = first.unwrap().unwrap();
            let path = first.split(' ').nth(1).unwrap();
            let states = *pages.lock().unwrap();
            let state = match path {
                "/" => Some(TITLED),
                "/0" => Some(states[0]),
                "/1" => Some(states[1]),
                "/2" => Some(states[2]),
                _ => None,
            };
            let title = if state == Some(TITLED) {
                "<title>A title that is long enough</title>"
            } else {
                ""
            };
            let status = match state {
                None => 404,
                Some(DOWN) => 503,
                Some(_) => 200,
            };
            let body = format!(
                "<!doctype html><html lang=en><head>{title}</head><body><a href='/0'>a</a><a href='/1'>b</a><a href='/2'>c</a></body></html>"
            );
            write!(stream, "HTTP/1.1 {status} x\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    format!("http://{address}")
}

#[test]
fn a_recheck_that_is_waited_for_says_what_is_fixed() {
    let pages: Pages = Arc::new(Mutex::new([BARE; 3]));
    let auditor = Auditor::of(&website(&pages));
    let server = auditor.serve();
    let run = |words: &[&str]| {
        let mut command = auditor.user.command(words);
        command
            .env("SEARCHWRIGHT_URL", &server.url)
            .env("SEARCHWRIGHT_KEY", &auditor.key);
        Outcome::of(command.spawn().unwrap())
    };
    assert_eq!(run(&["audits", "start", "--wait"]).code, 0);
    let issues = auditor.list(&server, "/issues");
    let issue = issues
        .iter()
        .find(|issue| issue["checkId"] == "title-missing")
        .unwrap();
    let id = issue["id"].as_str().unwrap();
    let found = auditor.list(&server, &format!("/issues/{id}/occurrences"));
    assert_eq!(found.len(), 3, "{found:#?}");
    let pairs = found
        .iter()
        .map(|at| json!({ "issue_id": at["issue_id"], "page_id": at["page_id"] }));
    let all = json!({ "occurrences": pairs.collect::<Vec<_>>() }).to_string();
    auditor.call(&server, "POST", "/occurrences/done", &all);

    *pages.lock().unwrap() = [TITLED, BARE, DOWN];
    let mixed = run(&["rechecks", "start", "--wait"]);
    assert_eq!(mixed.code, 6, "{mixed:?}");
    for said in [
        "proven fixed: 1",
        "still there: 1",
        "could not be told: 1",
        "/0",
        "/1",
        "/2",
    ] {
        assert!(mixed.out.contains(said), "{said}: {mixed:?}");
    }
    assert!(
        mixed
            .out
            .contains("1 proven fixed, 1 still there, 1 could not be told"),
        "{mixed:?}"
    );
    assert!(mixed.out.contains(issue["title"].as_str().unwrap()), "{mixed:?}");
    assert!(!mixed.out.contains(['{', '"']), "{mixed:?}");

    *pages.lock().unwrap() = [TITLED; 3];
    let rest: Vec<_> = auditor.list(&server, &format!("/issues/{id}/occurrences"));
    let open = rest.iter().filter(|at| at["state"] != "done");
    let pairs = open.map(|at| json!({ "issue_id": at["issue_id"], "page_id": at["page_id"] }));
    let left = json!({ "occurrences": pairs.collect::<Vec<_>>() }).to_string();
    auditor.call(&server, "POST", "/occurrences/done", &left);
    let fixed = run(&["rechecks", "start", "--wait", "--json"]);
    assert_eq!(fixed.code, 0, "{fixed:?}");
    let fixed = fixed.json();
    assert_eq!(fixed["job"]["status"], "succeeded", "{fixed:#}");
    assert_eq!(fixed["recheck"]["counts"]["resolved"], 2, "{fixed:#}");
    let id = fixed["recheck"]["id"].as_str().unwrap();
    let again = run(&["rechecks", "get", id]);
    assert!(again.out.contains("2 proven fixed, 0 still there"), "{again:?}");
    run(&["rechecks", "start", "--wait"]).refuses(4, &["no occurrence is marked as done"]);
    let with_evidence = issues
        .iter()
        .map(|issue| issue["id"].as_str().unwrap())
        .find(|id| {
            let found = auditor.list(&server, &format!("/issues/{id}/occurrences"));
            found.iter().any(|at| {
                at["evidence"]
                    .as_object()
                    .is_some_and(|evidence| !evidence.is_empty())
            })
        });
    let listed = run(&["issues", "occurrences", with_evidence.unwrap()]);
    assert!(
        !listed.out.contains('{') && listed.out.contains(": "),
        "{listed:?}"
    );
}

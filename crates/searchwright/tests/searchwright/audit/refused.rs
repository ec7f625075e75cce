//! Websites that do not let themselves be seen, audited without a server.

use super::hostile::site::{Answer, Hostile, html, links};
use crate::program::User;

const PAGES: [&str; 6] = ["/a", "/b", "/c", "/d", "/e", "/f"];

fn refusal() -> Answer {
    Answer::Is(403, "content-type: text/html\r\n".into(), b"<title>No".into())
}

fn mostly(path: &str, _: u16, _: usize) -> Option<Answer> {
    match path {
        "/" => Some(html(links(PAGES))),
        path if PAGES.contains(&path) => Some(refusal()),
        _ => None,
    }
}

fn wholly(path: &str, _: u16, _: usize) -> Option<Answer> {
    (path == "/").then(refusal)
}

fn silent(path: &str, _: u16, _: usize) -> Option<Answer> {
    (path == "/").then(|| Answer::Pours(Vec::new(), Vec::new()))
}

fn without_robots(path: &str, _: u16, _: usize) -> Option<Answer> {
    (path == "/robots.txt").then(|| Answer::Is(500, String::new(), Vec::new()))
}

#[test]
fn a_site_that_was_not_seen_is_not_fine() {
    let user = User::new();
    let hostile = Hostile::start(mostly);
    let run = |more: &[&str]| user.run(&[&["audits", "run", &hostile.origin], more].concat());
    let told = run(&["--json"]);
    assert_eq!(told.code, 0, "{told:?}");
    let audit = &told.json()["audit"];
    assert_eq!(
        (&audit["status"], &audit["termination"], &audit["scoreIsPartial"]),
        (&"partial".into(), &"blocked".into(), &true.into()),
        "{audit}"
    );
    let log = run(&["--format", "sarif"]).json();
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false, "{invocation}");
    let judged = run(&["--fail-on", "error"]);
    assert!(
        judged.code == 5 || judged.code == 1 && judged.err.contains("blocked"),
        "{judged:?}"
    );
    let judged = run(&["--fail-on", "score<1"]);
    assert_eq!(judged.code, 1, "{judged:?}");
    assert!(judged.err.contains("(blocked)"), "{judged:?}");

    for (site, words) in [
        (
            wholly as fn(&str, u16, usize) -> Option<Answer>,
            ["start page answered 403", "refuses the crawler"],
        ),
        (silent, ["start page gave no answer", "does not answer"]),
        (without_robots, ["/robots.txt could not be fetched", "status 500"]),
    ] {
        let hostile = Hostile::start(site);
        user.run(&["audits", "run", &hostile.origin, "--fail-on", "error"])
            .refuses(1, &words);
    }
}

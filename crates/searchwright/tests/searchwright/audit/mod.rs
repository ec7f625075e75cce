//! Whole audits by the program: of a website whose faults are known one by one, and across the death of the process.

mod exports;
mod faults;
mod hostile;
mod rechecks;
mod refused;
pub mod website;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::program::{Serving, User};
use website::Website;

const PAGES: u32 = 300;
/// Links shown of a page, to it and from it.
const MAX_LINKS: u64 = 50;

/// Evidence by check and URL.
type Findings = BTreeMap<String, BTreeMap<String, Value>>;
type Set = BTreeSet<Vec<String>>;

/// Somebody with a project for the website.
struct Auditor {
    user: User,
    project: String,
    key: String,
    address: String,
}

impl Auditor {
    fn new(website: &Website) -> Self {
        Self::of(&website.expected.origin)
    }

    fn of(origin: &str) -> Self {
        let user = User::new();
        let project = user.project(origin);
        let (_, key) = user.key(&project, &[]);
        let address = origin.trim_start_matches("http://").to_owned();
        Self {
            user,
            project,
            key,
            address,
        }
    }

    fn serve(&self) -> Serving {
        let allowed = format!("crawl={}", self.address);
        let wide = |name: &str| format!("limits.{name}=100000");
        self.user.serve(&[
            "--allow-outbound",
            &allowed,
            "--set",
            &wide("requests_per_minute"),
            "--set",
            &wide("requests_per_minute_and_project"),
        ])
    }

    /// Answer to a request below the project.
    fn call(&self, server: &Serving, method: &str, path: &str, body: &str) -> Value {
        let host = server.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        let request = format!(
            "{method} /v1/projects/{}{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.project,
            self.key,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 20"), "{path}: {answer}");
        serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {answer}"))
    }

    fn start(&self, server: &Serving) {
        self.call(server, "POST", "/audits", r#"{"maxPages":1000}"#);
    }

    /// The newest audit once this holds for it.
    fn current(&self, server: &Serving, holds: impl Fn(&Value) -> bool) -> Value {
        let times = 0..100_000;
        let mut asked = times.map(|_| self.call(server, "GET", "/audits/current", ""));
        asked.find(holds).unwrap()
    }

    fn ended(&self, server: &Serving) -> Value {
        let active = ["queued", "crawling", "analyzing"];
        self.current(server, |audit| {
            !active.contains(&audit["status"].as_str().unwrap())
        })
    }

    fn list(&self, server: &Serving, path: &str) -> Vec<Value> {
        let mut all = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = self.call(server, "GET", &format!("{path}?limit=100{cursor}"), "");
            all.extend(page["data"].as_array().unwrap().iter().cloned());
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return all,
            }
        }
    }

    fn findings(&self, server: &Serving) -> Findings {
        let of = |issue: &Value| {
            let path = format!("/issues/{}/occurrences", text(&issue["id"]));
            let found = self.list(server, &path);
            assert_eq!(issue["affectedPages"], found.len(), "{issue}");
            let found = found.iter().map(|o| (text(&o["url"]), o["evidence"].clone()));
            (text(&issue["checkId"]), found.collect())
        };
        self.list(server, "/issues").iter().map(of).collect()
    }

    /// Of every fifth page how many link there, from where as far as all are shown, and where its own links lead.
    fn page_links(&self, server: &Serving) -> BTreeMap<String, Value> {
        let of = |page: &Value| {
            let page = self.call(server, "GET", &format!("/pages/{}", text(&page["id"])), "");
            assert_eq!(page["linksStatus"], Value::Null, "{page}");
            let member = |links: &Value, names: &[&str]| -> Vec<Value> {
                let links = links["data"].as_array().unwrap().iter();
                links
                    .map(|link| names.iter().map(|name| link[*name].clone()).collect())
                    .collect()
            };
            let total = &page["linksIn"]["total"];
            let mut from = member(&page["linksIn"], &["url", "anchor", "followable"]);
            from.sort_by_key(Value::to_string);
            let shown = (from.len() as u64) < MAX_LINKS || *total == MAX_LINKS;
            assert!(shown || total.as_u64() > Some(MAX_LINKS), "{page}");
            let to = member(&page["linksOut"], &["url", "anchor", "statusCode", "failure"]);
            (text(&page["url"]), json!([total, shown.then_some(from), to]))
        };
        self.list(server, "/pages").iter().step_by(5).map(of).collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The URLs that a check was found on.
fn places(found: &Findings, check: &str) -> Set {
    found[check].keys().map(|url| vec![url.clone()]).collect()
}

/// Each URL with this member of the links in its evidence.
fn links(found: &Findings, check: &str) -> Set {
    let links = |(url, evidence): (&String, &Value)| {
        let targets = evidence["links"].as_array().unwrap().clone();
        targets
            .into_iter()
            .map(|link| vec![url.clone(), text(&link["linkUrl"])])
            .collect::<Vec<_>>()
    };
    found[check].iter().flat_map(links).collect()
}

/// Groups of URLs that share something.
fn groups(found: &Findings, check: &str) -> Set {
    let group = |(url, evidence): (&String, &Value)| {
        let others = evidence["urls"].as_array().unwrap().iter().map(text);
        let mut all: Vec<String> = others.chain([url.clone()]).collect();
        all.sort();
        all
    };
    found[check].iter().map(group).collect()
}

fn singles(urls: &[String]) -> Set {
    urls.iter().map(|url| vec![url.clone()]).collect()
}

fn pairs(pairs: &[[String; 2]]) -> Set {
    let sorted = pairs.iter().map(|pair| {
        let mut pair = pair.to_vec();
        pair.sort();
        pair
    });
    sorted.collect()
}

#[test]
fn keywords_come_from_the_pages_of_an_audit() {
    let website = Website::new(PAGES);
    let auditor = Auditor::new(&website);
    let server = auditor.serve();
    let generate = |body: &str| {
        let job = auditor.call(&server, "POST", "/keywords/generate", body)["job"]["id"].clone();
        let path = format!("/jobs/{}", text(&job));
        let times = 0..100_000;
        let mut asked = times.map(|_| auditor.call(&server, "GET", &path, ""));
        let active = ["queued", "running"];
        let ended = asked.find(|job| !active.contains(&job["status"].as_str().unwrap()));
        let ended = ended.unwrap();
        assert_eq!(ended["status"], "succeeded", "{ended}");
        ended["result"].clone()
    };
    let nothing = generate(r#"{"count":10}"#);
    assert_eq!(
        (&nothing["added"], &nothing["looked"]["pages"]),
        (&json!(0), &json!(0))
    );
    assert!(text(&nothing["next"]).contains("start an audit"), "{nothing}");
    auditor.start(&server);
    auditor.ended(&server);
    let dry = generate(r#"{"count":10,"dryRun":true}"#);
    assert_eq!(dry["keywords"].as_array().unwrap().len(), 10, "{dry}");
    assert!(dry["looked"]["pages"].as_u64().unwrap() > 200, "{dry}");
    assert!(auditor.list(&server, "/keywords").is_empty());
    let first = generate(r#"{"count":10}"#);
    assert_eq!(first["added"], 10, "{first}");
    let keywords = auditor.list(&server, "/keywords");
    let pages = auditor.list(&server, "/pages");
    let pages: BTreeSet<String> = pages.iter().map(|page| text(&page["url"])).collect();
    for keyword in &keywords {
        assert_eq!(
            (
                &keyword["status"],
                &keyword["searchVolume"],
                &keyword["intentSource"]
            ),
            (&json!("new"), &Value::Null, &json!("rules"))
        );
        let places = keyword["sources"].as_array().unwrap();
        assert!(!places.is_empty(), "{keyword}");
        for place in places.iter().filter(|p| p["source"] == "site_content") {
            assert!(
                pages.contains(&text(&place["place"])),
                "{place} is a page of the site"
            );
        }
    }
    let second = generate(r#"{"count":10}"#);
    assert_eq!(second["added"], 10, "what is known is not found again: {second}");
    let usage = auditor.call(&server, "GET", "/usage", "");
    let quotas = usage["quotas"].as_array().unwrap().iter();
    let used: Vec<&Value> = quotas
        .filter(|q| q["metric"] == "keywords_generated")
        .map(|q| &q["used"])
        .collect();
    assert_eq!(used, [&json!(20)], "what was not found is not counted");
}

#[test]
fn an_audit_finds_what_is_wrong_and_nothing_else() {
    let website = Website::new(PAGES);
    let auditor = Auditor::new(&website);
    let server = auditor.serve();
    auditor.start(&server);
    let audit = auditor.ended(&server);
    assert_eq!(
        (&audit["status"], &audit["termination"]),
        (&json!("completed"), &json!("complete")),
        "{audit}"
    );
    let found = auditor.findings(&server);
    let expected = &website.expected;
    let broken = || expected.broken_links.iter();
    let pointed_at = |status| {
        let linked = expected.redirects.iter().filter(move |r| r.status == status);
        linked.filter_map(|r| Some(vec![r.linked_from.clone()?, r.url.clone()]))
    };
    let chain = &expected.redirect_chain;
    for (what, seen, planted) in [
        (
            "broken links",
            links(&found, "broken-internal-link"),
            broken().map(|b| vec![b.page.clone(), b.target.clone()]).collect(),
        ),
        (
            "missing pages",
            places(&found, "http-4xx"),
            broken().map(|b| vec![b.target.clone()]).collect(),
        ),
        (
            "links to redirects",
            links(&found, "link-to-redirect"),
            pointed_at(301).collect(),
        ),
        (
            "chains",
            places(&found, "redirect-chain"),
            singles(&chain[..chain.len() - 2]),
        ),
        (
            "loops",
            places(&found, "redirect-loop"),
            singles(&expected.redirect_loop),
        ),
        (
            "titles",
            groups(&found, "title-duplicate"),
            pairs(&expected.duplicate_titles),
        ),
        (
            "texts",
            groups(&found, "duplicate-exact"),
            pairs(&expected.duplicate_bodies),
        ),
        (
            "descriptions",
            places(&found, "description-missing"),
            singles(&expected.missing_descriptions),
        ),
        ("noindex", places(&found, "noindex"), singles(&expected.noindex)),
        (
            "orphans",
            places(&found, "orphan-page"),
            singles(&expected.orphans),
        ),
    ] {
        assert!(!planted.is_empty(), "no {what} were planted");
        assert_eq!(seen, planted, "{what}");
    }

    // copies of a page have its heading too, which is the same cause
    assert!(!found.contains_key("h1-duplicate"));

    let pages = auditor.list(&server, "/pages");
    let html = pages.iter().filter(|page| !page["title"].is_null());
    assert_eq!(html.count() as u32, PAGES);
    let looped = &expected.redirect_loop;
    for redirect in &expected.redirects {
        let page = pages.iter().find(|page| page["url"] == redirect.url).unwrap();
        let end = match (looped.contains(&redirect.url), chain.contains(&redirect.url)) {
            (true, _) => Value::Null,
            (_, true) => json!(chain.last()),
            _ => json!(redirect.target),
        };
        assert_eq!(
            (&page["statusCode"], &page["finalUrl"]),
            (&json!(redirect.status), &end)
        );
    }
}

#[test]
fn a_process_that_is_killed_changes_nothing() {
    let website = Website::new(PAGES);
    let undisturbed = Auditor::new(&website);
    let server = undisturbed.serve();
    undisturbed.start(&server);
    let score = undisturbed.ended(&server)["healthScore"].clone();
    let expected = undisturbed.findings(&server);
    let links = undisturbed.page_links(&server);
    let whole = website.requests();
    drop(server);

    let killed = Auditor::new(&website);
    website.answer_only(PAGES as usize / 2);
    let server = killed.serve();
    killed.start(&server);
    website.until_one_waits();
    let saved = |audit: &Value| audit["progress"]["fetched"].as_u64() > Some(0);
    let fetched = killed.current(&server, saved)["progress"]["fetched"]
        .as_u64()
        .unwrap();
    // dropped means SIGKILL
    drop(server);
    website.answer_all();
    let before = website.requests();
    let server = killed.serve();
    let audit = killed.ended(&server);
    assert_eq!(
        (&audit["status"], &audit["healthScore"]),
        (&json!("completed"), &score),
        "{audit}"
    );
    assert_eq!(killed.findings(&server), expected);
    assert_eq!(killed.page_links(&server), links);
    let again = website.requests() - before;
    assert!(
        again <= whole - fetched as usize + 50,
        "{again} of {whole} requests for what {fetched} had answered"
    );
}

//! Websites that want to do harm, audited with all checks: every audit ends, says what cut it short, finds what is wrong,
//! and reads what is harmless beside it.

pub(super) mod site;

use serde_json::{Value, json};

use super::{Auditor, Findings, text};
use crate::program::Serving;
use site::Hostile;

/// An audit of a website that is over.
struct Audited {
    audit: Value,
    found: Findings,
    pages: Vec<Value>,
    origin: String,
}

impl Audited {
    /// Audits, and holds the server to its memory: in MiB, what tests are built as included.
    fn of(hostile: &Hostile, config: &Value, memory: u64) -> Self {
        let auditor = Auditor::of(&hostile.origin);
        let server = auditor.serve();
        auditor.call(&server, "POST", "/audits", &config.to_string());
        let audit = auditor.ended(&server);
        let audited = Self {
            found: auditor.findings(&server),
            pages: auditor.list(&server, "/pages"),
            origin: hostile.origin.clone(),
            audit,
        };
        let peak = peak_mib(&server);
        eprintln!("{} MiB at most, {} pages", peak, audited.pages.len());
        assert!(peak < memory, "{peak} MiB");
        audited
    }

    fn ends(&self, status: &str, termination: &str) {
        assert_eq!(
            (&self.audit["status"], &self.audit["termination"]),
            (&json!(status), &json!(termination)),
            "{}",
            self.audit
        );
    }

    fn page(&self, path: &str) -> &Value {
        let url = format!("{}{path}", self.origin);
        let page = self.pages.iter().find(|page| page["url"] == url.as_str());
        page.unwrap_or_else(|| panic!("no {path}"))
    }

    fn title(&self, path: &str) -> &str {
        self.page(path)["title"]
            .as_str()
            .unwrap_or_else(|| panic!("no title of {path}"))
    }

    /// Returns the evidence of a check on a page.
    fn evidence(&self, check: &str, path: &str) -> &Value {
        let evidence = self
            .found
            .get(check)
            .and_then(|on| on.get(&format!("{}{path}", self.origin)));
        evidence.unwrap_or_else(|| panic!("no {check} on {path}"))
    }

    fn is_clean(&self, check: &str, path: &str) {
        let evidence = self
            .found
            .get(check)
            .and_then(|on| on.get(&format!("{}{path}", self.origin)));
        assert_eq!(evidence, None, "{check} on {path}");
    }

    /// Pages whose path begins like this.
    fn below(&self, path: &str) -> usize {
        let start = format!("{}{path}", self.origin);
        let urls = self.pages.iter().map(|page| text(&page["url"]));
        urls.filter(|url| url.starts_with(&start)).count()
    }
}

/// Most memory that a server ever had.
fn peak_mib(server: &Serving) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
fn traps_end_and_the_pages_beside_them_are_audited() {
    let hostile = Hostile::start(site::traps);
    let audited = Audited::of(&hostile, &json!({ "maxPages": 3_000 }), 700);
    audited.ends("partial", "max_depth");
    // a month leads to the next one, for ever
    assert!(
        (15..=20).contains(&audited.below("/calendar/")),
        "{}",
        audited.below("/calendar/")
    );
    // 100,000 links that differ in their query
    let trap = audited.evidence("crawl-trap-suspected", "/");
    let traps = trap["traps"].as_array().unwrap();
    assert_eq!(traps.len(), 1, "{trap}");
    assert!(
        trap.to_string().contains("/list") && trap.to_string().len() < 5_000,
        "{trap}"
    );
    assert_eq!(audited.below("/list?"), 50);
    // relative links that grow with every click
    assert!(audited.below("/deeper/") <= 20);
    audited.evidence("url-repetitive-path", "/deeper/deeper/deeper/deeper");

    // in circles, on this site and across hosts
    for path in ["/circle/a", "/circle/b", "/self", "/across/a"] {
        audited.evidence("redirect-loop", path);
    }
    assert!(
        audited
            .evidence("redirect-loop", "/across/a")
            .to_string()
            .contains("localhost")
    );
    audited.evidence("redirect-chain", "/endless/0");
    assert_eq!(audited.below("/endless/"), 11);
    audited.evidence("canonical-chain", "/canonical/a");
    audited.evidence("canonical-chain", "/canonical/b");
    audited.evidence("canonical-cross-domain", "/canonical/across");
    let alternates = audited.evidence("hreflang-non-200", "/languages");
    assert!(
        alternates.to_string().len() < 20_000,
        "{}",
        alternates.to_string().len()
    );

    for path in ["/good/0", "/good/1", "/good/2"] {
        assert_eq!(audited.title(path), format!("Harmless page {}", &path[6..]));
    }
}

#[test]
fn sessions_in_paths_and_sitemaps_that_explode_end_at_the_limit() {
    let hostile = Hostile::start(site::sessions);
    let audited = Audited::of(&hostile, &json!({ "maxPages": 200 }), 700);
    audited.ends("partial", "max_pages");
    assert_eq!(audited.page("/good/0")["statusCode"], 200);
    assert!(audited.below("/s/") > 100, "every session gives new addresses");
    // entities are never expanded
    let invalid = audited.evidence("sitemap-invalid", "/").to_string();
    assert!(
        invalid.contains("/laughs.xml.gz") && !invalid.contains("/fifty.xml.gz"),
        "{invalid}"
    );
    let large = audited.evidence("sitemap-too-large", "/").to_string();
    assert!(
        large.contains("/more.xml.gz") && !large.contains("/fifty.xml.gz"),
        "{large}"
    );
}

#[test]
fn bombs_floods_and_private_addresses_cost_little() {
    let hostile = Hostile::start(site::floods);
    let config = json!({ "maxPages": 200, "exclude": ["/l/*"] });
    let audited = Audited::of(&hostile, &config, 900);
    audited.ends("completed", "complete");
    audited.evidence("html-over-2mb", "/huge");
    for path in ["/garbage", "/headers"] {
        assert_eq!(audited.page(path)["failure"], "broken", "{path}");
        audited.evidence("http-no-response", path);
    }
    audited.evidence("many-links", "/links");
    audited.evidence("dom-large", "/deep");
    audited.evidence("robots-too-large", "/");
    audited.evidence("localhost-link", "/");
    audited.evidence("redirect-to-error", "/metadata");
    assert!(hostile.asked("/forbidden") == 0 && hostile.asked("/robots.txt") > 0);
    for path in ["/bomb", "/attributes", "/good/0"] {
        assert_eq!(audited.page(path)["statusCode"], 200, "{path}");
    }
    assert_eq!(audited.title("/good/0"), "Harmless page 0");
}

#[test]
fn broken_markup_and_every_script_are_read() {
    let hostile = Hostile::start(site::scripts);
    let audited = Audited::of(&hostile, &json!({ "maxPages": 200 }), 500);
    audited.ends("completed", "complete");
    for (n, _) in site::BROKEN_JSON_LD.iter().enumerate() {
        audited.evidence("jsonld-invalid", &format!("/json-ld/{n}"));
    }
    audited.is_clean("jsonld-invalid", "/good/0");
    for (path, title) in [
        ("/latin", "Größe und Maß der Dinge"),
        ("/cyrillic", "Размер и мера вещей"),
        ("/wide", "Größe 大きさ и размер"),
        ("/japanese", "物の大きさと寸法について"),
        ("/mixed", "Gr\u{fffd}\u{df}e"),
    ] {
        assert_eq!(audited.title(path), title, "{path}");
    }
    audited.evidence("charset-missing", "/undeclared");
    audited.is_clean("charset-missing", "/latin");
    // lengths are counted in characters, and right to left and without spaces too
    for path in ["/arabic", "/hebrew", "/chinese"] {
        for check in [
            "thin-content",
            "title-long",
            "title-short",
            "lang-missing",
            "language-detected-mismatch",
        ] {
            audited.is_clean(check, path);
        }
    }
    audited.evidence("title-long", "/chinese-long");
    audited.evidence("thin-content", "/chinese-thin");
}

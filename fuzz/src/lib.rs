//! Shared parts of the targets: answers of servers written as text, sites in memory, and the checks over both.

use std::{cell::RefCell, collections::HashMap, future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, header::RETRY_AFTER};
use searchwright_site::{
    checks::{Check, Context, Finding, Rules, TOGETHER, evaluate, evaluate_site},
    crawl::{Batch, Config, Sink, SinkError, Termination, crawl},
    fetch::{Connection, Fetch, Fetched, Request, Response},
    graph::{CrawlSummary, GraphBuilder, PageFlags},
    origin::Origin,
    page::{At, Intern, Limits, PageFacts, UrlId, read},
    robots::{Robots, TOKEN},
    url_key::url_key,
    urls::UrlTable,
    well_known::WellKnownFile,
};
use searchwright_writing::sanitise::LinkPolicy;
use tokio_util::sync::CancellationToken;
use url::Url;

pub mod targets;

#[path = "../../crates/writing/src/testdata/judge.rs"]
mod judge;

/// 2026-06-01.
pub const NOW: i64 = 1_780_272_000_000;
/// Languages with rules of their own, and some without.
const LANGUAGES: [&str; 16] = [
    "en", "de", "fr", "es", "it", "nl", "pt", "ru", "pl", "tr", "ja", "zh", "ko", "th", "ar", "x-none",
];

/// The first thing in sanitised HTML that must not be there.
pub fn fault(html: &str) -> Option<String> {
    judge::fault(html)
}

/// A project whose links are its own.
pub fn policy() -> LinkPolicy {
    LinkPolicy {
        own_host: Some("example.com".into()),
        followed: vec!["https://source.example/a?b=1&a=2".into()],
        base: None,
        page: None,
    }
}

/// A language by the first byte, and the rest as text.
pub fn in_language(data: &[u8]) -> Option<(&'static str, &str)> {
    let (first, rest) = data.split_first()?;
    let language = LANGUAGES[usize::from(*first) % LANGUAGES.len()];
    Some((language, std::str::from_utf8(rest).ok()?))
}

/// Lines `name: value` up to an empty line, and what follows it. A line of digits is a status.
pub fn answer(data: &[u8]) -> Response {
    let (mut status, mut headers, mut rest) = (200, HeaderMap::new(), data);
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = &rest[..end];
        rest = &rest[end + 1..];
        if line.is_empty() {
            break;
        }
        if let Some(number) = std::str::from_utf8(line).ok().and_then(|line| line.parse().ok()) {
            status = number;
        } else if let Some(colon) = line.iter().position(|byte| *byte == b':')
            && let Ok(name) = HeaderName::from_bytes(&line[..colon])
            && let Ok(value) = HeaderValue::from_bytes(line[colon + 1..].trim_ascii())
        {
            headers.append(name, value);
        }
    }
    response(status, headers, rest)
}

/// An answer that came at once.
pub fn response(status: u16, headers: HeaderMap, body: &[u8]) -> Response {
    Response {
        status: status.clamp(100, 599),
        headers,
        body: Bytes::copy_from_slice(body),
        wire_bytes: body.len() as u64,
        cut: None,
        ttfb: Duration::from_millis(50),
        connection: Connection::default(),
    }
}

/// Ids of a crawl that sees one page.
pub struct Table(pub UrlTable);

impl Intern for Table {
    fn intern(&mut self, url: &Url) -> Option<UrlId> {
        self.0.insert(&url_key(url), None)
    }

    fn intern_key(&mut self, key: &str) -> Option<UrlId> {
        self.0.insert(key, None)
    }
}

/// Reads an answer as the page at `https://example.com/folder/page`, the second of a crawl.
pub fn page(response: &Response) -> (PageFacts, UrlTable) {
    let mut table = Table(UrlTable::new(10_000));
    let url: Url = "https://example.com/folder/page".parse().expect("a URL");
    table.intern_key("https://example.com/");
    let id = table.intern(&url).expect("room");
    let at = At {
        id,
        attempts: 1,
        fetched_at_ms: NOW,
    };
    let facts = read(response, &url, at, &mut table, &Limits::default());
    (facts, table.0)
}

/// Holds a page against every check.
pub fn judge_page(facts: &PageFacts, table: UrlTable) -> Vec<Finding> {
    let mut builder = GraphBuilder::default();
    for id in (0..table.len() as u32).map(UrlId) {
        if table.key(id).starts_with("https://example.com/") {
            builder.set_internal(id);
        }
    }
    builder.add(facts);
    let origin = Origin {
        root: "https://example.com".into(),
        home: UrlId(0),
        robots: WellKnownFile {
            status: Some(200),
            ..WellKnownFile::default()
        },
        ..Origin::default()
    };
    let ends = CrawlSummary {
        depths: vec![1; table.len()],
        origin: &origin,
        traps: Vec::new(),
        complete: true,
    };
    let index = builder.finish(table, ends);
    let rules = Rules::default();
    let context = Context::new(&index, &origin, &rules, NOW);
    ask(std::slice::from_ref(facts), Some(facts), &context)
}

/// The same; what the checks show of it is bounded.
pub fn judge_bounded(facts: &PageFacts, table: UrlTable) {
    for finding in judge_page(facts, table) {
        let length = finding.evidence.to_string().len();
        assert!(
            length < 200_000,
            "{length} bytes of evidence for {}",
            finding.check.id
        );
    }
}

/// Asks every check. One that stumbles is caught, so that it costs an audit nothing else; here it counts.
fn ask(pages: &[PageFacts], home: Option<&PageFacts>, context: &Context<'_>) -> Vec<Finding> {
    let (mut found, mut failed) = (Vec::new(), Vec::<&Check>::new());
    for pages in pages.chunks(TOGETHER) {
        for evaluated in evaluate(pages, context) {
            found.extend(evaluated.findings);
            failed.extend(evaluated.failed);
        }
    }
    failed.extend(evaluate_site(home, context, &mut found));
    let failed: Vec<&str> = failed.iter().map(|check| check.id).collect();
    assert_eq!(failed, [""; 0], "checks panicked");
    found
}

/// A site in memory: answers by URL, 404 for the rest.
struct Site(HashMap<String, Response>);

impl Fetch for Site {
    fn fetch(&self, request: Request) -> Pin<Box<dyn Future<Output = Fetched> + Send + '_>> {
        let known = self.0.get(request.url.as_str()).cloned();
        let mut answer = known.unwrap_or_else(|| response(404, HeaderMap::new(), b""));
        answer.body.truncate(request.body_limit);
        Box::pin(async move { Ok(answer) })
    }
}

#[derive(Default)]
struct Pages(Vec<PageFacts>);

impl Sink for Pages {
    async fn save(&mut self, batch: Batch) -> Result<(), SinkError> {
        self.0.extend(batch.pages.into_iter().map(|page| page.facts));
        Ok(())
    }
}

/// Crawls a site whose answers are separated by lines of `=`, each after a line with its URL, and holds it against
/// every check. Sites that ask to be waited for are left alone.
pub fn audit(data: &[u8]) {
    thread_local! {
        static RUNTIME: RefCell<tokio::runtime::Runtime> = RefCell::new(
            tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime"),
        );
    }
    let start: Url = "https://example.com/".parse().expect("a URL");
    let mut answers = HashMap::new();
    let mut rest = Some(data);
    while let Some(all) = rest {
        const BETWEEN: &[u8] = b"\n=\n";
        let end = all.windows(BETWEEN.len()).position(|w| w == BETWEEN);
        let part = &all[..end.unwrap_or(all.len())];
        rest = end.map(|end| &all[end + BETWEEN.len()..]);
        let line = part.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if let Some(url) = std::str::from_utf8(line)
            .ok()
            .and_then(|line| start.join(line).ok())
        {
            let answered = answer(part.get(line.len() + 1..).unwrap_or_default());
            answers.insert(url.to_string(), answered);
        }
    }
    let waits = |answer: &Response| {
        let robots = Robots::parse(&String::from_utf8_lossy(&answer.body));
        robots.agent(TOKEN).delay.is_some() || answer.headers.contains_key(RETRY_AFTER)
    };
    if answers.values().any(waits) {
        return;
    }
    let config = Config {
        delay: Duration::ZERO,
        retry_delays: [Duration::ZERO; 2],
        external_delay: Duration::ZERO,
        max_external: 5,
        max_resources: 5,
        max_query_variants: 3,
        max_depth: 6,
        ..Config::new(start, 20)
    };
    let mut pages = Pages::default();
    let crawling = crawl(
        config,
        Arc::new(Site(answers)),
        &mut pages,
        None,
        CancellationToken::new(),
        Arc::new(|| NOW),
    );
    let ending = RUNTIME
        .with(|runtime| runtime.borrow().block_on(crawling))
        .expect("saved");
    assert_ne!(ending.termination, Termination::MaxDuration);
    let rules = Rules::default();
    let context = Context::new(&ending.index, &ending.origin, &rules, NOW);
    let home = pages.0.iter().find(|facts| facts.id == ending.origin.home);
    ask(&pages.0, home, &context);
    let is_internal = |facts: &&PageFacts| ending.index.has(facts.id, PageFlags::INTERNAL);
    assert!(pages.0.iter().filter(is_internal).count() <= 20 + 5);
}

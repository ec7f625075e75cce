//! A crawl that asks only for what has changed ends as one that fetches everything.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};

use proptest::prelude::*;
use searchwright_site::{
    crawl::{Config, Ending, PreviousCrawl, Resume},
    fetch::Validators,
    page::{Outcome, PageFacts},
};
use url::Url;

use super::{
    fake::{Answer, LIE, Memory, SLOWNESS, Site, config, html, links, picture, run_with, site},
    resume::{Kind, block_on, build, kind},
};

/// What a crawl saved.
#[derive(Debug, Default)]
struct Known {
    pages: Mutex<HashMap<String, PageFacts>>,
    /// The facts are gone when they are needed.
    loses: bool,
}

impl Known {
    fn of(memory: &Memory) -> Self {
        let pages = memory.pages.iter().map(|page| &page.facts);
        Self {
            pages: Mutex::new(
                pages
                    .map(|facts| (facts.url.to_string(), facts.clone()))
                    .collect(),
            ),
            loses: false,
        }
    }
}

impl PreviousCrawl for Known {
    fn validators(&self, url: &Url) -> Pin<Box<dyn Future<Output = Option<Validators>> + Send + '_>> {
        let found = self.pages.lock().unwrap().get(url.as_str()).cloned();
        Box::pin(async move { found?.validators.map(|validators| *validators) })
    }

    fn facts(&self, url: &Url) -> Pin<Box<dyn Future<Output = Option<PageFacts>> + Send + '_>> {
        let found = self.pages.lock().unwrap().remove(url.as_str());
        Box::pin(async move { found.filter(|_| !self.loses) })
    }
}

fn with_etags(mut site: Site) -> Arc<Site> {
    site.etags = true;
    Arc::new(site)
}

async fn crawl(site: &Arc<Site>, config: Config) -> (Memory, Ending) {
    let mut memory = Memory::default();
    let ending = run_with(site, config, &mut memory, None).await.unwrap();
    (memory, ending)
}

/// The same with what is known.
async fn crawl_again(site: &Arc<Site>, known: Known) -> (Memory, Ending) {
    let config = Config {
        earlier: Some(Arc::new(known)),
        ..config()
    };
    crawl(site, config).await
}

/// Paths asked for in this way, sorted.
fn asked(site: &Site, how: &str) -> Vec<String> {
    let log = site.log.lock().unwrap();
    let urls = log.iter().filter_map(|line| line.strip_prefix(how));
    let mut paths: Vec<_> = urls.map(super::fake::path).collect();
    paths.sort();
    paths
}

fn small() -> Site {
    site()
        .with("/", links(&["/a", "/b"]))
        .with("/a", links(&["/c", "/moved"]))
        .with(
            "/b",
            html("<title>B</title><p>Some words of b.<a href=/c#x>c</a>"),
        )
        .with("/c", html("<p id=x>Some words of c."))
        .with("/moved", super::fake::redirect(301, "/c"))
}

#[tokio::test]
async fn pages_that_have_not_changed_are_not_sent() {
    let (before, _) = crawl(&with_etags(small()), config()).await;
    let site = with_etags(small());
    let (after, ending) = crawl_again(&site, Known::of(&before)).await;
    assert_eq!(
        asked(&site, "ASK "),
        ["/a", "/b", "/c"],
        "the start page is read whole"
    );
    assert_eq!(
        asked(&site, "GET ").iter().filter(|path| **path == "/a").count(),
        0
    );
    let (plain, expected) = crawl(&with_etags(small()), config()).await;
    assert_eq!(picture(&after, &ending), picture(&plain, &expected));
    let facts = |memory: &Memory| {
        let mut all: Vec<_> = memory.pages.iter().map(|page| page.facts.clone()).collect();
        all.sort_by_key(|facts| facts.id);
        all
    };
    assert_eq!(facts(&after), facts(&plain));
}

#[tokio::test]
async fn a_page_that_has_changed_is_read_anew() {
    let (before, _) = crawl(&with_etags(small()), config()).await;
    let changed = || {
        site()
            .with("/", links(&["/a", "/b"]))
            .with("/a", links(&["/new"]))
            .with(
                "/b",
                html("<title>B</title><p>Some words of b.<a href=/c#x>c</a>"),
            )
            .with("/new", links(&["/"]))
    };
    let site = with_etags(changed());
    let (after, ending) = crawl_again(&site, Known::of(&before)).await;
    let (plain, expected) = crawl(&with_etags(changed()), config()).await;
    assert_eq!(picture(&after, &ending), picture(&plain, &expected));
    assert_eq!(asked(&site, "ASK "), ["/a", "/b", "/c"]);
    assert_eq!(
        asked(&site, "GET ").iter().filter(|path| **path == "/a").count(),
        0,
        "asked once"
    );
    assert_eq!(after.page("/c").facts.status(), Some(404));
}

#[tokio::test]
async fn a_304_that_cannot_be_used_loses_no_page() {
    let (before, expected) = crawl(&with_etags(small()), config()).await;
    let known = Known {
        loses: true,
        ..Known::of(&before)
    };
    let site = with_etags(small());
    let (after, ending) = crawl_again(&site, known).await;
    assert_eq!(asked(&site, "ASK "), ["/a", "/b", "/c"]);
    assert_eq!(picture(&after, &ending), picture(&before, &expected));
}

#[tokio::test]
async fn servers_that_lie_are_not_asked_for_long() {
    let names: Vec<String> = (0..30).map(|n| format!("/p{n:02}")).collect();
    let lying = |text: &str| {
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let page = |text: String| {
            let headers = vec![
                ("content-type", "text/html; charset=utf-8".to_owned()),
                (LIE, "\"another\"".to_owned()),
            ];
            Answer::Is(200, headers, text)
        };
        let site = site().with("/", links(&all));
        names.iter().fold(site, |site, name| {
            site.with(name, page(format!("<p>{text} {name}")))
        })
    };
    let (before, _) = crawl(&with_etags(lying("old")), config()).await;
    let site = with_etags(lying("new"));
    let (after, ending) = crawl_again(&site, Known::of(&before)).await;
    let (plain, expected) = crawl(&with_etags(lying("new")), config()).await;
    assert_eq!(picture(&after, &ending), picture(&plain, &expected));
    assert_eq!(&*after.page("/p29").facts.html_200().unwrap().excerpt, "new /p29");
    let asked = asked(&site, "ASK ").len();
    assert!((10..16).contains(&asked), "{asked}");
}

#[tokio::test]
async fn a_304_that_nobody_asked_for_is_a_304() {
    let site = || {
        with_etags(
            site()
                .with("/", links(&["/a"]))
                .with("/a", super::fake::status(304)),
        )
    };
    let (before, _) = crawl(&site(), config()).await;
    let (after, _) = crawl_again(&site(), Known::of(&before)).await;
    for memory in [before, after] {
        assert_eq!(memory.page("/a").facts.outcome, Outcome::Status(304));
    }
}

#[tokio::test]
async fn a_slow_page_is_measured_whole() {
    let slow = || {
        let headers = vec![
            ("content-type", "text/html; charset=utf-8".to_owned()),
            (SLOWNESS, "900".to_owned()),
        ];
        with_etags(
            site()
                .with("/", links(&["/slow"]))
                .with("/slow", Answer::Is(200, headers, "<p>x".to_owned())),
        )
    };
    let (before, _) = crawl(&slow(), config()).await;
    let site = slow();
    let (after, _) = crawl_again(&site, Known::of(&before)).await;
    assert_eq!(asked(&site, "ASK "), [] as [&str; 0]);
    assert_eq!(after.page("/slow").facts.ttfb_ms, 900);
}

/// The site as it was, then with other pages, crawled with and without what was known, and interrupted.
async fn changes(then: &[Kind], now: &[Kind], dies_after: usize) -> Result<(), TestCaseError> {
    let (before, _) = crawl(&with_etags(build(then, &[3], 0)), config()).await;
    let (plain, ending) = crawl(&with_etags(build(now, &[3], 1)), config()).await;
    let expected = picture(&plain, &ending);
    let site = with_etags(build(now, &[3], 2));
    let (after, ending) = crawl_again(&site, Known::of(&before)).await;
    prop_assert_eq!(&picture(&after, &ending), &expected);

    let config = Config {
        earlier: Some(Arc::new(Known::of(&before))),
        batch_pages: 2,
        ..config()
    };
    let mut memory = Memory {
        dies_after: Some(dies_after),
        ..Memory::default()
    };
    let site = with_etags(build(now, &[3], 3));
    if run_with(&site, config.clone(), &mut memory, None).await.is_err() {
        memory.dies_after = None;
        let resume: Resume = memory.resume(&config);
        let ending = run_with(&site, config, &mut memory, Some(resume)).await.unwrap();
        prop_assert_eq!(&picture(&memory, &ending), &expected);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn previous_crawl_changes_only_the_requests(
        then in proptest::collection::vec(kind(), 16),
        other in proptest::collection::vec((kind(), proptest::bool::weighted(0.3)), 16),
        dies_after in 0_usize..5,
    ) {
        let now: Vec<Kind> = then
            .iter()
            .zip(&other)
            .map(|(kind, (other, changes))| if *changes { other.clone() } else { kind.clone() })
            .collect();
        block_on(changes(&then, &now, dies_after))?;
    }
}

//! What is asked of a server beside its pages, and what its failures mean.

use searchwright_site::{
    crawl::{Config, Termination},
    fetch::FetchError,
    graph::{PageFlags, State},
    page::Outcome,
    well_known::WellKnownFile,
};

use super::{in_order, text};
use crate::fake::{Answer, SLOWNESS, config, html, links, redirect, run, site, status};

#[tokio::test]
async fn robots_txt_is_obeyed_and_its_rule_recorded() {
    let site = site()
        .with(
            "/robots.txt",
            text("User-agent: *\nDisallow: /private\nAllow: /private/open\n"),
        )
        .with("/", links(&["/private/a", "/private/open", "/x"]))
        .with("/private/open", links(&[]))
        .with("/x", links(&[]));
    let (site, memory, ending) = run(site, config()).await;
    assert_eq!(site.asked("/private/a"), 0);
    assert_eq!(
        memory.page("/private/a").facts.outcome,
        Outcome::Blocked("Disallow: /private".into())
    );
    assert_eq!((ending.progress.blocked, ending.progress.fetched), (1, 3));
    assert_eq!(ending.index.state(memory.id("/private/a")), State::Blocked);

    let site = crate::fake::site()
        .with("/robots.txt", text("User-agent: *\nDisallow: /"))
        .with("/", links(&[]));
    let (site, memory, ending) = run(site, config()).await;
    assert_eq!(
        (site.asked("/"), memory.pages.len(), ending.termination),
        (0, 1, Termination::Complete)
    );
    let open = site.log.lock().unwrap().clone();
    assert!(!open.is_empty());
}

#[tokio::test]
async fn without_an_answer_for_robots_txt_nothing_is_fetched() {
    for answer in [status(500), status(503), Answer::Fails(FetchError::Timeout)] {
        let site = site().with("/robots.txt", answer).with("/", links(&[]));
        let (site, memory, ending) = run(site, config()).await;
        assert_eq!(
            (
                ending.termination,
                memory.pages.len(),
                site.asked("/"),
                site.asked("/robots.txt")
            ),
            (Termination::RobotsUnreachable, 0, 0, 3)
        );
        assert_eq!(memory.origin.as_ref(), Some(&ending.origin));
    }
    // A copy of yesterday helps.
    let copy = WellKnownFile {
        status: Some(200),
        text: "User-agent: *\nDisallow: /a".into(),
        ..WellKnownFile::default()
    };
    let site = site().with("/robots.txt", status(500)).with("/", links(&["/a"]));
    let (_, memory, ending) = run(
        site,
        Config {
            robots_copy: Some(copy),
            ..config()
        },
    )
    .await;
    assert_eq!(
        (ending.termination, memory.pages.len(), ending.progress.blocked),
        (Termination::Complete, 2, 1)
    );
    let robots = &memory.origin.as_ref().unwrap().robots;
    assert_eq!(
        (robots.status, robots.text.len()),
        (Some(500), 26),
        "and it is told"
    );
}

#[tokio::test(start_paused = true)]
async fn a_robots_txt_that_says_when_it_is_back_is_waited_for() {
    let busy = Answer::Is(503, vec![("retry-after", "7200".into())], String::new());
    let site = site()
        .with("/robots.txt", busy)
        .with("/robots.txt", text("User-agent: *\nDisallow: /"));
    let before = tokio::time::Instant::now();
    let (_, _, ending) = run(site, config()).await;
    assert_eq!(
        (ending.termination, ending.progress.blocked),
        (Termination::Complete, 1)
    );
    let waited = before.elapsed().as_secs();
    assert!((60..70).contains(&waited), "a minute at most: {waited} s");
}

#[tokio::test]
async fn transient_errors_are_retried_twice() {
    let site = site()
        .with("/", links(&["/flaky", "/down", "/gone", "/tls", "/busy"]))
        .with("/flaky", Answer::Fails(FetchError::Broken))
        .with("/flaky", status(502))
        .with("/flaky", links(&[]))
        .with("/down", status(500))
        .with("/gone", status(410))
        .with("/tls", Answer::Fails(FetchError::Tls))
        .with(
            "/busy",
            Answer::Is(429, vec![("retry-after", "0".into())], String::new()),
        )
        .with("/busy", links(&[]));
    let (site, memory, ending) = run(site, config()).await;
    assert_eq!(
        ["/flaky", "/down", "/gone", "/tls", "/busy"].map(|p| site.asked(p)),
        [3, 3, 1, 1, 2]
    );
    let (flaky, down) = (&memory.page("/flaky").facts, &memory.page("/down").facts);
    assert_eq!(
        (flaky.status(), flaky.attempts, down.status(), down.attempts),
        (Some(200), 3, Some(500), 3)
    );
    assert_eq!(
        memory.page("/tls").facts.outcome,
        Outcome::Failed(FetchError::Tls)
    );
    assert_eq!((ending.progress.failed, ending.progress.fetched), (1, 5));
}

#[tokio::test]
async fn of_a_slow_answer_and_another_the_median_counts() {
    let page = |ms: &str| {
        let headers = vec![("content-type", "text/html".into()), (SLOWNESS, ms.into())];
        Answer::Is(200, headers, "<p>x".into())
    };
    let (once, twice, error) = ("/busy-once", "/slow", "/error");
    let site = site()
        .with("/", links(&[once, twice, error]))
        .with(once, page("1500"))
        .with(once, page("20"))
        .with(twice, page("900"))
        .with(twice, page("1200"))
        .with(
            error,
            Answer::Is(404, vec![(SLOWNESS, "2000".into())], String::new()),
        );
    let (site, memory, _) = run(site, config()).await;
    assert_eq!([once, twice, error].map(|p| site.asked(p)), [2, 2, 1]);
    let seen = [once, twice].map(|p| {
        let facts = &memory.page(p).facts;
        (facts.ttfb_ms, facts.attempts, facts.body_bytes)
    });
    assert_eq!(seen, [(760, 1, 4), (1050, 1, 4)]);

    let many: Vec<String> = (0..120).map(|i| format!("/{i}")).collect();
    let all: Vec<&str> = many.iter().map(String::as_str).collect();
    let start = self::site().with("/", links(&all));
    let slow = all.iter().fold(start, |site, path| site.with(path, page("900")));
    let (site, ..) = run(slow, config()).await;
    let asked: usize = all.iter().map(|path| site.asked(path)).sum();
    assert_eq!(asked, 120 + 100);
}

#[tokio::test]
async fn ten_failures_in_a_row_end_the_crawl() {
    let paths: Vec<String> = (0..40).map(|i| format!("/p{i:02}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let dead = paths.iter().fold(site().with("/", links(&paths)), |site, path| {
        site.with(path, Answer::Fails(FetchError::Connect))
    });
    let (_, memory, ending) = run(dead, in_order()).await;
    assert_eq!(
        (ending.termination, memory.pages.len()),
        (Termination::HostUnavailable, 11)
    );
    // Broken pages of a server that answers are pages of their own.
    let broken = paths.iter().fold(site().with("/", links(&paths)), |site, path| {
        site.with(path, status(500))
    });
    let (_, memory, ending) = run(broken, in_order()).await;
    assert_eq!(
        (ending.termination, memory.pages.len()),
        (Termination::HostUnavailable, 41)
    );
}

#[tokio::test]
async fn links_to_other_sites_are_checked_by_head() {
    let site = site()
        .with(
            "/",
            links(&[
                "https://other.example/ok",
                "https://other.example/no-head",
                "https://other.example/page",
                "https://third.example/",
                "http://blog.example.com/",
                "mailto:a@b.c",
            ]),
        )
        .with(
            "https://other.example/ok",
            redirect(301, "https://other.example/new"),
        )
        .with("https://other.example/no-head", status(405))
        .with("https://other.example/no-head", status(200))
        .with("https://other.example/page", html("<title>x</title>"))
        .with("https://third.example/", Answer::Fails(FetchError::Dns));
    let (site, memory, ending) = run(site, config()).await;
    let mut log: Vec<String> = site
        .log
        .lock()
        .unwrap()
        .iter()
        .filter(|l| !l.contains("//example.com") && !l.contains("www."))
        .cloned()
        .collect();
    log.sort();
    assert_eq!(
        log,
        [
            "GET http://blog.example.com/",
            "GET https://other.example/new",
            "GET https://other.example/no-head",
            "HEAD http://blog.example.com/",
            "HEAD https://other.example/new",
            "HEAD https://other.example/no-head",
            "HEAD https://other.example/ok",
            "HEAD https://other.example/page",
            "HEAD https://third.example/"
        ]
    );
    let index = &ending.index;
    let id = |url: &str| memory.urls.iter().find(|u| *u.key == *url).unwrap().id;
    assert_eq!(index.status(id("https://other.example/no-head")), Some(200));
    assert_eq!(
        index.redirect(id("https://other.example/ok")),
        Some(id("https://other.example/new"))
    );
    assert_eq!(index.status(id("https://other.example/new")), Some(404));
    assert_eq!(index.state(id("https://third.example/")), State::Failed);
    assert!(!index.has(id("https://third.example/"), PageFlags::INTERNAL));
    let told = [
        "https://other.example/ok",
        "https://other.example/page",
        "https://third.example/",
    ];
    assert!(told.iter().all(|url| index.is_answered(id(url))));
    assert_eq!(
        (
            ending.progress.fetched,
            ending.progress.failed,
            ending.progress.discovered
        ),
        (1, 0, 1),
        "counters are the site's own"
    );
}

#[tokio::test]
async fn redirects_of_other_sites_are_followed_to_their_end() {
    const CHAIN: usize = 14;
    let step = |i: usize| format!("https://chain.example/{i}");
    let mut site = site()
        .with(
            "/",
            links(&[
                "http://old.example/a",
                "http://old.example/b",
                "https://round.example/a",
                "https://back.example/",
                &step(0),
            ]),
        )
        .with("http://old.example/a", redirect(301, "https://old.example/p"))
        .with("http://old.example/b", redirect(302, "https://old.example/p"))
        .with("https://round.example/a", redirect(301, "/b"))
        .with("https://round.example/b", redirect(301, "/a"))
        .with(
            "https://back.example/",
            redirect(301, "https://example.com/hidden"),
        );
    for i in 0..CHAIN {
        site = site.with(&step(i), redirect(301, &step(i + 1)));
    }
    let (site, memory, ending) = run(site, config()).await;
    let log = site.log.lock().unwrap().clone();
    let asked = |url: &str| {
        log.iter()
            .filter(|line| line.ends_with(&format!(" {url}")))
            .count()
    };
    let index = &ending.index;
    let id = |url: &str| memory.urls.iter().find(|u| *u.key == *url).unwrap().id;
    // by HEAD and by GET, once for both links
    assert_eq!(
        (
            asked("https://old.example/p"),
            index.status(id("https://old.example/p"))
        ),
        (2, Some(404))
    );
    assert_eq!(
        (asked("https://round.example/a"), asked("https://round.example/b")),
        (1, 1)
    );
    assert_eq!(
        asked("https://example.com/hidden"),
        0,
        "only links lead to pages of the site"
    );
    assert_eq!((asked(&step(10)), asked(&step(11))), (1, 0));
    assert!(
        index.is_answered(id("http://old.example/a")) && index.is_answered(id("https://round.example/a"))
    );
    assert!(!index.is_answered(id(&step(0))), "where it ends was not asked");
}

#[tokio::test]
async fn files_are_asked_for_by_head() {
    let site = site()
        .with("/", links(&["/a.pdf", "/b.jpg"]))
        .with("/a.pdf", status(200))
        .with("/b.jpg", status(404));
    let (site, memory, ending) = run(site, config()).await;
    let log = site.log.lock().unwrap().clone();
    assert!(
        log.contains(&"HEAD https://example.com/a.pdf".into())
            && !log.contains(&"GET https://example.com/a.pdf".into())
    );
    assert!(
        log.contains(&"GET https://example.com/b.jpg".into()),
        "404 by HEAD is asked again"
    );
    assert_eq!(
        (
            ending.index.status(memory.id("/a.pdf")),
            ending.index.status(memory.id("/b.jpg"))
        ),
        (Some(200), Some(404))
    );
}

#[tokio::test]
async fn a_page_called_like_a_file_is_read_whole_where_head_is_refused() {
    let page = || html("<!doctype html><html lang=en><title>Node.js</title><p>x<a href=/>x</a>");
    let site = site()
        .with("/", links(&["/wiki/Node.js"]))
        .with("/wiki/Node.js", status(405))
        .with("/wiki/Node.js", page())
        .with("/wiki/Node.js", page());
    let (_, memory, ending) = run(site, config()).await;
    let facts = &memory.page("/wiki/Node.js").facts;
    let html = facts.html_200().unwrap();
    assert_eq!(html.titles.len(), 1);
    assert!(html.doctype && facts.cut.is_none() && ending.index.complete());
}

#[tokio::test]
async fn each_origin_has_its_own_robots_txt() {
    let site = site()
        .with("/", links(&["http://example.com/a", "http://example.com/b"]))
        .with(
            "http://example.com/robots.txt",
            text("User-agent: *\nDisallow: /a"),
        )
        .with("http://example.com/b", links(&[]));
    let (site, memory, _) = run(site, config()).await;
    assert!(matches!(
        memory.page("http://example.com/a").facts.outcome,
        Outcome::Blocked(_)
    ));
    assert_eq!(memory.page("http://example.com/b").facts.status(), Some(200));
    let asked = site
        .log
        .lock()
        .unwrap()
        .iter()
        .filter(|l| *l == "GET http://example.com/robots.txt")
        .count();
    assert_eq!(asked, 1);
}

//! What is asked before the first page, and what that tells of the site.

use std::sync::Arc;

use searchwright_site::crawl::{Termination, crawl};
use searchwright_site::graph::PageFlags;
use searchwright_site::page::Outcome;
use tokio_util::sync::CancellationToken;

use super::text;
use crate::fake::{Memory, config, html, links, redirect, run, site, status};

#[tokio::test]
async fn the_origin_is_surveyed() {
    let site = site()
        .with("/", redirect(301, "https://www.example.com/start"))
        .with("https://www.example.com/start", html("<title>Home</title>"))
        .with(
            "https://www.example.com/robots.txt",
            text("User-agent: *\nDisallow: /x"),
        )
        .with("https://www.example.com/llms.txt", text("# Example"))
        .with("https://www.example.com/favicon.ico", redirect(302, "/icon.png"))
        .with("https://www.example.com/icon.png", status(200))
        .with(
            "http://www.example.com/",
            redirect(301, "https://www.example.com/"),
        );
    let (_, memory, ending) = run(site, config()).await;
    let origin = &ending.origin;
    assert_eq!(
        (&*origin.root, &*origin.robots.url, origin.robots.status),
        (
            "https://www.example.com",
            "https://www.example.com/robots.txt",
            Some(200)
        )
    );
    assert_eq!(
        (&*origin.llms_txt.text, origin.favicon_status, origin.probe_status),
        ("# Example", Some(200), Some(404))
    );
    let twin = origin.twin.as_ref().unwrap();
    assert_eq!(
        (&*twin.url, twin.status, twin.location.as_deref()),
        ("https://example.com/", 301, Some("https://www.example.com/start"))
    );
    assert_eq!(origin.other_scheme.as_ref().map(|v| v.status), Some(301));
    assert_eq!(memory.paths(), ["/", "https://www.example.com/start"]);
    assert_eq!(ending.index.key(origin.home), "https://www.example.com/start");
}

#[tokio::test]
async fn addresses_of_redirects_may_be_written_as_people_write() {
    let site = site()
        .with("/", redirect(302, "/über-uns"))
        .with("/%C3%BCber-uns", html("<title>Über uns</title>"));
    let (_, _, ending) = run(site, config()).await;
    assert_eq!(
        ending.index.key(ending.origin.home),
        "https://example.com/%C3%BCber-uns"
    );
}

#[tokio::test]
async fn half_a_line_of_robots_txt_is_no_rule() {
    let rules = format!(
        "User-agent: *\nDisallow: /x\n{}Disallow: /",
        "# much\n".repeat(1_000)
    );
    let cut = crate::fake::Answer::Is(200, vec![(crate::fake::CUT, String::new())], rules);
    let site = site()
        .with("/robots.txt", cut)
        .with("/", links(&["/a", "/x"]))
        .with("/a", links(&[]));
    let (_, memory, _) = run(site, config()).await;
    assert_eq!(memory.page("/a").facts.status(), Some(200));
    assert!(matches!(memory.page("/x").facts.outcome, Outcome::Blocked(_)));
}

/// Nobody is there who could forbid anything.
#[tokio::test]
async fn a_host_that_is_not_there_forbids_nothing() {
    let gone = crate::fake::Answer::Fails(searchwright_site::fetch::FetchError::Dns);
    let wide = searchwright_site::crawl::Config {
        include_subdomains: true,
        ..config()
    };
    let site = site()
        .with(
            "/",
            links(&["https://old.example.com/x", "https://slow.example.com/x"]),
        )
        .with("https://old.example.com/robots.txt", gone)
        .with("https://slow.example.com/robots.txt", status(503));
    let (site, memory, _) = run(site, wide).await;
    let found = |url: &str| memory.page(url).facts.outcome.clone();
    assert_eq!(
        found("https://old.example.com/x"),
        Outcome::Failed(searchwright_site::fetch::FetchError::Dns)
    );
    assert!(matches!(found("https://slow.example.com/x"), Outcome::Blocked(_)));
    assert_eq!(site.asked("https://old.example.com/x"), 0);
}

#[tokio::test]
async fn files_beside_pages_obey_robots_txt() {
    for (robots, ended, expected) in [
        (
            "User-agent: *\nDisallow: /",
            Termination::Complete,
            vec!["/robots.txt"],
        ),
        (
            "User-agent: SearchwrightBot\nDisallow: /\nSitemap: /named.xml",
            Termination::Blocked,
            vec!["/robots.txt", "/named.xml"],
        ),
    ] {
        let site = site()
            .with("/robots.txt", text(robots))
            .with("/", links(&["/a"]))
            .with("/llms.txt", text("# Example"))
            .with("/named.xml", text("<urlset/>"));
        let (site, _, ending) = run(site, config()).await;
        let log = site.log.lock().unwrap().clone();
        let expected: Vec<String> = expected
            .iter()
            .map(|path| format!("GET https://example.com{path}"))
            .collect();
        assert_eq!(log, expected);
        assert_eq!(ending.termination, ended);
        let origin = &ending.origin;
        assert_eq!((origin.llms_txt.status, origin.favicon_status), (None, None));
        assert_eq!((origin.probe_status, &origin.twin), (None, &None));
        // what was not asked for is not said to be missing
        let unread = origin.sitemaps.iter().filter(|sitemap| sitemap.status.is_none());
        assert_eq!(unread.count(), if expected.len() == 1 { 3 } else { 0 });
    }
}

#[tokio::test]
async fn redirect_targets_obey_robots_txt() {
    let site = site()
        .with(
            "/robots.txt",
            text("User-agent: *\nDisallow: /en\nDisallow: /hidden"),
        )
        .with("/", redirect(302, "/en"))
        .with("/en", links(&[]))
        .with("/llms.txt", redirect(301, "/hidden/llms.txt"))
        .with("/hidden/llms.txt", text("# Example"))
        .with("/sitemap.xml", redirect(301, "/hidden/sitemap.xml"))
        .with("/hidden/sitemap.xml", text("<urlset/>"));
    let (site, memory, ending) = run(site, config()).await;
    for path in ["/en", "/hidden/llms.txt", "/hidden/sitemap.xml"] {
        assert_eq!(site.asked(path), 0, "{path}");
    }
    assert_eq!(
        memory.page("/en").facts.outcome,
        Outcome::Blocked("Disallow: /en".into())
    );
    assert_eq!(ending.index.key(ending.origin.home), "https://example.com/en");
    assert_eq!(ending.origin.llms_txt.status, None);
    let sitemap = &ending.origin.sitemaps[0];
    assert_eq!(
        (sitemap.status, sitemap.error.as_deref()),
        (None, Some("forbidden by robots.txt"))
    );

    // that of another origin is read before its page is asked for
    let all = "User-agent: *\nDisallow: /";
    for (there, robots, termination, home) in [
        (
            "https://www.example.com",
            "User-agent: SearchwrightBot\nDisallow: /",
            Termination::Blocked,
            true,
        ),
        ("https://login.example.net", all, Termination::Complete, false),
    ] {
        let page = format!("{there}/");
        let site = crate::fake::site()
            .with("/", redirect(301, &page))
            .with(&format!("{there}/robots.txt"), text(robots))
            .with(&page, links(&[]));
        let (site, _, ending) = run(site, config()).await;
        let log = site.log.lock().unwrap().clone();
        assert!(!log.contains(&format!("GET {page}")), "{log:?}");
        assert_eq!(ending.termination, termination, "{there}");
        let expected = if home { &page } else { "https://example.com/" };
        assert_eq!(ending.index.key(ending.origin.home), expected);
    }
}

#[tokio::test]
async fn a_start_url_that_goes_to_and_fro_between_origins_has_each_robots_txt_read_once() {
    let there = "https://www.example.com";
    let site = site()
        .with("/", redirect(302, &format!("{there}/")))
        .with(&format!("{there}/robots.txt"), text("User-agent: *\nAllow: /"))
        .with(&format!("{there}/"), redirect(302, "https://example.com/"));
    let (site, ..) = run(site, config()).await;
    let log = site.log.lock().unwrap().clone();
    let home: Vec<_> = log
        .iter()
        .take_while(|asked| !asked.contains("sitemap"))
        .collect();
    for origin in ["https://example.com", there] {
        let read = format!("GET {origin}/robots.txt");
        assert_eq!(home.iter().filter(|asked| ***asked == read).count(), 1, "{log:?}");
    }
}

#[tokio::test]
async fn soft_404s_are_found_by_asking_for_nothing() {
    let anything = html(
        "<title>Shop</title><main><p>We could not find what you wanted, have a look around instead.</p></main>",
    );
    struct CatchAll(crate::fake::Site);
    impl searchwright_site::fetch::Fetch for CatchAll {
        fn fetch(
            &self,
            mut request: searchwright_site::fetch::Request,
        ) -> std::pin::Pin<Box<dyn Future<Output = searchwright_site::fetch::Fetched> + Send + '_>> {
            let path = request.url.path().to_owned();
            if path.len() == 17 && path[1..].bytes().all(|b| b.is_ascii_hexdigit()) {
                request.url.set_path("/gone");
            }
            self.0.fetch(request)
        }
    }
    let site = site()
        .with(
            "/",
            html("<title>Home</title><main><p>Welcome here</p></main><a href=/gone>x</a><a href=/real>y</a>"),
        )
        .with("/gone", anything)
        .with("/real", html("<main>Real words</main>"));
    let mut memory = Memory::default();
    let ending = crawl(
        config(),
        Arc::new(CatchAll(site)),
        &mut memory,
        None,
        CancellationToken::new(),
        Arc::new(|| 0),
    )
    .await
    .unwrap();
    let soft = |path| ending.index.has(memory.id(path), PageFlags::SOFT_404);
    assert_eq!(
        (
            ending.origin.probe_status,
            soft("/"),
            soft("/gone"),
            soft("/real")
        ),
        (Some(200), false, true, false)
    );
}
